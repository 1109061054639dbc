"""Two worker threads for all requests: those that wait are parsed in one batch, and each gets its own answer.

The quick worker takes cheap requests. Those that turn out to be expensive go to the slow worker, which does a bounded
part of each at a time. Network and search release the GIL, so neither worker waits for the other.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from http import HTTPStatus
from itertools import islice
from threading import Condition, Thread

from starlette.exceptions import HTTPException

from biplanar.serve import ServerConfig
from biplanar.serve.guard import Lease, Metrics
from biplanar.serve.jobs import Job, Parsing, RequestPlan
from biplanar.serve.responses import as_refusal, refusal

SMALL = 16 << 10  # bytes; larger requests go straight to the slow worker

# What a request may cost for the quick worker, and a batch of its requests. No word takes more than about a
# millisecond to parse.
QUICK_COST, QUICK_BATCH = 300, 800

# Seconds of rendering at a time, before another request gets its turn.
QUICK_SECONDS, SLOW_SECONDS = 0.2, 0.5

logger = logging.getLogger(__name__)


class Worker(Thread):
    """A thread with a queue of jobs, which it takes in batches.

    Of each job, `room` at a time is taken (plus one sentence), and a batch costs up to `most` (plus one job). Jobs that
    are not finished then go to the `slower` worker, if there is one.
    """

    def __init__(
        self, name: str, room: float, most: float, seconds: float, metrics: Metrics, *, slower: Worker | None = None
    ) -> None:
        super().__init__(name=f"biplanar-{name}", daemon=True)
        self._most = most
        self._room, self._seconds, self._metrics, self._slower = room, seconds, metrics, slower
        self._changed = Condition()
        self._queue: list[Job] = []  # a heap: the first one is due
        self._stopping = False
        self._busy_since: float | None = None

    def stop(self) -> None:
        """Finish the queued jobs, then end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self.join()

    def put(self, job: Job) -> None:
        """Add a job to the queue."""
        with self._changed:
            heappush(self._queue, job)
            self._changed.notify()

    def remove(self, job: Job) -> None:
        """Remove a job from the queue, if it is there."""
        with self._changed:
            if job in self._queue:
                self._queue.remove(job)
                heapify(self._queue)

    def is_well(self, seconds: float) -> bool:
        """Whether the thread is alive, and not busy with one batch for longer than that."""
        since = self._busy_since
        return self.is_alive() and (since is None or time.monotonic() - since <= seconds)

    # In the thread

    def run(self) -> None:
        """Work until it is stopped."""
        while self._wait_for_jobs():
            start = self._busy_since = time.monotonic()
            jobs = self._gather()
            self._parse_all(jobs)
            for job in jobs:
                self._render(job)
            self._busy_since = None
            self._metrics.work_seconds.inc(time.monotonic() - start)

    def _wait_for_jobs(self) -> bool:
        """Wait for a job; False if there is none and the worker is to stop."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._stopping)
            return bool(self._queue)

    def _take(self) -> Job | None:
        with self._changed:
            while self._queue:
                job = heappop(self._queue)
                if not job.over:
                    return job
        return None

    def _gather(self) -> list[Job]:
        """The jobs of the next batch: each has read a chunk, or is still rendering one."""
        jobs: list[Job] = []
        room = self._most
        while room > 0 and (job := self._take()):
            if not job.is_rendering and not self._read(job):
                continue
            jobs.append(job)
            room -= job.cost
        return jobs

    def _read(self, job: Job) -> bool:
        """Read a chunk; False if that failed, or if the job went to the slower worker."""
        try:
            job.read(self._room)
        except Exception as error:
            self._fail(job, error)
            return False
        if self._slower is not None and not (job.is_read and job.cost <= self._room):
            self._slower.put(job)
            return False
        return True

    def _parse_all(self, jobs: list[Job]) -> None:
        together: dict[Parsing, list[Job]] = {}
        for job in jobs:
            if job.parsing is not None:
                together.setdefault(job.parsing, []).append(job)
            elif not job.is_rendering:
                job.take([[(sentence, None)] for sentence in job.chunk])
        for parsing, group in together.items():
            if wanted := [job for job in group if not job.over]:
                self._parse(parsing, wanted)

    def _parse(self, parsing: Parsing, jobs: list[Job]) -> None:
        sentences = [sentence for job in jobs for sentence in job.chunk]
        try:
            trees = iter(parsing(sentences))
        except Exception as error:
            if len(jobs) == 1:
                self._fail(jobs[0], error)
            else:  # parsed one by one, only the request that caused the error fails
                for job in jobs:
                    self._parse(parsing, [job])
            return
        for job in jobs:
            job.take(list(islice(trees, len(job.chunk))))
        self._metrics.batches.inc()
        self._metrics.batch_requests.inc(len(jobs))
        self._metrics.sentences.inc(len(sentences))
        self._metrics.words.inc(sum(map(len, sentences)))

    def _render(self, job: Job) -> None:
        if not job.over:
            try:
                job.render(self._seconds)
            except Exception as error:
                self._fail(job, error)
        if not job.over:
            (self._slower or self).put(job)

    def _fail(self, job: Job, error: Exception) -> None:
        answer = as_refusal(error)
        if answer is not error and answer.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
            logger.error("a request failed", exc_info=error)
            self._metrics.errors.inc()
        job.settle(answer)


class Batcher:
    """Hands requests from the event loop to the workers, and waits for their answers."""

    def __init__(self, config: ServerConfig, metrics: Metrics) -> None:
        self.config, self.metrics = config, metrics
        self.waiting: dict[Job, None] = {}  # the oldest first; touched on the event loop only
        self._slow = Worker("slow", config.batch_words, config.batch_words, SLOW_SECONDS, metrics)
        room, most = (min(cost, config.batch_words) for cost in (QUICK_COST, QUICK_BATCH))
        self._quick = Worker("quick", room, most, QUICK_SECONDS, metrics, slower=self._slow)
        self._workers = (self._quick, self._slow)

    def start(self) -> None:
        """Start the workers."""
        for worker in self._workers:
            worker.start()

    def stop(self) -> None:
        """Finish the queued jobs, then stop the workers."""
        for worker in self._workers:  # in this order, as the first gives work to the second
            worker.stop()

    @property
    def is_well(self) -> bool:
        """Whether both workers are alive, and not busy with one batch for longer than a request may take."""
        return all(worker.is_well(self.config.seconds) for worker in self._workers)

    async def submit(self, prepare: Callable[[], RequestPlan], size: int, lease: Lease) -> bytes:
        """Queue a request and wait for its answer, whose bytes the lease holds.

        If the caller is cancelled, the request leaves the queue.
        """
        self.check_room()
        job = Job(prepare, size, asyncio.get_running_loop().create_future(), lease, self.config)
        self.waiting[job] = None
        try:
            (self._quick if size <= SMALL else self._slow).put(job)
            return await asyncio.wait_for(job.answer, self.config.seconds)
        except TimeoutError:
            message = f"no answer within {self.config.seconds:g} seconds: ask for less at once"
            raise refusal(message, HTTPStatus.GATEWAY_TIMEOUT) from None
        finally:
            del self.waiting[job]
            if job.answer.cancelled():
                self._abandon(job)

    def check_room(self) -> None:
        """Refuse a request if the queue is full."""
        if len(self.waiting) >= self.config.queue:
            raise self.refusal_for_now(f"{len(self.waiting)} requests are waiting already")

    def refusal_for_now(self, reason: str) -> HTTPException:
        """A refusal whose Retry-After is how long the oldest request has waited."""
        oldest = next(iter(self.waiting), None)
        seconds = max(1, round(time.monotonic() - oldest.since)) if oldest else 1
        return refusal(f"{reason}: try again later", HTTPStatus.SERVICE_UNAVAILABLE, Retry_After=str(seconds))

    def _abandon(self, job: Job) -> None:
        self.metrics.abandoned.inc()
        job.over = True
        for worker in self._workers:
            worker.remove(job)
