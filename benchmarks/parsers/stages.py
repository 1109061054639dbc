"""A parse taken apart into stages while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from biplanar.decoding.scores import Scores
    from biplanar.tagger.features import Batch
    from biplanar.tagger.predict import Scorer

Result = TypeVar("Result")

STAGES = ("read", "features", "tagger", "decode", "write")


class Stopwatch:
    """At each moment exactly one stage runs."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self._stage, self._since = STAGES[0], time.process_time()

    def enter(self, stage: str) -> None:
        """The stage before ends here, and this one begins."""
        now = time.process_time()
        self.seconds[self._stage] += now - self._since
        self._stage, self._since = stage, now


class WatchedScorer:
    """A scorer whose vectors of forms are features and whose scores are the tagger's; after it, trees are decoded."""

    decoding_threads = 1

    def __init__(self, scorer: Scorer, watch: Stopwatch) -> None:
        self._scorer, self._watch = scorer, watch

    def represent(self, forms: Sequence[str]) -> Any:
        """Vectors of forms."""
        self._watch.enter("features")
        return self._scorer.represent(forms)

    def score(self, forms: Any, batch: Batch) -> Scores:
        """Scores of labels, and of relations once heads are known."""
        scores = self._tagged(self._scorer.score, forms, batch)
        relate = scores.given_governors
        return scores if relate is None else replace(scores, given_governors=partial(self._tagged, relate))

    def _tagged(self, work: Callable[..., Result], *arguments: Any) -> Result:
        self._watch.enter("tagger")
        result = work(*arguments)
        self._watch.enter("decode")
        return result
