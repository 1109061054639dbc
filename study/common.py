"""What all modules of the study share: JSON files, counts as short text, settings and errors on the command line."""

from __future__ import annotations

import base64
import json
import re
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biplanar.data.arrays import Int64s
from biplanar.data.files import writing
from biplanar.errors import BiplanarError, FileError
from biplanar.tagger.config import ConfigError

RESULTS = Path(__file__).parent / "results"


def pack(counts: Sequence[int]) -> str:
    """Counts below 65,536 as short text, for JSON."""
    return base64.b85encode(zlib.compress(np.array(counts, dtype="<u2").tobytes(), 9)).decode()


def unpack(text: str) -> Int64s:
    """The counts that `pack` was given."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype="<u2").astype(np.int64)


def read_json(path: Path) -> Any:
    """What a JSON file holds."""
    return _parsed(_text(path), path)


def read_lines(path: Path) -> dict[str, Any]:
    """The records of a file of JSON lines, by their key; none where there is no file."""
    if not path.exists():
        return {}
    records = [_parsed(line, path) for line in _text(path).splitlines()]
    return {record["key"]: record for record in records}


def write_json(value: Any, path: Path) -> None:
    """A JSON file that appears whole or not at all."""
    with writing(path) as stream:
        stream.write(json.dumps(value, indent=1) + "\n")


def write_lines(records: Mapping[str, Any], path: Path) -> None:
    """Records as JSON lines, sorted by their key; the file appears whole or not at all."""
    with writing(path) as stream:
        stream.writelines(json.dumps(records[key]) + "\n" for key in sorted(records))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error


def _parsed(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise FileError(f"{path}: not JSON: {error}") from error


def split_settings(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Take `--section.key value` and `--section.key=value` out of the arguments."""
    others, settings, rest = list[str](), dict[str, str](), list(arguments)
    while rest:
        name, sign, value = rest.pop(0).partition("=")
        if not re.fullmatch(r"--\w+\.\w+", name):
            others.append(name + sign + value)
        elif not sign and not rest:
            raise ConfigError(f"{name} needs a value")
        else:
            settings[name.removeprefix("--")] = value if sign else rest.pop(0)
    return others, settings


def command(main: Callable[[Sequence[str]], None], name: str) -> None:
    """Run a main function; errors are printed without a traceback."""
    try:
        main(sys.argv[1:])
    except BiplanarError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2)
