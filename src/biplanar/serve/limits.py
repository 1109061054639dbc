"""How much a server takes on."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What one request may ask for, and what all of them together may hold."""

    body_bytes: int = 4 * MEBIBYTE
    words: int = 100_000  # of one request
    sentence_words: int = 1_000
    drawn_words: int = 20_000  # of all trees of one request that are drawn, or that compete for a sentence
    best: int = 20  # trees of one sentence
    seconds: float = 60.0  # for a request to arrive, and again for its answer to be found
    queue: int = 256  # requests that are worked on or wait for it
    held_bytes: int = 64 * MEBIBYTE  # of all requests that arrive, wait or are worked on
    connections: int = 900  # below the thousand files that many systems let a process open
    batch_words: int = 4_000  # parsed together, whoever asked for them
