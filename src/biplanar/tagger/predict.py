"""From label scores to trees: the labels of each sentence are decoded, and every word gets the relation to its head."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from biplanar.data.arrays import Float32s, Int32s, Int64s
from biplanar.data.forest import Column, offsets_of
from biplanar.decoding import DECODERS, check_decoder, is_root_like
from biplanar.decoding.arcs import head_scores
from biplanar.decoding.repair import repair_cleanly
from biplanar.decoding.scores import (
    DEPTH_WEIGHT,
    LabelScores,
    best_given_heads,
    best_labels,
    log_probabilities,
)
from biplanar.decoding.search import Beam, Found, Outcome, Search, words_of
from biplanar.decoding.spanning import spanning_tree
from biplanar.encodings import Encoding
from biplanar.encodings.brackets import Brackets
from biplanar.errors import LabelError
from biplanar.tagger.features import Batch, Corpus, batches_by_words

Scores = Mapping[str, Float32s]
Trees = list[NDArray[np.int32]]  # for each sentence, rows of heads
Item = TypeVar("Item")
Result = TypeVar("Result")

# Not labels, but what a scorer that can `relate` knows of each word as a dependent and as a head.
DEPENDENT, GOVERNOR = "relation.dependent", "relation.head"

# Of all decoders the best measured.
DEFAULT_DECODER = "search"

# Trees drawn from a sentence's posterior to estimate the probabilities of its arcs, and the temperature they are drawn
# at: networks are surer than they should be, most of all of labels that must agree with each other.
DRAWS, TEMPERATURE = 64, 3.0


class Scorer(Protocol):
    """What gives scores: a network in PyTorch or in ONNX Runtime."""

    def represent(self, forms: Sequence[str]) -> Any:
        """Vectors of some forms, as the scorer itself wants them; asked for once for many batches."""

    def score(self, forms: Any, batch: Batch) -> Scores:
        """Scores by task: (words of all sentences, labels); the batch's words are numbers into the forms.

        They may still be on their way from a device when this returns; whoever looks at them waits for them.
        """

    def relate(self, dependents: Float32s, heads: Float32s, governors: Int64s) -> Float32s:
        """Scores of relations, given each word's head: (words, relations).

        The first two are the tables `relation.dependent` and `relation.head`; governors number the rows of the second
        from 1, and the root is 0. A scorer that gives no such tables has none to relate.
        """


class Relating(Mapping[str, Float32s]):
    """Scores that stayed on a device, and relate words to their heads there."""

    @abstractmethod
    def relate(self, governors: Int64s) -> Float32s:
        """What the scorer's `relate` would say."""


@dataclass(frozen=True)
class Parsed:
    """The trees of some sentences, end to end."""

    heads: Int32s
    relations: Int32s  # numbers of the names that the vocabulary has for them
    probabilities: Float32s | None = None  # of each word's head, if they were asked for; NaN where no tree was found
    outcome: Outcome = field(default_factory=Outcome)  # how a search fared

    @classmethod
    def joined(cls, parts: list[Parsed], order: Int64s) -> Parsed:
        """Many parts end to end, with the words put in another order."""
        heads, relations = (
            np.concatenate([getattr(part, name) for part in parts])[order] for name in ("heads", "relations")
        )
        known = [part.probabilities for part in parts if part.probabilities is not None]
        probabilities = np.concatenate(known)[order] if known else None
        return cls(heads, relations, probabilities, sum((part.outcome for part in parts), start=Outcome()))


@dataclass(frozen=True)
class TreeDecoder:
    """How the scores of one model become trees."""

    encoding: Encoding
    names: Mapping[str, tuple[str, ...]]  # the labels of each task
    decoder: str = DEFAULT_DECODER
    beam: Beam = field(default_factory=Beam)
    probabilities: bool = False
    depth_weight: float = DEPTH_WEIGHT
    temperature: float = TEMPERATURE

    def __post_init__(self) -> None:
        check_decoder(self.decoder)

    @cached_property
    def search(self) -> Search:
        """The search over this model's labels."""
        planes = {task: self.names[task] for task in self.encoding.tasks}
        return Search.over(planes, self.beam, depth_weight=self.depth_weight)

    @cached_property
    def roots(self) -> NDArray[np.bool_]:
        """Which relations are the root's."""
        return np.array([is_root_like(name) for name in self.names["deprel"]])

    def parse(self, scorer: Scorer, forms: Any, batch: Batch, upos: Column | None = None) -> Parsed:
        """Score and decode some sentences."""
        return self.decode(scorer, scorer.score(forms, batch), offsets_of(batch.lengths), upos)

    def decode(self, scorer: Scorer, scores: Scores, offsets: Int64s, upos: Column | None = None) -> Parsed:
        """From the scores of some sentences to their trees."""
        drawn = self._drawn(scores, offsets)
        heads, outcome = self._heads(scores, drawn, offsets, upos)
        relations = self._relations(scorer, scores, heads, offsets)
        chances = self._probabilities(scores, drawn, heads, offsets, upos) if self.probabilities else None
        return Parsed(heads, relations, chances, outcome)

    def best_trees(self, scorer: Scorer, words: Sequence[str], wanted: int) -> list[tuple[Parsed, float]]:
        """Up to so many trees of one sentence, best first, with the log-probabilities of their best labels."""
        if not isinstance(self.encoding, Brackets):
            raise LabelError(f"expected a bracket encoding to find several trees, found {self.encoding.name}")
        if wanted < 1:
            raise LabelError(f"expected to want at least one tree, found {wanted}")
        corpus = Corpus.of([words])
        scores, offsets = scorer.score(scorer.represent(corpus.forms), corpus.batch([0])), corpus.offsets
        drawn = self._drawn(scores, offsets)
        found = self.search.best_trees(self.search.boiled(scores, self.roots), offsets, 0, wanted)
        if not found:  # not even the widest search found a tree
            heads, _ = self._heads(scores, drawn, offsets, None)
            found = [(heads, -np.inf)]
        result = []
        for heads, score in found:
            relations = self._relations(scorer, scores, heads, offsets)
            chances = self._probabilities(scores, drawn, heads, offsets, None) if self.probabilities else None
            result.append((Parsed(heads, relations, chances), score))
        return result

    def _drawn(self, scores: Scores, offsets: Int64s) -> Trees:
        """Trees drawn by their probability, for each sentence; none where nothing asks for them."""
        wanted = self.probabilities or self.decoder == "minimum-risk"
        if not wanted or not isinstance(self.encoding, Brackets):
            return []
        cooled = self.search.boiled(scores, self.roots).cooled(self.temperature)
        return [self.search.draw_trees(cooled, offsets, sentence, DRAWS) for sentence in range(len(offsets) - 1)]

    def _heads(self, scores: Scores, drawn: Trees, offsets: Int64s, upos: Column | None) -> tuple[Int32s, Outcome]:
        if self.decoder in DECODERS:
            best = [best_labels(scores[task]) for task in self.encoding.tasks]
            return self._repaired(best, scores["deprel"], offsets, upos), Outcome()
        if not isinstance(self.encoding, Brackets):
            return self._likeliest_heads(scores, offsets, upos), Outcome()
        found = self.search.best(scores, self.roots, offsets)
        heads = self._rescued(found, scores, offsets)
        return (heads if self.decoder == "search" else self._least_risk(drawn, heads, offsets)), found.outcome

    def _rescued(self, found: Found, scores: Scores, offsets: Int64s) -> Int32s:
        """What was found, with the trees of greedy decoding where the search was lost."""
        if len(found.lost):
            words, places = words_of(found.lost, offsets)
            labels = list(found.labels[: len(self.encoding.tasks), words])
            found.heads[words] = self._repaired(labels, scores["deprel"][words], places, None)
        return found.heads

    def _repaired(self, labels: list[Int32s], relations: Float32s, offsets: Int64s, upos: Column | None) -> Int32s:
        columns = [Column(ids, self.names[task]) for ids, task in zip(labels, self.encoding.tasks, strict=True)]
        asserted = self.encoding.decode(columns, offsets, upos)
        if self.decoder == "paper":
            named_root = np.array([name == "root" for name in self.names["deprel"]], dtype=np.float32)
            return DECODERS["paper"](asserted, offsets, named_root[best_labels(relations)])
        likeness = np.exp(log_probabilities(relations)) @ self.roots.astype(np.float32)
        return np.asarray(repair_cleanly(asserted, offsets, likeness))

    def _relations(self, scorer: Scorer, scores: Scores, heads: Int32s, offsets: Int64s) -> Int32s:
        """The best relation of each word to its head; `paper` takes the tagger's whatever the head is."""
        if self.decoder == "paper":
            return best_labels(scores["deprel"])
        table = scores["deprel"]
        if DEPENDENT in scores:
            starts = np.repeat(offsets[:-1], np.diff(offsets))
            governors = np.where(heads > 0, starts + heads, 0)
            if isinstance(scores, Relating):
                table = scores.relate(governors)
            else:
                table = scorer.relate(scores[DEPENDENT], scores[GOVERNOR], governors)
        return np.asarray(best_given_heads(table, heads, self.roots))

    def _likeliest_heads(self, scores: Scores, offsets: Int64s, upos: Column | None) -> Int32s:
        """For labels that each name a head: the best tree of their log-probabilities, or of their probabilities."""
        tables = self._head_tables(scores, offsets, upos)
        trees = [spanning_tree(table if self.decoder == "search" else np.exp(table)) for table in tables]
        return np.concatenate([np.zeros(0, dtype=np.int32), *trees])

    def _head_tables(self, scores: Scores, offsets: Int64s, upos: Column | None) -> Iterator[NDArray[np.float64]]:
        boiled = LabelScores.of(scores, (), self.roots)
        (task,) = self.encoding.tasks
        labels = log_probabilities(scores[task])
        return head_scores(self.encoding, self.names[task], labels, boiled.relations, boiled.roots, offsets, upos)

    def _least_risk(self, drawn: Trees, heads: Int32s, offsets: Int64s) -> Int32s:
        """Trees whose arcs drawn trees agree on most; where they agree equally, the arcs of the best tree."""
        found = heads.copy()
        for trees, (start, end) in zip(drawn, pairwise(offsets), strict=True):
            if len(trees) and (trees != heads[start:end]).any():
                votes = np.zeros((end - start, end - start + 1))
                words = np.arange(end - start)
                for tree in trees:
                    votes[words, tree] += 1
                votes[words, heads[start:end]] += 0.5
                found[start:end] = spanning_tree(votes)
        return found

    def _probabilities(
        self, scores: Scores, drawn: Trees, heads: Int32s, offsets: Int64s, upos: Column | None
    ) -> Float32s:
        """How likely each word's head is, among all trees that the labels could make."""
        if not isinstance(self.encoding, Brackets):
            tables = self._head_tables(scores, offsets, upos)
            rows = [_softmax(table) for table in tables]
            parts = [
                row[np.arange(len(row)), heads[start : start + len(row)]]
                for start, row in zip(offsets[:-1], rows, strict=True)
            ]
            return np.concatenate([np.zeros(0), *parts]).astype(np.float32)
        chances = np.ones(len(heads), dtype=np.float32)
        for trees, (start, end) in zip(drawn, pairwise(offsets), strict=True):
            # As if one more tree, of unknown heads, had been drawn: no arc is certain, none impossible.
            agreeing = (trees == heads[start:end]).sum(axis=0)
            chances[start:end] = (agreeing + 0.5) / (len(trees) + 1) if len(trees) else np.nan
        return chances


def _softmax(table: NDArray[np.float64]) -> NDArray[np.float64]:
    exponentials = np.exp(table - table.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


def parse_corpus(
    scorer: Scorer, corpus: Corpus, decoder: TreeDecoder, batch_words: int, upos: Column | None = None
) -> Parsed:
    """The trees of all sentences of a corpus, in their order, computed in batches of similar lengths.

    Where the scorer leaves the processor free (it says how many `threads` to use), batches are decoded in threads while
    the next ones are scored.
    """
    forms = scorer.represent(corpus.forms)
    # Longest first, as packed sequences want them, and so that what does not fit into memory shows at once.
    batches = batches_by_words(corpus.lengths, batch_words, np.argsort(-corpus.lengths, kind="stable"))
    places = [corpus.places(chosen) for chosen in batches]

    def score(number: int) -> tuple[int, Scores]:
        return number, scorer.score(forms, corpus.batch(batches[number]))

    def decode(scored: tuple[int, Scores]) -> Parsed:
        number, scores = scored
        tags = None if upos is None else Column(upos.ids[places[number]], upos.names)
        return decoder.decode(scorer, scores, offsets_of(corpus.lengths[batches[number]]), tags)

    parts = list(_mapped(decode, map(score, range(len(batches))), getattr(scorer, "threads", 1)))
    return Parsed.joined(parts, _inverse(np.concatenate(places)))


def _mapped(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Like `map`, in the same order; with several threads, while further items are made, but not too many of them."""
    if threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        begun: deque[Future[Result]] = deque()
        for item in items:
            begun.append(pool.submit(function, item))
            if len(begun) > 2 * threads:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def _inverse(order: Int64s) -> Int64s:
    """Where each number stands in an order."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places
