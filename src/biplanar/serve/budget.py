"""Bytes that requests and answers hold, counted and bounded."""

from __future__ import annotations

from threading import Lock


class ByteBudget:
    """So many bytes may be held at a time. Any thread may use it."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self._lock = Lock()

    def lease(self) -> Lease:
        """What one request holds of it; nothing yet."""
        return Lease(self)

    def change(self, size: int) -> bool:
        """Hold so many bytes more, or fewer; says whether that is within the limit, and if not holds no more."""
        with self._lock:
            if size > 0 and self.held + size > self.limit:
                return False
            self.held += size
            return True


class Lease:
    """The bytes that one request holds of a budget, until it is closed."""

    def __init__(self, budget: ByteBudget) -> None:
        self._budget, self._size, self._closed = budget, 0, False
        self._lock = Lock()

    def take(self, size: int) -> bool:
        """Hold so many bytes more; says whether there was room, which there is not for a closed lease."""
        with self._lock:
            if self._closed or not self._budget.change(size):
                return False
            self._size += size
            return True

    def close(self) -> None:
        """Hold nothing any more."""
        with self._lock:
            self._budget.change(-self._size)
            self._size, self._closed = 0, True
