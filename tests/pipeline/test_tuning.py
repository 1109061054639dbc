"""Weights are chosen on the dev file: labels and arcs made by hand, of which one or the other is right."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.decoding.inventory import Weights
from biplanar.decoding.scores import Scores
from biplanar.pipeline.tuning import ARC_WEIGHTS, ScoredTreebank
from biplanar.tagger.features import Batch
from tests.decoding.arc_tables import likeliest, sure_table
from tests.decoding.enumeration import LABEL_SETS, inventory_of, near_certain
from tests.decoding.made_scores import TREES, MadeScores
from tests.encodings.wrapped import Wrapped

PLANES = LABEL_SETS["one plane"]
LABELS, BY_LABELS = [("_",), ("<\\",), ("/>",)], (2, 0, 2)
OTHER = (2, 3, 0)
OTHERS = (0, 1, 1, 3)  # of the first of the sentences that are made elsewhere


@dataclass(frozen=True)
class Fixed:
    """The same scores for whatever is asked."""

    scores: Scores
    decoding_threads: int = 1

    def represent(self, forms: object) -> object:
        return forms

    def score(self, forms: object, batch: Batch) -> Scores:  # noqa: ARG002
        assert np.diff(self.scores.offsets).tolist() == batch.lengths.tolist()
        return self.scores


def dev_file(heads: tuple[int, ...]) -> list[Sentence]:
    lines = [f"{word}\tw\t_\t_\t_\t_\t{head}\t{'dep' if head else 'root'}\t_\t_" for word, head in enumerate(heads, 1)]
    return list(parse_conllu("\n".join(lines) + "\n\n"))


def chosen(gold: tuple[int, ...], arcs: tuple[int, ...] | None) -> Weights:
    """With labels that are sure of a tree, and arcs that are sure of the same or of another."""
    scores = near_certain(LABELS, PLANES, ["dep", "root", "dep"])
    labels = {task: table / 2 for task, table in scores.labels.items()}
    known = None if arcs is None else likeliest([sure_table(arcs, 5.0)])
    scorer = Fixed(Scores(scores.offsets, labels, arcs=known))
    return ScoredTreebank.of(scorer, inventory_of(PLANES), dev_file(gold), 100).choose_weights()


class TestArcs:
    def test_where_labels_are_right_they_count_little(self):
        assert chosen(BY_LABELS, OTHER).arcs == ARC_WEIGHTS[0]

    def test_where_arcs_are_right_they_count_much(self):
        assert chosen(OTHER, OTHER).arcs == 2.0  # the least that is enough

    def test_of_equally_good_weights_the_first(self):
        assert chosen(BY_LABELS, BY_LABELS).arcs == ARC_WEIGHTS[0]

    def test_without_arcs_the_weight_stays(self):
        assert chosen(BY_LABELS, None).arcs == Weights().arcs


class TestSlopes:
    @pytest.mark.parametrize("arcs", [None, BY_LABELS])
    def test_who_is_right_may_be_sure(self, arcs):
        assert chosen(BY_LABELS, arcs).tree_slope > 1

    @pytest.mark.parametrize("arcs", [None, BY_LABELS])
    def test_who_is_wrong_may_not(self, arcs):
        assert chosen(OTHER, arcs).tree_slope < 0.2

    def test_without_arcs_they_have_no_slope(self):
        assert chosen(BY_LABELS, None).arc_slope == 0


def test_what_is_not_searched_has_nothing_to_choose() -> None:
    made = MadeScores(Wrapped())
    scores = replace(made.first(), arcs=likeliest([sure_table(TREES[0].heads)]))
    assert ScoredTreebank.of(Fixed(scores), made.inventory, dev_file(OTHERS), 100).choose_weights() == Weights()
