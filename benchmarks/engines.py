"""What engines cost: `biplanar parse` in one process, in workers and with Ray, and what reading and writing take.

The commands are timed as a whole (wall time), with start and model loading; all take turns, and the best round counts.
Reading and writing are timed alone, on one core (processor time). The machine should do nothing else meanwhile.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.arguments import ArgumentParser, at_least
from benchmarks.machine import machine, versions
from benchmarks.output import Numbers, Sheet, keep, show
from benchmarks.texts import write_copies
from benchmarks.timing import best_times
from biplanar.bulk import Source, Task
from biplanar.bulk.output import opened
from biplanar.data.conllu import read_conllu
from biplanar.data.formats import output_format
from biplanar.pipeline.parser import CHUNK_WORDS

PACKAGES = ("numpy", "onnxruntime", "pyarrow", "ray", "zstandard")
TARGETS = {"processes": 1.8, "ray": 1.6}  # times as fast as one process, with two workers


def commands(path: Path, folder: Path, workers: int, shard_size: int) -> dict[str, list[str]]:
    """What is compared, by name."""
    parse, several = ["parse", str(path)], ["--workers", str(workers)]
    shards = ["--shard-size", str(shard_size)]
    return {
        "one process": [*parse, "-o", str(folder / "one.conllu")],
        "processes": [*parse, "-o", str(folder / "processes.conllu"), *several],
        "processes, shards": [*parse, "--output-dir", str(folder / "shards"), *several, *shards],
        "ray, one worker": [*parse, "--output-dir", str(folder / "ray-one"), "--engine", "ray", *shards],
        "ray": [*parse, "--output-dir", str(folder / "ray"), "--engine", "ray", *several, *shards],
    }


def seconds(command: list[str], folder: Path) -> float:
    """The wall time of a command that begins with an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "biplanar", *command], check=True)
    return time.perf_counter() - start


def output(folder: Path) -> bytes:
    """All that a command wrote, one shard after the other."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*.conllu")))


def measure_commands(path: Path, workers: int, shard_size: int, rounds: int) -> dict[str, float]:
    """The best time of each; all must write the same."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "out"
        wanted = b""
        for _ in range(rounds):
            for name, command in commands(path, folder, workers, shard_size).items():
                best[name] = min(best.get(name, float("inf")), seconds(command, folder))
                found = output(folder)
                wanted = wanted or found
                assert found == wanted, name
    return best


def tasks(path: Path, parsed: bytes, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Reading a file and writing its trees, without parsing."""
    yield "read", lambda: [chunk.size for chunk in Source((path,)).chunks(lambda _: CHUNK_WORDS)]
    for ending in ("conllu", "conllu.gz", "conllu.zst", "parquet"):
        yield f"write {ending}", partial(write, parsed, str(folder / f"x.{ending}"))


def write(parsed: bytes, path: str) -> None:
    """Write a shard."""
    with opened(path, Task(format=output_format(path))) as sink:
        sink.write(parsed)


def measure_parts(path: Path, rounds: int) -> dict[str, Numbers]:
    """Processor time of each part, and the bytes of its file."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        seconds(["parse", str(path), "-o", str(folder / "out" / "x.conllu")], folder / "out")
        times = best_times(dict(tasks(path, output(folder / "out"), folder)), rounds)
        sizes = {f"write {file.name[2:]}": file.stat().st_size for file in folder.glob("x.*")}
    return {name: {"seconds": times[name], "bytes": sizes.get(name, path.stat().st_size)} for name in times}


def sheets(results: Numbers) -> Iterator[Sheet]:
    """As tables."""
    words, times = results["words"], results["commands"]
    rows = [
        [name, f"{time:.1f}", f"{words / time:,.0f}", f"{times['one process'] / time:.2f}"]
        for name, time in times.items()
    ]
    yield Sheet("Engines", ("`biplanar parse`", "s", "words/s", "times as fast"), rows)
    words = results["part_words"]
    rows = [
        [
            name,
            f"{1e6 * part['seconds'] / words:.2f}",
            f"{words / part['seconds']:,.0f}",
            f"{part['bytes'] / words:.1f}",
        ]
        for name, part in results["parts"].items()
    ]
    yield Sheet("Reading and writing, one core", ("part", "µs/word", "words/s", "bytes/word"), rows)


def main() -> None:
    """Measure, show and keep."""
    options = ArgumentParser("benchmarks.engines", __doc__)
    options.add_argument("file", type=Path, help="CoNLL-U without trees, not compressed")
    options.add_argument("--copies", type=at_least(1), default=16, help="how often commands parse its content (16)")
    options.add_argument("--workers", type=at_least(2), default=2)
    options.add_argument("--shard-size", type=at_least(1), default=4, help="megabytes (4)")
    options.add_argument("--rounds", type=at_least(1), default=2)
    options.add_argument("--only", choices=("commands", "parts"))
    options.add_argument("--json", type=Path, help="write the numbers to this file, too")
    chosen = options.parse_args()
    part_words = sum(map(len, read_conllu(chosen.file)))
    results: Numbers = {"machine": machine(), "versions": versions(PACKAGES), "part_words": part_words}
    results |= {"words": part_words * chosen.copies, "commands": {}, "parts": {}}
    if chosen.only != "parts":
        with tempfile.TemporaryDirectory() as work:
            write_copies(chosen.file, chosen.copies, path := Path(work) / "copies.conllu")
            results["commands"] = measure_commands(path, chosen.workers, chosen.shard_size, chosen.rounds)
    if chosen.only != "commands":
        results["parts"] = measure_parts(chosen.file, chosen.rounds)
    show(sheets(results))
    for name, wanted in TARGETS.items():
        if name in results["commands"] and chosen.workers == 2:
            found = results["commands"]["one process"] / results["commands"][name]
            print(f"{'yes' if found >= wanted else 'NO '}  {name}: {found:.2f}, wanted {wanted}")
    keep(results, chosen.json)


if __name__ == "__main__":
    main()
