"""The trainable tokenizer of UDPipe 1, which the paper uses, and its tagger."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from subprocess import DEVNULL, PIPE
from typing import Any

import numpy as np

from biplanar.data.conllu import FEATS, LEMMA, UPOS, XPOS, Sentence
from biplanar.data.files import read_buffers, writing
from biplanar.data.raw_text import token_text
from biplanar.errors import BiplanarError, FileError, FormatError, needing
from biplanar.tokenizer import udpipe_trainer
from biplanar.tokenizer.labels import Tokens
from biplanar.tokenizer.paragraphs import writable
from biplanar.tokenizer.segmented import NO_SPACE, SegmentedText
from biplanar.tokenizer.segmenter import ENDS, HINT, ONLY, Segmenter
from biplanar.tokenizer.whole_tokens import WholeTokens, whole_tokens_path

with needing("udpipe", "UDPipe's tokenizer"):
    from ufal import udpipe

_MAGIC = b"\x12morphodita_parsito"  # without it, UDPipe may end the whole process
_MORE_SPACES = re.compile("[\v\f\x1c-\x1f\x85\u2028\u2029]")  # which UDPipe takes for parts of words

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


class UDPipeSegmenter(Segmenter):
    """A trained UDPipe model: cuts text into sentences and words, and tags them if it has learnt to."""

    def __init__(self, model: Any, whole_tokens: WholeTokens | None = None) -> None:
        self._model = model
        self._whole_tokens = whole_tokens or WholeTokens()
        probe = udpipe.Sentence()
        probe.addWord("a")
        self.has_tagger = bool(model.tag(probe, "", udpipe.ProcessingError()))

    @classmethod
    def load(cls, path: str | Path) -> UDPipeSegmenter:
        """Read a model that `train_segmenter` or UDPipe 1 has written, and what it keeps whole if that lies beside."""
        begins_well = next(read_buffers(path), b"").startswith(_MAGIC)
        model = udpipe.Model.load(str(path)) if begins_well else None
        if model is None:
            raise FileError(f"{path}: not a UDPipe model, or a damaged one")
        if model.newTokenizer("") is None:
            raise FileError(f"{path}: a UDPipe model without a tokenizer")
        return cls(model, WholeTokens.load(whole_tokens_path(path)))

    def cut(self, paragraphs: Sequence[str], line_breaks: str = HINT) -> SegmentedText:
        """The tokens of some paragraphs, each of which UDPipe sees by itself."""
        tokenizer = self._model.newTokenizer("presegmented;ranges" if line_breaks == ONLY else "ranges")
        spans, closes, words, start = list[tuple[int, int]](), list[bool](), dict[int, list[str]](), 0
        for paragraph in paragraphs:
            for text in paragraph.splitlines(keepends=True) if line_breaks == ENDS else [paragraph]:
                for tokens in self._sentences(tokenizer, text):
                    for first, last, form, parts in tokens:
                        if parts and form == text[first:last]:  # else it was masked
                            words[len(spans)] = parts
                        spans.append((start + first, start + last))
                        closes.append(False)
                    closes[-1] = True
                start += len(text)
        starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        return SegmentedText(paragraphs, Tokens(starts, ends, np.array(closes, dtype=bool)), words)

    def _sentences(self, tokenizer: Any, text: str) -> Iterator[list[tuple[int, int, str, list[str]]]]:
        """The tokens of each sentence: where they start and end, their forms, and the words of multiword tokens."""
        sentence, error = udpipe.Sentence(), udpipe.ProcessingError()
        tokenizer.resetDocument("")
        tokenizer.setText(self._whole_tokens.mask(_MORE_SPACES.sub(" ", text)) + "\n")
        while tokenizer.nextSentence(sentence, error):
            tokens, multiword = list[tuple[int, int, str, list[str]]](), list(sentence.multiwordTokens)
            for word in list(sentence.words)[1:]:
                if multiword and multiword[0].idFirst == word.id:
                    one = multiword[0]
                    tokens.append((one.getTokenRangeStart(), one.getTokenRangeEnd(), one.form, []))
                if multiword and word.id >= multiword[0].idFirst:
                    tokens[-1][-1].append(word.form)
                    multiword = multiword[word.id == multiword[0].idLast :]
                else:
                    tokens.append((word.getTokenRangeStart(), word.getTokenRangeEnd(), word.form, []))
            yield tokens
        if error.occurred():
            raise BiplanarError(f"UDPipe cannot segment a text: {error.message}")

    def tag(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """The same sentences with the lemmas, tags and features that UDPipe's tagger gives them."""
        if not self.has_tagger:
            raise BiplanarError("this UDPipe model has no tagger")
        return [self._tag(sentence) for sentence in sentences]

    def _tag(self, sentence: Sentence) -> Sentence:
        tagged, error = udpipe.Sentence(), udpipe.ProcessingError()
        for form in sentence.forms:
            tagged.addWord(writable(form))
        if not self._model.tag(tagged, "", error):
            raise BiplanarError(f"UDPipe cannot tag a sentence: {error.message}")
        words = list(tagged.words)[1:]
        found = {LEMMA: "lemma", UPOS: "upostag", XPOS: "xpostag", FEATS: "feats"}
        return sentence.with_columns({at: [getattr(word, name) or "_" for word in words] for at, name in found.items()})


def train_udpipe(
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    path: str | Path,
    *,
    epochs: int | None = None,
    tagger: bool = False,
    seed: int = 0,
) -> None:
    """Train UDPipe's tokenizer, and if wanted its tagger, and write them and `WholeTokens` to files side by side.

    By default, as many epochs as suit the size of the treebank. The one that does best on `dev` is kept, or else the
    last. UDPipe always draws the same random numbers: what `seed` changes is the order in which it meets the sentences.
    """
    shuffled = list(train)
    Random(seed).shuffle(shuffled)
    options = {**TOKENIZER, "epochs": epochs or epochs_for(train)}
    whole_tokens = WholeTokens.learn(train)
    job = {
        "train": _to_udpipe(shuffled, tagger),
        "dev": _to_udpipe(dev or [], tagger),
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
        blocks.append(writable("\n".join(_reduced_lines(sentence, tags))))
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
