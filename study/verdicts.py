"""The paper's claims, judged by the stored results: a line each, with the numbers it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

from study.plan import DEFAULT, ENCODINGS, PAPER, SWITCH_AVERSE, SWITCH_TREEBANKS
from study.store import Difference, Store
from study.tables import CROSSING, ORDER, best_printed, table, title
from study.treebanks import Treebank

OPEN = "open"
RAW = ("test", "raw text", "paper")
GOLD = ("test", "gold words", "paper")
ONE_PLANE = "1p-brackets"


@dataclass(frozen=True)
class Verdict:
    """What is said of one claim."""

    claim: str
    verdict: str
    numbers: str


def verdicts(store: Store) -> str:
    """All of them, as a table."""
    return table(["claim", "verdict", "numbers"], ([one.claim, one.verdict, one.numbers] for one in judged(store)))


def judged(store: Store) -> Iterator[Verdict]:
    """The paper's claims, then what the project adds."""
    for encoding in ("2p-greedy", "2p-prop"):
        yield two_planes(store, encoding)
    for encoding in ("2p-greedy", "2p-prop"):
        yield recall(store, encoding)
    yield predicted_tags(store)
    yield switch_averse(store)
    yield label_sets(store)
    yield speed(store)
    yield full(store)
    yield search(store)
    yield default(store)


def two_planes(store: Store, encoding: str) -> Verdict:
    """Two planes parse better than one."""
    gains = _gains(store, encoding, CROSSING)
    printed = [_printed_las(store, t, encoding) - _printed_las(store, t, ONE_PLANE) for t in CROSSING]
    found = {title(t): store.difference(t.code, encoding, ONE_PLANE, "paper") for t in CROSSING}
    better, worse = _significant(found)
    numbers = (
        f"LAS from raw text {mean(gains):+.2f} on average over the {len(CROSSING)} treebanks with crossing arcs "
        f"(printed: {mean(printed):+.2f}), median {median(gains):+.2f} ({median(printed):+.2f}), "
        f"above on {sum(gain > 0 for gain in gains)} ({sum(gain > 0 for gain in printed)}); "
        f"significantly better on {_named(better)}, worse on {_named(worse)}"
    )
    by_search = {title(t): store.difference(t.code, encoding, ONE_PLANE, "search") for t in CROSSING}
    numbers += f"; with `search` better on {_named(_significant(by_search)[0])}, worse on "
    numbers += _named(_significant(by_search)[1])
    claim = f"`{encoding}` parses better than `{ONE_PLANE}` where arcs cross"
    return Verdict(claim, _of_seven(len(better), len(worse)), numbers)


def recall(store: Store, encoding: str) -> Verdict:
    """Recall of non-projective dependencies rises."""

    def ours(treebank: Treebank, which: str) -> float:
        return 100 * store.pooled(treebank.code, which, RAW, "NonprojectiveDependencies").recall

    rises = [ours(t, encoding) - ours(t, ONE_PLANE) for t in CROSSING]
    cells = store.printed["nonprojective_dependencies_pr"]["cells"]
    printed = [cells[t.name][encoding][1] - cells[t.name][ONE_PLANE][1] for t in CROSSING]
    higher = sum(rise > 0 for rise in rises)
    numbers = (
        f"{mean(rises):+.1f} points on average (printed: {mean(printed):+.1f}), higher on {higher} of {len(rises)}; "
        f"most on {title(CROSSING[rises.index(max(rises))])} ({max(rises):+.1f}), "
        f"least on {title(CROSSING[rises.index(min(rises))])} ({min(rises):+.1f})"
    )
    claim = f"`{encoding}` finds more non-projective dependencies than `{ONE_PLANE}`"
    return Verdict(claim, "holds" if higher > len(rises) / 2 else "does not hold", numbers)


def predicted_tags(store: Store) -> Verdict:
    """rel-pos suffers from predicted tags."""
    rel_pos, brackets = (PAPER, "rel-pos"), (PAPER, ONE_PLANE)
    gold_tags = ("test", "gold tags", "paper")
    losses = [store.gain(t.code, rel_pos, rel_pos, gold_tags, other_where=GOLD) for t in ORDER]
    behind = [store.gain(t.code, rel_pos, brackets, GOLD) for t in ORDER]
    ahead = [store.gain(t.code, rel_pos, brackets, gold_tags, other_where=GOLD) for t in ORDER]
    lost = [one for one in losses if one is not None]
    numbers = (
        f"predicted instead of gold tags cost {mean(lost):.2f} LAS on average ({min(lost):.2f} to {max(lost):.2f}; "
        f"gold words); `rel-pos` is below `{ONE_PLANE}` on {_below(behind)} of {len(ORDER)} treebanks with predicted "
        f"tags, on {_below(ahead)} with gold ones"
    )
    return Verdict("`rel-pos` suffers from predicted tags", "holds" if min(lost) > 0 else "holds in part", numbers)


def switch_averse(store: Store) -> Verdict:
    """Switch-averse assignment of planes is slightly worse."""
    claim = "switch-averse assignment of planes is slightly worse"
    found = {
        f"{code} {encoding}": one
        for code in SWITCH_TREEBANKS
        for encoding in SWITCH_AVERSE
        if (one := store.difference(code, encoding, encoding.removesuffix("-switch"), "paper")) is not None
    }
    if not found:
        return Verdict(claim, OPEN, "no results yet")
    points = [one.points for one in found.values()]
    numbers = f"LAS {mean(points):+.2f} on average, lower in {sum(one < 0 for one in points)} of {len(points)} cases"
    return Verdict(claim, "holds" if max(points) < 0 else "holds in part" if mean(points) < 0 else "refuted", numbers)


def label_sets(store: Store) -> Verdict:
    """Two planes need no more labels than one."""
    sizes = {t: store.facts[t.code]["statistics"]["label_sizes"] for t in CROSSING}
    changes = {t: sum(size["2p-greedy"][:2]) / size[ONE_PLANE][0] - 1 for t, size in sizes.items()}
    least, most = min(changes, key=changes.__getitem__), max(changes, key=changes.__getitem__)
    larger = sum(change > 0 for change in changes.values())
    smaller = sum(change < 0 for change in changes.values())
    numbers = (
        f"`2p-greedy` has fewer labels than `{ONE_PLANE}`, both planes together, on {smaller} of {len(CROSSING)} "
        f"treebanks and more on {larger}; from {100 * changes[least]:+.0f}% on {title(least)} to "
        f"{100 * changes[most]:+.0f}% on {title(most)}"
    )
    verdict = "holds" if not larger else "holds where arcs cross most"
    return Verdict("label sets do not grow, and shrink where arcs cross most", verdict, numbers)


def speed(store: Store) -> Verdict:
    """Two planes are as fast as one."""
    claim = "two planes are as fast as one"
    found = {
        (row["key"], row["device"], row["runtime"]): row["sentences"] / row["seconds"]
        for row in store.speed["rows"]
        if row["what"] == "network"
    }
    ratios = [
        value / found[other]
        for (key, *rest), value in found.items()
        if "-2p-greedy-" in key and (other := (key.replace("2p-greedy", ONE_PLANE), *rest)) in found
    ]
    if not ratios:
        return Verdict(claim, OPEN, "no results yet")
    numbers = f"the network with `2p-greedy` runs at {mean(ratios):.2f} times the speed of `{ONE_PLANE}`"
    return Verdict(claim, "holds" if min(ratios) > 0.9 else "holds in part", numbers)


def full(store: Store) -> Verdict:
    """What 2p-full adds to the paper's encodings."""
    gains = {decoder: _gains(store, "2p-full", CROSSING, "2p-greedy", decoder) for decoder in ("paper", "search")}
    found = {title(t): store.difference(t.code, "2p-full", "2p-greedy", "search") for t in CROSSING}
    better, worse = _significant(found)
    numbers = (
        f"against `2p-greedy` {mean(gains['paper']):+.2f} LAS with `paper` and {mean(gains['search']):+.2f} with "
        f"`search`; with `search` significantly better on {_named(better)}, worse on {_named(worse)}"
    )
    return Verdict("(ours) `2p-full` adds accuracy", _of_seven(len(better), len(worse)), numbers)


def search(store: Store) -> Verdict:
    """What search adds to the paper's decoding."""
    where = ("test", "raw text", "search")
    gains = {
        encoding: [store.gain(t.code, (PAPER, encoding), (PAPER, encoding), where, other_where=RAW) for t in ORDER]
        for encoding in ENCODINGS
    }
    every = [one for some in gains.values() for one in some if one is not None]
    by_encoding = ", ".join(f"`{e}` {mean(g for g in some if g is not None):+.2f}" for e, some in gains.items())
    numbers = f"LAS from raw text: {by_encoding}; {min(every):+.2f} to {max(every):+.2f} on single treebanks"
    verdict = "holds" if min(every) > 0 else "holds in part"
    return Verdict("(ours) `search` adds accuracy to every encoding", verdict, numbers)


def default(store: Store) -> Verdict:
    """What the default configuration adds."""
    where = ("test", "raw text", "search")
    over = [store.gain(t.code, (DEFAULT, "2p-full"), (PAPER, "2p-full"), where) for t in ORDER]
    ours = [store.accuracy(t.code, "2p-full", where, network=DEFAULT) for t in ORDER]
    above = [row.mean - best_printed(store, t)[0] for t, row in zip(ORDER, ours, strict=True) if row is not None]
    known = [one for one in over if one is not None]
    numbers = (
        f"above the best printed cell on {sum(one > 0 for one in above)} of {len(above)} treebanks, "
        f"by {min(above):.2f} to {max(above):.2f} LAS; "
        f"{mean(known):+.2f} over the network `paper` with the same encoding and decoder"
    )
    verdict = "holds" if min(above) > 0 else "holds in part"
    return Verdict("(ours) the default configuration is above the paper's best on every treebank", verdict, numbers)


def _gains(
    store: Store, encoding: str, treebanks: Sequence[Treebank], other: str = ONE_PLANE, decoder: str = "paper"
) -> list[float]:
    where = ("test", "raw text", decoder)
    found = [store.gain(t.code, (PAPER, encoding), (PAPER, other), where) for t in treebanks]
    return [one for one in found if one is not None]


def _printed_las(store: Store, treebank: Treebank, encoding: str) -> float:
    return float(store.printed["accuracy"]["cells"][treebank.name][encoding][3])


def _significant(found: dict[str, Difference | None]) -> tuple[list[str], list[str]]:
    """Where the difference is significant: better, and worse."""
    sure = {name: one.points for name, one in found.items() if one is not None and one.is_significant}
    return [name for name, points in sure.items() if points > 0], [name for name, points in sure.items() if points < 0]


def _of_seven(better: int, worse: int) -> str:
    if better and not worse:
        return "holds" if better == len(CROSSING) else f"holds on {better} of {len(CROSSING)}"
    return "mixed" if better else "not confirmed"


def _named(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _below(gains: Sequence[float | None]) -> int:
    return sum(one is not None and one < 0 for one in gains)
