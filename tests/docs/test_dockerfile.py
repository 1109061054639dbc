"""The lines of the Dockerfile name what there is. The image itself is not built here."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
import typer

from biplanar.cli import app
from biplanar.serve import ServerConfig
from biplanar.serve.models import Models
from tests.paths import ROOT
from tests.serve.conftest import serving

LINES = (ROOT / "Dockerfile").read_text().replace("\\\n", "").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def those(instruction: str) -> list[str]:
    """What follows an instruction, wherever it stands."""
    return [line.removeprefix(f"{instruction} ") for line in LINES if line.startswith(f"{instruction} ")]


def code_of(line: str) -> str:
    """The code in `["python", "-c", CODE]`."""
    python, option, code = json.loads(line[line.index("[") :])
    assert (python, option) == ("python", "-c")
    return code


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    sources = [name for line in those("COPY") if "--from" not in line for name in line.split()[:-1]]
    assert {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "src"} <= set(sources)
    for name in sources:
        assert (ROOT / name).exists()
        assert f"!{name}" in ignored


def test_what_is_installed() -> None:
    (build, *_) = those("RUN")
    assert re.search(r"'\.\[(\w+)\]' -c (\S+)", build).groups() == ("serve", "constraints.txt")
    assert "serve" in PROJECT["optional-dependencies"]
    lowest = tuple(map(int, PROJECT["requires-python"].removeprefix(">=").split(".")))
    for image in those("FROM"):
        assert tuple(map(int, re.search(r"python:(\d+)\.(\d+)", image).groups())) >= lowest


def test_the_user_may_write_the_cache() -> None:
    (cache,) = re.findall(r"NUMBA_CACHE_DIR=(\S+)", " ".join(those("ENV")))
    assert f"install -d -o {those('USER')[0]} {cache}" in those("RUN")[1]
    assert LINES.index("USER biplanar") < next(at for at, line in enumerate(LINES) if line.startswith("RUN ["))


def test_the_server_begins_as_it_is_told_to() -> None:
    program, command, *arguments = json.loads(those("CMD")[0])
    assert program in PROJECT.get("scripts", {})
    chosen = typer.main.get_command(app).commands[command].make_context(command, arguments).params
    assert those("EXPOSE") == [str(chosen["port"])]
    assert chosen["host"] == "0.0.0.0"


def test_it_is_warmed_up_and_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Models] = []
    load = Models.load
    monkeypatch.setattr(Models, "load", lambda *given: loaded.append(load(*given)))
    exec(code_of(those("RUN")[-1]))
    (health,) = those("HEALTHCHECK")
    with serving(loaded[0], ServerConfig()) as served:
        code = code_of(health).replace("http://127.0.0.1:8001", served.address)
        assert served.address in code
        exec(code)
        assert served.client.get("/healthz").status_code == 200
