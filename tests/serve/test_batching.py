"""Requests that are worked on together: with parsers that do what a test wants of them."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from starlette.exceptions import HTTPException

from biplanar.data.conllu import Sentence
from biplanar.data.tree import Tree
from biplanar.errors import BiplanarError, LabelError
from biplanar.pipeline.options import ParseOptions
from biplanar.serve import ServerConfig, batching, jobs
from biplanar.serve.batching import QUICK_COST, SMALL, Batcher
from biplanar.serve.guard import ByteBudget, Lease, Metrics
from biplanar.serve.jobs import Parsing, RequestPlan, Trees


class Parser:
    """Hangs all words on the first; notes what it got together, and waits where it is told to."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.started = threading.Event()

    def given(self, sentences: list[Sentence]) -> list[Sentence]:
        return sentences

    def parse(self, batch: list[Sentence], _: ParseOptions) -> SimpleNamespace:
        return SimpleNamespace(sentences=lambda: self.parsed(batch))

    def parsed(self, batch: list[Sentence]) -> Iterator[Sentence]:
        self.batches.append([sentence.forms[0] for sentence in batch])
        self.started.set()
        assert self.may_go_on.wait(20)
        for sentence in batch:
            if "poison" in sentence.forms:
                raise LabelError("poison: expected food")
            if "bomb" in sentence.forms:
                raise ZeroDivisionError
            if "infinity" in sentence.forms:
                raise BiplanarError("the model's scores are not finite")
            size = len(sentence)
            yield sentence.with_tree(Tree((0,) + (1,) * (size - 1), ("root",) + ("dep",) * (size - 1)))


def request(parser: Parser, *sentences: str, decoder: str = "search", cost: float = 1.0) -> Callable[[], RequestPlan]:
    """A request for sentences, answered with each one's words and heads."""
    return lambda: RequestPlan(
        (Sentence.from_words(sentence.split()) for sentence in sentences),
        lambda trees: [json.dumps([*trees[0][0].forms, *trees[0][0].tree.heads]).encode() + b"\n"],
        parsing=Parsing(parser, ParseOptions(decoder)),
        cost=cost,
    )


def slow_request(rendered: list[int], pieces: int) -> Callable[[], RequestPlan]:
    """A request for one word that takes long to render; notes what it has rendered."""

    def render(_: Trees) -> Iterator[bytes]:
        for number in range(pieces):
            time.sleep(0.02)
            rendered.append(number)
            yield b"x"

    return lambda: RequestPlan(iter([Sentence.from_words(["word"])]), render)


def submit(batcher: Batcher, prepare: Callable[[], RequestPlan], size: int) -> Awaitable[bytes]:
    """Submit a request whose answer may have any size."""
    return batcher.submit(prepare, size, Lease(ByteBudget(1 << 30)))


@pytest.fixture
def parser():
    return Parser()


def run(test: Callable[[Batcher], object], **settings: object) -> Metrics:
    """Run a test on an event loop, with a worker beside it."""

    async def main() -> None:
        batcher.start()
        try:
            async with asyncio.timeout(30):
                await test(batcher)
        finally:
            await asyncio.to_thread(batcher.stop)

    batcher = Batcher(ServerConfig(**settings), Metrics())
    asyncio.run(main())
    return batcher.metrics


async def held_up(batcher: Batcher, parser: Parser) -> asyncio.Task[bytes]:
    """A request that the worker sits over until it may go on."""
    parser.may_go_on.clear()
    task = asyncio.create_task(submit(batcher, request(parser, "first"), 1))
    assert await asyncio.to_thread(parser.started.wait, 20)
    return task


class TestTogether:
    def test_what_waits_is_parsed_together_and_answers_are_not_mixed_up(self, parser):
        async def test(batcher):
            first = await held_up(batcher, parser)
            others = [asyncio.create_task(submit(batcher, request(parser, f"a{i} b", f"c{i}"), 1)) for i in range(50)]
            await asyncio.sleep(0.05)
            parser.may_go_on.set()
            assert await first == b'["first", 0]\n'
            for i, task in enumerate(others):
                assert await task == f'["a{i}", "b", 0, 1]\n["c{i}", 0]\n'.encode()

        metrics = run(test)
        assert [len(batch) for batch in parser.batches] == [1, 100]
        assert metrics.registry.get_sample_value("biplanar_batches_total") == 2
        assert metrics.registry.get_sample_value("biplanar_batch_requests_total") == 51
        assert metrics.registry.get_sample_value("biplanar_words_total") == 151

    def test_only_what_is_parsed_alike(self, parser):
        async def test(batcher):
            first = await held_up(batcher, parser)
            wanted = [("search", "s1"), ("greedy", "g1"), ("search", "s2")]
            tasks = [
                asyncio.create_task(submit(batcher, request(parser, name, decoder=decoder), 1))
                for decoder, name in wanted
            ]
            await asyncio.sleep(0.05)
            parser.may_go_on.set()
            assert [await task for task in tasks] == [f'["{name}", 0]\n'.encode() for _, name in wanted]
            await first

        run(test)
        assert parser.batches == [["first"], ["s1", "s2"], ["g1"]]

    def test_no_more_words_than_fit(self, parser):
        async def test(batcher):
            first = await held_up(batcher, parser)
            tasks = [asyncio.create_task(submit(batcher, request(parser, f"x{i} y z"), 1)) for i in range(5)]
            await asyncio.sleep(0.05)
            parser.may_go_on.set()
            await asyncio.gather(first, *tasks)

        run(test, batch_words=6)
        assert parser.batches == [["first"], ["x0", "x1"], ["x2", "x3"], ["x4"]]

    def test_smaller_requests_go_first_but_not_forever(self, parser, monkeypatch):
        now = [1000.0]
        for module in (batching, jobs):
            monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))

        async def test(batcher):
            first = await held_up(batcher, parser)
            tasks = [first]
            for seconds, name, size in ((0, "larger", 16_000), (1, "smaller", 100), (2, "late", 100)):
                now[0] += seconds
                tasks.append(asyncio.create_task(submit(batcher, request(parser, name), size)))
                await asyncio.sleep(0.05)
            parser.may_go_on.set()
            await asyncio.gather(*tasks)

        run(test, batch_words=1)
        assert parser.batches == [["first"], ["smaller"], ["larger"], ["late"]]

    def test_words_that_cost_more_count_for_more(self, parser):
        async def test(batcher):
            await submit(batcher, request(parser, "a a", "b b", "c c", cost=3), 1)

        run(test, batch_words=12)
        assert parser.batches == [["a", "b"], ["c"]]

    def test_large_requests_one_after_the_other(self, parser):
        async def test(batcher):
            first = await held_up(batcher, parser)
            tasks = [
                asyncio.create_task(submit(batcher, request(parser, *[f"{name}{i}" for i in range(4)]), SMALL + 1))
                for name in "ab"
            ]
            await asyncio.sleep(0.05)
            parser.may_go_on.set()
            await asyncio.gather(first, *tasks)

        run(test, batch_words=3)
        assert [name for batch in parser.batches for name in batch if name != "first"] == [
            *("a0", "a1", "a2", "a3"),
            *("b0", "b1", "b2", "b3"),
        ]
        assert max(map(len, parser.batches)) <= 4


class TestQuickAndSlow:
    @pytest.mark.parametrize(
        ("words", "cost", "size"), [(1, 1, SMALL + 1), (QUICK_COST + 1, 1, 1), (2, QUICK_COST / 2, 1)]
    )
    def test_what_takes_a_moment_does_not_wait_for_what_takes_longer(self, parser, words, cost, size):
        other = Parser()

        async def test(batcher):
            other.may_go_on.clear()
            slow = asyncio.create_task(submit(batcher, request(other, *["word"] * words, cost=cost), size))
            assert await asyncio.to_thread(other.started.wait, 20)
            assert await submit(batcher, request(parser, "quick"), 1) == b'["quick", 0]\n'
            assert not slow.done()
            other.may_go_on.set()
            assert (await slow).count(b"\n") == words

        run(test)

    def test_nor_for_what_turns_out_to_be_slow_to_read(self, parser, monkeypatch):
        monkeypatch.setattr(jobs, "READING", 0.1)

        def slowly() -> RequestPlan:
            plan = request(parser, *"abcdef")()
            return replace(plan, sentences=(time.sleep(0.06) or sentence for sentence in plan.sentences))

        async def test(batcher):
            slow = asyncio.create_task(submit(batcher, slowly, 1))
            await asyncio.sleep(0.05)
            await submit(batcher, request(parser, "quick"), 1)
            assert not slow.done()
            assert (await slow).count(b"\n") == 6

        run(test)
        assert [name for batch in parser.batches for name in batch if name != "quick"] == list("abcdef")

    @pytest.mark.parametrize("size", [1, SMALL + 1])
    def test_nor_for_what_is_slow_to_render(self, parser, size):
        rendered: list[int] = []

        async def test(batcher):
            slow = asyncio.create_task(submit(batcher, slow_request(rendered, 50), size))
            await asyncio.sleep(0.05)
            await submit(batcher, request(parser, "quick"), 1)
            assert not slow.done()
            assert await slow == b"x" * 50

        run(test)
        assert rendered == list(range(50))

    def test_of_two_slow_ones_that_of_lower_cost_goes_first(self, parser):
        async def test(batcher):
            parser.may_go_on.clear()
            first = asyncio.create_task(submit(batcher, request(parser, *"abcd"), SMALL + 9000))
            assert await asyncio.to_thread(parser.started.wait, 20)
            second = asyncio.create_task(submit(batcher, request(parser, *"xy"), SMALL + 1))
            await asyncio.sleep(0.05)
            parser.may_go_on.set()
            await asyncio.gather(first, second)

        run(test, batch_words=2)
        assert parser.batches == [["a", "b"], ["x", "y"], ["c", "d"]]


class TestRefusals:
    def status(self, parser, *sentences, size=1, **settings):
        caught = []

        async def test(batcher):
            with pytest.raises(HTTPException) as error:
                await submit(batcher, request(parser, *sentences), size)
            caught.append(error.value)

        run(test, **settings)
        return caught[0].status_code, caught[0].detail

    def test_a_long_sentence(self, parser):
        assert self.status(parser, "a b c", sentence_words=2)[0] == 400

    def test_too_many_words(self, parser):
        assert self.status(parser, "a b", "c d", words=3)[0] == 413

    def test_a_long_word(self, parser):
        assert self.status(parser, "a bcd", word_characters=2)[0] == 400

    def test_a_large_answer(self, parser):
        assert self.status(parser, "a", "b", answer_bytes=15)[0] == 413

    def test_answers_that_wait_to_be_read(self, parser):
        budget = ByteBudget(25)

        async def test(batcher):
            unread = Lease(budget)
            assert await batcher.submit(request(parser, "a", "b"), 1, unread)
            with pytest.raises(HTTPException) as error:
                await batcher.submit(request(parser, "a"), 1, Lease(budget))
            assert (error.value.status_code, error.value.headers["Retry-After"]) == (503, "1")
            unread.close()
            assert await batcher.submit(request(parser, "a"), 1, Lease(budget))

        run(test)

    def test_time_is_up(self, parser):
        async def test(batcher):
            parser.may_go_on.clear()
            with pytest.raises(HTTPException) as error:
                await submit(batcher, request(parser, "a"), 1)
            assert error.value.status_code == 504
            assert "within 0.1 seconds" in error.value.detail
            assert not batcher.is_well
            parser.may_go_on.set()
            assert await submit(batcher, request(parser, "b"), 1) == b'["b", 0]\n'
            assert batcher.is_well
            assert not batcher.waiting

        metrics = run(test, seconds=0.1)
        assert metrics.registry.get_sample_value("biplanar_abandoned_total") == 1

    def test_a_full_queue(self, parser):
        async def test(batcher):
            first = await held_up(batcher, parser)
            second = asyncio.create_task(submit(batcher, request(parser, "second"), 1))
            await asyncio.sleep(0.05)
            with pytest.raises(HTTPException) as error:
                await submit(batcher, request(parser, "third"), 1)
            assert error.value.status_code == 503
            assert int(error.value.headers["Retry-After"]) >= 1
            parser.may_go_on.set()
            await asyncio.gather(first, second)
            await submit(batcher, request(parser, "fourth"), 1)

        run(test, queue=2)
        assert parser.batches == [["first"], ["second"], ["fourth"]]

    def test_only_the_request_that_causes_an_error_fails(self, parser, caplog):
        async def test(batcher):
            first = await held_up(batcher, parser)
            texts = ["good", "poison", "fine", "bomb", "infinity"]
            tasks = [asyncio.create_task(submit(batcher, request(parser, text), 1)) for text in texts]
            await asyncio.sleep(0.05)
            parser.may_go_on.set()
            good, poison, fine, bomb, infinity = await asyncio.gather(*tasks, return_exceptions=True)
            assert (good, fine) == (b'["good", 0]\n', b'["fine", 0]\n')
            assert (poison.status_code, poison.detail) == (400, "poison: expected food")
            assert (bomb.status_code, bomb.detail) == (500, "internal server error")
            assert (infinity.status_code, infinity.detail) == (500, "the model's scores are not finite")
            await first

        metrics = run(test)
        assert "ZeroDivisionError" in caplog.text
        assert metrics.registry.get_sample_value("biplanar_errors_total") == 2

    def test_a_request_that_fails_in_the_middle_is_not_gone_on_with(self, parser):
        assert self.status(parser, "a", "poison", "b", "c", size=SMALL + 1, batch_words=2)[0] == 400
        assert parser.batches == [["a", "poison"]]

    @pytest.mark.parametrize("stage", ["prepare", "render", "closing"])
    def test_faults_elsewhere(self, parser, stage, caplog):
        def fail(*_: object) -> None:
            raise ZeroDivisionError(stage)

        def prepare() -> RequestPlan:
            return replace(request(parser, "a")(), **{stage: fail})

        async def test(batcher):
            with pytest.raises(HTTPException) as error:
                await submit(batcher, fail if stage == "prepare" else prepare, 1)
            assert error.value.status_code == 500
            assert await submit(batcher, request(parser, "b"), 1) == b'["b", 0]\n'

        run(test)
        assert f"ZeroDivisionError: {stage}" in caplog.text


class TestLeaving:
    def test_who_leaves_is_not_worked_for(self, parser):
        async def test(batcher):
            first = await held_up(batcher, parser)
            left = asyncio.create_task(submit(batcher, request(parser, "left"), 1))
            stays = asyncio.create_task(submit(batcher, request(parser, "stays"), 1))
            await asyncio.sleep(0.05)
            left.cancel()
            await asyncio.sleep(0.05)
            parser.may_go_on.set()
            assert await stays == b'["stays", 0]\n'
            await first
            assert not batcher.waiting

        metrics = run(test)
        assert parser.batches == [["first"], ["stays"]]
        assert metrics.registry.get_sample_value("biplanar_abandoned_total") == 1

    def test_also_in_the_middle_of_a_large_request(self, parser):
        async def test(batcher):
            parser.may_go_on.clear()
            large = asyncio.create_task(submit(batcher, request(parser, *"abcdef"), SMALL + 1))
            assert await asyncio.to_thread(parser.started.wait, 20)
            large.cancel()
            await asyncio.sleep(0.05)
            parser.may_go_on.set()

        run(test, batch_words=2)
        assert parser.batches == [["a", "b"]]

    @pytest.mark.parametrize("size", [1, SMALL + 1])
    def test_also_while_it_is_rendered(self, parser, size):
        rendered: list[int] = []

        async def test(batcher):
            slow = asyncio.create_task(submit(batcher, slow_request(rendered, 500), size))
            while len(rendered) < 3:
                await asyncio.sleep(0.01)
            slow.cancel()
            await submit(batcher, request(parser, "next"), size)

        run(test)
        assert 3 <= len(rendered) < 500

    def test_the_end_comes_after_all_answers(self, parser):
        async def main() -> None:
            batcher.start()
            first = await held_up(batcher, parser)
            others = [asyncio.create_task(submit(batcher, request(parser, "a"), 1)) for _ in range(3)]
            await asyncio.sleep(0.05)
            stopping = asyncio.create_task(asyncio.to_thread(batcher.stop))
            await asyncio.sleep(0.05)
            assert not stopping.done()
            parser.may_go_on.set()
            assert await asyncio.gather(*others) == [b'["a", 0]\n'] * 3
            await asyncio.gather(first, stopping)
            assert not batcher.is_well

        batcher = Batcher(ServerConfig(), Metrics())
        asyncio.run(main())
