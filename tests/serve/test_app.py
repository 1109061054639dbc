"""The routes on real sockets: headers, the page's files, limits, and clients that behave badly."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biplanar import ENCODINGS
from biplanar.serve import ServerConfig
from biplanar.serve.app import STATIC
from biplanar.serve.responses import SECURITY_HEADERS
from tests.serve.conftest import Served, data, send, serving, wait_until

JSON = {"Content-Type": "application/json"}
LONG = [["so"] * 100] * 60  # takes a while


class TestAnswers:
    def test_what_there_is_to_choose_from(self, served):
        answer = served.client.get("/api/models").json()
        assert answer["default"] == "en"
        assert answer["models"] == [
            {
                "name": "en",
                "encoding": "2p-full",
                "raw_text": True,
                "several_trees": True,
                "columns": ["upos", "xpos", "feats", "lemma", "deps"],
                "description": "trained on en_ewt-ud-train.conllu (UD_English-EWT 2.16), 9,000 made-up sentences; "
                "licence: CC BY-SA 4.0",
            }
        ]
        assert answer["decoders"] == ["search", "minimum-risk", "greedy", "paper"]
        assert answer["encodings"] == list(ENCODINGS)
        assert (answer["limits"]["bytes"], answer["limits"]["words"], answer["limits"]["best"]) == (
            4 << 20,
            100_000,
            20,
        )

    @pytest.mark.parametrize(
        ("method", "path", "status"),
        [
            ("GET", "/api/models", 200),
            ("GET", "/models", 200),
            ("GET", "/process", 400),
            ("GET", "/nothing", 404),
            ("GET", "/static/nothing.js", 404),
            ("GET", "/api/parse", 405),
            ("DELETE", "/", 405),
            ("POST", "/api/parse", 415),
            ("GET", "/openapi.json", 200),
            ("GET", "/healthz", 200),
            ("GET", "/metrics", 200),
        ],
    )
    def test_every_answer_has_the_security_headers(self, served, method, path, status):
        answer = served.client.request(method, path)
        assert answer.status_code == status
        for name, value in SECURITY_HEADERS.items():
            if name == "Cross-Origin-Resource-Policy" and path in ("/models", "/process"):
                value = "cross-origin"
            assert answer.headers[name] == value
        assert "server" not in answer.headers
        policy = dict(
            rule.strip().partition(" ")[::2] for rule in SECURITY_HEADERS["Content-Security-Policy"].split(";")
        )
        assert policy["script-src"] == "'self'"
        assert policy["default-src"] == "'none'"

    def test_only_udpipes_interface_is_open_to_other_pages(self, served):
        assert "access-control-allow-origin" not in served.client.get("/api/models").headers
        assert "access-control-allow-origin" not in served.client.post("/api/parse", json={"text": ""}).headers

    def test_errors_are_json(self, served):
        assert served.client.get("/nothing").json() == {"error": "Not Found"}
        answer = served.client.get("/api/parse")
        assert (answer.json(), answer.headers["allow"]) == ({"error": "Method Not Allowed"}, "POST")
        error = served.client.post("/api/parse", data={"text": "a"}).json()["error"]
        assert "application/json" in error

    def test_health_and_metrics(self, served):
        before = served.metric("biplanar_words_total")
        served.client.post("/api/parse", json={"words": [["Nobody", "came", "."]]})
        assert served.metric("biplanar_words_total") == before + 3
        assert served.metric("process_resident_memory_bytes") > 1e7
        for gauge in ("queue_requests", "held_bytes", "unread_bytes"):
            assert served.metric(f"biplanar_{gauge}") == 0
        assert served.client.get("/healthz").json() == {"status": "ok", "waiting": 0}
        served.client.get("/a/path/of/a/stranger")
        text = served.client.get("/metrics").text
        assert "stranger" not in text
        assert 'biplanar_requests_total{path="other",status="404"}' in text


class TestPage:
    def test_all_files_are_there_as_they_are(self, served):
        types = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
        for file in STATIC.iterdir():
            answer = served.client.get(f"/static/{file.name}")
            assert answer.content == file.read_bytes()
            assert answer.headers["content-type"].partition(";")[0] == types[file.suffix]
        assert served.client.get("/").content == (STATIC / "index.html").read_bytes()

    def test_nothing_is_sent_twice(self, served):
        first = served.client.get("/static/page.js")
        again = served.client.get("/static/page.js", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["cache-control"] == "no-cache"

    @pytest.mark.parametrize(
        "path",
        [
            "/static/../app.py",
            "/static/%2e%2e/app.py",
            "/static/..%2fapp.py",
            "/static//etc/passwd",
            "/static/%2Fetc%2Fpasswd",
            "/static/index.html%00.js",
            "/static/",
            "/../../etc/passwd",
        ],
    )
    def test_no_way_leads_to_other_files(self, served, path):
        with served.connect() as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 404 ")


class TestLimits:
    def test_large_bodies(self, models):
        with serving(models, ServerConfig(body_bytes=1000)) as server:
            for path in ("/api/parse", "/process"):
                answer = server.client.post(path, content=b"x" * 1001, headers=JSON)
                assert answer.status_code == 413
                assert "1000 bytes" in answer.text
            # Far too large: the answer comes before the end, and not every client can hear it.
            with suppress(OSError), server.connect() as connection:
                connection.sendall(
                    b"POST /process HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 20_000
                )
                assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")
            assert server.client.post("/api/parse", json={"text": "Yes."}).status_code == 200
            assert server.metric("biplanar_held_bytes") == 0

    def test_all_bodies_together(self, models):
        with serving(models, ServerConfig(held_bytes=1000)) as server:
            with server.connect() as slow:
                slow.sendall(b"POST /process HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n" + b"x" * 900)
                wait_until(lambda: server.metric("biplanar_held_bytes") == 900)
                answer = server.client.post("/process", content=b"x" * 200)
                assert answer.status_code == 503
                assert answer.headers["retry-after"] == "1"
                assert server.client.get("/process", params={"data": "a", "input": "horizontal"}).status_code == 200
            wait_until(lambda: server.metric("biplanar_held_bytes") == 0)

    def test_slow_bodies(self, models):
        with serving(models, ServerConfig(seconds=0.5)) as server, server.connect() as slow:
            slow.sendall(b"POST /process HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx")
            assert slow.recv(4096).startswith(b"HTTP/1.1 408 ")

    @pytest.mark.parametrize(
        "sent", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /heal"]
    )
    def test_clients_that_do_not_come_to_the_point(self, models, sent):
        with serving(models, ServerConfig(seconds=0.3)) as server, server.connect() as slow:
            slow.sendall(sent)
            while data(slow):
                pass
            assert server.client.get("/healthz").status_code == 200

    def test_clients_that_do_not_read_their_answer(self, models):
        with serving(models, ServerConfig(seconds=3.0)) as server, server.connect() as slow:
            send(slow, LARGE_ANSWER)
            wait_until(lambda: server.metric("biplanar_unread_bytes") > 5e6)
            wait_until(lambda: server.metric("biplanar_unread_bytes") == 0)
            answer = b"".join(iter(lambda: data(slow), b""))
            head, _, body = answer.partition(b"\r\n\r\n")
            (size,) = re.findall(rb"content-length: (\d+)", head)
            assert 0 < len(body) < int(size)
            assert server.metric("biplanar_unread_bytes") == 0

    def test_all_unread_answers_together(self, models):
        with serving(models, ServerConfig(unread_bytes=12_000_000)) as server:
            with server.connect() as slow:
                send(slow, LARGE_ANSWER)
                wait_until(lambda: server.metric("biplanar_unread_bytes") > 5e6 and waiting(server) == 0)
                answer = server.client.post("/api/parse", content=LARGE_ANSWER, headers=JSON)
                assert answer.status_code == 503
                assert answer.headers["retry-after"] == "1"
                assert "not read yet" in answer.json()["error"]
                assert server.client.post("/api/parse", json={"words": [["Yes"]]}).status_code == 200
                slow.settimeout(20)
                answer = b"".join(iter(lambda: data(slow) if server.metric("biplanar_unread_bytes") else b"", b""))
                assert len(answer) > 5e6
            answer = server.client.post("/api/parse", content=LARGE_ANSWER, headers=JSON)
            assert len(answer.json()["sentences"]) == 700

    def test_one_large_answer(self, models):
        with serving(models, ServerConfig(answer_bytes=1_000_000)) as server:
            answer = server.client.post("/api/parse", content=LARGE_ANSWER, headers=JSON)
            assert answer.status_code == 413
            assert "1000000 bytes" in answer.json()["error"]
            assert server.metric("biplanar_unread_bytes") == 0

    def test_no_answer_in_time(self, models):
        with serving(models, ServerConfig(seconds=0.3, batch_words=200)) as server:
            answer = server.client.post("/api/parse", json={"words": LONG * 5})
            assert answer.status_code == 504
            assert "0.3 seconds" in answer.json()["error"]
            assert server.client.get("/metrics").status_code == 200

    def test_a_full_queue(self, models):
        limits = ServerConfig(queue=2, batch_words=200)
        with serving(models, limits) as server, ThreadPoolExecutor(12) as pool:
            posts = [pool.submit(server.client.post, "/api/parse", json={"words": LONG[:5]}) for _ in range(12)]
            answers = [post.result() for post in posts]
            assert {answer.status_code for answer in answers} == {200, 503}
            for answer in answers:
                if answer.status_code == 503:
                    assert int(answer.headers["retry-after"]) >= 1
                    assert "requests are waiting already" in answer.json()["error"]
                else:
                    assert len(answer.json()["sentences"]) == 5


class TestClientsThatLeave:
    def leave(self, server: Served, body: bytes, *, whole: bool) -> None:
        with server.connect() as connection:
            send(connection, body, leave_out=0 if whole else 1)
            if whole:
                wait_until(lambda: server.metric("biplanar_queue_requests") > 0)

    def test_also_not_while_their_trees_are_drawn(self, models):
        words = [["so" * 200] * 900]
        with serving(models) as server:
            self.leave(server, json.dumps({"words": words, "best": 20, "svg": True}).encode(), whole=True)
            wait_until(lambda: server.metric("biplanar_abandoned_total") == 1)
            wait_until(lambda: server.metric("biplanar_words_total") == 900)
            server.client.post("/api/parse", json={"words": [["so"] * 400]})  # for the same worker
            assert server.metric("biplanar_unread_bytes") == 0

    def test_they_are_not_worked_for(self, models):
        body = json.dumps({"words": LONG * 20}).encode()
        with serving(models, ServerConfig(batch_words=200)) as server:
            self.leave(server, body, whole=True)
            wait_until(lambda: server.metric("biplanar_abandoned_total") == 1)
            wait_until(lambda: server.metric("biplanar_queue_requests") == 0)
            self.leave(server, body, whole=False)
            wait_until(lambda: b'path="/api/parse",status="499"} 2' in server.client.get("/metrics").content)
            assert server.metric("biplanar_held_bytes") == 0
            assert server.metric("biplanar_words_total") < 10_000
            assert server.metric("biplanar_errors_total") == 0
            assert server.client.post("/api/parse", json={"words": [["Yes"]]}).status_code == 200


class TestOthersDoNotWait:
    """While a request that costs much is under way, a small one of another client is answered."""

    @pytest.mark.parametrize(
        "request_",
        [
            {"words": [["so" * 200] * 1000], "best": 20, "svg": True},
            {"words": [["so"] * 1000] * 9, "decoder": "minimum-risk", "probabilities": True},
            {"text": "?!" * 300_000},
            {"text": ("abc " * 900 + ".\n\n") * 100},
        ],
        ids=["best-svg", "minimum-risk", "no-spaces", "long-sentences"],
    )
    def test_small_parses(self, models, request_):
        with serving(models) as server, server.connect() as other:
            send(other, json.dumps(request_).encode())
            wait_until(lambda: waiting(server) == 1)
            answer = server.client.post("/api/parse", json={"words": [["Nobody", "came", "."]]})
            assert answer.status_code == 200
            assert waiting(server) == 1  # still


@settings(max_examples=60)
@given(request=st.binary(max_size=300) | st.binary(max_size=100).map(lambda rest: b"POST /process HTTP/1.1\r\n" + rest))
def test_no_bytes_bring_it_down(served: Served, request: bytes):
    with served.connect() as connection, suppress(OSError):
        connection.sendall(request + b"\r\n\r\n")
        connection.shutdown(1)
        answer = data(connection)
        assert not answer.startswith(b"HTTP/1.1 5")
    assert served.client.get("/healthz").json()["status"] == "ok"


def waiting(server: Served) -> int:
    """How many requests wait, or are worked on."""
    return server.client.get("/healthz").json()["waiting"]


LONG_TEXT = "# text = " + "x" * 5000 + "\n1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
LARGE_ANSWER = json.dumps({"conllu": LONG_TEXT * 700, "parse": False}).encode()  # of a few megabytes, in a moment
