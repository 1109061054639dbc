from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biplanar.data.forest import Column, offsets_of
from biplanar.decoding import decode_forest, root_likeness
from biplanar.decoding.decoders import get_repair
from biplanar.decoding.labels import decode
from biplanar.decoding.repair import repair_cleanly, repair_like_the_authors
from biplanar.encodings import ENCODINGS
from biplanar.errors import LabelError, UnknownNameError
from tests import reference
from tests.strategies import MALFORMED, label_rows, position_rows, tags

every_decoder = pytest.mark.parametrize("decoder", reference.REPAIRS)

# One plane: `<`?`/`{0,2}`\`{0,2}`>`?, all that the paper's labels can be up to two arcs a bracket.
PAPER_LABELS = [
    "<" * a + "/" * b + "\\" * c + ">" * d for a, b, c, d in product(range(2), range(3), range(3), range(2))
]
# Up to two brackets in any order, as where closers come first.
ANY_ORDER = ["".join(signs) for size in range(3) for signs in product("</\\>", repeat=size)]
SINGLE = ["_", "<", "/", "\\", ">"]
RELATIONS = ["root", "root:x", "dep"]


def repaired(heads: list[int], deprels: list[str] | None = None, decoder: str = "greedy") -> list[int]:
    """The repair of one sentence, from asserted heads (-1 for none)."""
    likeness = root_likeness(Column.of(deprels or ["dep"] * len(heads)))
    return get_repair(decoder)(np.array(heads, dtype=np.int32), offsets_of([len(heads)]), likeness).tolist()


def all_rows(size: int, choices: int) -> np.ndarray:
    """All ways to choose for each of some words, one way a row."""
    return np.indices([choices] * size, dtype=np.int16).reshape(size, -1).T


def are_trees(heads: np.ndarray) -> np.ndarray:
    """Whether each row of heads is a tree with one root: from every word it is at most as many steps as words to 0."""
    many, size = heads.shape
    rooted = np.concatenate([np.zeros((many, 1), dtype=heads.dtype), heads], axis=1)
    above = np.broadcast_to(np.arange(size + 1), rooted.shape)
    for _ in range(size):
        above = np.take_along_axis(rooted, above, axis=1)
    return ((heads == 0).sum(axis=1) == 1) & (heads >= 0).all(axis=1) & (above == 0).all(axis=1)


class TestByHand:
    @pytest.mark.parametrize(
        ("heads", "deprels", "clean", "paper"),
        [
            # The root is the only word without a head, whatever its relation; the paper takes word 1.
            ([2, -1, 2], "nsubj pred obj", [2, 0, 2], [0, 1, 2]),
            ([2, -1, 2], "nsubj root obj", [2, 0, 2], [2, 0, 2]),
            ([2, -1, 2], "nsubj root:x obj", [2, 0, 2], [0, 1, 2]),
            # Several words without a head: the most root-like, of equals the first; all others hang on it.
            ([-1, -1, -1], "det obj nsubj", [0, 1, 1], [0, 1, 1]),
            ([-1, -1, -1], "det root:x root", [3, 3, 0], [3, 3, 0]),
            ([-1, -1, -1], "det root:x obj", [2, 0, 2], [0, 1, 1]),
            ([-1, -1, -1], "det root root", [2, 0, 2], [2, 0, 2]),
            # A word that says it is the root comes before an equal that does not.
            ([-1, 0, -1], "det obj nsubj", [2, 0, 2], [2, 0, 2]),
            ([-1, 0, 0], "root root root", [2, 0, 2], [0, 1, 1]),
            ([-1, 0, -1], "det obj root", [3, 3, 0], [2, 0, 2]),
            # A word labelled `root` that has a head, beside one that has none.
            ([-1, 1, -1], "det root obj", [0, 1, 1], [2, 0, 2]),
            ([2, -1, -1], "root det root", [2, 3, 0], [2, 3, 0]),
            # Every word has a head: one arc is given up for the root.
            ([2, 1], "det obj", [0, 1], [0, 1]),
            ([2, 1], "det root", [2, 0], [2, 0]),
            ([2, 1, 2], "det obj root:x", [3, 1, 0], [0, 1, 2]),
            # Cycles beside the root: the clean repair frees the first word, the paper the one that is met again.
            ([-1, 3, 2], "root det obj", [0, 1, 2], [0, 1, 2]),
            ([3, -1, 4, 3], "det root obj obj", [3, 0, 2, 3], [3, 0, 2, 3]),
            ([5, -1, 4, 5, 3], "det root obj obj obj", [5, 0, 2, 5, 3], [5, 0, 4, 5, 2]),
        ],
    )
    def test_both_repairs(self, heads, deprels, clean, paper):
        assert repaired(heads, deprels.split(), "greedy") == clean
        assert repaired(heads, deprels.split(), "paper") == paper

    def test_without_a_root_like_word_the_first_words_cycle_has_the_root(self):
        assert repaired([4, 3, 2, 5, 4]) == [4, 4, 2, 0, 4]

    @every_decoder
    def test_one_word(self, decoder):
        for head in (-1, 0):
            assert repaired([head], ["dep"], decoder) == [0]

    def test_root_likeness(self):
        column = Column(np.array([0, 1, 2, 3, 4, -1], dtype=np.int32), ("root", "root:x", "rooty", "pred", ""))
        root, subtype, *others = root_likeness(column).tolist()
        assert root > subtype > 0
        assert set(others) == {0}


class TestAgainstTheReference:
    """All heads that may be asserted for up to 4 words, with all ways to be root-like; more words at random."""

    @every_decoder
    @pytest.mark.parametrize("size", [1, 2, 3, 4])
    def test_all_asserted_heads(self, size, decoder):
        options = [[head for head in range(-1, size + 1) if head != word] for word in range(1, size + 1)]
        cases = list(product(product(*options), product(RELATIONS, repeat=size)))
        heads = np.array([heads for heads, _ in cases], dtype=np.int32)
        deprels = Column.of(deprel for _, row in cases for deprel in row)
        offsets = offsets_of([size] * len(cases))
        found = get_repair(decoder)(heads.ravel(), offsets, root_likeness(deprels)).reshape(-1, size)
        assert are_trees(found).all()
        for (asserted, row), result in zip(cases, found.tolist(), strict=True):
            known = [None if head < 0 else head for head in asserted]
            assert result == reference.REPAIRS[decoder](known, row), (asserted, row)

    @every_decoder
    @given(data=st.data(), size=st.integers(1, 30))
    def test_random_asserted_heads(self, data, size, decoder):
        head = st.integers(-1, size)
        asserted = [h if h != word else -1 for word, h in enumerate(data.draw(st.tuples(*[head] * size)), 1)]
        deprels = data.draw(st.tuples(*[st.sampled_from(RELATIONS)] * size))
        known = [None if head < 0 else head for head in asserted]
        assert repaired(asserted, list(deprels), decoder) == reference.REPAIRS[decoder](known, deprels)

    @every_decoder
    def test_sentences_are_repaired_one_by_one(self, decoder):
        generator = np.random.default_rng(9)
        sizes = generator.integers(1, 12, 500).tolist()
        sentences = [[int(generator.integers(-1, size + 1)) for _ in range(size)] for size in sizes]
        sentences = [[-1 if h == word else h for word, h in enumerate(heads, 1)] for heads in sentences]
        deprels = [[RELATIONS[generator.integers(3)] for _ in heads] for heads in sentences]
        at_once = get_repair(decoder)(
            np.array([head for heads in sentences for head in heads], dtype=np.int32),
            offsets_of(sizes),
            root_likeness(Column.of(deprel for row in deprels for deprel in row)),
        )
        alone = [repaired(heads, row, decoder) for heads, row in zip(sentences, deprels, strict=True)]
        assert at_once.tolist() == [head for heads in alone for head in heads]


class TestCleanRepair:
    @pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
    def test_all_arcs_stay_but_one_of_each_cycle_and_one_for_the_root(self, size):
        options = [[head for head in range(-1, size + 1) if head != word] for word in range(1, size + 1)]
        for asserted in product(*options):
            result = repaired(list(asserted), ["dep"] * (size - 1) + ["root"])
            pairs = enumerate(zip(asserted, result, strict=True), 1)
            lost = {word for word, (before, after) in pairs if before > 0 and before != after}
            cycles = reference.cycles([0, *(max(head, 0) for head in asserted)])
            assert all(len(cycle & lost) == 1 for cycle in cycles)
            outside = lost.difference(*cycles)
            if min(asserted) > 0:  # no word was left for the root: the one that looks like it is taken
                assert outside <= {size}
                assert result[size - 1] == 0
            else:
                assert not outside

    def test_it_leaves_a_tree_alone(self):
        assert repaired([2, 0, 4, 2], ["a", "b", "c", "d"]) == [2, 0, 4, 2]
        assert repaired([2, -1, 4, 2], ["a", "b", "c", "d"]) == [2, 0, 4, 2]

    def test_what_is_given_is_not_changed(self):
        for repair in (repair_cleanly, repair_like_the_authors):
            asserted = np.array([2, 1, -1], dtype=np.int32)
            repair(asserted, offsets_of([3]), root_likeness(Column.of(["dep"] * 3)))
            assert asserted.tolist() == [2, 1, -1]


def check_all_sequences(encoding: str, decoder: str, size: int, labels: list[tuple[str, ...]], sample: int) -> None:
    """Decode every sequence of some words over some labels in one batch; compare a sample with the reference."""
    numbers = all_rows(size, len(labels))
    generator = np.random.default_rng(10)
    relations = generator.integers(0, len(RELATIONS), numbers.shape)
    offsets = offsets_of([size] * len(numbers))
    columns = []
    for task in range(len(labels[0])):
        names = tuple(dict.fromkeys(label[task] for label in labels))
        ids = np.array([names.index(label[task]) for label in labels], dtype=np.int32)
        columns.append(Column(ids[numbers.ravel()], names))
    deprels = Column(relations.ravel().astype(np.int32), tuple(RELATIONS))
    forest = decode_forest(columns, deprels, offsets, ENCODINGS[encoding], decoder=decoder)
    heads = forest.heads.reshape(-1, size)
    assert are_trees(heads).all()
    for at in generator.integers(0, len(numbers), sample).tolist():
        rows = [(*labels[n], RELATIONS[r]) for n, r in zip(numbers[at], relations[at], strict=True)]
        assert heads[at].tolist() == reference.decode(rows, encoding, (), decoder), rows


class TestEveryLabelSequence:
    @every_decoder
    @pytest.mark.parametrize("size", [1, 2, 3, 4])
    @pytest.mark.parametrize("labels", [PAPER_LABELS, ANY_ORDER], ids=["in the paper's order", "in any order"])
    def test_one_plane(self, labels, size, decoder):
        check_all_sequences("1p-brackets", decoder, size, [(label,) for label in labels], sample=2000)

    @every_decoder
    @pytest.mark.parametrize(
        ("size", "labels"),
        [(1, PAPER_LABELS), (2, ANY_ORDER), (3, ["_", "<", "/", "\\", ">", "/>", "<\\", ">/"]), (4, SINGLE)],
    )
    def test_two_planes(self, size, labels, decoder):
        check_all_sequences("2p-full", decoder, size, list(product(labels, labels)), sample=2000)

    @every_decoder
    @pytest.mark.parametrize("size", [1, 2, 3])
    def test_three_words_with_all_relations(self, size, decoder):
        labels = list(product(["_", "<", "/", "\\", ">", "</\\>"], RELATIONS))
        numbers = all_rows(size, len(labels))
        names = tuple(dict.fromkeys(label for label, _ in labels))
        ids = np.array([names.index(label) for label, _ in labels], dtype=np.int32)[numbers.ravel()]
        relations = np.array([RELATIONS.index(deprel) for _, deprel in labels], dtype=np.int32)[numbers.ravel()]
        forest = decode_forest(
            [Column(ids, names)],
            Column(relations, tuple(RELATIONS)),
            offsets_of([size] * len(numbers)),
            ENCODINGS["1p-brackets"],
            decoder=decoder,
        )
        heads = forest.heads.reshape(-1, size)
        assert are_trees(heads).all()
        for row, found in zip(numbers.tolist(), heads.tolist(), strict=True):
            assert found == reference.decode([labels[n] for n in row], "1p-brackets", (), decoder)


class TestAnyLabels:
    @every_decoder
    @pytest.mark.parametrize(("encoding", "planes"), [("1p-brackets", 1), ("2p-greedy", 2), ("2p-full", 2)])
    @settings(max_examples=60)
    @given(data=st.data())
    def test_brackets(self, data, encoding, planes, decoder):
        rows = data.draw(label_rows(planes, max_size=20))
        tree = decode(rows, encoding, decoder=decoder)
        assert reference.is_tree(tree.heads)
        assert tree.deprels == tuple(row[-1] for row in rows)
        assert list(tree.heads) == reference.decode(rows, encoding, (), decoder)

    @every_decoder
    @pytest.mark.parametrize("encoding", ["rel-pos", "absolute", "relative"])
    @settings(max_examples=60)
    @given(data=st.data(), rows=position_rows(20))
    def test_positions(self, data, rows, encoding, decoder):
        upos = data.draw(tags(len(rows)))
        tree = decode(rows, encoding, decoder=decoder, upos=upos)
        assert reference.is_tree(tree.heads)
        assert list(tree.heads) == reference.decode(rows, encoding, upos, decoder)

    @every_decoder
    @pytest.mark.parametrize("encoding", ENCODINGS)
    @pytest.mark.parametrize("label", MALFORMED)
    def test_the_same_label_on_all_words(self, label, encoding, decoder):
        rows = [(label,) * len(ENCODINGS[encoding].tasks) + ("dep",)] * 5
        assert reference.is_tree(decode(rows, encoding, decoder=decoder, upos=["NOUN"] * 5).heads)

    @every_decoder
    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_labels_without_a_name(self, encoding, decoder):
        nothing = Column(np.full(4, -1, dtype=np.int32), ())
        how = ENCODINGS[encoding]
        upos = Column.of(["X"] * 4)
        forest = decode_forest([nothing] * len(how.tasks), nothing, offsets_of([3, 1]), how, decoder=decoder, upos=upos)
        assert forest.heads.tolist() == [0, 1, 1, 0]
        assert forest.deprels.labels() == ["_"] * 4


class TestRefusals:
    def test_an_unknown_decoder_is_refused_with_the_nearest_name(self):
        with pytest.raises(UnknownNameError, match="unknown decoder 'gredy'; did you mean 'greedy'"):
            get_repair("gredy")

    def test_the_wrong_number_of_columns(self):
        column = Column.of(["_", "_"])
        with pytest.raises(LabelError, match="2p-prop expects 2 labels a word, found 1"):
            decode_forest([column], column, offsets_of([2]), ENCODINGS["2p-prop"])

    @pytest.mark.parametrize("short", ["plane1", "plane2", "deprel"])
    def test_the_wrong_number_of_labels(self, short):
        columns = {task: Column.of(["_", "_"]) for task in ("plane1", "plane2", "deprel")}
        columns[short] = Column.of(["_"])
        *labels, deprels = columns.values()
        with pytest.raises(LabelError, match=f"{short}: expected 2 labels, found 1"):
            decode_forest(labels, deprels, offsets_of([2]), ENCODINGS["2p-prop"])
