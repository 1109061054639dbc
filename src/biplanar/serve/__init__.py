"""The server: a page to look at trees, a JSON interface, and the interface of UDPipe's own server."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class ServerConfig:
    """What one request may ask for, what all requests together may hold, and which hosts are served."""

    body_bytes: int = 4 * MEBIBYTE  # of one request
    words: int = 100_000  # of one request
    sentence_words: int = 1_000  # of one sentence
    word_characters: int = 1_000  # of one word
    drawn_words: int = 20_000  # of all trees of one request that are drawn, or asked for by `best`
    best: int = 20  # trees of one sentence
    answer_bytes: int = 32 * MEBIBYTE  # of one answer
    seconds: float = 60.0  # for a request to arrive, and again for its answer to be found
    queue: int = 256  # requests that are worked on or waiting
    held_bytes: int = 64 * MEBIBYTE  # of all requests that arrive, wait or are worked on
    unread_bytes: int = 128 * MEBIBYTE  # of all answers, until their clients have read them
    connections: int = 900  # at a time, below the thousand files that many systems let a process open
    batch_words: int = 2_000  # parsed together, from any number of requests
    allowed_hosts: tuple[str, ...] = ()  # names in a request's Host besides this machine's own
