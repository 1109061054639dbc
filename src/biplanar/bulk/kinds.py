"""What kinds of input there are."""

from __future__ import annotations

from pathlib import Path

from biplanar.data.files import INPUTS

CONLLU, TEXT, LINES, JSONL, PARQUET = "conllu", "text", "lines", "jsonl", "parquet"
RECORDS = (JSONL, PARQUET)  # each of whose records is a text, or sentences as CoNLL-U
KINDS = (*INPUTS, *RECORDS)

# Kinds by the endings of files' names, which that of a compressed file may follow; all others are text.
ENDINGS = {".conllu": CONLLU, ".jsonl": JSONL, ".ndjson": JSONL, ".parquet": PARQUET, ".txt": TEXT}


def kind_of(file: str | Path) -> str:
    """The kind of a file by its name."""
    return next((kind for ending, kind in ENDINGS.items() if ending in Path(file).name), TEXT)


def is_numbered(kind: str) -> bool:
    """Whether its sentences have no numbers of their own, and get those of their places in the file."""
    return kind not in (CONLLU, *RECORDS)
