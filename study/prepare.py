"""Train UDPipe's tokenizer and tagger on each treebank, and write what the runs read.

    python -m study.prepare DATA [TREEBANK ...] --treebanks ../shared

DATA gets a folder for each treebank:

    train.conllu.xz, dev..., test...    the treebank
    dev.tagged.conllu.xz, test...       the same words and trees with the tags that UDPipe predicts
    dev.raw.conllu.xz, test...          the raw text, cut into sentences and words and tagged by UDPipe
    tokenizer.udpipe, tagger.udpipe     UDPipe's models
    facts.json                          how good they are, and the sizes and statistics of the treebank

What is there is not made again. The tokenizer is trained as `biplanar train` does it. The tagger learns UPOS alone, in
five iterations.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ufal import udpipe

from biplanar.data.conllu import Sentence, read_conllu, write_conllu
from biplanar.data.forest import Forest
from biplanar.data.raw_text import raw_text
from biplanar.data.tree import Tree
from biplanar.errors import BiplanarError
from biplanar.evaluation import evaluate
from biplanar.evaluation.statistics import Treebank as Trees
from biplanar.evaluation.statistics import treebank_statistics
from biplanar.tokenizer.segmenter import Segmenter
from biplanar.tokenizer.udpipe import UDPipeSegmenter, train_udpipe
from study.common import command, pack, write_json
from study.treebanks import BY_CODE, SPLITS, Treebank

# One model that learns UPOS and nothing else.
TAGGER = {
    "models": 1,
    "iterations": 5,
    **{f"{what}_{column}": 0 for what in ("use", "provide") for column in ("lemma", "xpostag", "feats")},
}


def train_tagger(train: Iterable[Sentence], path: Path) -> None:
    """UDPipe's tagger for UPOS."""
    sentences, error = udpipe.Sentences(), udpipe.ProcessingError()
    for sentence in train:
        sentences.append(_with_tags(sentence))
    options = ";".join(f"{name}={value}" for name, value in TAGGER.items())
    model = udpipe.Trainer.train("morphodita_parsito", sentences, udpipe.Sentences(), "none", options, "none", error)
    if error.occurred():
        raise BiplanarError(f"UDPipe's tagger cannot be trained: {error.message}")
    path.write_bytes(model)


def _with_tags(sentence: Sentence) -> Any:
    result = udpipe.Sentence()
    for form, tag in zip(sentence.forms, sentence.upos, strict=True):
        result.addWord(form).upostag = tag
    return result


def prepare(treebank: Treebank, root: Path, data: Path) -> None:
    """All files of one treebank."""
    folder, start = data / treebank.code, time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    gold = {split: list(read_conllu(treebank.file(split, root))) for split in SPLITS}
    tagger, tokenizer = folder / "tagger.udpipe", folder / "tokenizer.udpipe"
    if not tagger.exists():
        train_tagger(gold["train"], tagger)
    if not tokenizer.exists():
        train_udpipe(gold["train"], gold["dev"], tokenizer)
    if not (folder / "facts.json").exists():
        models = UDPipeSegmenter(udpipe.Model.load(str(tagger))), UDPipeSegmenter.load(tokenizer)
        write_json(write_files(treebank, gold, *models, folder), folder / "facts.json")
    print(f"{treebank.code}: prepared in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


def write_files(
    treebank: Treebank, gold: dict[str, list[Sentence]], tagger: Segmenter, tokenizer: Segmenter, folder: Path
) -> dict[str, Any]:
    """Write the sentences of all splits, and give the facts."""
    facts: dict[str, Any] = {"key": treebank.code, "treebank": treebank.name, "near": treebank.near, "splits": {}}
    trees = Trees(treebank.name, {split: Forest.from_sentences(gold[split]) for split in SPLITS})
    facts["statistics"] = treebank_statistics(trees)
    for split, sentences in gold.items():
        write_conllu(sentences, folder / f"{split}.conllu.xz")
        facts["splits"][split] = {"sentences": len(sentences), "words": sum(map(len, sentences))}
        if split != "train":
            tagged, raw = tagger.tag(sentences), tagger.tag(tokenizer.segment(raw_text(sentences)))
            write_conllu(tagged, folder / f"{split}.tagged.conllu.xz")
            write_conllu(raw, folder / f"{split}.raw.conllu.xz")
            lengths = pack([len(one) for one in sentences])
            facts["splits"][split] |= _quality(sentences, tagged, raw) | {"lengths": lengths}
    return facts


def _quality(gold: list[Sentence], tagged: list[Sentence], raw: list[Sentence]) -> dict[str, Any]:
    """Right tags of gold words, and from raw text sentences, words and tags: right, gold and system counts."""
    pairs = [pair for one, two in zip(gold, tagged, strict=True) for pair in zip(one.upos, two.upos, strict=True)]
    found = evaluate(gold, [_with_any_tree(sentence) for sentence in raw])
    scores = {metric: found[metric] for metric in ("Sentences", "Words", "UPOS")}
    return {
        "tags": [sum(a == b for a, b in pairs), len(pairs)],
        "raw": {metric: [score.correct, score.gold, score.system] for metric, score in scores.items()},
    }


def _with_any_tree(sentence: Sentence) -> Sentence:
    """A sentence that has a tree, as those that are evaluated must."""
    size = len(sentence)
    return sentence.with_tree(Tree((0, *([1] * (size - 1))), ("root", *(["dep"] * (size - 1)))))


def main(arguments: Sequence[str]) -> None:
    """Prepare all treebanks, or some."""
    parser = argparse.ArgumentParser(prog="python -m study.prepare", description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder to write to")
    parser.add_argument("names", nargs="*", default=list(BY_CODE), metavar="TREEBANK")
    parser.add_argument("--treebanks", type=Path, default=Path("../shared"), help="holds ud-2.4 and ud-near-2.4")
    given = parser.parse_args(arguments)
    for name in given.names:
        prepare(BY_CODE[name], given.treebanks, given.data)


if __name__ == "__main__":
    command(main, "prepare")
