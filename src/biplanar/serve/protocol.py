"""HTTP by uvicorn, with bounds on time and on the number of connections, and headers on all answers."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from biplanar.serve.headers import SECURITY_HEADERS


def plain_response(status: HTTPStatus, message: str, **headers: str) -> bytes:
    """A whole answer, for connections that are closed before a request reaches the application."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    fields = {
        **SECURITY_HEADERS,
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(message)),
        "Connection": "close",
        **names,
    }
    lines = [f"HTTP/1.1 {status} {status.phrase}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", message]).encode("ascii")


BUSY = plain_response(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections: try again later", Retry_After="1")


class BoundedProtocol(H11Protocol):
    """Closes connections of clients that neither send a request nor read an answer, and those beyond a number.

    How long a body may take to arrive, and an answer to be found, is up to the routes.
    """

    patience = 30.0  # seconds without any progress; at most twice that pass
    most_connections = 900

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch."""
        super().connection_made(transport)
        self._progress: Any = None
        self._resumed = 0  # how often the client has read what was waiting for it
        self._watch = self.loop.call_later(self.patience, self._check)
        if len(self.connections) > self.most_connections:
            transport.write(BUSY)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the watch."""
        self._watch.cancel()
        super().connection_lost(exc)

    def resume_writing(self) -> None:
        """Note that the client reads."""
        self._resumed += 1
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, unless another answer is on its way."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(plain_response(HTTPStatus.BAD_REQUEST, msg))
        self.transport.close()

    def _check(self) -> None:
        """Close the connection if nothing has changed since the last look, and the server is not working on it."""
        progress = (self.cycle, self._resumed, self.transport.get_write_buffer_size())
        working = self.cycle is not None and not self.cycle.response_complete and not self.flow.write_paused
        if progress == self._progress and not working:
            self.transport.abort()
            return
        self._progress = None if working else progress
        self._watch = self.loop.call_later(self.patience, self._check)
