"""`biplanar stats`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biplanar.cli.common import TEXT_ENCODING, cell, new_table, show, split_names
from biplanar.data.files import UTF_8

if TYPE_CHECKING:
    from rich.table import Table


def stats(
    treebank: Annotated[list[str], typer.Argument(help="A folder with *-train, *-dev and *-test files, or files.")],
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
    encodings: Annotated[str, typer.Option(help="Compare 2p-full,4-bit+head, ... Default: without lifting.")] = "",
    graphs: Annotated[bool, typer.Option("--graphs", help="Describe the enhanced graphs in DEPS instead.")] = False,
    speed: Annotated[bool, typer.Option("--speed", help="Also measure how fast each encodes and decodes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show non-projectivity, coverage and label sets of a treebank: the paper's tables for your own data.

    biplanar stats UD_Lithuanian-ALKSNIS
    biplanar stats train.conllu --encodings 2p-full,rel-pos --json
    biplanar stats UD_English-EWT --graphs
    """
    from biplanar.encodings import get_encoding
    from biplanar.encodings.graphs import get_graph_encoding
    from biplanar.evaluation.statistics import graph_statistics, read_treebank, treebank_statistics

    names = split_names(encodings) or None
    for name in names or ():  # an unknown one is refused before the treebank is read
        _ = get_graph_encoding(name) if graphs else get_encoding(name)
    if graphs:
        numbers = graph_statistics(*treebank, encodings=names, text_encoding=text_encoding)
    else:
        numbers = treebank_statistics(read_treebank(*treebank, text_encoding=text_encoding), names, speed=speed)
    if as_json:
        typer.echo(json.dumps(numbers, indent=2))
    else:
        show(*(_graph_tables(numbers) if graphs else _tables(numbers, speed)))


def _tables(numbers: dict[str, Any], speed: bool) -> Iterator[Table]:
    has_splits = "files" not in numbers
    yield _size_table(numbers)
    if numbers["encodings"]:
        title = "Coverage of the training trees" if has_splits else "Coverage"
        columns = ("encoding", "heads %", "before repair %", "sentences %", "plane 2 %")
        rows = ((name, *map(cell, row.values())) for name, row in numbers["encodings"].items())
        yield new_table(title, columns, rows)
    if any(numbers["label_sizes"].values()):
        title = "Labels of train and dev, and those of test unseen there" if has_splits else "Labels"
        yield _label_table(title, numbers["label_sizes"], numbers["unseen_labels"])
    if numbers["labels"]:
        title = "Labels of train, and words of others with unseen ones, in %"
        yield _comparison_table(title if has_splits else "Labels by encoding", numbers["labels"])
        if speed:
            kinds = ("encode", "decode")
            speeds = ((name, *(cell(row[kind], ",d") for kind in kinds)) for name, row in numbers["labels"].items())
            yield new_table("Speed, sentences a second", ("encoding", *kinds), speeds)


def _graph_tables(numbers: dict[str, Any]) -> Iterator[Table]:
    columns = ("", "sentences", "words", "arcs", "empty nodes", "extra arcs %", "dropped arcs %")
    rows = ((name, *(f"{value:.6g}" for value in row.values())) for name, row in numbers["graphs"].items())
    yield new_table("Graphs", columns, rows)
    if encodings := numbers["encodings"]:
        splits = list(next(iter(encodings.values()))["unseen"])
        names = ["encoding", "arcs %", "whole %", "by rule %", "labels", *(f"unseen {one}" for one in splits)]
        labels = ((name, *_graph_row(row)) for name, row in encodings.items())
        yield new_table("Labels of arcs + relations in the tree + others; unseen ones of arcs, in %", names, labels)


def _graph_row(row: dict[str, Any]) -> Iterator[str]:
    yield from (cell(row[name]) for name in ("covered_arcs", "whole_sentences", "relations_by_rule"))
    yield "+".join(map(str, row["labels"].values()))
    yield from (cell(next(iter(unseen.values()))) for unseen in row["unseen"].values())


def _size_table(numbers: dict[str, Any]) -> Table:
    pairs = iter(numbers["split_sizes"])
    splits = dict(zip(("train", "dev", "test"), zip(pairs, pairs, strict=True), strict=True))
    sizes = numbers.get("files", splits)
    rows = ((name, cell(sentences, "d"), cell(share)) for name, (sentences, share) in sizes.items())
    table = new_table("Sentences", ("" if "files" in numbers else "split", "sentences", "non-projective %"), rows)
    if numbers["nonprojectivity"]:
        sentences, arcs = numbers["nonprojectivity"]
        table.add_section()
        table.add_row("all", "", cell(sentences))
        table.add_row("all arcs", "", cell(arcs))
    return table


def _label_table(title: str, sizes: dict[str, Any], unseen: dict[str, Any]) -> Table:
    """Encodings that cannot be applied, as words have no tags, have no row."""
    columns = ["encoding", "plane 1", "plane 2", "relation"]
    if any(unseen.values()):
        columns += ["unseen 1", "unseen 2", "unseen relation"]
    counts = {name: [*(cells or []), *(one and one[0] for one in unseen[name] or [])] for name, cells in sizes.items()}
    return new_table(title, columns, ((name, *(cell(one, "d") for one in row)) for name, row in counts.items() if row))


def _comparison_table(title: str, encodings: dict[str, dict[str, Any]]) -> Table:
    """Bits are the entropy of a word's labels, and of labels and relation."""
    splits = [split for split in ("dev", "test") if any(split in row["unseen"] for row in encodings.values())]
    columns = ["encoding", "labels", "relations", *(f"unseen {split}" for split in splits), "bits", "+ relation"]
    rows = (
        (
            name,
            " + ".join(map(str, row["labels"])),
            str(row["relations"]),
            *(cell(row["unseen"].get(split), ".3f") for split in splits),
            cell(row["entropy"]),
            cell(row["entropy_with_relation"]),
        )
        for name, row in encodings.items()
    )
    return new_table(title, columns, rows)
