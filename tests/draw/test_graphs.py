"""Pictures of enhanced graphs: extra arcs in their own colour, dropped ones dashed, and trees as they were."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given

from biplanar import Graph, Sentence, Tree, read_conllu
from biplanar.draw import Entry, draw_page, draw_sentence, draw_svg, draw_tree
from biplanar.draw.svg import DARK, DASHES, LIGHT
from biplanar.errors import GraphError
from tests.draw.pictures import SVG, boxes
from tests.graph_files import ENHANCED
from tests.strategies import graphs

CONTROL, RELATIVE, GAPPING, LEMMAS = read_conllu(ENHANCED)


def texts_of_colour(svg: str, colour: str) -> list[str]:
    groups = [group for group in ElementTree.fromstring(svg).iter(f"{SVG}g") if group.get("color") == colour]
    return sorted("".join(text.itertext()) for group in groups for text in group.iter(f"{SVG}text"))


def test_extra_arcs_have_a_colour_of_their_own() -> None:
    svg = draw_sentence(CONTROL, graph=True, theme="light")
    assert texts_of_colour(svg, LIGHT.three) == ["nsubj:xsubj", "nsubj:xsubj", "obj", "xcomp"]
    assert "conj:and" in texts_of_colour(svg, LIGHT.one)
    assert DASHES not in svg


def test_arcs_that_are_only_in_the_tree_are_dashed() -> None:
    assert draw_sentence(RELATIVE, graph=True).count(DASHES) == 1


def test_paths_through_empty_nodes_are_arcs() -> None:
    svg = draw_sentence(GAPPING, graph=True, theme="dark")
    assert texts_of_colour(svg, DARK.three) == ["conj:and>cc", "conj:and>obj"]


def test_trees_are_drawn_as_without_graphs() -> None:
    for sentence in (CONTROL, RELATIVE):
        plain = draw_svg(sentence.forms, sentence.tree)
        assert plain == draw_sentence(sentence) == sentence.draw()
        assert plain == draw_svg(sentence.forms, sentence.tree, graph=Graph.from_tree(sentence.tree))
        assert LIGHT.three not in plain
        assert DARK.three not in plain
    assert DARK.three in CONTROL.draw(graph=True)


def test_a_sentence_without_a_graph_is_drawn_as_its_tree() -> None:
    sentence = Sentence.from_words(["a", "b"], Tree((0, 1), ("root", "x")))
    assert draw_sentence(sentence, graph=True) == draw_sentence(sentence)


def test_the_terminal() -> None:
    picture = Entry(1, CONTROL, graph=True).lines()
    above, below = picture.split("Anna")
    assert "nsubj:xsubj" not in above
    assert below.count("nsubj:xsubj") == 2
    assert below.count("▲") == 4
    assert "\x1b[38;5;36m" in Entry(1, CONTROL, graph=True).lines(colour=True)


def test_one_word_a_line() -> None:
    lines = Entry(1, RELATIVE, graph=True).lines(width=48).split("\n")
    assert "enhanced" in lines[0]
    assert lines[4].endswith("obj ← built")
    assert "◀" in lines[4]
    assert lines[5].endswith("ref ← house")


def test_a_page_explains_the_colours() -> None:
    page = "".join(draw_page([Entry(1, CONTROL, graph=True)], graphs=True))
    assert "only in the enhanced graph" in page
    assert ".key .three" in page
    assert "enhanced" not in "".join(draw_page([Entry(1, CONTROL)]))


def test_a_graph_of_other_words() -> None:
    with pytest.raises(GraphError, match="does not fit"):
        draw_tree(["a"], Tree((0,), ("root",)), graph=CONTROL.graph)


@given(graphs())
def test_every_graph_can_be_drawn(graph: Graph) -> None:
    tree = Tree((0, *([1] * (len(graph) - 1))), ("root", *(["x"] * (len(graph) - 1))))
    forms = [f"w{word}" for word in range(len(graph))]
    words = zip(tree.heads, graph.collapsed().heads, range(1, len(tree) + 1), strict=True)
    extra = sum(len([head for head, _ in heads if head != word]) - (own in dict(heads)) for own, heads, word in words)
    svg = draw_svg(forms, tree, graph=graph)
    assert svg.count("<title>") == len(tree) + extra
    assert not any(one.overlaps(other) for one, other in combinations(boxes(svg), 2))
    for width in (None, 40):
        assert forms[-1] in draw_tree(forms, tree, graph=graph, width=width)
