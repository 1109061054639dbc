from __future__ import annotations

import pytest
from benchmarks.parsers.rounds import measure_stages, measure_systems
from benchmarks.parsers.stages import STAGES
from benchmarks.parsers.systems import (
    System,
    biplanar_systems,
    spacy_systems,
    supar_systems,
    udpipe_systems,
)

from biplanar.pipeline.model_folder import ModelFolder
from tests.paths import TINY


def results_of(records):
    return {record["result"]["name"]: record["result"] for record in records if "result" in record}


@pytest.fixture(scope="module")
def measured(gold, udpipe_model):
    """Two rounds of a few systems."""
    ours = biplanar_systems("bundled", str(ModelFolder.find().path), ["greedy"])
    systems = [*ours, *udpipe_systems(str(udpipe_model)), *supar_systems(None)]
    return list(measure_systems(gold, systems, 2)), systems


class TestSystems:
    def test_rounds_are_interleaved(self, measured):
        records, systems = measured
        turns = [(record["round"], record["system"]) for record in records if "round" in record]
        names = [system.name for system in systems if system.missing is None]
        assert turns == [(number, name) for number in (1, 2) for name in names]

    def test_numbers(self, measured, gold):
        results = results_of(measured[0])
        for name in ("bundled int8 search", "bundled int8 greedy", "UDPipe 1 tag+parse", "UDPipe 1 parse, gold tags"):
            result = results[name]
            assert result["not_measured"] is None
            assert len(result["runs"]) == 2
            best = min(run["processor_seconds"] for run in result["runs"])
            assert result["words_per_second"]["best"] == gold.words / best
            assert result["words_per_second"]["median"] <= result["words_per_second"]["best"]
            assert result["sentences_per_second"]["best"] == len(gold.sentences) / best
            assert 0 < result["las"] <= result["uas"] <= 100
            assert 0 < result["load_seconds"] < 60
            assert 10 * 2**20 < result["peak_memory"] < 2 * 2**30
            assert result["model_bytes"] > 1000

    def test_trees_are_those_of_the_system(self, measured):
        results = results_of(measured[0])
        assert results["bundled int8 search"]["las"] > 85
        assert results["bundled int8 search"]["las"] > results["UDPipe 1 tag+parse"]["las"]

    def test_a_system_without_a_model_says_so(self, measured):
        result = results_of(measured[0])["SuPar biaffine"]
        assert (result["not_measured"], result["runs"]) == ("no model was given (--supar)", [])

    def test_stages(self, gold, udpipe_model):
        systems = biplanar_systems("bundled", str(ModelFolder.find().path), ["greedy"])
        systems += udpipe_systems(str(udpipe_model))
        (result,) = results_of(measure_stages(gold, systems, 1)).values()
        assert tuple(result["seconds"]) == STAGES
        assert all(seconds >= 0 for seconds in result["seconds"].values())
        assert result["seconds"]["tagger"] > 0
        (run,) = result["runs"]
        assert result["seconds"] == run["stages"]
        assert sum(run["stages"].values()) <= run["processor_seconds"]
        assert result["las"] > 85


class TestTrouble:
    """One system fails, the others go on."""

    def check(self, gold, udpipe_model, broken: System, reason: str, timeout: float = 600, rounds: int = 1):
        healthy = udpipe_systems(str(udpipe_model))[0]
        records = list(measure_systems(gold, [broken, healthy], rounds, timeout))
        results = results_of(records)
        assert reason in results[broken.name]["not_measured"]
        assert results[healthy.name]["not_measured"] is None
        assert len(results[healthy.name]["runs"]) == rounds
        assert sum(record.get("system") == broken.name for record in records) == 1  # it is not tried again

    def test_not_a_model(self, gold, udpipe_model):
        broken = udpipe_systems(str(TINY))[1]
        self.check(gold, udpipe_model, broken, f"{TINY}: not a UDPipe model", rounds=2)

    def test_not_installed(self, gold, udpipe_model, fake_module, tmp_path):
        fake_module("spacy", "raise ImportError('No module named spacy')")
        broken = spacy_systems(str(tmp_path))[0]
        reason = "spacy is not installed: pip install 'biplanar[bench]' (No module named spacy)"
        self.check(gold, udpipe_model, broken, reason)

    def test_an_exception(self, gold, udpipe_model, fake_module, tmp_path):
        fake_module("spacy", "raise RuntimeError('out of luck')")
        reason = "it ended with code 1: RuntimeError: out of luck"
        self.check(gold, udpipe_model, spacy_systems(str(tmp_path))[0], reason)

    def test_a_killed_process(self, gold, udpipe_model, fake_module, tmp_path):
        fake_module("spacy", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
        self.check(gold, udpipe_model, spacy_systems(str(tmp_path))[0], "it ended with code -9")

    def test_a_process_that_does_not_end(self, gold, udpipe_model, fake_module, tmp_path):
        fake_module("spacy", "import time\ntime.sleep(600)")
        self.check(gold, udpipe_model, spacy_systems(str(tmp_path))[0], "it was not done after 6 seconds", 6)

    def test_output_that_is_none(self, gold, udpipe_model, fake_module, tmp_path):
        pytest.importorskip("torch")
        fake_module("supar", SUPAR.format("Path(pred).write_text('nonsense')"))
        broken = supar_systems(str(tmp_path))[0]
        self.check(gold, udpipe_model, broken, "its output is no CoNLL-U with trees: ")


SUPAR = """
from pathlib import Path
class Parser:
    @classmethod
    def load(cls, path):
        return cls()
    def predict(self, data, pred, tree, proj, verbose):
        print("what libraries print is not an answer")
        {}
"""

# The first word is the root, and all others depend on it.
SPACY = """
class Pipeline:
    vocab = "words"
    def pipe(self, pairs, as_tuples):
        assert as_tuples
        return pairs
def load(model):
    return Pipeline()
"""
SPACY_TOKENS = """
from types import SimpleNamespace as Token
class Doc(list):
    def __init__(self, vocab, words, sent_starts):
        assert vocab == "words" and sent_starts == [True] + [False] * (len(words) - 1)
        root = Token(i=0, dep_="ROOT")
        root.head = root
        super().__init__([root, *(Token(i=i, head=root, dep_="dep") for i in range(1, len(words)))])
"""


class TestPeers:
    """The adapters of parsers that need not be installed, with stand-ins that have their interface."""

    def uas_of_first_words_as_roots(self, sentences):
        heads = [(head, int(number > 0)) for one in sentences for number, head in enumerate(one.tree.heads)]
        return 100 * sum(right == given for right, given in heads) / len(heads)

    def test_spacy(self, gold, fake_module, tmp_path):
        fake_module("spacy", SPACY, tokens=SPACY_TOKENS)
        results = results_of(measure_systems(gold, spacy_systems(str(tmp_path)), 1))
        for result in results.values():
            assert result["not_measured"] is None
            assert result["uas"] == pytest.approx(self.uas_of_first_words_as_roots(gold.sentences))
        assert list(results) == ["spaCy tag+parse"]

    def test_supar(self, gold, fake_module, tmp_path):
        pytest.importorskip("torch")
        copy = f"Path(pred).write_bytes(Path({str(TINY)!r}).read_bytes() if 'input' in data else b'')"
        fake_module("supar", SUPAR.format(copy))
        (result,) = results_of(measure_systems(gold, supar_systems(str(tmp_path)), 1)).values()
        assert (result["not_measured"], result["las"]) == (None, 100.0)
