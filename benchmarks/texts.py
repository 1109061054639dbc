"""Sentences and files of any length, made from those of a treebank."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar

from biplanar.data.conllu import Sentence, read_conllu, write_conllu

Item = TypeVar("Item")

ROOT = Path(__file__).parents[1]

LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000)  # words, of sentences whose times are compared


def treebanks_folder() -> Path:
    """The folder that `$BIPLANAR_TREEBANKS` names, or else the one beside the repository."""
    return Path(os.environ.get("BIPLANAR_TREEBANKS") or ROOT.parent / "shared" / "ud-2.4")


def joined_sentences(path: Path, length: int, count: int) -> list[list[str]]:
    """Sentences of one length, made by joining a file's words; a file with too few words is repeated."""
    forms = cycle([form for sentence in read_conllu(path) for form in sentence.forms])
    return [list(islice(forms, length)) for _ in range(count)]


def repeated(items: Sequence[Item], count: int) -> list[Item]:
    """The items, repeated until there are `count`."""
    return list(islice(cycle(items), count))


def write_file(sentences: Iterable[Sentence], path: Path) -> None:
    """Sentences as a CoNLL-U file."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        write_conllu(sentences, stream)


def write_copies(source: Path, copies: int, target: Path) -> None:
    """A file with the content of another several times."""
    content = source.read_bytes()
    with target.open("wb") as stream:
        for _ in range(copies):
            stream.write(content)
