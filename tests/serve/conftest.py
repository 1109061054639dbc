"""A server in a thread of the tests' own process, on real sockets, and what tests send to it."""

from __future__ import annotations

import email.mime.multipart
import email.mime.nonmultipart
import email.policy
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from biplanar.serve import ServerConfig
from biplanar.serve.models import Models
from biplanar.serve.server import address_of, listen, make_server
from tests.serve.tiny import ALL_COLUMNS, train_tiny


@dataclass(frozen=True)
class Served:
    """Where a server is, and a client that talks to it."""

    address: str
    client: httpx.Client

    def connect(self) -> socket.socket:
        """A bare connection, for what no client library would do."""
        host, port = self.address.removeprefix("http://").split(":")
        return socket.create_connection((host, int(port)), timeout=20)

    def metric(self, name: str) -> float:
        """A value of `/metrics`."""
        lines = self.client.get("/metrics").text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.partition("{")[0].split(" ")[0] == name)


@contextmanager
def serving(models: Models, config: ServerConfig | None = None) -> Iterator[Served]:
    """Run a server for a while."""
    with listen("127.0.0.1", 0) as sock:
        server = make_server(models, config or ServerConfig())
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        address = address_of(sock)
        try:
            with httpx.Client(base_url=address, timeout=60) as client:
                yield Served(address, client)
        finally:  # or a test that fails would keep all others from ending
            server.should_exit = True
            thread.join(timeout=30)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def models() -> Models:
    return Models.load([])


@pytest.fixture(scope="session")
def tagging_models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    """A model with all output columns."""
    folder = tmp_path_factory.mktemp("models") / "columns"
    return Models.load([str(train_tiny(folder, columns=ALL_COLUMNS))])


@pytest.fixture(scope="session")
def tagging(tagging_models: Models) -> Iterator[Served]:
    with serving(tagging_models) as server:
        yield server


@pytest.fixture(scope="session")
def served(models: Models) -> Iterator[Served]:
    with serving(models) as server:
        yield server


def send(connection: socket.socket, body: bytes, leave_out: int = 0) -> None:
    """Ask for trees, or almost."""
    head = "POST /api/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
    connection.sendall(f"{head}{len(body)}\r\n\r\n".encode() + body[: len(body) - leave_out])


def data(connection: socket.socket) -> bytes:
    """What comes next; nothing if the server has hung up."""
    try:
        return connection.recv(1 << 16)
    except ConnectionError:
        return b""


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(400):
        if true():
            return
        time.sleep(0.05)
    pytest.fail("what was waited for did not happen")


def mime_form(fields: dict[str, str]) -> tuple[str, bytes]:
    """A form as programs put it together that use Python's modules for mail, as UDPipe's own client does."""
    message = email.mime.multipart.MIMEMultipart("form-data", policy=email.policy.HTTP)
    for name, value in fields.items():
        part = email.mime.nonmultipart.MIMENonMultipart("text", "plain")
        part.add_header("Content-Disposition", f'form-data; name="{name}"')
        part.add_header("Content-Transfer-Encoding", "8bit")
        part.set_payload(value, charset="utf-8")
        message.attach(part)
    body = message.as_bytes().split(b"\r\n\r\n", 1)[1]  # which settles the boundary
    return message["Content-Type"], body
