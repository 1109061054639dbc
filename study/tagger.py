"""The tagger, judged with each of its decoders, and without the parts of its recipe that only decoding uses.

    python -m study.tagger --train T.conllu --dev D.conllu --test E.conllu --seed 1 --device cuda -o result.json

Settings as in `biplanar train`. One training gives rows for `greedy`, `search` and `minimum-risk`, and for `search`
without the predicted depths and with relations that do not know the head, so that those parts' gains are seen on the
same network. The weight of the depths stands in a row's name. Words are the gold ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biplanar.data.arrays import Float32s, Int64s
from biplanar.data.conllu import Sentence
from biplanar.data.forest import Column, Forest
from biplanar.decoding.scores import DEPTH_WEIGHT
from biplanar.encodings.brackets import DEPTH_TASK
from biplanar.tagger.config import read_config
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.features import Batch, Corpus
from biplanar.tagger.predict import Scores, TreeDecoder, parse_corpus
from biplanar.tagger.training import DEV_BATCH_WORDS, Trainer
from study.common import command, split_settings, write_json
from study.experiment import check_output, read_arguments, run

# A row's name, its decoder, the tables of scores that it does without, and the weight of the depths.
ROWS = (
    ("greedy", "greedy", (), 0.0),
    ("greedy, relations of words", "greedy", ("relation.",), 0.0),
    *((f"search, depths {weight:g}", "search", (), weight) for weight in (1.0, 0.5, 0.25)),
    ("search, no depths", "search", (DEPTH_TASK,), 0.0),
    (f"search, depths {DEPTH_WEIGHT:g}, relations of words", "search", ("relation.",), DEPTH_WEIGHT),
    (f"minimum-risk, depths {DEPTH_WEIGHT:g}", "minimum-risk", (), DEPTH_WEIGHT),
)


@dataclass(frozen=True)
class Without:
    """A scorer without some of its tables."""

    scorer: TorchTagger
    prefixes: tuple[str, ...]

    def represent(self, forms: Sequence[str]) -> Any:
        """As they are."""
        return self.scorer.represent(forms)

    def score(self, forms: Any, batch: Batch) -> Scores:
        """The tables whose names do not start so."""
        tables = self.scorer.score(forms, batch)
        return {name: table for name, table in tables.items() if not name.startswith(self.prefixes)}

    def relate(self, dependents: Float32s, heads: Float32s, governors: Int64s) -> Float32s:
        """Scores of relations, given each word's head."""
        return self.scorer.relate(dependents, heads, governors)


def parse(trainer: Trainer, sentences: list[Sentence]) -> Mapping[str, list[Sentence]]:
    """The sentences as each row's decoder parses them."""
    names = trainer.vocabulary.tasks
    corpus = Corpus.of(sentence.forms for sentence in sentences)
    given = Forest.from_sentences(sentences)
    result = {}
    for row, decoder, prefixes, depth_weight in ROWS:
        scorer = Without(TorchTagger(trainer.network, trainer.vocabulary, trainer.device), prefixes)
        how = TreeDecoder(trainer.encoding, names, decoder, depth_weight=depth_weight)
        found = parse_corpus(scorer, corpus, how, DEV_BATCH_WORDS, given.upos)
        trees = Forest(given.offsets, found.heads, Column(found.relations, names["deprel"])).trees()
        result[row] = [sentence.with_tree(tree) for sentence, tree in zip(sentences, trees, strict=True)]
    return result


def main(arguments: Sequence[str]) -> None:
    """Train and score once, and write the result."""
    others, settings = split_settings(arguments)
    given = read_arguments(others, "Train and score the tagger.")
    check_output(given.output)
    write_json(run(given, read_config(given.config, settings), Trainer, parse), given.output)


if __name__ == "__main__":
    command(main, "tagger")
