from __future__ import annotations

import pytest

from benchmarks.parsers import peers


def test_no_epoch_begins_that_would_end_too_late(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(peers.time, "monotonic", lambda: now[0])

    class Parser:
        epochs = 0

        def _train(self, loader):
            assert loader == "sentences"
            self.epochs += 1
            now[0] += 10

    parser = Parser()
    peers._stop_after(parser, 35)
    for _ in range(3):
        parser._train("sentences")
    with pytest.raises(peers.OutOfTimeError):
        parser._train("sentences")
    assert (parser.epochs, now[0]) == (3, 30.0)
