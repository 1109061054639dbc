"""Runs the application: a socket, uvicorn, and a graceful end."""

from __future__ import annotations

import signal
import socket
from types import FrameType

import uvicorn

from biplanar.errors import BiplanarError
from biplanar.serve.app import create_app
from biplanar.serve.config import ServerConfig
from biplanar.serve.models import Models
from biplanar.serve.protocol import BoundedProtocol

BACKLOG = 1024  # connections that the system keeps until they are accepted
KEEP_ALIVE = 15  # seconds that a connection may stay open between two requests
GRACE = 5  # seconds beyond the time limit of requests, when the server is asked to end


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; port 0 is any that is free."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        raise BiplanarError(f"{host}:{port}: cannot be listened at ({error})") from error


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
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=round(config.seconds) + GRACE,
        )
    )


def run(models: Models, sock: socket.socket, config: ServerConfig) -> None:
    """Serve until a signal asks for an end; then what was accepted is answered first."""

    def ignore(_: int, __: FrameType | None) -> None:
        """Does nothing: uvicorn handles signals itself, and raises them again after its end, which would kill us."""

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ignore)
    make_server(models, config).run(sockets=[sock])
