"""A request from its body to its answer: what it asks for, and its state."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from biplanar.data.conllu import Sentence
from biplanar.pipeline.options import ParseOptions
from biplanar.pipeline.parser import Parser
from biplanar.serve import ServerConfig
from biplanar.serve.guard import Lease
from biplanar.serve.responses import refusal

# Cheap requests go first. Each is due later by its cost, so that expensive ones are delayed but never starve.
DELAY = 1 / 10_000  # seconds for each byte, times what a word of it costs

# Characters that cost as much as a word: drawing looks at each of them.
COSTLY_CHARACTERS = 100

# Seconds for reading sentences of one request: text can be slow to tokenize and yet have few words in it.
READING = 0.5

logger = logging.getLogger(__name__)

# Trees of one sentence, the decoder's first, with their log-probabilities where these are known.
Trees = list[tuple[Sentence, float | None]]


@dataclass(frozen=True)
class Parsing:
    """How sentences are parsed; sentences with the same value can share a batch."""

    parser: Parser
    options: ParseOptions
    kept: tuple[int, ...] = ()  # columns that stay as they were
    best: int = 1  # trees of each sentence

    def __call__(self, sentences: list[Sentence]) -> list[Trees]:
        """The sentences with their trees, and what else is predicted."""
        if not sentences:
            return []
        if self.best > 1:
            several = partial(self.parser.several_trees, wanted=self.best, options=self.options, chosen_first=True)
            return [[*several(sentence).trees] for sentence in sentences]
        parsed = self.parser.parse(self.parser.given(sentences), self.options).sentences()
        return [[(self._mixed(*pair), None)] for pair in zip(sentences, parsed, strict=True)]

    def _mixed(self, before: Sentence, after: Sentence) -> Sentence:
        return after.with_columns({number: before.column(number) for number in self.kept}) if self.kept else after


@dataclass(frozen=True)
class RequestPlan:
    """The sentences of a request, how to parse them, and how to render the answer.

    `render` yields the bytes that a sentence adds to the answer in small pieces: a worker may stop between them.
    """

    sentences: Iterator[Sentence]
    render: Callable[[Trees], Iterable[bytes]]
    opening: bytes = b""  # of the answer
    separator: bytes = b""  # of sentences
    closing: Callable[[], bytes] = bytes
    parsing: Parsing | None = None  # None: they are shown as they are
    most_words: int | None = None  # if fewer are allowed than for other requests
    cost: float = 1.0  # of a word, where 1 is what parsing it may take


class Job:
    """The state of a request: it reads a chunk, is given its trees, renders them, and reads the next.

    Only the worker that took it uses it; other threads only set `over`.
    """

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
        self.chunk: list[Sentence] = []  # read, not parsed yet
        self.cost = 0.0  # of what is read and not rendered yet
        self._prepare, self._lease, self._config = prepare, lease, config
        self._plan: RequestPlan | None = None  # until the request is read
        self._upcoming: Sentence | None = None  # the first one behind the chunk
        self._words = 0
        self._rendering: Iterator[bytes] | None = None
        self._rendered: list[bytes] = []

    def __lt__(self, other: Job) -> bool:
        """Whether it goes before another."""
        return self.due < other.due

    @property
    def is_read(self) -> bool:
        """Whether there is nothing left to read."""
        return self._plan is not None and self._upcoming is None

    @property
    def is_rendering(self) -> bool:
        """Whether it has the trees of its chunk."""
        return self._rendering is not None

    @property
    def parsing(self) -> Parsing | None:
        """How the chunk is to be parsed; None if it need not be."""
        return None if self._plan is None or self.is_rendering else self._plan.parsing

    def read(self, room: float) -> None:
        """Read the request, and sentences of it until they cost that much, or this has taken long."""
        until = time.monotonic() + READING
        if self._plan is None:
            self._plan = self._prepare()
            self.due = self.since + self.size * DELAY * self._plan.cost
            self._upcoming = next(self._plan.sentences, None)
        plan = self._plan
        while self._upcoming is not None and self.cost < room and not self.over:
            self._check(self._upcoming, self._config.words if plan.most_words is None else plan.most_words)
            self.chunk.append(self._upcoming)
            self.cost += plan.cost * _size(self._upcoming)
            self._upcoming = next(plan.sentences, None)
            if time.monotonic() > until:
                break

    def _check(self, sentence: Sentence, most_words: int) -> None:
        words, longest = len(sentence), max(map(len, sentence.forms), default=0)
        if words > self._config.sentence_words:
            raise refusal(f"a sentence has {words} words; at most {self._config.sentence_words} are allowed")
        if longest > self._config.word_characters:
            raise refusal(f"a word has {longest} characters; at most {self._config.word_characters} are allowed")
        self._words += words
        if self._words > most_words:
            message = f"too many words; at most {most_words} are allowed in a request of this kind"
            raise refusal(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    def take(self, trees: list[Trees]) -> None:
        """Take the trees of the chunk, to be rendered."""
        self.chunk, self._rendering = [], self._parts(trees)

    def _parts(self, parsed: list[Trees]) -> Iterator[bytes]:
        assert self._plan is not None
        for trees in parsed:
            if self._rendered:
                yield self._plan.separator
            yield from self._plan.render(trees)

    def render(self, seconds: float) -> None:
        """Render trees for about that many seconds; after the last ones, answer."""
        until = time.monotonic() + seconds
        assert self._plan is not None
        assert self._rendering is not None
        for part in self._rendering:
            self._keep(part)
            if self.over or time.monotonic() > until:
                return
        self.cost, self._rendering = 0.0, None
        if self.is_read:
            self.settle(b"".join([self._plan.opening, *self._rendered, self._plan.closing()]))

    def _keep(self, part: bytes) -> None:
        self._rendered.append(part)
        if self._lease.size + len(part) > self._config.answer_bytes:
            message = f"the answer is larger than {self._config.answer_bytes} bytes: ask for less at once"
            raise refusal(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if not self._lease.take(len(part)):
            message = "the server holds too many bytes of answers that are not read yet: try again later"
            raise refusal(message, HTTPStatus.SERVICE_UNAVAILABLE, Retry_After="1")

    def settle(self, outcome: bytes | Exception) -> None:
        """Hand the answer to the event loop, if a client still waits for it."""
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
            logger.debug("the server stopped before a request was answered")


def _size(sentence: Sentence) -> float:
    """The size in words; long words count for more."""
    return len(sentence) + sum(map(len, sentence.forms)) / COSTLY_CHARACTERS
