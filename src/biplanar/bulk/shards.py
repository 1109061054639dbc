"""Shards: a folder with one file for each piece of the input, which appears when it is whole.

Sentences of raw text and words are numbered by file. Where such a file is cut, its shards are parsed in any order into
a folder `.unnumbered` first; when all are there, they are numbered.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from biplanar.bulk.chunks import Source
from biplanar.bulk.engines import Engine, ThisProcess
from biplanar.bulk.files import parse_files, shift_numbers
from biplanar.bulk.kinds import ENDINGS, RECORDS, is_numbered, kind_of
from biplanar.bulk.pieces import Piece, cut_file
from biplanar.bulk.tables import ParquetStream
from biplanar.bulk.task import ChunkParser, Task
from biplanar.data.compression import compressing
from biplanar.data.conllu import cut_raw_conllu
from biplanar.data.files import OPENERS, read_buffers, write_all, writing
from biplanar.decoding.beam import Outcome
from biplanar.errors import BiplanarError, FileError, FormatError

SHARD_BYTES = 32 * 10**6
SHARD_ENDINGS = ("conllu", "conllu.gz", "conllu.xz", "conllu.bz2", "conllu.zst", "parquet")
UNNUMBERED, PLAN = ".unnumbered", ".plan.json"


@dataclass(frozen=True)
class Shard:
    """A piece of the input, and the file that it becomes."""

    piece: Piece
    path: str
    unnumbered: str | None = None  # where it is kept until the sentences before it have been counted
    before: int = 0  # sentences

    @property
    def count_path(self) -> Path:
        """Where the number of its sentences is, once these are parsed but not numbered."""
        return Path(f"{self.unnumbered}.count")

    def __str__(self) -> str:
        return str(self.piece)


@dataclass(frozen=True)
class ShardResult:
    """How a shard's trees were found."""

    shard: Shard
    outcome: Outcome
    sentences: int


@dataclass(frozen=True)
class Plan:
    """All shards of the input, and how they are made."""

    task: Task
    source: Source
    folder: Path
    shards: list[Shard]

    @classmethod
    def of(
        cls, source: Source, folder: str | Path, task: Task, *, ending: str = "conllu", size: int = SHARD_BYTES
    ) -> Plan:
        """Cut the files of a source; of folders, all files in them that have no hidden name."""
        if ending not in SHARD_ENDINGS:
            raise BiplanarError(f"shards: expected {', '.join(SHARD_ENDINGS)}, found {ending}")
        if task.output != "conllu":
            raise BiplanarError(f"shards: expected CoNLL-U or Parquet, found {task.output}")
        if source.text is not None or "-" in source.files:
            raise BiplanarError("shards: expected files, found a text or standard input")
        folder, shards = Path(folder), dict[str, Shard]()
        for name, path in named_files(map(str, source.files), outside=folder):
            for shard in _shards_of(name, path, source, folder, ending, size):
                if (other := shards.setdefault(shard.path, shard)) is not shard:
                    raise BiplanarError(f"{shard.path}: expected one input for it, found {other} and {shard}")
        plan = cls(task, source, folder, list(shards.values()))
        _keep_plan(plan, ending, size)
        return plan

    def unfinished(self) -> list[Shard]:
        """The shards that are still to be parsed."""
        numbered = [shard for shards in self._to_number() for shard in shards if not shard.count_path.exists()]
        return [shard for shard in self.shards if not shard.unnumbered and not Path(shard.path).exists()] + numbered

    def run(self, engine: Engine) -> Iterator[ShardResult]:
        """Parse what is not finished, and say of each shard when it is."""
        todo = self.unfinished()
        for folder in {Path(shard.unnumbered or shard.path).parent for shard in todo}:
            folder.mkdir(parents=True, exist_ok=True)
        yield from engine.map(ShardTask(self.task, self.source), todo, threads=self.task.threads)
        for _ in engine.map(prepare_numbering, list(self._counted())):
            pass
        shutil.rmtree(self.folder / UNNUMBERED, ignore_errors=True)

    def _to_number(self) -> list[list[Shard]]:
        """The shards of each file that is to be numbered and not complete."""
        files: dict[str, list[Shard]] = defaultdict(list)
        for shard in self.shards:
            if shard.unnumbered:
                files[shard.piece.path].append(shard)
        return [shards for shards in files.values() if not all(Path(shard.path).exists() for shard in shards)]

    def _counted(self) -> Iterator[Shard]:
        for shards in self._to_number():
            counts = [int(shard.count_path.read_text(encoding="ascii")) for shard in shards]
            for shard, before in zip(shards, accumulate(counts, initial=0), strict=False):
                if not Path(shard.path).exists():
                    yield replace(shard, before=before)


@dataclass(frozen=True)
class ShardTask:
    """Parses shards; it can be sent to other processes, where calling it loads the model."""

    task: Task
    source: Source

    def __call__(self) -> ShardParser:
        """Load the model."""
        return ShardParser(self, self.task())


class ShardParser:
    """The same with its model loaded."""

    def __init__(self, task: ShardTask, parser: ChunkParser) -> None:
        self.task, self.parser = task, parser

    def __call__(self, shard: Shard) -> ShardResult:
        """Read, parse and write a shard."""
        source, counts = replace(self.task.source, files=(shard.piece,)), list[int]()
        kind = source.kind or kind_of(shard.piece.path)
        with writing_shard(shard.unnumbered or shard.path) as stream, _file_lines(shard.piece, kind):
            engine = ThisProcess(loaded=self.parser)
            done = parse_files(source, stream, self.task.task, engine, lambda result: counts.append(result.sentences))
        if shard.unnumbered:
            with writing(shard.count_path) as count:
                count.write(str(sum(counts)))
        return ShardResult(shard, done, sum(counts))


def prepare_numbering() -> Callable[[Shard], None]:
    """What workers do with shards that have been parsed; there is nothing to load."""
    return number_sentences


def number_sentences(shard: Shard) -> None:
    """Write a shard with the numbers that its sentences have in their file."""
    assert shard.unnumbered is not None
    with writing_shard(shard.path) as stream:
        for block in cut_raw_conllu(read_buffers(shard.unnumbered), shard.unnumbered):
            write_all(stream, shift_numbers(block.data, shard.before))


@contextmanager
def writing_shard(path: str) -> Iterator[Any]:
    """A stream that takes CoNLL-U; the file appears when the block ends well."""
    with writing(path) as stream:
        is_table = Path(path).suffix == ".parquet"
        with ParquetStream(stream.buffer) if is_table else compressing(stream.buffer, path) as target:
            yield target


@contextmanager
def _file_lines(piece: Piece, kind: str) -> Iterator[None]:
    """Errors in a piece name the lines of the file."""
    try:
        yield
    except BiplanarError as error:
        found = re.match(rf"{re.escape(piece.path)}:(\d+): ", str(error))
        if not found or not piece.start or kind in RECORDS:
            raise
        line = int(found[1]) + piece.lines_before()
        raise FormatError(piece.path, line, str(error)[found.end() :]) from error


def named_files(files: Iterable[str | Path], *, outside: Path | None = None) -> Iterator[tuple[str, str]]:
    """Files and how they are called; those of a folder (and of folders in it) by their paths there, in their order.

    Hidden files, and those of one folder that may be inside (`outside`), are left out.
    """
    for file in files:
        if not Path(file).is_dir():
            yield Path(file).name, str(file)
            continue
        inside = [path for path in sorted(Path(file).rglob("*")) if path.is_file() and _is_input(path, file, outside)]
        if not inside:
            raise FileError(f"{file}: expected files to parse, found none in this folder")
        yield from ((str(path.relative_to(file)), str(path)) for path in inside)


def _is_input(path: Path, folder: str | Path, outside: Path | None) -> bool:
    is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not is_hidden and not (outside and path.resolve().is_relative_to(outside.resolve()))


def _shards_of(name: str, path: str, source: Source, folder: Path, ending: str, size: int) -> Iterator[Shard]:
    """The shards of a file. Of one that is cut, their names say which of how many they are, and sort."""
    pieces = cut_file(path, source.kind, size, text_encoding=source.text_encoding, ranges=source.ranges)
    stem = name.removesuffix(Path(name).suffix) if Path(name).suffix in OPENERS else name
    stem = stem.removesuffix(Path(stem).suffix) if Path(stem).suffix in ENDINGS else stem
    if len(pieces) == 1:
        yield Shard(pieces[0], str(folder / f"{stem}.{ending}"))
        return
    waits = is_numbered(source.kind or kind_of(path))
    for number, piece in enumerate(pieces):
        shard = f"{stem}-{number:05}-of-{len(pieces):05}"
        unnumbered = str(folder / UNNUMBERED / f"{shard}.conllu") if waits else None
        yield Shard(piece, str(folder / f"{shard}.{ending}"), unnumbered)


def _keep_plan(plan: Plan, ending: str, size: int) -> None:
    """Refuse to add to shards that were made in another way."""
    task, source = plan.task, plan.source
    settings: dict[str, Any] = {
        "model": str(task.model or ""),
        "runtime": task.runtime or "",
        "options": str(task.options),
        "input": source.kind or "",
        "text_encoding": source.text_encoding,
        "ranges": source.ranges,
        "column": source.column or "",
        "output": ending,
        "shard_size": size,
    }
    path = plan.folder / PLAN
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else settings
    for name, value in settings.items():
        if before.get(name) != value:
            wanted = f"expected the {name} of the shards in this folder, {before.get(name)!r}"
            raise BiplanarError(f"{plan.folder}: {wanted}, found {value!r}; choose another folder")
    plan.folder.mkdir(parents=True, exist_ok=True)
    with writing(path) as stream:
        json.dump(settings, stream, indent=1)
