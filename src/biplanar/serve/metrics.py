"""The metrics of a server, for Prometheus."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0)

disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """Counters, a histogram and gauges; any thread may add to them. Each server has its own."""

    def __init__(self) -> None:
        self.registry = to = CollectorRegistry()
        paths = ["path"]
        self.requests = Counter(
            "biplanar_requests", "Requests by path and status; 499: the client left.", [*paths, "status"], registry=to
        )
        self.request_seconds = Histogram(
            "biplanar_request_seconds", "Time until the answer begins, by path.", paths, registry=to, buckets=SECONDS
        )
        self.sentences = Counter("biplanar_sentences", "Sentences parsed.", registry=to)
        self.words = Counter("biplanar_words", "Words parsed.", registry=to)
        self.batches = Counter("biplanar_batches", "Batches parsed.", registry=to)
        self.batch_requests = Counter("biplanar_batch_requests", "Requests in each batch, added up.", registry=to)
        self.work_seconds = Counter("biplanar_work_seconds", "Time in which the workers were not idle.", registry=to)
        self.abandoned = Counter("biplanar_abandoned", "Requests whose client left or whose time was up.", registry=to)
        self.errors = Counter("biplanar_errors", "Requests that failed by an error of the server.", registry=to)
        self.queue = Gauge("biplanar_queue_requests", "Requests that are worked on or wait.", registry=to)
        self.held_bytes = Gauge("biplanar_held_bytes", "Bytes of requests that arrive or wait.", registry=to)
        self.unread_bytes = Gauge("biplanar_unread_bytes", "Bytes of answers until they are read.", registry=to)
        ProcessCollector(registry=to)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)
