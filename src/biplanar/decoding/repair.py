"""From the heads that labels assert to a tree: one root, one head a word, no cycle. Neither repair ever fails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Float32s, Int32s, Int64s

# From asserted heads, offsets, and how root-like each word is (0 to 1), to heads that form trees.
Repair = Callable[[Int32s, Int64s, Float32s], Int32s]


@compiled()
def repair_cleanly(asserted: Int32s, offsets: Int64s, root_likeness: Float32s) -> Int32s:
    """Keep every asserted arc, but for one in each cycle, and one for the root where no word was left for it.

    The root is, of the words without a head, the first most root-like. If all words have heads, it is the first most
    root-like word, or, if none is root-like, the leftmost word of the cycle that the first word's heads lead to. Words
    left without a head hang on the root, as does the leftmost word of each remaining cycle.
    """
    heads = asserted.copy()
    walks = np.zeros(len(heads), dtype=np.int64)
    for s in range(len(offsets) - 1):
        start, end = offsets[s], offsets[s + 1]
        root, best = -1, -1.0
        for at in range(start, end):
            if heads[at] <= 0:
                liking = root_likeness[at] + (0.25 if heads[at] == 0 else 0.0)
                if root < 0 or liking > best:
                    root, best = at, liking
        if root < 0:
            best = 0.0
            for at in range(start, end):
                if root_likeness[at] > best:
                    root, best = at, root_likeness[at]
        _hang_on_root(heads, start, end, root)
        _break_cycles(heads, start, end, root, True, walks)
    return heads


@compiled()
def repair_like_the_authors(asserted: Int32s, offsets: Int64s, root_likeness: Float32s) -> Int32s:
    """The repair behind the paper's tables, step by step as its authors' program does it.

    A word labelled `root` without a head is a root; if there is none, all words labelled `root` are; if there is none,
    word 1 is. Of several roots the first stays. Headless words and further roots hang on it. Then, for each word in
    order, walk up the heads: where the walk enters a word a second time, that word is hung on the root.
    """
    heads = asserted.copy()
    walks = np.zeros(len(heads), dtype=np.int64)
    for s in range(len(offsets) - 1):
        start, end = offsets[s], offsets[s + 1]
        root = -1
        for at in range(start, end):
            if root < 0 and (heads[at] == 0 or (heads[at] < 0 and root_likeness[at] == 1)):
                root = at
        if root < 0:
            for at in range(start, end):
                if root_likeness[at] == 1:
                    heads[at] = 0
                    if root < 0:
                        root = at
        _hang_on_root(heads, start, end, max(root, start))
        _break_cycles(heads, start, end, max(root, start), False, walks)
    return heads


@compiled()
def _hang_on_root(heads: Int32s, start: int, end: int, root: int) -> None:
    """One root, and on it all words without a head of their own; nothing where there is no root yet."""
    if root >= 0:
        for at in range(start, end):
            if at == root:
                heads[at] = 0
            elif heads[at] <= 0:
                heads[at] = root - start + 1


@compiled()
def _break_cycles(heads: Int32s, start: int, end: int, root: int, leftmost: bool, walks: Int64s) -> None:
    """Walk up from each word in order; hang one word of each cycle on the root, or make it the root if there is none.

    That word is the leftmost of the cycle, or else the one where the walk entered it. `walks` says from which word on
    a word was last passed by, so that no path is walked twice.
    """
    for origin in range(start, end):
        at = origin
        while heads[at] > 0 and walks[at] == 0:
            walks[at] = origin + 1
            at = start - 1 + heads[at]
        if heads[at] > 0 and walks[at] == origin + 1:
            cut = at
            other = start - 1 + heads[at]
            while leftmost and other != at:
                cut = min(cut, other)
                other = start - 1 + heads[other]
            if root < 0:
                root = cut
                heads[cut] = 0
            else:
                heads[cut] = root - start + 1
