"""The biaffine graph parser (Dozat and Manning 2017) as a reference for the tagger: the same encoder, another decoder.

Features, vocabulary, encoder, dropout, batches, schedule and the choice of the best epoch are as in `biplanar train`.
In place of labels, every word gets a score for every possible head; the best tree with one root is found by a maximum
spanning tree, and then a relation for each word and its head. It learns the same output columns as the tagger.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from biplanar.data.arrays import Int64s
from biplanar.data.conllu import Sentence
from biplanar.data.forest import Column, Forest
from biplanar.decoding.inventory import is_root_like
from biplanar.decoding.spanning import spanning_tree
from biplanar.tagger.config import ConfigError
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.features import Batch, Corpus, batches_by_words
from biplanar.tagger.tensors import TensorBatch
from biplanar.tagger.training import DEV_BATCH_WORDS, Gold, Trainer


class BiaffineTrainer(Trainer):
    """The tagger's training with another loss and another decoder. Of its label layers only the columns' are used."""

    def losses(self, forms: Tensor, batch: TensorBatch, gold: Gold) -> tuple[Tensor, Tensor]:
        """Of arcs and relations, and of the columns."""
        words = self.network.encoder(forms, batch)  # (all words, width)
        arcs = self._arc_scores(batch.padded(words), batch)
        relations = self.relation_loss(words, batch, gold)
        return relations + self.arc_loss(arcs, batch, gold), self.column_loss(forms, words, batch, gold)

    def _arc_scores(self, hidden: Tensor, batch: TensorBatch) -> Tensor:
        """How good each word is as the head of each other: (sentences, words, 1 + words)."""
        scorer = self.network.arcs or self.auxiliary.arcs
        if scorer is None or not self.config.auxiliary.relations:
            raise ConfigError("auxiliary.arcs, auxiliary.relations: must be above 0")
        scores: Tensor = scorer(hidden, batch.mask)
        return scores

    def evaluate(self) -> tuple[float, float]:
        """UAS and exact LAS on the dev file, in percent."""
        system = self.parse(self.dev_corpus)
        heads = system.heads == self.dev.heads
        relations = np.array(system.deprels.labels()) == np.array(self.dev.deprels.labels())
        return 100 * float(heads.mean()), 100 * float((heads & relations).mean())

    def parse(self, corpus: Corpus) -> Forest:
        """The best trees of all sentences, in their order."""
        self.network.eval()
        self.auxiliary.eval()
        arcs = np.zeros((int(corpus.lengths.sum()), 2), dtype=np.int32)  # heads and relations
        forms = TorchTagger(self.network, self.vocabulary, self.device).represent(corpus.forms)
        for chosen in batches_by_words(corpus.lengths, DEV_BATCH_WORDS, np.argsort(corpus.lengths, kind="stable")):
            arcs[corpus.places(chosen)] = self._parse_batch(forms, corpus.batch(chosen))
        return Forest(corpus.offsets, arcs[:, 0].copy(), Column(arcs[:, 1].copy(), self.vocabulary.tasks["deprel"]))

    def parse_sentences(self, sentences: list[Sentence]) -> list[Sentence]:
        """The sentences with the trees that are found."""
        trees = self.parse(Corpus.of(sentence.forms for sentence in sentences)).trees()
        return [sentence.with_tree(tree) for sentence, tree in zip(sentences, trees, strict=True)]

    @torch.no_grad()
    def _parse_batch(self, forms: Tensor, features: Batch) -> Int64s:
        """Heads and relations: (all words, 2)."""
        batch = TensorBatch(features, self.device)
        hidden = batch.padded(self.network.encoder(forms, batch))  # (sentences, words, width)
        scores = self._arc_scores(hidden, batch).cpu().numpy()
        heads = np.zeros(features.words.shape, dtype=np.int64)  # (sentences, words)
        for row, length in enumerate(features.lengths):
            heads[row, :length] = spanning_tree(scores[row, :length, : length + 1])
        found = torch.from_numpy(heads).to(self.device)
        relations = self._best_relations(self.auxiliary.relation_scores(hidden, found), found)
        return np.stack([heads[features.mask], batch.only_words(relations).cpu().numpy()], axis=1)

    def _best_relations(self, scores: Tensor, heads: Tensor) -> Tensor:
        """The best relation of each word that suits its head, where there are such: only roots have a root's."""
        names = self.vocabulary.tasks["deprel"]
        of_roots = torch.tensor([is_root_like(name) for name in names], device=self.device)
        suits = of_roots == (heads == 0)[..., None]  # (sentences, words, relations)
        suits |= ~suits.any(dim=-1, keepdim=True)
        return scores.masked_fill(~suits, -torch.inf).argmax(dim=-1)
