"""The tables of docs/study.md: the paper's printed figures, and ours beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from statistics import mean, median
from typing import Any

from benchmarks.output import markdown_table as table

from study.plan import ENCODINGS, LARGER, PACKAGE, PAPER, SHORT, STUDIES, SWITCH_AVERSE, SWITCH_TREEBANKS
from study.significance import Difference, las_difference, survivors
from study.speeds import BY_PAPER, BY_SEARCH, CORE, CORE_TORCH, GPU, WHAT, Timed, rates, ratio, shorter, spread, system
from study.store import Seeds, Store
from study.treebanks import BY_CODE, TREEBANKS, Treebank

ONE_PLANE = "1p-brackets"
TWO_PLANES = ("2p-greedy", "2p-prop", "2p-full")
PRINTED_ENCODINGS = ENCODINGS[:4]
METRICS = ("UAS", "LAS")

# By the share of crossing arcs, most first, as in the paper; the projective control last.
ORDER = tuple(sorted(TREEBANKS, key=lambda one: ("grc", "eu", "hu", "pt", "af", "ko", "lt", "gl").index(one.code)))
CROSSING = ORDER[:-1]

Row = Sequence[object]


def printed_accuracy(store: Store, treebank: Treebank, encoding: str, split: str, metric: str) -> float | None:
    """A cell of the paper's Table 6."""
    cells = store.printed["accuracy"]["cells"][treebank.name].get(encoding)
    return cells[2 * ("dev", "test").index(split) + METRICS.index(metric)] if cells else None


def ours(
    store: Store, treebank: Treebank, encoding: str, split: str, metric: str, decoder: str, source: str = "raw text"
) -> Seeds:
    """The same cell of our runs."""
    found = store.cell("paper", treebank.code, PAPER, encoding, (split, source, decoder), metric)
    assert found is not None
    return found


def _by_encoding(
    treebanks: Iterable[Treebank], encodings: Sequence[str], cell: Callable[[Treebank, str], object]
) -> str:
    """A table with a row for each treebank and a column for each encoding."""
    return table(["treebank", *encodings], ([one.title, *(cell(one, name) for name in encodings)] for one in treebanks))


# Table 6


def accuracy(split: str, metric: str) -> Callable[[Store], str]:
    """From raw text: printed / decoder `paper` / decoder `search`."""

    def make(store: Store) -> str:
        def cell(treebank: Treebank, encoding: str) -> str:
            printed = printed_accuracy(store, treebank, encoding, split, metric)
            means = [ours(store, treebank, encoding, split, metric, one).mean for one in ("paper", "search")]
            return "/".join([f"{printed:.2f}" if printed else "–", *(f"{one:.2f}" for one in means)])

        return _by_encoding(ORDER, ENCODINGS, cell)

    return make


def gold_words(split: str) -> Callable[[Store], str]:
    """LAS with gold words: decoder `paper` / decoder `search`, with the deviation over seeds."""

    def make(store: Store) -> str:
        def cell(treebank: Treebank, encoding: str) -> str:
            found = [ours(store, treebank, encoding, split, "LAS", one, "gold words") for one in ("paper", "search")]
            return "/".join(f"{one.mean:.2f}±{one.deviation:.2f}" for one in found)

        return _by_encoding(ORDER, ENCODINGS, cell)

    return make


# Tables 4 and 5


def crossing(metric: str, printed_name: str) -> Callable[[Store], str]:
    """Precision/recall on test from raw text, all seeds together: printed → ours, decoder `paper`."""

    def make(store: Store) -> str:
        def cell(treebank: Treebank, encoding: str) -> str:
            printed = store.printed[printed_name]["cells"][treebank.name].get(encoding)
            score = store.pooled(treebank.code, encoding, ("test", "raw text", "paper"), metric)
            found = f"{100 * score.precision:.1f}/{100 * score.recall:.1f}"
            return f"{printed[0]:.1f}/{printed[1]:.1f} → {found}" if printed else found

        return _by_encoding(CROSSING, ENCODINGS, cell)

    return make


# Differences


def tested(store: Store, pairs: Iterable[tuple[str, str, str, str]]) -> dict[tuple[str, str, str, str], Difference]:
    """LAS differences by treebank, encoding, other encoding and decoder; treebank after treebank."""
    found = {pair: las_difference(store, *pair) for pair in sorted(pairs)}
    return {pair: one for pair, one in found.items() if one is not None}


def differences(store: Store) -> str:
    """Each 2-planar encoding against one plane; bold where it survives Holm's correction within the table."""
    pairs = list(product((one.code for one in ORDER), TWO_PLANES, (ONE_PLANE,), ("paper", "search")))
    return _difference_table(
        tested(store, pairs), [(one.code, name, ONE_PLANE) for one in ORDER for name in TWO_PLANES]
    )


def switch_averse(store: Store) -> str:
    """Switch-averse planes against the plain ones."""
    rows = [(code, name, name.removesuffix("-switch")) for code, name in product(SWITCH_TREEBANKS, SWITCH_AVERSE)]
    return _difference_table(tested(store, [(*row, one) for row in rows for one in ("paper", "search")]), rows)


def _difference_table(found: dict[tuple[str, str, str, str], Difference], rows: Sequence[tuple[str, str, str]]) -> str:
    kept = survivors(found)

    def cell(name: tuple[str, str, str, str]) -> str:
        return f"**{found[name]}**" if name in kept else str(found[name])

    lines = ([BY_CODE[row[0]].title, row[1], *(cell((*row, one)) for one in ("paper", "search"))] for row in rows)
    below = [one for one in found.values() if one.p_value < 0.05]
    note = (
        f"Of {len(found)} differences {_better_and_worse(below)} have p < 0.05 uncorrected; after Holm's correction, "
    )
    note += _better_and_worse([found[name] for name in kept])
    return f"{table(['treebank', 'encoding', '`paper`', '`search`'], lines)}\n\n{note}."


def _better_and_worse(some: Sequence[Difference]) -> str:
    better = sum(one.points > 0 for one in some)
    return f"{len(some)} ({better} better, {len(some) - better} worse)"


# What may explain the figures


def dev_and_test(store: Store) -> str:
    """Ours less the printed LAS from raw text on dev and test, with the decoder `paper`."""

    def rows() -> Iterator[Row]:
        every = []
        for treebank in ORDER:
            gaps = [mean(deviations(store, treebank, split)) for split in ("dev", "test")]
            every.append(gaps)
            yield [treebank.title, *(f"{gap:+.2f}" for gap in gaps)]
        yield ["mean", *(f"{mean(gaps):+.2f}" for gaps in zip(*every, strict=True))]

    return table(["treebank", "dev", "test"], rows())


def deviations(store: Store, treebank: Treebank, split: str) -> list[float]:
    """Ours less the printed LAS of the four printed encodings."""
    return [
        ours(store, treebank, name, split, "LAS", "paper").mean
        - (printed_accuracy(store, treebank, name, split, "LAS") or 0.0)
        for name in PRINTED_ENCODINGS
    ]


def largest(store: Store) -> str:
    """The cells that are farthest from the printed ones, of each table."""

    def rows() -> Iterator[Row]:
        for split, metric in product(("dev", "test"), METRICS):
            cells = {
                (t.title, name): (printed, ours(store, t, name, split, metric, "paper").mean)
                for t, name in product(ORDER, PRINTED_ENCODINGS)
                if (printed := printed_accuracy(store, t, name, split, metric)) is not None
            }
            yield [f"{metric}, {split}", *_farthest(cells)]
        for metric, name in (
            ("NonprojectiveSentences", "nonprojective_sentences_pr"),
            ("NonprojectiveDependencies", "nonprojective_dependencies_pr"),
        ):
            for at, side in enumerate(("precision", "recall")):
                cells = {
                    (t.title, encoding): (
                        printed[at],
                        100 * getattr(store.pooled(t.code, encoding, ("test", "raw text", "paper"), metric), side),
                    )
                    for t in CROSSING
                    for encoding, printed in store.printed[name]["cells"][t.name].items()
                }
                yield [f"{side} of {metric.removeprefix('Nonprojective').lower()}", *_farthest(cells)]

    return table(["figure", "largest", "next (other treebank)", "median distance"], rows())


def _farthest(cells: dict[tuple[str, str], tuple[float, float]]) -> list[str]:
    ranked = sorted(cells, key=lambda name: -abs(cells[name][1] - cells[name][0]))
    second = next(name for name in ranked if name[0] != ranked[0][0])
    shown = [f"{t}, {e}: {cells[t, e][0]:.1f} → {cells[t, e][1]:.1f}" for t, e in (ranked[0], second)]
    return [*shown, f"{median(abs(one - other) for one, other in cells.values()):.1f}"]


# Table 7


def speed(place: tuple[str, str], printed_at: int) -> Callable[[Store], str]:
    """Sentences a second on the test set: printed / file to file with `paper` / with `search`."""

    def make(store: Store) -> str:
        found, short = rates(store), shorter(store)

        def cell(treebank: Treebank, encoding: str) -> str:
            name = system(treebank.code, encoding)
            printed = store.printed["speed"]["cells"][treebank.name].get(encoding)
            speeds = [f"{found[Timed(name, place, what)]:,.0f}" for what in (BY_PAPER, BY_SEARCH)]
            return "/".join([str(printed[printed_at]) if printed else "–", *speeds]) + ("†" if name in short else "")

        return _by_encoding(ORDER, ENCODINGS, cell)

    return make


def speed_in_turn(store: Store) -> str:
    """How many times as fast as one plane the other encodings are, in models that took turns."""
    found = rates(store, in_turn=True)

    def rows() -> Iterator[Row]:
        for encoding in ENCODINGS:
            if encoding != ONE_PLANE:
                printed = printed_speed_ratios(store, encoding) or [[], []]
                turns = [ratio(found, CORE, encoding, ONE_PLANE, what) for what in WHAT]
                yield [encoding, *(spread(one) if one else "–" for one in (*printed, *turns))]

    return table(["encoding", "printed: core", "printed: GPU", *WHAT], rows())


def printed_speed_ratios(store: Store, encoding: str) -> list[list[float]]:
    """The printed speeds of an encoding divided by those of one plane, on the core and on the GPU; none for ours."""
    cells = store.printed["speed"]["cells"]
    pairs = [(cells[one.name][encoding], cells[one.name][ONE_PLANE]) for one in ORDER if encoding in cells[one.name]]
    return [[one[at] / other[at] for one, other in pairs] for at in (0, 1)] if pairs else []


def int8_ratio(store: Store) -> str:
    """How many times as fast as PyTorch int8 is on one core, where both were measured."""
    found = rates(store)
    both = [
        rate / found[other]
        for one, rate in found.items()
        if one.place == CORE and (other := one._replace(place=CORE_TORCH)) in found
    ]
    return f"{spread(both)} ({len(both) // len(WHAT)} models)"


# What needs no training


def coverage(store: Store) -> str:
    """Table 2 beside ours."""

    def rows() -> Iterator[Row]:
        for treebank in CROSSING:
            printed = store.printed["coverage"]["cells"][treebank.name]
            found = store.treebanks[treebank.code]["statistics"]
            both = (f"{one:.2f} / {other:.2f}" for one, other in zip(printed, found["coverage"], strict=True))
            yield [treebank.title, *both, f"{found['encodings']['2p-full']['coverage']:.2f}"]

    return table(["treebank", "1p-brackets", "2p-greedy", "2p-prop", "2p-full (ours)"], rows())


def label_sizes(store: Store) -> str:
    """Table 3 beside ours."""

    def cell(treebank: Treebank, encoding: str) -> str:
        printed = store.printed["label_sizes"]["cells"][treebank.name][encoding]
        found = store.treebanks[treebank.code]["statistics"]["label_sizes"][encoding]
        return " / ".join("+".join(str(size) for size in sizes[:2] if size is not None) for sizes in (printed, found))

    return _by_encoding(ORDER, PRINTED_ENCODINGS, cell)


def exact_cells(store: Store) -> str:
    """How many cells of each table that needs no training come out as printed."""

    def rows() -> Iterator[Row]:
        for name in ("nonprojectivity", "coverage", "label_sizes", "split_sizes", "unseen_labels"):
            groups = [[one for one in TREEBANKS if one.near == near] for near in (False, True)]
            yield [store.printed[name]["what"], *(" of ".join(map(str, _equal(store, name, some))) for some in groups)]

    return table(["table", "cells equal", "near treebanks"], rows())


def _equal(store: Store, name: str, treebanks: Sequence[Treebank]) -> tuple[int, int]:
    pairs = []
    for treebank in treebanks:
        printed = store.printed[name]["cells"].get(treebank.name)
        if printed is not None:
            pairs += list(_pairs(printed, store.treebanks[treebank.code]["statistics"][name]))
    return sum(abs(one - other) < 1e-9 for one, other in pairs), len(pairs)


def _pairs(printed: Any, found: Any) -> Iterator[tuple[float, float]]:
    """All cells of two nested tables that the first one has."""
    if isinstance(printed, dict):
        for key, value in printed.items():
            yield from _pairs(value, found[key])
    elif isinstance(printed, list):
        for one, other in zip(printed, found, strict=True):
            yield from _pairs(one, other)
    elif printed is not None:
        yield float(printed), float("nan") if found is None else float(found)


def preparation(store: Store) -> str:
    """How well UDPipe segments and tags the test sets."""

    def rows() -> Iterator[Row]:
        for treebank in ORDER:
            test = store.treebanks[treebank.code]["splits"]["test"]
            f1 = [200 * c / (g + s) for c, g, s in (test["raw"][m] for m in ("Sentences", "Words", "UPOS"))]
            yield [treebank.title, *(f"{one:.2f}" for one in (*f1, 100 * test["tags"][0] / test["tags"][1]))]

    return table(["treebank", "sentences", "words", "UPOS", "UPOS, gold words"], rows())


def schedule(store: Store) -> str:
    """How long networks were trained, beside what the package would take."""

    def rows() -> Iterator[Row]:
        for treebank in ORDER:
            words = store.treebanks[treebank.code]["splits"]["train"]["words"]
            seeds = len(store.seeds("paper", treebank.code, PAPER, ONE_PLANE))
            yield [
                treebank.title,
                f"{words:,}",
                seeds,
                *(f"{one.all_updates(words):,} × {one.batch_words:,}" for one in (SHORT, PACKAGE)),
                *(one.epochs(words) for one in (SHORT, PACKAGE)),
            ]

    head = ["treebank", "training words", "seeds", "updates × words, here", "package", "rounds, here", "package"]
    return table(head, rows())


# The larger network, and what is best on dev


def best_printed(store: Store, treebank: Treebank) -> tuple[float, str]:
    """The paper's best test LAS on a treebank, and the encoding it is of."""
    cells = store.printed["accuracy"]["cells"][treebank.name]
    return max((values[3], encoding) for encoding, values in cells.items())


def larger_network(store: Store) -> str:
    """Its test LAS from raw text beside the best cell of the paper's Table 6."""

    def rows() -> Iterator[Row]:
        for treebank in ORDER:
            printed, encoding = best_printed(store, treebank)
            found = store.cell("paper", treebank.code, LARGER, "2p-full", ("test", "raw text", "search"))
            if found is not None:
                yield [treebank.title, f"{printed:.2f} ({encoding})", found, f"{found.mean - printed:+.2f}"]

    return table(["treebank", "the paper's best", "larger network", "difference"], rows())


def best_on_dev(store: Store) -> str:
    """Mean dev LAS from raw text over all treebanks, by encoding and decoder."""

    def rows() -> Iterator[Row]:
        for encoding in ENCODINGS:
            cells = [mean(ours(store, t, encoding, "dev", "LAS", d).mean for t in ORDER) for d in DECODERS]
            rest = mean(ours(store, t, encoding, "dev", "LAS", "search").mean for t in ORDER if t.code != "lt")
            yield [encoding, *(f"{value:.2f}" for value in (*cells, rest))]

    return table(["encoding", *(f"`{one}`" for one in DECODERS), "`search`, without Lithuanian"], rows())


DECODERS = STUDIES["paper"].decoders

PAPER_TABLES: dict[str, Callable[[Store], str]] = {
    "exact cells": exact_cells,
    "coverage": coverage,
    "label sizes": label_sizes,
    "preparation": preparation,
    "schedule": schedule,
    "crossing sentences": crossing("NonprojectiveSentences", "nonprojective_sentences_pr"),
    "crossing dependencies": crossing("NonprojectiveDependencies", "nonprojective_dependencies_pr"),
    **{f"{split} {metric}": accuracy(split, metric) for split in ("dev", "test") for metric in METRICS},
    **{f"{split} LAS, gold words": gold_words(split) for split in ("dev", "test")},
    "differences": differences,
    "switch-averse": switch_averse,
    "dev and test": dev_and_test,
    "largest deviations": largest,
    "speed, one core": speed(CORE, 0),
    "speed, GPU": speed(GPU, 1),
    "speed in turn": speed_in_turn,
    "larger network": larger_network,
    "best on dev": best_on_dev,
}
