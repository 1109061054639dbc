"""Writing: results in order, with ids for the sentences that have none, in the format of the output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

from biplanar.bulk.chunks import Source
from biplanar.bulk.engines import ChunkEngine, Engine, ThisProcess
from biplanar.bulk.tables import ParquetStream
from biplanar.bulk.task import Result, Task
from biplanar.data.compression import compressing
from biplanar.data.conllu import missing_end, parse_conllu
from biplanar.data.files import Sink, display_name, write_all, writing
from biplanar.data.formats import DRAWINGS, HTML, JSON, PARQUET, PDF, PNG
from biplanar.decoding.beam import Outcome
from biplanar.errors import BiplanarError

# What precedes the id of a sentence, in CoNLL-U and in JSON. Nothing else in the output of text and words can be equal:
# in CoNLL-U they have no other comments that begin like this, and in JSON strings quotes are escaped.
ID_MARK, JSON_ID_MARK = b"# sent_id = ", b'{"sent_id": "'

TAIL = 4096  # bytes of a chunk's output in which its end is looked for


def parse_files(
    source: Source,
    target: str | Path | IO[bytes],
    task: Task,
    engine: Engine | None = None,
    written: Callable[[Result], object] = lambda _: None,
    *,
    number: bool = True,
) -> Outcome:
    """Parse the source into a file (`-`: standard output) or a stream; how the trees were found.

    `written` is called with each result. A file appears when it is whole, and is compressed by its ending. With
    `number`, sentences of text and words are numbered by file; where there are several files, behind the file's name.
    """
    engine = engine or ThisProcess()
    if not isinstance(engine, ChunkEngine):
        raise BiplanarError("this engine writes shards: choose a folder with --output-dir")
    title = "<text>" if source.text is not None else Path(display_name(source.paths[-1])).name
    with opened(target, task, title) as sink:
        writer = _Writer(sink, task, written, number=number, several=len(source.files) > 1)
        engine.run(task, source, writer.write)
    return writer.outcome


def with_ids(output: bytes, before: int, prefix: str = "", mark: bytes = ID_MARK) -> tuple[bytes, int]:
    """Output with the ids that it lacks, the numbers of sentences behind a prefix, and the last of the numbers.

    `before` is the number of sentences before. Of several trees of a sentence, all but the first have an id that ends
    in `-tree2` and so on.
    """
    first, *rest = output.split(mark)
    done, number = [first], before
    for part in rest:
        number += not part.startswith(b"-tree")
        done += (mark, f"{prefix}{number}".encode(), part)
    return b"".join(done), number


class _Writer:
    """Writes results one after the other."""

    def __init__(
        self, sink: Sink, task: Task, written: Callable[[Result], object], *, number: bool, several: bool
    ) -> None:
        self.sink, self.task, self.written, self.number, self.several = sink, task, written, number, several
        self.path, self.sentences, self.outcome = "", 0, Outcome()
        self.missing_end = b""  # line ends that a file lacks, if another one follows

    def write(self, result: Result) -> None:
        """Write the next result."""
        if result.path != self.path:
            self.path, self.sentences = result.path, 0
        output = result.output
        if result.needs_ids and self.number:
            prefix = f"{Path(self.path).name}-" if self.several else ""
            output, _ = with_ids(output, self.sentences, prefix, JSON_ID_MARK if self.task.format == JSON else ID_MARK)
        if output:
            write_all(self.sink, self.missing_end + output)
            if self.task.gives_conllu:
                self.missing_end = missing_end(output[-TAIL:].decode(errors="replace")).encode()
        self.sentences += result.sentences
        self.outcome += result.outcome
        self.written(result)


@contextmanager
def opened(target: str | Path | IO[bytes], task: Task, title: str = "Trees") -> Iterator[Sink]:
    """A sink that writes the results of a task in its format; a file appears when the block ends without errors."""
    if isinstance(target, str | Path):
        with (
            writing(target) as stream,
            compressing(stream.buffer, target) as compressed,
            opened(compressed, task, title) as sink,
        ):
            yield sink
    elif task.format == PARQUET:
        with ParquetStream(target) as table:
            yield table
    elif task.format in DRAWINGS:
        trees = BytesIO()
        yield trees
        write_all(target, _drawing(trees.getvalue().decode(), task, title))
    else:
        yield target


def _drawing(trees: str, task: Task, title: str) -> bytes:
    from biplanar.draw import Entry, draw_page, draw_sentences, image_of

    sentences = parse_conllu(trees) if trees else []
    if not sentences and task.format in (PNG, PDF):
        raise BiplanarError("there are no sentences to draw")
    if task.format == HTML:
        entries = (Entry(number, sentence) for number, sentence in enumerate(sentences, 1))
        return "".join(draw_page(entries, title=title, columns=task.columns)).encode()
    return image_of(draw_sentences(sentences, columns=task.columns), f".{task.format}")
