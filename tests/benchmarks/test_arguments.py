from __future__ import annotations

import pytest
from benchmarks.arguments import ArgumentParser, at_least, names

from biplanar.errors import BiplanarError


def parser():
    parser = ArgumentParser("benchmarks.core", "A description.")
    parser.add_argument("--only", type=names("part", ["reading", "growth"]))
    parser.add_argument("--rounds", type=at_least(2))
    return parser


def test_values():
    options = parser().parse_args(["--only", "growth, reading,growth", "--rounds", "2"])
    assert (options.only, options.rounds) == (["growth", "reading"], 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "groth"], "argument --only: unknown part 'groth'; did you mean 'growth'? (known: reading, growth)"),
        (["--rounds", "1"], "argument --rounds: '1' is not a whole number from 2 on"),
        (["--rounds", "-3"], "argument --rounds: '-3' is not a whole number from 2 on"),
        (["--rounds", "x"], "argument --rounds: 'x' is not a whole number from 2 on"),
        (["--nothing"], "unrecognized arguments: --nothing"),
    ],
)
def test_errors_are_one_line(capsys, arguments, message):
    with pytest.raises(SystemExit) as left:
        parser().parse_args(arguments)
    assert left.value.code == 2
    assert capsys.readouterr() == ("", f"python -m benchmarks.core: error: {message}\n")


def test_errors_of_the_package_are_reported_alike(capsys):
    with pytest.raises(SystemExit) as left, parser().reporting():
        raise BiplanarError("no such model")
    assert left.value.code == 2
    assert capsys.readouterr() == ("", "python -m benchmarks.core: error: no such model\n")
