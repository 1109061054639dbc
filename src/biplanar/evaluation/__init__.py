"""Scores of parsed text: the CoNLL 2018 metrics, whole trees, non-projectivity, breakdowns, and a significance test.

Everything starts from an alignment of the system's words with the gold ones, so that text which the system cut into
sentences and words by itself is scored too. All counts are integers that add; shares are taken last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biplanar.data.conllu import DEPS, FORM, Sentence, read_conllu
from biplanar.errors import FormatError, check_name
from biplanar.evaluation.alignment import Alignment, Score, SpannedText, align
from biplanar.evaluation.bootstrap import Bootstrap, paired_bootstrap
from biplanar.evaluation.breakdowns import BREAKDOWNS, Judged
from biplanar.evaluation.metrics import conll18_scores, graph_scores, is_applicable, right_words, tree_scores

# Sentences, or the file that they are in.
Sentences = Iterable[Sentence] | str | Path

__all__ = ["BREAKDOWNS", "Bootstrap", "Evaluation", "Score", "evaluate", "paired_bootstrap"]


@dataclass(frozen=True)
class Evaluation:
    """Scores by the name of their metric, and those of breakdowns by the breakdown and the bucket."""

    scores: dict[str, Score]
    breakdowns: dict[str, dict[str, Score]] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> Score:
        return self.scores[metric]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""

        def dicts(scores: dict[str, Score]) -> dict[str, Any]:
            return {name: score.to_dict() for name, score in scores.items()}

        return {"scores": dicts(self.scores), "by": {kind: dicts(rows) for kind, rows in self.breakdowns.items()}}


def evaluate(
    gold: Sentences,
    system: Sentences,
    *,
    by: Iterable[str] = (),
    predicted: Collection[int] | None = None,
    train: Sentences | None = None,
) -> Evaluation:
    """Compare a system's trees with the gold ones, given as sentences or as files of CoNLL-U.

    `by` names breakdowns (see `BREAKDOWNS`). Both must be the same text: what is compared is their characters without
    spaces, however they are cut. Metrics of tags, features, lemmas and enhanced graphs are left out where the system
    predicted none. `predicted` says which columns it predicted (`UPOS`, `LEMMA`, ...), if others were copied from the
    gold text; without it, those in which it has values. With `train`, words whose form is not in these sentences are
    scored apart: the breakdown `known`.
    """
    kinds = [*by, *(["known"] if train is not None else [])]
    for kind in kinds:
        check_name("breakdown", kind, BREAKDOWNS)
    known = None if train is None else frozenset(form for sentence in _read(train) for form in sentence.column(FORM))
    alignment = align(SpannedText.from_sentences(_read(gold)), SpannedText.from_sentences(_read(system)))
    every = {**conll18_scores(alignment), **tree_scores(alignment)}
    scores = {metric: score for metric, score in every.items() if is_applicable(metric, alignment, predicted)}
    right = {metric: words for metric, words in right_words(alignment).items() if metric in scores}
    graphs = _graph_scores(alignment, predicted, "enhancement" in kinds)
    scores |= graphs
    judged = Judged(alignment, right, known, bool(graphs))
    return Evaluation(scores, {kind: BREAKDOWNS[kind](judged) for kind in kinds})


def _graph_scores(alignment: Alignment, predicted: Collection[int] | None, asked: bool) -> dict[str, Score]:
    """Scores of enhanced graphs where both texts have them; if nobody asked, DEPS may be any text."""
    was_predicted = predicted is None or DEPS in predicted
    if not (was_predicted and all(text.has_values(DEPS) for text in alignment.sides)):
        return {}
    try:
        return graph_scores(alignment)
    except FormatError:
        if asked:
            raise
        return {}


def _read(given: Sentences) -> Iterable[Sentence]:
    return read_conllu(given) if isinstance(given, str | Path) else given
