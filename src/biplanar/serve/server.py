"""Runs the application: a socket, uvicorn, and an end in good order."""

from __future__ import annotations

import signal
import socket
from types import FrameType

import uvicorn

from biplanar.errors import BiplanarError
from biplanar.serve.app import create_app
from biplanar.serve.limits import Limits
from biplanar.serve.models import Models
from biplanar.serve.protocol import PatientProtocol

BACKLOG = 1024  # connections that the system keeps until they are accepted
KEEP_ALIVE = 15  # seconds that a connection may stay open between two requests
FAREWELL = 5  # seconds beyond the time limit of requests, when the server is asked to end


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address, where clients wait until they are served; port 0 is any that is free."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        raise BiplanarError(f"{host}:{port}: cannot be listened at ({error})") from error


def address_of(sock: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(models: Models, limits: Limits) -> uvicorn.Server:
    """A server that is not running yet."""

    class Protocol(PatientProtocol):
        patience = limits.seconds
        most_connections = limits.connections

    return uvicorn.Server(
        uvicorn.Config(
            create_app(models, limits),
            http=Protocol,
            ws="none",
            lifespan="on",
            backlog=BACKLOG,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=round(limits.seconds) + FAREWELL,
        )
    )


def run(models: Models, sock: socket.socket, limits: Limits) -> None:
    """Serve until a signal asks for an end; then what was accepted is answered first."""

    def already_heard(_: int, __: FrameType | None) -> None:
        """The server hears signals by itself, and gives them on when it has ended, which would end us in disorder."""

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, already_heard)
    make_server(models, limits).run(sockets=[sock])
