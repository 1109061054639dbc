"""Chunks of bytes against sentences read one by one."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from biplanar.data import conllu_bytes as chunks
from biplanar.data.conllu import cut_raw_conllu, parse_conllu, read_conllu
from biplanar.data.conllu_bytes import ConlluTable
from biplanar.data.files import read_buffers
from biplanar.data.forest import Column, offsets_of
from biplanar.data.tree import Tree
from biplanar.errors import BiplanarError, LabelError, TreeError
from tests.strategies import random_heads

NAMES = ("root", "nsubj", "obl:tmod", "ünï")

PLAIN = """\
# sent_id = 1
1\tEu\teu\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tvi\tver\tVERB\t_\t_\t0\troot\t_\t_
3-4\tdo\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
3.1\tx\tx\tNOUN\t_\t_\t_\t_\t2:obj\t_
# in the middle\twith a tab
4\to\to\tDET\t_\t_\t5\tdet\t_\t_
5\to\to\tDET\t_\t_\t2\tobl\t_\tSpaceAfter=No

1\tvi\tver\tVERB\t_\t_\t0\troot\t_\t_

"""
ROW = "1\tvi\tver\tVERB\t_\t_\t0\troot\t_\t_"

values = st.text(st.sampled_from("ab12#-._é日🦄\x00\x0b\x0c\x85\u2028 \ufeff"), min_size=1, max_size=4)


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """A block of CoNLL-U; forms repeat, also those of other sentences."""
    lines = draw(st.lists(st.sampled_from(["# text = a b", "#", "# é\t1\tx"]), max_size=2))
    for word in range(1, draw(st.integers(1, 12)) + 1):
        columns = [str(word), draw(st.sampled_from(["the", "The", "é", "日本"]) | values), *draw(_columns())]
        if draw(st.booleans()):
            lines.append(
                "\t".join([draw(st.sampled_from([f"{word}-{word + 1}", f"{word - 1}.1", "07-1"])), *columns[1:]])
            )
        lines.append("\t".join(columns))
        if not draw(st.integers(0, 9)):
            lines.append("# later")
    return "\n".join(lines)


def _columns() -> st.SearchStrategy[list[str]]:
    return st.lists(st.just("_") | values, min_size=8, max_size=8)


@st.composite
def files(draw: st.DrawFn) -> str:
    """Some sentences, which may end in any way."""
    return "\n\n".join(draw(st.lists(sentences(), min_size=1, max_size=4))) + draw(st.sampled_from(["", "\n", "\n\n"]))


def trees_for(lengths: list[int], random: Random) -> list[Tree]:
    heads = [random_heads(length, random) for length in lengths]
    return [Tree(one, tuple(random.choice(NAMES) for _ in one)) for one in heads]


def columns_of(trees: list[Tree]) -> tuple[np.ndarray, Column]:
    ids = [NAMES.index(name) for tree in trees for name in tree.deprels]
    heads = [head for tree in trees for head in tree.heads]
    return np.array(heads, dtype=np.int32), Column(np.array(ids, dtype=np.int32), NAMES)


def check(data: bytes) -> bool:
    """Whether the bytes are a table; if so, it must be what the sentences are, before and after."""
    table = ConlluTable.of(data)
    if table is None:
        return False
    found = parse_conllu(data.decode())
    assert table.offsets.tolist() == offsets_of(map(len, found)).tolist()
    assert table.forms.labels() == [form for sentence in found for form in sentence.forms]
    assert table.forms.names == tuple(dict.fromkeys(table.forms.labels()))
    assert table.upos.labels() == [tag for sentence in found for tag in sentence.upos]
    trees = trees_for([len(sentence) for sentence in found], Random(len(data)))
    wanted = "".join(sentence.with_tree(tree).raw for sentence, tree in zip(found, trees, strict=True))
    assert table.with_trees(*columns_of(trees)) == wanted.encode()
    return True


class TestSameAsSentences:
    @given(files())
    def test_tidy_files(self, text):
        assert check(text.encode())

    @given(
        files(), st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["\n", "\t", "\r", "0", "1", "#", "-", ".", ""])))
    )
    @example(ROW, [(0.0, "")])
    def test_damaged_files(self, text, changes):
        """What is taken for a table is one, whatever is put into a file or left out of it; else nobody minds."""
        for place, sign in changes:
            at = int(place * len(text))
            text = text[:at] + sign + text[at + (not sign) :]
        try:
            parse_conllu(text)
        except BiplanarError:
            assert ConlluTable.of(text.encode()) is None
        else:
            check(text.encode())

    @given(files(), st.binary(min_size=1, max_size=2), st.floats(0, 1))
    def test_any_bytes(self, text, damage, place):
        data = text.encode()
        at = int(place * len(data))
        data = data[:at] + damage + data[at:]
        try:
            parse_conllu(data.decode())
        except (BiplanarError, UnicodeDecodeError):
            assert ConlluTable.of(data) is None
        else:
            check(data)

    @given(files(), st.integers(1, 50))
    def test_wherever_it_is_looked_through_in_steps(self, text, step):
        data = text.encode()
        table = ConlluTable.of(data)
        places, offsets = np.empty((8, len(data)), dtype=np.int32), np.zeros(len(data), dtype=np.int64)
        found = _find_in_steps(data, places, offsets, step)
        assert offsets[: found + 1].tolist() == table.offsets.tolist()
        assert places[:, : offsets[found]].tolist() == table.places.tolist()

    def test_long_files(self):
        """More than one step, more words than two digits can number."""
        rows = "".join(f"{word}\tword{word % 7}\t" + "\t".join("_" * 8) + "\n" for word in range(1, 1200))
        assert check(f"{rows}\n{PLAIN}{rows}".encode())

    def test_treebanks(self, treebank_file):
        found = 0
        for number, block in enumerate(cut_raw_conllu(read_buffers(treebank_file), "x")):
            if number % 10 == 0:
                assert check(block.data)
                found += 1
        assert found

    def test_blocks_are_the_file(self, treebank_file):
        assert sum(
            len(ConlluTable.of(block.data)) for block in cut_raw_conllu(read_buffers(treebank_file), "x")
        ) == sum(1 for _ in read_conllu(treebank_file))


def _find_in_steps(data: bytes, places: np.ndarray, offsets: np.ndarray, step: int) -> int:
    """The compiled function as plain Python, in which steps can be short."""
    plain = chunks._find.py_func
    before = plain.__globals__["_STEP"]
    plain.__globals__["_STEP"] = step
    marks = plain.__globals__["_find_marks"]
    plain.__globals__["_find_marks"] = marks.py_func
    try:
        return plain(np.frombuffer(data, dtype=np.uint8), places, offsets)
    finally:
        plain.__globals__["_STEP"], plain.__globals__["_find_marks"] = before, marks


@pytest.mark.parametrize("text", [PLAIN, PLAIN[:-1], PLAIN[:-2], ROW, "\n" + PLAIN, PLAIN + "\n\n" + PLAIN])
def test_tidy(text):
    assert check(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# comment\n\n",
        PLAIN + "# comment\n",
        PLAIN + "# comment\n\n" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        "\ufeff" + PLAIN,
        " " + PLAIN,
        PLAIN.replace("\n\n", "\n \n"),
        ROW.replace("vi\t", "\t"),
        ROW + "\t_",
        ROW.removesuffix("\t_"),
        ROW.removesuffix("_"),
        ROW.replace("1", "01"),
        ROW.replace("1", "2"),
        ROW.replace("1", "0"),
        ROW.replace("1", "99999999999999999999999999"),
        ROW.replace("1", "1-"),
        ROW.replace("1", "-1"),
        ROW.replace("1", "1-2-3"),
        ROW.replace("1", "1-2"),
        ROW.replace("1", "x"),
        ROW + "\n" + ROW,
        "x",
    ],
)
def test_what_is_left_to_the_careful_reader(text):
    assert ConlluTable.of(text.encode()) is None


def test_bytes_that_are_no_text():
    assert ConlluTable.of(PLAIN.encode().replace(b"Eu", b"\xff")) is None


def test_too_large_to_be_numbered(monkeypatch):
    monkeypatch.setattr(chunks, "_LARGEST", len(PLAIN) - 1)
    assert ConlluTable.of(PLAIN.encode()) is None


class TestForms:
    def test_forms_that_share_a_slot_are_kept_apart(self):
        """Thousands of forms in a table of twice as many slots: many meet."""
        forms = [f"w{number * 7919 % 5000}" for number in range(6000)]
        rows = [f"{word}\t{form}\t" + "\t".join("_" * 8) for word, form in enumerate(forms, 1)]
        found = ConlluTable.of("\n".join(rows).encode()).forms
        assert found.labels() == forms
        assert len(found.names) == 5000


class TestTrees:
    def table(self) -> ConlluTable:
        return ConlluTable.of((ROW + "\n\n" + ROW).encode())

    def test_a_relation_without_a_name(self):
        written = self.table().with_trees(np.zeros(2, dtype=np.int32), Column(np.array([-1, 0], dtype=np.int32), NAMES))
        assert [sentence.tree.deprels for sentence in parse_conllu(written.decode())] == [("_",), ("root",)]

    def test_no_trees(self):
        relations = Column(np.zeros(2, dtype=np.int32), NAMES)
        with pytest.raises(TreeError, match="head outside the sentence") as error:
            self.table().with_trees(np.array([0, 2], dtype=np.int32), relations)
        assert error.value.sentence == 1
        with pytest.raises(TreeError, match="1 heads and 2 relations for 2 words"):
            self.table().with_trees(np.zeros(1, dtype=np.int32), relations)

    @pytest.mark.parametrize("name", ["", "a\tb", "a\nb"])
    def test_names_that_no_column_can_hold(self, name):
        relations = Column(np.zeros(2, dtype=np.int32), ("root", name))
        with pytest.raises(LabelError, match="value 2: DEPREL cannot be"):
            self.table().with_trees(np.zeros(2, dtype=np.int32), relations)
