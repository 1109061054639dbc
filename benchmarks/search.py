"""How fast and how good the search is: words a second, LAS and fallbacks by beam, and the time of long sentences.

The scores are those of the bundled model, on English-EWT dev of UD 2.16, computed once; what is timed begins with them
and ends with trees. All on one core; processor time, best of several rounds in which the decoders take turns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.machine import ONE_THREAD, machine, use_one_core, versions

os.environ.update(ONE_THREAD)  # before the libraries below are imported

import numpy as np
from study.fingerprint import of_model
from study.treebanks import BUNDLED

import biplanar
from benchmarks.arguments import ArgumentParser, at_least
from benchmarks.calibration import Calibration
from benchmarks.output import Numbers, Sheet, keep, show
from benchmarks.texts import LENGTHS, joined_sentences, treebanks_folder
from benchmarks.timing import best_times
from biplanar.data.arrays import Int64s
from biplanar.data.forest import Column, Forest
from biplanar.decoding import DECODERS
from biplanar.decoding.beam import Beam
from biplanar.decoding.decoders import relations_given_heads
from biplanar.decoding.inventory import Weights
from biplanar.decoding.scores import Scores
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.pipeline.loading import BATCH_WORDS
from biplanar.tagger.features import Corpus, batches_by_words

PACKAGES = ("numba", "numpy", "onnxruntime")
BEAMS = (8, 16, 32, 64, 128, 256, 512)
PER_LENGTH = 10  # sentences


@dataclass(frozen=True)
class Recorded:
    """Some sentences and their scores, so that only what comes after them is timed."""

    chosen: Int64s  # the numbers of the sentences
    scores: Scores  # those of relations are computed after decoding, and so are timed

    @classmethod
    def of(cls, parser: biplanar.Parser, corpus: Corpus, chosen: Int64s) -> Recorded:
        """Score some sentences."""
        forms = parser.scorer.represent(corpus.forms)
        return cls(chosen, parser.scorer.score(forms, corpus.batch(chosen)))

    def decode(self, how: TreeDecoder) -> Parsed:
        """What is timed."""
        return how.decode(self.scores)


def recorded_batches(parser: biplanar.Parser, sentences: list[biplanar.Sentence], batch_words: int) -> list[Recorded]:
    """Batches of similar lengths."""
    corpus = Corpus.of(sentence.forms for sentence in sentences)
    order = np.argsort(-corpus.lengths, kind="stable")
    return [Recorded.of(parser, corpus, chosen) for chosen in batches_by_words(corpus.lengths, batch_words, order)]


def parse_all(how: TreeDecoder, batches: list[Recorded]) -> list[Parsed]:
    """Decode all batches."""
    return [batch.decode(how) for batch in batches]


def in_order(parts: list[Parsed], batches: list[Recorded], gold: Forest) -> Parsed:
    """The trees as the sentences stand in the file."""
    places = [np.arange(gold.offsets[n], gold.offsets[n + 1]) for batch in batches for n in batch.chosen]
    return Parsed.joined(parts, np.argsort(np.concatenate(places)))


def measure_beams(parser: biplanar.Parser, path: Path, rounds: int, batch_words: int) -> Numbers:
    """Each decoder and beam: words a second, UAS, LAS, and how searches ended."""
    sentences = list(biplanar.read_conllu(path))
    gold, batches = Forest.from_sentences(sentences), recorded_batches(parser, sentences, batch_words)
    inventory = parser.inventory
    rows = {
        "greedy": TreeDecoder(inventory, DECODERS["greedy"]),
        **{f"search {states}": TreeDecoder(inventory, DECODERS["search"], Beam(states)) for states in BEAMS},
        f"minimum-risk {Beam().states}": TreeDecoder(inventory, DECODERS["minimum-risk"]),
    }
    results = {}
    for name, how in rows.items():
        found = in_order(parse_all(how, batches), batches, gold)
        results[name] = scores_of(found, gold.offsets, inventory.deprels, sentences)
    best = best_times({name: partial(parse_all, how, batches) for name, how in rows.items()}, rounds)
    for name, row in results.items():
        row["words_per_second"] = len(gold.heads) / best[name]
    return results


def scores_of(found: Parsed, offsets: Int64s, deprels: tuple[str, ...], sentences: list[biplanar.Sentence]) -> Numbers:
    """UAS and LAS by the CoNLL 2018 metric, and the counts of the search."""
    trees = Forest(offsets, found.heads, Column(found.relations, deprels)).trees()
    parsed = [sentence.with_tree(tree) for sentence, tree in zip(sentences, trees, strict=True)]
    scores = biplanar.evaluate(sentences, parsed)
    return {
        "uas": 100 * scores["UAS"].f1,
        "las": 100 * scores["LAS"].f1,
        "outcome": asdict(found.outcome),
        "sentences": len(sentences),
    }


def measure_stages(parser: biplanar.Parser, path: Path, rounds: int, batch_words: int) -> dict[str, float]:
    """Microseconds a word of decoding, and of its stages, by the bundled model."""
    sentences = list(biplanar.read_conllu(path))
    given, how = [one.scores for one in recorded_batches(parser, sentences, batch_words)], TreeDecoder(parser.inventory)

    def again(scores: Scores) -> Scores:
        return replace(scores, arcs=copy(scores.arcs))

    known = list(map(again, given))
    heads = [how.decode(scores).heads for scores in known]  # after it, these scores know their likely heads
    stages = {
        "decoding": lambda: [how.decode(again(scores)) for scores in given],
        "checks of scores": lambda: list(map(Scores.check, given)),
        "likely heads": lambda: [again(scores).likely_heads for scores in given],
        "search": lambda: [how.sentences(scores).best() for scores in known],
        "relations": lambda: list(map(relations_given_heads, map(how.sentences, given), heads)),
        "columns": lambda: [scores.columns.best() for scores in given if scores.columns is not None],
    }
    words = sum(map(len, sentences))
    return {name: 1e6 * seconds / words for name, seconds in best_times(stages, rounds).items()}


def measure_lengths(parser: biplanar.Parser, path: Path) -> dict[int, float]:
    """Seconds for the slowest of some sentences of each length, made by joining those of the file."""
    how, slowest = TreeDecoder(parser.inventory), {}
    for length in LENGTHS:
        sentences = [Corpus.of([words]) for words in joined_sentences(path, length, PER_LENGTH)]
        recorded = {str(number): Recorded.of(parser, one, np.array([0])) for number, one in enumerate(sentences)}
        slowest[length] = max(
            best_times({name: partial(one.decode, how) for name, one in recorded.items()}, 1).values()
        )
    return slowest


def measure_calibration(parser: biplanar.Parser, path: Path, weights: Weights) -> Calibration:
    """The probabilities of the heads that the search finds, against how often they are right."""
    sentences = list(biplanar.read_conllu(path))
    batches, gold = recorded_batches(parser, sentences, BATCH_WORDS), Forest.from_sentences(sentences)
    how = TreeDecoder(replace(parser.inventory, weights=weights), probabilities=True)
    found = in_order(parse_all(how, batches), batches, gold)
    assert found.probabilities is not None
    return Calibration.of(found.probabilities, found.heads == gold.heads)


def sheets(results: Numbers) -> Iterator[Sheet]:
    """As tables."""
    columns = ("decoder, beam", "words/s", "UAS", "LAS", "argmax", "next best", "acyclic", "widened", "lost")
    yield Sheet("Beams", columns, [_beam_row(name, row) for name, row in results["beams"].items()])
    rows = [[name, f"{microseconds:.2f}"] for name, microseconds in results["stages"].items()]
    yield Sheet("Stages", ("on English-EWT test", "microseconds a word"), rows)
    rows = [[f"{length:,}", f"{1000 * seconds:.1f}"] for length, seconds in results["lengths"].items()]
    yield Sheet("Long sentences", ("words", "slowest sentence, ms"), rows)
    rows = [
        [name, f"{calibration['ece']:.4f}", f"{calibration['count']:,}"]
        for name, calibration in results["calibration"].items()
    ]
    yield Sheet("Calibration", ("probabilities of heads", "ECE", "arcs"), rows)


def _beam_row(name: str, row: Numbers) -> list[str]:
    counts = [row["outcome"][key] for key in ("argmax", "next_best", "acyclic", "widened", "lost")]
    shares = [f"{100 * count / row['sentences']:.2f} %" for count in counts]
    return [name, f"{row['words_per_second']:,.0f}", f"{row['uas']:.2f}", f"{row['las']:.2f}", *shares]


def main() -> None:
    """Measure, print tables, and keep the numbers as JSON."""
    parser = ArgumentParser("benchmarks.search", __doc__)
    folder = treebanks_folder().parent
    parser.add_argument("--treebanks", type=Path, default=folder, help="the folder that holds ud-2.16")
    parser.add_argument("--rounds", type=at_least(1), default=5, help="rounds of which the best counts")
    parser.add_argument("--batch-words", type=at_least(1), default=BATCH_WORDS, help="words decoded together")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    parser.add_argument("--plot", type=Path, help="draw the reliability plot here")
    options = parser.parse_args()
    with parser.reporting():
        dev, test = (BUNDLED.file(split, options.treebanks) for split in ("dev", "test"))
        use_one_core()
        model = biplanar.load()
        own = model.inventory.weights
        bare = replace(own, tree_slope=1.0, arc_slope=0.0)
        calibrations = {
            "shares of trees, test": measure_calibration(model, test, bare),
            "calibrated, dev": measure_calibration(model, dev, own),
            "calibrated, test": measure_calibration(model, test, own),
        }
        results = {
            "fingerprint": of_model(model.folder.path),
            "machine": machine(),
            "versions": versions(PACKAGES),
            "beams": measure_beams(model, dev, options.rounds, options.batch_words),
            "stages": measure_stages(model, test, options.rounds, options.batch_words),
            "lengths": measure_lengths(model, dev),
            "calibration": {name: one.to_dict() for name, one in calibrations.items()},
        }
        show(sheets(results))
        if options.plot:
            calibrations["calibrated, test"].draw(options.plot)
        keep(results, options.json)


if __name__ == "__main__":
    main()
