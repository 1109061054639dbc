"""How fast and how good the search is: words a second, LAS and fallbacks by beam, and the time of long sentences.

The scores are those of the model that ships inside, on English-EWT dev, computed once; what is timed begins with them
and ends with trees. All on one core; processor time, best of several rounds in which the decoders take turns.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# The libraries below read these when they are imported.
os.environ["NUMBA_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from benchmarks.core import machine
from rich.console import Console
from rich.table import Table

import biplanar
from biplanar.benchmark.machine import use_one_core
from biplanar.data.arrays import Int64s
from biplanar.data.forest import Column, Forest, offsets_of
from biplanar.decoding.search import Beam
from biplanar.evaluation import Calibration
from biplanar.pipeline.parser import BATCH_WORDS
from biplanar.tagger.features import Corpus, batches_by_words
from biplanar.tagger.predict import TEMPERATURE, Parsed, Scorer, Scores, TreeDecoder

ROOT = Path(__file__).resolve().parents[1]
DEV = "UD_English-EWT/en_ewt-ud-dev.conllu.xz"
BEAMS = (8, 16, 32, 64, 128, 256, 512)
LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000)
TEMPERATURES = (1.0, 2.0, TEMPERATURE, 4.0)


@dataclass(frozen=True)
class Recorded:
    """Some sentences and their scores, so that only what comes after them is timed."""

    chosen: Int64s  # the numbers of the sentences
    offsets: Int64s
    scores: Scores
    scorer: Scorer  # relations are found after decoding, and so are timed

    @classmethod
    def of(cls, parser: biplanar.Parser, corpus: Corpus, chosen: Int64s) -> Recorded:
        """Score some sentences."""
        forms = parser.scorer.represent(corpus.forms)
        scores = dict(parser.scorer.score(forms, corpus.batch(chosen)))
        return cls(chosen, offsets_of(corpus.lengths[chosen]), scores, parser.scorer)

    def decode(self, how: TreeDecoder) -> Parsed:
        """What is timed."""
        return how.decode(self.scorer, self.scores, self.offsets)


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


def measure_beams(parser: biplanar.Parser, path: Path, rounds: int, batch_words: int) -> dict[str, Any]:
    """Each decoder and beam: words a second, UAS, LAS, and how the search fared."""
    sentences = list(biplanar.read_conllu(path))
    gold, batches = Forest.from_sentences(sentences), recorded_batches(parser, sentences, batch_words)
    names = parser.vocabulary.tasks
    rows = {f"search {states}": TreeDecoder(parser.encoding, names, "search", Beam(states)) for states in BEAMS}
    rows = {"greedy": TreeDecoder(parser.encoding, names, "greedy")} | rows
    rows |= {"minimum-risk 64": TreeDecoder(parser.encoding, names, "minimum-risk")}
    best, results = dict.fromkeys(rows, math.inf), {}
    for name, how in rows.items():
        found = in_order(parse_all(how, batches), batches, gold)
        results[name] = scores_of(found, gold.offsets, names["deprel"], sentences)
    for _ in range(rounds):
        for name, how in rows.items():
            start = time.process_time()
            parse_all(how, batches)
            best[name] = min(best[name], time.process_time() - start)
    for name, row in results.items():
        row["words_per_second"] = len(gold.heads) / best[name]
    return results


def scores_of(
    found: Parsed, offsets: Int64s, deprels: tuple[str, ...], sentences: list[biplanar.Sentence]
) -> dict[str, Any]:
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


def measure_lengths(parser: biplanar.Parser, path: Path) -> dict[int, float]:
    """Seconds for the slowest of some sentences of each length, made by joining those of the file."""
    forms = [form for sentence in biplanar.read_conllu(path) for form in sentence.forms]
    how, slowest = TreeDecoder(parser.encoding, parser.vocabulary.tasks), {}
    for length in LENGTHS:
        count = min(10, len(forms) // length)
        times = []
        for number in range(count):
            words = forms[number * length : (number + 1) * length]
            recorded = Recorded.of(parser, Corpus.of([words]), np.array([0]))
            start = time.process_time()
            recorded.decode(how)
            times.append(time.process_time() - start)
        slowest[length] = max(times)
    return slowest


def measure_calibration(parser: biplanar.Parser, path: Path, temperature: float) -> Calibration:
    """The probabilities of the heads that the search finds, against how often they are right."""
    sentences = list(biplanar.read_conllu(path))
    batches, gold = recorded_batches(parser, sentences, BATCH_WORDS), Forest.from_sentences(sentences)
    how = TreeDecoder(parser.encoding, parser.vocabulary.tasks, probabilities=True, temperature=temperature)
    found = in_order(parse_all(how, batches), batches, gold)
    assert found.probabilities is not None
    return Calibration.of(found.probabilities, found.heads == gold.heads)


def show(results: dict[str, Any], console: Console) -> None:
    """As tables."""
    table = Table("decoder, beam", "words/s", "UAS", "LAS", "argmax", "next best", "acyclic", "widened", "lost")
    for name, row in results["beams"].items():
        fared = [row["outcome"][key] for key in ("argmax", "next_best", "acyclic", "widened", "lost")]
        shares = [f"{100 * count / row['sentences']:.2f} %" for count in fared]
        table.add_row(name, f"{row['words_per_second']:,.0f}", f"{row['uas']:.2f}", f"{row['las']:.2f}", *shares)
    console.print(table)
    longest = Table("words", "slowest sentence, ms")
    for length, seconds in results["lengths"].items():
        longest.add_row(str(length), f"{1000 * seconds:.1f}")
    console.print(longest)
    for temperature, calibration in results["calibration"].items():
        console.print(f"temperature {temperature}: ECE {calibration['ece']:.4f} over {calibration['count']} arcs")


def main() -> None:
    """Measure, show, and keep the numbers where asked to."""
    default = Path(os.environ.get("BIPLANAR_TREEBANKS") or ROOT.parent / "shared" / "ud-2.4")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--treebanks", type=Path, default=default, help="folder of UD treebanks (UD_*/*.conllu.xz)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch-words", type=int, default=BATCH_WORDS, help="words decoded together")
    parser.add_argument("--json", type=Path, help="keep the numbers here")
    parser.add_argument("--plot", type=Path, help="draw the reliability plot here")
    options = parser.parse_args()
    if not (options.treebanks / DEV).is_file():
        sys.exit(f"{options.treebanks}: no {DEV}")
    use_one_core()
    model = biplanar.load()
    calibrations = {
        temperature: measure_calibration(model, options.treebanks / DEV, temperature) for temperature in TEMPERATURES
    }
    results = {
        "machine": machine(),
        "beams": measure_beams(model, options.treebanks / DEV, options.rounds, options.batch_words),
        "lengths": measure_lengths(model, options.treebanks / DEV),
        "calibration": {temperature: one.to_dict() for temperature, one in calibrations.items()},
    }
    show(results, Console(width=120))
    if options.plot:
        calibrations[TEMPERATURE].draw(options.plot)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
