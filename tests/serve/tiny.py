"""Models that are trained in a few seconds, with output columns and without."""

from __future__ import annotations

from pathlib import Path

import biplanar
from biplanar import Graph
from biplanar.data.conllu import FEATS, XPOS, Sentence, read_conllu
from biplanar.data.graph import EnhancedHead
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.train import Data, train_model
from biplanar.tagger.config import Config
from biplanar.tokenizer.udpipe import train_udpipe
from tests.paths import TINY

ALL_COLUMNS = "upos, xpos, feats, lemma, deps"
FEATURES = {"NOUN": "Number=Sing", "VERB": "Mood=Ind|VerbForm=Fin", "PRON": "PronType=Prs"}
NETWORK = {
    "word_dim": 16,
    "char_dim": 8,
    "char_hidden": 16,
    "hidden": 48,
    "layers": 1,
    "arc_dim": 16,
    "attention": False,
    "output_hidden": None,
}
TRAINING = {"epochs": 30, "batch_words": 60, "learning_rate": 0.01}


def tagged_sentences() -> list[Sentence]:
    """Those of the tiny treebank, with XPOS, FEATS and graphs as well."""
    return [
        sentence.with_graph(_graph(sentence)).with_columns(
            {
                XPOS: [tag[:2].lower() for tag in sentence.upos],
                FEATS: [FEATURES.get(tag, "_") for tag in sentence.upos],
            }
        )
        for sentence in read_conllu(TINY)
    ]


def _graph(sentence: Sentence) -> Graph:
    """The tree, and an arc from the root to the last word."""
    *heads, last = Graph.from_tree(sentence.tree).heads
    return Graph((*heads, last if sentence.heads[-1] == 0 else (*last, EnhancedHead(0, "root"))))


def train_tiny(folder: Path, *, columns: str, encoding: str = "2p-full", udpipe_tagger: bool = False) -> Path:
    """A model that knows these sentences, with the tokenizer of the one that ships inside, or UDPipe's tagger too."""
    sentences = tagged_sentences()
    treebank = folder.parent / f"{folder.name}.conllu"
    treebank.write_text("".join(sentence.raw for sentence in sentences), encoding="utf-8")
    config = Config.from_dict(
        {
            "encoding": encoding,
            "network": {**NETWORK, "columns": columns, "dropout": 0.0, "word_dropout": 0.0},
            "vocabulary": {"min_form_count": 1, "min_char_count": 1},
            "auxiliary": {"relation_dim": 8},
            "training": {**TRAINING, "evaluations": 1},
            "segmenter": {"kind": "none"},
        }
    )
    model = ModelFolder(folder)
    for _ in train_model(Data([str(treebank)], str(treebank)), config, model, device="cpu"):
        pass
    if not udpipe_tagger:
        model.segmenter.path.symlink_to(biplanar.load().folder.segmenter.path)
        return folder
    train_udpipe(sentences, None, model.udpipe, epochs=1, tagger=True)
    return folder
