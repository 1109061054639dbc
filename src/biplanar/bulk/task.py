"""Whole files: cut into pieces, each parsed by itself, in this process or in several, and written in their order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import IO, Protocol

from biplanar.bulk.workers import work_in_order
from biplanar.data.conllu import Block, Sentence, parse_conllu, read_blocks, whole_blocks, words_to_conllu, write_conllu
from biplanar.data.files import INPUTS, OUTPUTS, display_name, is_plain_file, read_lines, write_all
from biplanar.data.overlap import overlap
from biplanar.decoding.search import Beam, Outcome
from biplanar.errors import BiplanarError, UnknownNameError
from biplanar.pipeline.parser import Parser, default_batch_words, head_probabilities, load, window_words
from biplanar.pipeline.windows import Window, gather
from biplanar.tagger.predict import DEFAULT_DECODER, Parsed
from biplanar.tokenizer.segmentation import (
    comments_for,
    shift_numbers,
    spaces_after,
    split_horizontal,
    split_vertical,
    text_parts,
)

# Workers get pieces of so many words at least, and of so many batches at most. They grow with what has been read: so
# small files are shared among the workers, too, and none of them is left with a large piece at the end.
LEAST_WORDS, LARGEST_SHARE, MOST_BATCHES = 4_000, 8, 50

# Of raw text, which has no words yet.
CHARACTERS_PER_WORD = 6


# Pieces


class Piece(Protocol):
    """Part of the input, which can be parsed by itself; as a string it says which lines it is."""

    def blocks(self, parser: Parser) -> Sequence[Block]:
        """As CoNLL-U."""


@dataclass(frozen=True)
class Place:
    """Some lines of a file."""

    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.path}:{self.first}-{self.last}"


@dataclass(frozen=True)
class ConlluPiece:
    """Sentences as they were written."""

    content: tuple[Block, ...]

    def __str__(self) -> str:
        first, last = self.content[0], self.content[-1]
        return str(Place(first.path, first.line, max(first.line, last.next_line - 1)))

    def blocks(self, parser: Parser) -> Sequence[Block]:  # noqa: ARG002
        """The sentences themselves."""
        return self.content


@dataclass(frozen=True)
class WordsPiece:
    """Sentences as words."""

    place: Place
    sentences: list[list[str]]
    first: int  # the number of the first sentence

    def __str__(self) -> str:
        return str(self.place)

    def blocks(self, parser: Parser) -> Sequence[Block]:  # noqa: ARG002
        """With their numbers and texts as comments."""
        numbered = enumerate(self.sentences, self.first)
        texts = [words_to_conllu(forms, comments=comments_for(number, forms)) for number, forms in numbered]
        return [Block("".join(texts).encode(), "<words>")]


@dataclass(frozen=True)
class TextPiece:
    """Raw text; its sentences are numbered from 1, as nobody knows yet how many were before."""

    place: Place
    parts: list[str]
    before: str
    presegmented: bool

    def __str__(self) -> str:
        return str(self.place)

    def blocks(self, parser: Parser) -> Sequence[Block]:
        """Segmented; there may be no sentence in it."""
        text = parser.segmenter.to_conllu(self.parts, before=self.before, presegmented=self.presegmented)
        return [Block(text.encode())] if text else []


def read_pieces(
    file: str | Path, kind: str, enough: Callable[[int], int], *, text: str | None = None
) -> Iterator[Piece]:
    """A file (`-`: standard input), or a text in its place, in pieces of about so many words."""
    if kind == "conllu":
        blocks = read_blocks(file) if text is None else whole_blocks([text.encode(errors="surrogatepass")], "<text>")
        return _conllu_pieces(blocks, enough)
    name = display_name(file) if text is None else "<text>"
    lines = (line for _, line in read_lines(file)) if text is None else iter(text.split("\n"))
    if kind in ("text", "lines"):
        ended = (line + "\n" for line in lines) if text is None else [text]
        return _text_pieces(ended, name, enough, presegmented=kind == "lines")
    return _words_pieces(lines, name, enough, split_horizontal if kind == "horizontal" else split_vertical)


def _conllu_pieces(blocks: Iterable[Block], enough: Callable[[int], int]) -> Iterator[Piece]:
    for content in gather(blocks, lambda block: block.next_line - block.line, enough):
        yield ConlluPiece(tuple(content))


def _words_pieces(
    lines: Iterable[str],
    name: str,
    enough: Callable[[int], int],
    split: Callable[[Iterable[str]], Iterator[list[str]]],
) -> Iterator[Piece]:
    read = sentences = line = 0

    def counted() -> Iterator[str]:
        nonlocal read
        for read, one in enumerate(lines, 1):  # noqa: B007
            yield one.strip(" \t\ufeff")

    for content in gather(split(counted()), len, enough):
        yield WordsPiece(Place(name, line + 1, read), content, sentences + 1)
        line, sentences = read, sentences + len(content)


def _text_pieces(
    chunks: Iterable[str], name: str, enough: Callable[[int], int], *, presegmented: bool
) -> Iterator[Piece]:
    line, before = 1, ""
    some = text_parts(chunks, presegmented=presegmented, size=CHARACTERS_PER_WORD * LEAST_WORDS)
    parts = (part for group in some for part in group)
    for content in gather(parts, lambda part: len(part) // CHARACTERS_PER_WORD, enough):
        ends = sum(part.count("\n") for part in content)
        yield TextPiece(Place(name, line, max(line, line + ends - 1)), content, before, presegmented)
        line, before = line + ends, spaces_after(before, content)


# What is done with them


@dataclass(frozen=True)
class Result:
    """What became of a piece."""

    output: bytes
    sentences: int
    outcome: Outcome


@dataclass(frozen=True)
class Task:
    """What to do with all pieces; it can be sent to other processes."""

    model: str | Path | None = None
    device: str = "cpu"
    threads: int = 1
    runtime: str | None = None
    output: str = "conllu"
    decoder: str = DEFAULT_DECODER
    beam: Beam = field(default_factory=Beam)
    probabilities: bool = False
    best: int = 1
    batch_words: int | None = None
    width: int | None = None  # of drawn trees
    colour: bool = False

    def __post_init__(self) -> None:
        if self.output not in OUTPUTS:
            raise UnknownNameError("output", self.output, OUTPUTS)
        if self.best > 1 and self.decoder != "search":
            raise BiplanarError(f"--best needs --decoder search, found {self.decoder}")

    def __call__(self) -> Work:
        """Load the model."""
        return Work(self, load(self.model, device=self.device, threads=self.threads, runtime=self.runtime))

    @property
    def window_words(self) -> int:
        """How many words one process reads at once."""
        return window_words(self.batch_size)

    @property
    def batch_size(self) -> int:
        """How many words go through the network at once."""
        return self.batch_words or default_batch_words(self.device)


class Work:
    """A task with its model loaded."""

    def __init__(self, task: Task, parser: Parser) -> None:
        self.task, self.parser = task, parser
        self.how = parser.tree_decoder(task.decoder, task.beam, task.probabilities)

    def __call__(self, piece: Piece) -> Result:
        """All of what follows, one after the other."""
        return self.render(*self.parse(self.read(piece)))

    def read(self, piece: Piece) -> Window:
        """From bytes or text to sentences."""
        one_by_one = self.task.best > 1 or self.task.output not in ("conllu", "svg")
        return self.parser.read_window(piece.blocks(self.parser), self.how, one_by_one=one_by_one)

    def parse(self, window: Window) -> tuple[Window, Parsed | list[Sentence], Outcome]:
        """From sentences to trees."""
        if self.task.best > 1 or not len(window):
            self.parser.outcome = Outcome()
            return window, list(self._best_trees(window.sentences)), self.parser.outcome
        parsed = self.parser.parse_window(window, self.how, self.task.batch_words)
        return window, parsed, parsed.outcome

    def _best_trees(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """All trees of each sentence, with their ranks and the log-probabilities of their labels as comments."""
        task = self.task
        for sentence in sentences:
            trees = self.parser.best_trees_of(sentence, task.best, beam=task.beam, probabilities=task.probabilities)
            for rank, (parsed, score) in enumerate(trees, 1):
                yield parsed.with_comments({"tree_rank": str(rank), "tree_score": f"{score:.4f}"})

    def render(self, window: Window, trees: Parsed | list[Sentence], outcome: Outcome) -> Result:
        """From trees to bytes; of pictures, which are drawn when all trees are there, CoNLL-U."""
        if self.task.output in ("conllu", "svg") and isinstance(trees, Parsed):
            return Result(self.parser.to_conllu(window, trees), len(window), outcome)
        parsed = self.parser.with_trees(window.sentences, trees) if isinstance(trees, Parsed) else trees
        return Result(self._text(parsed).encode(), len(window), outcome)

    def _text(self, sentences: Iterable[Sentence]) -> str:
        if self.task.output == "json":
            return "".join([json.dumps(_json(sentence), ensure_ascii=False) + "\n" for sentence in sentences])
        if self.task.output == "tree":
            return "".join([self._drawn(sentence) for sentence in sentences])
        text = StringIO()
        write_conllu(sentences, text)
        return text.getvalue()

    def _drawn(self, sentence: Sentence) -> str:
        from biplanar.draw import draw_tree  # here, as few ask for pictures

        return draw_tree(sentence.forms, sentence.tree, width=self.task.width, colour=self.task.colour) + "\n\n"


def _json(sentence: Sentence) -> list[dict[str, str | int | float | None]]:
    """All columns of all words, and the probabilities of their heads where these are known."""
    chances = head_probabilities(sentence)
    words = [word._asdict() for word in sentence.words]
    return (
        words
        if chances is None
        else [word | {"head_probability": chance} for word, chance in zip(words, chances, strict=True)]
    )


# From file to file


def parse_file(
    file: str | Path,
    target: IO[bytes],
    task: Task,
    *,
    kind: str = "conllu",
    text: str | None = None,
    workers: int = 1,
    report: Callable[[str], object] = lambda _: None,
) -> Outcome:
    """Parse a file (`-`: standard input; or a text in its place) and write the result; how the searches fared.

    With several workers, each is a process with the model loaded, started anew (a script that calls this must do so
    below `if __name__ == "__main__"`). `report` is told when one of them ends before its time.
    """
    if kind not in INPUTS:
        raise UnknownNameError("input", kind, INPUTS)
    most = task.window_words
    if workers == 1:
        work, pieces = task(), read_pieces(file, kind, lambda _: most, text=text)
        writer = _Writer(target, task, kind)
        windows = (work.read(piece) for piece in pieces)
        overlap(windows, work.parse, lambda done: writer.write(work.render(*done)), ahead=is_plain_file(file))
        return writer.finish()
    most = min(most, MOST_BATCHES * task.batch_size)
    pieces = read_pieces(file, kind, lambda before: max(LEAST_WORDS, min(most, before // LARGEST_SHARE)), text=text)
    writer = _Writer(target, task, kind)
    with closing(work_in_order(task, pieces, workers, report=report, threads=task.threads)) as results:
        for result in results:
            writer.write(result)
    return writer.finish()


class _Writer:
    """Writes results, and counts what was in them."""

    def __init__(self, target: IO[bytes], task: Task, kind: str) -> None:
        self.target = target
        self.is_numbered_here = kind in ("text", "lines") and task.output in ("conllu", "svg")
        self.pictures: list[str] | None = [] if task.output == "svg" else None
        self.sentences, self.outcome = 0, Outcome()

    def write(self, result: Result) -> None:
        output = result.output
        if self.is_numbered_here and self.sentences:
            output = shift_numbers(output.decode(), self.sentences).encode()
        if self.pictures is None:
            write_all(self.target, output)
        else:
            self.pictures.append(output.decode())
        self.sentences += result.sentences
        self.outcome += result.outcome

    def finish(self) -> Outcome:
        """Draw what is drawn in one piece; how the searches fared."""
        if self.pictures is not None:
            from biplanar.draw import draw_sentences

            trees = "".join(self.pictures)
            write_all(self.target, f"{draw_sentences(parse_conllu(trees) if trees else [])}\n".encode())
        return self.outcome
