"""`biplanar serve` from the outside: a process that listens, answers and ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from biplanar.errors import BiplanarError
from biplanar.serve.server import address_of, listen

WORDS = [["so"] * 50] * 64


@contextmanager
def process(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-m", "biplanar", "serve", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = server.stderr.readline()
            if "compiling for this machine" in line:  # at the first start
                line = server.stderr.readline()
            match = re.fullmatch(r"Biplanar serves ([\w, ]+) at (http://\S+)\n", line)
            assert match, line + server.stderr.read()
            yield server, match[2]
        finally:
            server.kill()


def worker_processes(parent: int) -> list[int]:
    """The processes that a process has started to work for it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(state[1]) == parent and b"spawn_main" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


class TestProcess:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_it_answers_what_it_has_accepted_and_ends(self, number):
        answers = []

        def ask(address: str) -> None:
            answers.append(httpx.post(f"{address}/api/parse", json={"words": WORDS}, timeout=60))

        with process("--batch-words", "100") as (server, address), httpx.Client(base_url=address) as idle:
            assert idle.get("/healthz").status_code == 200
            threads = [threading.Thread(target=ask, args=[address]) for _ in range(3)]
            for thread in threads:
                thread.start()
            while idle.get("/healthz").json()["waiting"] < 3:
                assert all(thread.is_alive() for thread in threads)
            server.send_signal(number)
            for thread in threads:
                thread.join()
            assert server.wait(timeout=20) == 0
            assert server.stderr.read() == ""
            with pytest.raises(httpx.ConnectError):
                httpx.get(address)
        assert [answer.status_code for answer in answers] == [200] * 3
        assert [len(answer.json()["sentences"]) for answer in answers] == [len(WORDS)] * 3

    def test_options(self):
        options = (
            "--max-bytes",
            "500",
            "--max-words",
            "6",
            "--max-sentence",
            "3",
            "--max-seconds",
            "9",
            "--queue",
            "5",
        )
        with process(*options) as (_, address), httpx.Client(base_url=address) as client:
            limits = client.get("/api/models").json()["limits"]
            assert (limits["bytes"], limits["words"], limits["sentence_words"], limits["seconds"]) == (500, 6, 3, 9)
            assert client.post("/api/parse", json={"words": [["a"] * 3] * 2}).status_code == 200
            assert client.post("/api/parse", json={"words": [["a"] * 4]}).status_code == 400
            assert client.post("/api/parse", json={"words": [["a"] * 3] * 3}).status_code == 413

    def test_hosts(self):
        with process("--allow-host", "parse.example", "--allow-host", "other.example") as (_, address):
            for host, status in {"parse.example": 200, "other.example": 200, "evil.example": 421}.items():
                assert httpx.get(f"{address}/healthz", headers={"Host": host}).status_code == status

    @pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
    def test_a_large_text_needs_no_other_process(self):
        with process() as (server, address):
            answer = httpx.post(f"{address}/api/parse", json={"text": "Nobody came. " * 2000}, timeout=60)
            assert answer.status_code == 200
            assert not list(worker_processes(server.pid))

    def test_it_can_be_reached_from_this_machine_only(self):
        with process() as (_, address):
            host, port = address.removeprefix("http://").split(":")
            assert host == "127.0.0.1"
            socket.create_connection((host, int(port))).close()
            with pytest.raises(ConnectionRefusedError):  # another address of this machine
                socket.create_connection(("127.0.0.2", int(port)))


class TestCommand:
    def run(self, *options: str) -> str:
        command = [sys.executable, "-m", "biplanar", "serve", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            assert self.run("--port", port).startswith(f"biplanar: error: cannot listen on 127.0.0.1:{port}")

    def test_no_such_model(self, tmp_path):
        assert "not a model folder" in self.run("--port", "0", str(tmp_path))

    def test_without_its_packages(self, tmp_path):
        (tmp_path / "starlette.py").write_text("raise ImportError('hidden')")
        command = [sys.executable, "-m", "biplanar", "serve", "--port", "0"]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
        assert done.returncode == 2
        assert "needs the extra 'serve'" in done.stderr


class TestSockets:
    def test_addresses(self):
        with listen("127.0.0.1", 0) as sock:
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address_of(sock))
        with listen("::1", 0) as sock:
            assert re.fullmatch(r"http://\[::1\]:\d+", address_of(sock))

    @pytest.mark.parametrize("host", ["no.such.host.invalid", "256.1.1.1", "a" * 70, "\ud800"])
    def test_no_such_host(self, host):
        with pytest.raises(BiplanarError, match="cannot listen on"):
            listen(host, 0)
