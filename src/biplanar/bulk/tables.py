"""Tables with a row for each sentence and its words in lists: Parquet files, and data frames of Spark and Ray."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, ClassVar

from biplanar.bulk.chunks import Chunk, from_records
from biplanar.bulk.records import Record
from biplanar.bulk.task import ChunkParser, Task
from biplanar.data.conllu import DEPREL, FEATS, FORM, HEAD, LEMMA, MISC, UPOS, XPOS, RawConllu
from biplanar.errors import need
from biplanar.pipeline.parser_io import chunked

WORD_COLUMNS = {
    "form": FORM,
    "lemma": LEMMA,
    "upos": UPOS,
    "xpos": XPOS,
    "feats": FEATS,
    "head": HEAD,
    "deprel": DEPREL,
    "misc": MISC,
}
ROW_GROUP = 8 << 20  # bytes of CoNLL-U
CHUNK_CHARACTERS = 300_000  # of data frames, that are parsed together

# The types of columns, as Spark writes them.
TYPES = dict.fromkeys(("doc_id", "sent_id", "text", *WORD_COLUMNS, "conllu"), "string")
TYPES |= dict.fromkeys(WORD_COLUMNS, "array<string>") | {"head": "array<int>"}
SCHEMA = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())


def rows_of(conllu: bytes, document: str | None = None) -> dict[str, list[Any]]:
    """The columns of some parsed sentences; `conllu` has each as a whole, multiword tokens included.

    `document` is the id of the document that the first sentence continues.
    """
    sentences = list(RawConllu(conllu).sentences()) if conllu.strip() else []
    columns: dict[str, list[Any]] = {"doc_id": []}
    for sentence in sentences:
        if any(comment.startswith("# newdoc") for comment in sentence.comments):
            document = sentence.comment("newdoc id")
        columns["doc_id"].append(document)
    columns |= {name: [one.comment(name) for one in sentences] for name in ("sent_id", "text")}
    columns |= {name: [one.column(number) for one in sentences] for name, number in WORD_COLUMNS.items()}
    columns["head"] = [list(map(int, heads)) for heads in columns["head"]]
    return columns | {"conllu": [one.raw for one in sentences]}


class ParquetStream:
    """Takes parsed sentences as CoNLL-U, some at a time, and writes a Parquet file."""

    def __init__(self, stream: Any) -> None:
        self._arrow = arrow = need("pyarrow", "writing Parquet", "formats")
        parquet = need("pyarrow.parquet", "writing Parquet", "formats")
        text = arrow.string()
        types = {"string": text, "array<string>": arrow.list_(text), "array<int>": arrow.list_(arrow.int32())}
        schema = arrow.schema([(name, types[kind]) for name, kind in TYPES.items()])
        self._writer = parquet.ParquetWriter(stream, schema, compression="zstd")
        self._waiting: list[bytes] = []
        self._document: str | None = None

    def write(self, conllu: bytes, /) -> int:
        """Take whole sentences, and write those so far if they are enough for a row group."""
        self._waiting.append(bytes(conllu))
        if sum(map(len, self._waiting)) >= ROW_GROUP:
            self._flush()
        return len(conllu)

    def _flush(self) -> None:
        rows = rows_of(b"".join(self._waiting), self._document)
        if rows["conllu"]:
            self._document = rows["doc_id"][-1]
            self._writer.write_table(self._arrow.table(rows, schema=self._writer.schema))
        self._waiting.clear()

    def __enter__(self) -> ParquetStream:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()
        self._writer.close()


@lru_cache(maxsize=1)
def _loaded(task: Task) -> ChunkParser:
    """A task with its model, which each process loads once."""
    return task()


@dataclass(frozen=True)
class FrameTask:
    """From data frames of records to data frames with a row for each sentence, for Spark's `mapInPandas`.

    The ids of sentences are the record's `id` and a number. `column` is what is parsed (None: `conllu`, or else
    `text`). It can be sent to other processes, each of which loads the model once.
    """

    task: Task = field(default_factory=Task)
    column: str | None = None
    schema: ClassVar[str] = SCHEMA  # of the results

    def __call__(self, frames: Iterable[Any]) -> Iterator[Any]:
        """Parse one frame after the other."""
        pandas = need("pandas", "data frames", "formats")
        for frame in frames:
            rows = enumerate(frame.to_dict("records"), 1)
            records = [Record.of(row, "<frame>", number, self.column) for number, row in rows]
            for some in chunked(records, lambda record: len(record.content), lambda _: CHUNK_CHARACTERS):
                result = _loaded(self.task)(Chunk("<frame>", 1, len(some), 0, partial(from_records, some)))
                yield pandas.DataFrame(rows_of(result.output))
