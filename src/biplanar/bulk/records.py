"""Records of JSON lines and Parquet files: each is a text of its own, or sentences as CoNLL-U."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from biplanar.data.conllu import RawConllu, missing_end
from biplanar.data.files import decode_utf8, display_name, raw_lines_of
from biplanar.data.formats import CONLLU, TEXT
from biplanar.errors import FileError, FormatError, need
from biplanar.tokenizer.paragraphs import paragraphs_of_text
from biplanar.tokenizer.segmented import TextPart

RECORDS_AT_ONCE = 1_000  # of a Parquet file


@dataclass(frozen=True)
class Record:
    """A document: its name, its text or CoNLL-U, and where it is."""

    name: str
    content: str
    is_conllu: bool
    has_id: bool = False
    path: str = "<record>"
    line: int = 1  # or row

    @classmethod
    def of(cls, fields: object, path: str, line: int, column: str | None) -> Record:
        """From named values: the content is in the column asked for, or else in `conllu`, or else in `text`.

        Its name is its `id`, or else its line or row.
        """
        if not isinstance(fields, Mapping):
            raise FormatError(path, line, f"not a JSON object but {type(fields).__name__}")
        chosen = column or (CONLLU if CONLLU in fields else TEXT)
        content, name = fields.get(chosen), fields.get("id")
        if not isinstance(content, str):
            found = f"is {type(content).__name__}, not text" if chosen in fields else "is missing"
            raise FormatError(path, line, f"the field {chosen!r} {found} (--column names another)")
        try:
            shown = str(line if name is None else name).replace("\n", " ").replace("\r", " ")
            shown.encode()
        except UnicodeEncodeError as error:
            raise FormatError(path, line, "the field 'id' has a lone surrogate, which cannot be written") from error
        return cls(shown, content, chosen == CONLLU, name is not None, path, line)

    @property
    def size(self) -> int:
        """Bytes of its content in UTF-8."""
        return len(self.content.encode(errors="surrogatepass"))

    def part(self) -> TextPart:
        """Its text. Sentences begin with its name as `# newdoc id`, and are numbered behind it."""
        paragraphs = paragraphs_of_text(self.content)
        return TextPart(paragraphs, sent_id=lambda number: f"{self.name}-{number}", name=self.name)

    def given_conllu(self) -> Iterator[RawConllu]:
        """Its sentences, if it has CoNLL-U; errors name its line."""
        if self.is_conllu and self.content.strip():
            data = self.content + missing_end(self.content)
            if self.has_id and "# newdoc" not in data.partition("\t")[0]:
                data = f"# newdoc id = {self.name}\n{data}"
            yield RawConllu(data.encode(errors="surrogatepass"), f"{self.path}:{self.line}")


# A record, or what is wrong with it.
RecordOrError = Record | FormatError


def read_json_records(
    buffers: Iterable[bytes], path: str, first_line: int, column: str | None
) -> Iterator[RecordOrError]:
    """The records of JSON lines; empty lines are skipped."""
    name = display_name(path)
    for number, line in raw_lines_of(buffers, first_line):
        try:
            if text := decode_utf8(line, name, number).strip("\ufeff \t\r"):
                yield Record.of(json.loads(text), name, number, column)
        except FormatError as error:
            yield error
        except (ValueError, RecursionError) as error:  # not JSON, huge integers, deep nesting
            yield FormatError(name, number, f"not a JSON object: {error}")


def read_parquet_records(
    path: str, groups: Sequence[int] | None, before: int, column: str | None
) -> Iterator[RecordOrError]:
    """The records of some row groups of a Parquet file, or of all; `before` are the rows before them."""
    name, number = display_name(path), before
    with _parquet_file(path) as file:
        wanted = {column, "id"} if column else {CONLLU, TEXT, "id"}
        columns = [name for name in file.schema_arrow.names if name in wanted]
        for batch in file.iter_batches(RECORDS_AT_ONCE, row_groups=groups, columns=columns):
            for row in range(batch.num_rows):
                number += 1
                try:
                    fields = {column: batch.column(column)[row].as_py() for column in columns}
                    found: RecordOrError = Record.of(fields, name, number, column)
                except FormatError as error:
                    found = error
                except UnicodeDecodeError as error:
                    found = FormatError(name, number, f"not UTF-8 text: {error.reason}")
                yield found


def row_group_sizes(path: str) -> list[tuple[int, int]]:
    """Rows and bytes of each row group."""
    with _parquet_file(path) as file:
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        return [(group.num_rows, group.total_byte_size) for group in groups]


@contextmanager
def _parquet_file(path: str) -> Iterator[Any]:
    """Open a Parquet file; errors of PyArrow name it."""
    purpose = f"{display_name(path)}: reading Parquet"
    arrow, parquet = (need(module, purpose, "formats") for module in ("pyarrow", "pyarrow.parquet"))
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (OSError, arrow.ArrowException) as error:
        raise FileError(f"{display_name(path)}: no Parquet file, or a damaged one ({error})") from error
