"""The tagger, judged with each of its decoders, and without the parts of its recipe that only decoding uses.

    python -m study.tagger --train T.conllu --dev D.conllu --test E.conllu --seed 1 --device cuda -o result.json

Settings as in `biplanar train`. One training gives rows for `greedy`, `search` and `minimum-risk`, and for `search`
without the predicted depths and with relations that do not know the head, so that those parts' gains are seen on the
same network. The weight of the depths stands in a row's name. Words are the gold ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from biplanar.data.conllu import Sentence
from biplanar.data.forest import Column, Forest
from biplanar.decoding.beam import Beam
from biplanar.decoding.decoders import get_decoder
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.scores import Scores
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.encodings.stacks import DEPTH_TASK
from biplanar.tagger.config import read_config
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.features import Batch, Corpus
from biplanar.tagger.predict import parse_corpus
from biplanar.tagger.training import DEV_BATCH_WORDS, Trainer
from study.common import command, split_settings, write_json
from study.experiment import check_output, read_arguments, run


@dataclass(frozen=True)
class Row:
    """One way to decode, and what of the scores it does without."""

    name: str
    decoder: str
    depth_weight: float = 0.0
    depths: bool = True
    relations_of_heads: bool = True

    def without(self, scores: Scores) -> Scores:
        """The scores that this row may see."""
        kept = scores if self.relations_of_heads else replace(scores, given_governors=None)
        if self.depths:
            return kept
        return replace(
            kept, labels={name: kept.labels[name] for name in kept.labels if not name.startswith(DEPTH_TASK)}
        )


ROWS = (
    Row("greedy", "greedy"),
    Row("greedy, relations of words", "greedy", relations_of_heads=False),
    *(Row(f"search, depths {weight:g}", "search", weight) for weight in (1.0, 0.5, 0.25)),
    Row("search, no depths", "search", depths=False),
    Row(
        f"search, depths {Beam.depth_weight:g}, relations of words",
        "search",
        Beam.depth_weight,
        relations_of_heads=False,
    ),
    Row(f"minimum-risk, depths {Beam.depth_weight:g}", "minimum-risk", Beam.depth_weight),
)


@dataclass(frozen=True)
class RowScorer:
    """A tagger that gives what a row may see."""

    tagger: TorchTagger
    row: Row

    @property
    def decoding_threads(self) -> int:
        """As the tagger's."""
        return self.tagger.decoding_threads

    def represent(self, forms: Sequence[str]) -> Any:
        """As they are."""
        return self.tagger.represent(forms)

    def score(self, forms: Any, batch: Batch) -> Scores:
        """Without what the row does without."""
        return self.row.without(self.tagger.score(forms, batch))


def parse(trainer: Trainer, sentences: list[Sentence]) -> Mapping[str, list[Sentence]]:
    """The sentences as each row's decoder parses them."""
    inventory = LabelInventory(trainer.encoding, trainer.vocabulary.tasks)
    tagger = TorchTagger(trainer.kept, trainer.vocabulary, trainer.device)
    corpus = Corpus.of(sentence.forms for sentence in sentences)
    given = Forest.from_sentences(sentences)
    result = {}
    for row in ROWS:
        how = TreeDecoder(inventory, get_decoder(row.decoder), Beam(depth_weight=row.depth_weight))
        found = parse_corpus(RowScorer(tagger, row), corpus, how, DEV_BATCH_WORDS, given.upos)
        trees = Forest(given.offsets, found.heads, Column(found.relations, inventory.deprels)).trees()
        result[row.name] = [sentence.with_tree(tree) for sentence, tree in zip(sentences, trees, strict=True)]
    return result


def main(arguments: Sequence[str]) -> None:
    """Train and score once, and write the result."""
    others, settings = split_settings(arguments)
    given = read_arguments(others, "Train and score the tagger.")
    check_output(given.output)
    write_json(run(given, read_config(given.config, settings), Trainer, parse), given.output)


if __name__ == "__main__":
    command(main, "tagger")
