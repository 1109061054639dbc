"""One worker for all requests: what waits is parsed together, whoever asked for it, and answers go back one by one.

A thread of its own owns the parsers. It takes a bounded number of words at a time: of small requests as many as there
are, and of a large one a part, so that large ones neither hold up the small ones nor pile up half-done.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from http import HTTPStatus
from itertools import islice
from threading import Condition, Thread

from starlette.exceptions import HTTPException

from biplanar.data.conllu import Sentence
from biplanar.pipeline.options import ParseOptions
from biplanar.pipeline.parser import Parser
from biplanar.serve.limits import Limits
from biplanar.serve.metrics import Metrics
from biplanar.serve.refusals import ERRORS_OF_REQUESTS, refusal

SMALL = 16 << 10  # bytes; larger requests wait in a line of their own

# The smaller of small requests go first, but not forever: each stands in line as if it had come so much later.
DELAY = 1 / 2000  # seconds for each byte

# Seconds for drawing from one request: text can be slow to cut and yet have few words in it.
DRAWING = 0.5

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Parsing:
    """How sentences are to be parsed; those for which it is the same can be parsed together."""

    parser: Parser
    options: ParseOptions

    def __call__(self, sentences: list[Sentence]) -> list[Sentence]:
        """The sentences with their trees."""
        return list(self.parser.pipe(sentences, self.options))


@dataclass(frozen=True)
class Work:
    """What a request comes to: sentences, perhaps to be parsed, and what is to be made of them.

    Sentences are drawn, parsed and rendered in portions; `finish` gets what was rendered of all.
    """

    sentences: Iterator[Sentence]
    render: Callable[[list[Sentence]], list[str]]
    finish: Callable[[list[str]], bytes]
    parsing: Parsing | None = None
    most_words: int | None = None  # if fewer are allowed than for other requests
    weight: int = 1  # how many times more work a word is than in other requests


class Job:
    """A request on its way. Until it is over, the worker alone reads and writes all but that flag."""

    def __init__(self, prepare: Callable[[], Work], size: int, answer: asyncio.Future[bytes]) -> None:
        self.size, self.answer = size, answer
        self.since = time.monotonic()
        self.due = self.since + (size * DELAY if size <= SMALL else 0)
        self.over = False  # answered or abandoned
        self.portion: list[Sentence] = []  # what is being worked on
        self._prepare = prepare
        self._work: Work | None = None
        self._upcoming: Sentence | None = None  # the first one behind the portion
        self._words = 0
        self._rendered: list[str] = []

    def __lt__(self, other: Job) -> bool:
        """Whether it goes before another."""
        return self.due < other.due

    @property
    def work(self) -> Work:
        """What to do; at first the request has to be read."""
        if self._work is None:
            self._work = self._prepare()
            self._upcoming = next(self._work.sentences, None)
        return self._work

    @property
    def drawn_all(self) -> bool:
        """Whether the portion is the last one."""
        return self._upcoming is None

    def draw(self, room: int, limits: Limits) -> int:
        """Draw the next portion, of so much work or a sentence more; says how much it is."""
        until = time.monotonic() + DRAWING
        work, weight = self.work, 0
        self.portion = []
        while self._upcoming is not None and weight < room and not self.over:
            self._count(len(self._upcoming), work, limits)
            self.portion.append(self._upcoming)
            weight += len(self._upcoming) * work.weight
            self._upcoming = next(work.sentences, None)
            if time.monotonic() > until:
                break
        return weight

    def _count(self, words: int, work: Work, limits: Limits) -> None:
        if words > limits.sentence_words:
            raise refusal(f"expected sentences of at most {limits.sentence_words} words, found one of {words}")
        self._words += words
        most = limits.words if work.most_words is None else work.most_words
        if self._words > most:
            message = f"expected at most {most} words in a request of this kind, found more"
            raise refusal(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    def render(self) -> None:
        """Render the portion; if it was the last one, answer."""
        self._rendered += self.work.render(self.portion)
        self.portion = []
        if self.drawn_all:
            self.settle(self.work.finish(self._rendered))

    def settle(self, outcome: bytes | Exception) -> None:
        """Give the answer to where it is awaited, if anyone still waits."""
        self.over = True

        def settle_there() -> None:
            if self.answer.done():
                return
            if isinstance(outcome, bytes):
                self.answer.set_result(outcome)
            else:
                self.answer.set_exception(outcome)

        try:
            self.answer.get_loop().call_soon_threadsafe(settle_there)
        except RuntimeError:
            logger.debug("the server has ended before an answer")


class Batcher:
    """The lines in which requests wait, and the thread that works on them."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self.limits, self.metrics = limits, metrics
        self.waiting: dict[Job, None] = {}  # the oldest first; touched on the event loop only
        self._changed = Condition()
        self._small: list[Job] = []  # heaps: the first one is due
        self._large: list[Job] = []
        self._stopping = False
        self._busy_since: float | None = None
        self._thread = Thread(target=self._run, name="biplanar-worker", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self) -> None:
        """Work off what waits, then end."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    @property
    def is_well(self) -> bool:
        """Whether there is a worker, and it does not sit over one batch for longer than a request may take."""
        since = self._busy_since
        stuck = since is not None and time.monotonic() - since > self.limits.seconds
        return self._thread.is_alive() and not stuck

    # On the event loop

    async def submit(self, prepare: Callable[[], Work], size: int) -> bytes:
        """Wait in line, and for the answer. If the caller is cancelled, the request leaves the line."""
        self.check_room()
        job = Job(prepare, size, asyncio.get_running_loop().create_future())
        self.waiting[job] = None
        try:
            self._put(job)
            return await asyncio.wait_for(job.answer, self.limits.seconds)
        except TimeoutError:
            message = f"no answer was found within {self.limits.seconds:g} seconds: ask for less at once"
            raise refusal(message, HTTPStatus.GATEWAY_TIMEOUT) from None
        finally:
            del self.waiting[job]
            if job.answer.cancelled():
                self._abandon(job)

    def check_room(self) -> None:
        """Refuse a request for which there is no place in the line."""
        if len(self.waiting) >= self.limits.queue:
            raise self.refusal_for_now(f"{len(self.waiting)} requests are waiting already")

    def refusal_for_now(self, reason: str) -> HTTPException:
        """What asks a client to come back when those who wait longest will be gone."""
        oldest = next(iter(self.waiting), None)
        seconds = max(1, round(time.monotonic() - oldest.since)) if oldest else 1
        return refusal(f"{reason}: try again later", HTTPStatus.SERVICE_UNAVAILABLE, Retry_After=str(seconds))

    def _put(self, job: Job) -> None:
        with self._changed:
            heappush(self._small if job.size <= SMALL else self._large, job)
            self._changed.notify()

    def _abandon(self, job: Job) -> None:
        self.metrics.add("biplanar_abandoned_total")
        job.over = True
        with self._changed:
            for line in (self._small, self._large):
                if job in line:
                    line.remove(job)
                    heapify(line)

    # In the worker's thread

    def _run(self) -> None:
        while self._wait_for_jobs():
            start = self._busy_since = time.monotonic()
            self._work(self._gather())
            self._busy_since = None
            self.metrics.add("biplanar_work_seconds_total", time.monotonic() - start)

    def _wait_for_jobs(self) -> bool:
        """Whether there are any; if not, it is time to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._small or self._large or self._stopping)
            return bool(self._small or self._large)

    def _gather(self) -> list[Job]:
        """The jobs of the next batch, each with its portion: large ones have half of it, or what small ones leave."""
        room = self.limits.batch_words
        reserved = room // 2 if self._large else 0
        small, left = self._fill(self._small, room - reserved)
        large, _ = self._fill(self._large, max(left, 0) + reserved)
        return small + large

    def _fill(self, line: list[Job], room: int) -> tuple[list[Job], int]:
        """Jobs with portions, up to one that is not drawn to its end, and how much room is left."""
        jobs = []
        while room > 0 and (job := self._take(line)):
            try:
                room -= job.draw(room, self.limits)
            except Exception as error:
                self._fail(job, error)
                continue
            jobs.append(job)
            if not job.drawn_all:
                with self._changed:
                    heappush(line, job)
                break
        return jobs, room

    def _take(self, line: list[Job]) -> Job | None:
        with self._changed:
            while line:
                job = heappop(line)
                if not job.over:
                    return job
        return None

    def _work(self, jobs: list[Job]) -> None:
        together: dict[Parsing, list[Job]] = {}
        for job in jobs:
            if job.work.parsing is not None:
                together.setdefault(job.work.parsing, []).append(job)
        for parsing, group in together.items():
            self._parse(parsing, group)
        for job in jobs:
            if not job.over:
                try:
                    job.render()
                except Exception as error:
                    self._fail(job, error)

    def _parse(self, parsing: Parsing, jobs: list[Job]) -> None:
        sentences = [sentence for job in jobs for sentence in job.portion]
        try:
            parsed = iter(parsing(sentences))
        except Exception as error:
            if len(jobs) == 1:
                self._fail(jobs[0], error)
            else:  # whose fault it was, shows when each is parsed alone
                for job in jobs:
                    self._parse(parsing, [job])
            return
        for job in jobs:
            job.portion = list(islice(parsed, len(job.portion)))
        self._count(jobs, sentences)

    def _count(self, jobs: list[Job], sentences: list[Sentence]) -> None:
        self.metrics.add("biplanar_batches_total")
        self.metrics.add("biplanar_batch_requests_total", len(jobs))
        self.metrics.add("biplanar_sentences_total", len(sentences))
        self.metrics.add("biplanar_words_total", sum(map(len, sentences)))

    def _fail(self, job: Job, error: Exception) -> None:
        if isinstance(error, ERRORS_OF_REQUESTS):
            error = HTTPException(HTTPStatus.BAD_REQUEST, str(error))
        elif not isinstance(error, HTTPException):
            logger.error("a request failed", exc_info=error)
            self.metrics.add("biplanar_errors_total")
            error = HTTPException(
                HTTPStatus.INTERNAL_SERVER_ERROR, "this request failed through a fault of the server's"
            )
        job.settle(error)
