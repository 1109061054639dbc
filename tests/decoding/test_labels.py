from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.forest import Forest
from biplanar.data.tree import Tree
from biplanar.decoding import DECODERS, decode_forest
from biplanar.decoding.labels import decode, decode_all, encode, encode_all, label_rows
from biplanar.encodings import ENCODINGS, get_encoding
from biplanar.encodings.encoding import AUTOMATON
from biplanar.errors import BiplanarError, LabelError, TreeError, UnknownNameError
from tests import reference
from tests.strategies import TAGS, any_heads, projective_heads, random_heads, tags, tree_of, trees

every_encoding = pytest.mark.parametrize("encoding", reference.ENCODINGS)
every_decoder = pytest.mark.parametrize("decoder", reference.REPAIRS)

FIGURE_1 = Tree((0, 1, 1, 2, 1, 3), ("root", "a", "b", "c", "d", "e"))
SAMPLE = 300


def test_the_reference_knows_every_encoding_of_planes_and_positions_and_every_decoder():
    assert {name for name, one in ENCODINGS.items() if one.kind != AUTOMATON} == set(reference.ENCODINGS)
    assert {name for name, one in DECODERS.items() if one.repair is not None} == set(reference.REPAIRS)


class TestFigure1:
    def test_one_plane(self):
        assert encode(FIGURE_1, "1p-brackets") == [
            ("_", "root"),
            ("///>", "a"),
            ("/>", "b"),
            ("/>", "c"),
            (">", "d"),
            (">", "e"),
        ]

    def test_two_planes_greedy(self):
        assert encode(FIGURE_1, "2p-greedy") == [
            ("_", "_", "root"),
            ("///>", "_", "a"),
            (">", "/", "b"),
            ("_", ">", "c"),
            (">", "_", "d"),
            ("_", "_", "e"),
        ]

    def test_two_planes_with_propagation(self):
        assert encode(FIGURE_1, "2p-prop") == [
            ("_", "_", "root"),
            ("//>", "/", "a"),
            (">", "/", "b"),
            ("/", ">", "c"),
            ("_", ">", "d"),
            (">", "_", "e"),
        ]

    @every_decoder
    @pytest.mark.parametrize(
        ("encoding", "wanted"),
        [
            ("1p-brackets", (0, 1, 2, 3, 1, 1)),
            ("2p-greedy", (0, 1, 1, 2, 1, 1)),  # the arc 3 -> 6 got no plane, so 6 hangs on the root
            ("2p-prop", FIGURE_1.heads),
            ("2p-full", FIGURE_1.heads),
            ("rel-pos", FIGURE_1.heads),
            ("absolute", FIGURE_1.heads),
            ("relative", FIGURE_1.heads),
        ],
    )
    def test_back_to_trees(self, encoding, wanted, decoder):
        upos = ["X"] * 6
        rows = encode(FIGURE_1, encoding, upos=upos)
        assert decode(rows, encoding, decoder=decoder, upos=upos) == Tree(wanted, FIGURE_1.deprels)


class TestRoundTrip:
    @every_encoding
    @given(data=st.data(), heads=any_heads(60))
    def test_random_trees_agree_with_the_reference(self, data, heads, encoding):
        tree, upos = tree_of(heads), data.draw(tags(len(heads)))
        rows = encode(tree, encoding, upos=upos)
        assert rows == reference.encode(heads, tree.deprels, upos, encoding)
        for decoder in reference.REPAIRS:
            decoded = decode(rows, encoding, decoder=decoder, upos=upos)
            assert list(decoded.heads) == reference.decode(rows, encoding, upos, decoder)
            assert decoded.deprels == tree.deprels

    @pytest.mark.parametrize("encoding", ["2p-prop", "2p-full", "rel-pos", "absolute", "relative"])
    @given(data=st.data(), tree=trees(7))
    def test_the_clean_repair_finds_the_root_without_its_relation(self, data, tree, encoding):
        """Where all arcs got a plane, the root is the one word that is left, even if others are labelled `root`."""
        upos = data.draw(tags(len(tree)))
        if encoding.startswith("2p") and reference.planes_of(tree.heads, encoding).count(0) > 1:
            return
        assert decode(encode(tree, encoding, upos=upos), encoding, upos=upos) == tree

    @pytest.mark.parametrize("encoding", ["1p-brackets", "2p-greedy", "2p-prop", "2p-full"])
    @pytest.mark.parametrize(
        ("deprels", "paper"),
        [
            ("nsubj root obj", (2, 0, 2)),
            ("nsubj root:x obj", (0, 1, 2)),  # the authors know `root` only, and take word 1
            ("nsubj pred obj", (0, 1, 2)),
            ("root root root", (2, 0, 2)),
            ("nsubj pred root", (2, 3, 0)),  # the only word labelled `root` has a head, and loses it
        ],
    )
    def test_roots_by_any_name(self, encoding, deprels, paper):
        tree = Tree((2, 0, 2), tuple(deprels.split()))
        rows = encode(tree, encoding)
        assert decode(rows, encoding) == tree
        assert decode(rows, encoding, decoder="paper") == Tree(paper, tree.deprels)

    @every_encoding
    def test_many_trees_are_encoded_and_decoded_one_by_one(self, encoding):
        random = Random(11)
        many = [tree_of(random_heads(random.randint(1, 20), random)) for _ in range(200)]
        upos = [[random.choice(TAGS) for _ in tree.heads] for tree in many]
        rows = encode_all(many, encoding, upos=upos)
        assert rows == [encode(tree, encoding, upos=row) for tree, row in zip(many, upos, strict=True)]
        decoded = decode_all(rows, encoding, upos=upos)
        assert decoded == [decode(row, encoding, upos=tags) for row, tags in zip(rows, upos, strict=True)]

    @every_encoding
    def test_encoding_gives_the_same_labels_every_time(self, encoding):
        random = Random(12)
        many = [tree_of(random_heads(random.randint(1, 40), random)) for _ in range(50)]
        upos = [[random.choice(TAGS) for _ in tree.heads] for tree in many]
        assert encode_all(many, encoding, upos=upos) == encode_all(many, encoding, upos=upos)

    @every_encoding
    def test_no_trees(self, encoding):
        assert encode_all([], encoding, upos=[]) == []
        assert decode_all([], encoding, upos=[]) == []


class TestSeveralRoots:
    TREE = Tree((2, 0, 0, 3), ("det", "root", "root", "obj"))

    @pytest.mark.parametrize("encoding", reference.STRATEGIES)
    def test_brackets_refuse_them(self, encoding):
        with pytest.raises(TreeError, match=f"^{encoding} needs trees with one root.*2"):
            encode(self.TREE, encoding)

    @pytest.mark.parametrize(
        ("encoding", "labels"),
        [
            ("rel-pos", ["+1@X", "-1@ROOT", "-1@ROOT", "-1@X"]),
            ("absolute", ["2", "0", "0", "3"]),
            ("relative", ["+1", "0", "0", "-1"]),
        ],
    )
    def test_positions_take_them(self, encoding, labels):
        rows = encode(self.TREE, encoding, upos=["X"] * 4)
        assert [row[0] for row in rows] == labels
        assert decode(rows, encoding, upos=["X"] * 4).heads == (2, 0, 2, 3)


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "nearest"), [("2p-gredy", "2p-greedy"), ("1p-bracket", "1p-brackets"), ("relpos", "rel-pos")]
    )
    def test_an_unknown_encoding_is_refused_with_the_nearest_name(self, name, nearest):
        wanted = f"unknown encoding '{name}'; did you mean '{nearest}'"
        with pytest.raises(UnknownNameError, match=wanted):
            encode(FIGURE_1, name)
        with pytest.raises(UnknownNameError, match=wanted):
            decode([("_", "root")], name)

    def test_a_name_like_no_other_is_refused_with_all_there_are(self):
        with pytest.raises(UnknownNameError, match=r"^unknown encoding 'QQQ' \(known: 1p-brackets, 2p-greedy, "):
            get_encoding("QQQ")

    def test_an_unknown_decoder_is_refused_with_the_nearest_name(self):
        with pytest.raises(UnknownNameError, match="unknown decoder 'papers'; did you mean 'paper'"):
            decode([("_", "root")], "1p-brackets", decoder="papers")

    @pytest.mark.parametrize("decoder", ["search", "minimum-risk"])
    def test_a_decoder_that_needs_scores_is_refused_with_those_that_do_not(self, decoder):
        with pytest.raises(UnknownNameError, match=rf"unknown decoder '{decoder}' \(known: greedy, paper\)"):
            decode([("_", "root")], "1p-brackets", decoder=decoder)

    @pytest.mark.parametrize(
        ("encoding", "row", "message"),
        [
            ("2p-prop", ("_", "obj"), r"2p-prop: row 2: expected 3 labels \(plane1, plane2, deprel\), found 2"),
            ("2p-prop", ("_", "_", "_", "obj"), r"2p-prop: row 2: expected 3 labels .*, found 4"),
            ("1p-brackets", (), r"1p-brackets: row 2: expected 2 labels \(plane1, deprel\), found 0"),
            ("absolute", ("0", "_", "root"), r"absolute: row 2: expected 2 labels \(head, deprel\), found 3"),
        ],
    )
    def test_rows_of_the_wrong_width(self, encoding, row, message):
        right = ("_",) * (len(ENCODINGS[encoding].tasks) + 1)
        with pytest.raises(LabelError, match=message):
            decode([right, row], encoding)

    def test_a_sentence_without_words(self):
        with pytest.raises(LabelError, match="expected at least one word in each sentence, found none"):
            decode([], "1p-brackets")
        with pytest.raises(LabelError, match="expected at least one word in each sentence, found none"):
            decode_all([[("_", "root")], []], "1p-brackets")

    def test_the_wrong_number_of_tags(self):
        with pytest.raises(LabelError, match="5 tags for 6 words"):
            encode(FIGURE_1, "rel-pos", upos=["X"] * 5)

    def test_all_refusals_are_errors_of_biplanar(self):
        assert issubclass(LabelError, BiplanarError)
        assert issubclass(TreeError, BiplanarError)
        assert issubclass(UnknownNameError, BiplanarError)


class TestLongSentences:
    @every_encoding
    @pytest.mark.parametrize(
        "heads",
        [
            pytest.param(random_heads(10_000, Random(13)), id="10,000 words, arcs crossing freely"),
            pytest.param(projective_heads(100_000, Random(14)), id="100,000 words, projective"),
        ],
    )
    def test_both_ways(self, heads, encoding):
        tree, upos = tree_of(heads), [TAGS[word % len(TAGS)] for word in range(len(heads))]
        rows = encode(tree, encoding, upos=upos)
        decoded = decode(rows, encoding, upos=upos)
        assert decoded == tree or len(heads) == 10_000

    @every_encoding
    @settings(max_examples=3)
    @given(heads=any_heads(300))
    def test_longer_trees_agree_with_the_reference(self, heads, encoding):
        tree, upos = tree_of(heads), ["X"] * len(heads)
        assert encode(tree, encoding, upos=upos) == reference.encode(heads, tree.deprels, upos, encoding)


def sample_of(path: Path) -> list[Sentence]:
    """Every third sentence of a file's beginning."""
    return list(islice(read_conllu(path), 0, 3 * SAMPLE, 3))


def test_treebanks_agree_with_the_reference(treebank_file):
    """All encodings of the reference and decoders, on sentences of every file there is."""
    sentences = sample_of(treebank_file)
    forest = Forest.from_sentences(sentences)
    gold, upos = forest.trees(), [sentence.upos for sentence in sentences]
    assert (forest.roots() == 1).all()
    for name, encoding in ((name, ENCODINGS[name]) for name in reference.ENCODINGS):
        rows = label_rows(encoding.encode(forest), forest)
        columns = encoding.encode(forest)
        for tree, tagged, row in zip(gold, upos, rows, strict=True):
            assert row == reference.encode(tree.heads, tree.deprels, tagged, name)
        asserted = [reference.assert_heads(row, name, tagged) for row, tagged in zip(rows, upos, strict=True)]
        for decoder in reference.REPAIRS:
            decoded = decode_forest(
                columns, forest.deprels, forest.offsets, encoding, decoder=decoder, upos=forest.upos
            )
            found = np.split(decoded.heads, forest.offsets[1:-1])
            for heads, known, tree in zip(found, asserted, gold, strict=True):
                assert heads.tolist() == reference.REPAIRS[decoder](known, tree.deprels)
