"""Reading ahead and writing behind while something is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_END = object()


def overlap(items: Iterable[T], compute: Callable[[T], R], write: Callable[[R], object], *, ahead: bool = True) -> None:
    """Compute with each item and write the result; meanwhile the next item is read and the last result written.

    The order is kept, and no more than an item and a result wait. The first thing that goes wrong, wherever it does, is
    raised when all before it has been written, and all threads have ended then. Only this thread computes. Without
    `ahead` it reads, too: from a terminal or a pipe, as a thread that waits for these could not be called back.
    """
    source = iter(items)
    with ThreadPoolExecutor(2) as pool:
        written: Future[object] | None = None
        for item in _read_ahead(source, pool) if ahead else source:
            result = compute(item)
            if written is not None:
                written.result()
            written = pool.submit(write, result)
        if written is not None:
            written.result()


def _read_ahead(source: Iterator[T], pool: ThreadPoolExecutor) -> Iterator[T]:
    future = pool.submit(next, source, _END)
    while (item := future.result()) is not _END:
        future = pool.submit(next, source, _END)
        yield item  # type: ignore[misc]  # whatever is not the end is an item
