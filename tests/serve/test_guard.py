"""What happens around every request: its host, and the headers and pieces of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from threading import Thread

import pytest

from biplanar.serve import ServerConfig
from biplanar.serve.guard import CLIENT_LEFT, SENT_AT_ONCE, ByteBudget, Exchange, Lease
from biplanar.serve.responses import SECURITY_HEADERS
from tests.serve.conftest import Served, serving


@pytest.fixture(scope="module")
def proxied(models) -> Iterator[Served]:
    """A server behind a proxy of the same machine."""
    with serving(models, ServerConfig(allowed_hosts=("parse.example", "other.example"))) as server:
        yield server


class TestHosts:
    @pytest.mark.parametrize("host", ["evil.example", "evil.example:8001", "a b", "x:y", "10.0.0.1"])
    @pytest.mark.parametrize("path", ["/", "/process", "/process/", "/api/models", "/metrics", "/nothing"])
    def test_foreign_hosts_are_refused(self, served, host, path):
        answer = served.client.get(path, headers={"Host": host})
        assert answer.status_code == 421
        assert repr(host) in (answer.text if path == "/process" else answer.json()["error"])
        assert host not in str(answer.headers)
        assert set(map(str.lower, SECURITY_HEADERS)) <= set(answer.headers)

    def test_long_ones_are_not_repeated(self, served):
        answer = served.client.get("/", headers={"Host": "a" * 5000})
        assert answer.status_code == 421
        assert len(answer.content) < 300

    def test_a_foreign_host_gets_no_work_done(self, served):
        before = served.metric("biplanar_words_total")
        answer = served.client.post("/api/parse", json={"words": [["a"]]}, headers={"Host": "evil.example"})
        assert answer.status_code == 421
        assert served.metric("biplanar_words_total") == before

    @pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1", "[::1]:8001"])
    def test_this_machine(self, served, host):
        assert served.client.get("/healthz", headers={"Host": host}).status_code == 200

    def test_no_host(self, served):
        with served.connect() as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")

    def test_hosts_of_a_proxy(self, proxied):
        for host, status in {"parse.example": 200, "Other.Example:443": 200, "evil.example": 421}.items():
            assert proxied.client.get("/healthz", headers={"Host": host}).status_code == status


class TestExchange:
    def sent(self, *messages):
        sent = []

        async def forward(message):
            sent.append(message)

        async def send() -> None:
            for message in messages:
                await exchange.send(message)

        exchange = Exchange(forward)
        asyncio.run(send())
        return exchange, sent

    def test_bodies_go_out_in_pieces(self):
        body = bytes(range(256)) * 1000
        _, sent = self.sent({"type": "http.response.body", "body": body})
        assert b"".join(message["body"] for message in sent) == body
        assert max(len(message["body"]) for message in sent) == SENT_AT_ONCE
        assert [message.get("more_body", False) for message in sent] == [True] * (len(sent) - 1) + [False]

    @pytest.mark.parametrize("size", [0, 1, SENT_AT_ONCE, SENT_AT_ONCE + 1, 2 * SENT_AT_ONCE])
    def test_of_any_size(self, size):
        _, sent = self.sent({"type": "http.response.body", "body": b"x" * size, "more_body": True})
        assert sum(len(message["body"]) for message in sent) == size
        assert len(sent) == max(1, -(-size // SENT_AT_ONCE))
        assert all(message["more_body"] for message in sent)

    def test_heads(self):
        head = {"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"no-cache")]}
        exchange, (sent,) = self.sent(head)
        assert exchange.status == 200
        headers = dict(sent["headers"])
        assert headers[b"cache-control"] == b"no-cache"
        assert headers[b"x-content-type-options"] == b"nosniff"
        assert Exchange(None).status == CLIENT_LEFT


def test_there_is_no_more_than_the_limit():
    budget = ByteBudget(10)
    one, other = Lease(budget), Lease(budget)
    assert one.take(6)
    assert not other.take(5)
    assert other.take(4)
    assert budget.held == 10
    one.close()
    assert budget.held == 4
    assert other.take(6)


def test_a_closed_lease_holds_nothing():
    budget = ByteBudget(10)
    lease = Lease(budget)
    assert lease.take(6)
    lease.close()
    lease.close()
    assert not lease.take(1)
    assert budget.held == 0


def test_many_threads_lose_nothing():
    budget = ByteBudget(1 << 30)
    leases = [Lease(budget) for _ in range(8)]
    threads = [Thread(target=lambda lease=lease: [lease.take(1) for _ in range(2000)]) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.held == 16_000
    for lease in leases:
        lease.close()
    assert budget.held == 0
