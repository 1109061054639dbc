"""From scores to trees: every decoder, with scores made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from biplanar import Sentence, Tree, encode
from biplanar.decoding import SCORE_DECODERS
from biplanar.encodings import ENCODINGS, get_encoding
from biplanar.encodings.brackets import Brackets
from biplanar.errors import LabelError, UnknownNameError
from biplanar.forest import Column, offsets_of
from biplanar.tagger.features import Batch, Corpus, Vocabulary
from biplanar.tagger.predict import DEPENDENT, GOVERNOR, TreeDecoder, parse_corpus
from tests.decoding.test_search import LABEL_SETS, prepared

# Two sentences, the second with crossing arcs.
TREES = (
    Tree((2, 0, 4, 2), ("nsubj", "root", "det", "obj")),
    Tree((2, 4, 1, 0, 1), ("det", "nsubj", "acl", "root", "punct")),
)
TAGS = ("PRON", "VERB", "DET", "NOUN", "NOUN", "ADJ", "ADV", "VERB", "PUNCT")
EVERY_DECODER = ("greedy", "paper", *SCORE_DECODERS)


class Oracle:
    """A scorer that is nearly sure of the right labels, but for what it is told to doubt."""

    def __init__(self, encoding: str, *, relates: bool = False, sure: float = 8.0) -> None:
        rows = [
            row
            for tree, tags in zip(TREES, (TAGS[:4], TAGS[4:]), strict=True)
            for row in self._rows(tree, encoding, tags)
        ]
        tasks = [*get_encoding(encoding).tasks, "deprel"]
        self.names = {task: tuple(sorted({row[place] for row in rows})) for place, task in enumerate(tasks)}
        self.tables = {}
        for place, task in enumerate(tasks):
            table = np.zeros((len(rows), len(self.names[task])), dtype=np.float32)
            for word, row in enumerate(rows):
                table[word, self.names[task].index(row[place])] = sure
            self.tables[task] = table
        if relates:
            self.tables |= {name: np.arange(len(rows), dtype=np.float32)[:, None] for name in (DEPENDENT, GOVERNOR)}
        self.asked: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    @staticmethod
    def _rows(tree: Tree, encoding: str, tags: tuple[str, ...]) -> list[tuple[str, ...]]:
        return encode(tree, encoding, upos=tags) if encoding == "rel-pos" else encode(tree, encoding)

    def score(self, batch: Batch) -> dict[str, np.ndarray]:
        words = batch.words[batch.mask]  # every form stands once, and is numbered by its place
        return {task: table[batch.forms[words] - 2] for task, table in self.tables.items()}

    def relate(self, dependents: np.ndarray, heads: np.ndarray, governors: np.ndarray) -> np.ndarray:
        self.asked.append((dependents, heads, governors))
        return np.flip(self.tables["deprel"][dependents[:, 0].astype(int)], axis=1)


FORMS = [[f"w{word}" for word in range(4)], [f"w{word}" for word in range(4, 9)]]
VOCABULARY = Vocabulary(tuple(f"w{word}" for word in range(9)), (), {})


def parse(oracle: Oracle, encoding: str, decoder: str, **more: object) -> tuple[list[int], list[str], object]:
    how = TreeDecoder(get_encoding(encoding), oracle.names, decoder, **more)
    found = parse_corpus(oracle, Corpus.of(FORMS, VOCABULARY), how, 100, Column.of(TAGS))
    return found.heads.tolist(), [oracle.names["deprel"][relation] for relation in found.relations], found


@pytest.mark.parametrize("decoder", EVERY_DECODER)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_sure_scores_give_their_trees(encoding: str, decoder: str) -> None:
    heads, relations, _ = parse(Oracle(encoding), encoding, decoder)
    if encoding != "1p-brackets":  # which cannot express the second tree
        assert heads == [*TREES[0].heads, *TREES[1].heads]
    assert heads[:4] == list(TREES[0].heads)
    assert relations[:4] == list(TREES[0].deprels)


@pytest.mark.parametrize("decoder", EVERY_DECODER)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_any_scores_give_trees(encoding: str, decoder: str) -> None:
    oracle = Oracle(encoding)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        oracle.tables = {task: rng.normal(size=t.shape).astype(np.float32) for task, t in oracle.tables.items()}
        heads, relations, found = parse(oracle, encoding, decoder, probabilities=True)
        for start, end in ((0, 4), (4, 9)):
            Tree(tuple(heads[start:end]), tuple(relations[start:end]))
        assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()


@pytest.mark.parametrize("encoding", ["relative", "2p-full"])
def test_only_roots_have_a_roots_relation(encoding: str) -> None:
    oracle = Oracle(encoding)
    oracle.tables["deprel"][:] = np.random.default_rng(1).normal(size=oracle.tables["deprel"].shape)
    for decoder in ("greedy", *SCORE_DECODERS):
        heads, relations, _ = parse(oracle, encoding, decoder)
        assert [relation == "root" for relation in relations] == [head == 0 for head in heads]


def test_relations_are_asked_for_with_the_found_heads() -> None:
    oracle = Oracle("2p-full", relates=True)
    heads, relations, _ = parse(oracle, "2p-full", "search")
    ((dependents, governors_table, governors),) = oracle.asked
    assert dependents.tolist() == governors_table.tolist() == [[word] for word in range(9)]
    assert governors.tolist() == [2, 0, 4, 2, 6, 8, 5, 0, 5]  # rows of the table, counted from 1; 0: the root
    assert heads == [*TREES[0].heads, *TREES[1].heads]
    flipped = oracle.names["deprel"][::-1]
    assert relations[0] == flipped[oracle.names["deprel"].index("nsubj")] or "root" in relations[0]


def test_the_paper_does_not_ask_for_relations() -> None:
    oracle = Oracle("2p-full", relates=True)
    assert parse(oracle, "2p-full", "paper")[1] == [*TREES[0].deprels, *TREES[1].deprels]
    assert not oracle.asked


def test_probabilities_tell_doubt_from_certainty() -> None:
    sure, unsure = (
        parse(Oracle("2p-full", sure=sure), "2p-full", "search", probabilities=True)[2].probabilities
        for sure in (8.0, 1.0)
    )
    assert unsure.mean() < 0.9 < sure.mean()


def test_votes_find_the_tree_with_the_most_arcs_to_be_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biplanar.tagger.predict.DRAWS", 5000)
    gained = 0.0
    for seed in range(12):
        everything, scores, _ = prepared("one plane", 5, False, seed, spread=0.5)
        weights = np.exp([one.score - everything[0].score for one in everything])
        chances = np.zeros((5, 6))
        for one, weight in zip(everything, weights / weights.sum(), strict=True):
            chances[np.arange(5), one.heads] += weight
        expected = {one.heads: chances[np.arange(5), one.heads].sum() for one in everything}
        names = {"plane1": LABEL_SETS["one plane"][0]}
        decoder = TreeDecoder(get_encoding("1p-brackets"), names, "minimum-risk", temperature=1.0)
        best = np.array(everything[0].heads, dtype=np.int32)
        drawn = decoder._drawn(scores, offsets_of([5]))
        voted = tuple(decoder._least_risk(drawn, best, offsets_of([5])).tolist())
        gained += chances[np.arange(5), voted].sum() - expected[everything[0].heads]
        assert chances[np.arange(5), voted].sum() > max(expected.values()) - 0.1  # what so many draws can tell
    assert gained > 0


@pytest.mark.parametrize("encoding", [name for name, one in ENCODINGS.items() if isinstance(one, Brackets)])
def test_best_trees_begin_with_the_best(encoding: str) -> None:
    oracle = Oracle(encoding, sure=3.0)
    batch = Corpus.of(FORMS[:1], VOCABULARY).batch([0])
    how = TreeDecoder(get_encoding(encoding), oracle.names)
    trees = how.best_trees(oracle, batch, 4)
    assert trees[0][0].heads.tolist() == list(TREES[0].heads)
    assert [score for _, score in trees] == sorted((score for _, score in trees), reverse=True)
    assert len({tuple(parsed.heads.tolist()) for parsed, _ in trees}) == len(trees)


def test_best_trees_need_brackets() -> None:
    how = TreeDecoder(get_encoding("relative"), Oracle("relative").names)
    with pytest.raises(LabelError, match="expected a bracket encoding to find several trees, found relative"):
        how.best_trees(Oracle("relative"), Corpus.of(FORMS[:1], VOCABULARY).batch([0]), 2)


def test_an_unknown_decoder() -> None:
    with pytest.raises(UnknownNameError, match="unknown decoder 'serch'; did you mean 'search'"):
        TreeDecoder(get_encoding("2p-full"), {}, "serch")


def test_misc_keeps_what_it_has() -> None:
    sentence = Sentence.from_words(["a", "b"]).with_misc("X", ["1", "2"]).with_misc("HeadProb", ["0.5", "0.6"])
    again = sentence.with_misc("X", ["3", "4"])
    assert [word.misc for word in again.words] == ["HeadProb=0.5|X=3", "HeadProb=0.6|X=4"]
