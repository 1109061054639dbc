"""Abbreviations, web addresses, hashtags and emoticons stay whole."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.conllu import Sentence
from biplanar.data.raw_text import original_text
from biplanar.errors import FileError
from biplanar.tokenizer.udpipe import UDPipeSegmenter
from biplanar.tokenizer.whole_tokens import PATTERNS, WholeTokens
from tests.tokenizer.treebank import rows, sentence_of

WHOLE = WholeTokens(("Dr.", "Sr."), ("jan.",), tuple(PATTERNS))


def sentences(*lines: str) -> list[Sentence]:
    return [sentence_of(line, number) for number, line in enumerate(lines, 1)]


class TestLearning:
    def test_abbreviations_inside_sentences(self):
        learned = WholeTokens.learn(
            sentences(
                *["O/X Sr./X Costa/X vive/X ^./X"] * 2,
                *["Em/X jan./X de/X 2004/X ^./X"] * 2,
                *["Só/X uma/X vez/X Dra./X Ana/X ^./X"],
                *["Pão/X etc./X e/X queijo/X ^./X", "Pão/X e/X queijo/X etc./X"] * 3,
                *["O/X J./X Costa/X ^./X"] * 2,
                *["Moro/X no/X séc./X passado/X", "Que/X séc/X ^./X"] * 3,
            )
        )
        assert (learned.titles, learned.abbreviations) == (("Sr.",), ("jan.",))

    def test_kinds_of_tokens_unless_the_treebank_cuts_them(self):
        assert WholeTokens.learn(sentences("Chove/X ^./X")).patterns == ("url", "hashtag", "name")
        learned = WholeTokens.learn(
            sentences("Olá/X @/X ^ana/X :)/X ^./X", "Vê/X www.a.pt/X #sol/X", "#/X ^mar/X #/X ^rio/X")
        )
        assert learned.patterns == ("url", "emoticon")

    def test_saving_and_loading(self, tmp_path):
        path = tmp_path / "tokenizer.json"
        assert WholeTokens.load(path) == WholeTokens()
        path.write_text(WHOLE.to_json())
        assert WholeTokens.load(path) == WHOLE

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{", "truncated or corrupt"),
            ("[]", "truncated or corrupt"),
            ('{"titles": []}', "truncated or corrupt"),
            ('{"titles": [], "abbreviations": [], "patterns": ["smile"]}', "unknown patterns: smile"),
        ],
    )
    def test_a_damaged_file(self, tmp_path, content, message):
        (tmp_path / "tokenizer.json").write_text(content)
        with pytest.raises(FileError, match=message):
            WholeTokens.load(tmp_path / "tokenizer.json")


class TestMasking:
    @pytest.mark.parametrize(
        ("text", "masked"),
        [
            ("O Dr. Costa", "O Drr Costa"),
            ('("Dr. Costa")', '("Drr Costa")'),
            ("O Dr.\nCosta", "O Drr\nCosta"),
            ("O xDr. Costa", "O xDr. Costa"),
            ("O Dr.", "O Dr."),
            ("Em jan. de 2004", "Em jann de 2004"),
            ("Em jan. Depois", "Em jan. Depois"),
            ("(https://a.pt/~b?c=1#d), e www.a.pt.", "(https://a.pt/xbxcx1xd), e www.a.pt."),
            ("Olá #sol_e_mar, #1 e a#b", "Olá xxxxxxxxxx, #1 e a#b"),
            ("Olá @ana_b! a@b.pt", "Olá xxxxxx! a@b.pt"),
            ("Olá ;( :-D, a:) :)x (: <3", "Olá :) :PP, a:) :)x :) :)"),
        ],
    )
    def test_what_is_masked(self, text, masked):
        assert WHOLE.mask(text) == masked
        assert WholeTokens().mask(text) == text

    @given(st.text(st.sampled_from("Dr. jan#@:;)-/w'\n\xe9")))
    def test_a_masked_text_is_as_long_and_has_the_same_spaces(self, text):
        masked = WHOLE.mask(text)
        assert [sign.isspace() for sign in masked] == [sign.isspace() for sign in text]

    @given(
        st.lists(st.sampled_from(["O Dr. Costa", "#sol", ":-)", " ", "\n\n", "dorme.", "na", "\u2028", "www.a.pt/#b"]))
    )
    def test_the_text_is_kept(self, udpipe_segmenter, parts):
        text = "".join(parts)
        masking = UDPipeSegmenter(udpipe_segmenter._model, WHOLE)
        assert original_text(masking.segment(text)) == (text if text.strip() else "")
        assert "".join(
            token.form for sentence in masking.segment(text, normalized_spaces=True) for token in sentence.tokens
        ) == "".join(text.split())

    def test_sentences_have_their_own_words_again(self, udpipe_segmenter):
        [sentence] = UDPipeSegmenter(udpipe_segmenter._model, WHOLE).segment("O Dr. Costa dorme na rua.\n")
        assert sentence.comment("text") == "O Dr. Costa dorme na rua."
        assert rows([sentence])[0][:5] == ["1\tO\t_", "2\tDr.\t_", "3\tCosta\t_", "4\tdorme\t_", "5-6\tna\t_"]

    def test_a_masked_word_is_no_multiword_token(self, udpipe_segmenter):
        masking = UDPipeSegmenter(udpipe_segmenter._model, WHOLE)
        found = [[(0, 3, "xxx", ["x", "xx"]), (4, 6, "na", ["em", "a"])]]
        with mock.patch.object(masking, "_sentences", return_value=found):
            assert masking.cut(["#da na\n"]).words == {1: ["em", "a"]}
