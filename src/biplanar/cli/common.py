"""What several commands share: options and the panels of `--help` that show them, messages and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from rich.table import Table

input_option = partial(typer.Option, rich_help_panel="Input")
output_option = partial(typer.Option, rich_help_panel="Output")
model_option = partial(typer.Option, rich_help_panel="Model")
decoding_option = partial(typer.Option, rich_help_panel="Decoding")
speed_option = partial(typer.Option, rich_help_panel="Speed")
limit_option = partial(typer.Option, rich_help_panel="Limits of requests")
cluster_option = partial(typer.Option, rich_help_panel="Cluster")

TEXT_ENCODING = input_option("--text-encoding", help="Encoding of the input files: utf-8, utf-16, latin-1, ...")

LINE_BREAKS = input_option(
    "--line-breaks", help="What a line break in raw text is: a hint, the end of a sentence, or the only such end."
)

OUTPUT = output_option("--output", "-o", help="Where to write; - is standard output.")

MODEL = model_option(
    "--model",
    "-m",
    help="A model's folder or name; owner/name is on the Hugging Face hub. Default: en, the bundled one.",
)
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
            one.process_value = partial(_processed, one)
            if one.param_type_name == "argument":
                one.display_type_rich = lambda **_: ""
            elif one.metavar is None:
                one.metavar = "" if one.is_flag else METAVARS.get(one.name, "NAME" if one.min is None else "N")
        return params


def _processed(option: Any, context: Any, value: Any) -> Any:
    """A value as typer would give it, without its checks (by pydantic) of what is text or not given."""
    several = option.nargs != 1 or getattr(option, "multiple", False)
    annotation = getattr(getattr(option, "type_descriptor", None), "annotation", None)
    is_text = annotation is str and isinstance(value, str)
    are_texts = annotation == list[str] and all(isinstance(one, str) for one in value or ())
    is_known = are_texts if several else is_text or value == option.default
    if option.required or not (value is None or is_known):
        return type(option).process_value(option, context, value)
    value = list(value or ()) if several else value
    return option.callback(context, option, value) if option.callback else value


class Command(_PlainHelp, TyperCommand):
    """A command of `biplanar`."""


class Group(_PlainHelp, TyperGroup):
    """The commands of `biplanar`."""


def split_names(names: str) -> list[str]:
    """The names in a list separated by commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


# Output


def report(message: str) -> None:
    """Print a message on standard error."""
    typer.echo(f"biplanar: {message}", err=True)


def new_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]] = ()) -> Table:
    """A table that is readable at 80 columns: what does not fit is wrapped, never cut."""
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
        min_width=cell_len(title),  # so that it stays on one line
    )
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def cell(value: float | None, form: str = ".2f") -> str:
    """A number as text; None is empty."""
    return "" if value is None else format(value, form)


def show(*tables: Table) -> None:
    """Print tables one under the other."""
    from rich.console import Console

    console = Console()
    for number, table in enumerate(tables):
        console.print(*([""] if number else []), table, sep="\n")
