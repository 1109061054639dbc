"""Shards: a folder with one file for each range of the input, which appears when it is whole.

Sentences of raw text and words are numbered by file. Where such a file is cut, its shards are parsed in any order into
a folder `.unnumbered` first; when all are there, their sentences get their ids.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

from biplanar.bulk.chunks import Source
from biplanar.bulk.engines import Engine, ShardEngine, ThisProcess
from biplanar.bulk.output import opened, parse_files, with_ids
from biplanar.bulk.ranges import FileRange, cut_file
from biplanar.bulk.task import ChunkParser, Result, Task
from biplanar.data.conllu import cut_raw_conllu
from biplanar.data.files import count_lines, display_name, read_buffers, write_all, writing
from biplanar.data.formats import (
    COMPRESSED,
    CONLLU,
    INPUT_ENDINGS,
    PARQUET,
    RECORDS,
    input_format,
    output_format,
    without_compression,
)
from biplanar.decoding.beam import Outcome
from biplanar.errors import BiplanarError, FileError, FormatError, file_errors
from biplanar.pipeline.loading import Placement

SHARD_BYTES = 32 * 10**6
SHARD_ENDINGS = (CONLLU, *(f"{CONLLU}{ending}" for ending in COMPRESSED), PARQUET)
UNNUMBERED, PLAN = ".unnumbered", ".plan.json"
HINT = "choose another folder, or --overwrite"


@dataclass(frozen=True)
class Shard:
    """A range of the input, and the file that it becomes."""

    range: FileRange
    path: str
    unnumbered: str | None = None  # where it is kept until the sentences before it have been counted
    before: int = 0  # sentences

    @property
    def count_path(self) -> Path:
        """Where the number of its sentences is, once these are parsed but not numbered."""
        return Path(f"{self.unnumbered}.count")

    def __str__(self) -> str:
        return str(self.range)


@dataclass(frozen=True)
class ShardResult:
    """A shard that is parsed, how its trees were found, and the errors of records that were left out."""

    shard: Shard
    outcome: Outcome
    sentences: int
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """All shards of the input, and how they are made."""

    task: Task
    source: Source
    folder: Path
    shards: list[Shard]

    @classmethod
    def of(
        cls,
        source: Source,
        folder: str | Path,
        task: Task,
        *,
        ending: str = CONLLU,
        size: int = SHARD_BYTES,
        overwrite: bool = False,
    ) -> Plan:
        """Cut the files of a source into ranges of `size` bytes; of folders, all files in them but hidden ones.

        What an earlier run with the same inputs, model and options has finished is kept. Files from anything else are
        refused, or removed with `overwrite`.
        """
        if ending not in SHARD_ENDINGS:
            raise BiplanarError(f"cannot write {ending} to a folder; choose {', '.join(SHARD_ENDINGS)}")
        if source.text is not None or "-" in source.files:
            raise BiplanarError("--output-dir needs files as input, not --text or standard input")
        folder, shards = Path(folder), dict[str, Shard]()
        task = replace(task, format=output_format(f"x.{ending}"))
        files = list(named_files(source.paths, outside=folder))
        inputs = {Path(path).resolve() for _, path in files}
        for name, path in files:
            for shard in _shards_of(name, path, source, folder, ending, size):
                if (other := shards.setdefault(shard.path, shard)) is not shard:
                    raise BiplanarError(f"{shard.path} would be written for both {other} and {shard}")
                if Path(shard.path).resolve() in inputs:
                    raise BiplanarError(f"{shard.path} is an input; choose another --output-dir")
        plan = cls(task, source, folder, list(shards.values()))
        plan._claim_folder(ending, size, overwrite=overwrite)
        return plan

    def unfinished(self) -> list[Shard]:
        """The shards that are still to be parsed."""
        numbered = [shard for shards in self._to_number() for shard in shards if not shard.count_path.exists()]
        return [shard for shard in self.shards if not shard.unnumbered and not Path(shard.path).exists()] + numbered

    def run(self, engine: Engine) -> Iterator[ShardResult]:
        """Parse what is not finished; a result for each shard when it is done."""
        if not isinstance(engine, ShardEngine):
            raise BiplanarError("this engine cannot write a folder of shards")
        todo = self.unfinished()
        for folder in {Path(shard.unnumbered or shard.path).parent for shard in todo}:
            folder.mkdir(parents=True, exist_ok=True)
        yield from engine.map(partial(_shard_parser, self.task, self.source), todo, threads=self.task.threads)
        for _ in engine.map(partial(partial, _number_shard, self.task), list(self._counted())):  # nothing to load
            pass
        shutil.rmtree(self.folder / UNNUMBERED, ignore_errors=True)

    def _to_number(self) -> list[list[Shard]]:
        """The shards of each file that is to be numbered and not complete."""
        cut = (shard for shard in self.shards if shard.unnumbered)
        files = [list(shards) for _, shards in groupby(cut, lambda shard: shard.range.path)]
        return [shards for shards in files if not all(Path(shard.path).exists() for shard in shards)]

    def _counted(self) -> Iterator[Shard]:
        for shards in self._to_number():
            counts = [int(shard.count_path.read_text(encoding="ascii")) for shard in shards]
            for shard, before in zip(shards, accumulate(counts, initial=0), strict=False):
                if not Path(shard.path).exists():
                    yield replace(shard, before=before)

    def _claim_folder(self, ending: str, size: int, *, overwrite: bool) -> None:
        """Make the folder, check that what is in it belongs to this plan, and write the plan there."""
        settings, inputs = self._settings(ending, size), self._inputs()
        before = {} if overwrite else self._read_plan()
        changed = [name for name, value in settings.items() if before and before["settings"].get(name) != value]
        changed += [name for name, state in inputs.items() if before and before["inputs"].get(name, state) != state]
        if changed:
            raise BiplanarError(f"{self.folder} has shards from before {changed[0]} was changed; {HINT}")
        names = {str(Path(shard.path).relative_to(self.folder)) for shard in self.shards}
        known = set(before.get("shards", ()))
        foreign = sorted(name for name in names - known if (self.folder / name).exists())
        if foreign and not overwrite:
            raise FileError(f"{self.folder / foreign[0]} exists already; {HINT}")
        with file_errors(self.folder):
            if overwrite:
                self._remove(names)
            self.folder.mkdir(parents=True, exist_ok=True)
        with writing(self.folder / PLAN) as stream:
            all_inputs = before.get("inputs", {}) | inputs
            json.dump({"settings": settings, "inputs": all_inputs, "shards": sorted(names | known)}, stream, indent=1)

    def _settings(self, ending: str, size: int) -> dict[str, Any]:
        """What shards depend on beside the inputs, by names that messages use."""
        task, source = self.task, self.source
        return {
            "the model": _digest(Placement.of(task.model, task.device, task.runtime).folder.path),
            "--runtime": task.runtime,
            "an option": str(task.options),
            "--input": source.format,
            "--text-encoding": source.text_encoding,
            "--ranges": source.ranges,
            "--column": source.column,
            "--on-error": source.on_error,
            "--format": ending,
            "--shard-size": size,
        }

    def _inputs(self) -> dict[str, list[int]]:
        """The size and time of each input."""
        paths = {shard.range.path for shard in self.shards}
        states = {str(Path(path).resolve()): Path(path).stat() for path in paths}
        return {path: [state.st_size, state.st_mtime_ns] for path, state in sorted(states.items())}

    def _read_plan(self) -> dict[str, Any]:
        """The plan of an earlier run, if there is one."""
        path = self.folder / PLAN
        if not path.exists():
            return {}
        try:
            plan = json.loads(path.read_text(encoding="utf-8"))
            if not (isinstance(plan["settings"], dict) and isinstance(plan["inputs"], dict)):
                raise TypeError("other values than those of a plan")
            return {**plan, "shards": list(map(str, plan["shards"]))}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileError(f"{path}: damaged ({error}); {HINT}") from error

    def _remove(self, names: set[str]) -> None:
        """Remove the shards of an earlier plan, and files where those of this one will be."""
        with suppress(FileError):  # a damaged plan names none
            names = names.union(self._read_plan().get("shards", ()))
        folder = self.folder.resolve()
        for path in (folder / name for name in names):
            if path.resolve().is_relative_to(folder) and path.is_file():
                path.unlink()
        shutil.rmtree(folder / UNNUMBERED, ignore_errors=True)


def _shard_parser(task: Task, source: Source) -> Callable[[Shard], ShardResult]:
    """What parses shards of a source, with the model loaded."""
    return partial(_parse_shard, source, task, task())


def _parse_shard(source: Source, task: Task, parser: ChunkParser, shard: Shard) -> ShardResult:
    """Read, parse and write a shard."""
    part, results, is_numbered = shard.range, list[Result](), shard.unnumbered is None
    try:
        outcome = parse_files(
            replace(source, files=(part,)),
            shard.unnumbered or shard.path,
            task if is_numbered else replace(task, format=CONLLU),
            ThisProcess(loaded=parser),
            lambda result: results.append(replace(result, output=b"")),
            number=is_numbered,
        )
    except FormatError as error:  # which names a line of the range
        is_record = (source.format or input_format(part.path)) in RECORDS
        if is_record or not part.start or error.path != display_name(part.path):
            raise
        lines_before = sum(map(count_lines, read_buffers(part.path, 0, part.start)))
        raise FormatError(error.path, error.line + lines_before, error.message) from error
    sentences = sum(result.sentences for result in results)
    if not is_numbered:
        with writing(shard.count_path) as count:
            count.write(str(sentences))
    return ShardResult(shard, outcome, sentences, tuple(one for result in results for one in result.skipped))


def _number_shard(task: Task, shard: Shard) -> None:
    """Write a shard that is parsed, with the ids that its sentences have in their file."""
    assert shard.unnumbered is not None
    number = shard.before
    with opened(shard.path, task) as sink:
        for raw in cut_raw_conllu(read_buffers(shard.unnumbered), shard.unnumbered):
            conllu, number = with_ids(raw.data, number)
            write_all(sink, conllu)


def named_files(files: Iterable[str | Path], *, outside: Path | None = None) -> Iterator[tuple[str, str]]:
    """Files and their names; those of a folder (and of folders in it) by their paths there, in order.

    Hidden files, and those of the folder `outside`, are left out.
    """
    for file in files:
        if not Path(file).is_dir():
            yield Path(file).name, str(file)
            continue
        inside = [path for path in sorted(Path(file).rglob("*")) if path.is_file() and _is_input(path, file, outside)]
        if not inside:
            raise FileError(f"{file}: there are no files in this folder")
        yield from ((str(path.relative_to(file)), str(path)) for path in inside)


def _is_input(path: Path, folder: str | Path, outside: Path | None) -> bool:
    is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not is_hidden and not (outside and path.resolve().is_relative_to(outside.resolve()))


def _shards_of(name: str, path: str, source: Source, folder: Path, ending: str, size: int) -> Iterator[Shard]:
    """The shards of a file. Of one that is cut, their names say which of how many they are, and sort."""
    ranges = cut_file(path, source.format, size, text_encoding=source.text_encoding, ranges=source.ranges)
    stem = without_compression(name)
    stem = stem.removesuffix(Path(stem).suffix) if Path(stem).suffix in INPUT_ENDINGS else stem
    if len(ranges) == 1:
        yield Shard(ranges[0], str(folder / f"{stem}.{ending}"))
        return
    waits = (source.format or input_format(path)) not in (CONLLU, *RECORDS)
    for number, part in enumerate(ranges):
        shard = f"{stem}-{number:05}-of-{len(ranges):05}"
        unnumbered = str(folder / UNNUMBERED / f"{shard}.conllu") if waits else None
        yield Shard(part, str(folder / f"{shard}.{ending}"), unnumbered)


def _digest(folder: Path) -> str:
    """A checksum of all files of a model but the states of its training."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith(("checkpoint", ".")):
            digest.update(f"{path.relative_to(folder)}\n".encode(errors="surrogateescape"))
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
