"""The file that all systems parse, and the scores of what they wrote."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.parsers.processes import NotMeasuredError
from benchmarks.texts import write_file
from biplanar.data.conllu import DEPREL, DEPS, HEAD, Sentence, parse_conllu, read_conllu
from biplanar.errors import BiplanarError
from biplanar.evaluation import evaluate

WARM_UP = 10  # sentences parsed before the clock starts, so that everything is compiled


@dataclass(frozen=True)
class GoldFile:
    """A gold file, and copies of it without trees, which are what systems get."""

    sentences: list[Sentence]
    source: Path
    warm_up: Path

    @classmethod
    @contextmanager
    def opened(cls, path: str | Path) -> Iterator[GoldFile]:
        """The copies are removed when the block ends."""
        sentences = list(read_conllu(path))
        for sentence in sentences:
            _ = sentence.tree  # a sentence without one is refused before anything is measured
        blank = [without_tree(sentence) for sentence in sentences]
        with tempfile.TemporaryDirectory(prefix="biplanar-benchmark-") as folder:
            file = cls(sentences, Path(folder) / "input.conllu", Path(folder) / "warm-up.conllu")
            write_file(blank, file.source)
            write_file(blank[:WARM_UP], file.warm_up)
            yield file

    @property
    def words(self) -> int:
        """How many words it has."""
        return sum(map(len, self.sentences))

    @property
    def folder(self) -> Path:
        """A temporary folder for copies and results."""
        return self.source.parent

    def score(self, path: Path) -> dict[str, float]:
        """UAS and LAS of what a system wrote, which must be trees over the same sentences."""
        try:
            parsed = list(read_conllu(path))
            for sentence in parsed:
                _ = sentence.tree
        except BiplanarError as error:
            raise NotMeasuredError(f"its output is no CoNLL-U with trees: {error}") from error
        if [sentence.forms for sentence in parsed] != [sentence.forms for sentence in self.sentences]:
            raise NotMeasuredError("its output has other sentences or words than its input")
        scores = evaluate(self.sentences, parsed)
        return {"uas": 100 * scores["UAS"].f1, "las": 100 * scores["LAS"].f1}


def without_tree(sentence: Sentence) -> Sentence:
    """The same sentence with empty HEAD, DEPREL and DEPS, ended by a blank line."""
    lines = [_without_arc(line) for line in sentence.raw.rstrip("\r\n").split("\n")]
    return parse_conllu("\n".join([*lines, "", ""]), sentence.path)[0]


def _without_arc(line: str) -> str:
    columns = line.rstrip("\r").split("\t")
    if len(columns) == 10:
        columns[HEAD] = columns[DEPREL] = columns[DEPS] = "_"
    return "\t".join(columns)
