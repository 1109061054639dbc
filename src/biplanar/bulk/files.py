"""From files to a file: chunks are parsed by an engine, and their results written in order."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import IO

from biplanar.bulk.chunks import Source
from biplanar.bulk.engines import Engine, ThisProcess
from biplanar.bulk.task import DRAWN_AT_THE_END, Result, Task
from biplanar.data.conllu import missing_end, parse_conllu
from biplanar.data.files import write_all
from biplanar.decoding.beam import Outcome

# Of a sentence in CoNLL-U, and in JSON.
_SENTENCE_NUMBER = re.compile(rb"(?:(?<=^# sent_id = )|(?<=^\{\"sent_id\": \"))\d+", re.MULTILINE)

# Bytes of a chunk's output in which its end is looked for.
TAIL = 4096


def parse_files(
    source: Source,
    target: IO[bytes],
    task: Task,
    engine: Engine | None = None,
    written: Callable[[Result], object] = lambda _: None,
) -> Outcome:
    """Parse all of the source and write the result; how the trees were found. `written` is told of each result."""
    writer = _Writer(target, task, several=len(source.files) > 1)

    def write(result: Result) -> None:
        writer.write(result)
        written(result)

    (engine or ThisProcess()).run(task, source, write)
    return writer.finish()


def shift_numbers(conllu: bytes, by: int, prefix: str = "") -> bytes:
    """Sentences with higher numbers, behind a prefix."""
    if not (prefix or by):
        return conllu
    return _SENTENCE_NUMBER.sub(lambda found: f"{prefix}{int(found[0]) + by}".encode(), conllu)


class _Writer:
    """Writes results, numbers sentences that have no numbers of their own, and counts what was in them.

    Sentences are numbered by file. Where there are several files, the number stands behind the file's name.
    """

    def __init__(self, target: IO[bytes], task: Task, *, several: bool) -> None:
        self.target, self.several = target, several
        self.task = task
        self.drawn: list[str] | None = [] if task.output in DRAWN_AT_THE_END else None
        self.is_conllu = self.drawn is not None or task.output == "conllu"
        self.path, self.sentences, self.outcome = "", 0, Outcome()
        self.unfinished = b""  # the blank line that a file may end without, if another follows

    def write(self, result: Result) -> None:
        """Write what became of the next chunk."""
        if result.place.path != self.path:
            self.path, self.sentences = result.place.path, 0
        output = self._numbered(result) if result.gets_numbers else result.output
        self._put(self.unfinished)
        self._put(output)
        if self.is_conllu and output:
            self.unfinished = missing_end(output[-TAIL:].decode(errors="replace")).encode()
        self.sentences += result.sentences
        self.outcome += result.outcome

    def _put(self, output: bytes) -> None:
        if self.drawn is None:
            write_all(self.target, output)
        else:
            self.drawn.append(output.decode())

    def _numbered(self, result: Result) -> bytes:
        return shift_numbers(result.output, self.sentences, f"{Path(self.path).name}-" if self.several else "")

    def finish(self) -> Outcome:
        """Draw what is drawn of all trees together; how they were found."""
        if self.drawn is not None:
            write_all(self.target, _drawing("".join(self.drawn), self.task, self.path).encode())
        return self.outcome


def _drawing(trees: str, task: Task, path: str) -> str:
    from biplanar.draw import Entry, draw_page, draw_sentences

    sentences = parse_conllu(trees) if trees else []
    if task.output == "html":
        entries = (Entry(number, sentence) for number, sentence in enumerate(sentences, 1))
        return "".join(draw_page(entries, title=Path(path).name or "Trees", columns=task.columns))
    return f"{draw_sentences(sentences, columns=task.columns)}\n"
