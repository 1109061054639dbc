from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar import Graph, Tree
from biplanar.data.conllu import DEPS, FEATS, LEMMA, UPOS, XPOS, Sentence, parse_conllu, read_conllu
from biplanar.data.forest import Column
from biplanar.encodings.columns import COLUMNS, UNLABELLED, column_of, get_columns, graph_column, sorted_features
from biplanar.encodings.relations import AnnotatedTrees
from biplanar.errors import UnknownNameError
from tests.graph_files import ENHANCED

ENHANCED_SENTENCES = list(read_conllu(ENHANCED))

FORMS = ["Women", "is", "seen", "_"]
VALUES = {
    UPOS: ["NOUN", "AUX", "_", "X"],
    XPOS: ["nn+pl", "v", "v+pp", "_"],
    FEATS: ["Number=Plur", "Tense=Past|Mood=Ind", "_", "_"],
    LEMMA: ["woman", "be", "_", "_"],
}
SENTENCE = Sentence.from_words(FORMS).with_columns(VALUES)


def back(name: str, sentences: list[Sentence]) -> list[str]:
    """The values of a column, as labels and back."""
    column = COLUMNS[name]
    labels = column.encode(sentences)
    known = Column(np.maximum(labels.ids, 0), labels.names)
    return column.decode(known, Column.of(form for one in sentences for form in one.forms)).labels()


def test_labels() -> None:
    assert COLUMNS["upos"].encode([SENTENCE]).ids.tolist() == [0, 1, UNLABELLED, 2]
    assert COLUMNS["xpos"].encode([SENTENCE]).names == ("nn+pl", "v", "v+pp")
    features = COLUMNS["feats"].encode([SENTENCE])
    assert features.names == ("Number=Plur", "Mood=Ind|Tense=Past", "_")
    assert features.ids.tolist() == [0, 1, UNLABELLED, 2]  # "_" has no tag, either
    rules = COLUMNS["lemma"].encode([SENTENCE])
    assert rules.names == ("↓0;;-+a>", "↓0=be", "↓0;;")
    assert rules.ids.tolist() == [0, 1, UNLABELLED, 2]  # the form "_" has the lemma "_"


def test_values() -> None:
    assert back("lemma", [SENTENCE])[:2] == ["woman", "be"]
    assert back("lemma", [SENTENCE])[3] == "_"
    assert back("feats", [SENTENCE])[:2] == ["Number=Plur", "Mood=Ind|Tense=Past"]
    assert back("feats", [SENTENCE])[3] == "_"


@pytest.mark.parametrize("name", COLUMNS)
def test_a_treebank_may_lack_a_column(name: str) -> None:
    found = COLUMNS[name].encode([Sentence.from_words(["No", "column"])])
    assert found.names == ()
    assert found.ids.tolist() == [UNLABELLED] * 2


def test_parts() -> None:
    assert COLUMNS["upos"].parts("NOUN") == ()
    assert COLUMNS["xpos"].parts("ncn+jcm") == ["0 ncn", "1 jcm", "last jcm"]
    assert COLUMNS["feats"].parts("Case=Nom|Number=Sing") == ["Case=Nom", "Number=Sing", "Case Number"]
    assert COLUMNS["lemma"].parts("↓0;;-") == ["casing ↓0", "before ", "behind -"]


@pytest.mark.parametrize(
    ("feats", "tidy"),
    [
        ("_", "_"),
        ("Number=Sing|Case=Nom", "Case=Nom|Number=Sing"),
        ("b=1|A=2|C=3", "A=2|b=1|C=3"),
        ("Case=Nom|nonsense|=x|y=", "Case=Nom"),
        ("Case=Nom|Case=Acc", "Case=Acc"),
        ("", "_"),
    ],
)
def test_features_are_sorted(feats: str, tidy: str) -> None:
    assert sorted_features(feats) == tidy


@given(st.text("Aa=|_b", max_size=20))
def test_features_are_always_well_formed(feats: str) -> None:
    found = sorted_features(feats)
    assert sorted_features(found) == found
    assert found == "_" or all(name and value for name, _, value in (one.partition("=") for one in found.split("|")))


def test_names() -> None:
    assert [column.name for column in get_columns(" upos, lemma ")] == ["upos", "lemma"]
    assert get_columns("") == []
    with pytest.raises(UnknownNameError, match="upso"):
        get_columns("upso")


@pytest.mark.parametrize("name", [name for name, column in COLUMNS.items() if column.number != DEPS])
def test_treebanks(name: str, treebank_file: Path) -> None:
    """Every value of every treebank comes back from its label."""
    column, sentences = COLUMNS[name], list(islice(read_conllu(treebank_file), 300))
    labels = column.encode(sentences)
    if labels.names:
        wanted = [value for one in sentences for value in one.column(column.number)]
        pairs = zip(wanted, back(name, sentences), labels.ids.tolist(), strict=True)
        assert all(found == value for value, found, label in pairs if label != UNLABELLED)


class TestGraphs:
    NAMES = ("deps-paths", "deps-relation", "deps-extra")

    def labels(self, sentences: list[Sentence]) -> dict[str, Column]:
        return {column.name: column.encode(sentences) for column in get_columns("deps")}

    def test_a_column_of_several_labels(self) -> None:
        assert tuple(self.labels(ENHANCED_SENTENCES)) == self.NAMES
        assert {column_of(name) for name in self.NAMES} == {"deps"}
        assert column_of("upos") == "upos"
        assert next(column.name for column in get_columns("deps:graph-2p")) == "deps-graph-2p"
        with pytest.raises(UnknownNameError, match="graph-2p"):
            get_columns("deps:graph-2q")

    def test_sentences_without_graphs_teach_nothing(self) -> None:
        bare = Sentence.from_words(["No", "graph"], Tree((0, 1), ("root", "obj")))
        for name, column in self.labels([bare, *ENHANCED_SENTENCES]).items():
            assert column.ids[:2].tolist() == [UNLABELLED] * 2
            assert column.names == self.labels(ENHANCED_SENTENCES)[name].names

    def test_they_come_back_but_for_paths_through_empty_nodes(self) -> None:
        found = graph_column(self.labels(ENHANCED_SENTENCES), AnnotatedTrees.of(ENHANCED_SENTENCES)).labels()
        for sentence in ENHANCED_SENTENCES:
            own, found = found[: len(sentence)], found[len(sentence) :]
            assert not any(">" in deps for deps in own)
            if not sentence.empty_nodes:
                assert own == sentence.column(DEPS)

    def test_labels_that_are_not_there_say_nothing(self) -> None:
        trees = AnnotatedTrees.of(ENHANCED_SENTENCES)
        basic = [deps for one in ENHANCED_SENTENCES for deps in one.with_graph(Graph.from_tree(one.tree)).column(DEPS)]
        assert graph_column({}, trees).labels() == basic


def test_text_without_values_is_read() -> None:
    (sentence,) = parse_conllu("1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    assert COLUMNS["lemma"].encode([sentence]).names == ()
