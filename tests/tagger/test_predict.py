"""From words to trees: batches in any order, decoded in threads while others are scored."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from threading import Event, current_thread

import numpy as np
import pytest

from biplanar.data.forest import offsets_of
from biplanar.decoding import DECODERS, get_decoder, tree_decoder
from biplanar.decoding.scores import Scores
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.encodings import ENCODINGS, PROJECTIVE, get_encoding
from biplanar.tagger.features import Batch, Corpus
from biplanar.tagger.predict import parse_corpus
from tests.decoding.made_scores import DEPRELS, HEADS, UPOS, MadeScores

FORMS = [[f"w{word}" for word in range(4)], [f"w{word}" for word in range(4, 9)]]


class Oracle:
    """A scorer that knows each word by its number, and is nearly sure of the right labels."""

    decoding_threads = 1

    def __init__(self, encoding: str, *, knows_heads: bool = False) -> None:
        self.made, self.knows_heads = MadeScores(get_encoding(encoding)), knows_heads
        self.asked: list[tuple[list[int], list[int]]] = []  # for relations: the words of a batch, and their governors

    @property
    def decoder(self) -> TreeDecoder:
        return TreeDecoder(self.made.inventory)

    def represent(self, forms: Sequence[str]) -> list[int]:
        return [int(form.removeprefix("w")) for form in forms]

    def score(self, forms: list[int], batch: Batch) -> Scores:
        words = np.array(forms)[batch.words[batch.mask]]
        labels = {task: table[words] for task, table in self.made.tables.items()}

        def relate(governors: np.ndarray) -> np.ndarray:
            self.asked.append((words.tolist(), governors.tolist()))
            return labels["deprel"]

        return Scores(offsets_of(batch.lengths), labels, relate if self.knows_heads else None)


def parse(oracle: Oracle, decoder: str, batch_words: int = 100) -> Parsed:
    how = TreeDecoder(oracle.made.inventory, get_decoder(decoder))
    return parse_corpus(oracle, Corpus.of(FORMS), how, batch_words, UPOS)


@pytest.mark.parametrize("batch_words", [1, 100])
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_trees_and_tags_stay_in_their_order(encoding: str, decoder: str, batch_words: int) -> None:
    """The longer sentence is scored first, in a batch of its own or not."""
    oracle = Oracle(encoding)
    found = parse(oracle, decoder, batch_words)
    words = slice(None, 4 if encoding in ("1p-brackets", *PROJECTIVE) else None)  # which cannot express the second tree
    assert found.heads.tolist()[words] == HEADS[words]
    assert oracle.made.names_of(found.relations)[words] == DEPRELS[words]


def test_relations_are_asked_for_with_the_heads_of_a_batch() -> None:
    oracle = Oracle("2p-full", knows_heads=True)
    assert parse(oracle, "search").heads.tolist() == HEADS
    # The longer sentence comes first; governors are places among all words, counted from 1, and 0 is the root.
    assert oracle.asked == [([4, 5, 6, 7, 8, 0, 1, 2, 3], [2, 4, 1, 0, 1, 7, 0, 9, 7])]


class TestThreads:
    """Batches that are decoded while others are scored."""

    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_the_trees_are_the_same_in_the_same_order(self, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tree_decoder, "PART_WORDS", 12)
        rng = np.random.default_rng(3)
        oracle, sentences = Oracle("2p-full"), 40
        oracle.made.tables = {
            task: rng.normal(size=(9 * sentences, table.shape[1])).astype(np.float32) * 3
            for task, table in oracle.made.tables.items()
        }
        oracle.decoding_threads = threads
        cuts = [0, *np.sort(rng.choice(np.arange(1, 9 * sentences), sentences - 1, replace=False)), 9 * sentences]
        forms = [[f"w{word}" for word in range(start, end)] for start, end in pairwise(cuts)]
        found = parse_corpus(oracle, Corpus.of(forms), oracle.decoder, 30)
        alone = [parse_corpus(oracle, Corpus.of([one]), oracle.decoder, 30) for one in forms]
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
            scored = 0
            decoding_threads = 2

            def score(self, forms: list[int], batch: Batch) -> Scores:
                self.scored += 1
                if self.scored == 2:
                    second.set()
                scores = super().score(forms, batch)
                return Scores(scores.offsets, Late(scores.labels))

        oracle = Slow("2p-full")
        found = parse_corpus(oracle, Corpus.of(FORMS), oracle.decoder, 1)
        assert found.heads.tolist() == HEADS

    @pytest.mark.parametrize("threads", [1, 3])
    def test_what_goes_wrong_is_told(self, threads: int) -> None:
        oracle = Oracle("2p-full")
        oracle.decoding_threads = threads
        del oracle.made.tables["deprel"]
        with pytest.raises(KeyError, match="deprel"):
            parse_corpus(oracle, Corpus.of(FORMS), oracle.decoder, 1)
