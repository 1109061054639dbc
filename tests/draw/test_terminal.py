from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from biplanar.data.tree import Tree
from biplanar.draw import draw_tree
from biplanar.draw.arcs import place_arcs
from biplanar.draw.layout import halves
from biplanar.draw.terminal import cut, draw_down, join_line
from biplanar.errors import LabelError, TreeError
from tests.strategies import any_heads, many_rooted, random_heads, tree_of

FIGURE_1 = Tree((0, 1, 1, 2, 1, 3), ("root", "a", "b", "c", "d", "e"))
FIGURE_1_WORDS = ["w1", "w2", "w3", "w4", "w5", "w6"]
HEARING = Tree(
    (2, 4, 4, 0, 7, 7, 2, 4, 4),
    ("det", "nsubj:pass", "aux:pass", "root", "case", "det", "nmod", "obl:tmod", "punct"),
)
HEARING_WORDS = ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."]
JAPANESE = Tree((5, 1, 5, 3, 0, 5, 5, 5), ("nsubj", "case", "obj", "case", "root", "mark", "aux", "punct"))
JAPANESE_WORDS = ["私", "は", "日本語", "を", "勉強し", "て", "います", "。"]
MIXED_WORDS = ["été", "e\u0301te\u0301", "👩‍👩‍👧", "👍🏽", "🇩🇪", "❤️", "日本語", "x"]

words_in_cells = st.sampled_from(["a", "word", "incomprehensibilities", *MIXED_WORDS])
anything = st.one_of(any_heads().map(tree_of), many_rooted())


def lines_of(expected: str) -> list[str]:
    """A picture as it stands in a test; none has spaces at the ends of its lines."""
    return expected.strip("\n").split("\n")


def names(tree: Tree) -> list[str]:
    return [f"w{word}" for word in range(1, len(tree) + 1)]


class TestHorizontal:
    def test_the_papers_figure(self):
        expected = """
root
 │┌───b────┐
 ││┌─a─┐   │┌────e─────┐
 ▼││   ▼   ▼│          ▼
 w1    w2  w3  w4  w5  w6
 │     │       ▲   ▲
 │     └───c───┘   │
 └────────d────────┘
"""
        assert draw_tree(FIGURE_1_WORDS, FIGURE_1).split("\n") == lines_of(expected)

    def test_a_root_under_an_arc_that_passes_over_it(self):
        expected = """
       ┌──────────────────nmod───────────────────┐
       │                    root                 │
       │┌────nsubj:pass────┐ │      ┌───case────┐│
┌─det─┐││     ┌─aux:pass─┐ │ │      │    ┌─det─┐││
▼     ││▼     ▼          │ │ ▼      ▼    ▼     ││▼
A    hearing  is         scheduled  on  the    issue  today  .
                             │ │                        ▲    ▲
                             │ └────────obl:tmod────────┘    │
                             └─────────────punct─────────────┘
"""
        assert draw_tree(HEARING_WORDS, HEARING).split("\n") == lines_of(expected)

    def test_one_word(self):
        assert draw_tree(["Hi"], Tree((0,), ("root",))).split("\n") == ["root", " ▼", " Hi"]

    def test_planes_as_given(self):
        expected = """
      root
       ▼
a  b   c
▲  ▲   ││
│  └─y─┘│
└───x───┘
"""
        drawn = draw_tree(["a", "b", "c"], Tree((3, 3, 0), ("x", "y", "root")), planes=[2, 2, 0])
        assert drawn.split("\n") == lines_of(expected)

    def test_rows_stand_under_their_words(self):
        expected = r"""
        root
         │┌───────y───────┐
         ││┌──x───┐       │
         ▼││      ▼       ▼
         a        b       c
plane1   //       <       \>
plane2        long label
"""
        rows = {"plane1": ["//", "<", r"\>"], "plane2": ["", "long label", ""]}
        drawn = draw_tree(["a", "b", "c"], Tree((0, 1, 1), ("root", "x", "y")), rows=rows)
        assert drawn.split("\n") == lines_of(expected)

    def test_arcs_that_fit_in_no_plane_cross_above(self):
        """1 -> 4, 2 -> 5 and 3 -> 6 cross each other."""
        expected = """
root         ┌────e─────┐
 │┌────c─────┼──┐       │
 ││┌───b────┐│  │       │
 │││┌─a─┐   ││  │       │
 ▼│││   ▼   ▼│  ▼       ▼
 w1     w2  w3  w4  w5  w6
        │           ▲
        └─────d─────┘
"""
        tree = Tree((0, 1, 1, 1, 2, 3), ("root", "a", "b", "c", "d", "e"))
        assert draw_tree(FIGURE_1_WORDS, tree).split("\n") == lines_of(expected)

    def test_nested_arcs_lie_inside(self):
        expected = """
            root
┌─────x─────┐│
│  ┌───y───┐││
│  │  ┌─z─┐│││
▼  ▼  ▼   │││▼
a  b  c      d
"""
        assert draw_tree(list("abcd"), Tree((4, 4, 4, 0), ("x", "y", "z", "root"))).split("\n") == lines_of(expected)

    def test_arcs_that_touch_share_a_level(self):
        drawn = draw_tree(list("abcd"), Tree((2, 3, 4, 0), ("x", "y", "z", "root")))
        assert drawn.split("\n")[1] == "┌─x─┐┌─y─┐┌─z─┐│"

    def test_long_relations_push_words_apart(self):
        tree = Tree((2, 0, 2, 3), ("nsubj:pass:outer", "root", "obl:arg:unmarked", "acl:relcl:something"))
        drawn = draw_tree(["I", "am", "so", "."], tree)
        assert all(f"─{relation}─" in drawn for relation in tree.deprels if relation != "root")

    def test_wide_characters(self):
        expected = """
                            root
┌───────────nsubj───────────┐│┌───────punct────────┐
│             ┌────obj─────┐│││┌─────aux─────┐     │
│┌─case─┐     │ ┌─case─┐   │││││┌─mark─┐     │     │
▼│      ▼     ▼ │      ▼   ││▼│││      ▼     ▼     ▼
私      は  日本語     を  勉強し      て  います  。
"""
        assert draw_tree(JAPANESE_WORDS, JAPANESE).split("\n") == lines_of(expected)

    def test_words_from_right_to_left_stay_in_their_places(self):
        """Terminals that turn such text would turn neighbouring words as one, if nothing stood between them."""
        drawn = draw_tree(["שלום", "עולם", "!"], Tree((0, 1, 1), ("root", "x", "punct")))
        assert "\u200eשלום\u200e" in drawn
        assert "\u200eעולם\u200e" in drawn
        assert "\u200e" not in draw_tree(["été", "日本語"], Tree((0, 1), ("root", "x")))

    def test_what_cannot_be_printed_is_replaced(self):
        drawn = draw_tree(["a\nb", "\x1b[2J"], Tree((0, 1), ("root", "x\u2028y")))
        assert "a�b" in drawn
        assert "�[2J" in drawn
        assert "─x�y─" in drawn
        assert len(drawn.splitlines()) == 4


class TestVertical:
    def test_the_papers_figure(self):
        expected = """
┌─┬● w1 ───┐  root
│ └▶ w2 ─┐ │  a
└▶┬─ w3  │ │  b
  │  w4 ◀┘ │  c
  │  w5 ◀──┘  d
  └▶ w6       e
"""
        assert draw_tree(FIGURE_1_WORDS, FIGURE_1, width=20).split("\n") == lines_of(expected)

    def test_a_crossing_sentence(self):
        expected = """
    ┌▶ A               det
┌─┌▶┴─ hearing         nsubj:pass
│ │ ┌▶ is              aux:pass
│ └─┴● scheduled ─┬─┐  root
│ ┌──▶ on         │ │  case
│ │ ┌▶ the        │ │  det
└▶┴─┴─ issue      │ │  nmod
       today ◀────┘ │  obl:tmod
       . ◀──────────┘  punct
"""
        assert draw_tree(HEARING_WORDS, HEARING, width=40).split("\n") == lines_of(expected)

    def test_rows_become_columns(self):
        expected = """
                       tag   plane1
┌─┬● a  root           NOUN  //
│ └▶ b  long:relation  VERB  <
└──▶ c  y              X
"""
        rows = {"tag": ["NOUN", "VERB", "X"], "plane1": ["//", "<", ""]}
        texts = [("", ["root", "long:relation", "y"]), *rows.items()]
        arcs = place_arcs(tree_of((0, 1, 1)), (0, 1, 1), down_the_page=True)
        assert list(map(join_line, draw_down("abc", texts, arcs))) == lines_of(expected)

    def test_outer_arcs_give_way_to_numbers(self):
        star = Tree((0,) + (1,) * 30, ("root",) + ("dep",) * 30)
        drawn = draw_tree(["w"] * 31, star, width=50).split("\n")
        assert drawn[1].endswith("▶ w  dep")
        assert drawn[-1] == "31" + " " * 26 + "w  dep (head 1)"

    def test_what_is_cut_says_so(self):
        drawn = draw_tree(["incomprehensibilities", "x"], Tree((0, 1), ("root", "y")), width=12)
        assert "incompr…" in drawn
        assert all(cell_len(line) <= 12 for line in drawn.split("\n"))

    def test_long_sentences_are_never_drawn_across(self):
        tree = Tree(tuple(range(5000)), ("root",) + ("dep",) * 4999)
        assert len(draw_tree(["w"] * 5000, tree).split("\n")) == 5000

    @pytest.mark.parametrize(
        "shape",
        [random_heads(5000, Random(1)), tuple(range(5000)), (0,) + (1,) * 4999, (0,) * 5000],
        ids=["random", "chain", "star", "roots"],
    )
    def test_five_thousand_words(self, shape: tuple[int, ...]):
        drawn = draw_tree(["w"] * 5000, tree_of(shape), width=100).split("\n")
        assert len(drawn) == 5000
        assert max(map(len, drawn)) <= 100


class TestEveryTree:
    @given(anything)
    def test_across_it_can_be_read_back(self, tree: Tree):
        assert read_across(draw_tree(names(tree), tree), len(tree)) == tree.heads

    @given(anything, st.data())
    def test_down_the_page_it_can_be_read_back(self, tree: Tree, data: st.DataObject):
        planes = data.draw(st.lists(st.integers(0, 2), min_size=len(tree), max_size=len(tree)))
        lines = draw_down(names(tree), [("", tree.deprels)], place_arcs(tree, planes, down_the_page=True))
        assert read_down(list(map(join_line, lines))) == tree.heads

    @given(anything, st.data())
    def test_planes_with_crossings_can_be_read_back(self, tree: Tree, data: st.DataObject):
        planes = data.draw(st.lists(st.integers(0, 2), min_size=len(tree), max_size=len(tree)))
        assert read_across(draw_tree(names(tree), tree, planes=planes), len(tree)) == tree.heads

    @given(any_heads())
    def test_every_relation_is_shown_across_and_down(self, drawn: tuple[int, ...]):
        tree = Tree(drawn, tuple(f"relation:{word}!" for word in range(1, len(drawn) + 1)))
        for width in (None, 60):
            picture = draw_tree(names(tree), tree, width=width)
            assert all(relation in picture for relation in tree.deprels)

    @given(anything, st.integers(0, 60), st.data())
    def test_no_line_is_wider_than_asked_for(self, tree: Tree, width: int, data: st.DataObject):
        forms = data.draw(st.lists(words_in_cells, min_size=len(tree), max_size=len(tree)))
        rows = data.draw(st.sampled_from([{}, {"tag": forms}, {"a long name": forms, "b": forms}]))
        picture = draw_tree(forms, tree, rows=rows, width=width)
        assert all(cell_len(line) <= width for line in picture.split("\n"))

    @given(anything, st.data())
    def test_arrows_point_at_the_middle_of_their_words(self, tree: Tree, data: st.DataObject):
        forms = data.draw(st.lists(words_in_cells, min_size=len(tree), max_size=len(tree)))
        lines = draw_tree(forms, tree).split("\n")
        at = next(number for number, line in enumerate(lines) if "".join(forms) in line.replace(" ", ""))
        below = lines[at + 1] if at + 1 < len(lines) else ""
        arrows = sorted([*columns_of("▼", lines[at - 1]), *columns_of("▲", below)])
        assert arrows == centres_of(forms, lines[at])

    @given(anything, st.sampled_from([None, 40]))
    def test_drawing_is_deterministic_and_colour_changes_no_character(self, tree: Tree, width: int | None):
        plain = draw_tree(names(tree), tree, width=width)
        assert draw_tree(names(tree), tree, width=width) == plain
        assert "\x1b" not in plain
        coloured = draw_tree(names(tree), tree, width=width, colour=True)
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain

    @given(st.lists(st.text(max_size=5), min_size=1, max_size=4), st.sampled_from([None, 3, 20]))
    def test_any_text_is_taken(self, forms: list[str], width: int | None):
        tree = Tree((0, *range(1, len(forms))), tuple(forms))
        lines = draw_tree(forms, tree, rows=dict.fromkeys(forms, forms), width=width).splitlines()
        assert lines


class TestColour:
    def test_planes_differ_and_relations_are_dim(self):
        drawn = draw_tree(HEARING_WORDS, HEARING, colour=True)
        assert "\x1b[2mnmod\x1b[0m" in drawn
        blue, orange = "\x1b[38;5;33m", "\x1b[38;5;208m"
        above, below = drawn.split("scheduled")
        assert blue in above
        assert orange not in above
        assert orange in below
        assert blue not in below


class TestRefusals:
    def test_as_many_forms_as_words(self):
        with pytest.raises(TreeError, match="6 words"):
            draw_tree(["a"], FIGURE_1)

    def test_rows_have_a_label_for_each_word(self):
        with pytest.raises(LabelError, match="tag: 1 "):
            draw_tree(FIGURE_1_WORDS, FIGURE_1, rows={"tag": ["X"]})

    def test_planes_have_a_number_for_each_word(self):
        with pytest.raises(LabelError, match="planes: 2 "):
            draw_tree(FIGURE_1_WORDS, FIGURE_1, planes=[1, 1])

    def test_there_are_two_planes(self):
        with pytest.raises(LabelError, match="plane 3"):
            draw_tree(FIGURE_1_WORDS, FIGURE_1, planes=[0, 1, 1, 2, 3, 1])


@pytest.mark.parametrize("text", [*MIXED_WORDS, "incomprehensibilities", ""])
@pytest.mark.parametrize("width", range(5))
def test_cut_text_fits(text: str, width: int):
    assert cell_len(cut(text, width)) <= width
    assert cut(text, width) == text or not cut(text, width) or cut(text, width).endswith("…")


# Reading pictures back: what an arc's lines lead to is the head.


def read_across(picture: str, size: int) -> tuple[int, ...]:
    lines = picture.split("\n")
    at = next(
        number for number, line in enumerate(lines) if line.split() == [f"w{word}" for word in range(1, size + 1)]
    )
    spans = [match.span() for match in re.finditer(r"\S+", lines[at])]
    above = read_side(lines[:at][::-1], "▼", "┌┐", spans)
    below = read_side(lines[at + 1 :], "▲", "└┘", spans)
    return tuple(value for _, value in sorted((above | below).items()))


def read_side(lines: list[str], arrow: str, corners: str, spans: list[tuple[int, int]]) -> dict[int, int]:
    """The heads by word, from the lines of one side, the nearest to the words first."""
    if not lines:
        return {}
    width = max(map(len, lines))
    grid = [line.ljust(width) for line in lines]
    found = {}
    for column in columns_of(arrow, grid[0]):
        row = 1
        while grid[row][column] in "│┼":
            row += 1
        turn = grid[row][column]
        if turn == corners[0]:
            end = grid[row].index(corners[1], column)
        elif turn == corners[1]:
            end = grid[row].rindex(corners[0], 0, column)
        else:
            found[owner(column, grid[0], spans)] = 0
            continue
        assert all(grid[between][end] in "│┼" for between in range(row))
        found[owner(column, grid[0], spans)] = owner(end, grid[0], spans)
    return found


def owner(column: int, ends: str, spans: list[tuple[int, int]]) -> int:
    """The word at which a line ends: the lines of one word stand over it or are in touch with one that does."""
    for step in (-1, 1):
        at = column
        while 0 <= at < len(ends) and ends[at] != " ":
            for word, (start, stop) in enumerate(spans, 1):
                if start <= at < stop:
                    return word
            at += step
    raise AssertionError(f"column {column} belongs to no word")


def read_down(lines: list[str]) -> tuple[int, ...]:
    width = max(map(len, lines))
    grid = [line.ljust(width) for line in lines]
    return tuple(read_line(grid, row) for row in range(len(grid)))


def read_line(grid: list[str], row: int) -> int:
    for arrow, step, corners in (("▶", -1, "└┌"), ("◀", 1, "┘┐")):
        if number := re.search(r"\(head (\d+)\)", grid[row]):
            return int(number[1])
        if arrow in grid[row]:
            column = grid[row].index(arrow)
            while grid[row][column] not in corners:
                column += step
            direction = -1 if grid[row][column] == corners[0] else 1
            at = row + direction
            while grid[at][column] in "│┼":
                at += direction
            return at + 1
    return 0


def columns_of(character: str, line: str) -> list[int]:
    """The cells in which a character stands."""
    return [cell_len(line[:at]) for at, found in enumerate(line) if found == character]


def centres_of(forms: list[str], line: str) -> list[int]:
    centres, at = [], 0
    for form in forms:
        at = line.index(form, at)
        centres.append(cell_len(line[:at]) + halves(cell_len(form))[0])
        at += len(form)
    return centres
