"""Options that several commands have, and the panels of `--help` in which they are shown."""

from __future__ import annotations

from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

input_option = partial(typer.Option, rich_help_panel="Input")
output_option = partial(typer.Option, rich_help_panel="Output")
model_option = partial(typer.Option, rich_help_panel="Model")
decoding_option = partial(typer.Option, rich_help_panel="Decoding")
speed_option = partial(typer.Option, rich_help_panel="Speed")
limit_option = partial(typer.Option, rich_help_panel="Limits of requests")
cluster_option = partial(typer.Option, rich_help_panel="Cluster")

TEXT_ENCODING = input_option("--text-encoding", help="Of the files that are read: utf-8, utf-16, latin-1, ...")

LINE_BREAKS = input_option(
    "--line-breaks", help="In raw text: a hint, the end of a sentence, or the only end of sentences."
)

MODEL = "A model's folder or name; owner/name is on the Hugging Face hub. Default: en, the bundled one."
DECODERS = "search, minimum-risk, greedy or paper (docs/search.md)"

# What options take that is not N or NAME, by their parameters.
METAVARS = {
    **dict.fromkeys(["output", "against", "into", "train", "dev", "test", "raw"], "FILE"),
    **dict.fromkeys(["columns", "by", "encodings"], "NAMES"),
    "output_dir": "FOLDER",
    "on_error": "stop|skip",
    "line_breaks": "hint|sentence|only",
    "text": "TEXT",
    "shard_size": "MEGABYTES",
    "address": "URL",
    "allow_host": "HOST",
}


class _PlainHelp:
    """Shows what an option takes as FILE, NAME or N, not as a type of Python, and nothing for flags."""

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)  # type: ignore[misc]
        for one in params:
            if one.param_type_name == "argument":
                one.display_type_rich = lambda **_: ""
            elif one.metavar is None:
                one.metavar = "" if one.is_flag else METAVARS.get(one.name, "NAME" if one.min is None else "N")
        return params


class Command(_PlainHelp, TyperCommand):
    """A command of `biplanar`."""


class Group(_PlainHelp, TyperGroup):
    """The commands of `biplanar`."""


def split_names(names: str) -> list[str]:
    """The names in a list separated by commas."""
    return [name.strip() for name in names.split(",") if name.strip()]
