"""A parse taken apart into stages while it runs."""

from __future__ import annotations

import time
from typing import Any

STAGES = ("read", "features", "tagger", "decode", "write")


class Stopwatch:
    """At each moment exactly one stage runs."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self._stage, self._since = STAGES[0], time.perf_counter()

    def enter(self, stage: str) -> None:
        """The stage before ends here, and this one begins."""
        now = time.perf_counter()
        self.seconds[self._stage] += now - self._since
        self._stage, self._since = stage, now


class WatchedScorer:
    """A scorer whose vectors of forms are features and whose scores are the tagger's; after it, trees are decoded."""

    def __init__(self, scorer: Any, watch: Stopwatch) -> None:
        self._scorer, self._watch = scorer, watch

    def represent(self, *arguments: Any) -> Any:
        """Vectors of forms."""
        self._watch.enter("features")
        return self._scorer.represent(*arguments)

    def score(self, *arguments: Any) -> Any:
        """Scores of labels."""
        return self._tagged(self._scorer.score, *arguments)

    def relate(self, *arguments: Any) -> Any:
        """Scores of relations."""
        return self._tagged(self._scorer.relate, *arguments)

    def _tagged(self, work: Any, *arguments: Any) -> Any:
        self._watch.enter("tagger")
        result = work(*arguments)
        self._watch.enter("decode")
        return result
