"""All label sequences of a short sentence, with their scores: what the search over stacks is compared with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from biplanar.data.forest import offsets_of
from biplanar.decoding.beam import Beam, SearchConfig
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.scores import Scores
from biplanar.decoding.stack_search import StackSearch
from biplanar.encodings import get_encoding
from biplanar.encodings.stacks import depth_tasks
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


def inventory_of(planes: Planes) -> LabelInventory:
    """Brackets in one plane or two, and two relations."""
    encoding = get_encoding("1p-brackets" if len(planes) == 1 else "2p-full")
    return LabelInventory(encoding, dict(zip(encoding.tasks, planes, strict=True)) | {"deprel": DEPRELS})


def searching(planes: Planes, beam: Beam | None = None, *, mass: float | None = None, **settings: float) -> StackSearch:
    """A search over some labels."""
    config = SearchConfig(**({} if beam is None else {"beam": beam}), **settings)
    return StackSearch(inventory_of(planes), config, **({} if mass is None else {"mass": mass}))


def random_tables(
    rng: np.random.Generator, words: int, planes: Planes, *, depths: bool, spread: float = 1.0
) -> dict[str, np.ndarray]:
    """Noise for scores."""
    tables = {f"plane{number}": rng.normal(0, 2, (words, len(names))) for number, names in enumerate(planes, 1)}
    tables["deprel"] = rng.normal(0, 2, (words, len(DEPRELS)))
    if depths:
        tables |= {task: rng.normal(0, 2, (words, 3)) for task in depth_tasks(list(tables)[: len(planes)])}
    return {task: np.float32(spread) * table.astype(np.float32) for task, table in tables.items()}


def prepared(
    name: str, words: int, depths: bool, seed: int, spread: float = 1.0
) -> tuple[list[Sequence], Scores, StackSearch]:
    """All well-formed sequences of a sentence, best first, its scores, and a search that leaves nothing out."""
    planes = LABEL_SETS[name]
    tables = random_tables(np.random.default_rng(seed), words, planes, depths=depths, spread=spread)
    everything = sorted(enumerate_all(tables, planes), key=lambda one: -one.score)
    search = searching(planes, EXACT, mass=EVERY_LABEL, depth_weight=1.0)
    return everything, Scores(offsets_of([words]), tables), search


def enumerate_all(tables: Tables, planes: Planes) -> Iterator[Sequence]:
    """All sequences of labels that are a tree."""
    words = len(tables["deprel"])
    tasks = [f"plane{number}" for number in range(1, len(planes) + 1)]
    logs = {task: [log_softmax(row) for row in table] for task, table in tables.items()}
    pairs = list(product(*(range(len(names)) for names in planes)))
    for chosen in product(pairs, repeat=words):
        found = follow(tuple(tuple(planes[p][label] for p, label in enumerate(pair)) for pair in chosen))
        if found is None or not is_tree(found[0]):
            continue
        heads, depths = found
        score = sum(logs[task][w][pair[p]] for w, pair in enumerate(chosen) for p, task in enumerate(tasks))
        score += sum(logs["deprel"][w][0 if head == 0 else 1] for w, head in enumerate(heads))
        for stack, task in enumerate(depth_tasks(tasks)):
            if task in logs:
                score += sum(logs[task][w][min(depths[w][stack], 2)] for w in range(words))
        yield Sequence(chosen, tuple(heads), float(score))


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
