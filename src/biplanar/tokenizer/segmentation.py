"""Raw text to sentences and words, by the trainable tokenizer of UDPipe 1 as in the paper; and words already cut."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from random import Random
from subprocess import DEVNULL, PIPE
from typing import Any

from ufal import udpipe

from biplanar.data.conllu import FORM, HEAD, ID, LEMMA, MISC, Sentence, parse_conllu
from biplanar.data.files import read_lines, writing
from biplanar.errors import BiplanarError, FileError, FormatError
from biplanar.tokenizer import udpipe_trainer

PIECE = 100_000  # characters of text that are looked at together

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

_MAGIC = b"\x12morphodita_parsito"  # without it, UDPipe may end the whole process
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_UP_TO_SPACE = re.compile(r".*\s", re.DOTALL)
_MORE_SPACES = re.compile("[\v\f\x1c-\x1f\x85\u2028\u2029]")  # which UDPipe takes for parts of words
_UNFIT = re.compile("[\0\ud800-\udfff]")  # what UDPipe cannot be given: the end of a C string, halves of signs
_NEW_PARAGRAPH = re.compile(r"#\s*new(?:doc|par)\b")
_SENTENCE_NUMBER = re.compile(r"(?<=^# sent_id = )\d+$", re.MULTILINE)
_SPACES_IN_MISC = re.compile(r"\t(?!SpaceAfter=No$)([^\t\n]*Space[^\t\n]*)$", re.MULTILINE)
_NO_SPACE = "SpaceAfter=No"
_AROUND = "\ufeff\r"  # what may stand around a line of CoNLL-U


# Training


def train_segmenter(
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    path: str | Path,
    *,
    epochs: int = 4,
    tagger: bool = False,
    seed: int = 0,
) -> None:
    """Train UDPipe's tokenizer, and if wanted its tagger, on a treebank and write them to a file.

    The epoch that does best on `dev` is kept, or else the last one. UDPipe always draws the same random numbers: what
    `seed` changes is the order in which it meets the sentences.
    """
    shuffled = list(train)
    Random(seed).shuffle(shuffled)
    job = {
        "train": _to_udpipe(shuffled, tagger),
        "dev": _to_udpipe(dev or [], tagger),
        "tokenizer": ";".join(f"{name}={value}" for name, value in {**TOKENIZER, "epochs": epochs}.items()),
        "tagger": "" if tagger else "none",
    }
    with writing(path) as stream:  # opened first: what cannot be written should not be trained for minutes
        stream.buffer.write(_run_trainer(job))


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
        blocks.append(_for_udpipe("\n".join(_reduced_lines(sentence, tags))))
        reader.setText(blocks[-1])
        if not reader.nextSentence(converted, error):
            raise FormatError(sentence.path, sentence.line, f"UDPipe cannot read this sentence: {error.message}")
    return "".join(f"{block}\n\n" for block in blocks)


def _reduced_lines(sentence: Sentence, tags: bool) -> Iterator[str]:
    """The lines of tokens and words, with no more in them than training looks at."""
    for columns in _lines(sentence):
        is_word = columns[ID].isdigit()
        if is_word or "-" in columns[ID]:
            middle = columns[LEMMA:HEAD] if tags and is_word else ["_"] * 4
            yield "\t".join([*columns[:LEMMA], *middle, "_", "_", "_", _NO_SPACE if _is_joined(columns) else "_"])


def _lines(sentence: Sentence) -> Iterator[list[str]]:
    """The columns of all lines that are no comments."""
    lines = (line.strip(_AROUND) for line in sentence.raw.split("\n"))
    return (line.split("\t") for line in lines if "\t" in line and not line.startswith("#"))


def _is_joined(columns: list[str]) -> bool:
    return _NO_SPACE in columns[MISC].split("|")


# Segmenting


class Segmenter:
    """A trained UDPipe model: cuts text into sentences and words, and tags them if it has learnt to."""

    def __init__(self, model: Any) -> None:
        self._model = model
        probe = udpipe.Sentence()
        probe.addWord("a")
        self._has_tagger = bool(model.tag(probe, "", udpipe.ProcessingError()))

    @classmethod
    def load(cls, path: str | Path) -> Segmenter:
        """Read a model that `train_segmenter` or UDPipe 1 has written."""
        try:
            with Path(path).open("rb") as stream:
                begins_well = stream.read(len(_MAGIC)) == _MAGIC
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from error
        model = udpipe.Model.load(str(path)) if begins_well else None
        if model is None:
            raise FileError(f"{path}: expected a UDPipe model, found another file or a damaged one")
        if model.newTokenizer("") is None:
            raise FileError(f"{path}: expected a UDPipe model with a tokenizer, found one without")
        return cls(model)

    @property
    def has_tagger(self) -> bool:
        """Whether `tag` can be asked for."""
        return self._has_tagger

    def segment(self, text: str, *, presegmented: bool = False) -> list[Sentence]:
        """The sentences of a text; `presegmented` says that each line is one."""
        return list(self.stream([text], presegmented=presegmented))

    def stream(self, chunks: Iterable[str], *, presegmented: bool = False) -> Iterator[Sentence]:
        """The sentences of a text that comes in chunks (lines with their ends, or any others) and may be of any size.

        How the text is cut into chunks makes no difference. Each paragraph is looked at by itself, as no sentence goes
        on over a blank line.
        """
        tokenizer = self._tokenizer(presegmented)
        for parts in text_parts(chunks, presegmented=presegmented):
            if blocks := _tokenize(tokenizer, parts):
                yield from parse_conllu(blocks)

    def to_conllu(self, parts: Iterable[str], *, before: str = "", presegmented: bool = False) -> str:
        """The sentences of some of `text_parts`, numbered from 1, as text.

        `before` says what stands before them, as far as it matters (`spaces_after`); nothing: they are the first.
        """
        tokenizer = self._tokenizer(presegmented)
        skipped = _tokenize(tokenizer, [before]).count("\n\n") if before else 0
        return shift_numbers(_tokenize(tokenizer, parts), -skipped)

    def _tokenizer(self, presegmented: bool) -> Any:
        return self._model.newTokenizer("presegmented" if presegmented else "")

    def tag(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """The same sentences with the lemmas, tags and features that UDPipe's tagger gives them."""
        if not self.has_tagger:
            raise BiplanarError("expected a UDPipe model with a tagger, found one without; train it with a tagger")
        return [self._tag(sentence) for sentence in sentences]

    def _tag(self, sentence: Sentence) -> Sentence:
        tagged, error = udpipe.Sentence(), udpipe.ProcessingError()
        for form in sentence.forms:
            tagged.addWord(_for_udpipe(form))
        if not self._model.tag(tagged, "", error):
            raise BiplanarError(f"UDPipe cannot tag a sentence: {error.message}")
        words = list(tagged.words)[1:]
        return _with_tags(sentence, [(word.lemma, word.upostag, word.xpostag, word.feats) for word in words])


def _with_tags(sentence: Sentence, tags: list[tuple[str, str, str, str]]) -> Sentence:
    rows = []
    for row, values in zip(sentence.rows, tags, strict=True):
        columns = row.split("\t")
        rows.append("\t".join([*columns[:LEMMA], *(value or "_" for value in values), *columns[HEAD:]]))
    renewed = dict(zip(sentence.rows, rows, strict=True))
    lines = [line.replace(row := line.strip(_AROUND), renewed.get(row, row)) for line in sentence.raw.split("\n")]
    return Sentence("\n".join(lines), rows, sentence.path, sentence.line)


def _tokenize(tokenizer: Any, parts: Iterable[str]) -> str:
    """The sentences of some parts of a text as CoNLL-U."""
    sentence, error = udpipe.Sentence(), udpipe.ProcessingError()
    writer, blocks = udpipe.OutputFormat.newOutputFormat("conllu"), []
    for part in parts:
        tokenizer.setText(_for_udpipe(_MORE_SPACES.sub(" ", part)))
        while tokenizer.nextSentence(sentence, error):
            blocks.append(writer.writeSentence(sentence))
        if error.occurred():
            raise BiplanarError(f"UDPipe cannot segment a text: {error.message}")
    return _SPACES_IN_MISC.sub(_plain_misc, "".join(blocks))


def shift_numbers(conllu: str, by: int) -> str:
    """Segmented sentences with higher or lower numbers."""
    return _SENTENCE_NUMBER.sub(lambda found: str(int(found[0]) + by), conllu) if by else conllu


def _plain_misc(match: re.Match[str]) -> str:
    """Whether there is a space is kept, which spaces there were is not."""
    return f"\t{_NO_SPACE}" if _NO_SPACE in match[1].split("|") else "\t_"


def _for_udpipe(text: str) -> str:
    return _UNFIT.sub("\ufffd", text)


# Cutting text where no sentence goes on


def text_parts(chunks: Iterable[str], *, presegmented: bool = False, size: int | None = None) -> Iterator[list[str]]:
    """All of a text, cut where no sentence goes on: some parts whenever about so many characters have come."""
    split, rest = _split_lines if presegmented else _split_paragraphs, ""
    for block in _blocks(chunks, size or PIECE):
        *parts, rest = split(rest + block)
        yield parts
    yield [rest + "\n"]


def spaces_after(before: str, parts: Iterable[str]) -> str:
    """What `Segmenter.to_conllu` must know of the text so far: a sign, if there was one, and line ends behind it."""
    for part in parts:
        words = part.rstrip()
        before = ("." if words else before) + "\n" * min(2, part.count("\n", len(words)))
    return before[:3]


def _blocks(chunks: Iterable[str], most: int) -> Iterator[str]:
    """The same text in chunks of a size that is good to work with, without a byte order mark."""
    gathered, size, mark = [""], 0, "\ufeff"
    for chunk in chunks:
        for start in range(0, len(chunk), most):
            gathered.append(chunk[start : start + most])
            size += len(gathered[-1])
            if size >= most:
                yield "".join(gathered).removeprefix(mark)
                gathered, size, mark = [], 0, ""
    yield "".join(gathered).removeprefix(mark)


def _split_lines(text: str) -> list[str]:
    """All lines that have ended, in one piece, and the rest."""
    lines, end, rest = text.rpartition("\n")
    return [lines + end, rest]


def _split_paragraphs(text: str) -> list[str]:
    """Paragraphs, or pieces of those that are too long; and the rest, which may go on."""
    parts, start = [], 0
    while end := _end_of_part(text, start):
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]


def _end_of_part(text: str, start: int) -> int:
    """Where the paragraph ends, or the piece of it that is not too long; 0 if that cannot be seen yet."""
    stop = start + PIECE
    if blank := _BLANK_LINE.search(text, start, stop):
        return blank.end()
    if len(text) < stop:
        return 0
    if line_end := text.rfind("\n", start, stop) + 1:
        return line_end
    space = _UP_TO_SPACE.match(text, start, stop)
    return space.end() if space else stop


# Text that is already cut


def read_horizontal(path: str | Path) -> Iterator[Sentence]:
    """One sentence a line, spaces between its words; empty lines are skipped."""
    return numbered(split_horizontal(line.strip(" \t\ufeff") for _, line in read_lines(path)))


def read_vertical(path: str | Path) -> Iterator[Sentence]:
    """One word a line (what follows a tab is ignored), an empty line after each sentence."""
    return numbered(split_vertical(line.strip(" \t\ufeff") for _, line in read_lines(path)))


def split_horizontal(lines: Iterable[str]) -> Iterator[list[str]]:
    """The words of sentences that stand a line each."""
    words = (re.split("[ \t]+", line.strip(" \t")) for line in lines)
    return (line for line in words if line != [""])


def split_vertical(lines: Iterable[str]) -> Iterator[list[str]]:
    """The words of sentences with a word a line, before any tab, and an empty line after each sentence."""
    words = (line.strip(" \t").partition("\t")[0] for line in lines)
    return ([word, *takewhile(bool, words)] for word in words if word)


def numbered(sentences: Iterable[list[str]]) -> Iterator[Sentence]:
    """Sentences of words, with their numbers and texts as comments."""
    for number, forms in enumerate(sentences, 1):
        yield Sentence.from_words(forms, comments=comments_for(number, forms))


def comments_for(number: int, forms: Sequence[str]) -> list[str]:
    """What is said of a sentence that came as words."""
    return [f"# sent_id = {number}", f"# text = {' '.join(forms)}"]


# And back


def raw_text(sentences: Iterable[Sentence]) -> str:
    """The text that was cut into these sentences, a blank line between its documents and paragraphs."""
    parts: list[str] = []
    for sentence in sentences:
        if parts and any(map(_NEW_PARAGRAPH.match, sentence.comments)):
            parts.append("\n\n")
        parts += _tokens(sentence)
    return "".join(parts)


def _tokens(sentence: Sentence) -> Iterator[str]:
    """The tokens with the spaces behind them; of a multiword token not the words."""
    covered = 0
    for columns in _lines(sentence):
        first, _, last = columns[ID].partition("-")
        if first.isdigit() and int(first) > covered:
            covered = int(last or first)
            yield columns[FORM] if _is_joined(columns) else f"{columns[FORM]} "
