"""The tables and verdicts of docs/study.md, as Markdown: the paper's printed figures with ours beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from statistics import mean
from typing import Any

from study.plan import DEFAULT, ENCODINGS, PAPER, SWITCH_AVERSE, SWITCH_TREEBANKS, Schedule, plan
from study.rates import CORE, CORE_TORCH, GPU, NETWORK, WHAT, Timed, planned, rates, ratio, shorter, spread, system
from study.store import Difference, Store, survive_holm
from study.treebanks import BY_CODE, TREEBANKS, Treebank

ONE_PLANE = "1p-brackets"
TWO_PLANES = ("2p-greedy", "2p-prop", "2p-full")
SOURCES = ("raw text", "gold words")

# By the share of crossing arcs, most first, as in the paper; the projective control last.
ORDER = tuple(sorted(TREEBANKS, key=lambda one: ("grc", "eu", "hu", "pt", "af", "ko", "lt", "gl").index(one.code)))
CROSSING = tuple(treebank for treebank in ORDER if treebank.code != "gl")


def table(head: Sequence[str], rows: Iterator[Sequence[object]]) -> str:
    """A Markdown table; None is an empty cell."""
    lines = [head, ["---"] * len(head), *([("" if cell is None else str(cell)) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def title(treebank: Treebank) -> str:
    """The language; a star where the training file is only near the released one."""
    return f"{treebank.language}{'*' if treebank.near else ''}"


def _printed(store: Store, name: str, treebank: Treebank, encoding: str) -> list[float] | None:
    cells: Any = store.printed[name]["cells"].get(treebank.name, {})
    found: list[float] | None = cells.get(encoding)
    return found


# Table 6


def accuracy(split: str, source: str) -> Callable[[Store], str]:
    """UAS and LAS of all encodings, and of the default configuration."""

    def make(store: Store) -> str:
        head = ["treebank", "encoding", "seeds", "UAS, `paper`", "LAS, `paper`", "UAS, `search`", "LAS, `search`"]
        if source == "raw text":
            head[2:2] = ["printed UAS", "printed LAS"]
        return table(head, _accuracy_rows(store, split, source))

    return make


def _accuracy_rows(store: Store, split: str, source: str) -> Iterator[list[object]]:
    rows = [*((PAPER, encoding) for encoding in ENCODINGS), (DEFAULT, "2p-full")]
    for treebank in ORDER:
        for network, encoding in rows:
            seeds = len(store.seeds(treebank.code, encoding, network))
            if not seeds:
                continue
            cells: list[object] = [title(treebank), encoding if network == PAPER else "default configuration"]
            if source == "raw text":
                printed = _printed(store, "accuracy", treebank, encoding) if network == PAPER else None
                start = 0 if split == "dev" else 2
                cells += [f"{value:.2f}" for value in printed[start : start + 2]] if printed else [None, None]
            cells.append(seeds)
            for decoder in ("paper", "search"):
                where = (split, source, decoder)
                cells += [store.accuracy(treebank.code, encoding, where, m, network) for m in ("UAS", "LAS")]
            yield cells


# Tables 4 and 5


def crossing(metric: str, printed_name: str) -> Callable[[Store], str]:
    """Precision and recall of what is not projective on test, all seeds together."""

    def rows(store: Store) -> Iterator[list[object]]:
        for treebank in CROSSING:
            for network, encoding in [*((PAPER, one) for one in ENCODINGS), (DEFAULT, "2p-full")]:
                if not store.seeds(treebank.code, encoding, network):
                    continue
                printed = _printed(store, printed_name, treebank, encoding) if network == PAPER else None
                cells: list[object] = [title(treebank), encoding if network == PAPER else "default configuration"]
                cells.append(f"{printed[0]:.1f} / {printed[1]:.1f}" if printed else None)
                for source in SOURCES:
                    for decoder in ("paper", "search"):
                        score = store.pooled(treebank.code, encoding, ("test", source, decoder), metric, network)
                        cells.append(f"{100 * score.precision:.1f} / {100 * score.recall:.1f}")
                yield cells

    head = ["treebank", "encoding", "printed", *(f"{s}, `{d}`" for s in SOURCES for d in ("paper", "search"))]
    return lambda store: table(head, rows(store))


# Differences


def differences(store: Store) -> str:
    """Each 2-planar encoding against `1p-brackets`."""

    def rows() -> Iterator[list[object]]:
        for treebank in ORDER:
            for encoding in TWO_PLANES:
                found = [store.difference(treebank.code, encoding, ONE_PLANE, d) for d in ("paper", "search")]
                yield [title(treebank), encoding, *map(_cell, found)]

    cells = table(["treebank", "encoding", "`paper`", "`search`"], rows())
    found = [
        one
        for treebank in ORDER
        for encoding in TWO_PLANES
        for decoder in ("paper", "search")
        if (one := store.difference(treebank.code, encoding, ONE_PLANE, decoder)) is not None
    ]
    sure, kept = [one for one in found if one.is_significant], survive_holm(found)
    note = f"Of {len(found)} differences {_better_and_worse(sure)} have p < 0.05"
    return f"{cells}\n\n{note}; after Holm's correction for that many, {_better_and_worse(kept)}."


def _better_and_worse(differences: Sequence[Difference]) -> str:
    better = sum(one.points > 0 for one in differences)
    return f"{len(differences)} ({better} better, {len(differences) - better} worse)"


def _cell(difference: Difference | None) -> str | None:
    if difference is None:
        return None
    text = f"{difference.points:+.2f} [{difference.low:+.2f}, {difference.high:+.2f}], p {_p(difference)}"
    return f"**{text}**" if difference.is_significant else text


def _p(difference: Difference) -> str:
    return "< 0.001" if difference.p_value < 0.001 else f"= {difference.p_value:.3f}"


def switch_averse(store: Store) -> str:
    """Switch-averse planes against the plain ones."""

    def rows() -> Iterator[list[object]]:
        for code, encoding in product(SWITCH_TREEBANKS, SWITCH_AVERSE):
            plain = encoding.removesuffix("-switch")
            where = ("test", "gold words", "paper")
            found = [_cell(store.difference(code, encoding, plain, decoder)) for decoder in ("paper", "search")]
            accuracies = [store.accuracy(code, one, where) for one in (plain, encoding)]
            yield [title(BY_CODE[code]), plain, *accuracies, *found]

    return table(
        ["treebank", "encoding", "plain", "switch-averse", "difference, `paper`", "difference, `search`"], rows()
    )


# Table 7


def speed(store: Store) -> str:
    """Sentences a second on the test set."""
    found, short = rates(store), shorter(store)
    known = {timed.system for timed in found}

    def rows() -> Iterator[list[object]]:
        for treebank in ORDER:
            for network, encoding in [*((PAPER, one) for one in ENCODINGS), (DEFAULT, "2p-full")]:
                name = system(treebank.code, encoding, network)
                if name not in known:
                    continue
                printed = _printed(store, "speed", treebank, encoding) if network == PAPER else None
                shown = encoding if network == PAPER else "default configuration"
                cells: list[object] = [title(treebank), f"{shown}{' †' if name in short else ''}"]
                cells.append(" / ".join(map(str, printed)) if printed else None)
                speeds = [[found[Timed(name, place, what)] for what in WHAT] for place in (CORE, GPU)]
                yield [*cells, *(" / ".join(f"{one:,.0f}" for one in some) for some in speeds)]

    head = ["treebank", "encoding", "printed: core / GPU", "one core", "GPU"]
    both = [
        rate / found[other]
        for one, rate in found.items()
        if (other := one._replace(place=CORE_TORCH)) in found and one.place == CORE
    ]
    note = f"ONNX Runtime in int8 is {spread(both)} times as fast as PyTorch on one core, where both were measured"
    return f"{table(head, rows())}\n\n{note} ({len(both) // len(WHAT)} models)."


def speed_in_turn(store: Store) -> str:
    """How many times as fast as one plane the other encodings are, in models that took turns."""
    found = rates(store, in_turn=True)

    def rows() -> Iterator[list[object]]:
        for encoding in ENCODINGS:
            if encoding != ONE_PLANE:
                printed = printed_speed_ratios(store, encoding) or [[], []]
                ours = [ratio(found, CORE, encoding, ONE_PLANE, what) for what in WHAT]
                yield [encoding, *(spread(one) if one else None for one in (*printed, *ours))]

    return table(["encoding", "printed: core", "printed: GPU", *WHAT], rows())


def printed_speed_ratios(store: Store, encoding: str) -> list[list[float]]:
    """The printed speeds of an encoding divided by those of one plane, on the core and on the GPU; none for ours."""
    cells = store.printed["speed"]["cells"]
    pairs = [(cells[one.name][encoding], cells[one.name][ONE_PLANE]) for one in ORDER if encoding in cells[one.name]]
    return [[ours[at] / other[at] for ours, other in pairs] for at in (0, 1)] if pairs else []


# What needs no training


def coverage(store: Store) -> str:
    """Table 2 beside ours, and what share of sentences come back whole."""

    def rows() -> Iterator[list[object]]:
        for treebank in CROSSING:
            printed = store.printed["coverage"]["cells"][treebank.name]
            ours = store.facts[treebank.code]["statistics"]
            full = f"{ours['encodings']['2p-full']['coverage']:.2f}"
            yield [
                title(treebank),
                *(f"{p:.2f} / {o:.2f}" for p, o in zip(printed, ours["coverage"], strict=True)),
                full,
            ]

    return table(["treebank", "1p-brackets", "2p-greedy", "2p-prop", "2p-full (ours)"], rows())


def label_sizes(store: Store) -> str:
    """Table 3 beside ours."""

    def rows() -> Iterator[list[object]]:
        for treebank in ORDER:
            printed = store.printed["label_sizes"]["cells"][treebank.name]
            ours = store.facts[treebank.code]["statistics"]["label_sizes"]
            yield [title(treebank), *(f"{_plus(printed[one])} / {_plus(ours[one])}" for one in ENCODINGS[:4])]

    return table(["treebank", *ENCODINGS[:4]], rows())


def _plus(sizes: Sequence[int | None]) -> str:
    return " + ".join(str(size) for size in sizes[:2] if size is not None)


def deterministic(store: Store) -> str:
    """How many cells of each table that needs no training come out as printed."""

    def rows() -> Iterator[list[object]]:
        for name in ("nonprojectivity", "coverage", "label_sizes", "split_sizes", "unseen_labels"):
            what = store.printed[name]["what"]
            exact = [t for t in TREEBANKS if not t.near]
            near = [t for t in TREEBANKS if t.near]
            yield [what, *(" of ".join(map(str, _equal(store, name, group))) for group in (exact, near))]

    return table(["table", "cells equal", "cells equal, near treebanks"], rows())


def _equal(store: Store, name: str, treebanks: Sequence[Treebank]) -> tuple[int, int]:
    pairs = []
    for treebank in treebanks:
        printed = store.printed[name]["cells"].get(treebank.name)
        if printed is not None:
            pairs += list(_pairs(printed, store.facts[treebank.code]["statistics"][name]))
    return sum(abs(one - other) < 1e-9 for one, other in pairs), len(pairs)


def _pairs(printed: Any, ours: Any) -> Iterator[tuple[float, float]]:
    """All cells of two nested tables that the first one has."""
    if isinstance(printed, dict):
        for key, value in printed.items():
            yield from _pairs(value, ours[key])
    elif isinstance(printed, list):
        for one, other in zip(printed, ours, strict=True):
            yield from _pairs(one, other)
    elif printed is not None:
        yield float(printed), float("nan") if ours is None else float(ours)


def preparation(store: Store) -> str:
    """How well UDPipe segments and tags the test sets."""

    def rows() -> Iterator[list[object]]:
        for treebank in ORDER:
            facts = store.facts[treebank.code]["splits"]
            test = facts["test"]
            f1 = [200 * c / (g + s) for c, g, s in (test["raw"][m] for m in ("Sentences", "Words", "UPOS"))]
            tags = 100 * test["tags"][0] / test["tags"][1]
            yield [title(treebank), f"{facts['train']['words']:,}", *(f"{value:.2f}" for value in (*f1, tags))]

    return table(["treebank", "training words", "sentences", "words", "UPOS", "UPOS, gold words"], rows())


# The default configuration, and what is best on dev


def best_printed(store: Store, treebank: Treebank) -> tuple[float, str]:
    """The paper's best test LAS on a treebank, and the encoding it is of."""
    cells = store.printed["accuracy"]["cells"][treebank.name]
    return max((values[3], encoding) for encoding, values in cells.items())


def default_configuration(store: Store) -> str:
    """Its test LAS from raw text beside the best cell of the paper's Table 6."""

    def rows() -> Iterator[list[object]]:
        for treebank in ORDER:
            printed, encoding = best_printed(store, treebank)
            ours = store.accuracy(treebank.code, "2p-full", ("test", "raw text", "search"), network=DEFAULT)
            if ours is not None:
                above = ours.mean - printed
                yield [title(treebank), f"{printed:.2f} ({encoding})", ours, f"{above:+.2f}", _yes(above > 0)]

    return table(["treebank", "the paper's best", "default configuration", "difference", "above"], rows())


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


def best_on_dev(store: Store) -> str:
    """Mean dev LAS from raw text over all treebanks, by encoding and decoder, and how often an encoding is the best."""
    decoders = ("paper", "greedy", "search")
    means = {
        (treebank.code, encoding, decoder): row.mean
        for treebank in ORDER
        for encoding in ENCODINGS
        for decoder in decoders
        if (row := store.accuracy(treebank.code, encoding, ("dev", "raw text", decoder))) is not None
    }

    def rows() -> Iterator[list[object]]:
        for encoding in ENCODINGS:
            cells = [mean(means[t.code, encoding, decoder] for t in ORDER) for decoder in decoders]
            rest = [mean(means[t.code, encoding, "search"] for t in ORDER if t.code != "lt")]
            yield [encoding, *(f"{value:.2f}" for value in cells + rest)]

    return table(["encoding", *(f"`{one}`" for one in decoders), "`search`, without Lithuanian"], rows())


# What was run, and what was not


def schedule(store: Store) -> str:
    """How long networks were trained, beside what the package would take."""
    ours, package = Schedule(**next(iter(store.runs.values()))["schedule"]), Schedule()

    def rows() -> Iterator[list[object]]:
        for treebank in ORDER:
            words = store.facts[treebank.code]["splits"]["train"]["words"]
            yield [
                title(treebank),
                f"{words:,}",
                *(f"{one.all_updates(words):,} × {one.batch_words:,}" for one in (ours, package)),
                *(one.epochs(words) for one in (ours, package)),
            ]

    head = ["treebank", "training words", "updates × words, here", "updates × words, package"]
    return table([*head, "rounds, here", "rounds, package"], rows())


def missing(store: Store) -> str:
    """How much of the plan was carried out, and why the rest was not."""
    runs, speeds = (
        [run.key in store.runs for run in plan()],
        [Timed(*one, NETWORK) in rates(store) for one in planned()],
    )
    done = f"{sum(runs)} of {len(runs)} planned runs have results"
    reasons = [f"- {reason}: {', '.join(f'`{key}`' for key in keys)}" for reason, keys in store.missing.items()]
    lines = [f"{done}, and {sum(speeds)} of {len(speeds)} planned speeds were measured.", *([""] if reasons else [])]
    return "\n".join(lines + reasons)


BLOCKS: dict[str, Callable[[Store], str]] = {
    "deterministic": deterministic,
    "coverage": coverage,
    "label sizes": label_sizes,
    "preparation": preparation,
    "sentences": crossing("NonprojectiveSentences", "nonprojective_sentences_pr"),
    "dependencies": crossing("NonprojectiveDependencies", "nonprojective_dependencies_pr"),
    **{f"{split} {source}": accuracy(split, source) for split in ("dev", "test") for source in SOURCES},
    "differences": differences,
    "switch averse": switch_averse,
    "speed": speed,
    "speed in turn": speed_in_turn,
    "default configuration": default_configuration,
    "best on dev": best_on_dev,
    "schedule": schedule,
    "missing": missing,
}
