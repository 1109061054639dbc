"""Runs the application: a socket, uvicorn with limits on time and connections, and a graceful shutdown."""

from __future__ import annotations

import asyncio
import signal
import socket
from http import HTTPStatus
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from biplanar.errors import BiplanarError
from biplanar.serve import ServerConfig
from biplanar.serve.app import create_app
from biplanar.serve.models import Models
from biplanar.serve.responses import SECURITY_HEADERS

BACKLOG = 1024  # connections that the system keeps until they are accepted
KEEP_ALIVE = 15  # seconds that a connection may stay open between two requests
GRACE = 5  # seconds for a shutdown beyond the time limit of requests


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; port 0 is any free one."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        raise BiplanarError(f"cannot listen on {host}:{port}: {error}") from error


def address_of(sock: socket.socket) -> str:
    """The address of a socket, for a browser."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(models: Models, config: ServerConfig) -> uvicorn.Server:
    """A server that is not running yet."""

    class Protocol(BoundedProtocol):
        patience = config.seconds
        most_connections = config.connections

    return uvicorn.Server(
        uvicorn.Config(
            create_app(models, config),
            http=Protocol,
            ws="none",
            lifespan="on",
            backlog=BACKLOG,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=round(config.seconds) + GRACE,
        )
    )


def run(models: Models, sock: socket.socket, config: ServerConfig) -> None:
    """Serve until SIGINT or SIGTERM; requests that were accepted are still answered."""

    def ignore(_: int, __: FrameType | None) -> None:
        """Do nothing: uvicorn handles signals itself, and raises them again after its shutdown."""

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ignore)
    make_server(models, config).run(sockets=[sock])


# Connections


def plain_response(status: HTTPStatus, message: str, **headers: str) -> bytes:
    """A whole answer, for connections that are closed before a request reaches the application."""
    fields = {
        **SECURITY_HEADERS,
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(message)),
        "Connection": "close",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = [f"HTTP/1.1 {status} {status.phrase}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", message]).encode("ascii")


BUSY = plain_response(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections: try again later", Retry_After="1")


class BoundedProtocol(H11Protocol):
    """Closes connections of clients that neither send a request nor read an answer, and those beyond a number.

    uvicorn has no time limit for the head of a request or for an answer that is not read, and its own answers lack our
    headers. How long a body may take to arrive, and an answer to be found, is up to the routes.
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
        """Note that the client has read."""
        self._resumed += 1
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request, unless an answer is already under way."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(plain_response(HTTPStatus.BAD_REQUEST, msg))
        self.transport.close()

    def _check(self) -> None:
        """Close the connection if nothing has changed since the last check, and the server is not working on it."""
        progress = (self.cycle, self._resumed, self.transport.get_write_buffer_size())
        working = self.cycle is not None and not self.cycle.response_complete and not self.flow.write_paused
        if progress == self._progress and not working:
            self.transport.abort()
            return
        self._progress = None if working else progress
        self._watch = self.loop.call_later(self.patience, self._check)
