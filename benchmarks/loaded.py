"""What `biplanar parse` does with a file, with the model loaded beforehand."""

from __future__ import annotations

from functools import cached_property

from biplanar.bulk.task import Task, Work


class LoadedTask(Task):
    """A task that loads its model once: `parse_file` can be timed without loading."""

    @cached_property
    def work(self) -> Work:
        """The task with its model loaded."""
        return super().__call__()

    def __call__(self) -> Work:
        """The same model each time."""
        return self.work
