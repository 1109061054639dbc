"""How a server holds up: many clients at once, some of them slow, broken or gone before their answer.

A server is started in a process of its own. Each client asks for sentences of many sizes over both interfaces and
compares every answer with what the parser gives when it is called directly. What is reported: answers that were lost,
wrong or mixed up, throughput against calling the parser directly, latency, and memory over time.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks.machine import ONE_THREAD, command, machine, versions

os.environ.update(ONE_THREAD)  # before the libraries below are imported


from study.fingerprint import CODE

import biplanar
from benchmarks.arguments import ArgumentParser
from benchmarks.output import Numbers, keep
from benchmarks.texts import treebanks_folder
from biplanar.data.conllu import Sentence, read_conllu
from biplanar.errors import BiplanarError
from biplanar.pipeline.parser import Parser

PACKAGES = ("numba", "numpy", "onnxruntime", "starlette", "uvicorn")
TREEBANK = "UD_English-EWT/en_ewt-ud-dev.conllu.xz"
QUESTIONS = 400
RATIO_TARGET, GROWTH_TARGET = 0.7, 1.1
PATIENCE = 120  # seconds for one answer

# How many sentences a request has, and how often: mostly a few, now and then hundreds.
SIZES = {(1, 1): 0.35, (2, 5): 0.35, (6, 20): 0.2, (21, 60): 0.08, (200, 300): 0.02}

# How clients behave.
BEHAVIOURS = {"ask": 0.86, "ask slowly": 0.04, "break": 0.05, "leave": 0.05}

# What must be refused: a path, a type and a body.
BROKEN = (
    ("/api/parse", "application/json", b'{"text": 1'),
    ("/api/parse", "application/json", b'{"text": "a", "best": 999}'),
    ("/api/parse", "application/json", b'{"conllu": "1\\ta\\n"}'),
    ("/api/parse", "text/html", b"<p/>"),
    ("/api/nothing", "text/plain", b""),
    ("/process", "multipart/form-data; boundary=b", b"--b\r\n"),
    ("/process", "application/x-www-form-urlencoded", b"data=%FF"),
    ("/process", "application/x-www-form-urlencoded", b"parser="),
)
GARBAGE = b"\x00\x01\x02 what is this\r\n\r\n"


# What is asked, and what the answer must be


@dataclass(frozen=True)
class Question:
    """A request with its right answer."""

    request: bytes
    answer: list[str]  # CoNLL-U by sentence
    words: int
    is_json: bool

    def is_right(self, body: bytes) -> bool:
        """Whether this is the answer, to the letter."""
        content = json.loads(body)
        if self.is_json:
            return [sentence["conllu"] for sentence in content["sentences"]] == self.answer
        *origin, result = content["result"].split("\n", 3)
        return all(line.startswith("# ") for line in origin) and result == "".join(self.answer)


class Seconds(NamedTuple):
    """How long something took."""

    elapsed: float
    processor: float


def make_questions(parser: Parser, count: int, rng: random.Random) -> tuple[list[Question], int, Seconds]:
    """Questions over both interfaces; the words of all of them, and the seconds that the parser takes for these."""
    sentences = some_sentences(rng)
    chosen = [rng.choices(sentences, k=size(rng)) for _ in range(count)]
    kinds = [rng.choice(("json words", "json text", "udpipe text", "udpipe conllu")) for _ in chosen]
    inputs = [prepare(kind, group) for kind, group in zip(kinds, chosen, strict=True)]
    answers, seconds = parse_directly(parser, kinds, inputs)
    questions = [
        Question(
            as_request(kind, given),
            [sentence.to_conllu() for sentence in parsed],
            sum(map(len, parsed)),
            kind.startswith("json"),
        )
        for kind, given, parsed in zip(kinds, inputs, answers, strict=True)
    ]
    return questions, sum(question.words for question in questions), seconds


def some_sentences(rng: random.Random) -> list[list[str]]:
    """Of a treebank, or where there is none, of chance."""
    path = treebanks_folder() / TREEBANK
    if path.exists():
        return [sentence.forms for sentence in read_conllu(path)]
    words = [
        "the",
        "a",
        "old",
        "man",
        "dog",
        "river",
        "saw",
        "who",
        "lives",
        "near",
        "very",
        "large",
        ",",
        "and",
        "not",
    ]
    return [[*rng.choices(words, k=rng.randint(1, 40)), "."] for _ in range(2000)]


def size(rng: random.Random) -> int:
    """How many sentences the next request has."""
    (span,) = rng.choices(list(SIZES), list(SIZES.values()))
    return rng.randint(*span)


def prepare(kind: str, group: list[list[str]]) -> str | list[list[str]]:
    """What a request of a kind has in it."""
    if kind == "json words":
        return group
    if kind.endswith("text"):
        return "\n\n".join(" ".join(forms) for forms in group)
    return "".join(Sentence.from_words(forms).to_conllu() for forms in group)


def parse_directly(
    parser: Parser, kinds: list[str], inputs: list[str | list[list[str]]]
) -> tuple[list[list[Sentence]], Seconds]:
    """All answers in one go, which is how the parser is fastest; and how long it took."""
    start, processor = time.perf_counter(), time.process_time()
    groups = []
    for kind, given in zip(kinds, inputs, strict=True):
        if kind == "json words":
            groups.append([Sentence.from_words(forms) for forms in given])
        elif kind.endswith("text"):
            groups.append(parser.segmenter.segment(str(given)))
        else:
            groups.append(biplanar.parse_conllu(str(given)))
    parsed = parser.pipe(sentence for group in groups for sentence in group)
    answers = [[next(parsed) for _ in group] for group in groups]
    return answers, Seconds(time.perf_counter() - start, time.process_time() - processor)


def as_request(kind: str, given: str | list[list[str]]) -> bytes:
    """The bytes of a request."""
    if kind.startswith("json"):
        name = "words" if kind == "json words" else "text"
        return http("/api/parse", "application/json", json.dumps({name: given}, ensure_ascii=False).encode())
    fields = {"data": str(given), "tagger": "", "parser": "", **({"tokenizer": ""} if kind == "udpipe text" else {})}
    parts = [
        f'--b0unda4y\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
        for name, text in fields.items()
    ]
    return http("/process", "multipart/form-data; boundary=b0unda4y", "".join([*parts, "--b0unda4y--\r\n"]).encode())


def http(path: str, content_type: str, body: bytes) -> bytes:
    """A request with its head."""
    headers = {"Host": "127.0.0.1", "Content-Type": content_type, "Content-Length": str(len(body))}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


# Clients

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Tally:
    """What all clients saw."""

    latencies: list[float] = field(default_factory=list)
    small_latencies: list[float] = field(default_factory=list)  # of requests of one sentence
    words: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    memory: list[tuple[float, float]] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)  # seconds that the server has had, at first and at last
    last_answer: float = 0.0

    def answered(self, question: Question, seconds: float) -> None:
        """Note a right answer."""
        self.latencies.append(seconds)
        if len(question.answer) == 1:
            self.small_latencies.append(seconds)
        self.words += question.words
        self.counts["right"] += 1
        self.last_answer = time.perf_counter()


class Client:
    """Asks one thing after the other, over one connection as long as that holds."""

    def __init__(self, port: int, questions: list[Question], tally: Tally, seed: int) -> None:
        self.port, self.questions, self.tally, self.rng = port, questions, tally, random.Random(seed)
        self.connection: Connection | None = None

    async def run(self, until: float) -> None:
        """Ask until the time has come."""
        while time.perf_counter() < until:
            (behaviour,) = self.rng.choices(list(BEHAVIOURS), list(BEHAVIOURS.values()))
            if behaviour == "break":
                await self.send_broken()
            elif behaviour == "leave":
                await self.leave()
            else:
                await self.ask(slowly=behaviour == "ask slowly")
        self.hang_up()

    async def ask(self, *, slowly: bool) -> None:
        """Ask, and look at the answer."""
        question = self.rng.choice(self.questions)
        start = time.perf_counter()
        try:
            status, headers, body = await self.exchange(question.request, pieces=5 if slowly else 1)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self.tally.counts[f"lost ({type(error).__name__})"] += 1
            self.hang_up()
            return
        if status == 503:
            self.tally.counts["refused for now"] += 1
            await asyncio.sleep(min(int(headers["retry-after"]), 5))
        elif status != 200:
            self.tally.counts[f"status {status}"] += 1
        elif not question.is_right(body):
            self.tally.counts["wrong"] += 1
        else:
            self.tally.answered(question, time.perf_counter() - start)

    async def send_broken(self) -> None:
        """Something that must be refused, and not as a fault of the server's."""
        try:
            status, _, _ = await self.exchange(self.rng.choice([*(http(*parts) for parts in BROKEN), GARBAGE]))
            self.tally.counts["broken, refused" if 400 <= status < 500 else f"broken, status {status}"] += 1
        except (OSError, asyncio.IncompleteReadError):
            self.tally.counts["broken, no answer"] += 1
        self.hang_up()

    async def leave(self) -> None:
        """Ask, perhaps not to the end, and go."""
        request = self.rng.choice(self.questions).request
        _, writer = await self.connect()
        writer.write(request[: self.rng.choice((len(request), self.rng.randrange(len(request))))])
        await asyncio.sleep(self.rng.random())
        self.hang_up()
        self.tally.counts["left"] += 1

    async def exchange(self, request: bytes, pieces: int = 1) -> tuple[int, dict[str, str], bytes]:
        """Send a request, and read status, headers and body of the answer."""
        reader, writer = await self.connect()
        step = -(-len(request) // pieces)
        for start in range(0, len(request), step):
            if start:
                await asyncio.sleep(0.1)
            writer.write(request[start : start + step])
        async with asyncio.timeout(PATIENCE):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            lines = head.split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
            body = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.hang_up()
        return int(lines[0].split()[1]), headers, body

    async def connect(self) -> Connection:
        """The connection as long as it is open, or else a new one."""
        if self.connection is None or self.connection[1].is_closing() or self.connection[0].at_eof():
            self.connection = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
        return self.connection

    def hang_up(self) -> None:
        """Close the connection without waiting for answers."""
        if self.connection is not None:
            self.connection[1].transport.abort()
            self.connection = None


async def watch(port: int, tally: Tally, until: float) -> None:
    """Once a second, what the server says of itself."""
    client, start = Client(port, [], tally, 0), time.perf_counter()
    tally.processor.append((await ask_metrics(client))["process_cpu_seconds_total"])
    while time.perf_counter() < until:
        memory = (await ask_metrics(client))["process_resident_memory_bytes"]
        tally.memory.append((time.perf_counter() - start, memory / 2**20))
        await asyncio.sleep(1)
    client.hang_up()


async def ask_metrics(client: Client) -> dict[str, float]:
    """The metrics of the server's process."""
    _, _, body = await client.exchange(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    return {name: float(value) for name, value in re.findall(r"^(process_\w+) (\S+)$", body.decode(), re.MULTILINE)}


async def run_load(
    port: int, questions: list[Question], clients: int, seconds: float, seed: int
) -> tuple[Tally, float]:
    """All clients at once; how long it took until the last answer."""
    tally, start = Tally(), time.perf_counter()
    until = start + seconds
    crowd = [Client(port, questions, tally, seed + number) for number in range(clients)]
    await asyncio.gather(watch(port, tally, until), *(client.run(until) for client in crowd))
    tally.processor.append((await ask_metrics(Client(port, [], tally, 0)))["process_cpu_seconds_total"])
    return tally, tally.last_answer - start


# The server


def port_of(messages: Iterable[str]) -> int:
    """The port that a server names once it listens; other messages may come before."""
    for line in messages:
        if found := re.search(r"http://[^/]+:(\d+)", line):
            return int(found[1])
    raise BiplanarError("the server did not say where it listens")


@contextmanager
def server(options: list[str]) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A server on any free port."""
    command = [sys.executable, "-m", "biplanar", "serve", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield port_of(process.stderr), process
        finally:
            process.terminate()
            complaints = process.communicate(timeout=120)[1]
            if complaints:
                print(complaints, file=sys.stderr)


# Reporting


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of all lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def growth(memory: list[tuple[float, float]], seconds: float) -> tuple[float, float]:
    """The highest values of the second and of the last third, in MiB."""
    thirds = [[size for at, size in memory if third <= 3 * at / seconds < third + 1] for third in range(3)]
    return max(thirds[1], default=0.0), max(thirds[2], default=0.0)


def main() -> int:
    """Run it, and say whether it held."""
    options = ArgumentParser("benchmarks.load", __doc__)
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--questions", type=int, default=QUESTIONS)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--json", type=Path, help="write the numbers to this file, too")
    chosen, serve_options = options.parse_known_args()

    rng, parser = random.Random(chosen.seed), biplanar.load()
    make_questions(parser, 3, random.Random(0))  # compiles what is not compiled yet
    questions, words, before = make_questions(parser, chosen.questions, rng)
    print(f"{len(questions)} requests, {words} words; directly {words / before.elapsed:.0f} words/s")
    with server(serve_options) as (port, process):
        tally, seconds = asyncio.run(run_load(port, questions, chosen.clients, chosen.seconds, chosen.seed))
        process.terminate()
        code = process.wait(timeout=120)
    _, _, after = make_questions(parser, chosen.questions, random.Random(chosen.seed))

    direct = statistics.mean((words / before.elapsed, words / after.elapsed))
    direct_processor = words / min(before.processor, after.processor)
    processor = tally.processor[-1] - tally.processor[0]
    lost = sum(count for name, count in tally.counts.items() if name.startswith("lost"))
    strange = sum(
        count for name, count in tally.counts.items() if name.startswith(("status", "broken, status", "wrong"))
    )
    middle, end = growth(tally.memory, chosen.seconds)
    results: Numbers = {
        "fingerprint": {"code": CODE},
        "machine": machine(),
        "versions": versions(PACKAGES),
        "command": command("benchmarks.load"),
        "clients": chosen.clients,
        "seconds": round(seconds, 1),
        "counts": dict(tally.counts),
        "requests_per_second": tally.counts["right"] / seconds,
        "words_per_second": tally.words / seconds,
        "direct_words_per_second": [words / before.elapsed, words / after.elapsed],
        "ratio": tally.words / seconds / direct,
        "words_per_processor_second": tally.words / processor,
        "direct_words_per_processor_second": direct_processor,
        "processor_ratio": tally.words / processor / direct_processor,
        "latency": {f"p{share}": percentile(tally.latencies, share / 100) for share in (50, 90, 99)},
        "latency_of_one_sentence": {
            f"p{share}": percentile(tally.small_latencies, share / 100) for share in (50, 90, 99)
        },
        "memory_mib": {"middle third": middle, "last third": end},
        "exit_code": code,
    }
    print(json.dumps(results, indent=1))
    keep(results, chosen.json)
    verdicts = {
        "no accepted request lost": lost == 0,
        "no answer wrong or mixed up": strange == 0,
        f"at least {RATIO_TARGET:.0%} of the parser": results["ratio"] >= RATIO_TARGET,
        "memory flat": end <= GROWTH_TARGET * middle,
        "ended in good order": code == 0,
    }
    for name, holds in verdicts.items():
        print(f"{'yes' if holds else 'NO '}  {name}")
    return 0 if all(verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
