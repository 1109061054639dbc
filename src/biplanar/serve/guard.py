"""What happens around every request: hosts are checked, headers added, bytes bounded, and all is counted."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biplanar.serve.budget import ByteBudget
from biplanar.serve.config import ServerConfig
from biplanar.serve.headers import SECURITY_HEADERS
from biplanar.serve.hosts import is_foreign
from biplanar.serve.metrics import Metrics
from biplanar.serve.refusals import foreign_host, refused

CLIENT_LEFT = 499  # not in HTTP, but what other servers log for it
SENT_AT_ONCE = 1 << 16  # bytes; what the client does not read yet stays here and is counted

BODY, ANSWER = "body_lease", "answer_lease"  # where a request's state has them


@dataclass(frozen=True)
class Guard:
    """The application around the routes, of which some are counted by their paths."""

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
        leases = {BODY: self.bodies.lease(), ANSWER: self.answers.lease()}
        scope.setdefault("state", {}).update(leases)
        try:
            await self._chosen(scope)(scope, receive, exchange.send)
        finally:
            for lease in leases.values():
                lease.close()
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.add("biplanar_requests_total", path=path, status=str(exchange.status))
            self.metrics.observe("biplanar_request_seconds", exchange.seconds, path=path)

    def _chosen(self, scope: Scope) -> ASGIApp | Response:
        """The routes, or a refusal."""
        host = Headers(scope=scope).get("host", "")
        address, _ = scope.get("server") or ("", None)
        if host and is_foreign(host, address, self.config.allowed_hosts):
            return refused(scope["path"], foreign_host(host))
        return self.routes


@dataclass
class Exchange:
    """The answer to one request, as it is sent."""

    forward: Send
    status: int = CLIENT_LEFT
    start: float = field(default_factory=time.perf_counter)
    answered: float | None = None

    @property
    def seconds(self) -> float:
        """From the request to the head of its answer."""
        return (self.answered or time.perf_counter()) - self.start

    async def send(self, message: Message) -> None:
        """Send a head with the headers that every answer has, and a body no faster than the client reads it."""
        if message["type"] == "http.response.start":
            self.status, self.answered = message["status"], time.perf_counter()
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        body = message.get("body", b"")
        *starts, last = range(0, max(len(body), 1), SENT_AT_ONCE)
        for start in starts:
            await self.forward({**message, "body": body[start : start + SENT_AT_ONCE], "more_body": True})
        await self.forward({**message, "body": body[last:]} if starts else message)
