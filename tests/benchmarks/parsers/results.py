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
UDPIPE = MEASURED | {"name": "UDPipe 1 tag+parse", "words_per_second": {"best": 10_000.0, "median": 9_000.0}}
MISSING = {"name": "SuPar biaffine", "not_measured": "no model was given (--supar)"}
RESULTS = {
    "machine": {"processor": "Abacus", "cores": 2},
    "versions": {"python": "3.11", "spacy": None},
    "treebank": {"file": "dev.conllu", "sentences": 2000, "words": 25_000},
    "rounds": 3,
    "systems": [MEASURED, UDPIPE, MISSING],
    "stages": [
        {
            "name": "fast int8 search",
            "seconds": {stage: number / 10 for number, stage in enumerate(STAGES)},
            "words": 100_000,
            "not_measured": None,
        }
    ],
    "workers": {"words": 250_000, "best": {1: 10.0, 2: 5.5}, "ratio": 1.82, "not_measured": None},
}
