"""Put the results of several runs into one file, and show them as the tables of the docs.

    python -m study.collect results.json RUN.json ...      # one file of all runs
    python -m study.collect results.json                   # its tables, as Markdown

A run's file is named TREEBANK-SYSTEM-SEED.json.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

from biplanar.errors import BiplanarError, FileError
from biplanar.tagger.config import Config
from study.common import command, read_json, write_json
from study.experiment import NONPROJECTIVE

Run = dict[str, Any]
COUNTS = ("correct", "gold", "system")


def read_run(path: Path) -> Run:
    """A run without its records, and with those settings only that are not the default's."""
    result = read_json(path)
    treebank, _, rest = path.stem.partition("-")
    system, _, seed = rest.rpartition("-")
    if not (treebank and system and seed.isdigit()):
        raise FileError(f"{path}: expected a name of the form TREEBANK-SYSTEM-SEED.json")
    default = Config().to_dict()
    changed = {
        f"{section}.{key}": value
        for section, values in result["config"].items()
        if isinstance(values, dict)
        for key, value in values.items()
        if value != default[section].get(key)
    }
    if result["config"]["encoding"] != default["encoding"]:
        changed["encoding"] = result["config"]["encoding"]
    known = {"treebank": treebank, "system": system, "seed": int(seed), "settings": changed}
    scores = {
        split: {
            decoder: {metric: [score[name] for name in COUNTS] for metric, score in metrics.items()}
            for decoder, metrics in decoders.items()
        }
        for split, decoders in result["scores"].items()
    }
    return known | {"seconds": round(result["seconds"]), "scores": scores}


def rows(runs: list[Run], split: str) -> Iterator[tuple[str, list[dict[str, list[int]]]]]:
    """For each treebank, system and decoder the first cells of a line, and the scores of all seeds."""
    for treebank, system in sorted({(run["treebank"], run["system"]) for run in runs}):
        chosen = [run["scores"][split] for run in runs if (run["treebank"], run["system"]) == (treebank, system)]
        for decoder in dict.fromkeys(name for scores in chosen for name in scores):
            having = [scores[decoder] for scores in chosen if decoder in scores]
            yield f"| {treebank} | {system} | {decoder} | {len(having)} |", having


def table_of_accuracies(runs: list[Run], split: str) -> list[str]:
    """The mean F1 over the seeds."""
    lines = ["| treebank | system | decoder | seeds | UAS | LAS |", "|---|---|---|---|---|---|"]
    for line, scores in rows(runs, split):
        values = [mean(_f1(*one[metric]) for one in scores) for metric in ("UAS", "LAS")]
        lines.append(line + "".join(f" {value:.2f} |" for value in values))
    return lines


def table_of_crossings(runs: list[Run], split: str) -> list[str]:
    """Precision and recall of what is not projective, over all seeds together."""
    lines = [
        "| treebank | system | decoder | seeds | sentences P / R | dependencies P / R |",
        "|---|---|---|---|---|---|",
    ]
    for line, scores in rows(runs, split):
        cells = []
        for metric in NONPROJECTIVE:
            correct, gold, system = (sum(counts) for counts in zip(*(one[metric] for one in scores), strict=True))
            cells.append(f" {100 * correct / max(system, 1):.1f} / {100 * correct / max(gold, 1):.1f} |")
        lines.append(line + "".join(cells))
    return lines


def _f1(correct: int, gold: int, system: int) -> float:
    return 200 * correct / (gold + system)


def main(arguments: list[str]) -> None:
    """Collect, or show what was collected."""
    if not arguments:
        raise BiplanarError("expected RESULTS.json [RUN.json ...]")
    path, *files = map(Path, arguments)
    if files:
        write_json({"runs": [read_run(file) for file in sorted(files)]}, path)
    runs = read_json(path)["runs"]
    for split in ("dev", "test"):
        print("\n".join([f"\n{split}\n", *table_of_accuracies(runs, split)]))
        print("\n".join(["", *table_of_crossings(runs, split)]))


if __name__ == "__main__":
    command(main, "collect")
