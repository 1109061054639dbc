from __future__ import annotations

import numpy as np
import torch

from biplanar.tagger.features import Corpus, Spellings, Vocabulary
from biplanar.tagger.tensors import PackedBatch, TensorBatch, TensorSpellings

CPU = torch.device("cpu")
CORPUS = Corpus.of([["a"], ["b", "c", "d"], ["e", "f"], ["g", "h"]], np.array([0, 1, 0, 1]))


def forms(numbers: torch.Tensor) -> list[str]:
    return [CORPUS.forms[number] for number in numbers]


class TestTensorBatch:
    BATCH = TensorBatch(CORPUS.batch(range(4)), CPU)

    def test_words_stand_in_rows_of_sentences(self):
        assert self.BATCH.words.shape == self.BATCH.mask.shape == (4, 3)
        assert self.BATCH.lengths.tolist() == self.BATCH.mask.sum(dim=1).tolist() == [1, 3, 2, 2]
        assert forms(self.BATCH.words[self.BATCH.mask]) == list("abcdefgh")
        assert self.BATCH.treebanks.tolist() == [0, 1, 0, 1]

    def test_without_numbers_all_sentences_are_of_the_first_treebank(self):
        batch = Corpus.of([["a"], ["b"]]).batch([0, 1])
        assert TensorBatch(batch, CPU).treebanks.tolist() == [0, 0]

    def test_places_are_those_of_the_mask(self):
        assert self.BATCH.places.tolist() == self.BATCH.mask.flatten().nonzero().flatten().tolist()

    def test_only_words_leaves_padding_out(self):
        table = torch.arange(24).reshape(4, 3, 2)
        assert self.BATCH.only_words(table).tolist() == table[self.BATCH.mask].tolist()

    def test_padded_puts_zeros_there(self):
        words = torch.randn(8, 5, requires_grad=True)
        padded = self.BATCH.padded(words)
        assert padded.shape == (4, 3, 5)
        assert not padded[~self.BATCH.mask].any()
        assert torch.equal(self.BATCH.only_words(padded), words)
        padded.sum().backward()
        assert (words.grad == 1).all()  # and every word learns

    def test_no_words(self):
        batch = TensorBatch(Corpus.of([[]]).batch([0]), CPU)
        assert batch.padded(torch.zeros(0, 5)).shape == (1, 0, 5)
        assert batch.only_words(torch.zeros(1, 0, 5)).shape == (0, 5)


class TestPackedBatch:
    PACKED = PackedBatch.of(CORPUS.batch(range(4)), CPU)

    def test_it_goes_through_all_sentences_word_by_word(self):
        assert forms(self.PACKED.words) == list("begacfhd")
        assert self.PACKED.sizes.tolist() == [4, 3, 1]
        assert forms(self.PACKED.words[self.PACKED.places]) == list("abcdefgh")
        assert self.PACKED.treebanks.tolist() == [1, 0, 1, 0, 1, 0, 1, 1]

    def test_no_words(self):
        packed = PackedBatch.of(Corpus.of([[]]).batch([0]), CPU)
        assert (len(packed.words), packed.sizes.tolist(), len(packed.places)) == (0, [], 0)

    def test_a_tensor_batch_has_it(self):
        packed = TensorBatch(CORPUS.batch(range(4)), CPU).packed
        for name in ("words", "sizes", "places", "treebanks"):
            assert torch.equal(getattr(packed, name), getattr(self.PACKED, name))


def test_spellings_are_copied() -> None:
    vocabulary = Vocabulary.of([["ab", "b"]], {}, min_form_count=1, min_char_count=1)
    spellings = Spellings.of(["b", "ab", "x"], vocabulary)
    tensors = TensorSpellings.of(spellings, CPU)
    assert tensors.ids.tolist() == spellings.ids.tolist()
    assert tensors.chars.tolist() == spellings.chars.tolist()
    assert tensors.lengths.tolist() == [1, 2, 1]
