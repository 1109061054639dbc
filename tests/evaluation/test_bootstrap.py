from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.errors import BiplanarError
from biplanar.evaluation import bootstrap, evaluate, paired_bootstrap
from tests.evaluation import strategies
from tests.evaluation.drafts import draft_of, perturbed, written
from tests.evaluation.sentences import COFFEE, HEARING, HOUSE, sentences

GOLD = sentences(*[COFFEE, HEARING, HOUSE] * 40)


def system(seed: int, *, labels: float, cuts: float = 0.0) -> list[Sentence]:
    """A system that gets about so much wrong."""
    return parse_conllu(written(perturbed(draft_of(GOLD), Random(seed), labels=labels, words=cuts, sentences=cuts)))


def test_identical_systems() -> None:
    same = system(1, labels=0.1)
    result = paired_bootstrap(GOLD, same, same)
    assert (result.difference, result.low, result.high, result.p_value) == (0, 0, 0, 1)


def test_clearly_different_systems() -> None:
    result = paired_bootstrap(GOLD, system(1, labels=0.05), system(2, labels=0.3))
    assert result.p_value < 0.01
    assert 0 < result.low < result.difference < result.high


def test_the_other_way_round() -> None:
    good, bad = system(1, labels=0.05), system(2, labels=0.3)
    there, back = paired_bootstrap(GOLD, good, bad), paired_bootstrap(GOLD, bad, good)
    assert back.difference == -there.difference
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))


def test_equally_good_systems() -> None:
    values = [
        paired_bootstrap(GOLD, system(seed, labels=0.1), system(-1 - seed, labels=0.1)).p_value for seed in range(8)
    ]
    assert np.median(values) > 0.1


def test_scores_are_those_of_evaluate() -> None:
    one, other = system(1, labels=0.1, cuts=0.1), system(2, labels=0.1, cuts=0.1)
    result = paired_bootstrap(GOLD, one, other)
    assert (result.system, result.other) == (evaluate(GOLD, one)["LAS"], evaluate(GOLD, other)["LAS"])
    assert result.difference == evaluate(GOLD, one)["LAS"].f1 - evaluate(GOLD, other)["LAS"].f1


def test_a_seed_decides_all() -> None:
    one, other = system(1, labels=0.1), system(2, labels=0.1)
    assert paired_bootstrap(GOLD, one, other, seed=5) == paired_bootstrap(GOLD, one, other, seed=5)
    assert paired_bootstrap(GOLD, one, other, seed=5) != paired_bootstrap(GOLD, one, other, seed=6)


def test_less_confidence_is_a_narrower_interval() -> None:
    one, other = system(1, labels=0.1), system(2, labels=0.2)
    wide, narrow = (paired_bootstrap(GOLD, one, other, confidence=confidence) for confidence in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "DRAWN_AT_ONCE", 500)
    result = paired_bootstrap(GOLD, system(1, labels=0.1), system(2, labels=0.3), resamples=101)
    assert result.resamples == 101
    assert result.p_value == 1 / 102


@settings(max_examples=30)
@given(strategies.recut_pairs())
def test_any_cut_of_the_text(pair: strategies.Pair) -> None:
    gold, other = (parse_conllu(text) for text in pair)
    result = paired_bootstrap(gold, gold, other, resamples=20)
    assert result.low <= result.high
    assert 0 < result.p_value <= 1
    assert result.system.f1 == 1


def test_to_dict() -> None:
    result = paired_bootstrap(GOLD, GOLD, GOLD, resamples=10)
    assert result.to_dict()["difference"] == 0
    assert result.to_dict()["system"]["f1"] == 1


@pytest.mark.parametrize("options", [{"resamples": 0}, {"confidence": 1.0}])
def test_senseless_options(options: dict[str, float]) -> None:
    with pytest.raises(BiplanarError, match=str(*options.values())):
        paired_bootstrap(GOLD, GOLD, GOLD, **options)
