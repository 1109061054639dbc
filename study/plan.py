"""Every run of the study, the most important first, and the settings that all of them share."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from typing import Any

from biplanar.tagger.config import Config, read_config
from biplanar.tagger.training import good_learning_rate
from study.treebanks import TREEBANKS

PAPER, DEFAULT = "paper", "accurate"  # configurations of the package

DEFAULT_ENCODING = ("2p-full",)

# The paper's four encodings, and the project's own.
ENCODINGS = ("rel-pos", "1p-brackets", "2p-greedy", "2p-prop", "2p-full")
SWITCH_AVERSE = ("2p-greedy-switch", "2p-prop-switch")
SWITCH_TREEBANKS = ("eu", "af", "hu")  # small ones in which arcs cross
LARGE = ("grc", "pt", "ko")  # two seeds instead of three


@dataclass(frozen=True)
class Run:
    """One training and its scores."""

    treebank: str  # its code
    network: str  # a configuration
    encoding: str
    seed: int

    @property
    def key(self) -> str:
        """The name of its result."""
        return f"{self.treebank}-{self.network}-{self.encoding}-{self.seed}"


@dataclass(frozen=True)
class Schedule:
    """How long a network is trained: rounds over the treebank, and updates beside them, so that small ones get enough.

    The same for all encodings. By default it is the package's, with fewer looks at the dev file.
    """

    batch_words: int = 800
    rounds: int = 16
    updates: int = 4500
    learning_rate: float = 0.0  # 0: the package's, by the size of the treebank
    evaluations: int = 10

    def add_options(self, parser: ArgumentParser) -> None:
        """An option for each of its values, which are the defaults."""
        for name, value in self.to_dict().items():
            option = f"--{name.replace('_', '-')}"
            parser.add_argument(option, type=type(value), default=value, help="schedule; default %(default)s")

    @classmethod
    def read(cls, given: Namespace) -> Schedule:
        """Of the options that were given."""
        return cls(**{one.name: getattr(given, one.name) for one in fields(cls)})

    def batches(self, words: int) -> int:
        """Updates a round."""
        return max(1, round(words / self.batch_words))

    def epochs(self, words: int) -> int:
        """Rounds in all."""
        return math.ceil(self.rounds + self.updates / self.batches(words))

    def all_updates(self, words: int) -> int:
        """Updates in all."""
        return self.epochs(words) * self.batches(words)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def config_of(run: Run, schedule: Schedule, words: int, settings: Mapping[str, str] | None = None) -> Config:
    """The settings of a run on a treebank of so many words; `settings` are further ones, as `section.key` and text."""
    base = read_config(run.network, settings)
    training = replace(
        base.training,
        epochs=schedule.epochs(words),
        batch_words=schedule.batch_words,
        learning_rate=schedule.learning_rate or good_learning_rate(schedule.batches(words)),
        evaluations=schedule.evaluations,
        segmenter_epochs=None,
    )
    return replace(base, encoding=run.encoding, training=training)


def plan() -> tuple[Run, ...]:
    """All runs, the most important first: the first seed of every encoding, the default configuration, other seeds.

    The default configuration takes longest on the large treebanks, and so begins with them. Among runs of the same
    importance the longest come first, so that none is begun late.
    """
    large = [treebank.code for treebank in reversed(TREEBANKS) if treebank.code in LARGE]
    small = [treebank.code for treebank in reversed(TREEBANKS) if treebank.code not in LARGE]
    return (
        *_runs(DEFAULT, (1, 2), large, DEFAULT_ENCODING),
        *_runs(PAPER, (1,), [*large, *small], ENCODINGS),
        *_runs(DEFAULT, (1, 2), small, DEFAULT_ENCODING),
        *_runs(PAPER, (2,), [*large, *small], ENCODINGS),
        *_runs(PAPER, (3,), small, ENCODINGS),
        *_runs(PAPER, (1, 2, 3), SWITCH_TREEBANKS, SWITCH_AVERSE),
    )


def _runs(network: str, seeds: Sequence[int], treebanks: Sequence[str], encodings: Sequence[str]) -> Iterator[Run]:
    for seed, treebank, encoding in product(seeds, treebanks, encodings):
        yield Run(treebank, network, encoding, seed)
