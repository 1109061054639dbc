"""The formats of files, and which one a file's ending says: the one place that knows endings."""

from __future__ import annotations

from pathlib import Path

from biplanar.errors import BiplanarError

CONLLU, TEXT, LINES, HORIZONTAL, VERTICAL = "conllu", "text", "lines", "horizontal", "vertical"
JSON, JSONL, PARQUET, TREE, SVG, HTML, PNG, PDF = "json", "jsonl", "parquet", "tree", "svg", "html", "png", "pdf"

INPUTS = (TEXT, LINES, HORIZONTAL, VERTICAL, CONLLU)
RECORDS = (JSONL, PARQUET)  # inputs each of whose records is a text, or sentences as CoNLL-U
DRAWINGS = (SVG, HTML, PNG, PDF)  # drawn once all trees are there
OUTPUTS = (CONLLU, JSON, TREE, *DRAWINGS, PARQUET)

COMPRESSED = (".gz", ".xz", ".bz2", ".zst")

INPUT_ENDINGS = {".conllu": CONLLU, ".jsonl": JSONL, ".ndjson": JSONL, ".parquet": PARQUET, ".txt": TEXT}
OUTPUT_ENDINGS = {".conllu": CONLLU, ".json": JSON, ".jsonl": JSON, ".txt": TREE, ".parquet": PARQUET}
OUTPUT_ENDINGS |= {f".{drawing}": drawing for drawing in DRAWINGS}


def without_compression(name: str) -> str:
    """A file's name without the ending of a compressed file."""
    return name.removesuffix(Path(name).suffix) if Path(name).suffix in COMPRESSED else name


def input_format(file: str | Path) -> str:
    """The format of a file that is read, by the last ending that says one; text if none does."""
    endings = reversed(Path(file).suffixes)
    return next((INPUT_ENDINGS[ending] for ending in endings if ending in INPUT_ENDINGS), TEXT)


def output_format(file: str | Path) -> str:
    """The format of a file that is written, by its ending: CoNLL-U if it has none, an error if it is unknown."""
    ending = Path(without_compression(Path(file).name)).suffix
    if ending and ending not in OUTPUT_ENDINGS:
        known = ", ".join(OUTPUT_ENDINGS)
        raise BiplanarError(f"{file}: no format has the ending {ending} (known: {known}); choose one with --format")
    return OUTPUT_ENDINGS.get(ending, CONLLU)
