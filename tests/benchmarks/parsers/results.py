"""Results as the benchmark keeps them."""

from __future__ import annotations

from benchmarks.parsers.stages import STAGES

MEASURED = {
    "name": "fast int8 search",
    "las": 84.126,
    "uas": 87.5,
    "words_per_second": {"best": 25_000.4, "median": 24_000.0},
    "sentences_per_second": {"best": 2_000.0, "median": 1_900.0},
    "load_seconds": 0.5,
    "peak_memory": 200 * 2**20,
    "model_bytes": 15 * 2**20,
    "not_measured": None,
}
MISSING = {"name": "SuPar biaffine", "not_measured": "no model was given (--supar)"}
RESULTS = {
    "machine": {"processor": "Abacus", "cores": 2},
    "versions": {"python": "3.11", "spacy": None},
    "treebank": {"file": "dev.conllu", "sentences": 2000, "words": 25_000},
    "rounds": 3,
    "systems": [MEASURED, MISSING],
    "stages": [
        {
            "name": "fast int8 search",
            "seconds": {stage: number / 10 for number, stage in enumerate(STAGES)},
            "words": 100_000,
            "not_measured": None,
        }
    ],
    "growth": [
        {"model": "fast", "lengths": [{"words": 2000, "median": 0.5, "slowest": 0.75}], "not_measured": None},
        {"model": "accurate", "lengths": [], "not_measured": "no such folder"},
    ],
    "workers": [{"model": "fast", "words": 250_000, "best": {1: 10.0, 2: 5.5}, "ratio": 1.82, "not_measured": None}],
    "memory": [
        {
            "model": "fast",
            "copies": 100,
            "peak_memory": {1: 200 * 2**20, 100: 210 * 2**20},
            "ratio": 1.05,
            "not_measured": None,
        }
    ],
    "start": {"text": "Hello.", "runs": [{"seconds": 0.9}, {"seconds": 0.7}, {"seconds": 0.8}], "not_measured": None},
}
