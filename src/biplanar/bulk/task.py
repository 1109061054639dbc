"""What is done with each chunk: read, parsed and rendered as bytes, in any process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from biplanar.bulk.chunks import Chunk
from biplanar.data.conllu import Sentence, write_conllu
from biplanar.data.conversions import BEGINNINGS
from biplanar.data.formats import DRAWINGS, JSON, OUTPUTS, TREE
from biplanar.decoding.beam import Outcome
from biplanar.errors import BiplanarError, check_name
from biplanar.pipeline.loading import Placement, load
from biplanar.pipeline.options import ParseOptions
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.parser_io import ParserInput, ParserOutput


@dataclass(frozen=True)
class Result:
    """A parsed chunk."""

    path: str
    size: int  # bytes of the input
    output: bytes
    sentences: int
    outcome: Outcome
    needs_ids: bool = False  # its sentences' ids are empty
    skipped: tuple[str, ...] = ()  # errors of records that were left out


@dataclass(frozen=True)
class ParsedChunk:
    """The sentences of a chunk, parsed: one tree each, or several."""

    parsed: ParserOutput | list[Sentence]
    sentences: int
    outcome: Outcome


@dataclass(frozen=True)
class Task:
    """What to do with all chunks; it can be sent to other processes, where calling it loads the model."""

    model: str | Path | None = None
    device: str = "cpu"
    threads: int = 1
    runtime: str | None = None
    options: ParseOptions = field(default_factory=ParseOptions)
    format: str = "conllu"
    width: int | None = None  # of drawn trees
    colour: bool = False
    columns: tuple[str, ...] = ()  # to draw under the words

    def __post_init__(self) -> None:
        check_name("output format", self.format, OUTPUTS)
        if self.columns:
            from biplanar.draw.layout import check_columns  # here, as few ask for pictures

            check_columns(self.columns)
            if self.format not in (TREE, *DRAWINGS):
                raise BiplanarError(f"--columns is for drawings ({', '.join((TREE, *DRAWINGS))}), not {self.format}")

    def __call__(self) -> ChunkParser:
        """Load the model."""
        return ChunkParser(self, load(self.model, device=self.device, threads=self.threads, runtime=self.runtime))

    @property
    def gives_conllu(self) -> bool:
        """Whether results are CoNLL-U, of which other formats (Parquet, pictures) are made when they are written."""
        return self.format not in (JSON, TREE)

    @property
    def batch_words(self) -> int:
        """How many words go through the network at once."""
        return self.options.batch_words or Placement.of(self.model, self.device, self.runtime).batch_words


class ChunkParser:
    """A task with its model loaded."""

    def __init__(self, task: Task, parser: Parser) -> None:
        self.task, self.parser = task, parser

    def __call__(self, chunk: Chunk) -> Result:
        """Read, parse and render."""
        return self.render(chunk, self.parse(self.read(chunk)))

    def read(self, chunk: Chunk) -> ParserInput:
        """From bytes or text to sentences."""
        as_objects = self.task.options.best > 1 or not self.task.gives_conllu
        return self.parser.read(chunk.conllu(self.parser), self.task.options, as_objects=as_objects)

    def parse(self, given: ParserInput) -> ParsedChunk:
        """From sentences to trees."""
        if not len(given):
            return ParsedChunk([], 0, Outcome())
        if self.task.options.best > 1:
            return self._several(given)
        output = self.parser.parse(given, self.task.options)
        return ParsedChunk(output, len(given), output.parsed.outcome)

    def _several(self, given: ParserInput) -> ParsedChunk:
        sentences, outcome = list[Sentence](), Outcome()
        for sentence in given.sentences:
            found = self.parser.several_trees(sentence, self.task.options.best, self.task.options)
            sentences += map(_ranked, range(1, len(found.trees) + 1), *zip(*found.trees, strict=True))
            outcome += found.outcome
        return ParsedChunk(sentences, len(given), outcome)

    def render(self, chunk: Chunk, trees: ParsedChunk) -> Result:
        """From trees to bytes."""
        parsed = trees.parsed
        if self.task.gives_conllu and isinstance(parsed, ParserOutput):
            output = parsed.to_conllu()
        else:
            output = self._text(parsed.sentences() if isinstance(parsed, ParserOutput) else parsed).encode()
        needs_ids = chunk.needs_ids and self.task.format != TREE
        return Result(chunk.path, chunk.size, output, trees.sentences, trees.outcome, needs_ids, chunk.skipped)

    def _text(self, sentences: Iterable[Sentence]) -> str:
        task = self.task
        if task.format == JSON:
            return "".join([f"{sentence.to_json()}\n" for sentence in sentences])
        if task.format == TREE:
            from biplanar.draw import Entry  # here, as few ask for pictures

            entries = (Entry(1, sentence) for sentence in sentences)
            return "".join(
                [f"{one.lines(columns=task.columns, width=task.width, colour=task.colour)}\n\n" for one in entries]
            )
        text = StringIO()
        write_conllu(sentences, text)
        return text.getvalue()


def _ranked(rank: int, sentence: Sentence, score: float) -> Sentence:
    """One of several trees, with its rank and the log-probability of its labels as comments.

    Only the first begins documents and paragraphs and has the sentence's own id.
    """
    if rank > 1:
        sentence = sentence.without_comments(list(BEGINNINGS))
        if (own := sentence.comment("sent_id")) is not None:
            sentence = sentence.with_comment("sent_id", f"{own}-tree{rank}")
    return sentence.with_comments({"tree_rank": str(rank), "tree_score": f"{score:.4f}"})
