"""Trees and labels for tests: every small tree, random trees of any size, and labels as a bad tagger may make them."""

from __future__ import annotations

from functools import cache
from itertools import product
from random import Random

from benchmarks.trees import projective_heads, random_heads, tree_of
from hypothesis import strategies as st

from biplanar.data.graph import Graph, Node
from biplanar.data.tree import Tree
from tests.reference import is_tree

DEPRELS = ("root", "root:x", "nsubj", "obj", "pred")
TAGS = ("NOUN", "VERB", "ADP", "X")
SIGNS = "</\\>"

# What taggers and users come up with that is no bracket label.
MALFORMED = (
    "",
    ">><<",
    "abc",
    "{}",
    "_",
    "\\\\\\<<<",
    "-1@ROOT",
    "+0@VERB",
    "+9@NOUN",
    "@",
    "99",
    "-99",
    "+",
    "²",
    " ",
)


# Generators


@cache
def all_trees(size: int) -> tuple[tuple[int, ...], ...]:
    """The heads of every single-rooted tree of some words: all ways to choose a root and the other words' heads."""
    words = range(1, size + 1)
    choices = (
        product(*([0] if word == root else [head for head in words if head != word] for word in words))
        for root in words
    )
    return tuple(heads for choice in choices for heads in choice if is_tree(heads))


@cache
def all_trees_up_to(size: int) -> tuple[tuple[int, ...], ...]:
    """The heads of every single-rooted tree of 1, 2, ... words."""
    return tuple(heads for words in range(1, size + 1) for heads in all_trees(words))


@cache
def small_trees() -> tuple[Tree, ...]:
    """Every single-rooted tree of up to 6 words: all there is up to the first that do not fit in two planes."""
    return tuple(tree_of(heads) for heads in all_trees_up_to(6))


def mildly_crossing_heads(size: int, random: Random) -> tuple[int, ...]:
    """The heads of a projective tree in which a few words have changed places: more like the trees of treebanks."""
    heads = projective_heads(size, random)
    place = list(range(size + 1))
    for _ in range(random.randint(1, 3)):
        one, other = random.randint(1, size), random.randint(1, size)
        place[one], place[other] = place[other], place[one]
    moved = {place[word]: place[head] for word, head in enumerate(heads, 1)}
    return tuple(moved[word] for word in range(1, size + 1))


# Strategies


def _randoms() -> st.SearchStrategy[Random]:
    """Generators by their seeds: quick to draw, and for small counterexamples there is `small_trees`."""
    return st.randoms(use_true_random=True)


def any_heads(max_size: int = 12) -> st.SearchStrategy[tuple[int, ...]]:
    """Single-rooted trees with few or many crossings."""
    size = st.integers(1, max_size)
    return st.one_of(st.builds(random_heads, size, _randoms()), st.builds(mildly_crossing_heads, size, _randoms()))


def any_projective_heads(max_size: int = 12) -> st.SearchStrategy[tuple[int, ...]]:
    """Single-rooted trees without crossings."""
    return st.builds(projective_heads, st.integers(1, max_size), _randoms())


@st.composite
def trees(draw: st.DrawFn, max_size: int = 12) -> Tree:
    """Trees with arbitrary crossings and relations."""
    drawn = draw(any_heads(max_size))
    return Tree(drawn, tuple(draw(st.sampled_from(DEPRELS)) for _ in drawn))


@st.composite
def many_rooted(draw: st.DrawFn, max_size: int = 12) -> Tree:
    """Trees with two roots or more."""
    drawn = list(draw(any_heads(max_size).filter(lambda heads: len(heads) > 1)))
    for word in draw(st.sets(st.integers(1, len(drawn)), min_size=2)):
        drawn[word - 1] = 0
    return Tree(tuple(drawn), tuple("root" if head == 0 else "dep" for head in drawn))


def tags(size: int) -> st.SearchStrategy[list[str]]:
    """Part-of-speech tags for a sentence."""
    return _randoms().map(lambda random: random.choices(TAGS, k=size))


def bracket_labels() -> st.SearchStrategy[str]:
    """Brackets in any order and number, and text that is no label at all."""
    return st.one_of(st.text(SIGNS, max_size=5), st.sampled_from(MALFORMED))


def label_rows(planes: int, max_size: int = 12) -> st.SearchStrategy[list[tuple[str, ...]]]:
    """Rows of labels for some planes, with relations of which any number looks like a root's."""
    row = st.tuples(*[bracket_labels()] * planes, st.sampled_from(DEPRELS))
    return st.lists(row, min_size=1, max_size=max_size)


def position_labels() -> st.SearchStrategy[str]:
    """Labels of `rel-pos`, `absolute` and `relative`, in and out of the sentence, and text that is none of them."""
    count = st.integers(-6, 6)
    tagged = st.builds("{:+d}@{}".format, count, st.sampled_from([*TAGS, "ROOT", "NEVER"]))
    return st.one_of(tagged, count.map("{:+d}".format), count.map(str), st.sampled_from(MALFORMED))


def position_rows(max_size: int = 12) -> st.SearchStrategy[list[tuple[str, str]]]:
    """Rows of such labels."""
    return st.lists(st.tuples(position_labels(), st.sampled_from(DEPRELS)), min_size=1, max_size=max_size)


@st.composite
def graphs(draw: st.DrawFn, max_size: int = 10, *, empty: bool = True) -> Graph:
    """Graphs in which the root leads to all words, with further arcs at random and, if wanted, empty nodes."""
    tree = draw(trees(max_size))
    ids = draw(
        st.lists(st.builds("{}.{}".format, st.integers(0, len(tree)), st.integers(1, 3)), max_size=3, unique=True)
    )
    nodes: list[Node] = [*range(1, len(tree) + 1), *(ids if empty else [])]
    heads: dict[Node, list[tuple[Node, str]]] = {node: [] for node in nodes}
    for node in nodes[len(tree) :]:
        heads[node].append((draw(st.sampled_from([0, *nodes[: len(tree)]])), "conj:and"))
    for word, arc in enumerate(zip(tree.heads, tree.deprels, strict=True), 1):
        heads[word].append(arc)
    for head, node, relation in draw(
        st.lists(st.tuples(st.sampled_from([0, *nodes]), st.sampled_from(nodes), st.sampled_from(DEPRELS)), max_size=8)
    ):
        if head != node and (head, relation) not in heads[node]:
            heads[node].append((head, relation))
    words = tuple(tuple(heads[node]) for node in nodes[: len(tree)])
    return Graph(words, tuple((str(node), tuple(heads[node])) for node in nodes[len(tree) :]))
