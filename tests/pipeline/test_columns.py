"""Tags, features and lemmas, from a treebank to CoNLL-U."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biplanar
from biplanar.data.conllu import DEPS, FEATS, LEMMA, UPOS, XPOS, RawConllu, Sentence, parse_conllu, read_conllu
from biplanar.errors import FileError
from biplanar.evaluation import evaluate
from biplanar.pipeline.loading import RUNTIMES
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.options import ParseOptions
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.train import Data, export_model, score, train_model
from biplanar.tagger.config import Config
from tests.conftest import ROOT
from tests.graph_files import ENHANCED

TAGGED = str(ROOT / "examples" / "tagged.conllu")
COLUMNS = {UPOS: "upos", XPOS: "xpos", FEATS: "feats", LEMMA: "lemma"}
SETTINGS = {
    "network": {"hidden": 48, "layers": 1, "char_hidden": 24, "dropout": 0.0, "word_dropout": 0.0},
    "training": {"batch_words": 60, "learning_rate": 0.01, "epochs": 60, "evaluations": 3},
    "segmenter": {"kind": "none"},
    "vocabulary": {"min_form_count": 1, "min_char_count": 1},
}


def trained(folder: ModelFolder, data: Data = Data([TAGGED], TAGGED), **more: object) -> ModelFolder:  # noqa: B008
    config = Config.from_dict(SETTINGS)
    for section, values in more.items():
        config = Config.from_dict({section: values}, config)
    for _ in train_model(data, config, folder, device="cpu"):
        pass
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> ModelFolder:
    """A model that knows the examples by heart."""
    return trained(ModelFolder(tmp_path_factory.mktemp("models") / "tagged"))


@pytest.fixture(scope="module")
def parser(folder) -> Parser:
    return biplanar.load(folder.path)


@pytest.fixture(scope="module")
def gold() -> list[Sentence]:
    return list(read_conllu(TAGGED))


def bare(sentences: list[Sentence]) -> list[Sentence]:
    return [Sentence.from_words(one.forms) for one in sentences]


def columns_of(sentence: Sentence) -> list[list[str]]:
    return [sentence.column(number) for number in COLUMNS]


class TestFilling:
    @pytest.mark.parametrize("runtime", RUNTIMES)
    def test_every_runtime_knows_them_by_heart(self, folder, gold, runtime):
        parser = biplanar.load(folder.path, runtime=runtime)
        found = evaluate(gold, parser.pipe(bare(gold)))
        for metric in ("UPOS", "UFeats", "Lemmas"):
            assert found[metric].f1 > 0.97, metric

    def test_what_is_given_is_kept(self, parser):
        given = Sentence.from_words(["Nobody", "came"]).with_columns({UPOS: ["X", "_"], LEMMA: ["_", "go"]})
        (found,) = parser.pipe([given])
        assert found.upos[0] == "X"
        assert found.upos[1] not in ("X", "_")
        assert found.column(LEMMA)[1] == "go"
        assert found.column(LEMMA)[0] != "_"

    def test_no_features_are_a_value_if_other_words_have_some(self, parser, gold):
        tagged = next(one for one in gold if {"_"} < set(one.column(FEATS)))
        (found,) = parser.pipe([tagged])
        assert found.column(FEATS) == tagged.column(FEATS)
        (filled,) = parser.pipe([tagged.with_columns({FEATS: ["_"] * len(tagged)})])
        assert set(filled.column(FEATS)) != {"_"}

    def test_retag(self, parser, gold):
        wrong = gold[0].with_columns({UPOS: ["X"] * len(gold[0]), LEMMA: ["wrong"] * len(gold[0])})
        (kept,), (replaced,) = parser.pipe([wrong]), parser.pipe([wrong], retag=True)
        assert kept.upos == wrong.upos
        assert replaced.upos == gold[0].upos
        assert "wrong" not in replaced.column(LEMMA)

    def test_they_can_be_left_out(self, parser, gold):
        (found,) = parser.pipe(bare(gold[:1]), tags=False)
        assert columns_of(found) == [["_"] * len(found)] * 4
        assert found.is_parsed

    def test_several_trees_have_them_all(self, parser, gold):
        for tree, _ in parser.best_trees([gold[0].forms], 3)[0]:
            assert tree.upos == gold[0].upos

    @given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=5))
    @settings(max_examples=25)
    def test_lemmas_are_never_empty(self, parser, one, other):
        words = ["".join(form.split()) or "x" for form in (one, other)]
        words = [form.encode("utf-8", "replace").decode() for form in words]
        (found,) = parser([words])
        assert all(
            lemma not in ("", "_") or form == "_" for form, lemma in zip(found.forms, found.column(LEMMA), strict=True)
        )


class TestBytes:
    """Whole files are filled as bytes, without an object for each word: the same comes out."""

    @pytest.mark.parametrize("options", [ParseOptions(), ParseOptions(retag=True), ParseOptions(tags=False)])
    def test_the_same_as_objects(self, parser, gold, options):
        some = [
            one.with_columns(
                {number: one.column(number) if (at + number) % 3 else ["_"] * len(one) for number in COLUMNS}
            )
            for at, one in enumerate(gold)
        ]
        mixed = [
            one.with_columns({UPOS: ["_" if word % 2 else tag for word, tag in enumerate(one.upos)]}) for one in some
        ]
        data = RawConllu("".join(one.raw for one in [*gold, *bare(gold), *mixed]).encode())
        texts = []
        for as_objects in (False, True):
            given = parser.read([data], options, as_objects=as_objects)
            assert (given.table is None) == as_objects
            texts.append(parser.parse(given, options).to_conllu().decode())
        assert texts[0] == texts[1]
        assert len(parse_conllu(texts[0])) == 3 * len(gold)

    def test_results_do_not_depend_on_the_batch(self, parser, gold):
        together = [one.raw for one in parser.pipe(bare(gold))]
        alone = [one.raw for sentence in bare(gold) for one in parser.pipe([sentence])]
        small = [one.raw for one in parser.pipe(bare(gold), batch_words=20)]
        assert together == alone == small


class TestTraining:
    def test_a_treebank_may_lack_columns(self, tmp_path, gold):
        path = tmp_path / "poor.conllu"
        nothing = [one.with_columns({XPOS: ["_"] * len(one), FEATS: ["_"] * len(one)}) for one in gold]
        path.write_text("".join(one.raw for one in nothing), encoding="utf-8")
        folder = trained(ModelFolder(tmp_path / "m"), Data([str(path)], str(path)), training={"epochs": 1})
        assert biplanar.load(folder.path).inventory.output_columns == ("upos", "lemma")

    def test_each_can_be_switched_off(self, tmp_path):
        folder = trained(ModelFolder(tmp_path), network={"columns": "feats"}, training={"epochs": 1})
        assert biplanar.load(folder.path).inventory.output_columns == ("feats",)

    def test_scores_of_columns_are_reported(self, parser, gold, folder):
        found = score(parser, gold)["gold words"]
        assert min(found["UPOS"], found["UFeats"], found["Lemmas"]) > 97
        assert "UFeats" in folder.card.read_text()

    def test_teachers_teach_their_columns(self, folder, gold, tmp_path):
        """A student that sees half of the treebank learns the rest of the tags from words that its teacher tags."""
        half, words = tmp_path / "half.conllu", tmp_path / "words.conllu"
        half.write_text("".join(one.raw for one in gold[: len(gold) // 2]), encoding="utf-8")
        words.write_text("".join(one.raw for one in bare(gold)), encoding="utf-8")
        right = []
        for name, teachers, raw in (("alone", [], []), ("taught", [str(folder.path)], [str(words)])):
            data = Data([str(half)], TAGGED, teachers=teachers, raw=raw)
            student = trained(ModelFolder(tmp_path / name), data, training={"epochs": 30})
            found = evaluate(gold, biplanar.load(student.path).pipe(bare(gold)))
            right.append(found["UPOS"].f1 + found["Lemmas"].f1)
        assert right[1] > right[0] + 0.05

    def test_a_model_may_start_from_another(self, folder, gold, tmp_path):
        data = replace(Data([TAGGED], TAGGED), start=str(folder.path))
        more = trained(ModelFolder(tmp_path), data, training={"epochs": 1, "learning_rate": 1e-9})
        found = evaluate(gold, biplanar.load(more.path).pipe(bare(gold)))
        assert min(found[metric].f1 for metric in ("UPOS", "UFeats", "Lemmas", "UAS")) > 0.95

    @pytest.mark.parametrize(
        ("part", "message"),
        [
            (None, r"has no config\.toml"),
            ("model.safetensors", r"model\.safetensors: no such file"),
        ],
    )
    def test_a_start_without_a_model_is_refused(self, folder, tmp_path, part, message):
        start = tmp_path / "start"
        if part is None:
            start.mkdir()
        else:
            shutil.copytree(folder.path, start)
            (start / part).unlink()
        with pytest.raises(FileError, match=message):
            trained(ModelFolder(tmp_path / "model"), replace(Data([TAGGED], TAGGED), start=str(start)))
        assert not (tmp_path / "model").exists()


class TestKnownLemmas:
    """Lemmas of the training files are kept beside the network if they help on dev."""

    def train(self, path, lemma_in_dev: str) -> ModelFolder:
        """The network learns next to nothing, so that what is known decides."""
        row = "1\tgeese\t{}\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
        for name, lemma in (("train", "goose"), ("dev", lemma_in_dev)):
            (path / f"{name}.conllu").write_text(row.format(lemma) * 2)
        data = Data([str(path / "train.conllu")], str(path / "dev.conllu"))
        return trained(ModelFolder(path / "model"), data, training={"epochs": 1, "learning_rate": 1e-9})

    def test_they_are_kept_if_they_help(self, tmp_path, monkeypatch):
        monkeypatch.setattr("biplanar.encodings.columns.apply_rule", lambda _, form: form)  # no rule helps
        folder = self.train(tmp_path, "goose")
        assert folder.lemmas.exists()
        (found,) = biplanar.load(folder.path)([["geese"]])
        assert found.column(LEMMA) == ["goose"]
        assert "lemmas.json" in folder.checksums.read_text()

    def test_and_left_out_if_not(self, tmp_path, monkeypatch):
        monkeypatch.setattr("biplanar.encodings.columns.apply_rule", lambda _, form: form)
        assert not self.train(tmp_path, "geese").lemmas.exists()

    def test_an_export_does_not_cover_up_that_they_are_damaged(self, folder, tmp_path):
        copy = ModelFolder(tmp_path / "copy")
        shutil.copytree(folder.path, copy.path)
        copy.lemmas.write_text('{"NOUN": {"geese": "goose"}}')
        copy.write_checksums()
        copy.lemmas.write_text('{"NOUN": {"geese": "gooze"}}')
        with pytest.raises(FileError, match=r"lemmas\.json: .*checksum"):
            export_model(copy)

    @pytest.mark.parametrize("content", ["", "[]", '{"NOUN": 1}', '{"NOUN": {"a": 1}}'])
    def test_a_damaged_file_is_refused(self, folder, tmp_path, content):
        copy = ModelFolder(tmp_path / "copy")
        shutil.copytree(folder.path, copy.path)
        copy.checksums.unlink()
        copy.lemmas.write_text(content)
        with pytest.raises(FileError, match=r"lemmas\.json: "):
            biplanar.load(copy.path)


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return list(read_conllu(ENHANCED))


@pytest.fixture(scope="module")
def graph_parser(tmp_path_factory) -> Parser:
    """A parser that knows some graphs by heart."""
    data, network = Data([str(ENHANCED)], str(ENHANCED)), {"columns": "lemma, feats, deps"}
    folder = trained(ModelFolder(tmp_path_factory.mktemp("models") / "graphs"), data, network=network)
    return biplanar.load(folder.path)


class TestGraphs:
    """Enhanced graphs, from a treebank to CoNLL-U."""

    def test_known_by_heart(self, graph_parser, sentences):
        assert graph_parser.inventory.output_columns == ("lemma", "feats", "deps")
        found = evaluate(sentences, graph_parser.pipe(bare(sentences)))
        assert found["LAS"].f1 == 1
        assert found["ELAS"].f1 > 0.97  # without the path through an empty node
        assert "ELAS" in score(graph_parser, sentences)["gold words"]

    @pytest.mark.parametrize("options", [ParseOptions(), ParseOptions(retag=True), ParseOptions(tags=False)])
    def test_the_same_as_objects(self, graph_parser, sentences, options):
        others = [one.with_columns({LEMMA: ["x"] * len(one), DEPS: ["_"] * len(one)}) for one in sentences]
        data = RawConllu("".join(one.raw for one in [*sentences, *bare(sentences), *others]).encode())
        texts = [
            graph_parser.parse(graph_parser.read([data], options, as_objects=as_objects), options).to_conllu()
            for as_objects in (False, True)
        ]
        assert texts[0] == texts[1]

    def test_suffixes_are_of_the_lemmas_that_are_written(self, graph_parser, sentences):
        (found,) = graph_parser.pipe([sentences[3].with_columns({LEMMA: ["x"] * len(sentences[3])})])
        assert "obl:x" in "|".join(found.column(DEPS))

    def test_they_replace_those_of_another_tree(self, graph_parser, sentences):
        wrong = sentences[0].with_columns({DEPS: ["0:root"] * len(sentences[0])})
        (found,) = graph_parser.pipe([wrong])
        assert found.column(DEPS) == sentences[0].column(DEPS)

    def test_udtools_accepts_them(self, graph_parser, sentences, tmp_path):
        from udtools import Validator

        texts = [" ".join(one.forms) for one in sentences] * 5
        mixed = [words[at:] + words[:at] for at, words in enumerate(text.split() for text in texts)]
        path = tmp_path / "parsed.conllu"
        parsed = [one.with_comments({"sent_id": str(at)}) for at, one in enumerate(graph_parser.pipe(mixed))]
        biplanar.write_conllu(parsed, path)
        state = Validator(lang="en", level=2, output=None).validate_files([str(path)])
        graphs = [str(error.message) for error in state.error_tracker if "DEPS" in str(error.message)]
        assert not graphs
        assert all(one.graph and not one.graph.unreachable for one in parsed)
