"""An enhanced graph: any number of heads a word, each with a relation, checked at birth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import NamedTuple

from biplanar.data.rows import EMPTY
from biplanar.data.tree import Tree
from biplanar.errors import GraphError

# A word by its number, 0 for the root, or an empty node by its id, such as "8.1".
Node = int | str

STEP = ">"  # between the relations of a path through empty nodes: conj>nsubj

_NODE = re.compile(r"(0|[1-9]\d{0,8})(\.[1-9]\d{0,8})?", re.ASCII)
_NO_RELATION = re.compile(r"[|\s\ud800-\udfff]|^_?$")


class EnhancedHead(NamedTuple):
    """A head in a graph, and the relation to it."""

    head: Node
    relation: str


Heads = tuple[EnhancedHead, ...]


@dataclass(frozen=True)
class Graph:
    """The heads of each word, and those of each empty node behind its id; all in the order in which DEPS has them.

    Cycles and several roots are allowed, and so are words that the root does not lead to (see `unreachable`). A head
    that is not in the sentence, a relation given twice or a word that is its own head is not, unless a path through
    empty nodes leads from the word back to it.
    """

    heads: tuple[Heads, ...]
    empty: tuple[tuple[str, Heads], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "heads", tuple(map(_ordered, self.heads)))
        empty = ((str(node), _ordered(heads)) for node, heads in self.empty)
        object.__setattr__(self, "empty", tuple(sorted(empty, key=lambda item: node_order(item[0]))))
        known: set[Node] = {*range(len(self.heads) + 1), *(node for node, _ in self.empty)}
        if len(known) <= len(self.heads) + len(self.empty):
            raise GraphError("an empty node has the id of another one", self.empty[0][0])
        for node, heads in self.nodes():
            _check(node, heads, known)

    @classmethod
    def from_tree(cls, tree: Tree) -> Graph:
        """The graph that has the arcs of a tree and no others."""
        arcs = zip(tree.heads, tree.deprels, strict=True)
        return cls(tuple((EnhancedHead(head, deprel),) for head, deprel in arcs))

    def __len__(self) -> int:
        return len(self.heads)

    def nodes(self) -> Iterator[tuple[Node, Heads]]:
        """Words, then empty nodes, each with its heads."""
        yield from enumerate(self.heads, 1)
        yield from self.empty

    @property
    def roots(self) -> tuple[Node, ...]:
        """What hangs on the dummy root: words, and empty nodes."""
        return tuple(node for node, heads in self.nodes() if any(head == 0 for head, _ in heads))

    @cached_property
    def unreachable(self) -> tuple[Node, ...]:
        """The words and empty nodes that no path leads to from the root. UD wants none."""
        reached = reachable([(head, node) for node, heads in self.nodes() for head, _ in heads])
        return tuple(node for node, _ in self.nodes() if node not in reached)

    def collapsed(self) -> Graph:
        """The graph without empty nodes: a path through them is one arc, as in the shared tasks (`conj>nsubj`)."""
        if not self.empty:
            return self
        above = dict(self.empty)
        return Graph(tuple(tuple(dict.fromkeys(_paths(heads, above))) for heads in self.heads))

    def expanded(self) -> Graph:
        """The graph with an empty node for each way into paths that share a head, behind its first dependent."""
        ids: dict[EnhancedHead, str] = {}
        last, words = dict(self.empty), list[Heads]()
        for word, heads in enumerate(self.heads, 1):
            own = list[EnhancedHead]()
            for head, relation in heads:
                while STEP in relation:
                    first, _, relation = relation.partition(STEP)
                    node = EnhancedHead(head, first)
                    if node not in ids:
                        ids[node] = next(one for number in count(1) if (one := f"{word}.{number}") not in last)
                        last[ids[node]] = (node,)
                    head = ids[node]
                own.append(EnhancedHead(head, relation))
            words.append(tuple(own))
        return Graph(tuple(words), tuple(last.items()))


def reachable(arcs: Iterable[tuple[Node, Node]]) -> set[Node]:
    """The nodes that arcs, from head to dependent, lead to from the root, and the root."""
    below: dict[Node, list[Node]] = {}
    for head, dependent in arcs:
        below.setdefault(head, []).append(dependent)
    found: set[Node] = {0}
    waiting: list[Node] = [0]
    while waiting:
        new = [node for node in below.pop(waiting.pop(), ()) if node not in found]
        found.update(new)
        waiting += new
    return found


def parse_deps(deps: str, node: Node) -> Heads:
    """What DEPS says of a word or an empty node."""
    if deps == EMPTY:
        return ()
    heads = []
    for item in deps.split("|"):
        head, _, relation = item.partition(":")
        if not (_NODE.fullmatch(head) and relation):
            raise GraphError(f"DEPS has {item!r:.60}, which is no head and relation (4:nsubj)", node)
        heads.append(EnhancedHead(head if "." in head else int(head), relation))
    return tuple(heads)


def deps_text(heads: Iterable[EnhancedHead]) -> str:
    """The same as DEPS."""
    return "|".join(f"{head}:{relation}" for head, relation in heads) or EMPTY


def read_graph(column: Sequence[str], empty: Mapping[str, str]) -> Graph:
    """The graph of the DEPS of words, and of those of empty nodes by their ids."""
    words = tuple(parse_deps(deps, word) for word, deps in enumerate(column, 1))
    return Graph(words, tuple((node, parse_deps(deps, node)) for node, deps in empty.items()))


def is_relation(text: str) -> bool:
    """Whether DEPS can hold some text as a relation, or as a path of relations."""
    return not any(map(_NO_RELATION.search, text.split(STEP)))


def node_order(node: Node) -> tuple[int, int]:
    """Words and empty nodes from left to right: 8, 8.1, 8.2, 9."""
    word, _, number = str(node).partition(".")
    return int(word), int(number or 0)


def _ordered(heads: Iterable[tuple[Node, str]]) -> Heads:
    every = [EnhancedHead(*head) for head in heads]
    return tuple(sorted(every, key=lambda one: (*node_order(one.head), one.relation)) if len(every) > 1 else every)


def _check(node: Node, heads: Heads, known: set[Node]) -> None:
    if len(set(heads)) < len(heads):
        raise GraphError(f"{node} has a head twice with the same relation", node)
    for head, relation in heads:
        if head not in known:
            raise GraphError(f"{node} has the head {head}, which is not in the sentence", node)
        if head == node and STEP not in relation:
            raise GraphError(f"{node} is its own head", node)
        if not is_relation(relation):
            raise GraphError(f"{node} has the relation {relation!r}: it is empty or has | or spaces", node)


def _paths(heads: Heads, above: Mapping[str, Heads]) -> Iterator[EnhancedHead]:
    """All ways from words to a word with these heads; none passes an empty node twice."""
    waiting = [(head, relation, frozenset[Node]()) for head, relation in reversed(heads)]
    while waiting:
        head, path, passed = waiting.pop()
        if isinstance(head, int):
            yield EnhancedHead(head, path)
        elif head not in passed:
            further = passed | {head}
            waiting += [(node, f"{relation}{STEP}{path}", further) for node, relation in reversed(above[head])]
