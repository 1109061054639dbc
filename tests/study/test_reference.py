"""References name all that the code offers. That the pages show them is tested with all tables."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass

import pytest
import typer
from study.reference import REFERENCES, comments

from biplanar.cli import app
from biplanar.serve import ServerConfig
from biplanar.serve.schemas import CompareRequest, ParseRequest, ProcessRequest
from biplanar.tagger.config import CONFIGS, Config

SECTIONS = [type(getattr(Config(), one.name)) for one in fields(Config) if is_dataclass(getattr(Config(), one.name))]


def test_every_command_and_option_is_there():
    text = REFERENCES["command line"]()
    for name, command in typer.main.get_command(app).commands.items():
        section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
        shown = [one for one in command.params if not getattr(one, "hidden", False)]
        for option in (option for one in shown for option in one.opts if option.startswith("-")):
            assert f"`{option}" in section, (name, option)


def test_every_setting_is_there():
    text = REFERENCES["settings"]()
    assert [name for name in Config().to_flat_dict() if f"| `{name}` |" not in text] == []
    assert "| `network.layers` | `3` | whole, 1 to 100 | LSTM layers |" in text
    assert re.search(r"`training.epochs` \| `auto` \| .*, or `auto` \|", text)


def test_every_configuration_is_there():
    text = REFERENCES["configurations"]()
    assert all(f"| `{name}` |" in text for name in CONFIGS)
    assert "`encoding` 4-bit+head" in text


def test_every_field_of_a_request_is_there():
    text = REFERENCES["HTTP"]()
    for request in (ParseRequest, CompareRequest, ProcessRequest):
        assert [name for name in request.model_fields if f"| `{name}` |" not in text] == []


@pytest.mark.parametrize("section", [*SECTIONS, ServerConfig], ids=lambda section: section.__name__)
def test_every_setting_says_what_it_is(section):
    said = comments(section)
    assert [one.name for one in fields(section) if not said.get(one.name)] == []
