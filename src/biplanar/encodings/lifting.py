"""Pseudo-projective lifting (Nivre and Nilsson 2005): crossing trees as projective ones, and back.

The shortest non-projective arc (of equal ones the leftmost) is lifted to the head's head, until none is left. What was
done is written into relations: `r↑` is that of a lifted word, `r↑h` also names the relation of its head before, `r↓`
is that of a word that lifted ones passed by. To undo it, a lifted word's head is searched below the one that it has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Int32s, Int64s
from biplanar.data.forest import Column, Forest
from biplanar.encodings.encoding import Encoding
from biplanar.errors import check_name
from biplanar.planes.crossings import is_arc_nonprojective

UP, DOWN = "↑", "↓"

# What a scheme writes down: the relation of the head before, words that were passed by.
HEAD, PATH = 1, 2
SCHEMES = {"head": HEAD, "path": PATH, "head+path": HEAD | PATH}


@dataclass(frozen=True)
class Lifting:
    """One of the schemes. A projective tree comes back as it is; of a crossing one, most arcs do."""

    scheme: str

    def __post_init__(self) -> None:
        check_name("lifting", self.scheme, SCHEMES)

    def lift(self, forest: Forest) -> Forest:
        """Projective trees, whose relations say what was done."""
        heads = lifted_heads(forest.heads, forest.offsets)
        changed = heads != forest.heads
        passed = _passed_by(forest.heads, heads, forest.offsets) & self._has(PATH)
        names, own = forest.deprels.names, forest.deprels.ids.astype(np.int64)
        starts = np.repeat(forest.offsets[:-1], np.diff(forest.offsets))
        above = np.zeros(len(heads), dtype=np.int64)  # 0: none is named
        if self._has(HEAD):
            above[changed] = own[(starts + forest.heads - 1)[changed]] + 1
        found, ids = np.unique(np.stack([own, above, changed, passed]), axis=1, return_inverse=True)
        labels = [
            names[relation] + UP * is_changed + (names[head - 1] if head else "") + DOWN * is_passed
            for relation, head, is_changed, is_passed in found.T.tolist()
        ]
        return replace(forest, heads=heads, deprels=Column(ids.reshape(-1).astype(np.int32), tuple(labels)))

    def lower(self, forest: Forest) -> Forest:
        """The trees and relations as they were, as far as relations tell."""
        parts = [_parts(name) for name in forest.deprels.names]
        bases = Column.of(base for base, *_ in parts)
        numbers = {name: number for number, name in enumerate(bases.names)}
        wanted = np.array([numbers.get(head, -1) for _, _, head, _ in parts] + [-1], dtype=np.int32)
        lifted = np.array([is_lifted for _, is_lifted, _, _ in parts] + [False], dtype=np.bool_)
        passed = np.array([is_passed for *_, is_passed in parts] + [False], dtype=np.bool_)
        own = np.append(bases.ids, np.int32(-1))[forest.deprels.ids]
        ids, (head, path) = forest.deprels.ids, (self._has(HEAD), self._has(PATH))
        heads = _lowered(forest.heads, forest.offsets, own, wanted[ids], lifted[ids], passed[ids], head, path)
        return replace(forest, heads=heads, deprels=Column(own, bases.names))

    def _has(self, what: int) -> bool:
        return bool(SCHEMES[self.scheme] & what)


def base_relation(name: str) -> str:
    """A relation without what lifting wrote into it."""
    return _parts(name)[0]


def _parts(name: str) -> tuple[str, bool, str, bool]:
    """A relation, whether it was lifted, the relation of its head before, and whether others passed by."""
    rest = name.removesuffix(DOWN)
    base, up, head = rest.partition(UP)
    return base, bool(up), head, rest != name


def with_lifting(encoding: Encoding, scheme: str) -> Encoding:
    """An encoding of projective trees (a dataclass with a field `lifting`), with lifting."""
    return replace(encoding, name=f"{encoding.name}+{scheme}", lifting=Lifting(scheme))  # type: ignore[type-var]


def lifting_of(encoding: Encoding) -> Lifting | None:
    """How an encoding lifts, if it writes this down."""
    return getattr(encoding, "lifting", None)


def lift(encoding: Encoding, forest: Forest) -> Forest:
    """The trees whose labels and relations a tagger learns: other ones only if the encoding lifts."""
    lifting = lifting_of(encoding)
    return forest if lifting is None else lifting.lift(forest)


def lower(encoding: Encoding, forest: Forest) -> Forest:
    """The trees that a tagger's labels and relations stand for: other ones only if the encoding lifts."""
    lifting = lifting_of(encoding)
    return forest if lifting is None else lifting.lower(forest)


@compiled()
def lifted_heads(heads: Int32s, offsets: Int64s) -> Int32s:
    """Projective trees: arcs lifted, the shortest first, until none is non-projective."""
    result = heads.copy()
    for s in range(len(offsets) - 1):
        own = result[offsets[s] : offsets[s + 1]]
        word = _shortest_crossed(own)
        while word > 0:
            own[word - 1] = own[own[word - 1] - 1]
            word = _shortest_crossed(own)
    return result


@compiled()
def _shortest_crossed(heads: Int32s) -> int:
    """The word with the shortest non-projective arc, 0 if there is none."""
    best, shortest = 0, len(heads) + 1
    for word in range(1, len(heads) + 1):
        length = abs(heads[word - 1] - word)
        if heads[word - 1] > 0 and length < shortest and is_arc_nonprojective(heads, word):
            best, shortest = word, length
    return best


@compiled()
def _passed_by(before: Int32s, after: Int32s, offsets: Int64s) -> Bools:
    """Words on the ways from the heads of lifted words to the heads that these have now."""
    passed = np.zeros(len(before), dtype=np.bool_)
    for s in range(len(offsets) - 1):
        base = offsets[s] - 1
        for at in range(offsets[s], offsets[s + 1]):
            word = before[at]
            if after[at] != word and _is_above(after, base, after[at], word):
                while word != after[at]:
                    passed[base + word] = True
                    word = after[base + word]
    return passed


@compiled()
def _is_above(heads: Int32s, base: int, above: int, word: int) -> bool:
    while word > 0 and word != above:
        word = heads[base + word]
    return word == above


@compiled()
def _lowered(
    heads: Int32s, offsets: Int64s, own: Int32s, wanted: Int32s, lifted: Bools, passed: Bools, head: bool, path: bool
) -> Int32s:
    """Lifted words, from the left, get a fitting head below the one that they have."""
    result = heads.copy()
    for s in range(len(offsets) - 1):
        place = slice(offsets[s], offsets[s + 1])
        for word in range(1, offsets[s + 1] - offsets[s] + 1):
            at = offsets[s] + word - 1
            if lifted[at] and result[at] > 0:
                if head:
                    found = _search(word, result[place], own[place], wanted[at], passed[place], path)
                else:
                    found = _follow(word, result[place], passed[place])
                result[at] = found if found else result[at]
    return result


@compiled()
def _search(word: int, heads: Int32s, own: Int32s, wanted: int, passed: Bools, path: bool) -> int:
    """Breadth first, the last word of the level nearest to the head that has the relation; 0 if there is none.

    If `path`, only words that were passed by are looked at, and the farthest level counts.
    """
    queue, count, at, found = np.empty(len(heads) + 1, dtype=np.int32), 1, 0, 0
    queue[0] = heads[word - 1]
    while at < count and (path or not found):
        for child in range(1, len(heads) + 1):
            if child != word and heads[child - 1] == queue[at] and (passed[child - 1] or not path):
                queue[count] = child
                count += 1
                if own[child - 1] == wanted:
                    found = child
        at += 1
    return found


@compiled()
def _follow(word: int, heads: Int32s, passed: Bools) -> int:
    """Down the words that were passed by, the first of several, to the last one; 0 if there is none."""
    at, child = heads[word - 1], 1
    while child <= len(heads):
        if child != word and heads[child - 1] == at and passed[child - 1]:
            at, child = child, 0
        child += 1
    return at if at != heads[word - 1] else 0
