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
from benchmarks.core import machine, use_one_core
from rich.console import Console
from rich.table import Table

import biplanar
from biplanar.decoding.search import Beam
from biplanar.evaluation import Calibration
from biplanar.forest import Column, Forest
from biplanar.parser import BATCH_WORDS
from biplanar.tagger.features import Batch, Corpus, batches_by_words
from biplanar.tagger.predict import TEMPERATURE, Floats, Parsed, Scorer, Scores, TreeDecoder
from biplanar.tree import Int64s

ROOT = Path(__file__).resolve().parents[1]
DEV = "UD_English-EWT/en_ewt-ud-dev.conllu.xz"
BEAMS = (8, 16, 32, 64, 128, 256, 512)
LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000)
TEMPERATURES = (1.0, 2.0, TEMPERATURE, 4.0)
TARGET = 100_000


@dataclass(frozen=True)
class Recorded:
    """A scorer that gives scores it was given, so that only what comes after them is timed."""

    scores: Scores
    scorer: Scorer

    def score(self, _: Batch) -> Scores:
        """The scores of the batch that is at hand."""
        return self.scores

    def relate(self, dependents: Floats, heads: Floats, governors: Int64s) -> Floats:
        """Relations are found after decoding, and so are timed."""
        return self.scorer.relate(dependents, heads, governors)


Batches = list[tuple[Batch, Recorded, Int64s]]


def recorded_batches(parser: biplanar.Parser, sentences: list[biplanar.Sentence]) -> Batches:
    """Batches of similar lengths, with their scores and the numbers of their sentences."""
    corpus = Corpus.of([sentence.forms for sentence in sentences], parser.vocabulary)
    order = np.argsort(corpus.lengths, kind="stable")
    batches = batches_by_words(corpus.lengths, BATCH_WORDS, order)
    return [
        (batch := corpus.batch(chosen), Recorded(parser.scorer.score(batch), parser.scorer), chosen)
        for chosen in batches
    ]


def parse_all(how: TreeDecoder, batches: Batches) -> list[Parsed]:
    """Decode all batches."""
    return [how.parse(scorer, batch) for batch, scorer, _ in batches]


def in_order(parts: list[Parsed], batches: Batches, gold: Forest) -> Parsed:
    """The trees as the sentences stand in the file."""
    places = [np.arange(gold.offsets[n], gold.offsets[n + 1]) for _, _, chosen in batches for n in chosen]
    return Parsed.joined(parts, np.argsort(np.concatenate(places)))


def measure_beams(parser: biplanar.Parser, path: Path, rounds: int) -> dict[str, Any]:
    """Each decoder and beam: words a second, UAS, LAS, and how the search fared."""
    sentences = list(biplanar.read_conllu(path))
    gold, batches = Forest.from_sentences(sentences), recorded_batches(parser, sentences)
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
            batch = Corpus.of([words], parser.vocabulary).batch([0])
            scorer = Recorded(parser.scorer.score(batch), parser.scorer)
            start = time.process_time()
            how.parse(scorer, batch)
            times.append(time.process_time() - start)
        slowest[length] = max(times)
    return slowest


def measure_calibration(parser: biplanar.Parser, path: Path, temperature: float) -> Calibration:
    """The probabilities of the heads that the search finds, against how often they are right."""
    sentences = list(biplanar.read_conllu(path))
    batches, gold = recorded_batches(parser, sentences), Forest.from_sentences(sentences)
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
        "beams": measure_beams(model, options.treebanks / DEV, options.rounds),
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
