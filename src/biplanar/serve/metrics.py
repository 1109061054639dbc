"""The metrics of a server, in Prometheus' text format."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from threading import Lock

# By name: the kind, and what it means.
COUNTED = {
    "biplanar_requests_total": ("counter", "Requests answered, by path and status; 499 is a client that left."),
    "biplanar_request_seconds": ("histogram", "Time from a request's head to that of its answer, by path."),
    "biplanar_sentences_total": ("counter", "Sentences parsed."),
    "biplanar_words_total": ("counter", "Words parsed."),
    "biplanar_batches_total": ("counter", "Batches parsed."),
    "biplanar_batch_requests_total": ("counter", "Requests with a part in a batch, added up over batches."),
    "biplanar_work_seconds_total": ("counter", "Time in which the workers were not idle, added up."),
    "biplanar_abandoned_total": ("counter", "Requests whose client left, or whose time was up, before their answer."),
    "biplanar_errors_total": ("counter", "Requests that failed by an error of the server."),
    "biplanar_queue_requests": ("gauge", "Requests that are worked on or wait for it."),
    "biplanar_held_bytes": ("gauge", "Bytes of requests that arrive, wait or are worked on."),
    "biplanar_unread_bytes": ("gauge", "Bytes of answers that are made or wait to be read."),
    "process_cpu_seconds_total": ("counter", "Processor time of this process."),
    "process_resident_memory_bytes": ("gauge", "Memory of this process."),
}
BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0)

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters and histograms that any thread may add to."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[str, dict[Labels, float]] = {name: {} for name in COUNTED}
        self._seen: dict[str, dict[Labels, list[int]]] = {name: {} for name in COUNTED}  # values by bucket

    def add(self, name: str, value: float = 1, **labels: str) -> None:
        """Add to a counter."""
        counts, key = self._counts[name], tuple(labels.items())
        with self._lock:
            counts[key] = counts.get(key, 0) + value

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add to a histogram."""
        key = tuple(labels.items())
        with self._lock:
            buckets = self._seen[name].setdefault(key, [0] * (len(BUCKETS) + 1))
            buckets[bisect_left(BUCKETS, value)] += 1
        self.add(name, value, **labels)

    def total(self, name: str) -> float:
        """A counter's value over all labels."""
        with self._lock:
            return sum(self._counts[name].values())

    def text(self, gauges: Mapping[str, float]) -> str:
        """All metrics, with the values of those that are not counted here."""
        known = {**gauges, **_of_process()}
        with self._lock:
            return "\n".join(line for name in COUNTED for line in self._lines(name, known)) + "\n"

    def _lines(self, name: str, known: Mapping[str, float]) -> Iterator[str]:
        kind, meaning = COUNTED[name]
        yield f"# HELP {name} {meaning}"
        yield f"# TYPE {name} {kind}"
        if kind == "histogram":
            for labels, buckets in self._seen[name].items():
                yield from _histogram(name, labels, buckets, self._counts[name][labels])
        else:
            counts = {(): known[name]} if name in known else self._counts[name] or {(): 0}
            yield from (f"{name}{_braced(labels)} {value:.10g}" for labels, value in counts.items())


def _histogram(name: str, labels: Labels, buckets: list[int], total: float) -> Iterator[str]:
    """The lines of a histogram, whose buckets count all values below their bounds."""
    for bound, below in zip([*map(str, BUCKETS), "+Inf"], accumulate(buckets), strict=True):
        yield f"{name}_bucket{_braced((*labels, ('le', bound)))} {below}"
    yield f"{name}_sum{_braced(labels)} {total:.10g}"
    yield f"{name}_count{_braced(labels)} {sum(buckets)}"


def _braced(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}" if labels else ""


def _of_process() -> dict[str, float]:
    known = {"process_cpu_seconds_total": time.process_time()}
    pages = Path("/proc/self/statm")  # where there is one
    if pages.exists():
        known["process_resident_memory_bytes"] = int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return known
