from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar import Sentence, Word, parse_conllu
from biplanar.data.tree import Tree
from biplanar.errors import BiplanarError, FormatError
from tests.strategies import random_heads

TEXT = """\
# sent_id = s1
# text = She can't  sing.
1\tShe\tshe\tPRON\tPRP\tCase=Nom|Number=Sing\t4\tnsubj\t_\tHeadProb=0.925
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\s\\s
2\tca\tcan\tAUX\tMD\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tsing\tsing\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\tSpaceAfter=No

"""


@pytest.fixture
def sentence() -> Sentence:
    return parse_conllu(TEXT)[0]


class TestWord:
    def test_it_is_a_tuple_of_its_columns(self, sentence):
        word = sentence.words[0]
        assert (word.id, word.form, word.text, word.head) == (1, "She", "She", 4)
        assert word._asdict()["deprel"] == "nsubj"
        assert word == Word(1, "She", "she", "PRON", "PRP", "Case=Nom|Number=Sing", 4, "nsubj", "_", "HeadProb=0.925")

    def test_its_features(self, sentence):
        assert sentence[0].features == {"Case": "Nom", "Number": "Sing"}
        assert sentence[1].features == {}

    def test_its_relatives(self, sentence):
        assert sentence[0].parent == sentence[3]
        assert sentence[3].parent is None
        assert [word.form for word in sentence[3].children] == ["She", "ca", "n't", "."]
        assert sentence[0].children == []
        assert sentence[3].subtree == sentence.words
        for word in sentence:
            assert word.lefts + word.rights == word.children
            assert all(left.id < word.id for left in word.lefts)
            assert word.ancestors == ([word.parent, *word.parent.ancestors] if word.parent else [])
        assert sentence[2].token.form == "can't"
        assert sentence[2].sentence is sentence

    def test_the_probability_of_its_head(self, sentence):
        assert sentence[0].head_probability == 0.925
        assert sentence[0].to_dict()["head_probability"] == 0.925
        assert sentence[1].head_probability is None
        assert "head_probability" not in sentence[1].to_dict()

    def test_its_place_in_the_text(self, sentence):
        places = [(word.start_char, word.end_char) for word in sentence]
        assert places == [(0, 3), (4, 9), (4, 9), (11, 15), (15, 16)]
        assert [(word.start_char, word.end_char) for word in sentence.with_offset(100)][:2] == [(100, 103), (104, 109)]

    @pytest.mark.parametrize("misc", ["TokenRange=7:9|X=1", "start_char=7|end_char=9"])
    def test_a_place_that_misc_tells(self, misc):
        (one,) = parse_conllu(f"1\tHi\t_\t_\t_\t_\t_\t_\t_\t{misc}\n\n")
        assert (one[0].start_char, one[0].end_char) == (7, 9)
        assert (one.start_char, one.end_char) == (7, 9)

    def test_a_word_by_itself(self):
        word = Word(1, "a", "_", "_", "_", "_", None, "_", "_", "_")
        with pytest.raises(BiplanarError, match="of no sentence"):
            _ = word.children

    def test_it_is_frozen(self, sentence):
        with pytest.raises(AttributeError, match="are immutable"):
            sentence[0].note = "x"
        with pytest.raises(AttributeError):
            sentence[0].form = "x"

    def test_copies_are_of_the_same_sentence(self, sentence):
        assert copy.copy(sentence[0]).parent == sentence[3]
        assert pickle.loads(pickle.dumps(sentence[0])).parent == sentence[3]

    def test_repr(self, sentence):
        assert repr(sentence[0]) == "<Word 1 'She' PRON nsubj of 4>"
        assert repr(Sentence.from_words(["a"])[0]) == "<Word 1 'a' _>"

    def test_no_tree(self):
        sentence = Sentence.from_words(["a", "b"])
        assert sentence[0].parent is None
        with pytest.raises(FormatError, match="expected a whole number as HEAD"):
            _ = sentence[0].children


@given(st.integers(1, 12), st.randoms(use_true_random=False))
def test_subtrees_are_what_heads_lead_to(size, random):
    heads = random_heads(size, random)
    sentence = Sentence.from_words(["a"] * size, Tree(heads, ("x",) * size))
    for word in sentence:
        below = {word.id}
        for _ in range(size):
            below |= {one for one, head in enumerate(heads, 1) if head in below}
        assert [one.id for one in word.subtree] == sorted(below)
        assert [one.id for one in word.children] == [one for one, head in enumerate(heads, 1) if head == word.id]


class TestToken:
    def test_its_words(self, sentence):
        assert [token.id for token in sentence.tokens] == [(1,), (2, 3), (4,), (5,)]
        assert [word.form for word in sentence.tokens[1].words] == ["ca", "n't"]
        assert sentence.tokens[1].text == "can't"
        assert repr(sentence.tokens[1]) == '<Token 2-3 "can\'t">'

    def test_its_place_in_the_text(self, sentence):
        assert [(token.start_char, token.end_char) for token in sentence.tokens] == [(0, 3), (4, 9), (11, 15), (15, 16)]
        assert sentence.tokens[1].spaced == ("", "can't", "  ")
