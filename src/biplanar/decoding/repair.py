"""From the heads that labels assert to a tree: one root, one head a word, no cycle. Neither repair ever fails."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biplanar.tree import Int32s, Int64s


@njit(cache=True)
def repair_cleanly(asserted: Int32s, offsets: Int64s, root_likeness: NDArray[np.float32]) -> Int32s:
    """Keep every asserted arc, but for one in each cycle, and one for the root where no word was left for it.

    The root is, of the words without a head, the first most root-like. If all words have heads, it is the first most
    root-like word, or, if none is root-like, the leftmost word of the cycle that the first word's heads lead to. Words
    left without a head hang on the root, as does the leftmost word of each remaining cycle.
    """
    heads = asserted.copy()
    walk = np.zeros(len(heads) + 1, dtype=np.int64)  # which walk last came by; 0: none yet
    walks = 0
    for s in range(len(offsets) - 1):
        start, end = offsets[s], offsets[s + 1]
        base = start - 1
        root, best = -1, -1.0
        for at in range(start, end):
            if heads[at] <= 0:
                liking = root_likeness[at] + (0.25 if heads[at] == 0 else 0.0)
                if liking > best:
                    root, best = at, liking
        if root < 0:
            best = 0.0
            for at in range(start, end):
                if root_likeness[at] > best:
                    root, best = at, root_likeness[at]
        for at in range(start, end):
            if root >= 0:
                if at == root:
                    heads[at] = 0
                elif heads[at] <= 0:
                    heads[at] = root - base
        for origin in range(start, end):
            walks += 1
            first_walk = walks - (origin - start)
            at = origin
            while heads[at] > 0 and walk[at] < first_walk:
                walk[at] = walks
                at = base + heads[at]
            if heads[at] > 0 and walk[at] == walks:
                leftmost, other = at, base + heads[at]
                while other != at:
                    leftmost = min(leftmost, other)
                    other = base + heads[other]
                if root < 0:
                    root = leftmost
                    heads[root] = 0
                else:
                    heads[leftmost] = root - base
    return heads


@njit(cache=True)
def repair_like_the_authors(asserted: Int32s, offsets: Int64s, root_likeness: NDArray[np.float32]) -> Int32s:
    """The repair behind the paper's tables, step by step as its authors' program does it.

    A word labelled `root` without a head is a root; if there is none, all words labelled `root` are; if there is none,
    word 1 is. Of several roots the first stays. Headless words and further roots hang on it. Then, for each word in
    order, walk up the heads: where the walk enters a word a second time, that word is hung on the root.
    """
    heads = asserted.copy()
    walk = np.zeros(len(heads) + 1, dtype=np.int64)
    walks = 0
    for s in range(len(offsets) - 1):
        start, end = offsets[s], offsets[s + 1]
        base = start - 1
        root = -1
        for at in range(start, end):
            if heads[at] == 0 or (heads[at] < 0 and root_likeness[at] == 1):
                heads[at] = 0
                if root < 0:
                    root = at
        if root < 0:
            for at in range(start, end):
                if root_likeness[at] == 1:
                    heads[at] = 0
                    if root < 0:
                        root = at
        if root < 0 and end > start:
            root = start
        for at in range(start, end):
            if at == root:
                heads[at] = 0
            elif heads[at] <= 0:
                heads[at] = root - base
        for origin in range(start, end):
            walks += 1
            first_walk = walks - (origin - start)
            at = origin
            while heads[at] > 0 and walk[at] < first_walk:
                walk[at] = walks
                at = base + heads[at]
            if heads[at] > 0 and walk[at] == walks:
                heads[at] = root - base
    return heads
