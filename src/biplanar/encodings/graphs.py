r"""Enhanced graphs as labels: brackets in planes, bits in planes, and the difference to the tree.

Each word has one label. Arcs are taken by their left ends, then their right ends, and each goes to the first plane
where it crosses no arc of its own direction. Arcs that fit in no plane are left out, and so are those of paths through
empty nodes that lead from a word back to itself. The root is left of all words, and never leaves the stacks.

Labels tell arcs, not relations, for which see `relations.py`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Protocol

import numpy as np

from biplanar.data.arrays import Int64s
from biplanar.data.conllu import EMPTY, Sentence
from biplanar.data.forest import Column, Forest
from biplanar.data.graph import STEP, Graph, reachable, read_graph
from biplanar.encodings.relations import AnnotatedTrees, Arc, decode_deps, encode_relations, universal
from biplanar.encodings.stacks import POP_DEPENDENT, POP_HEAD, PUSH_DEPENDENT, PUSH_HEAD, SYMBOLS
from biplanar.errors import check_name

# The tasks beside that of the arcs: the relation of a word's own arc, and those of its others.
RELATION, EXTRA = "relation", "extra"

SECOND = "*"  # behind a bracket, once for each plane before its own
DROPPED = "-"  # before the brackets of a word whose arc in the tree is not in the graph
UP, DOWN = "^", ">"  # of ways through the tree

# The bits of a word in a plane.
BITS = 6
HEAD_ON_THE_RIGHT, HEAD_ON_THE_LEFT, FARTHEST_LEFT, FARTHEST_RIGHT, HAS_LEFT, HAS_RIGHT = (1 << n for n in range(BITS))

_STEP = re.compile(r"\^|>([^\W\d_]+)(\d{0,4})")
_WAY = re.compile(rf"(?:{_STEP.pattern})+")
_BRACKET = re.compile(r"([</\\>])(\**)")

Arcs = list[Arc]
Changes = dict[int, list[int]]  # the heads of words that have others than in the tree, by their places among all words
Labelled = list[tuple[int, str]]  # the words of a sentence that have labels, and these


class GraphEncoding(Protocol):
    """What an encoding of graphs can do, for many sentences at once."""

    @property
    def name(self) -> str:
        """The name in `GRAPH_ENCODINGS`."""

    @property
    def task(self) -> str:
        """The name of the label that each word gets."""

    def encode(self, graphs: Sequence[Graph], forest: Forest) -> Column:
        """Labels of graphs without empty nodes; the forest has the trees of the same sentences."""

    def decode(self, labels: Column, forest: Forest) -> Changes:
        """What the graphs have beyond the trees. Words that the root would not lead to keep their arcs in the tree."""


@dataclass(frozen=True)
class GraphBrackets:
    r"""Brackets as those of trees: `<` and `/` push the word before, `\` and `>` make an arc from what they pop."""

    name: str
    planes: int
    task: str = "brackets"

    def encode(self, graphs: Sequence[Graph], forest: Forest) -> Column:
        """Brackets for all arcs that got a plane."""
        return Column.of(label for graph in graphs for label in self.labels(_arcs(graph), len(graph)))

    def labels(self, arcs: Arcs, size: int) -> list[str]:
        """The labels of a sentence."""
        brackets: list[list[str]] = [[""] * len(SYMBOLS) * self.planes for _ in range(size)]
        for plane, placed in enumerate(_planes(arcs, self.planes, _crosses)):
            for arc in placed:
                push, pop = (PUSH_HEAD, POP_HEAD) if arc[0] < arc[1] else (PUSH_DEPENDENT, POP_DEPENDENT)
                if min(arc):  # the root is on the stack already
                    brackets[min(arc)][len(SYMBOLS) * plane + push] += SYMBOLS[push] + SECOND * plane
                brackets[max(arc) - 1][len(SYMBOLS) * plane + pop] += SYMBOLS[pop] + SECOND * plane
        return ["".join(word) or EMPTY for word in brackets]

    def decode(self, labels: Column, forest: Forest) -> Changes:
        """Match brackets on a stack for each direction and plane; the root is what is left on an empty one."""
        return _decoded(labels, forest, self.arcs)

    def arcs(self, words: Labelled) -> Arcs:
        """The arcs of one sentence."""
        found, stacks = Arcs(), defaultdict[tuple[int, int], list[int]](list)  # by plane and direction
        for word, label in words:
            for plane, move in _read_brackets(label):
                if plane >= self.planes:
                    continue
                if move < POP_DEPENDENT:
                    stacks[plane, move].append(word - 1)
                    continue
                stack = stacks[plane, move - POP_DEPENDENT]  # that of the push of the same direction
                if move == POP_HEAD:
                    found.append((stack.pop() if stack else 0, word))
                elif stack and (dependent := stack.pop()):
                    found.append((word, dependent))
        return found


@dataclass(frozen=True)
class GraphBits:
    """Six bits a plane, as named above; no two arcs of a plane lead from one side into the same word."""

    name: str
    planes: int
    task: str = "bits"

    def encode(self, graphs: Sequence[Graph], forest: Forest) -> Column:
        """Bits for all arcs that got a plane."""
        return Column.of(label for graph in graphs for label in self._labels(_arcs(graph), len(graph)))

    def _labels(self, arcs: Arcs, size: int) -> Iterator[str]:
        codes = np.zeros((size + 1, self.planes), dtype=np.int64)
        for plane, placed in enumerate(_planes(arcs, self.planes, _crosses_or_meets)):
            outermost: dict[tuple[bool, int], int] = {}  # the dependent, by side and head
            for head, dependent in sorted(placed, key=lambda arc: -abs(arc[0] - arc[1])):
                left = dependent < head
                outermost.setdefault((left, head), dependent)
                codes[dependent, plane] |= HEAD_ON_THE_RIGHT if left else HEAD_ON_THE_LEFT
                codes[head, plane] |= HAS_LEFT if left else HAS_RIGHT
            for (left, _), dependent in outermost.items():
                codes[dependent, plane] |= FARTHEST_LEFT if left else FARTHEST_RIGHT
        for word in codes[1:].tolist():
            yield "".join("01"[code >> bit & 1] for code in word for bit in range(BITS))

    def decode(self, labels: Column, forest: Forest) -> Changes:
        """Take heads and dependents from stacks, as the bits of trees do."""
        return _decoded(labels, forest, self._arcs)

    def _arcs(self, words: Labelled) -> Arcs:
        found = Arcs()
        waiting_heads, waiting = defaultdict[int, list[int]](list), defaultdict[int, Arcs](list)  # by plane
        for word, label in words:
            for plane, code in enumerate(_read_bits(label)[: self.planes]):
                heads = waiting_heads[plane]
                if code & HEAD_ON_THE_LEFT:
                    found.append((heads[-1] if heads else 0, word))
                    if code & FARTHEST_RIGHT and heads:
                        heads.pop()
                more = bool(code & HAS_LEFT)
                while more and waiting[plane]:
                    dependent, farthest = waiting[plane].pop()
                    found.append((word, dependent))
                    more = not farthest
                if code & HEAD_ON_THE_RIGHT:
                    waiting[plane].append((word, code & FARTHEST_LEFT))
                if code & HAS_RIGHT:
                    heads.append(word)
        return found


@dataclass(frozen=True)
class Delta:
    """Brackets for the arcs that the tree does not have, and a sign for words whose arc in the tree is not there."""

    name: str = "delta"
    task: str = "delta"
    brackets: GraphBrackets = field(default=GraphBrackets("", 2))

    def encode(self, graphs: Sequence[Graph], forest: Forest) -> Column:
        """What has to change in each tree."""
        return Column.of(label for pair in zip(graphs, _heads(forest), strict=True) for label in self._labels(*pair))

    def _labels(self, graph: Graph, heads: Sequence[int]) -> Iterator[str]:
        further, dropped = _differences(graph, heads)
        for word, label in enumerate(self.brackets.labels(further, len(heads)), 1):
            yield label if word not in dropped else DROPPED + label.replace(EMPTY, "")

    def decode(self, labels: Column, forest: Forest) -> Changes:
        """The trees with these changes, of which only words with brackets are looked at."""
        return _changes(labels, forest, lambda words, *_: self.brackets.arcs(words))


@dataclass(frozen=True)
class Paths:
    """The way through the tree from a word to each head that the tree does not give it, and the sign of `Delta`.

    `^` leads to the head of the word where one is, `>conj` to its first dependent with that relation, `>conj2` to the
    second one. So *Anna*, who wants to buy books, has `^>xcomp`, and all of this is said of the dependent alone.
    """

    name: str = "paths"
    task: str = "paths"

    def encode(self, graphs: Sequence[Graph], forest: Forest) -> Column:
        """The ways to all heads."""
        pairs = zip(graphs, _heads(forest), _relations(forest), strict=True)
        return Column.of(label for graph, heads, relations in pairs for label in _ways(graph, heads, relations))

    def decode(self, labels: Column, forest: Forest) -> Changes:
        """Follow each way as far as there is one."""
        deprels = [*map(universal, forest.deprels.names), EMPTY]

        def arcs(words: Labelled, heads: list[int], start: int) -> Arcs:
            relations = forest.deprels.ids[start : start + len(heads)]
            ways = ((word, way) for word, label in words for way in _read_ways(label))
            found = ((_follow(way, word, heads, lambda at: deprels[relations[at]]), word) for word, way in ways)
            return [(head, word) for head, word in found if head is not None and head != word]

        return _changes(labels, forest, arcs)


def _ways(graph: Graph, heads: Sequence[int], relations: Sequence[str]) -> Iterator[str]:
    """The labels of a sentence."""
    (further, dropped), steps = _differences(graph, heads), dict[int, tuple[int, str]]()
    counts = Counter[tuple[int, str]]()
    for dependent, (head, relation) in enumerate(zip(heads, relations, strict=True), 1):
        counts[head, relation] += 1
        number = counts[head, relation]
        steps[dependent] = (head, f"{DOWN}{relation}{number if number > 1 else ''}")
    extra = defaultdict[int, list[str]](list)
    for head, word in sorted(further):
        extra[word].append(_way(word, head, heads, steps))
    for word in range(1, len(heads) + 1):
        yield (DROPPED if word in dropped else "") + "|".join(extra[word]) or EMPTY


def _differences(graph: Graph, heads: Sequence[int]) -> tuple[Arcs, set[int]]:
    """The arcs that a tree does not have, and the words whose arc in the tree is not in the graph."""
    arcs, basic = Counter(_arcs(graph)), Counter(zip(heads, range(1, len(heads) + 1), strict=True))
    return list((arcs - basic).elements()), {dependent for _, dependent in basic - arcs}


def _way(word: int, target: int, heads: Sequence[int], steps: Mapping[int, tuple[int, str]]) -> str:
    """From one word to another: up to the first word above both, and down from there."""
    above, down = [*_above(word, heads), 0], ""
    while target not in above:
        target, step = steps[target]
        down = step + down
    return UP * above.index(target) + down


def _follow(
    way: Sequence[tuple[str, int]], word: int, heads: Sequence[int], relation_at: Callable[[int], str]
) -> int | None:
    """Where a way leads to, if there is one."""
    for relation, number in way:
        found = heads[word - 1 : word]
        if relation:
            below = [at + 1 for at, head in enumerate(heads) if head == word and relation_at(at) == relation]
            found = below[number - 1 : number]
        if not found:
            return None
        (word,) = found
    return word


@lru_cache(maxsize=1 << 14)
def _read_ways(label: str) -> list[list[tuple[str, int]]]:
    """The steps of each way: no relation for one up, or a relation and which of its words; what is neither is none."""
    ways = label.removeprefix(DROPPED).split("|")
    read = [_STEP.findall(way) for way in ways if way and way != EMPTY and _WAY.fullmatch(way)]
    return [[(relation, int(number or 1)) for relation, number in steps] for steps in read]


def _changes(labels: Column, forest: Forest, arcs_of: Callable[[Labelled, list[int], int], Arcs]) -> Changes:
    """The heads of words that get further arcs, or lose those of the tree.

    `arcs_of` gives the further arcs of a sentence, by its labels, its heads, and where it starts.
    """
    found = Changes()
    for sentence, words in _labelled(labels, forest.offsets):
        start, end = forest.offsets[sentence : sentence + 2].tolist()
        heads, dropped = forest.heads[start:end].tolist(), {word for word, label in words if label.startswith(DROPPED)}
        arcs = arcs_of(words, heads, start)
        if dropped and dropped - {word for head, word in arcs if not dropped.intersection(_above(head, heads))}:
            kept = [(head, word) for word, head in enumerate(heads, 1) if word not in dropped]
            dropped &= reachable(kept + arcs)  # the root leads to all others by their arcs in the tree
        found |= {start + word - 1: [] for word in dropped}
        for head, word in arcs:
            found.setdefault(start + word - 1, [heads[word - 1]]).append(head)
    return found


def _above(word: int, heads: Sequence[int]) -> Iterator[int]:
    """A word, its head, and so on."""
    while word:
        yield word
        word = heads[word - 1]


GRAPH_ENCODINGS: dict[str, GraphEncoding] = {
    encoding.name: encoding
    for encoding in (
        Paths(),
        Delta(),
        GraphBrackets("graph-2p", 2),
        GraphBrackets("graph-3p", 3),
        GraphBits("graph-12-bit", 2),
        GraphBits("graph-18-bit", 3),
    )
}


DEFAULT_GRAPH_ENCODING = "paths"


def get_graph_encoding(name: str) -> GraphEncoding:
    """The encoding of that name."""
    check_name("encoding of graphs", name, GRAPH_ENCODINGS)
    return GRAPH_ENCODINGS[name]


def _arcs(graph: Graph) -> Arcs:
    """The arcs that labels can have, of a graph without empty nodes."""
    arcs = ((head, word) for word, heads in enumerate(graph.heads, 1) for head, _ in heads)
    return [(head, word) for head, word in arcs if isinstance(head, int) and head != word]


def _planes(arcs: Arcs, count: int, clash: Callable[[Arc, Arc], bool]) -> list[Arcs]:
    """The arcs of each plane."""
    planes: list[Arcs] = [[] for _ in range(count)]
    still_open: list[Arcs] = [[] for _ in range(count)]
    for arc in sorted(arcs, key=sorted):
        for plane, earlier in zip(planes, still_open, strict=True):
            earlier[:] = [one for one in earlier if max(one) > min(arc)]
            if not any(clash(one, arc) for one in earlier):
                plane.append(arc)
                earlier.append(arc)
                break
    return planes


def _crosses(one: Arc, other: Arc) -> bool:
    """Whether two arcs of one direction cross, of which the first begins no later."""
    return min(one) < min(other) < max(one) < max(other) and (one[0] < one[1]) == (other[0] < other[1])


def _crosses_or_meets(one: Arc, other: Arc) -> bool:
    """The same, or whether they lead from one side into the same word."""
    meets = one[1] == other[1] and (one[0] < one[1]) == (other[0] < other[1])
    return meets or _crosses(one, other)


def _labelled(labels: Column, offsets: Int64s) -> Iterator[tuple[int, Labelled]]:
    """Sentences in which any label says something, by their numbers, and the words of these labels."""
    says_something = np.array([*(name != EMPTY for name in labels.names), False])
    places = np.flatnonzero(says_something[labels.ids])
    sentences = np.searchsorted(offsets, places, side="right") - 1
    words = (places - offsets[sentences] + 1).tolist()
    names = (labels.names[number] for number in labels.ids[places].tolist())
    for sentence, group in groupby(zip(sentences.tolist(), words, names, strict=True), key=itemgetter(0)):
        yield sentence, [(word, name) for _, word, name in group]


def _decoded(labels: Column, forest: Forest, arcs_of: Callable[[Labelled], Arcs]) -> Changes:
    graphs, found = {sentence: arcs_of(words) for sentence, words in _labelled(labels, forest.offsets)}, Changes()
    for sentence, (heads, start) in enumerate(zip(_heads(forest), forest.offsets.tolist(), strict=False)):
        reached, own = reachable(graphs.get(sentence, ())), dict[int, list[int]]()
        for head, word in graphs.get(sentence, ()):
            own.setdefault(word, []).append(head)
        for word, head in enumerate(heads, 1):
            if word not in reached and head not in own.get(word, ()):
                own.setdefault(word, []).append(head)
        found |= {start + word - 1: above for word, above in own.items() if above != [heads[word - 1]]}
    return found


def _heads(forest: Forest) -> list[list[int]]:
    """The heads of each sentence."""
    heads = forest.heads.tolist()
    return [heads[start:end] for start, end in pairwise(forest.offsets.tolist())]


def _relations(forest: Forest) -> list[list[str]]:
    """The relations of each sentence, without subtypes."""
    relations = [universal(relation) for relation in forest.deprels.labels()]
    return [relations[start:end] for start, end in pairwise(forest.offsets.tolist())]


@lru_cache(maxsize=1 << 14)
def _read_brackets(label: str) -> list[tuple[int, int]]:
    """The plane and the move of each bracket; what is no bracket is passed over."""
    return [(len(stars), SYMBOLS.index(sign)) for sign, stars in _BRACKET.findall(label)]


@lru_cache(maxsize=1 << 14)
def _read_bits(label: str) -> list[int]:
    """The bits of each plane as a number, the first bit lowest; none if the label has anything else."""
    if not re.fullmatch("[01]+", label, re.ASCII):
        return []
    return [int(label[start : start + BITS][::-1], 2) for start in range(0, len(label), BITS)]


# Whole sentences


def encode_graphs(sentences: Sequence[Sentence], encoding: GraphEncoding) -> dict[str, Column]:
    """The labels of the graphs of sentences: arcs, the relation of each word's own arc, and those of its others."""
    graphs = [sentence.needed_graph().collapsed() for sentence in sentences]
    trees = AnnotatedTrees.of(sentences)
    relations, others = encode_relations(graphs, trees)
    return {encoding.task: encoding.encode(graphs, trees.forest), RELATION: relations, EXTRA: others}


def graph_labels(sentences: Sequence[Sentence], name: str) -> Column:
    """One kind of these labels: those of arcs, by the name of the encoding, or those of relations.

    Paths through empty nodes are left out, since parsing makes no empty nodes.
    """
    graphs, trees = [without_paths(sentence) for sentence in sentences], AnnotatedTrees.of(sentences)
    if name in GRAPH_ENCODINGS:
        return GRAPH_ENCODINGS[name].encode(graphs, trees.forest)
    return encode_relations(graphs, trees)[(RELATION, EXTRA).index(name)]


def without_paths(sentence: Sentence) -> Graph:
    """The graph of a sentence without arcs through empty nodes; words that have no others have those of the tree."""
    graph, tree = sentence.needed_graph(), Graph.from_tree(sentence.tree)
    if not graph.empty:
        return graph
    kept = (tuple(one for one in heads if STEP not in one.relation) for heads in graph.collapsed().heads)
    return Graph(tuple(heads or own for heads, own in zip(kept, tree.heads, strict=True)))


def decode_graphs(
    columns: Mapping[str, Column], sentences: Sequence[Sentence], encoding: GraphEncoding
) -> Iterator[Graph]:
    """The graphs that labels tell, whatever they are, for sentences with trees. Paths become empty nodes again."""
    trees = AnnotatedTrees.of(sentences)
    heads = encoding.decode(columns[encoding.task], trees.forest)
    deps = decode_deps(heads, columns[RELATION], columns[EXTRA], trees).labels()
    for start, end in pairwise(trees.forest.offsets.tolist()):
        yield read_graph(deps[start:end], {}).expanded()
