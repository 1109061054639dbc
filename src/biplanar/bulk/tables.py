"""Trees as rows: one a sentence, with its words in lists. Parquet files, and data frames of Spark, are made of them."""

from __future__ import annotations

from typing import Any

from biplanar.data.conllu import DEPREL, FEATS, FORM, HEAD, LEMMA, MISC, UPOS, XPOS, RawConllu, Sentence
from biplanar.data.extras import need

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

# As Spark writes a schema.
SCHEMA = ", ".join(
    [
        "sent_id string, text string",
        *(f"{name} array<{'int' if name == 'head' else 'string'}>" for name in WORD_COLUMNS),
        "conllu string",
    ]
)


def rows_of(conllu: bytes) -> dict[str, list[Any]]:
    """The columns of some parsed sentences; `conllu` has each as a whole, multiword tokens included."""
    sentences = list(RawConllu(conllu).sentences()) if conllu.strip() else []
    columns: dict[str, list[Any]] = {name: [one.comment(name) for one in sentences] for name in ("sent_id", "text")}
    for name, number in WORD_COLUMNS.items():
        columns[name] = [_values(one, number) for one in sentences]
    return columns | {"conllu": [one.raw for one in sentences]}


def _values(sentence: Sentence, number: int) -> list[Any]:
    values = sentence.column(number)
    return list(map(int, values)) if number == HEAD else values


class ParquetStream:
    """Takes parsed sentences as CoNLL-U, some at a time, and writes a Parquet file."""

    def __init__(self, stream: Any) -> None:
        self._arrow = need("pyarrow", "writing Parquet", "formats")
        parquet = need("pyarrow.parquet", "writing Parquet", "formats")
        self._writer = parquet.ParquetWriter(stream, self._schema(), compression="zstd")
        self._waiting: list[bytes] = []

    def _schema(self) -> Any:
        text, number = self._arrow.string(), self._arrow.int32()
        words = [(name, self._arrow.list_(number if name == "head" else text)) for name in WORD_COLUMNS]
        return self._arrow.schema([("sent_id", text), ("text", text), *words, ("conllu", text)])

    def write(self, conllu: bytes) -> int:
        """Take whole sentences, and write those so far if they are enough for a row group."""
        self._waiting.append(bytes(conllu))
        if sum(map(len, self._waiting)) >= ROW_GROUP:
            self._flush()
        return len(conllu)

    def _flush(self) -> None:
        rows = rows_of(b"".join(self._waiting))
        if rows["conllu"]:
            self._writer.write_table(self._arrow.table(rows, schema=self._writer.schema))
        self._waiting.clear()

    def __enter__(self) -> ParquetStream:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()
        self._writer.close()
