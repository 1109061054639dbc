"""Large texts are tokenized in another process: UDPipe holds the interpreter's lock until it finds a sentence's end.

In this process, text without such ends would hold up all threads, and with them all clients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from biplanar.bulk.processes import WorkerProcess
from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.errors import UnfinishedError
from biplanar.tokenizer.paragraphs import paragraphs_of, spaces_after
from biplanar.tokenizer.segmenter import Segmenter, shift_numbers

CHARACTERS_AT_ONCE = 20_000  # after which other requests may have their turn
ATTEMPTS = 2

Chunk = tuple[list[str], dict[str, Any]]  # paragraphs of a text, and the options of `Segmenter.to_conllu`


def load_tokenizer(path: Path) -> Callable[[Chunk], str]:
    """Load the model in the other process; what is returned tokenizes."""
    segmenter = Segmenter.load(path)
    return lambda chunk: segmenter.to_conllu(chunk[0], **chunk[1])


class TokenizerProcess:
    """A process that tokenizes for this one, started when it is first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._worker: WorkerProcess[Chunk] | None = None

    def stream(self, text: str, *, presegmented: bool = False, **options: bool) -> Iterator[Sentence]:
        """The sentences of a text, as `Segmenter.stream` gives them, with its options."""
        before, start, count = "", 0, 0
        options["presegmented"] = presegmented
        for paragraphs in paragraphs_of([text], presegmented=presegmented, size=CHARACTERS_AT_ONCE):
            chunk = paragraphs, {"before": before, "start": start, **options}
            if conllu := shift_numbers(self._tokenize(chunk), count):
                sentences = parse_conllu(conllu)
                count += len(sentences)
                yield from sentences
            before = spaces_after(before, paragraphs)
            start += sum(map(len, paragraphs))

    def _tokenize(self, chunk: Chunk) -> str:
        with self._lock:
            for _ in range(ATTEMPTS):
                self._worker = self._worker or WorkerProcess(partial(load_tokenizer, self._path), threads=1)
                self._worker.give(0, chunk)
                try:
                    answer = self._worker.take()
                except EOFError:
                    self._stop()
                    continue
                if isinstance(answer, Exception):
                    raise answer
                return str(answer)
        raise UnfinishedError("the process that tokenizes has ended twice before its answer")

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
