"""`biplanar demo`: a first look, at a parsed text and at the paper's example sentence in every encoding."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer

from biplanar.cli.draw import terminal_width

TEXT = "A hearing is scheduled on the issue today."

# Figure 1 of the paper: two pairs of arcs cross, in a way that asks for foresight when planes are given out.
FORMS = ("w1", "w2", "w3", "w4", "w5", "w6")
UPOS = ("VERB", "NOUN", "NOUN", "ADJ", "NOUN", "ADV")
HEADS = (0, 1, 1, 2, 1, 3)
DEPRELS = ("root", "nsubj", "obj", "amod", "obl", "advmod")


def demo(
    encodings: Annotated[bool, typer.Option(help="Show the paper's example in every encoding.")] = False,
) -> None:
    """Parse a text with the bundled English model, and show its tree and labels.

    biplanar demo
    biplanar demo --encodings
    """
    if encodings:
        _show_encodings()
        return
    from biplanar import load
    from biplanar.decoding.labels import encode
    from biplanar.draw import draw_tree

    typer.echo(f'$ biplanar parse --text "{TEXT}"\n')
    parser = load()
    sentence = parser(TEXT)[0]
    typer.echo(sentence.to_conllu())
    typer.echo("The same as a tree, over its labels:\n")
    columns = zip(*encode(sentence.tree, parser.encoding.name), strict=True)
    labels = dict(zip(parser.encoding.tasks, columns, strict=False))
    colour = sys.stdout.isatty()
    typer.echo(draw_tree(sentence.forms, sentence.tree, rows=labels, width=terminal_width(), colour=colour))
    typer.echo("\nNext: biplanar demo --encodings, biplanar --help, README.md")


def _show_encodings() -> None:
    from biplanar import ENCODINGS, Tree, decode, encode, planes_of
    from biplanar.draw import draw_tree
    from biplanar.planes.assignment import STRATEGIES

    tree = Tree(HEADS, DEPRELS)
    draw = partial(draw_tree, FORMS, width=terminal_width(), colour=sys.stdout.isatty())
    typer.echo("The tree of the paper's Figure 1, plane 1 above the words and plane 2 below:\n")
    typer.echo(draw(tree))
    for name, encoding in ENCODINGS.items():
        rows = encode(tree, name, upos=UPOS)
        back = decode(rows, name, upos=UPOS)
        missed = sum(a != b for a, b in zip(tree.heads, back.heads, strict=True))
        verdict = f"{missed} of {len(tree)} heads are decoded wrongly" if missed else "decoded without loss"
        typer.echo(f"\n{name}: {verdict}\n")
        labels = dict(zip(encoding.tasks, zip(*rows, strict=True), strict=False))
        planes = planes_of(tree, name) if name in STRATEGIES and not missed else None
        typer.echo(draw(back, planes=planes, rows=labels))
