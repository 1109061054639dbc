"""The paper's claims, judged by the stored results: a line each, with the numbers it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import geometric_mean, mean, median

from study.plan import DEFAULT, ENCODINGS, PAPER, SWITCH_AVERSE, SWITCH_TREEBANKS
from study.rates import BY_PAPER, BY_SEARCH, CORE, GPU, rates, ratio, spread
from study.store import Difference, Store
from study.tables import CROSSING, ONE_PLANE, ORDER, TWO_PLANES, best_printed, printed_speed_ratios, table, title
from study.treebanks import Treebank

RAW = ("test", "raw text", "paper")
GOLD = ("test", "gold words", "paper")
BRACKETS = ENCODINGS[1:]

# What is meant by "slightly worse", "as fast" and "little speed": points of LAS, and ratios of speeds.
SLIGHTLY, AS_FAST, LITTLE = 0.5, 0.9, 0.75


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
    yield cost(store)
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
    found = {
        decoder: [
            one
            for code, encoding in product(SWITCH_TREEBANKS, SWITCH_AVERSE)
            if (one := store.difference(code, encoding, encoding.removesuffix("-switch"), decoder)) is not None
        ]
        for decoder in ("paper", "search")
    }
    points = {decoder: [one.points for one in some] for decoder, some in found.items()}
    by_paper = points["paper"]
    sure = sum(one.is_significant and one.points < 0 for one in found["paper"])
    numbers = (
        f"LAS with gold words {mean(by_paper):+.2f} on average ({min(by_paper):+.2f} to {max(by_paper):+.2f}), "
        f"lower in {sum(one < 0 for one in by_paper)} of {len(by_paper)} cases, significantly in {sure}; "
        f"with `search` {mean(points['search']):+.2f}"
    )
    return Verdict("switch-averse assignment of planes is slightly worse", _worse(by_paper), numbers)


def _worse(points: Sequence[float]) -> str:
    if mean(points) >= 0:
        return "does not hold"
    if max(points) >= 0:
        return "holds in part"
    return "holds" if mean(points) > -SLIGHTLY else "worse, but not slightly"


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
    turns, others = rates(store, in_turn=True), rates(store)
    ratios = {one: ratio(turns, CORE, one, ONE_PLANE, BY_PAPER) for one in TWO_PLANES}
    by_place = {
        place: [one for encoding in TWO_PLANES for one in ratio(others, place, encoding, ONE_PLANE, BY_PAPER)]
        for place in (CORE, GPU)
    }
    printed = printed_speed_ratios(store, "2p-greedy")
    numbers = (
        f"sentences a second from file to file beside `{ONE_PLANE}`, one core, models in turn: "
        + ", ".join(f"`{one}` × {geometric_mean(some):.2f}" for one, some in ratios.items())
        + f" (printed, `2p-greedy`: × {geometric_mean(printed[0]):.2f}); in Table 7, where figures scatter, all three: "
        f"× {spread(by_place[CORE])} on one core and × {spread(by_place[GPU])} on the GPU "
        f"(printed: × {geometric_mean(printed[1]):.2f})"
    )
    slowest = min(one for some in ratios.values() for one in some)
    return Verdict("two planes are as fast as one", "holds" if slowest > AS_FAST else "does not hold", numbers)


def cost(store: Store) -> Verdict:
    """What search and the default configuration cost."""
    found = rates(store)
    core, gpu = (
        [one for encoding in BRACKETS for one in ratio(found, place, encoding, encoding, BY_SEARCH, BY_PAPER)]
        for place in (CORE, GPU)
    )
    default = [
        rate / found[other]
        for timed, rate in found.items()
        if (timed.place, timed.what) == (CORE, BY_SEARCH)
        and (other := timed._replace(system=timed.system.replace(f"-{DEFAULT}-", f"-{PAPER}-"))) != timed
    ]
    numbers = (
        f"sentences a second from file to file with `search` beside `paper`, bracket encodings: × {spread(core)} on "
        f"one core, × {spread(gpu)} with a GPU, where the decoder takes most of the time; the default configuration "
        f"beside the network `paper`, both with `2p-full` and `search`: × {spread(default)} on one core"
    )
    slow = [place for place, some in (("a core", core), ("a GPU", gpu)) if geometric_mean(some) < LITTLE]
    return Verdict("(ours) `search` costs little speed", f"not on {' and '.join(slow)}" if slow else "holds", numbers)


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
