"""`biplanar demo`: a first look, at parsed texts and at the paper's example sentence in every encoding."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from biplanar.cli.draw import terminal_width

if TYPE_CHECKING:
    from biplanar.pipeline.document import Document

# A text for each language that there is a model of, in the order in which the demo looks for one beside English.
TEXTS = {
    "en": "A hearing is scheduled on the issue today.",
    "pt": "A minha mãe vendeu a casa velha da aldeia.",
    "fr": "Le boulanger ouvre sa boutique à six heures du matin.",
    "ko": "우리 할머니는 매일 아침 시장에서 채소를 사신다.",
    "vi": "Mẹ tôi mua hai quyển sách mới .",
    "af": "Die ou man het gister sy fiets langs die rivier verloor.",
    "lt": "Mano senelis vakar nupirko seną namą prie ežero.",
    "hy": "Իմ քույրը երեկ քաղաքում նոր գիրք գնեց։",
    "cy": "Mae fy mrawd yn gweithio mewn ysgol fach.",
    "ga": "Tá mo dheartháir ag obair i siopa beag.",
    "gd": "Tha mo bhràthair ag obair ann am bùth bheag.",
    "mt": "Ommi xtrat ktieb ġdid mill-ħanut.",
    "gl": "A miña irmá mercou unha casa vella preto do mar.",
}
ALL_COLUMNS, FEW_COLUMNS = ("upos", "xpos", "lemma", "feats"), ("upos", "lemma")

# Figure 1 of the paper: two pairs of arcs cross, in a way that asks for foresight when planes are given out.
FORMS = ("w1", "w2", "w3", "w4", "w5", "w6")
UPOS = ("VERB", "NOUN", "NOUN", "ADJ", "NOUN", "ADV")
HEADS = (0, 1, 1, 2, 1, 3)
DEPRELS = ("root", "nsubj", "obj", "amod", "obl", "advmod")


def demo(
    encodings: Annotated[bool, typer.Option(help="Show the paper's example in every encoding.")] = False,
) -> None:
    """Parse a text with the bundled English model, and one in another language if a model of one is installed.

    biplanar demo
    biplanar demo --encodings
    """
    if encodings:
        _show_encodings()
    else:
        _show_texts()


def _show_texts() -> None:
    from biplanar import load
    from biplanar.pipeline.model_folder import BUNDLED, ModelFolder

    models = ModelFolder.installed()
    parser, text = load(models[BUNDLED].path), TEXTS[BUNDLED]
    encoding = parser.encoding.name
    typer.echo(f'$ biplanar parse --text "{text}" |')
    typer.echo(f"  biplanar draw --columns {','.join(ALL_COLUMNS)} --encoding {encoding} --graphs\n")
    _draw(parser(text), ALL_COLUMNS, encoding)
    typer.echo("\nTags, features, lemmas and brackets are labels that a tagger gave to the words. The brackets became")
    typer.echo("the arcs: those of plane1 are above, those of plane2 below, so that they may cross.\n")
    if other := next((code for code in TEXTS if code in models and code != BUNDLED), None):
        typer.echo(f'$ biplanar parse --text "{TEXTS[other]}" -m {other} |')
        typer.echo(f"  biplanar draw --columns {','.join(FEW_COLUMNS)}\n")
        _draw(load(models[other].path)(TEXTS[other]), FEW_COLUMNS)
    else:
        typer.echo("Twelve other languages are packages. To see one: pip install ./models/packages/pt")
    typer.echo('\nNext: biplanar parse --text "A text of your own." --format tree')
    typer.echo("      biplanar models, biplanar serve, biplanar demo --encodings, docs/tutorial.md")


def _draw(document: Document, columns: Sequence[str], encoding: str | None = None) -> None:
    from biplanar.draw import Entry

    for number, sentence in enumerate(document, 1):
        entry = Entry(number, sentence, graph=encoding is not None)
        typer.echo(entry.lines(encoding, columns=columns, width=terminal_width(), colour=sys.stdout.isatty()))


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
