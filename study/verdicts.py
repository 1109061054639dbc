"""The paper's claims, judged by the stored results: a line each, with the numbers it rests on.

A claim about accuracy is tested treebank by treebank. All these tests are one family, and a difference counts only if
it survives Holm's correction for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from statistics import geometric_mean, mean, median

from benchmarks.output import markdown_table

from study.paper_tables import (
    CROSSING,
    ONE_PLANE,
    ORDER,
    TWO_PLANES,
    best_printed,
    ours,
    printed_accuracy,
    printed_speed_ratios,
)
from study.plan import ENCODINGS, LARGER, PAPER, SWITCH_AVERSE, SWITCH_TREEBANKS
from study.significance import Difference, las_difference, share_difference, survivors
from study.speeds import BY_PAPER, BY_SEARCH, CORE, GPU, rates, ratio, spread
from study.store import Store
from study.treebanks import BY_CODE, Treebank

GREEDY, PROP, FULL = TWO_PLANES
BRACKETS = ENCODINGS[1:]
RAW = ("test", "raw text", "paper")
SENTENCES, DEPENDENCIES = "NonprojectiveSentences", "NonprojectiveDependencies"
PRINTED = {SENTENCES: "nonprojective_sentences_pr", DEPENDENCIES: "nonprojective_dependencies_pr"}

# Thresholds: what "slightly" means in points of LAS, "as fast" and "little speed" as ratios of speeds, "rare" as a
# percentage of the labels of the test set.
SLIGHTLY, AS_FAST, LITTLE, RARE = 0.5, 0.9, 0.75, 0.1

Test = tuple[str, str]  # what is compared, and the code of a treebank
LAS, UAS = "LAS", "UAS"


@dataclass(frozen=True)
class Verdict:
    """What is said of one claim."""

    claim: str
    verdict: str
    numbers: str


@dataclass(frozen=True)
class Comparison:
    """One encoding against another by one measure, on some treebanks."""

    metric: str
    encoding: str
    other: str
    treebanks: tuple[Treebank, ...]
    decoder: str = "paper"
    side: str = "f1"  # or precision, recall

    @property
    def name(self) -> str:
        """Part of the names of its tests."""
        return f"{self.metric} {self.side}: {self.encoding} over {self.other}, {self.decoder}"

    def test(self, store: Store, treebank: Treebank) -> Difference | None:
        """On one treebank: LAS with gold words by sentences; others by counts, crossing ones from raw text."""
        if self.metric == LAS:
            return las_difference(store, treebank.code, self.encoding, self.other, self.decoder)
        where = ("test", "gold words" if self.metric == UAS else "raw text", self.decoder)
        both = [store.scores(treebank.code, one, where, self.metric) for one in (self.encoding, self.other)]
        return share_difference(both[0], both[1], self.side) if all(both) else None


def _comparisons() -> Iterator[Comparison]:
    for encoding in (GREEDY, PROP):
        yield from (Comparison(metric, encoding, ONE_PLANE, CROSSING) for metric in (LAS, UAS))
        for metric, side in product((SENTENCES, DEPENDENCIES), ("precision", "recall")):
            yield Comparison(metric, encoding, ONE_PLANE, CROSSING, side=side)
        yield Comparison(LAS, encoding, "rel-pos", ORDER)
    yield Comparison(LAS, PROP, GREEDY, CROSSING)
    yield Comparison(LAS, FULL, GREEDY, CROSSING, "search")
    averse = tuple(BY_CODE[code] for code in SWITCH_TREEBANKS)
    yield from (Comparison(LAS, one, one.removesuffix("-switch"), averse) for one in SWITCH_AVERSE)


COMPARISONS = tuple(_comparisons())


class Judge:
    """All tests, computed once, and what is left of them after correction."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @cached_property
    def tests(self) -> dict[Test, Difference]:
        """By comparison and treebank; treebank by treebank, so that draws of sentences are made once."""
        pairs = ((treebank, one) for treebank in ORDER for one in COMPARISONS if treebank in one.treebanks)
        found = {(one.name, treebank.code): one.test(self.store, treebank) for treebank, one in pairs}
        return {name: one for name, one in found.items() if one is not None}

    @cached_property
    def kept(self) -> set[Test]:
        """The tests that survive Holm's correction."""
        return survivors(self.tests)

    def of(self, comparison: Comparison) -> Tested:
        """The outcome of a comparison."""
        return Tested(self, comparison)


@dataclass(frozen=True)
class Tested:
    """A comparison with its tests."""

    judge: Judge
    comparison: Comparison

    @property
    def found(self) -> dict[str, Difference]:
        """By treebank's title."""
        one = self.comparison
        return {t.title: self.judge.tests[one.name, t.code] for t in one.treebanks}

    def sure(self, sign: int) -> list[str]:
        """Treebanks on which the difference survives, and is positive or negative."""
        one = self.comparison
        return [
            t.title
            for t in one.treebanks
            if (one.name, t.code) in self.judge.kept and sign * self.found[t.title].points > 0
        ]

    @property
    def points(self) -> list[float]:
        """The differences."""
        return [one.points for one in self.found.values()]

    @property
    def verdict(self) -> str:
        """By how many treebanks it is significant on."""
        better, worse, size = len(self.sure(1)), len(self.sure(-1)), len(self.found)
        if better and worse:
            return f"mixed: better on {better} of {size}, worse on {worse}"
        if worse:
            return f"contradicted on {worse} of {size}"
        return "holds" if better == size else f"holds on {better} of {size}" if better else "not confirmed"

    @property
    def numbers(self) -> str:
        """Mean, median, range of the sign, and where it is significant."""
        points = self.points
        text = (
            f"{mean(points):+.2f} on average, median {median(points):+.2f}, above on {_above(points)} of {len(points)}"
        )
        return f"{text}; significantly better on {_named(self.sure(1))}, worse on {_named(self.sure(-1))}"


def verdicts(store: Store) -> str:
    """All of them, as a table."""
    rows = ([one.claim, one.verdict, one.numbers] for one in judged(Judge(store)))
    return markdown_table(["claim", "verdict", "numbers"], rows)


def judged(judge: Judge) -> Iterator[Verdict]:
    """The paper's claims, then what the project adds."""
    for encoding in (GREEDY, PROP):
        yield two_planes(judge, encoding, LAS)
    for encoding in (GREEDY, PROP):
        yield two_planes(judge, encoding, UAS)
    for metric, side, encoding in product((SENTENCES, DEPENDENCIES), ("precision", "recall"), (GREEDY, PROP)):
        yield crossing(judge, metric, side, encoding)
    yield prop_and_greedy(judge)
    yield rel_pos(judge)
    yield predicted_tags(judge.store)
    yield switch_averse(judge)
    yield label_sets(judge.store)
    yield unseen_labels(judge.store)
    yield speed(judge.store)
    yield full(judge)
    yield search(judge.store)
    yield cost(judge.store)
    yield larger(judge.store)


def two_planes(judge: Judge, encoding: str, metric: str) -> Verdict:
    """Two planes parse better than one."""
    tested, store = judge.of(Comparison(metric, encoding, ONE_PLANE, CROSSING)), judge.store
    raw, printed = (
        [value(t, encoding) - value(t, ONE_PLANE) for t in CROSSING]
        for value in (_raw(store, metric), _printed(store, metric))
    )
    numbers = (
        f"{metric} with gold words {tested.numbers}; from raw text {mean(raw):+.2f} (printed: {mean(printed):+.2f})"
    )
    return Verdict(f"{metric}: `{encoding}` is better than `{ONE_PLANE}` where arcs cross", tested.verdict, numbers)


def crossing(judge: Judge, metric: str, side: str, encoding: str) -> Verdict:
    """Precision and recall of what is not projective rise (Tables 4 and 5)."""
    tested = judge.of(Comparison(metric, encoding, ONE_PLANE, CROSSING, side=side))
    cells, at = judge.store.printed[PRINTED[metric]]["cells"], ("precision", "recall").index(side)
    printed = [cells[t.name][encoding][at] - cells[t.name][ONE_PLANE][at] for t in CROSSING]
    what = metric.removeprefix("Nonprojective").lower()
    numbers = f"{tested.numbers} (printed: {mean(printed):+.2f}, above on {_above(printed)})"
    return Verdict(f"{side} of non-projective {what} rises with `{encoding}`", tested.verdict, numbers)


def prop_and_greedy(judge: Judge) -> Verdict:
    """The better coverage of 2p-prop does not make it more accurate."""
    tested = judge.of(Comparison(LAS, PROP, GREEDY, CROSSING))
    verdict = "holds" if not tested.sure(1) else f"not on {_named(tested.sure(1))}"
    return Verdict(f"`{PROP}` is no more accurate than `{GREEDY}`", verdict, f"LAS with gold words {tested.numbers}")


def rel_pos(judge: Judge) -> Verdict:
    """Two planes are better than rel-pos without tags as input."""
    both = [judge.of(Comparison(LAS, encoding, "rel-pos", ORDER)) for encoding in (GREEDY, PROP)]
    numbers = "; ".join(f"`{one.comparison.encoding}` {one.numbers}" for one in both)
    verdict = both[0].verdict if both[0].verdict == both[1].verdict else f"{both[0].verdict}; {both[1].verdict}"
    return Verdict("two planes are better than `rel-pos`", verdict, f"LAS with gold words: {numbers}")


def predicted_tags(store: Store) -> Verdict:
    """rel-pos suffers from predicted tags."""
    found = {
        source: [store.cell("paper", t.code, PAPER, "rel-pos", ("test", source, "paper")) for t in ORDER]
        for source in ("gold tags", "gold words")
    }
    pairs = zip(found["gold tags"], found["gold words"], strict=True)
    lost = [one.mean - other.mean for one, other in pairs if one is not None and other is not None]
    numbers = f"predicted tags cost {mean(lost):.2f} LAS on average ({min(lost):.2f} to {max(lost):.2f}; gold words)"
    return Verdict(
        "`rel-pos` suffers from predicted tags", f"holds on {_above(lost)} of {len(lost)}, not tested", numbers
    )


def switch_averse(judge: Judge) -> Verdict:
    """Switch-averse assignment of planes is slightly worse."""
    averse = tuple(BY_CODE[code] for code in SWITCH_TREEBANKS)
    both = [judge.of(Comparison(LAS, one, one.removesuffix("-switch"), averse)) for one in SWITCH_AVERSE]
    points = [point for one in both for point in one.points]
    sure = sum(len(one.sure(-1)) for one in both)
    numbers = f"LAS with gold words {mean(points):+.2f} on average ({min(points):+.2f} to {max(points):+.2f})"
    numbers += f", significantly lower in {sure} of {len(points)} cases"
    worse = "worse, and slightly" if mean(points) > -SLIGHTLY else "worse, but not slightly"
    return Verdict("switch-averse planes are slightly worse", worse if sure else "not confirmed", numbers)


def label_sets(store: Store) -> Verdict:
    """Two planes need no more labels than one."""
    sizes = {t.title: store.treebanks[t.code]["statistics"]["label_sizes"] for t in CROSSING}
    changes = {name: 100 * (sum(size[GREEDY][:2]) / size[ONE_PLANE][0] - 1) for name, size in sizes.items()}
    least, most = min(changes, key=changes.__getitem__), max(changes, key=changes.__getitem__)
    smaller, larger = (sum(sign * change > 0 for change in changes.values()) for sign in (-1, 1))
    numbers = (
        f"`{GREEDY}` has fewer labels than `{ONE_PLANE}`, both planes together, on {smaller} of {len(changes)} "
        f"treebanks and more on {larger}; from {changes[least]:+.0f} % ({least}) to {changes[most]:+.0f} % ({most})"
    )
    verdict = "holds" if not larger else f"holds on {len(changes) - larger} of {len(changes)}"
    return Verdict("label sets do not grow with a second plane", verdict, numbers)


def unseen_labels(store: Store) -> Verdict:
    """Labels of the test set that training and dev file do not have are rare."""
    shares = {
        (t.title, encoding): sum(task[2] for task in tasks[:2] if task is not None)
        for t in CROSSING
        for encoding, tasks in store.treebanks[t.code]["statistics"]["unseen_labels"].items()
    }
    most = max(shares, key=shares.__getitem__)
    rare = sum(share < RARE for share in shares.values())
    numbers = (
        f"below {RARE} % of the labels in {rare} of {len(shares)} cells; "
        f"most {shares[most]:.2f} % ({', '.join(most)}), median {median(shares.values()):.2f} %"
    )
    verdict = "holds" if rare == len(shares) else f"holds in {rare} of {len(shares)} cells"
    return Verdict("unseen labels are too rare to matter", verdict, numbers)


def speed(store: Store) -> Verdict:
    """Two planes are as fast as one."""
    turns, others = rates(store, in_turn=True), rates(store)
    ratios = {one: ratio(turns, CORE, one, ONE_PLANE, BY_PAPER) for one in TWO_PLANES}
    core, gpu = ([r for one in TWO_PLANES for r in ratio(others, p, one, ONE_PLANE, BY_PAPER)] for p in (CORE, GPU))
    printed = printed_speed_ratios(store, GREEDY)
    shown = ", ".join(f"`{one}` × {geometric_mean(some):.2f}" for one, some in ratios.items())
    numbers = (
        f"beside `{ONE_PLANE}`, file to file on one core, models in turn: {shown} (printed, `{GREEDY}`: "
        f"× {geometric_mean(printed[0]):.2f}); in Table 7, all three: × {spread(core)} on one core, × {spread(gpu)} on "
        f"the GPU (printed: × {geometric_mean(printed[1]):.2f})"
    )
    slowest = min(one for some in ratios.values() for one in some)
    return Verdict("two planes are as fast as one", "holds" if slowest > AS_FAST else "does not hold", numbers)


def full(judge: Judge) -> Verdict:
    """What 2p-full adds to the paper's encodings."""
    tested = judge.of(Comparison(LAS, FULL, GREEDY, CROSSING, "search"))
    return Verdict(
        f"(ours) `{FULL}` is better than `{GREEDY}`", tested.verdict, f"LAS with gold words, `search`: {tested.numbers}"
    )


def search(store: Store) -> Verdict:
    """What search adds to the paper's decoding."""
    gains = {
        encoding: [
            ours(store, t, encoding, "test", LAS, "search").mean - ours(store, t, encoding, "test", LAS, "paper").mean
            for t in ORDER
        ]
        for encoding in ENCODINGS
    }
    every = [one for some in gains.values() for one in some]
    by_encoding = ", ".join(f"`{name}` {mean(some):+.2f}" for name, some in gains.items())
    numbers = f"LAS from raw text: {by_encoding}; {min(every):+.2f} to {max(every):+.2f} on single treebanks"
    verdict = f"holds in {_above(every)} of {len(every)} cells, not tested"
    return Verdict("(ours) `search` adds accuracy to every encoding", verdict, numbers)


def cost(store: Store) -> Verdict:
    """What search costs."""
    found = rates(store)
    core, gpu = (
        [one for encoding in BRACKETS for one in ratio(found, place, encoding, encoding, BY_SEARCH, BY_PAPER)]
        for place in (CORE, GPU)
    )
    numbers = f"with brackets, file to file, beside `paper`: × {spread(core)} on one core, × {spread(gpu)} with a GPU"
    slow = [place for place, some in (("a core", core), ("a GPU", gpu)) if geometric_mean(some) < LITTLE]
    return Verdict("(ours) `search` costs little speed", f"not on {' and '.join(slow)}" if slow else "holds", numbers)


def larger(store: Store) -> Verdict:
    """What a larger network adds."""
    found = [store.cell("paper", t.code, LARGER, FULL, ("test", "raw text", "search")) for t in ORDER]
    above = [one.mean - best_printed(store, t)[0] for t, one in zip(ORDER, found, strict=True) if one is not None]
    numbers = f"above it on {_above(above)} of {len(above)} treebanks, by {min(above):.2f} to {max(above):.2f} LAS"
    verdict = f"holds on {_above(above)} of {len(above)}"
    return Verdict("(ours) a larger network with `search` is above the paper's best cell", verdict, numbers)


def _raw(store: Store, metric: str) -> Callable[[Treebank, str], float]:
    return lambda treebank, encoding: ours(store, treebank, encoding, "test", metric, "paper").mean


def _printed(store: Store, metric: str) -> Callable[[Treebank, str], float]:
    return lambda treebank, encoding: printed_accuracy(store, treebank, encoding, "test", metric) or 0.0


def _above(points: Iterable[float]) -> int:
    return sum(one > 0 for one in points)


def _named(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
