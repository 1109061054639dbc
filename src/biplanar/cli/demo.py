"""`biplanar demo`: the paper's example sentence through every encoding."""

from __future__ import annotations

import sys

import typer

# Figure 1 of the paper: two pairs of arcs cross, in a way that asks for foresight when planes are given out.
FORMS = ("w1", "w2", "w3", "w4", "w5", "w6")
UPOS = ("VERB", "NOUN", "NOUN", "ADJ", "NOUN", "ADV")
HEADS = (0, 1, 1, 2, 1, 3)
DEPRELS = ("root", "nsubj", "obj", "amod", "obl", "advmod")


def demo() -> None:
    """Encode, decode and draw the paper's example sentence in every encoding."""
    from biplanar import ENCODINGS, Tree, decode, encode, planes_of
    from biplanar.cli.draw import terminal_width
    from biplanar.draw import draw_tree
    from biplanar.planes import STRATEGIES

    tree = Tree(HEADS, DEPRELS)
    typer.echo("The tree of the paper's Figure 1, plane 1 above the words and plane 2 below:\n")
    typer.echo(draw_tree(FORMS, tree, width=terminal_width(), colour=sys.stdout.isatty()))
    for name, encoding in ENCODINGS.items():
        rows = encode(tree, name, upos=UPOS)
        back = decode(rows, name, upos=UPOS)
        missed = sum(a != b for a, b in zip(tree.heads, back.heads, strict=True))
        verdict = "comes back whole" if not missed else f"{missed} of {len(tree)} heads come back wrong"
        typer.echo(f"\n{name}: {verdict}\n")
        labels = dict(zip(encoding.tasks, zip(*rows, strict=True), strict=False))
        planes = planes_of(tree, name) if name in STRATEGIES and not missed else None
        typer.echo(
            draw_tree(FORMS, back, planes=planes, rows=labels, width=terminal_width(), colour=sys.stdout.isatty())
        )
