"""`biplanar evaluate`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from biplanar.cli.common import DECODERS, TEXT_ENCODING, model_option, new_table, report, show, split_names
from biplanar.data.files import UTF_8
from biplanar.errors import BiplanarError

if TYPE_CHECKING:
    from rich.table import Table

    from biplanar.data.conllu import Sentence
    from biplanar.evaluation import Bootstrap, Evaluation, Score

# Titles of breakdowns that are not of LAS.
TITLES = {
    "upos": "UPOS by tag",
    "feature": "Features by name and value",
    "known": "Words of the training files, and others",
    "enhancement": "ELAS by enhancement",
}

# Metrics of columns that `parse` keeps where the input has them.
COLUMNS = ("UPOS", "XPOS", "UFeats", "Lemmas", "ELAS")

BREAKDOWNS = "deprel, length, distance, projectivity, upos, feature, known, enhancement"


def evaluate(
    gold: Annotated[str, typer.Argument(help="CoNLL-U with the right trees.")],
    system: Annotated[str | None, typer.Argument(help="CoNLL-U to evaluate.")] = None,
    model: Annotated[str | None, model_option("--model", "-m", help="Parse the gold words with this model.")] = None,
    raw: Annotated[bool, model_option("--raw", help="With -m: parse the gold file's raw text.")] = False,
    against: Annotated[str | None, typer.Option(help="Another system's CoNLL-U, for a paired bootstrap.")] = None,
    by: Annotated[str, typer.Option(help=f"Breakdowns (docs/evaluation.md): {BREAKDOWNS}.")] = "",
    train: Annotated[list[str] | None, typer.Option(help="Training CoNLL-U, to score unknown words.")] = None,
    decoder: Annotated[str, model_option(help=f"With -m: {DECODERS}.")] = "search",
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Compare trees with gold ones: CoNLL 2018 scores, exact relations, whole sentences, crossing arcs.

    biplanar evaluate test.conllu parsed.conllu --by deprel,length
    biplanar evaluate test.conllu -m my-model
    biplanar evaluate test.conllu parsed.conllu --against other.conllu --json
    """
    from biplanar.data.conllu import read_conllu
    from biplanar.evaluation import evaluate, paired_bootstrap

    if (system is None) == (model is None):
        raise BiplanarError("give either a second CoNLL-U file or -m MODEL")
    kinds = split_names(by)
    if "known" in kinds and not train:
        raise BiplanarError("--by known needs --train FILE")
    right = list(read_conllu(gold, text_encoding))
    if system:
        judged, predicted = list(read_conllu(system, text_encoding)), None
    else:
        judged, predicted = _parsed(right, model, raw, decoder)
    known = (sentence for file in train for sentence in read_conllu(file, text_encoding)) if train else None
    result = evaluate(right, judged, by=kinds, predicted=predicted, train=known)
    given = evaluate(right, _parsed(right, model, False, decoder)[0]) if raw and not system else None
    other = paired_bootstrap(right, judged, list(read_conllu(against, text_encoding))) if against else None
    if system and (kept := _kept_columns(result)):
        report(f"{', '.join(kept)}: identical to the gold file, probably kept from the input (parse --retag)")
    if as_json:
        numbers = result.to_dict() | ({"bootstrap": other.to_dict()} if other else {})
        numbers |= {"gold words": given.to_dict()["scores"]} if given else {}
        typer.echo(json.dumps(numbers, indent=2))
    else:
        _print(result, other)
        if given:
            las, cost = 100 * given.scores["LAS"].f1, 100 * (given.scores["LAS"].f1 - result.scores["LAS"].f1)
            typer.echo(f"\nLAS with gold words {las:.2f}: errors of segmentation cost {cost:.2f}")


def _parsed(
    gold: list[Sentence], model: str | None, raw: bool, decoder: str
) -> tuple[list[Sentence], tuple[int, ...] | None]:
    """The gold file as a model parses it, and the columns that the model predicts; the others are copied."""
    from biplanar.data.conllu import DEPREL, HEAD
    from biplanar.data.raw_text import raw_text
    from biplanar.pipeline.loading import load

    parser = load(model)
    if raw:
        return list(parser.pipe(parser.segmenter.segment(raw_text(gold)), decoder=decoder)), None
    own = (HEAD, DEPREL, *parser.inventory.output_numbers)
    return list(parser.pipe(gold, decoder=decoder, retag=True)), own


def _kept_columns(result: Evaluation) -> list[str]:
    """The columns that are identical in both files, though the trees are not."""
    same = [name for name, score in result.scores.items() if score.correct == score.gold == score.system]
    return [] if "LAS" in same else [name for name in COLUMNS if name in same]


def _print(result: Evaluation, other: Bootstrap | None) -> None:
    breakdowns = {TITLES.get(by, f"LAS by {by}"): rows for by, rows in result.breakdowns.items()}
    show(_table("Scores", result.scores), *(_table(title, rows) for title, rows in breakdowns.items() if rows))
    for title in (title for title, rows in breakdowns.items() if not rows):
        typer.echo(f"\n{title}: the system predicted none")
    if other:
        interval = f"{other.confidence:.0%} between {100 * other.low:+.2f} and {100 * other.high:+.2f}"
        test = f"p = {other.p_value:.3f} by a paired bootstrap of {other.resamples} resamples"
        typer.echo(f"\nLAS difference {100 * other.difference:+.2f} ({interval}), {test}")


def _table(title: str, scores: dict[str, Score]) -> Table:
    def cells(score: Score) -> list[str]:
        shares, counts = (score.precision, score.recall, score.f1), (score.correct, score.gold, score.system)
        return [*(f"{100 * share:.2f}" for share in shares), *map(str, counts)]

    rows = ((name, *cells(score)) for name, score in scores.items())
    return new_table(title, ("", "P %", "R %", "F1 %", "right", "gold", "system"), rows)
