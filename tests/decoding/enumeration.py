"""All label sequences of a short sentence, with their scores: what the search over stacks is compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from biplanar.data.forest import offsets_of
from biplanar.decoding.beam import Beam
from biplanar.decoding.inventory import LabelInventory, Weights
from biplanar.decoding.scores import UNLIKELY, Scores
from biplanar.decoding.stack_search import StackSearch
from biplanar.encodings import get_encoding
from biplanar.encodings.stacks import depth_tasks
from tests.decoding.arc_tables import likeliest, random_table
from tests.reference import is_tree

EXACT = Beam(states=10**4, margin=math.inf, rarest=0.0, edges=10**9, nodes=10**7)
EVERY_LABEL = 2.0  # a share of the probability that no labels reach, so that none is left out
DEPRELS = ("root", "dep")

Planes = tuple[tuple[str, ...], ...]
Tables = Mapping[str, np.ndarray]

# Small label sets with the paper's order of brackets, with closers first, and with two planes.
LABEL_SETS: dict[str, Planes] = {
    "one plane": (("_", "<", "/", "\\", ">", "<\\", "/>", "</\\>"),),
    "closers first": (("_", "<\\", "/>", "<", "\\<\\", "\\", "/", ">/"),),
    "two planes": (("_", "<", "/>", "\\"), ("_", ">", "<\\")),
    "few labels in two planes": (("_", "/", ">", "<\\"), ("_", "/>")),
    "many closers": (("_", "<", "/", "\\\\", "</\\>", ">"), ("_", "\\", "/>", "<\\")),
    "two planes, ordered": (("_", "<\\", "\\<", ">/"), ("_", "/", ">")),
}


class Sequence(NamedTuple):
    """One well-formed way to label a sentence."""

    labels: tuple[tuple[int, ...], ...]  # by word, then plane
    heads: tuple[int, ...]
    score: float


def inventory_of(planes: Planes, weights: Weights | None = None) -> LabelInventory:
    """Brackets in one plane or two, and two relations."""
    encoding = get_encoding("1p-brackets" if len(planes) == 1 else "2p-full")
    names = dict(zip(encoding.tasks, planes, strict=True)) | {"deprel": DEPRELS}
    return LabelInventory(encoding, names, weights or Weights())


def searching(
    planes: Planes,
    beam: Beam | None = None,
    *,
    weights: Weights | None = None,
    **settings: float,
) -> Callable[[Scores], StackSearch]:
    """A search over some labels."""
    inventory = inventory_of(planes, weights)
    return lambda scores: StackSearch(scores, inventory, replace(beam or Beam(), **settings))


def random_tables(
    rng: np.random.Generator, words: int, planes: Planes, *, depths: bool, spread: float = 1.0
) -> dict[str, np.ndarray]:
    """Noise for scores."""
    tables = {f"plane{number}": rng.normal(0, 2, (words, len(names))) for number, names in enumerate(planes, 1)}
    tables["deprel"] = rng.normal(0, 2, (words, len(DEPRELS)))
    if depths:
        tables |= {task: rng.normal(0, 2, (words, 3)) for task in depth_tasks(list(tables)[: len(planes)])}
    return {task: np.float32(spread) * table.astype(np.float32) for task, table in tables.items()}


def near_certain(labels: list[tuple[str, ...]], names: Planes, relations: list[str]) -> Scores:
    """Scores of one sentence that are nearly sure of these labels."""
    tables = {f"plane{p + 1}": np.zeros((len(labels), len(plane)), np.float32) for p, plane in enumerate(names)}
    tables["deprel"] = np.zeros((len(labels), len(DEPRELS)), np.float32)
    for word, row in enumerate(labels):
        for plane, label in enumerate(row):
            tables[f"plane{plane + 1}"][word, names[plane].index(label)] = 8
        tables["deprel"][word, DEPRELS.index(relations[word])] = 8
    return Scores(offsets_of([len(labels)]), tables)


class Prepared(NamedTuple):
    """A short sentence of noise."""

    sequences: list[Sequence]  # that are trees, best first
    cyclic: list[Sequence]  # with one root, but a cycle
    scores: Scores
    search: Callable[[Scores], StackSearch]  # which leaves nothing out

    def likelihoods(self) -> np.ndarray:
        """How likely each arc is by all sequences, cyclic ones among them: (words, 1 + words)."""
        everything, words = [*self.sequences, *self.cyclic], len(self.scores.deprels)
        shares = np.array([one.score for one in everything]) / self.search(self.scores).inventory.weights.temperature
        shares = np.exp(shares - shares.max())
        found = np.zeros((words, words + 1))
        for one, share in zip(everything, shares / shares.sum(), strict=True):
            found[np.arange(words), one.heads] += share
        return found


def prepared(
    name: str,
    words: int,
    depths: bool,
    seed: int,
    spread: float = 1.0,
    *,
    arcs: bool = False,
    temperature: float = 1.0,
    arc_weight: float = 2.0,
) -> Prepared:
    """All well-formed sequences of a sentence, its scores, and a search that leaves nothing out."""
    planes, rng = LABEL_SETS[name], np.random.default_rng(seed)
    tables = random_tables(rng, words, planes, depths=depths, spread=spread)
    table = random_table(rng, words, 2 * spread) if arcs else None
    chosen = Weights(arc_weight, temperature)
    everything = sorted(_scored(tables, planes, table, chosen.arcs), key=lambda one: -one.score)
    trees, others = ([one for one in everything if is_tree(one.heads) == wanted] for wanted in (True, False))
    search = searching(planes, EXACT, mass=EVERY_LABEL, weights=chosen, depth_weight=1.0)
    scores = Scores(offsets_of([words]), tables, arcs=None if table is None else likeliest([table]))
    return Prepared(trees, others, scores, search)


def _scored(tables: Tables, planes: Planes, arcs: np.ndarray | None, weight: float) -> Iterator[Sequence]:
    """All well-formed sequences of labels; where arcs count, a second plane counts half, and its depths do not."""
    words = len(tables["deprel"])
    tasks = [f"plane{number}" for number in range(1, len(planes) + 1)]
    logs = {task: [log_softmax(row) for row in table] for task, table in tables.items()}
    shares = [1.0, 1.0 if arcs is None else 0.5]
    stacks = list(enumerate(depth_tasks(tasks)))[: None if arcs is None else 2]
    for chosen, heads, depths in well_formed(planes, words):
        score = 0.0
        for word, (pair, head) in enumerate(zip(chosen, heads, strict=True)):
            score += sum(shares[p] * logs[task][word][pair[p]] for p, task in enumerate(tasks))
            score += logs["deprel"][word][0 if head == 0 else 1]
            score += sum(logs[task][word][min(depths[word][stack], 2)] for stack, task in stacks if task in logs)
            if arcs is not None:
                score += weight * max(arcs[word, head], UNLIKELY)
        yield Sequence(chosen, heads, float(score))


WellFormed = tuple[tuple[tuple[int, ...], ...], tuple[int, ...], list[list[int]]]


@cache
def well_formed(planes: Planes, words: int) -> list[WellFormed]:
    """All sequences of labels with one root, with their heads and depths; some have cycles."""
    pairs, found = list(product(*(range(len(names)) for names in planes))), list[WellFormed]()
    for chosen in product(pairs, repeat=words):
        followed = follow(tuple(tuple(planes[p][label] for p, label in enumerate(pair)) for pair in chosen))
        if followed is not None and followed[0].count(0) == 1:
            found.append((chosen, tuple(followed[0]), followed[1]))
    return found


def follow(labels: tuple[tuple[str, ...], ...]) -> tuple[list[int], list[list[int]]] | None:
    """Heads (0: none) and the depths after each word, by the letter of the encoding; None where anything is amiss."""
    heads = [0] * len(labels)
    stacks: list[list[int]] = [[] for _ in range(2 * len(labels[0]))]
    depths = []
    for word, planes in enumerate(labels, 1):
        for plane, label in enumerate(planes):
            for sign in label.replace("_", ""):
                stack = stacks[2 * plane + (sign in "/>")]
                if sign in "</":
                    stack.append(word - 1)
                    continue
                if not stack:
                    return None
                partner = stack.pop()
                head, dependent = (word, partner) if sign == "\\" else (partner, word)
                if dependent == 0 or head == 0 or heads[dependent - 1]:
                    return None
                heads[dependent - 1] = head
        depths.append([len(stack) for stack in stacks])
    return None if any(stacks) else (heads, depths)


def log_softmax(row: np.ndarray) -> np.ndarray:
    """By plain arithmetic."""
    row = row.astype(np.float64)
    return row - row.max() - np.log(np.exp(row - row.max()).sum())
