"""Metrics in Prometheus' text format."""

from __future__ import annotations

from biplanar.serve.guard import Metrics


def test_each_server_has_its_own():
    one, other = Metrics(), Metrics()
    one.words.inc(3)
    assert b"\nbiplanar_words_total 3.0\n" in one.text()
    assert b"\nbiplanar_words_total 0.0\n" in other.text()


def test_requests_have_labels_and_times():
    metrics = Metrics()
    metrics.requests.labels("/", "404").inc(2)
    metrics.request_seconds.labels("/").observe(0.5)
    text = metrics.text()
    assert b'biplanar_requests_total{path="/",status="404"} 2.0\n' in text
    assert b'biplanar_request_seconds_bucket{le="1.0",path="/"} 1.0\n' in text
    assert b"_created" not in text
