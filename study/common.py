"""What the experiments share: settings and errors on the command line, JSON files, counts as short text."""

from __future__ import annotations

import base64
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from biplanar.data.arrays import Int64s
from biplanar.data.files import writing
from biplanar.errors import BiplanarError, FileError
from biplanar.tagger.config import ConfigError
from biplanar.tagger.training import Record, Trainer


def pack(counts: Sequence[int]) -> str:
    """Counts below 65,536 as short text, for JSON."""
    return base64.b85encode(zlib.compress(np.array(counts, dtype="<u2").tobytes(), 9)).decode()


def unpack(text: str) -> Int64s:
    """The counts that `pack` was given."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype="<u2").astype(np.int64)


def read_json(path: Path) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise FileError(f"{path}: expected JSON, found {error}") from error


def write_json(value: Any, path: Path) -> None:
    """A JSON file that appears whole or not at all."""
    with writing(path) as stream:
        stream.write(json.dumps(value) + "\n")


def train_to_the_best(trainer: Trainer) -> Iterator[Record]:
    """Train, and when the records end, leave the weights of the epoch with the best dev LAS."""
    networks = (trainer.kept, trainer.auxiliary)
    best = [network.state_dict() for network in networks]
    for record in trainer.run():
        if not isinstance(record, Record):  # progress within an epoch
            continue
        if record.best:
            best = [deepcopy(network.state_dict()) for network in networks]
        yield record
    for network, state in zip(networks, best, strict=True):
        network.load_state_dict(state)


def split_settings(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Take `--section.key value` and `--section.key=value` out of the arguments."""
    others, settings, rest = list[str](), dict[str, str](), list(arguments)
    while rest:
        name, sign, value = rest.pop(0).partition("=")
        if not re.fullmatch(r"--\w+\.\w+", name):
            others.append(name + sign + value)
        elif not sign and not rest:
            raise ConfigError(f"expected {name} VALUE, found no value")
        else:
            settings[name.removeprefix("--")] = value if sign else rest.pop(0)
    return others, settings


def command(main: Callable[[Sequence[str]], None], name: str) -> None:
    """Run an experiment's main function; errors are told without a traceback."""
    try:
        main(sys.argv[1:])
    except BiplanarError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2)
