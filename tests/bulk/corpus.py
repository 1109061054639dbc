"""What the tests of whole files parse: hand-written sentences in every kind of input."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import biplanar
from biplanar.bulk import EngineConfig, Source, Task, make_engine, parse_files
from biplanar.data.conllu import read_conllu
from biplanar.pipeline.options import ParseOptions
from tests.data.reading import read_horizontal, read_vertical

LINE = "The old man who lives near the river saw a very large dog yesterday , did n't he ?"
TELESCOPE = "I saw the man with the telescope ."
WORDS = LINE.split(" ")
SENTENCES = [WORDS[: 1 + 7 * number % 19] for number in range(40)]
CONLLU = "".join(
    sentence.raw for sentence in (biplanar.Sentence.from_words(words, comments=["# x = é"]) for words in SENTENCES)
)
RICH = """\
# text = She can't sing.
1\tShe\tshe\tPRON\t_\t_\t_\t_\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\t_\t_\t7\tx\t_\t_
3\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_
3.1\tsongs\tsong\tNOUN\t_\t_\t_\t_\t4:obj\t_
4\tsing\tsing\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No
"""
TEXT = "\n\n".join(" ".join(words) for words in SENTENCES) + "\n"
CONTENT = {
    "conllu": CONLLU,
    "text": TEXT + "Nobody came. Why?\nYes. " + "\n \n" + TEXT,
    "lines": TEXT.replace("\n\n", "\n") + "\n\nNobody came. Why?\n",
    "horizontal": "\ufeff" + TEXT + "  two  words \n",
    "vertical": "\n\n".join("\n".join(words) for words in SENTENCES),
}

OPTIONS = ("decoder", "beam", "probabilities", "best", "batch_words")


def task_of(**settings: object) -> Task:
    """A task from the names of its settings and of parse options."""
    options = {name: settings.pop(name) for name in OPTIONS if name in settings}
    return Task(options=ParseOptions(**options), **settings)


def parsed_file(path: Path, kind: str = "conllu", *, workers: int = 1, **settings: object) -> str:
    stream = io.BytesIO()
    parse_files(Source((path,), kind), stream, task_of(**settings), make_engine(EngineConfig(workers)))
    return stream.getvalue().decode()


def sentences_of(parser: biplanar.Parser, path: Path, kind: str) -> Iterator[biplanar.Sentence]:
    """The sentences of a file as other parts of the package read them."""
    if kind in ("text", "lines"):
        return parser.segmenter.stream([path.read_text()], line_breaks="only" if kind == "lines" else "hint")
    return {"conllu": read_conllu, "horizontal": read_horizontal, "vertical": read_vertical}[kind](path)
