"""Train a parser on your own treebank, and parse with it: the Python side of `biplanar train` and `biplanar parse`.

    python examples/train_and_parse.py [TRAIN.conllu DEV.conllu] [--output FOLDER] [--epochs N]

Without files it learns the twenty hand-written sentences of tiny.conllu by heart, which takes some seconds.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import biplanar
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.train import Data, train_model
from biplanar.tagger.config import Config
from biplanar.tagger.training import Record

TINY = str(Path(__file__).with_name("tiny.conllu"))

# A network of this size suits twenty sentences; leave these settings out for a real treebank.
SMALL = {
    "network": {
        "hidden": 48,
        "layers": 1,
        "output_hidden": None,
        "char_hidden": 16,
        "arc_dim": 16,
        "dropout": 0.0,
        "word_dropout": 0.0,
    },
    "auxiliary": {"relation_dim": 8},
    "training": {"batch_words": 60, "learning_rate": 0.01, "evaluations": 5},
    "segmenter": {"hidden": 32, "layers": 1, "updates": 80, "batch_units": 200},
    "vocabulary": {"min_form_count": 1, "min_char_count": 1},
}


def main() -> None:
    """Train, then parse a text that the parser has not seen."""
    arguments = argparse.ArgumentParser(description="Train a parser and parse with it.")
    arguments.add_argument("files", nargs="*", default=[TINY, TINY], metavar="FILE")
    arguments.add_argument("--output", default=None)
    arguments.add_argument("--epochs", type=int, default=0)
    given = arguments.parse_args()
    train, dev = given.files
    settings = SMALL if train == TINY else {"training": {}}
    settings["training"]["epochs"] = given.epochs or (50 if train == TINY else "auto")
    folder = ModelFolder(Path(given.output or tempfile.mkdtemp()) / "model")

    # Training is a stream of events: print them, plot them, or stop whenever you like. Those after each batch are many.
    for event in train_model(Data([train], dev), Config.from_dict(settings), folder):
        if isinstance(event, Record):
            print(f"epoch {event.epoch}: dev UAS {event.uas:.2f}, LAS {event.las:.2f}")

    parser = biplanar.load(folder.path)
    for sentence in parser("The dog sleeps on the stove. She saw a cat yesterday that was hungry."):
        for word in sentence.words:
            print(word.id, word.form, word.head, word.deprel, sep="\t")
        print()


if __name__ == "__main__":
    main()
