r"""The symbolic part of Biplanar in plain Python, written from the paper and its conventions, to compare with.

Heads are lists (0 for the root, words count from 1); a head that the labels do not assert is None. An arc is a tuple of
its left end, its right end and its dependent. Nothing here is compiled or clever: crossings are found by trying all
pairs, planes by the paper's pseudocode, cycles by walking up from every word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product

Arc = tuple[int, int, int]
Neighbours = dict[Arc, list[Arc]]
Row = tuple[str, ...]

EMPTY = "_"
# The signs of a label in their order: closers that come early, then `<` `/` `\` `>`.
SIGNS = "\\></\\>"
EARLY_LEFT, EARLY_RIGHT, OPEN_LEFT, OPEN_RIGHT, CLOSE_LEFT, CLOSE_RIGHT = range(6)


# Crossings


def arcs_of(heads: Sequence[int]) -> list[Arc]:
    """All arcs but the root's, in the order of the loops of Algorithms 1 and 2: by right end, the shortest first."""
    arcs = [(min(head, word), max(head, word), word) for word, head in enumerate(heads, 1) if head]
    return sorted(arcs, key=lambda arc: (arc[1], -arc[0]))


def crosses(one: Arc, other: Arc) -> bool:
    """Whether exactly one end of one arc lies strictly inside the other."""
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def same_direction(one: Arc, other: Arc) -> bool:
    """Whether both arcs go to the left or both to the right."""
    return (one[1] == one[2]) == (other[1] == other[2])


def crosses_in_direction(one: Arc, other: Arc) -> bool:
    """Left arcs and right arcs have stacks of their own, so they do not get into each other's way."""
    return crosses(one, other) and same_direction(one, other)


def closed_in_time(one: Arc, other: Arc) -> bool:
    """Whether one of two crossing arcs ends at the word after the one where the other begins: (l, i) and (i - 1, r)."""
    return one[1] - 1 == other[0] or other[1] - 1 == one[0]


def crosses_closed_late(one: Arc, other: Arc) -> bool:
    """What is left of crossings where closers stand before the openers of the same word."""
    return crosses(one, other) and not closed_in_time(one, other)


def crosses_in_full(one: Arc, other: Arc) -> bool:
    """What counts as a crossing for `2p-full`."""
    return crosses_in_direction(one, other) and not closed_in_time(one, other)


def crossings_graph(arcs: Iterable[Arc], conflict: Callable[[Arc, Arc], bool] = crosses) -> Neighbours:
    """For every arc the arcs that cross it, found by trying all pairs."""
    neighbours: Neighbours = {arc: [] for arc in arcs}
    for one, other in combinations(neighbours, 2):
        # Of arcs that cross, one begins strictly inside the other; asking this first saves most calls.
        if (one[0] < other[0] < one[1] or other[0] < one[0] < other[1]) and conflict(one, other):
            neighbours[one].append(other)
            neighbours[other].append(one)
    return neighbours


def parts_of(neighbours: Neighbours) -> list[set[Arc]]:
    """The connected parts of a crossings graph."""
    parts: list[set[Arc]] = []
    seen: set[Arc] = set()
    for start in neighbours:
        if start in seen:
            continue
        part, waiting = {start}, [start]
        while waiting:
            new = set(neighbours[waiting.pop()]) - part
            part |= new
            waiting.extend(new)
        parts.append(part)
        seen |= part
    return parts


def is_bipartite(part: set[Arc], neighbours: Neighbours) -> bool:
    """Whether a connected part of a crossings graph fits in two planes: colour one arc, then all that follows."""
    start = next(iter(part))
    colours, waiting = {start: 1}, [start]
    while waiting:
        arc = waiting.pop()
        for other in neighbours[arc]:
            if other not in colours:
                colours[other] = 3 - colours[arc]
                waiting.append(other)
            elif colours[other] == colours[arc]:
                return False
    return True


def fits_in_two_planes(arcs: Sequence[Arc], conflict: Callable[[Arc, Arc], bool] = crosses) -> bool:
    """The same for all arcs by brute force: try all ways to draw them in two planes."""
    pairs = [(i, j) for (i, one), (j, other) in combinations(enumerate(arcs), 2) if conflict(one, other)]
    return any(all(planes[i] != planes[j] for i, j in pairs) for planes in product((1, 2), repeat=len(arcs)))


def nonprojective_words(heads: Sequence[int]) -> list[int]:
    """The words whose arc h -> d has a word strictly between h and d that h does not dominate."""
    return [
        word
        for word, head in enumerate(heads, 1)
        if not all(dominates(head, between, heads) for between in range(min(head, word) + 1, max(head, word)))
    ]


def dominates(ancestor: int, word: int, heads: Sequence[int]) -> bool:
    """Whether the way up from a word comes by its ancestor; the dummy root dominates all words."""
    while word not in (ancestor, 0):
        word = heads[word - 1]
    return word == ancestor


# Planes


def greedy(neighbours: Neighbours, *, switch_averse: bool = False) -> dict[Arc, int]:
    """Algorithm 1 on a crossings graph whose arcs stand in the order of the visit.

    Where it is switch-averse and both planes are free, an arc gets the plane used last.
    """
    planes: dict[Arc, int] = {}
    preferred = 1
    for arc, crossing in neighbours.items():
        taken = {planes.get(other) for other in crossing}
        for plane in (preferred, 3 - preferred):
            if plane not in taken:
                planes[arc] = plane
                preferred = plane if switch_averse else 1
                break
    return planes


def propagation(neighbours: Neighbours, *, switch_averse: bool = False) -> dict[Arc, int]:
    """Algorithm 2, on the same and with the same switch."""
    planes: dict[Arc, int] = {}
    forbidden: tuple[set[Arc], ...] = (set(), set(), set())  # by plane; there is no plane 0
    preferred = 1
    for arc in neighbours:
        for plane in (preferred, 3 - preferred):
            if arc not in forbidden[plane]:
                planes[arc] = plane
                propagate(neighbours, forbidden, arc, 3 - plane)
                preferred = plane if switch_averse else 1
                break
    return planes


def propagate(neighbours: Neighbours, forbidden: tuple[set[Arc], ...], arc: Arc, plane: int) -> None:
    """The function Propagate of Algorithm 2, with a list of what is still to be done in place of the recursion."""
    forbidden[plane].add(arc)
    waiting = [(arc, plane)]
    while waiting:
        arc, plane = waiting.pop()
        for other in neighbours[arc]:
            if other not in forbidden[3 - plane]:
                forbidden[3 - plane].add(other)
                waiting.append((other, 3 - plane))


def full(arcs: Iterable[Arc]) -> dict[Arc, int]:
    """Algorithm 2, and Algorithm 1 inside the parts of the crossings graph that do not fit in two planes."""
    neighbours = crossings_graph(arcs, crosses_in_full)
    planes = propagation(neighbours)
    for part in parts_of(neighbours):
        if not is_bipartite(part, neighbours):
            rescued = greedy({arc: crossing for arc, crossing in neighbours.items() if arc in part})
            planes = {arc: plane for arc, plane in planes.items() if arc not in part} | rescued
    return planes


STRATEGIES: dict[str, Callable[[list[Arc]], dict[Arc, int]]] = {
    "1p-brackets": lambda arcs: dict.fromkeys(arcs, 1),
    "2p-greedy": lambda arcs: greedy(crossings_graph(arcs)),
    "2p-greedy-switch": lambda arcs: greedy(crossings_graph(arcs), switch_averse=True),
    "2p-prop": lambda arcs: propagation(crossings_graph(arcs)),
    "2p-prop-switch": lambda arcs: propagation(crossings_graph(arcs), switch_averse=True),
    "2p-full": full,
}
TWO_PLANES = tuple(name for name in STRATEGIES if name != "1p-brackets")


def planes_of(heads: Sequence[int], strategy: str) -> list[int]:
    """The plane of each word's arc, 0 for none."""
    planes = {arc[2]: plane for arc, plane in STRATEGIES[strategy](arcs_of(heads)).items()}
    return [planes.get(word, 0) for word in range(1, len(heads) + 1)]


# Bracket labels


def bracket_labels(size: int, arcs: Iterable[Arc], *, closers_first: bool = False) -> list[str]:
    r"""One plane's labels: `<` on d + 1 and `\` on h for a left arc, `/` on h + 1 and `>` on d for a right one."""
    places: list[list[int]] = [[] for _ in range(size + 2)]
    for left, right, dependent in arcs:
        early = closers_first and right - left > 1  # the partner is not the previous word
        if dependent == left:
            places[left + 1].append(OPEN_LEFT)
            places[right].append(EARLY_LEFT if early else CLOSE_LEFT)
        else:
            places[left + 1].append(OPEN_RIGHT)
            places[right].append(EARLY_RIGHT if early else CLOSE_RIGHT)
    return ["".join([SIGNS[place] for place in sorted(word)]) or EMPTY for word in places[1:-1]]


def encode_brackets(heads: Sequence[int], encoding: str) -> list[list[str]]:
    """One list of labels for each plane."""
    planes = STRATEGIES[encoding](arcs_of(heads))
    numbers = (1,) if encoding == "1p-brackets" else (1, 2)
    early = encoding == "2p-full"
    return [
        bracket_labels(len(heads), (arc for arc in planes if planes[arc] == number), closers_first=early)
        for number in numbers
    ]


def match_brackets(rows: Sequence[Sequence[str]], planes: int) -> list[int | None]:
    """The heads that brackets assert, with two stacks for each plane; planes are read word by word."""
    heads: list[int | None] = [None] * (len(rows) + 1)
    stacks: list[tuple[list[int], list[int]]] = [([], []) for _ in range(planes)]
    for word, row in enumerate(rows, 1):
        for (left, right), label in zip(stacks, row, strict=False):
            for sign in label:
                if sign == "<":
                    left.append(word - 1)
                elif sign == "/":
                    right.append(word - 1)
                elif sign == "\\" and left and left[-1] > 0:  # a `<` on word 1 is never popped
                    heads[left.pop()] = word
                elif sign == ">" and right:
                    heads[word] = right.pop()
    return heads[1:]


# Labels that say where the head stands


def encode_absolute(heads: Sequence[int]) -> list[str]:
    """`3`: the head is word 3."""
    return [str(head) for head in heads]


def decode_absolute(labels: Iterable[str]) -> list[int | None]:
    """Whole numbers; whether they lie in the sentence is looked at later."""
    return [int(label) if re.fullmatch("[+-]?[0-9]+", label) else None for label in labels]


def encode_relative(heads: Sequence[int]) -> list[str]:
    """`-2`: the head is the second word to the left."""
    return [f"{head - word:+d}" if head else "0" for word, head in enumerate(heads, 1)]


def decode_relative(labels: Iterable[str]) -> list[int | None]:
    """A step to the dummy root or past it asserts nothing; that is what `0` is for."""
    heads: list[int | None] = []
    for word, step in enumerate(decode_absolute(labels), 1):
        if step is None or step == 0:
            heads.append(step)
        else:
            heads.append(word + step if word + step > 0 else None)
    return heads


def encode_rel_pos(heads: Sequence[int], upos: Sequence[str]) -> list[str]:
    """`+2@VERB`: the head is the second verb to the right."""
    labels = []
    for word, head in enumerate(heads, 1):
        tag = upos[head - 1]
        if head == 0:
            labels.append("-1@ROOT")
        elif head > word:
            labels.append(f"+{upos[word:head].count(tag)}@{tag}")
        else:
            labels.append(f"-{upos[head - 1 : word - 1].count(tag)}@{tag}")
    return labels


def decode_rel_pos(labels: Iterable[str], upos: Sequence[str]) -> list[int | None]:
    """The word counted to, or where there are too few the one before it; the dummy root stands at the left."""
    return [find_tagged(label, word, ["ROOT", *upos]) for word, label in enumerate(labels, 1)]


def find_tagged(label: str, word: int, tags: Sequence[str]) -> int | None:
    """The head that one label of `rel-pos` asserts."""
    parts = re.fullmatch("([+-])([0-9]+)@(.*)", label)
    if not parts or int(parts[2]) == 0:
        return None
    count = int(parts[2])
    way = range(word + 1, len(tags)) if parts[1] == "+" else range(word - 1, -1, -1)
    tagged = [place for place in way if tags[place] == parts[3]]
    if len(tagged) >= count:
        return tagged[count - 1]
    return tagged[-1] if tagged and len(tagged) == count - 1 else None


def inside(heads: Iterable[int | None], size: int) -> list[int | None]:
    """Heads outside the sentence, and a word as its own head, assert nothing."""
    return [
        None if head is None or not 0 <= head <= size or head == word else head for word, head in enumerate(heads, 1)
    ]


# Repairs


def repair_like_the_authors(asserted: Sequence[int | None], deprels: Sequence[str]) -> list[int]:
    """The repair behind the paper's tables.

    Words with head 0, and words labelled `root` that have no head, are roots; if there is none, all words labelled
    `root` are; if there is none, word 1 is. The first root stays, all others and the headless words hang on it.
    Then walk up from each word; where a walk enters a word again, that word hangs on the root.
    """
    labelled = [word for word, deprel in enumerate(deprels, 1) if deprel == "root"]
    taken = [0, *asserted]
    roots = [word for word in range(1, len(taken)) if taken[word] == 0 or (taken[word] is None and word in labelled)]
    roots = roots or labelled or [1]
    root = roots[0]
    heads = [root if head is None or word in roots else head for word, head in enumerate(taken)]
    heads[0] = heads[root] = 0
    again = True
    while again:
        again = False
        for word in range(1, len(heads)):
            met = first_met_twice(word, heads)
            if met:
                heads[met] = root
                again = True
    return heads[1:]


def first_met_twice(word: int, heads: Sequence[int | None]) -> int:
    """The word that a walk up the heads enters a second time; 0 if the walk comes to an end."""
    seen: set[int] = set()
    while word and word not in seen:
        seen.add(word)
        word = heads[word] or 0
    return word


def repair_cleanly(asserted: Sequence[int | None], deprels: Sequence[str]) -> list[int]:
    """Keep every asserted arc, but for one in each cycle, and one for the root where no word was left for it.

    The root is, of the words without a head, the first most root-like (`root` before `root:x` before all others; of
    equals those that say that they are the root). If all words have heads, it is the first most root-like word, or, if
    none is root-like, the leftmost word of the cycle that the first word's heads lead to. Words left without a head
    hang on the root, as does the leftmost word of each remaining cycle.
    """
    heads = [0, *asserted]
    words = range(1, len(heads))
    likeness = [0, *(2 if deprel == "root" else int(deprel.startswith("root:")) for deprel in deprels)]
    headless = [word for word in words if not heads[word]]
    if headless:
        root = max(headless, key=lambda word: (likeness[word], heads[word] == 0))  # `max` takes the first of equals
    elif any(likeness):
        root = max(words, key=lambda word: likeness[word])
    else:
        root = min(cycles(heads)[0])
    for word in headless:
        heads[word] = root
    heads[root] = 0
    for cycle in cycles(heads):
        heads[min(cycle)] = root
    return [head or 0 for head in heads[1:]]


def cycles(heads: Sequence[int | None]) -> list[set[int]]:
    """All cycles of some heads, where `heads[word]` is the head of a word and `heads[0]` is not looked at."""
    found: list[set[int]] = []
    finished: set[int] = set()
    for start in range(1, len(heads)):
        way: dict[int, None] = {}
        word = start
        while word and word not in finished and word not in way:
            way[word] = None
            word = heads[word] or 0
        if word in way:
            found.append(set(list(way)[list(way).index(word) :]))
        finished |= way.keys()
    return found


REPAIRS = {"greedy": repair_cleanly, "paper": repair_like_the_authors}


# Whole rows


ENCODINGS = (*STRATEGIES, "rel-pos", "absolute", "relative")


def encode(heads: Sequence[int], deprels: Sequence[str], upos: Sequence[str], encoding: str) -> list[Row]:
    """One row a word: its labels, then its relation."""
    if encoding in STRATEGIES:
        columns = encode_brackets(heads, encoding)
    elif encoding == "rel-pos":
        columns = [encode_rel_pos(heads, upos)]
    elif encoding == "absolute":
        columns = [encode_absolute(heads)]
    else:
        columns = [encode_relative(heads)]
    return list(zip(*columns, deprels, strict=True))


def assert_heads(rows: Sequence[Sequence[str]], encoding: str, upos: Sequence[str]) -> list[int | None]:
    """The head that the labels assert for each word."""
    if encoding in STRATEGIES:
        return match_brackets(rows, planes=1 if encoding == "1p-brackets" else 2)
    labels = [row[0] for row in rows]
    if encoding == "rel-pos":
        return decode_rel_pos(labels, upos)
    heads = decode_absolute(labels) if encoding == "absolute" else decode_relative(labels)
    return inside(heads, len(rows))


def decode(rows: Sequence[Sequence[str]], encoding: str, upos: Sequence[str], decoder: str) -> list[int]:
    """The heads of a tree, whatever the labels are."""
    return REPAIRS[decoder](assert_heads(rows, encoding, upos), [row[-1] for row in rows])


def is_tree(heads: Sequence[int]) -> bool:
    """One root, every head in the sentence, and every way up ends at the root."""
    size = len(heads)
    return list(heads).count(0) == 1 and max(heads) <= size and min(heads) >= 0 and not cycles([0, *heads])
