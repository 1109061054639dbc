from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.data.tree import Tree
from biplanar.draw import draw_comparison, paired
from biplanar.draw.sentences import Differences
from biplanar.draw.svg import HEAVY_LINE
from biplanar.errors import FormatError, TreeError
from tests.draw.pictures import SVG, arcs, boxes, outside, overlaps, parse, struck_through
from tests.draw.test_svg import words
from tests.strategies import any_heads, tree_of

FORMS = ["Er", "las", "das", "Buch", ",", "das", "ihm", "gefiel"]
GOLD = Tree((2, 0, 4, 2, 8, 8, 8, 4), ("nsubj", "root", "det", "obj", "punct", "nsubj", "obj", "acl:relcl"))
SYSTEM = Tree((2, 0, 4, 2, 8, 8, 8, 2), ("nsubj", "root", "det", "obl", "punct", "nsubj", "obj", "conj"))


@st.composite
def two_trees(draw: st.DrawFn) -> tuple[list[str], Tree, Tree]:
    gold = draw(any_heads())
    system = draw(any_heads().filter(lambda heads: len(heads) == len(gold)) | st.just(gold))
    return draw(st.lists(words, min_size=len(gold), max_size=len(gold))), tree_of(gold), tree_of(system)


class TestDifferences:
    def test_heads_and_relations(self):
        assert Differences.between(GOLD, SYSTEM) == Differences(frozenset({8}), frozenset({4}))
        assert Differences.between(GOLD, GOLD) == Differences(frozenset(), frozenset())

    def test_what_is_missing_and_what_is_wrong(self):
        shown = arcs(draw_comparison(FORMS, GOLD, SYSTEM))
        (missing,) = [arc for arc in shown if arc.is_above and arc.label == "acl:relcl"]
        (wrong,) = [arc for arc in shown if not arc.is_above and arc.label == "conj"]
        assert (missing.colour, missing.dashed, missing.width) == ("bp-one", True, HEAVY_LINE)
        assert (wrong.colour, wrong.dashed, wrong.width) == ("bp-two", False, HEAVY_LINE)
        others = [arc for arc in shown if arc not in (missing, wrong)]
        assert {(arc.colour, arc.dashed) for arc in others} == {("bp-soft", False)}
        assert len(shown) == 2 * len(FORMS)

    def test_a_relation_that_differs(self):
        svg = draw_comparison(FORMS, GOLD, SYSTEM)
        groups = [
            group for group in parse(svg).iter(f"{SVG}g") if group.find(f"{SVG}text[@text-decoration]") is not None
        ]
        assert {(group.attrib["class"], group[0].text) for group in groups} == {("bp-one", "obj"), ("bp-two", "obl")}

    def test_equal_trees_have_nothing_to_show(self):
        assert {arc.colour for arc in arcs(draw_comparison(FORMS, GOLD, GOLD))} == {"bp-soft"}

    def test_the_sides_are_named(self):
        found = {box.text: box for box in boxes(draw_comparison(FORMS, GOLD, SYSTEM))}
        assert found["gold"].bottom < found["Er"].top < found["Er"].bottom < found["system"].top
        assert max(found["gold"].right, found["system"].right) < found["Er"].left

    def test_trees_of_other_words(self):
        with pytest.raises(TreeError, match="8 forms"):
            draw_comparison(FORMS, GOLD, Tree((0,), ("root",)))


class TestEveryPair:
    @given(two_trees(), st.sampled_from([None, True]))
    def test_nothing_lies_over_text(self, pair, right_to_left):
        svg = draw_comparison(*pair, right_to_left=right_to_left)
        assert overlaps(svg) == []
        assert struck_through(svg) == []
        assert outside(svg) == []

    @given(two_trees())
    def test_differences_are_what_is_heavy(self, pair):
        forms, gold, system = pair
        heavy = [arc for arc in arcs(draw_comparison(forms, gold, system)) if arc.width == HEAVY_LINE]
        differing = sum(a != b for a, b in zip(gold.heads, system.heads, strict=True))
        assert (sum(arc.is_above for arc in heavy), len(heavy)) == (differing, 2 * differing)


class TestPairs:
    def sentences(self, name: str, *texts: str) -> list[Sentence]:
        raw = "".join(
            Sentence.from_words(text.split(), Tree((0, *[1] * (len(text.split()) - 1)), ("x",) * len(text.split()))).raw
            for text in texts
        )
        return parse_conllu(raw, name)

    def test_the_same_words(self):
        gold, system = self.sentences("gold", "a b", "c"), self.sentences("system", "a b", "c")
        assert list(paired(gold, system)) == list(zip(gold, system, strict=True))

    @pytest.mark.parametrize(
        ("gold", "system", "message"),
        [
            (["a b"], ["a c"], "system:2: 'c' instead of 'b', as in gold:2"),
            (["a b"], ["a"], "system:1: the end of the sentence instead of 'b', as in gold:2"),
            (["a"], ["a b"], "system:2: 'b' instead of the end of the sentence, as in gold:1"),
            (["a", "b"], ["a"], "gold:3: the other file has no more sentences"),
            (["a"], ["a", "b c"], "system:3: the other file has no more sentences"),
        ],
    )
    def test_other_words(self, gold, system, message):
        with pytest.raises(FormatError) as caught:
            list(paired(self.sentences("gold", *gold), self.sentences("system", *system)))
        assert str(caught.value) == message
