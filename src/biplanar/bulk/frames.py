"""Data frames in and out, as Spark's `mapInPandas` and Ray Data's `map_batches` hand them to functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from biplanar.bulk.places import Place
from biplanar.bulk.records import Record, RecordsChunk
from biplanar.bulk.tables import SCHEMA, rows_of
from biplanar.bulk.task import ChunkParser, Task
from biplanar.data.extras import need
from biplanar.pipeline.parser_input import chunked

CHUNK_CHARACTERS = 300_000  # that are parsed together


@lru_cache(maxsize=1)
def _loaded(task: Task) -> ChunkParser:
    """A task with its model, which each process loads once."""
    return task()


@dataclass(frozen=True)
class FrameTask:
    """From data frames of records to data frames with a row for each sentence.

    A record is called by its `id`, which its sentences' numbers stand behind; `column` is what is parsed (None:
    `conllu`, or else `text`). It can be sent to other processes, each of which loads the model once.
    """

    task: Task = field(default_factory=Task)
    column: str | None = None
    schema: ClassVar[str] = SCHEMA  # of what it gives

    def __call__(self, frames: Iterable[Any]) -> Iterator[Any]:
        """Parse one frame after the other."""
        pandas = need("pandas", "data frames", "formats")
        for frame in frames:
            rows = enumerate(frame.to_dict("records"), 1)
            records = [Record.of(row, number, self.column) for number, row in rows]
            for chunk in chunked(records, lambda record: len(record.content), lambda _: CHUNK_CHARACTERS):
                result = _loaded(self.task)(RecordsChunk(Place("<frame>", 1, len(chunk)), chunk, 0))
                yield pandas.DataFrame(rows_of(result.output))
