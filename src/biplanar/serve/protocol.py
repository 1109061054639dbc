"""HTTP with a little less patience than uvicorn's: no client can hold a place for nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"Retry-After: 1\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 37\r\n\r\n"
    b"too many connections: try again later"
)


class PatientProtocol(H11Protocol):
    """Hangs up on clients that neither send a request nor take an answer, and refuses connections beyond a number.

    How long a body may take to arrive, and an answer to be found, the routes see to.
    """

    patience = 30.0  # seconds without any progress; at most twice that pass
    most_connections = 900

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch."""
        super().connection_made(transport)
        self._stood_at: Any = None
        self._watch = self.loop.call_later(self.patience, self._check)
        if len(self.connections) > self.most_connections:
            transport.write(BUSY)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the watch."""
        self._watch.cancel()
        super().connection_lost(exc)

    def _check(self) -> None:
        stands_at = (self.cycle, self.transport.get_write_buffer_size())
        working = self.cycle is not None and not self.cycle.response_complete
        if stands_at == self._stood_at and not working:
            self.transport.abort()
            return
        self._stood_at = None if working else stands_at
        self._watch = self.loop.call_later(self.patience, self._check)
