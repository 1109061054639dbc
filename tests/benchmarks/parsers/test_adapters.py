from __future__ import annotations

import pytest
from benchmarks.parsers.adapters import open_biplanar, open_stages

from biplanar.bulk import task
from biplanar.bulk.chunks import Source
from biplanar.bulk.output import parse_files
from biplanar.bulk.task import Task
from biplanar.pipeline.options import ParseOptions

OPTIONS = {"runtime": "int8", "decoder": "greedy"}


@pytest.mark.parametrize("open_adapter", [open_biplanar, open_stages])
def test_what_the_command_writes_with_the_model_loaded_beforehand(gold, tmp_path, monkeypatch, open_adapter):
    loaded = []

    def load(*arguments, **options):
        loaded.append(options)
        return real_load(*arguments, **options)

    real_load = task.load
    monkeypatch.setattr(task, "load", load)
    parse = open_adapter(None, OPTIONS)
    assert len(loaded) == 1
    for name in ("first", "second"):
        parse(gold.source, tmp_path / name)
    assert len(loaded) == 1
    with (tmp_path / "command").open("wb") as stream:
        parse_files(Source((gold.source,)), stream, Task(options=ParseOptions(decoder="greedy", retag=True)))
    assert (tmp_path / "first").read_bytes() == (tmp_path / "command").read_bytes()
    assert (tmp_path / "second").read_bytes() == (tmp_path / "command").read_bytes()
