"""What `biplanar parse --text` does from its start to its answer: processor time, and imports by package.

    python -m benchmarks.start [--against CHECKOUT] [--rounds 10] [--json RESULT]

The best of several rounds, after one that compiles and writes bytecode. With `--against`, the package of another
checkout takes turns.
Imports are those of the best of as many further runs, by `python -X importtime`; the time of a package is that of its
own modules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from study.fingerprint import CODE

from benchmarks.arguments import ArgumentParser, at_least
from benchmarks.machine import command, machine, versions
from benchmarks.output import Numbers, Sheet, keep, show
from benchmarks.timing import run_checkout

ROOT = Path(__file__).parents[1]
PACKAGES = ("numba", "numpy", "onnxruntime", "typer")
COMMAND = ("-m", "biplanar", "parse", "--text", "Nobody came.")
SHOWN = 6  # packages; the others are one row
_IMPORT = re.compile(r"import time: +(\d+) \| +\d+ \| *([\w.]+)")


def imports(checkout: Path, rounds: int) -> dict[str, float]:
    """Seconds by package, the slowest first."""
    found = min((imports_of_run(checkout) for _ in range(rounds)), key=Counter.total)
    rest = sum(own for _, own in found.most_common()[SHOWN:])
    return {name: own / 1e6 for name, own in [*found.most_common(SHOWN), ("others", rest)]}


def imports_of_run(checkout: Path) -> Counter[str]:
    """Microseconds by package."""
    found: Counter[str] = Counter()
    for own, module in _IMPORT.findall(run_checkout(checkout, "-X", "importtime", *COMMAND)[1]):
        found[module.partition(".")[0]] += int(own)
    return found


def measure(checkouts: dict[str, Path], rounds: int) -> Numbers:
    """All of it."""
    times = {name: list[float]() for name in checkouts}
    for number in range(rounds + 1):
        for name, checkout in checkouts.items():
            seconds, _ = run_checkout(checkout, *COMMAND)
            if number > 0:
                times[name].append(seconds)
    return {
        "fingerprint": {"code": CODE},
        "machine": machine(),
        "versions": versions(PACKAGES),
        "command": command("benchmarks.start"),
        "seconds": {name: min(some) for name, some in times.items()},
        "imports": imports(checkouts["this"], rounds),
    }


def sheets(results: Numbers) -> Iterator[Sheet]:
    """As a table."""
    whole = {f"all, {name} checkout": one for name, one in results["seconds"].items()}
    cells = [[name, f"{1000 * one:.0f}"] for name, one in (whole | results["imports"]).items()]
    yield Sheet("From start to answer", ("part", "ms"), cells)


def main() -> None:
    """Measure, print a table, and keep the numbers as JSON."""
    parser = ArgumentParser("benchmarks.start", __doc__)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout, to compare with")
    parser.add_argument("--rounds", type=at_least(1), default=10)
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    options = parser.parse_args()
    with parser.reporting():
        checkouts = {"this": ROOT} | ({"other": options.against.resolve()} if options.against else {})
        results = measure(checkouts, options.rounds)
        show(sheets(results))
        keep(results, options.json)


if __name__ == "__main__":
    main()
