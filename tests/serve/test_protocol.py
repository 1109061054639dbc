"""Answers that are given without the application, and connections that are too many."""

from __future__ import annotations

import h11
import pytest

from biplanar.serve import ServerConfig
from biplanar.serve.responses import SECURITY_HEADERS
from tests.serve.conftest import data, serving


def read_answer(connection) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of all that comes."""
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "localhost")]))
    client.send(h11.EndOfMessage())
    for received in iter(lambda: data(connection), b""):
        client.receive_data(received)
    client.receive_data(b"")
    response, *parts = iter(client.next_event, h11.ConnectionClosed())
    body = b"".join(bytes(part.data) for part in parts if isinstance(part, h11.Data))
    return response.status_code, {name.decode(): value.decode() for name, value in response.headers}, body


def check_headers(headers: dict[str, str]) -> None:
    assert {name.lower(): value for name, value in SECURITY_HEADERS.items()}.items() <= headers.items()
    assert headers["connection"] == "close"
    assert headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    "request_",
    [
        b"\x00\x01 what is this\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /process HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nnot a size\r\n",
    ],
)
def test_what_is_not_http(served, request_):
    with served.connect() as connection:
        connection.sendall(request_)
        status, headers, body = read_answer(connection)
    assert (status, body) == (400, b"Invalid HTTP request received.")
    check_headers(headers)
    assert served.client.get("/healthz").status_code == 200


def test_what_is_not_http_after_an_answer(served):
    with served.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n\x00\r\n\r\n")
        answers = b"".join(iter(lambda: data(connection), b""))
    assert answers.startswith(b"HTTP/1.1 200 ")
    assert answers.count(b"HTTP/1.1 400 ") <= 1


def test_too_many_connections(models):
    with serving(models, ServerConfig(connections=3)) as server:
        assert server.client.get("/healthz").status_code == 200
        held = [server.connect() for _ in range(2)]
        with server.connect() as one_more:
            status, headers, body = read_answer(one_more)
        assert (status, body) == (503, b"too many connections: try again later")
        assert headers["retry-after"] == "1"
        check_headers(headers)
        assert server.client.get("/healthz").status_code == 200
        for connection in held:
            connection.close()
