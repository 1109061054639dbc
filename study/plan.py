"""Every run of every study, the most important first, with its settings.

| study | what is compared |
|---|---|
| `paper` | the paper's encodings and `2p-full` with the paper's network; `trees` is a larger network |
| `arcs` | labels alone, labels and arcs, and the biaffine parser on the same encoder |
| `columns` | labels with and without tags, features and lemmas |
| `encodings` | all encodings, with arcs and without |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from biplanar.encodings import PROJECTIVE
from biplanar.tagger.config import Config, read_config
from study.treebanks import TREEBANKS

BIAFFINE = "biaffine"

# Networks by their name in keys: a configuration of the package, and what is changed in it.
NETWORKS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "paper": ("paper", {}),
    "accurate": ("accurate", {}),
    "pure": ("pure", {}),
    "plain": ("accurate", {"network.attention": "false"}),  # arcs, but no attention
    "trees": ("pure", {"network.columns": ""}),
    BIAFFINE: (  # what only the tagger has is off, and arcs and relations count alike
        "accurate",
        {
            "network.arcs": "false",
            "network.attention": "false",
            "network.depths": "false",
            "network.relation_hidden": "none",
            "auxiliary.arcs": "1.0",
            "auxiliary.relations": "1.0",
        },
    ),
}


@dataclass(frozen=True)
class Run:
    """One training and its scores."""

    treebank: str  # its code
    network: str  # one of `NETWORKS`
    encoding: str
    seed: int

    @property
    def key(self) -> str:
        """The name of its result."""
        return f"{self.treebank}-{self.network}-{self.encoding}-{self.seed}"

    def config(self, settings: Mapping[str, str]) -> Config:
        """Its settings; those given win."""
        base, own = NETWORKS[self.network]
        return read_config(base, {"encoding": self.encoding, **own, **settings})


@dataclass(frozen=True)
class Schedule:
    """How long a network is trained: rounds over the treebank and further updates, so that small ones get enough."""

    batch_words: int = 800
    rounds: int = 16
    updates: int = 4500

    def batches(self, words: int) -> int:
        """Updates a round."""
        return max(1, round(words / self.batch_words))

    def epochs(self, words: int) -> int:
        """Rounds in all."""
        return math.ceil(self.rounds + self.updates / self.batches(words))

    def all_updates(self, words: int) -> int:
        """Updates in all."""
        return self.epochs(words) * self.batches(words)

    def settings(self, words: int) -> dict[str, str]:
        """For a training file of `words` words."""
        from biplanar.tagger.loop import good_learning_rate

        return {
            "training.epochs": str(self.epochs(words)),
            "training.batch_words": str(self.batch_words),
            "training.learning_rate": str(good_learning_rate(self.batches(words))),
            "training.evaluations": "10",
        }


PACKAGE = Schedule()  # that of `biplanar train`
SHORT = Schedule(batch_words=1600, rounds=10, updates=2000)


def _short_settings(run: Run, words: int) -> Mapping[str, str]:  # noqa: ARG001
    return SHORT.settings(words)


@dataclass(frozen=True)
class Study:
    """Runs that are judged alike. `settings` gives those of a run, by the words of its training file."""

    name: str
    runs: tuple[Run, ...]
    settings: Callable[[Run, int], Mapping[str, str]]
    decoders: tuple[str, ...] = ("search",)
    sources: Mapping[str, str] = field(default_factory=lambda: {"gold words": "conllu.xz"})
    greedy_dev: bool = False  # the epoch is chosen by greedy decoding
    by_sentence: bool = False  # keep right words by sentence, for tests of significance


# The paper, repeated

PAPER, LARGER = "paper", "trees"
ENCODINGS = ("rel-pos", "1p-brackets", "2p-greedy", "2p-prop", "2p-full")  # the paper's four, and the project's own
SWITCH_AVERSE = ("2p-greedy-switch", "2p-prop-switch")
SWITCH_TREEBANKS = ("eu", "af", "hu")  # small ones in which arcs cross
LARGE = ("grc", "pt", "ko")  # two seeds instead of three


def _paper_runs() -> Iterator[Run]:
    """The first seed of every encoding first; among runs of the same importance the longest first."""
    large = [treebank.code for treebank in reversed(TREEBANKS) if treebank.code in LARGE]
    small = [treebank.code for treebank in reversed(TREEBANKS) if treebank.code not in LARGE]
    yield from _runs(PAPER, (1,), [*large, *small], ENCODINGS)
    yield from _runs(LARGER, (1, 2), [*large, *small], ("2p-full",))
    yield from _runs(PAPER, (2,), [*large, *small], ENCODINGS)
    yield from _runs(PAPER, (3,), small, ENCODINGS)
    yield from _runs(PAPER, (1, 2, 3), SWITCH_TREEBANKS, SWITCH_AVERSE)


def _runs(network: str, seeds: Sequence[int], treebanks: Sequence[str], encodings: Sequence[str]) -> Iterator[Run]:
    return (Run(code, network, encoding, seed) for seed, code, encoding in product(seeds, treebanks, encodings))


# Labels and arcs

ARC_CODES = ("en", "pt", "eu", "af", "hu")
ARC_EPOCHS = {"en": "40", "pt": "28"}  # treebanks of 200,000 words, with the schedule and dropout of `large`


def _arc_settings(run: Run, words: int) -> Mapping[str, str]:  # noqa: ARG001
    if run.treebank not in ARC_EPOCHS:
        return {}
    large = read_config("large")
    return {
        "network.dropout": str(large.network.dropout),
        "training.batch_words": str(large.training.batch_words),
        "training.learning_rate": str(large.training.learning_rate),
        "training.epochs": ARC_EPOCHS[run.treebank],
    }


# All encodings

COMPARED = ("2p-full", "7-bit", "7-bit-full", "hierarchical", "covington", *(f"{name}+head" for name in PROJECTIVE))
COMPARED_CODES = ("hu", "eu", "en")
EPOCHS = {"hu": "80", "eu": "22", "en": "16"}  # about 2,000 updates


def _encoding_settings(run: Run, words: int) -> Mapping[str, str]:  # noqa: ARG001
    batch_words = "1600" if run.treebank == "en" else "800"
    return {
        "training.epochs": EPOCHS[run.treebank],
        "training.batch_words": batch_words,
        "training.evaluations": "4",
    }


COLUMN_CODES = ("ko", "pt", "en", "eu", "af", "hu")
_RAW = {"gold words": "conllu.xz", "raw text": "raw.conllu.xz"}

STUDIES = {
    study.name: study
    for study in (
        Study(
            "paper",
            tuple(_paper_runs()),
            _short_settings,
            ("paper", "greedy", "search"),
            # UPOS is predicted; rel-pos, which alone reads it, is judged with gold tags too.
            {"gold words": "tagged.conllu.xz", "raw text": "raw.conllu.xz", "gold tags": "conllu.xz"},
            greedy_dev=True,
            by_sentence=True,
        ),
        Study(
            "arcs",
            (
                *_runs("accurate", (1, 2), ARC_CODES, ("2p-full",)),
                *_runs(BIAFFINE, (1, 2), ARC_CODES, ("2p-full",)),
                # Without attention, labels are trained alike with arcs and without.
                *_runs("pure", (1, 2), ("pt",), ("2p-full",)),
                *_runs("plain", (1,), ("en", "eu", "af", "hu"), ("2p-full",)),
            ),
            _arc_settings,
            ("search", "labels", "arcs", "greedy", "minimum-risk"),
        ),
        Study(
            "columns",
            (*_runs("pure", (1, 2), COLUMN_CODES, ("2p-full",)), *_runs(LARGER, (1, 2), ("en",), ("2p-full",))),
            _short_settings,
            sources=_RAW,
            greedy_dev=True,
        ),
        Study(
            "encodings",
            tuple(run for name in ("accurate", "pure") for run in _runs(name, (1, 2), COMPARED_CODES, COMPARED)),
            _encoding_settings,
            ("search", "labels", "arcs", "greedy"),
        ),
    )
}
