from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.forest import Column, Forest, offsets_of
from biplanar.data.tree import Tree
from biplanar.decoding.labels import decode, encode, encode_all
from biplanar.encodings import ENCODINGS
from biplanar.errors import LabelError
from tests import reference
from tests.strategies import (
    any_heads,
    many_rooted,
    position_rows,
    small_trees,
    tags,
    tree_of,
)

POSITIONS = ("rel-pos", "absolute", "relative")
every_encoding = pytest.mark.parametrize("name", POSITIONS)

# "The dog that barks often sleeps here": two nouns' and two verbs' worth of counting.
HEADS = (2, 6, 4, 2, 4, 0, 6)
TAGS = ("DET", "NOUN", "PRON", "VERB", "ADV", "VERB", "ADV")


def asserted(labels: list[str], name: str, upos: tuple[str, ...] | list[str] = ()) -> list[int]:
    """The heads before any repair, -1 for none."""
    return ENCODINGS[name].decode([Column.of(labels)], offsets_of([len(labels)]), Column.of(upos)).tolist()


class TestByHand:
    @pytest.mark.parametrize(
        ("name", "labels"),
        [
            ("rel-pos", ["+1@NOUN", "+2@VERB", "+1@VERB", "-1@NOUN", "-1@VERB", "-1@ROOT", "-1@VERB"]),
            ("absolute", ["2", "6", "4", "2", "4", "0", "6"]),
            ("relative", ["+1", "+4", "+1", "-2", "-1", "0", "-1"]),
        ],
    )
    def test_one_sentence(self, name, labels):
        assert [row[0] for row in encode(tree_of(HEADS), name, upos=TAGS)] == labels
        assert asserted(labels, name, TAGS) == list(HEADS)

    def test_tags_are_counted_from_the_word_to_its_head(self):
        heads = (4, 1, 1, 0)
        labels = [row[0] for row in encode(tree_of(heads), "rel-pos", upos=["NOUN"] * 4)]
        assert labels == ["+3@NOUN", "-1@NOUN", "-2@NOUN", "-1@ROOT"]

    @pytest.mark.parametrize(
        ("label", "head"),
        [
            ("+1@VERB", 4),
            ("+2@VERB", 6),
            ("+3@VERB", 6),  # one more than there are: the last one is taken
            ("+4@VERB", -1),  # two more than there are
            ("+2@NOUN", -1),
            ("-1@DET", 1),
            ("-2@DET", 1),
            ("-3@DET", -1),
            ("-1@VERB", -1),
            ("-1@ROOT", 0),
            ("-2@ROOT", 0),
            ("-3@ROOT", -1),
            ("+1@ROOT", -1),
            ("+0@VERB", -1),
            ("+1@NEVER", -1),
            ("1@VERB", -1),
            ("VERB", -1),
            ("", -1),
            ("_", -1),
        ],
    )
    def test_one_label_of_rel_pos(self, label, head):
        labels = ["-1@ROOT", "-1@ROOT", label, *["-1@ROOT"] * 4]
        assert asserted(labels, "rel-pos", TAGS)[2] == head

    @pytest.mark.parametrize(
        ("label", "head"),
        [("0", 0), ("1", 1), ("3", 3), ("2", -1), ("4", -1), ("-1", -1), ("x", -1), ("", -1), ("9" * 30, -1)],
    )
    def test_one_label_of_absolute(self, label, head):
        assert asserted(["0", label, "0"], "absolute")[1] == head

    @pytest.mark.parametrize(
        ("label", "head"),
        [("0", 0), ("-1", 1), ("+1", 3), ("1", 3), ("-2", -1), ("-3", -1), ("+2", -1), ("x", -1), ("", -1)],
    )
    def test_one_label_of_relative(self, label, head):
        assert asserted(["0", label, "0"], "relative")[1] == head

    @every_encoding
    def test_a_label_without_a_name_asserts_nothing(self, name):
        labels = Column(Column.of(["-1@ROOT", "0"]).ids - 1, ("0",))
        assert ENCODINGS[name].decode([labels], offsets_of([2]), Column.of(["X", "X"])).tolist()[0] == -1


class TestRoundTrip:
    @every_encoding
    def test_every_small_tree(self, name):
        upos = ["VERB", "NOUN", "NOUN", "VERB", "NOUN", "NOUN"]
        forest = Forest.from_trees(small_trees(), upos=[upos[: len(tree)] for tree in small_trees()])
        encoding = ENCODINGS[name]
        assert encoding.decode(encoding.encode(forest), forest.offsets, forest.upos).tolist() == forest.heads.tolist()

    @every_encoding
    @given(data=st.data(), heads=any_heads(40))
    def test_random_trees(self, data, heads, name):
        tree, upos = tree_of(heads), data.draw(tags(len(heads)))
        rows = encode(tree, name, upos=upos)
        assert rows == reference.encode(heads, tree.deprels, upos, name)
        assert decode(rows, name, upos=upos) == tree

    @every_encoding
    @given(data=st.data(), tree=many_rooted())
    def test_trees_with_several_roots(self, data, tree, name):
        upos = data.draw(tags(len(tree)))
        rows = encode(tree, name, upos=upos)
        assert rows == reference.encode(tree.heads, tree.deprels, upos, name)
        assert asserted([row[0] for row in rows], name, upos) == list(tree.heads)

    @every_encoding
    @pytest.mark.parametrize("decoder", ["greedy", "paper"])
    def test_further_roots_hang_on_the_first(self, name, decoder):
        tree = Tree((2, 0, 0, 3), ("det", "root", "root", "obj"))
        rows = encode(tree, name, upos=["X"] * 4)
        assert decode(rows, name, upos=["X"] * 4, decoder=decoder) == Tree((2, 0, 2, 3), tree.deprels)


class TestAgainstTheReference:
    @every_encoding
    @given(data=st.data(), rows=position_rows())
    def test_heads_that_any_labels_assert(self, data, rows, name):
        upos = data.draw(tags(len(rows)))
        wanted = reference.assert_heads(rows, name, upos)
        assert asserted([row[0] for row in rows], name, upos) == [-1 if head is None else head for head in wanted]


class TestRefusals:
    def test_rel_pos_needs_tags(self):
        with pytest.raises(LabelError, match="needs part-of-speech tags"):
            encode(tree_of(HEADS), "rel-pos")
        with pytest.raises(LabelError, match="needs part-of-speech tags"):
            decode([("-1@ROOT", "root")], "rel-pos")

    def test_rel_pos_needs_a_tag_of_every_word(self):
        tags = [*TAGS[:3], "_", *TAGS[4:]]
        with pytest.raises(LabelError, match="word 4 of sentence 2"):
            encode_all([tree_of(HEADS)] * 3, "rel-pos", upos=[TAGS, tags, tags])

    def test_rel_pos_needs_as_many_tags_as_words(self):
        with pytest.raises(LabelError, match="1 part-of-speech tags for 2 words"):
            decode([("-1@ROOT", "root"), ("-1@X", "obj")], "rel-pos", upos=["X"])
        with pytest.raises(LabelError, match="6 tags for 7 words"):
            encode(tree_of(HEADS), "rel-pos", upos=TAGS[1:])
