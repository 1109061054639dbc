"""From words to trees: sentences are scored in batches of similar lengths, and decoded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from biplanar.data.arrays import Int64s
from biplanar.data.forest import Column
from biplanar.decoding.scores import Scores
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.tagger.features import Batch, Corpus, batches_by_words

# Batches of which one is decoded by all threads while others wait for their scores or relations.
AT_A_TIME = 6

Item = TypeVar("Item")
Result = TypeVar("Result")


class Scorer(Protocol):
    """What gives scores: a network in PyTorch or in ONNX Runtime."""

    @property
    def decoding_threads(self) -> int:
        """How many threads may decode, while further batches are scored."""

    def represent(self, forms: Sequence[str]) -> Any:
        """Vectors of some forms, as the scorer itself wants them; asked for once for many batches."""

    def score(self, forms: Any, batch: Batch) -> Scores:
        """The scores of a batch, whose words are numbers into the forms.

        On a device this is asynchronous: the first access to a table of labels waits for it.
        """


def parse_corpus(
    scorer: Scorer, corpus: Corpus, decoder: TreeDecoder, batch_words: int, upos: Column | None = None
) -> Parsed:
    """The trees of all sentences of a corpus, in their order, computed in batches of similar lengths.

    Where the scorer leaves the CPU free, batches are decoded in threads while the next ones are scored.
    """
    forms = scorer.represent(corpus.forms)
    # Longest first, as packed sequences want them, and so that what does not fit into memory shows at once.
    batches = batches_by_words(corpus.lengths, batch_words, np.argsort(-corpus.lengths, kind="stable"))
    places = [corpus.places(chosen) for chosen in batches]

    def score(number: int) -> tuple[int, Scores]:
        return number, scorer.score(forms, corpus.batch(batches[number]))

    def decode(scored: tuple[int, Scores], pool: Executor | None = None) -> Parsed:
        number, scores = scored
        return decoder.decode(scores, None if upos is None else Column(upos.ids[places[number]], upos.names), pool)

    scored = map(score, range(len(batches)))
    if scorer.decoding_threads == 1:
        parts = list(map(decode, scored))
    else:
        with ThreadPoolExecutor(scorer.decoding_threads) as pool:
            parts = list(_mapped(partial(decode, pool=pool), scored))
    return Parsed.joined(parts, _inverse(np.concatenate(places)))


def _mapped(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Like `map`, in the same order, some items at a time in threads; further ones are made, but not too many."""
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        begun: deque[Future[Result]] = deque()
        for item in items:
            begun.append(pool.submit(function, item))
            if len(begun) > 2 * AT_A_TIME:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def _inverse(order: Int64s) -> Int64s:
    """Where each number stands in an order."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places
