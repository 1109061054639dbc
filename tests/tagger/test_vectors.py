from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data import files as text
from biplanar.errors import FileError, FormatError
from biplanar.tagger import vectors as reader
from biplanar.tagger.vectors import read_vectors

COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
VECTORS = {
    "the": [0.5, -1.0, 0.25],
    "Käse": [1e-05, 2.0, -0.125],
    "猫": [3.0, 0.0, 1.5],
    "🐈": [-4.0, 100.0, 0.75],
}


def as_text(vectors, *, header=True, between=" ", ending="\n") -> bytes:
    lines = [f"{len(vectors)} 3"] if header else []
    lines += [between.join([word, *map(repr, values)]) for word, values in vectors.items()]
    return "".join(line + ending for line in lines).encode()


def as_binary(vectors, *, ending=b"\n", size=3) -> bytes:
    rows = [word.encode() + b" " + np.array(values, "<f4").tobytes() + ending for word, values in vectors.items()]
    return f"{len(vectors)} {size}\n".encode() + b"".join(rows)


KINDS = {
    "word2vec text": as_text(VECTORS),
    "fastText, with a space at the end of each line": as_text(VECTORS, ending=" \n"),
    "GloVe": as_text(VECTORS, header=False),
    "tabs": as_text(VECTORS, header=False, between="\t"),
    "Windows line ends": as_text(VECTORS, ending="\r\n"),
    "no last line end": as_text(VECTORS).rstrip(),
    "empty lines at the end": as_text(VECTORS) + b"\n\n",
    "a byte order mark": b"\xef\xbb\xbf" + as_text(VECTORS),
    "word2vec binary": as_binary(VECTORS),
    "word2vec binary, as gensim writes it": as_binary(VECTORS, ending=b""),
}


def write(folder: Path, data: bytes, name: str = "vectors") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def lists(vectors) -> dict[str, list[float]]:
    return {word: vector.tolist() for word, vector in vectors.items()}


def rounded(vectors) -> dict[str, list[float]]:
    return {word: np.array(values, np.float32).tolist() for word, values in vectors.items()}


def message_for(folder: Path, data: bytes, **options) -> str:
    path = write(folder, data)
    with pytest.raises(FormatError) as caught:
        read_vectors(path, **options)
    return str(caught.value).removeprefix(f"{path}:")


class TestFormats:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_gives_the_same_vectors(self, tmp_path, kind):
        vectors = read_vectors(write(tmp_path, KINDS[kind]))
        assert lists(vectors) == rounded(VECTORS)
        assert list(vectors) == list(VECTORS)
        assert {vector.dtype for vector in vectors.values()} == {np.dtype(np.float32)}

    @pytest.mark.parametrize("ending", COMPRESS)
    @pytest.mark.parametrize("kind", ["GloVe", "word2vec binary"])
    def test_compressed_files(self, tmp_path, kind, ending):
        path = write(tmp_path, COMPRESS[ending](KINDS[kind]), f"vectors{ending}")
        assert lists(read_vectors(path)) == rounded(VECTORS)

    @pytest.mark.parametrize("chunk", [100, 101, 113])
    @pytest.mark.parametrize("kind", KINDS)
    def test_rows_that_go_over_chunks(self, tmp_path, monkeypatch, kind, chunk):
        monkeypatch.setattr(text, "BUFFER", chunk)
        assert lists(read_vectors(write(tmp_path, KINDS[kind]))) == rounded(VECTORS)

    @given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 2**32 - 1))
    def test_binary_is_told_from_text(self, tmp_path_factory, count, size, seed):
        values = np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)
        vectors = {f"w{number}": row.tolist() for number, row in enumerate(values)}
        path = write(tmp_path_factory.mktemp("vectors"), as_binary(vectors, size=size))
        assert lists(read_vectors(path)) == vectors

    @pytest.mark.parametrize("header", [True, False])
    def test_words_with_spaces(self, tmp_path, header):
        """As the largest GloVe file has them."""
        vectors = {"a": [1.0, 2.0, 3.0], ". . .": [4.0, 5.0, 6.0], "at name@domain.com": [7.0, 8.0, 9.0]}
        assert lists(read_vectors(write(tmp_path, as_text(vectors, header=header)))) == vectors

    @pytest.mark.parametrize("word", ["\xa0", "\u3000", "\x85", "1", "0.5", "#"])
    def test_odd_words(self, tmp_path, word):
        vectors = {"a": [1.0, 2.0, 3.0], word: [4.0, 5.0, 6.0]}
        assert lists(read_vectors(write(tmp_path, as_text(vectors)))) == vectors

    @pytest.mark.parametrize("data", [b"2 2\n\xe7\x8c 1.0 2.0\nb 3.0 4.0\n", b"\xe7\x8c 1.0 2.0\nb 3.0 4.0\n"])
    def test_words_cut_in_half(self, tmp_path, data):
        assert lists(read_vectors(write(tmp_path, data))) == {"\ufffd": [1.0, 2.0], "b": [3.0, 4.0]}


class TestChoice:
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_limit(self, tmp_path, kind):
        path = write(tmp_path, KINDS[kind])
        assert list(read_vectors(path, limit=2)) == ["the", "Käse"]
        assert list(read_vectors(path, limit=99)) == list(VECTORS)

    def test_a_limit_leaves_the_rest_unread(self, tmp_path):
        assert list(read_vectors(write(tmp_path, KINDS["GloVe"] + b"bad\n"), limit=4)) == list(VECTORS)

    def test_the_first_of_two_vectors_counts(self, tmp_path):
        assert lists(read_vectors(write(tmp_path, b"3 1\na 1.0\nb 2.0\na 3.0\n"))) == {"a": [1.0], "b": [2.0]}

    def test_more_vectors_than_the_header_says_are_read(self, tmp_path):
        assert list(read_vectors(write(tmp_path, b"1 1\na 1.0\nb 2.0\n"))) == ["a", "b"]


class TestErrors:
    @pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\n"])
    def test_empty_files(self, tmp_path, data):
        assert message_for(tmp_path, data) == "1: expected word vectors, found an empty file"

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"2 3\na 1 2 3\nb 1 2\n", "3: expected a word and 3 values, found 2 values"),
            (b"2 3\na 1 2 3\nb 1.0 2.0 3.0 4.0\n", "3: expected a word and 3 values, found 4 values"),
            (b"a 1 2 3\nb 1 2\n", "2: expected a word and 3 values, found 2 values"),
            (b"a 1 2 3\nb 1.0 2.0 3.0 4.0\n", "2: expected a word and 3 values, found 4 values"),
            (b"a 1 2 3\n\nb\n", "3: expected a word and 3 values, found 0 values"),
            (b"a 1 2 3\n 1 2 3\n", "2: expected a word and 3 values, found 3 values"),
            (b"a 1 2 3\nb 1  2\n", "2: expected 3 values, found 2"),
            (b"2 3\na 1 2 3\nb 1 x 3\n", "3: expected a number, found 'x'"),
            (b"a 1 2 \xff\n", "1: expected word vectors (word2vec, fastText .vec or GloVe), found other binary data"),
            (b"a 1 2 3\nb 1 \xff 3\n", "2: expected a number, found '\ufffd'"),
            (b"a 1 2 nan\n", "1: expected a number, found 'nan'"),
            (b"a 1 2 -inf\n", "1: expected a number, found '-inf'"),
            (b"a 1 2 1e99\n", "1: expected a number, found '1e99'"),
            (b"3 2\na 1 2\nb 3 4\n", "1: expected 3 vectors, as this line says, found 2"),
            (b"3 2\n", "1: expected 3 vectors, as this line says, found 0"),
            (b"0 3\n", "1: expected word vectors, found a file that says it has none"),
            (b"3 0\n", "1: expected vectors of 1 to 65536 values, found 0"),
            (b"3 999999999\n", "1: expected vectors of 1 to 65536 values, found 999999999"),
            (b"word\n", "1: expected vectors of 1 to 65536 values, found 0"),
            (b"# a comment\n", "1: expected a number, found 'a'"),
        ],
    )
    def test_text(self, tmp_path, data, message):
        assert message_for(tmp_path, data) == message

    @pytest.mark.parametrize("ending", [b"\n", b""])
    @pytest.mark.parametrize("missing", [1, 5, 11, 13])
    def test_binary_that_is_cut_off(self, tmp_path, ending, missing):
        data = as_binary(VECTORS, ending=ending)
        message = message_for(tmp_path, data[: -missing - len(ending)])
        assert message == "5: expected 4 vectors of 3 values, found the end of the file in vector 4"

    def test_binary_of_another_size(self, tmp_path):
        message = message_for(tmp_path, b"4 9" + as_binary(VECTORS)[3:])
        assert message.endswith("expected 4 vectors of 9 values, found the end of the file in vector 2")

    def test_binary_with_what_is_no_number(self, tmp_path):
        message = message_for(tmp_path, as_binary({"a": [1.0, 2.0, 3.0], "b": [1.0, float("nan"), 3.0]}))
        assert message == "3: expected numbers, found nan"

    def test_binary_without_words(self, tmp_path):
        message = message_for(tmp_path, b"9 3\n" + bytes(200_000))
        assert message == "2: expected a word and a space, found binary data without"

    @pytest.mark.parametrize("data", [b"PK\x03\x04\x14\0\0\0 abc", b"\xba\x16\x4f\x2f\x0c\0\0\0 \n"])
    def test_other_binary_files(self, tmp_path, data):
        """A zip archive, and a fastText model with its network."""
        expected = "expected word vectors (word2vec, fastText .vec or GloVe), found other binary data"
        assert message_for(tmp_path, data) == f"1: {expected}"

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(FileError, match=r"missing\.vec: No such file or directory$"):
            read_vectors(tmp_path / "missing.vec")

    def test_compressed_data_that_is_cut_off(self, tmp_path):
        path = write(tmp_path, gzip.compress(np.random.default_rng(1).bytes(9000))[:-20], "vectors.gz")
        with pytest.raises(FileError, match="truncated or corrupt gz data"):
            read_vectors(path)


@pytest.mark.parametrize("binary", [True, False])
def test_many_vectors_are_converted_row_by_row(tmp_path, binary):
    """By NumPy, each at once: a million vectors of 300 values must not take more than some minutes."""
    count, size = 3000, 300
    values = np.random.default_rng(1).normal(size=(count, size)).astype(np.float32).round(4)
    vectors = {f"w{number}": row.tolist() for number, row in enumerate(values)}
    data = as_binary(vectors, size=size) if binary else f"{count} {size}\n".encode() + as_text(vectors, header=False)
    path = write(tmp_path, data)
    name = "_floats" if binary else "_as_floats"
    with mock.patch.object(reader, name, wraps=getattr(reader, name)) as convert:
        found = read_vectors(path)
    assert np.array_equal(np.stack(list(found.values())), values)
    assert convert.call_count == count
