"""Sub-words of forms, and windows of them, compared with what they are by definition."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from biplanar.errors import FileError
from biplanar.tagger.features import Corpus
from biplanar.tagger.subwords import MOST_SUBWORDS, Subwords, Windows
from tests.tagger.pretrained import write_bert, write_roberta


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return write_bert(tmp_path_factory.mktemp("encoders") / "bert")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    return write_roberta(tmp_path_factory.mktemp("encoders") / "roberta")


def with_tokenizer(folder: Path, tokenizer: Tokenizer, to: Path) -> Path:
    """A copy of an encoder with another tokenizer."""
    shutil.copytree(folder, to)
    tokenizer.save(str(to / "tokenizer.json"))
    return to


class TestSubwords:
    def test_word_pieces(self, bert):
        subwords, tokenizer = Subwords(bert), Tokenizer.from_file(str(bert / "tokenizer.json"))
        found = subwords.split(["The", "cat", "...", "cat's"])
        names = [[tokenizer.id_to_token(number) for number in ids] for ids in found]
        assert names == [["the"], ["c", "##a", "##t"], [".", ".", "."], ["c", "##a", "##t", "[UNK]", "s"]]

    def test_special_ones_stand_around_a_window(self, bert, roberta):
        assert (Subwords(bert).prefix, Subwords(bert).suffix) == ([2], [3])
        assert (Subwords(roberta).prefix, Subwords(roberta).suffix) == ([0], [2])

    def test_a_byte_level_tokenizer_sees_the_space_before_a_word(self, roberta):
        subwords, tokenizer = Subwords(roberta), Tokenizer.from_file(str(roberta / "tokenizer.json"))
        assert [tokenizer.id_to_token(number) for number in subwords.split(["to"])[0]] == ["Ġt", "o"]

    @pytest.mark.parametrize("form", ["\u200b", "\ufffd", chr(0xDC80), "\x07", "汉字", "a\u00a0b", "🦜"])
    def test_every_form_has_a_sub_word(self, bert, roberta, form):
        assert all(len(Subwords(folder).split([form])[0]) for folder in (bert, roberta))

    def test_a_form_without_any_is_unknown(self, bert):
        assert Subwords(bert).split(["\u200b"]) == [[1]]

    def test_long_words_are_known_by_their_ends(self, bert):
        subwords = Subwords(bert)
        (ids,) = subwords.split(["a" * 30 + "b" * 30])
        assert ids == subwords.split(["a" * 12])[0] + subwords.split(["a" + "b" * 12])[0][1:]
        assert len(ids) == MOST_SUBWORDS

    def test_what_a_byte_level_tokenizer_deletes_is_unknown(self, roberta, tmp_path):
        tokenizer = Tokenizer.from_file(str(roberta / "tokenizer.json"))
        tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.Replace("x", "")])
        subwords = Subwords(with_tokenizer(roberta, tokenizer, tmp_path / "deleting"))
        assert subwords.split(["x", "axa"]) == [subwords.split(["\ufffd"])[0], subwords.split(["aa"])[0]]

    @pytest.mark.parametrize(
        "model",
        [
            models.BPE({"a": 0}, []),  # which leaves all other characters out
            models.BPE({"a": 0}, [], unk_token="<unk>"),  # these raise errors instead
            models.Unigram([("a", -1.0)], unk_id=None),
            models.WordPiece({"a": 0}, unk_token="[UNK]"),
            models.WordLevel({"a": 0}, unk_token="<unk>"),
        ],
    )
    def test_a_tokenizer_that_loses_characters_is_refused(self, bert, tmp_path, model):
        tokenizer = Tokenizer(model)
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        with pytest.raises(FileError, match=r"tokenizer\.json: this tokenizer loses characters"):
            Subwords(with_tokenizer(bert, tokenizer, tmp_path / "lossy"))

    def test_too_few_positions_are_refused(self, bert, tmp_path):
        shutil.copytree(bert, tmp_path / "short")
        config = json.loads((bert / "config.json").read_text()) | {"max_position_embeddings": 40}
        (tmp_path / "short" / "config.json").write_text(json.dumps(config))
        with pytest.raises(FileError, match="too few positions"):
            Subwords(tmp_path / "short")

    def test_they_can_be_pickled(self, bert):
        subwords = Subwords(bert)
        assert pickle.loads(pickle.dumps(subwords)).split(["cat"]) == subwords.split(["cat"])


WORDS = st.sampled_from(["a", "the", "cat", "sings", "wanderer" * 3, "x" * 60])


class TestWindows:
    @given(st.lists(st.lists(WORDS, max_size=70), min_size=1, max_size=4))
    def test_every_word_is_taken_once_and_whole(self, bert, sentences):
        subwords = Subwords(bert)
        windows = Windows.of(Corpus.of(sentences).batch(range(len(sentences))), subwords)
        words = [form for sentence in sentences for form in sentence]
        assert len(windows.numbers) == len(words)
        assert (windows.lengths <= subwords.longest).all()
        for form, number, first, count in zip(words, windows.numbers, windows.firsts, windows.counts, strict=True):
            start = windows.offsets[number] + first
            assert windows.ids[start : start + count].tolist() == subwords.split([form])[0]
        for start, end in zip(windows.offsets[:-1], windows.offsets[1:], strict=True):
            assert (windows.ids[start], windows.ids[end - 1]) == (2, 3)

    def test_a_short_sentence_is_one_window(self, bert):
        sentences = [["the", "cat"], ["cat"]]
        windows = Windows.of(Corpus.of(sentences).batch([0, 1]), Subwords(bert))
        assert windows.lengths.tolist() == [1 + 4 + 1, 1 + 3 + 1]
        assert windows.numbers.tolist() == [0, 0, 1]

    def test_windows_overlap_and_words_are_taken_from_where_they_have_context(self, bert):
        sentence = ["the"] * 200
        windows = Windows.of(Corpus.of([sentence]).batch([0]), Subwords(bert))
        assert windows.lengths.sum() > 200 + 2 * len(windows.lengths)
        edges = np.minimum(windows.firsts - 1, windows.lengths[windows.numbers] - 2 - windows.firsts)
        assert edges[10:-10].min() >= 9

    def test_cuts_depend_on_the_sentence_alone(self, bert):
        long, subwords = ["the", "cat", "wanderer"] * 40, Subwords(bert)
        alone = Windows.of(Corpus.of([long]).batch([0]), subwords)
        together = Windows.of(Corpus.of([["the"], long]).batch([0, 1]), subwords)
        assert together.ids[together.offsets[1] :].tolist() == alone.ids.tolist()
        assert (together.numbers[1:] - 1).tolist() == alone.numbers.tolist()
