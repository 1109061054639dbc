"""What raw text costs `biplanar parse` beside the same words given as CoNLL-U: processor time on one core.

    python -m benchmarks.raw_text FILE.conllu [--copies 3] [--against CHECKOUT] [--rounds 3] [--json RESULT]

The text of the file's sentences is parsed from file to file by the bundled model, and so are the words that it is cut
into, in turn, with start and loading. With `--against`, the package of another checkout, with its bundled model, parses
the text as well.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from study.fingerprint import CODE, RELEASE

import biplanar
from benchmarks.arguments import ArgumentParser, at_least
from benchmarks.machine import ONE_THREAD, command, machine, use_one_core, versions
from benchmarks.output import Numbers, Sheet, keep, show
from benchmarks.timing import run_checkout
from biplanar.data.raw_text import raw_text

ROOT = Path(__file__).parents[1]
PACKAGES = ("numba", "numpy", "onnxruntime")
TEXT, WORDS, OTHER = "raw text", "words", "raw text, other checkout"


def seconds(checkout: Path, file: Path) -> float:
    """Processor time of parsing a file."""
    target = str(file.with_suffix(".parsed.conllu"))
    return run_checkout(checkout, "-m", "biplanar", "parse", str(file), "-o", target, **ONE_THREAD)[0]


def measure(file: Path, copies: int, rounds: int, other: Path | None) -> Numbers:
    """All of it; a first round compiles."""
    sentences = list(biplanar.read_conllu(file))
    with tempfile.TemporaryDirectory() as folder:
        text, words = Path(folder, "text.txt"), Path(folder, "words.conllu")
        text.write_text("\n\n".join([raw_text(sentences)] * copies), encoding="utf-8")
        found = biplanar.load().segmenter.segment(text.read_text(encoding="utf-8"))
        words.write_text("".join(sentence.to_conllu() for sentence in found), encoding="utf-8")
        tasks = {TEXT: (ROOT, text), WORDS: (ROOT, words)} | ({OTHER: (other, text)} if other else {})
        times = {name: list[float]() for name in tasks}
        for _ in range(rounds + 1):
            for name, task in tasks.items():
                times[name].append(seconds(*task))
    return {
        "fingerprint": {"data": RELEASE, "code": CODE},
        "machine": machine(),
        "versions": versions(PACKAGES),
        "command": command("benchmarks.raw_text"),
        "file": file.name,
        "words": sum(map(len, found)),
        "seconds": {name: min(some[1:]) for name, some in times.items()},
    }


def sheets(results: Numbers) -> Iterator[Sheet]:
    """As a table."""
    rows = results["seconds"]
    cells = [[name, f"{one:.2f}", f"{one / rows[WORDS]:.2f}"] for name, one in rows.items()]
    yield Sheet(f"{results['words']:,} words", ("input", "seconds", "times as long"), cells)


def main() -> None:
    """Measure, print a table, and keep the numbers as JSON."""
    parser = ArgumentParser("benchmarks.raw_text", __doc__)
    parser.add_argument("file", type=Path, help="CoNLL-U")
    parser.add_argument("--copies", type=at_least(1), default=3, help="of the text")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout, to compare with")
    parser.add_argument("--rounds", type=at_least(1), default=3)
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    options = parser.parse_args()
    with parser.reporting():
        use_one_core()
        results = measure(options.file, options.copies, options.rounds, options.against)
        show(sheets(results))
        keep(results, options.json)


if __name__ == "__main__":
    main()
