"""From scores to trees: every decoder, with scores made by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from threading import Event, current_thread

import numpy as np
import pytest

from biplanar import Sentence, Tree, encode
from biplanar.data.forest import Column, offsets_of
from biplanar.decoding import SCORE_DECODERS
from biplanar.encodings import ENCODINGS, get_encoding
from biplanar.encodings.brackets import Brackets
from biplanar.errors import LabelError, UnknownNameError
from biplanar.tagger.features import Batch, Corpus
from biplanar.tagger.predict import DEPENDENT, GOVERNOR, Relating, TreeDecoder, parse_corpus
from tests.decoding.test_search import DEPRELS, LABEL_SETS, prepared

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

    def represent(self, forms: Sequence[str]) -> list[int]:
        return [int(form.removeprefix("w")) for form in forms]

    def score(self, forms: list[int], batch: Batch) -> dict[str, np.ndarray]:
        words = np.array(forms)[batch.words[batch.mask]]  # every form stands once, and is named by its place
        return {task: table[words] for task, table in self.tables.items()}

    def relate(self, dependents: np.ndarray, heads: np.ndarray, governors: np.ndarray) -> np.ndarray:
        self.asked.append((dependents, heads, governors))
        return np.flip(self.tables["deprel"][dependents[:, 0].astype(int)], axis=1)


FORMS = [[f"w{word}" for word in range(4)], [f"w{word}" for word in range(4, 9)]]


def parse(oracle: Oracle, encoding: str, decoder: str, **more: object) -> tuple[list[int], list[str], object]:
    how = TreeDecoder(get_encoding(encoding), oracle.names, decoder, **more)
    found = parse_corpus(oracle, Corpus.of(FORMS), how, 100, Column.of(TAGS))
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
    # the longer sentence comes first
    assert dependents.tolist() == governors_table.tolist() == [[word] for word in (4, 5, 6, 7, 8, 0, 1, 2, 3)]
    assert governors.tolist() == [2, 4, 1, 0, 1, 7, 0, 9, 7]  # rows of the table, counted from 1; 0: the root
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
        names = {"plane1": LABEL_SETS["one plane"][0], "deprel": DEPRELS}
        decoder = TreeDecoder(get_encoding("1p-brackets"), names, "minimum-risk", temperature=1.0, depth_weight=1.0)
        best = np.array(everything[0].heads, dtype=np.int32)
        drawn = decoder._drawn(scores, offsets_of([5]))
        voted = tuple(decoder._least_risk(drawn, best, offsets_of([5])).tolist())
        gained += chances[np.arange(5), voted].sum() - expected[everything[0].heads]
        assert chances[np.arange(5), voted].sum() > max(expected.values()) - 0.1  # what so many draws can tell
    assert gained > 0


@pytest.mark.parametrize("encoding", [name for name, one in ENCODINGS.items() if isinstance(one, Brackets)])
def test_best_trees_begin_with_the_best(encoding: str) -> None:
    oracle = Oracle(encoding, sure=3.0)
    how = TreeDecoder(get_encoding(encoding), oracle.names)
    trees = how.best_trees(oracle, FORMS[0], 4)
    assert trees[0][0].heads.tolist() == list(TREES[0].heads)
    assert [score for _, score in trees] == sorted((score for _, score in trees), reverse=True)
    assert len({tuple(parsed.heads.tolist()) for parsed, _ in trees}) == len(trees)


def test_best_trees_need_brackets() -> None:
    how = TreeDecoder(get_encoding("relative"), Oracle("relative").names)
    with pytest.raises(LabelError, match="expected a bracket encoding to find several trees, found relative"):
        how.best_trees(Oracle("relative"), FORMS[0], 2)


def test_an_unknown_decoder() -> None:
    with pytest.raises(UnknownNameError, match="unknown decoder 'serch'; did you mean 'search'"):
        TreeDecoder(get_encoding("2p-full"), {}, "serch")


def test_misc_keeps_what_it_has() -> None:
    sentence = Sentence.from_words(["a", "b"]).with_misc("X", ["1", "2"]).with_misc("HeadProb", ["0.5", "0.6"])
    again = sentence.with_misc("X", ["3", "4"])
    assert [word.misc for word in again.words] == ["HeadProb=0.5|X=3", "HeadProb=0.6|X=4"]


class TestThreads:
    """Batches that are decoded while others are scored."""

    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_the_trees_are_the_same_in_the_same_order(self, threads: int) -> None:
        rng = np.random.default_rng(3)
        oracle, sentences = Oracle("2p-full"), 40
        oracle.tables = {
            task: rng.normal(size=(9 * sentences, table.shape[1])).astype(np.float32) * 3
            for task, table in oracle.tables.items()
        }
        oracle.threads = threads
        cuts = [0, *np.sort(rng.choice(np.arange(1, 9 * sentences), sentences - 1, replace=False)), 9 * sentences]
        forms = [[f"w{word}" for word in range(start, end)] for start, end in pairwise(cuts)]
        how = TreeDecoder(get_encoding("2p-full"), oracle.names)
        found = parse_corpus(oracle, Corpus.of(forms), how, 30)
        alone = [parse_corpus(oracle, Corpus.of([one]), how, 30) for one in forms]
        assert found.heads.tolist() == [head for one in alone for head in one.heads.tolist()]
        assert found.relations.tolist() == [relation for one in alone for relation in one.relations.tolist()]
        assert found.outcome.sentences == sentences

    def test_scoring_goes_on_while_a_batch_is_decoded(self) -> None:
        """The first batch's scores come only after the second's were asked for."""
        second = Event()

        class Late(dict):
            def __getitem__(self, task: str) -> np.ndarray:
                assert current_thread().name != "MainThread"
                assert second.wait(30)
                return super().__getitem__(task)

        class Slow(Oracle):
            asked_for = 0
            threads = 2

            def score(self, forms: list[int], batch: Batch) -> dict[str, np.ndarray]:
                self.asked_for += 1
                if self.asked_for == 2:
                    second.set()
                return Late(super().score(forms, batch))

        oracle = Slow("2p-full")
        found = parse_corpus(oracle, Corpus.of(FORMS), TreeDecoder(get_encoding("2p-full"), oracle.names), 1)
        assert found.heads.tolist() == [*TREES[0].heads, *TREES[1].heads]

    @pytest.mark.parametrize("threads", [1, 3])
    def test_what_goes_wrong_is_told(self, threads: int) -> None:
        oracle = Oracle("2p-full")
        oracle.threads = threads
        del oracle.tables["deprel"]
        with pytest.raises(KeyError, match="deprel"):
            parse_corpus(oracle, Corpus.of(FORMS), TreeDecoder(get_encoding("2p-full"), oracle.names), 1)


def test_scores_that_relate_by_themselves_are_asked_and_the_scorer_is_not() -> None:
    class Kept(Relating):
        def __init__(self, tables: dict[str, np.ndarray]) -> None:
            self.tables = tables

        def __getitem__(self, task: str) -> np.ndarray:
            assert task not in (DEPENDENT, GOVERNOR)
            return self.tables[task]

        def __contains__(self, task: object) -> bool:
            return task in self.tables

        def __iter__(self) -> Iterator[str]:
            return iter(self.tables)

        def __len__(self) -> int:
            return len(self.tables)

        def relate(self, governors: np.ndarray) -> np.ndarray:
            return np.flip(self["deprel"][: len(governors)], axis=1)

    class Keeping(Oracle):
        def score(self, forms: list[int], batch: Batch) -> Kept:
            return Kept(super().score(forms, batch))

    keeping, oracle = Keeping("2p-full", relates=True), Oracle("2p-full", relates=True)
    assert parse(keeping, "2p-full", "search")[:2] == parse(oracle, "2p-full", "search")[:2]
    assert oracle.asked
    assert not keeping.asked


def test_where_the_search_is_lost_greedy_decoding_takes_over() -> None:
    """A label set in which no sequence is a tree: all words open, none closes."""
    oracle = Oracle("1p-brackets")
    oracle.names["plane1"] = ("/", "<")
    oracle.tables["plane1"] = np.zeros((9, 2), dtype=np.float32)
    heads, relations, found = parse(oracle, "1p-brackets", "search")
    greedy, _, _ = parse(oracle, "1p-brackets", "greedy")
    assert found.outcome.lost == 2
    assert heads == greedy
    assert [relation == "root" for relation in relations] == [head == 0 for head in heads]
