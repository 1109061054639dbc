"""Heads of random trees: without crossings, with local ones, with many; and the trees."""

from __future__ import annotations

from random import Random

from biplanar.data.tree import Tree

NEIGHBOURHOOD = 4  # words, in locally crossing trees


def random_heads(size: int, random: Random) -> tuple[int, ...]:
    """The heads of a tree whose words hang on earlier ones of a shuffled order, so that arcs cross freely."""
    order = list(range(1, size + 1))
    random.shuffle(order)
    heads = [0] * (size + 1)
    for place in range(1, size):
        heads[order[place]] = order[random.randrange(place)]
    return tuple(heads[1:])


def projective_heads(size: int, random: Random) -> tuple[int, ...]:
    """The heads of a tree without crossings: a random shape, laid out so that every subtree is a range of words."""
    left: list[list[int]] = [[] for _ in range(size)]
    right: list[list[int]] = [[] for _ in range(size)]
    above = [-1] * size
    for node in range(1, size):
        above[node] = random.randrange(node)
        random.choice((left, right))[above[node]].append(node)
    place: dict[int, int] = {}
    waiting = [(0, False)]
    while waiting:
        node, laid_out = waiting.pop()
        if laid_out:
            place[node] = len(place) + 1
        else:
            waiting.extend((child, False) for child in right[node])
            waiting.append((node, True))
            waiting.extend((child, False) for child in left[node])
    heads = {place[node]: place.get(above[node], 0) for node in range(size)}
    return tuple(heads[word] for word in range(1, size + 1))


def locally_crossing_heads(size: int, random: Random) -> tuple[int, ...]:
    """A random spanning tree of the words in which each head is at most `NEIGHBOURHOOD` words away."""
    pairs = [(left, left + step) for step in range(1, NEIGHBOURHOOD + 1) for left in range(1, size + 1 - step)]
    random.shuffle(pairs)
    leader = list(range(size + 1))
    near: list[list[int]] = [[] for _ in range(size + 1)]
    for one, other in pairs:
        first, second = _leader(leader, one), _leader(leader, other)
        if first != second:
            leader[first] = second
            near[one].append(other)
            near[other].append(one)
    return _hang(near, random.randint(1, size))


def _leader(leader: list[int], word: int) -> int:
    while leader[word] != word:
        leader[word] = leader[leader[word]]
        word = leader[word]
    return word


def _hang(near: list[list[int]], root: int) -> tuple[int, ...]:
    """The heads of a tree without direction when it is picked up at its root."""
    heads, waiting = [-1] * len(near), [root]
    heads[root] = 0
    while waiting:
        word = waiting.pop()
        for other in near[word]:
            if heads[other] < 0:
                heads[other] = word
                waiting.append(other)
    return tuple(heads[1:])


def tree_of(heads: tuple[int, ...], root: str = "root") -> Tree:
    """A tree with relations that can be told apart."""
    return Tree(heads, tuple(f"dep{word}" if head else root for word, head in enumerate(heads, 1)))
