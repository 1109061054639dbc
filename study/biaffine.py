"""The biaffine graph parser (Dozat and Manning 2017) as a reference for the tagger: the same encoder, another decoder.

    python -m study.biaffine --train T.conllu --dev D.conllu --test E.conllu --seed 1 --device cuda -o result.json

Features, vocabulary, encoder, dropout, batches, schedule and the choice of the best epoch are as in `biplanar train`,
and any setting can be changed in the same way (--training.epochs 50, --network.hidden 200). In place of labels, every
word gets a score for every possible head; the best tree with one root is found by a maximum spanning tree, and then a
relation for each word and its head. It learns the same output columns as the tagger. Words are the gold ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from biplanar.data.arrays import Int64s
from biplanar.data.conllu import Sentence
from biplanar.data.forest import Column, Forest
from biplanar.decoding import is_root_like
from biplanar.decoding.spanning import spanning_tree
from biplanar.tagger.config import Config, ConfigError, read_config
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.features import Batch, Corpus, batches_by_words
from biplanar.tagger.tensors import TensorBatch
from biplanar.tagger.training import DEV_BATCH_WORDS, Gold, Trainer
from study.common import command, split_settings, write_json
from study.experiment import check_output, read_arguments, run

# What only the tagger has is off, and arcs and relations count alike.
REFERENCE = {
    "network.arcs": "false",
    "network.attention": "false",
    "network.depths": "false",
    "network.relation_hidden": "none",
    "auxiliary.arcs": "1.0",
    "auxiliary.relations": "1.0",
}


class BiaffineTrainer(Trainer):
    """The tagger's training with another loss and another decoder. Of its label layers only the columns' are used."""

    def _losses(self, forms: Tensor, batch: TensorBatch, gold: Gold) -> tuple[Tensor, Tensor]:
        words = self.network.encoder(forms, batch)  # (all words, width)
        arcs = self._arc_scores(batch.padded(words), batch)
        relations = self.auxiliary.relation_loss(words, batch, gold.heads, gold.targets["deprel"])
        return relations + self._arc_loss(arcs, batch, gold), self._column_loss(forms, words, batch, gold)

    def _arc_scores(self, hidden: Tensor, batch: TensorBatch) -> Tensor:
        """How good each word is as the head of each other: (sentences, words, 1 + words)."""
        scorer = self.network.arcs or self.auxiliary.arcs
        if scorer is None or not self.config.auxiliary.relations:
            raise ConfigError("auxiliary.arcs, auxiliary.relations: expected weights above 0, found 0")
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


def parse(trainer: BiaffineTrainer, sentences: list[Sentence]) -> Mapping[str, list[Sentence]]:
    """The sentences with the trees that are found."""
    corpus = Corpus.of(sentence.forms for sentence in sentences)
    trees = trainer.parse(corpus).trees()
    return {"biaffine": [sentence.with_tree(tree) for sentence, tree in zip(sentences, trees, strict=True)]}


def reference_config(source: str | None, settings: dict[str, str]) -> Config:
    """A configuration of the tagger without what only the tagger has; own settings go last."""
    config = read_config(source, REFERENCE | settings)
    if config.vocabulary.vectors:
        raise ConfigError("vocabulary.vectors: the reference does without; expected none")
    return config


def main(arguments: Sequence[str]) -> None:
    """Train and score once, and write the result."""
    others, settings = split_settings(arguments)
    given = read_arguments(others, "Train and score the biaffine reference.")
    check_output(given.output)
    config = reference_config(given.config, settings)
    write_json(run(given, config, BiaffineTrainer, parse), given.output)


if __name__ == "__main__":
    command(main, "biaffine")
