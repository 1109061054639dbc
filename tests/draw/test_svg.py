from __future__ import annotations

import re
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.forest import Forest
from biplanar.data.tree import Tree
from biplanar.draw import draw_svg
from biplanar.draw.arcs import planes_to_draw
from biplanar.draw.svg import DARK, HEAVY_LINE, LIGHT, LONGEST_WORD, MOST_LEVELS, canvas_of, to_svg
from biplanar.errors import LabelError, TreeError, UnknownNameError
from biplanar.planes.crossings import components, is_projective
from tests.draw.pictures import SVG, arcs, boxes, outside, overlaps, parse, read_heads, struck_through
from tests.strategies import any_heads, many_rooted, mildly_crossing_heads, random_heads, tree_of

# The sentence of examples/crossing.conllu: four arcs cross, and fit in two planes in one way only.
LATIN = Tree((5, 8, 7, 5, 8, 7, 8, 0, 8), ("amod", "nsubj", "nmod", "case", "obl", "amod", "obj", "root", "punct"))
LATIN_WORDS = ["Magno", "puer", "fratris", "cum", "gaudio", "novum", "librum", "legit", "."]
ARABIC = Tree((0, 1, 1, 5, 3), ("root", "nsubj", "obj", "mark", "acl:relcl"))
ARABIC_WORDS = ["قرأ", "الولد", "الكتاب", "الذي", "اشتريته"]

LATIN_SCRIPT = ["a", "word", "W", "incomprehensibilities", "été", "e\u0301te\u0301", "http://example.org/" + "x" * 80]
OTHER_SCRIPTS = ["日本語", "勉強し", "한국어", "👩‍👩‍👧", "🇩🇪", "Ψυχή", "щука", "שָׁלוֹם", "ہندوستان", "हिन्दी", "ไทย"]
words = st.sampled_from([*LATIN_SCRIPT, *OTHER_SCRIPTS, *ARABIC_WORDS])
relations = st.sampled_from(["det", "nsubj:pass", "obl:arg:unmarked", "acl:relcl", "x", "", "関係", "r" * 60])
anything = st.one_of(any_heads().map(tree_of), many_rooted())


@st.composite
def drawn(draw: st.DrawFn) -> tuple[list[str], Tree, dict[str, object]]:
    """Words of all scripts, a tree with relations of all lengths, and how it is to be drawn."""
    heads = draw(anything).heads
    forms = draw(st.lists(words, min_size=len(heads), max_size=len(heads)))
    tree = Tree(heads, tuple(draw(st.lists(relations, min_size=len(heads), max_size=len(heads)))))
    planes = st.lists(st.integers(0, 2), min_size=len(heads), max_size=len(heads))
    labels = st.lists(st.sampled_from(["_", "", "/", "<\\\\>", "+2@VERB", "long" * 9]), min_size=len(heads))
    rows = draw(st.sampled_from([[], ["plane1"], ["plane1", "a longer name"]]))
    return (
        forms,
        tree,
        {
            "planes": draw(st.none() | planes),
            "labels": {name: draw(labels)[: len(heads)] for name in rows},
            "right_to_left": draw(st.sampled_from([None, False, True])),
        },
    )


class TestEveryTree:
    @given(drawn())
    def test_no_text_lies_over_another(self, picture):
        forms, tree, how = picture
        assert overlaps(draw_svg(forms, tree, **how)) == []

    @given(drawn())
    def test_no_line_runs_through_a_text(self, picture):
        forms, tree, how = picture
        assert struck_through(draw_svg(forms, tree, **how)) == []

    @given(drawn())
    def test_no_text_sticks_out(self, picture):
        forms, tree, how = picture
        assert outside(draw_svg(forms, tree, **how)) == []

    @given(anything, st.booleans())
    def test_it_can_be_read_back(self, tree: Tree, right_to_left: bool):
        forms = [f"{word}{'-' * 40}" for word in range(1, len(tree) + 1)]
        assert read_heads(draw_svg(forms, tree, right_to_left=right_to_left), forms) == tree.heads

    @given(any_heads())
    def test_every_relation_is_shown(self, heads: tuple[int, ...]):
        tree = tree_of(heads)
        shown = [arc.label for arc in arcs(draw_svg(["w"] * len(tree), tree))]
        assert sorted(shown) == sorted(tree.deprels)

    @given(anything)
    def test_arcs_of_one_plane_do_not_cross(self, tree: Tree):
        planes = planes_to_draw(tree)
        rows = zip(planes, tree.heads, range(1, len(tree) + 1), strict=True)
        spans = [(plane, *sorted((head, word))) for plane, head, word in rows if plane]
        for (plane, left, right), (other, start, end) in combinations(spans, 2):
            assert plane != other or not (left < start < right < end or start < left < end < right)
        if not components(Forest.from_trees([tree])).odd.any():  # two planes suffice
            assert [plane == 0 for plane in planes] == [head == 0 for head in tree.heads]

    @given(anything)
    def test_arcs_that_cross_are_heavier(self, tree: Tree):
        forms = [f"w{word}" for word in range(1, len(tree) + 1)]
        heavy = {arc.title for arc in arcs(draw_svg(forms, tree)) if arc.width == HEAVY_LINE}
        crossing = {word for pair in combinations(enumerate(tree.heads, 1), 2) if cross(*pair) for word, _ in pair}
        names = {word: f"w{head} → w{word}" if head else f"w{word}" for word, head in enumerate(tree.heads, 1)}
        assert heavy == {f"{names[word]}: {tree.deprels[word - 1]}" for word in crossing}
        assert bool(heavy) != is_projective(tree)

    @given(st.lists(st.text(max_size=6), min_size=1, max_size=4), st.text(max_size=4))
    def test_any_text_makes_well_formed_xml(self, forms: list[str], name: str):
        tree = Tree((0, *range(1, len(forms))), tuple(forms))
        svg = draw_svg(forms, tree, labels={name: forms})
        parse(svg)
        svg.encode()
        assert overlaps(svg) == []


def cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two arcs cross, given as dependent and head; 0 is the artificial root before the first word."""
    (left, right), (start, end) = sorted(one), sorted(other)
    return left < start < right < end or start < left < end < right


class TestPlanes:
    def test_plane_1_is_above_and_plane_2_below(self):
        shown = {arc.title: arc for arc in arcs(draw_svg(LATIN_WORDS, LATIN))}
        below = {title for title, arc in shown.items() if not arc.is_above}
        assert below == {"legit → puer: nsubj", "librum → fratris: nmod"}
        assert {shown[title].colour for title in below} == {"bp-two"}
        assert shown["legit → gaudio: obl"].colour == "bp-one"
        assert shown["legit: root"].colour == "bp-ink"

    def test_planes_as_given(self):
        shown = arcs(draw_svg(LATIN_WORDS, LATIN, planes=[1] * 9))
        assert all(arc.is_above for arc in shown)

    def test_an_arc_in_no_plane(self):
        """1 -> 4, 2 -> 5 and 3 -> 6 cross each other."""
        tree = Tree((0, 1, 1, 1, 2, 3), ("root", "a", "b", "c", "d", "e"))
        assert [arc.label for arc in arcs(draw_svg(list("uvwxyz"), tree)) if arc.colour == "bp-soft"] == ["e"]

    def test_heights_nest(self):
        shown = {arc.label: arc for arc in arcs(draw_svg(list("abcd"), Tree((4, 4, 4, 0), ("x", "y", "z", "root"))))}
        tops = [min(stroke.y2 for stroke in shown[label].strokes) for label in "xyz"]
        starts = [shown[label].start for label in "xyz"]
        assert tops == sorted(tops)
        assert starts == sorted(starts, reverse=True)


class TestTexts:
    def test_markup_in_words_is_text(self):
        forms = ["<script>alert(1)</script>", "&amp;", '"]]>']
        svg = draw_svg(forms, Tree((2, 0, 2), ("<b>", "root", 'x" onload="y')), labels={"<i>": forms})
        assert "<script" not in svg
        assert {"<b>", 'x" onload="y', "<i>", *forms} <= {box.text for box in boxes(svg)}
        assert not any(name.startswith("on") for node in parse(svg).iter() for name in node.attrib)

    def test_what_xml_cannot_hold_is_replaced(self):
        svg = draw_svg(["a\x00b", "\ufffe", "\ud800"], Tree((0, 1, 1), ("root", "x\ny", "z\uffff")))
        assert {"a�b", "�", "x�y", "z�"} <= {box.text for box in boxes(svg)}

    def test_long_words_are_shortened(self):
        svg = draw_svg(["w" * 200, "x"], Tree((0, 1), ("root", "r" * 200)))
        word, relation = (next(box for box in boxes(svg) if box.text.startswith(start)) for start in ("ww", "rr"))
        assert word.text.endswith("w…")
        assert relation.text.endswith("r…")
        assert word.right - word.left <= LONGEST_WORD

    def test_labels_stand_under_their_words(self):
        rows = {"plane1": ["//", "<", r"\>"], "plane2": ["_", "", "_"]}
        found = {
            box.text: box for box in boxes(draw_svg(["a", "b", "c"], Tree((0, 1, 1), ("root", "x", "y")), labels=rows))
        }
        assert found["<"].middle == pytest.approx(found["b"].middle, abs=1)
        assert found["a"].bottom < found["plane1"].bottom < found["plane2"].bottom
        assert found["plane1"].right < found["a"].left

    def test_words_from_right_to_left(self):
        svg = draw_svg(ARABIC_WORDS, ARABIC, labels={"tag": ["V", "N", "N", "X", "V"]})
        found = {box.text: box for box in boxes(svg)}
        places = [found[word].middle for word in ARABIC_WORDS]
        assert places == sorted(places, reverse=True)
        assert found["tag"].left > found[ARABIC_WORDS[0]].right
        assert parse(svg).find(f".//{SVG}g[@direction='rtl']") is not None

    def test_a_few_foreign_words_do_not_turn_a_sentence(self):
        places = {box.text: box.left for box in boxes(draw_svg(["Shalom", "שלום"], Tree((0, 1), ("root", "appos"))))}
        assert places["Shalom"] < places["שלום"]


class TestThemes:
    @pytest.mark.parametrize(("theme", "palette"), [("light", LIGHT), ("dark", DARK), ("auto", LIGHT)])
    def test_colours_need_no_style_sheet(self, theme, palette):
        root = parse(draw_svg(LATIN_WORDS, LATIN, theme=theme))
        assert root.find(f"{SVG}rect").attrib["fill"] == palette.paper
        assert root.find(f".//{SVG}g[@class='bp-two']").attrib["color"] == palette.two
        assert (root.find(f"{SVG}style") is not None) == (theme == "auto")

    def test_auto_has_rules_for_the_dark(self):
        rules = parse(draw_svg(LATIN_WORDS, LATIN)).find(f"{SVG}style").text
        assert rules.startswith("@media (prefers-color-scheme:dark)")
        assert all(colour in rules for colour in (DARK.paper, DARK.ink, DARK.soft, DARK.one, DARK.two))

    @pytest.mark.parametrize("palette", [LIGHT, DARK])
    def test_text_can_be_told_from_the_paper(self, palette):
        for colour in (palette.ink, palette.soft, palette.one, palette.two):
            assert contrast(colour, palette.paper) >= 4.5

    def test_an_unknown_theme(self):
        with pytest.raises(UnknownNameError, match="unknown theme 'drak'; did you mean 'dark'"):
            draw_svg(LATIN_WORDS, LATIN, theme="drak")


class TestSize:
    @pytest.mark.parametrize(
        "heads",
        [
            random_heads(2000, Random(1)),
            mildly_crossing_heads(2000, Random(1)),
            tuple(range(2000)),
            (0,) + (1,) * 1999,
            (2000,) * 1999 + (0,),
            (0,) * 2000,
        ],
        ids=["random", "mild", "chain", "star", "left star", "roots"],
    )
    def test_two_thousand_words(self, heads):
        svg = draw_svg([f"word{number}" for number in range(2000)], tree_of(heads))
        assert len(svg) < 1_200_000
        assert float(parse(svg).attrib["height"]) < 4 * MOST_LEVELS * 20 + 200
        assert len(arcs(svg)) == 2000

    def test_arcs_too_far_out_name_their_heads(self):
        tree = Tree((0,) + (1,) * (MOST_LEVELS + 5), ("root",) + ("dep",) * (MOST_LEVELS + 5))
        svg = draw_svg([f"w{word}" for word in range(1, len(tree) + 1)], tree)
        assert [arc.label for arc in arcs(svg) if arc.start is None] == ["root", *["dep (head 1)"] * 5]
        assert {str(word) for word in range(1, len(tree) + 1)} <= {box.text for box in boxes(svg)}
        assert overlaps(svg) == []
        assert struck_through(svg) == []

    def test_the_row_of_numbers_is_not_counted_as_labels(self):
        words = MOST_LEVELS + 5
        star = Tree((0,) + (1,) * (words - 1), ("root",) + ("dep",) * (words - 1))
        labels = {"plane 1": ["<"] * words, "plane 2": [">"] * words}
        svg = to_svg([canvas_of(["w"] * words, star, labels=labels, annotated=True)])
        signs = {found[1]: found[2] for found in re.finditer(r'data-sign="1\.([^"]*)">([^<]*)<', svg)}
        assert signs == {"1.0": "&lt;", "2.0": "&gt;"}

    def test_no_number_where_all_arcs_are_drawn(self):
        assert "1" not in {box.text for box in boxes(draw_svg(LATIN_WORDS, LATIN))}


class TestSheet:
    def test_pictures_stand_one_under_the_other(self):
        one, other = canvas_of(LATIN_WORDS, LATIN), canvas_of(ARABIC_WORDS, ARABIC)
        root = parse(to_svg([one, other], "light"))
        assert (float(root.attrib["width"]), float(root.attrib["height"])) == (one.width, one.height + other.height)
        moved = [node.attrib.get("transform") for node in root.findall(f"{SVG}g")]
        assert moved == [None, f"translate({one.width - other.width} {one.height})"]

    def test_no_picture_at_all(self):
        assert parse(to_svg([])).attrib["height"] == "0"


class TestRefusals:
    def test_as_many_forms_as_words(self):
        with pytest.raises(TreeError, match="9 words"):
            draw_svg(["a"], LATIN)

    def test_labels_for_each_word(self):
        with pytest.raises(LabelError, match="tag: 1 "):
            draw_svg(LATIN_WORDS, LATIN, labels={"tag": ["X"]})

    def test_there_are_two_planes(self):
        with pytest.raises(LabelError, match="plane 3"):
            draw_svg(LATIN_WORDS, LATIN, planes=[3] * 9)


def contrast(colour: str, paper: str) -> float:
    """As the Web Content Accessibility Guidelines define it."""
    lighter, darker = sorted((luminance(colour), luminance(paper)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    channels = [int(part, 16) / 255 for part in re.findall("..", colour[1:])]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
