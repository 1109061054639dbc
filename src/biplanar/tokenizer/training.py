"""Training UDPipe's tokenizer, and if wanted its tagger, on a treebank."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from subprocess import DEVNULL, PIPE

from ufal import udpipe

from biplanar.data.conllu import Sentence
from biplanar.data.files import writing
from biplanar.data.raw_text import token_text
from biplanar.errors import BiplanarError, FormatError
from biplanar.tokenizer import udpipe_trainer
from biplanar.tokenizer.paragraphs import for_udpipe
from biplanar.tokenizer.placing import NO_SPACE
from biplanar.tokenizer.whole_tokens import WholeTokens, whole_tokens_path

# Longer segments than UDPipe's own 50 characters find the ends of sentences much better; smaller batches and a falling
# learning rate make up for fewer epochs. An epoch is 10,000 segments, whatever the size of the treebank.
TOKENIZER = {
    "dimension": 24,
    "segment_size": 200,
    "batch_size": 10,
    "learning_rate": 0.01,
    "learning_rate_final": 0.001,
    "initialization_range": 0.1,
    "dropout": 0.2,
    "tokenize_url": 1,
}

# Epochs are so many that each character is seen about 60 times, between these bounds. Ten find the ends of sentences
# better than four in all but small treebanks, which are seen often enough in four.
LEAST_EPOCHS, MOST_EPOCHS, CHARACTERS_PER_EPOCH = 4, 10, 33_000


def train_segmenter(
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    path: str | Path,
    *,
    epochs: int | None = None,
    tagger: bool = False,
    seed: int = 0,
) -> None:
    """Train UDPipe's tokenizer, and if wanted its tagger, on a treebank and write them to a file.

    Beside it comes what the tokenizer has to keep whole (`WholeTokens`).

    None: as many epochs as suit the size of the treebank. The one that does best on `dev` is kept, or else the last.
    UDPipe always draws the same random numbers: what `seed` changes is the order in which it meets the sentences.
    """
    shuffled = list(train)
    Random(seed).shuffle(shuffled)
    treebank = {"train": _to_udpipe(shuffled, tagger), "dev": _to_udpipe(dev or [], tagger)}
    options = {**TOKENIZER, "epochs": epochs or epochs_for(train)}
    whole_tokens = WholeTokens.learn(train)
    job = {
        **treebank,
        "tokenizer": ";".join(f"{name}={value}" for name, value in options.items()),
        "tagger": "" if tagger else "none",
    }
    with writing(path) as stream:  # opened first: what cannot be written should not be trained for minutes
        stream.buffer.write(_run_trainer(job))
    with writing(whole_tokens_path(path)) as stream:
        stream.write(whole_tokens.to_json())


def epochs_for(train: Iterable[Sentence]) -> int:
    """How many epochs suit a treebank."""
    characters = sum(len(token_text(sentence)) for sentence in train)
    return max(LEAST_EPOCHS, min(MOST_EPOCHS, round(characters / CHARACTERS_PER_EPOCH)))


def _run_trainer(job: dict[str, str]) -> bytes:
    """UDPipe's model, trained in a process that an interrupt ends; UDPipe's own progress messages are dropped."""
    command = [sys.executable, "-P", udpipe_trainer.__file__]
    done = subprocess.run(command, input=json.dumps(job).encode(), stdout=PIPE, stderr=DEVNULL, check=False)
    if done.returncode == udpipe_trainer.REFUSED:
        raise BiplanarError(f"UDPipe cannot be trained on these sentences: {done.stdout.decode()}")
    if done.returncode:
        raise BiplanarError(f"UDPipe's training ended with exit code {done.returncode}")
    return done.stdout


def _to_udpipe(sentences: Iterable[Sentence], tags: bool) -> str:
    """CoNLL-U that UDPipe can read; an error says which sentence it cannot."""
    reader, error, converted = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError(), udpipe.Sentence()
    blocks = []
    for sentence in sentences:
        blocks.append(for_udpipe("\n".join(_reduced_lines(sentence, tags))))
        reader.setText(blocks[-1])
        if not reader.nextSentence(converted, error):
            raise FormatError(sentence.path, sentence.line, f"UDPipe cannot read this sentence: {error.message}")
    return "".join(f"{block}\n\n" for block in blocks)


def _reduced_lines(sentence: Sentence, tags: bool) -> Iterator[str]:
    """The lines of tokens and words, with no more in them than training looks at."""
    for token in sentence.tokens:
        if token.is_multiword:
            yield _line(f"{token.first}-{token.last}", token.form, ("_",) * 4, token.misc)
        for word in token.words:
            own = (word.lemma, word.upos, word.xpos, word.feats) if tags else ("_",) * 4
            yield _line(str(word.id), word.form, own, word.misc)


def _line(number: str, form: str, tags: Iterable[str], misc: str) -> str:
    return "\t".join([number, form, *tags, "_", "_", "_", NO_SPACE if NO_SPACE in misc.split("|") else "_"])
