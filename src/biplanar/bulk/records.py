"""Records of JSON lines and Parquet files: each is a text of its own, or sentences as CoNLL-U."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biplanar.bulk.kinds import CONLLU, TEXT
from biplanar.bulk.places import Place
from biplanar.data.conllu import RawConllu, missing_end
from biplanar.data.extras import need
from biplanar.errors import BiplanarError, FileError, FormatError
from biplanar.pipeline.parser import Parser
from biplanar.tokenizer.paragraphs import paragraphs_of

RECORDS_AT_ONCE = 1_000  # of a Parquet file

_SENT_ID = re.compile(r"^# sent_id = (?=\d+$)", re.MULTILINE)


@dataclass(frozen=True)
class Record:
    """A document and how it is called."""

    name: str
    content: str
    is_conllu: bool

    @classmethod
    def of(cls, fields: Mapping[str, Any], number: int, column: str | None) -> Record:
        """Of named values: the content is in the column asked for, or else in `conllu`, or else in `text`.

        It is called by its `id`, or else by its number.
        """
        chosen = column or (CONLLU if CONLLU in fields else TEXT)
        content, name = fields.get(chosen), fields.get("id")
        if not isinstance(content, str):
            found = "none" if chosen not in fields else type(content).__name__
            raise BiplanarError(f"expected a text as {chosen!r}, found {found} (--column names another)")
        return cls(str(number if name is None else name).replace("\n", " "), content, chosen == CONLLU)

    def conllu(self, parser: Parser, path: str) -> Iterator[RawConllu]:
        """Its sentences; those of raw text are numbered behind its name."""
        if self.is_conllu:
            data = self.content + missing_end(self.content)
            yield from [RawConllu(data.encode(errors="surrogatepass"), f"{path}:{self.name}")] if data.strip() else ()
            return
        paragraphs = [one for several in paragraphs_of([self.content]) for one in several]
        text = parser.segmenter.to_conllu(paragraphs).replace("# newdoc\n", f"# newdoc id = {self.name}\n", 1)
        if text:
            yield RawConllu(_SENT_ID.sub(lambda found: f"{found[0]}{self.name}-", text).encode())


@dataclass(frozen=True)
class RecordsChunk:
    """Some records."""

    place: Place
    records: Sequence[Record]
    size: int
    gets_numbers: bool = False

    def conllu(self, parser: Parser) -> Sequence[RawConllu]:
        """The sentences of all of them."""
        return [block for record in self.records for block in record.conllu(parser, self.place.path)]


def read_json_records(
    lines: Iterable[str], path: str, before: int, column: str | None
) -> Iterator[tuple[int, Record, int]]:
    """The number of each record among the lines of its file, the record, and its bytes; empty lines are skipped."""
    for number, line in enumerate(lines, before + 1):
        if line.strip("\ufeff \t\r"):
            try:
                fields = json.loads(line.lstrip("\ufeff"))
                if not isinstance(fields, dict):
                    raise BiplanarError(f"expected a JSON object, found {type(fields).__name__}")
                yield number, Record.of(fields, number, column), len(line.encode(errors="surrogatepass")) + 1
            except json.JSONDecodeError as error:
                raise FormatError(path, number, f"expected a JSON object, found {error}") from error
            except BiplanarError as error:
                raise FormatError(path, number, str(error)) from error


def read_parquet_records(
    path: str, groups: Sequence[int] | None, before: int, column: str | None
) -> Iterator[tuple[int, Record, int]]:
    """The same of some row groups of a Parquet file, or of all."""
    file = _parquet_file(path)
    wanted = {column, "id"} if column else {CONLLU, TEXT, "id"}
    columns = [name for name in file.schema_arrow.names if name in wanted]
    number = before
    for batch in file.iter_batches(RECORDS_AT_ONCE, row_groups=groups, columns=columns):
        for fields in batch.to_pylist():
            number += 1
            try:
                record = Record.of(fields, number, column)
            except BiplanarError as error:
                raise FormatError(path, number, str(error)) from error
            yield number, record, len(record.content.encode(errors="surrogatepass"))


def row_group_sizes(path: str) -> list[tuple[int, int]]:
    """Rows and bytes of each row group."""
    metadata = _parquet_file(path).metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return [(group.num_rows, group.total_byte_size) for group in groups]


def _parquet_file(path: str) -> Any:
    parquet, arrow = (need(name, f"{path}: reading Parquet", "formats") for name in ("pyarrow.parquet", "pyarrow"))
    try:
        return parquet.ParquetFile(path)
    except (OSError, arrow.ArrowException) as error:
        raise FileError(f"{path}: expected a Parquet file, found {error}") from error
