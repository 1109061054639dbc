"""The middleware around all routes: checks the Host, adds headers, bounds bytes, and counts requests."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from ipaddress import ip_address
from threading import Lock

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biplanar.serve import ServerConfig
from biplanar.serve.responses import SECURITY_HEADERS, refusal, refused

CLIENT_LEFT = 499  # not in HTTP, but common in the logs of other servers
SENT_AT_ONCE = 1 << 16  # bytes; what the client does not read yet stays here and is counted
LONGEST_SHOWN = 100  # characters of a header in a message

BODY, ANSWER = "body_lease", "answer_lease"  # keys of a request's state
BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0)  # seconds of a request

disable_created_metrics()  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Guard:
    """The ASGI application around the routes; requests are counted by path, unknown paths together."""

    routes: ASGIApp
    paths: frozenset[str]
    config: ServerConfig
    metrics: Metrics
    bodies: ByteBudget
    answers: ByteBudget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.routes(scope, receive, send)
            return
        exchange = Exchange(send)
        leases = {BODY: Lease(self.bodies), ANSWER: Lease(self.answers)}
        scope.setdefault("state", {}).update(leases)
        try:
            await self._chosen(scope)(scope, receive, exchange.send)
        finally:
            for lease in leases.values():
                lease.close()
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.requests.labels(path, str(exchange.status)).inc()
            self.metrics.request_seconds.labels(path).observe(exchange.seconds or time.perf_counter() - exchange.start)

    def _chosen(self, scope: Scope) -> ASGIApp | Response:
        """The routes, or a refusal."""
        host = Headers(scope=scope).get("host", "")
        address, _ = scope.get("server") or ("", None)
        if host and is_foreign(host, address, self.config.allowed_hosts):
            message = f"{host[:LONGEST_SHOWN]!r} is not served here, only localhost and what --allow-host names"
            return refused(scope["path"], refusal(message, HTTPStatus.MISDIRECTED_REQUEST))
        return self.routes


@dataclass
class Exchange:
    """Sends the answer to one request."""

    forward: Send
    status: int = CLIENT_LEFT
    start: float = field(default_factory=time.perf_counter)
    seconds: float | None = None  # until the head of the answer

    async def send(self, message: Message) -> None:
        """Send a head with the headers that every answer has, and a body no faster than the client reads it."""
        if message["type"] == "http.response.start":
            self.status, self.seconds = message["status"], time.perf_counter() - self.start
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        body = message.get("body", b"")
        *starts, last = range(0, max(len(body), 1), SENT_AT_ONCE)
        for start in starts:
            await self.forward({**message, "body": body[start : start + SENT_AT_ONCE], "more_body": True})
        await self.forward({**message, "body": body[last:]} if starts else message)


class Metrics:
    """Counters, a histogram and gauges; any thread may add to them. Each server has its own."""

    def __init__(self) -> None:
        self.registry = to = CollectorRegistry()
        paths = ["path"]
        self.requests = Counter(
            "biplanar_requests", "Requests by path and status; 499: the client left.", [*paths, "status"], registry=to
        )
        self.request_seconds = Histogram(
            "biplanar_request_seconds", "Time until the answer begins, by path.", paths, registry=to, buckets=BUCKETS
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


# Bytes that requests and answers hold


class ByteBudget:
    """A number of bytes that may be held at a time. Any thread may use it."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self.lock = Lock()


class Lease:
    """The bytes that one request holds of a budget, until it is closed."""

    def __init__(self, budget: ByteBudget) -> None:
        self._budget, self.size, self._closed = budget, 0, False

    def take(self, size: int) -> bool:
        """Hold more bytes, if there is room; a closed lease has none."""
        with self._budget.lock:
            if self._closed or self._budget.held + size > self._budget.limit:
                return False
            self.size += size
            self._budget.held += size
            return True

    def close(self) -> None:
        """Give back all bytes."""
        with self._budget.lock:
            self._budget.held -= self.size
            self.size, self._closed = 0, True


# Hosts


def is_foreign(host: str, address: str, allowed: Collection[str]) -> bool:
    """Whether a Host header names a host that is not served at an address.

    A page of another site can give its own name the address of this machine (DNS rebinding) and talk to a server here
    as if it were its own; the Host header still names that site. Where other machines reach the address, and no hosts
    were chosen, every host is served.
    """
    if not (allowed or is_loopback(address)):
        return False
    name = host_name(host)
    return not (name == "localhost" or is_loopback(name) or name in map(host_name, allowed))


def host_name(host: str) -> str:
    """The name or address in a Host header, without a port."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.lower().rstrip(".")


@lru_cache(maxsize=256)
def is_loopback(address: str) -> bool:
    """Whether this is a loopback address."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
