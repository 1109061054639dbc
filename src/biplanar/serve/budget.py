"""Bytes that requests and answers hold, counted and bounded."""

from __future__ import annotations

from threading import Lock


class ByteBudget:
    """A number of bytes that may be held at a time. Any thread may use it."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self.lock = Lock()

    def lease(self) -> Lease:
        """A lease that holds nothing yet."""
        return Lease(self)


class Lease:
    """The bytes that one request holds of a budget, until it is closed."""

    def __init__(self, budget: ByteBudget) -> None:
        self._budget, self._size, self._closed = budget, 0, False

    def take(self, size: int) -> bool:
        """Hold some bytes more, if there is room for them; a closed lease has none."""
        with self._budget.lock:
            if self._closed or self._budget.held + size > self._budget.limit:
                return False
            self._size += size
            self._budget.held += size
            return True

    def close(self) -> None:
        """Give back all bytes."""
        with self._budget.lock:
            self._budget.held -= self._size
            self._size, self._closed = 0, True
