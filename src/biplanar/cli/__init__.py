"""The command `biplanar`: arguments in, messages out. The rooms that do the work are imported when they are needed."""

from __future__ import annotations

import gc
import io
import logging
import os
import signal
import sys

import typer

from biplanar import __version__
from biplanar.cli import demo, draw, evaluate, labels, models, parse, segment, serve, stats, train
from biplanar.cli.common import Command, Group
from biplanar.data.files import remove_unfinished
from biplanar.errors import BiplanarError

# Threshold of the garbage collector: with Python's own, collections during imports take a tenth of a second.
GARBAGE = 50_000

app = typer.Typer(
    name="biplanar",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    parse.parse,
    segment.segment,
    train.train,
    train.export,
    evaluate.evaluate,
    models.models,
    models.download,
    labels.encode,
    labels.decode,
    stats.stats,
    draw.draw,
    serve.serve,
    demo.demo,
):
    app.command(cls=Command)(command)


@app.callback(invoke_without_command=True)
def version(show: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """Dependency parsing as tagging, crossing arcs included."""
    if show:
        typer.echo(f"biplanar {__version__}")
        raise typer.Exit


def _show_log() -> None:
    """Print on standard error what the library logs."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("biplanar: %(message)s"))
    logging.getLogger("biplanar").handlers = [handler]
    logging.getLogger("biplanar").setLevel(logging.INFO)


def _end_at_once(number: int, _: object) -> None:
    """Remove half-written files, then end as the signal does by default."""
    remove_unfinished()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def main() -> None:
    """Run the command line; expected errors become one line on standard error and exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # CoNLL-U is UTF-8, whatever the terminal speaks
    gc.set_threshold(GARBAGE)
    _show_log()
    signal.signal(signal.SIGTERM, _end_at_once)
    try:
        app(train.settings_as_options(sys.argv[1:]))
    except BiplanarError as error:
        complaint = str(error)
    except OSError as error:
        # Files raise errors of our own, and typer leaves quietly when a reader such as `head` has left: without a file
        # name, this is a full disk behind standard output. Python must not try to write there again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        complaint = f"{error.filename or '<stdout>'}: {error.strerror or error}"
    finally:
        gc.freeze()  # skips the collection at exit, which takes a sixth of a second
    typer.echo(f"biplanar: error: {complaint}", err=True)
    sys.exit(2)
