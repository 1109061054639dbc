"""Requests on their way from a body to an answer: what is to be done, and how far it is."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus

from biplanar.data.conllu import Sentence
from biplanar.pipeline.options import ParseOptions
from biplanar.pipeline.parser import Parser
from biplanar.serve.budget import Lease
from biplanar.serve.config import ServerConfig
from biplanar.serve.refusals import refusal

# Requests of lower cost go first, but not forever: each waits as if it had come so much later.
DELAY = 1 / 10_000  # seconds for each byte, times what a word of it costs

# Characters that cost as much as a word does. Drawing looks at each of them.
COSTLY_CHARACTERS = 100

# Seconds for reading sentences of one request: text can be slow to tokenize and yet have few words in it.
READING = 0.5

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Parsing:
    """How sentences are to be parsed; those for which it is the same can be parsed together."""

    parser: Parser
    options: ParseOptions
    kept: tuple[int, ...] = ()  # columns that stay as they were

    def __call__(self, sentences: list[Sentence]) -> list[Sentence]:
        """The sentences with their trees, and what else is predicted."""
        parsed = list(self.parser.pipe(sentences, self.options))
        if not self.kept:
            return parsed
        return [
            after.with_columns({number: before.column(number) for number in self.kept})
            for before, after in zip(sentences, parsed, strict=True)
        ]


@dataclass(frozen=True)
class RequestPlan:
    """What a request comes to: sentences, perhaps to be parsed, and how an answer is made of them.

    Sentences are read, parsed and rendered in chunks. `render` makes the pieces of the answer that a chunk adds, in
    steps that are short enough for something else to be done between them.
    """

    sentences: Iterator[Sentence]
    render: Callable[[list[Sentence]], Iterator[bytes]]
    opening: bytes = b""  # of the answer
    closing: Callable[[], bytes] = bytes
    parsing: Parsing | None = None
    most_words: int | None = None  # if fewer are allowed than for other requests
    cost: float = 1.0  # of a word, where 1 is what parsing it may take


class Job:
    """A request that is worked on. Only the worker that has taken it reads and writes it, but for `over`."""

    def __init__(
        self,
        prepare: Callable[[], RequestPlan],
        size: int,
        answer: asyncio.Future[bytes],
        lease: Lease,
        config: ServerConfig,
    ) -> None:
        self.size, self.answer = size, answer
        self.since = time.monotonic()
        self.due = self.since + size * DELAY
        self.over = False  # answered or abandoned
        self.chunk: list[Sentence] = []  # read, and not all rendered
        self.cost = 0.0  # of the chunk
        self._prepare, self._lease, self._config = prepare, lease, config
        self._plan: RequestPlan | None = None
        self._upcoming: Sentence | None = None  # the first one behind the chunk
        self._words = 0
        self._pieces: Iterator[bytes] | None = None  # those of the chunk that are still to be rendered
        self._rendered: list[bytes] = []
        self._rendered_bytes = 0

    def __lt__(self, other: Job) -> bool:
        """Whether it goes before another."""
        return self.due < other.due

    @property
    def plan(self) -> RequestPlan:
        """What to do; the request is read when this is first asked for."""
        if self._plan is None:
            self._plan = self._prepare()
            self.due = self.since + self.size * DELAY * self._plan.cost
            self._upcoming = next(self._plan.sentences, None)
        return self._plan

    @property
    def is_read(self) -> bool:
        """Whether the chunk is the last one."""
        return self._plan is not None and self._upcoming is None

    @property
    def is_rendering(self) -> bool:
        """Whether the chunk is parsed, and partly rendered."""
        return self._pieces is not None

    def read(self, room: float) -> None:
        """Read sentences until the chunk costs so much, or this has taken long."""
        until = time.monotonic() + READING
        plan = self.plan
        while self._upcoming is not None and self.cost < room and not self.over:
            self._check(self._upcoming, plan)
            self.chunk.append(self._upcoming)
            self.cost += plan.cost * _size(self._upcoming)
            self._upcoming = next(plan.sentences, None)
            if time.monotonic() > until:
                break

    def _check(self, sentence: Sentence, plan: RequestPlan) -> None:
        words, longest = len(sentence), max(map(len, sentence.forms), default=0)
        if words > self._config.sentence_words:
            raise refusal(f"expected sentences of at most {self._config.sentence_words} words, found one of {words}")
        if longest > self._config.word_characters:
            raise refusal(
                f"expected words of at most {self._config.word_characters} characters, found one of {longest}"
            )
        self._words += words
        most = self._config.words if plan.most_words is None else plan.most_words
        if self._words > most:
            message = f"expected at most {most} words in a request of this kind, found more"
            raise refusal(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    def render(self, seconds: float) -> None:
        """Render the chunk, for about so long at a time; if it was the last one, answer."""
        until = time.monotonic() + seconds
        if self._pieces is None:
            self._pieces = self.plan.render(self.chunk)
        for piece in self._pieces:
            self._keep(piece)
            if self.over or time.monotonic() > until:
                return
        self.chunk, self.cost, self._pieces = [], 0.0, None
        if self.is_read:
            self.settle(b"".join([self.plan.opening, *self._rendered, self.plan.closing()]))

    def _keep(self, piece: bytes) -> None:
        self._rendered.append(piece)
        self._rendered_bytes += len(piece)
        if self._rendered_bytes > self._config.answer_bytes:
            message = (
                f"expected an answer of at most {self._config.answer_bytes} bytes, found more: ask for less at once"
            )
            raise refusal(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if not self._lease.take(len(piece)):
            message = "other answers that wait to be read are too large together: try again later"
            raise refusal(message, HTTPStatus.SERVICE_UNAVAILABLE, Retry_After="1")

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


def _size(sentence: Sentence) -> float:
    """In words, where long ones count for more."""
    return len(sentence) + sum(map(len, sentence.forms)) / COSTLY_CHARACTERS
