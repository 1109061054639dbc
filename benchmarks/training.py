"""How fast configurations train, and how long a whole training would take.

    python -m benchmarks.training TRAIN.conllu DEV.conllu [--configs accurate,fast] [--device cuda] [--seconds 40]
        [--threads 2] [--against CHECKOUT] [--json RESULT]

Each is trained in a process of its own for some seconds, which count from when the first shapes have been recorded (on
a GPU) or numbers of threads compared (on a CPU), without evaluations on dev. With `--against`, the package of another
checkout trains in turn with this one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from study.fingerprint import CODE, RELEASE

from benchmarks.arguments import ArgumentParser, at_least, names
from benchmarks.machine import command, machine, versions
from benchmarks.output import Numbers, Sheet, keep, show
from biplanar.errors import BiplanarError
from biplanar.tagger.config import CONFIGS, read_config

ROOT = Path(__file__).parents[1]
PACKAGES = ("numpy", "torch")
WARM_UP = 10  # seconds


def train(options: argparse.Namespace) -> Numbers:
    """Train one configuration for a while, with whatever package is imported."""
    import torch

    from biplanar.data.conllu import read_conllu
    from biplanar.tagger.loop import Progress
    from biplanar.tagger.training import Trainer

    if options.threads:
        torch.set_num_threads(options.threads)
    start = time.monotonic()
    train, dev = (list(read_conllu(file)) for file in (options.train, options.dev))
    config = read_config(options.configs[0], {"training.evaluations": "1"})  # after the last epoch
    trainer = Trainer(config, train, dev, device=options.device)
    words, prepared = len(trainer.train_examples.forest.heads), time.monotonic()
    first = begun = None
    for event in trainer.run():
        if not isinstance(event, Progress) or event.batch != event.batches:
            continue  # a device is waited for at the end of an epoch
        now = time.monotonic()
        if begun is None or now - prepared < WARM_UP:
            first, begun = event.epoch, now
        elif now - begun > options.seconds:
            break
    assert first is not None
    assert begun is not None
    seconds, epochs = now - begun, event.epoch - first
    each = seconds / epochs
    return {
        "words": words,
        "epochs": trainer.epochs,
        "words_per_second": words / each,
        "minutes": each * trainer.epochs / 60,
        "seconds to prepare": prepared - start,
        "device": torch.cuda.get_device_name() if options.device.startswith("cuda") else options.device,
    }


def measured(options: argparse.Namespace, config: str, source: Path) -> Numbers:
    """The same in another process, with the package of a checkout."""
    own = ["--configs", config, "--device", options.device, "--seconds", str(options.seconds), "--one"]
    own += ["--threads", str(options.threads)] if options.threads else []
    command = [sys.executable, "-m", "benchmarks.training", str(options.train), str(options.dev), *own]
    paths = [str(source / "src"), str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if process.returncode:
        raise BiplanarError(f"{config} in {source}: {process.stderr.strip().rpartition(chr(10))[2]}")
    found: Numbers = json.loads(process.stdout)
    return found


def measure(options: argparse.Namespace) -> Numbers:
    """All configurations, in this checkout and in the other one."""
    checkouts = {"this": ROOT} | ({"other": options.against.resolve()} if options.against else {})
    rows = {
        config: {name: measured(options, config, source) for name, source in checkouts.items()}
        for config in options.configs
    }
    return {
        "fingerprint": {"data": RELEASE, "code": {"network": CODE["network"]}},
        "machine": machine(),
        "versions": versions(PACKAGES),
        "command": command("benchmarks.training"),
        "file": options.train.name,
        "threads": options.threads,
        "configs": rows,
    }


def sheets(results: Numbers) -> Iterator[Sheet]:
    """As a table."""
    cells = [
        [f"{config}, {name}", f"{row['words_per_second']:,.0f}", f"{row['minutes']:.1f}", f"{row['epochs']:,}"]
        for config, found in results["configs"].items()
        for name, row in found.items()
    ]
    yield Sheet(f"Training on {results['file']}", ("configuration, checkout", "words/s", "minutes", "epochs"), cells)


def main() -> None:
    """Measure, print a table, and keep the numbers as JSON."""
    parser = ArgumentParser("benchmarks.training", __doc__)
    parser.add_argument("train", type=Path, help="CoNLL-U")
    parser.add_argument("dev", type=Path, help="CoNLL-U")
    parser.add_argument("--configs", type=names("configuration", CONFIGS), default=["accurate"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=at_least(1), default=40, help="to train each")
    parser.add_argument("--threads", type=at_least(1), help="of PyTorch on the CPU")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout, to compare with")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with parser.reporting():
        if options.one:
            print(json.dumps(train(options)))
            return
        results = measure(options)
        show(sheets(results))
        keep(results, options.json)


if __name__ == "__main__":
    main()
