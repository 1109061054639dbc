"""The speed of the bundled model on raw text, on the same words given as CoNLL-U, and of UDPipe 1 on the text.

    python -m benchmarks.raw_text FILE.conllu [--udpipe FILE [--tokenizer FILE]] [--rounds 5] [--json RESULT]

The text is that of the file's sentences; the words are those that the bundled model finds in it. All take turns, each
time in a new process on one core, as in `benchmarks.parsers`. UDPipe cuts text by its model's tokenizer, or by that of
another model.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from study.fingerprint import of_model

import biplanar
from benchmarks.arguments import ArgumentParser, at_least
from benchmarks.machine import command, machine, versions
from benchmarks.output import Numbers, Sheet, keep, show
from benchmarks.parsers.gold import WARM_UP
from benchmarks.parsers.processes import run_job
from benchmarks.parsers.systems import FASTEST
from benchmarks.texts import write_file
from biplanar.data.raw_text import raw_text
from biplanar.decoding import DEFAULT_DECODER
from biplanar.pipeline.model_folder import ModelFolder

PACKAGES = ("numba", "numpy", "onnxruntime", "ufal.udpipe")
TEXT, WORDS, UDPIPE = "bundled model, raw text", "bundled model, words", "UDPipe 1, raw text"
COLUMNS = ("", "words/s", "times UDPipe 1")


def measure(file: Path, udpipe: str | None, tokenizer: str | None, rounds: int) -> Numbers:
    """All of it."""
    bundled, gold = ModelFolder.find().path, list(biplanar.read_conllu(file))
    found = list(biplanar.load().segmenter.segment(raw_text(gold)))
    ours = {"kind": "biplanar", "model": str(bundled), "options": {"runtime": FASTEST, "decoder": DEFAULT_DECODER}}
    jobs = {TEXT: (ours, ".txt"), WORDS: (ours, ".conllu")}
    if udpipe:
        jobs[UDPIPE] = ({"kind": "udpipe", "model": udpipe, "options": {"tokenizer": tokenizer or udpipe}}, ".txt")
    times = {name: list[float]() for name in jobs}
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder, name) for name in ("input", "warm_up", "output")}
        for name, count in (("input", None), ("warm_up", WARM_UP)):
            paths[name].with_suffix(".txt").write_text(raw_text(gold[:count]), encoding="utf-8")
            write_file(found[:count], paths[name].with_suffix(".conllu"))
        for _ in range(rounds):
            for name, (job, suffix) in jobs.items():
                files = {what: str(path.with_suffix(suffix)) for what, path in paths.items()}
                times[name].append(run_job(job | files)["processor_seconds"])
    return {
        "fingerprint": of_model(bundled),
        "machine": machine(),
        "versions": versions(PACKAGES),
        "command": command("benchmarks.raw_text"),
        "file": file.name,
        "words": sum(map(len, found)),
        "seconds": {name: min(some) for name, some in times.items()},
    }


def sheets(results: Numbers) -> Iterator[Sheet]:
    """As a table."""
    unit = results["seconds"].get(UDPIPE)
    rows = [
        [name, f"{results['words'] / seconds:,.0f}", f"{unit / seconds:.2f}" if unit else "–"]
        for name, seconds in results["seconds"].items()
    ]
    yield Sheet(f"{results['words']:,} words", COLUMNS, rows)


def main() -> None:
    """Measure, print a table, and keep the numbers as JSON."""
    parser = ArgumentParser("benchmarks.raw_text", __doc__)
    parser.add_argument("file", type=Path, help="CoNLL-U")
    parser.add_argument("--udpipe", metavar="FILE", help="a model of UDPipe 1")
    parser.add_argument("--tokenizer", metavar="FILE", help="the model whose tokenizer it uses, if not its own")
    parser.add_argument("--rounds", type=at_least(1), default=5)
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    options = parser.parse_args()
    with parser.reporting():
        results = measure(options.file, options.udpipe, options.tokenizer, options.rounds)
        show(sheets(results))
        keep(results, options.json)


if __name__ == "__main__":
    main()
