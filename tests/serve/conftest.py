"""A server in a thread of the tests' own process, on real sockets."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from biplanar.serve.limits import Limits
from biplanar.serve.models import Models
from biplanar.serve.server import address_of, listen, make_server


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
def serving(models: Models, limits: Limits | None = None) -> Iterator[Served]:
    """Run a server for a while."""
    with listen("127.0.0.1", 0) as sock:
        server = make_server(models, limits or Limits())
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
def served(models: Models) -> Iterator[Served]:
    with serving(models) as server:
        yield server
