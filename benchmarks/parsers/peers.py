"""Train the parsers that Biplanar is compared with on the same treebank, for `python -m benchmarks.parsers`.

    python -m benchmarks.parsers.peers udpipe --train TRAIN --dev DEV -o en.udpipe
    python -m benchmarks.parsers.peers tokenizer --train TRAIN --dev DEV -o en-tokenizer.udpipe
    python -m benchmarks.parsers.peers spacy  --train TRAIN --dev DEV -o FOLDER
    python -m benchmarks.parsers.peers supar  --train TRAIN --dev DEV -o en.supar

None gets pre-trained vectors, and all get the treebank's own words. What else each is trained with stands in its
function. SuPar wants a GPU, and takes it if there is one.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import shutil
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.arguments import ArgumentParser
from benchmarks.parsers.adapters import make_supar_loadable
from benchmarks.texts import write_file
from biplanar.data.conllu import EMPTY, FEATS, UPOS, XPOS, Sentence, read_conllu
from biplanar.errors import BiplanarError, FileError

# What SuPar proposes for its biaffine parser over words and characters.
SUPAR_SETTINGS: dict[str, Any] = {
    "feat": ["char"],
    "encoder": "lstm",
    "embed": None,
    "n_embed": 100,
    "n_char_embed": 50,
    "n_char_hidden": 100,
    "n_feat_embed": 100,
    "embed_dropout": 0.33,
    "n_lstm_hidden": 400,
    "n_lstm_layers": 3,
    "encoder_dropout": 0.33,
    "n_arc_mlp": 500,
    "n_rel_mlp": 100,
    "mlp_dropout": 0.33,
    "lr": 2e-3,
    "mu": 0.9,
    "nu": 0.9,
    "eps": 1e-12,
    "weight_decay": 0.0,
    "decay": 0.75,
    "decay_steps": 5000,
    "batch_size": 5000,
    "buckets": 32,
    "update_steps": 1,
    "clip": 5.0,
    "min_freq": 2,
    "fix_len": 20,
    "epochs": 5000,
    "patience": 100,
    "punct": True,  # UD counts punctuation
    "tree": False,
    "proj": False,
    "partial": False,
    "build": True,
    "checkpoint": False,
}
SEED = 1
FEW = 8  # sentences that SuPar evaluates after each epoch besides dev, as it must have some


class OutOfTimeError(Exception):
    """Training has had its time."""


def train_udpipe(train: Path, dev: Path, output: Path, _: argparse.Namespace) -> None:
    """UDPipe 1's tagger and parser with default options; raw text is cut by a tokenizer of its own."""
    from ufal.udpipe import ProcessingError, Trainer

    error, sentences = ProcessingError(), (udpipe_sentences(train), udpipe_sentences(dev))
    model = Trainer.train("morphodita_parsito", *sentences, "none", "", "", error)
    if error.occurred():
        raise BiplanarError(f"UDPipe: {error.message}")
    output.write_bytes(model)


def train_tokenizer(train: Path, dev: Path, output: Path, _: argparse.Namespace) -> None:
    """UDPipe 1's tokenizer, with the options by which `biplanar train --segmenter.kind udpipe` trains it."""
    from biplanar.tokenizer.udpipe import train_udpipe as train_segmenter

    train_segmenter(list(read_conllu(train)), list(read_conllu(dev)), output)


def udpipe_sentences(path: Path) -> Any:
    """A treebank as UDPipe's training data."""
    from ufal.udpipe import InputFormat, ProcessingError, Sentences
    from ufal.udpipe import Sentence as UdpipeSentence

    reader, error = InputFormat.newConlluInputFormat(), ProcessingError()
    reader.setText("".join(sentence.to_conllu() for sentence in read_conllu(path)))
    sentences, sentence = Sentences(), UdpipeSentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = UdpipeSentence()
    if error.occurred():
        raise BiplanarError(f"{path}: {error.message}")
    return sentences


def train_spacy(train: Path, dev: Path, output: Path, _: argparse.Namespace) -> None:
    """Tagger, morphologizer and parser over one small convolutional network, as `spacy init config` proposes for a CPU.

    It trains sentence by sentence until spaCy's own early stopping, or 20,000 steps, and leaves the best pipeline.
    """
    from spacy.cli.init_config import init_config
    from spacy.cli.train import train as train_config

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_docs(train, folder / "train.spacy")
        _write_docs(dev, folder / "dev.spacy")
        config = init_config(
            lang="en", pipeline=["tagger", "morphologizer", "parser"], optimize="efficiency", silent=True
        )
        config.to_disk(folder / "config.cfg")
        paths = {f"paths.{split}": str(folder / f"{split}.spacy") for split in ("train", "dev")}
        train_config(folder / "config.cfg", folder / "trained", overrides=paths)
        shutil.move(folder / "trained" / "model-best", output)


def _write_docs(path: Path, output: Path) -> None:
    """A treebank as spaCy's training data, one document a sentence, so that words stay as they are."""
    import spacy
    from spacy.tokens import DocBin

    vocab = spacy.blank("en").vocab
    docs = (_spacy_doc(vocab, sentence) for sentence in read_conllu(path))
    DocBin(docs=docs, attrs=["TAG", "POS", "MORPH", "HEAD", "DEP", "SENT_START"]).to_disk(output)


def _spacy_doc(vocab: Any, sentence: Sentence) -> Any:
    """One sentence with its tree; spaCy's roots are their own heads, and their relation is called ROOT."""
    from spacy.tokens import Doc

    tree = sentence.tree
    return Doc(
        vocab,
        words=sentence.forms,
        tags=sentence.column(XPOS),
        pos=sentence.column(UPOS),
        morphs=["" if feats == EMPTY else feats for feats in sentence.column(FEATS)],
        heads=[head - 1 if head else word for word, head in enumerate(tree.heads)],
        deps=[deprel if head else "ROOT" for head, deprel in zip(tree.heads, tree.deprels, strict=True)],
    )


def train_supar(train: Path, dev: Path, output: Path, options: argparse.Namespace) -> None:
    """SuPar's biaffine parser, until its own early stopping or for so long; the best epoch on dev is kept."""
    import torch
    from supar import BiaffineDependencyParser

    make_supar_loadable()
    torch.manual_seed(SEED)
    with tempfile.TemporaryDirectory() as name:
        settings = SUPAR_SETTINGS | _supar_files(train, dev, Path(name)) | {"path": f"{name}/best.supar"}
        parser = BiaffineDependencyParser.build(**settings)
        _stop_after(parser, options.seconds)
        # What was best when time was up has been saved.
        with contextlib.suppress(OutOfTimeError):
            parser.train(**settings)
        if not Path(settings["path"]).exists():
            raise BiplanarError(f"SuPar: no epoch within {options.seconds:.0f} seconds learned anything")
        BiaffineDependencyParser.load(settings["path"]).save(str(output))


def _supar_files(train: Path, dev: Path, folder: Path) -> dict[str, str]:
    """Copies as SuPar reads them, not compressed; the test set, evaluated after each epoch, is a few of dev."""
    right, judged = list(read_conllu(train)), list(read_conllu(dev))
    parts = {"train": right, "dev": judged, "test": judged[:FEW]}
    for part, sentences in parts.items():
        write_file(sentences, folder / f"{part}.conllu")
    return {part: str(folder / f"{part}.conllu") for part in parts}


def _stop_after(parser: Any, seconds: float) -> None:
    """Let no epoch begin that would end later."""
    start, train_epoch = time.monotonic(), parser._train
    begun: list[float] = []

    def train(loader: Any) -> None:
        begun.append(time.monotonic())
        longest = max((late - early for early, late in pairwise(begun)), default=0.0)
        if begun[-1] + longest > start + seconds:
            raise OutOfTimeError
        train_epoch(loader)

    parser._train = train


PEERS: dict[str, Callable[[Path, Path, Path, argparse.Namespace], None]] = {
    "udpipe": train_udpipe,
    "tokenizer": train_tokenizer,
    "spacy": train_spacy,
    "supar": train_supar,
}


def main() -> None:
    """Train one of them."""
    parser = ArgumentParser("benchmarks.parsers.peers", __doc__)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=math.inf, help="SuPar only: train so long at most")
    options = parser.parse_args()
    with parser.reporting():
        if options.output.exists():
            raise FileError(f"{options.output}: exists already")
        PEERS[options.peer](options.train, options.dev, options.output, options)


if __name__ == "__main__":
    main()
