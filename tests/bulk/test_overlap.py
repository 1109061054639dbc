"""Reading ahead and writing behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import count

import pytest

from biplanar.bulk.engines import overlap


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@pytest.mark.parametrize("beside", [1, 2, 3])
@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_all_is_computed_and_written_in_order(ahead, size, beside):
    written: list[int] = []
    overlap(range(size), lambda item: item * item, written.append, ahead=ahead, beside=beside)
    assert written == [item * item for item in range(size)]


def test_only_this_thread_computes():
    threads: dict[str, set[threading.Thread]] = {"read": set(), "compute": set(), "write": set()}

    def note(what: str) -> None:
        threads[what].add(threading.current_thread())

    overlap((note("read") for _ in range(5)), lambda _: note("compute"), lambda _: note("write"))
    assert threads["compute"] == {threading.main_thread()}
    assert threading.main_thread() not in threads["read"] | threads["write"]


def test_the_next_is_read_while_this_is_computed_and_the_last_is_written():
    """Everyone waits for the others to be at work: one after the other, none would ever get further."""
    together = threading.Barrier(3, timeout=20)

    def items() -> Iterator[int]:
        for item in range(6):
            if item >= 2:
                together.wait()
            yield item

    def compute(item: int) -> int:
        if 1 <= item <= 4:
            together.wait()
        return item

    written: list[int] = []

    def write(item: int) -> None:
        if item <= 3:
            together.wait()
        written.append(item)

    overlap(items(), compute, write)
    assert written == list(range(6))


def test_items_are_computed_side_by_side():
    together = threading.Barrier(2, timeout=20)
    written: list[int] = []

    def compute(item: int) -> int:
        together.wait()
        return item

    overlap(range(6), compute, written.append, beside=2)
    assert written == list(range(6))


def test_little_is_read_ahead():
    taken, written = [], []

    def items() -> Iterator[int]:
        for item in count():
            taken.append(item)
            yield item

    def compute(item: int) -> int:
        assert len(taken) <= item + 2
        assert len(written) >= item - 2
        if item == 20:
            raise KeyboardInterrupt
        return item

    with pytest.raises(KeyboardInterrupt):
        overlap(items(), compute, written.append)
    assert written == list(range(20))


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("beside", [1, 2])
@pytest.mark.parametrize("what", ["read", "compute", "write"])
def test_what_goes_wrong_is_raised_once_and_all_before_it_is_written(what, ahead, beside):
    written: list[int] = []

    def stumble(at: str, item: int) -> int:
        if at == what and item == 3:
            raise ValueError(f"{at} {item}")
        return item

    def write(item: int) -> None:
        written.append(stumble("write", item))

    items = (stumble("read", item) for item in range(9))
    with pytest.raises(ValueError, match=f"^{what} 3$"):
        overlap(items, lambda item: stumble("compute", item), write, ahead=ahead, beside=beside)
    assert written == [0, 1, 2]
