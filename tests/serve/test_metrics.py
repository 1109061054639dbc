"""Counters in Prometheus' text form."""

from __future__ import annotations

from threading import Thread

from biplanar.serve.metrics import BUCKETS, COUNTED, Metrics


def values(metrics: Metrics, **gauges: float) -> dict[str, float]:
    lines = metrics.text(gauges).splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


def test_all_are_explained_and_counters_start_at_nothing():
    text = Metrics().text({"biplanar_queue_requests": 3})
    for name, (kind, _) in COUNTED.items():
        assert f"# HELP {name} " in text
        assert f"# TYPE {name} {kind}\n" in text
    assert "\nbiplanar_words_total 0\n" in text
    assert "\nbiplanar_queue_requests 3\n" in text


def test_counters_have_labels():
    metrics = Metrics()
    metrics.add("biplanar_requests_total", path="/", status="200")
    metrics.add("biplanar_requests_total", 2, path="/", status="404")
    assert values(metrics)['biplanar_requests_total{path="/",status="404"}'] == 2
    assert metrics.total("biplanar_requests_total") == 3


def test_histograms_add_up():
    metrics = Metrics()
    for seconds in (0.001, 0.01, 0.5, 1e6):
        metrics.observe("biplanar_request_seconds", seconds, path="/")
    found = values(metrics)
    buckets = [found[f'biplanar_request_seconds_bucket{{path="/",le="{bound}"}}'] for bound in (*BUCKETS, "+Inf")]
    assert buckets == [2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4]
    assert found['biplanar_request_seconds_count{path="/"}'] == 4
    assert found['biplanar_request_seconds_sum{path="/"}'] == 1e6 + 0.511


def test_many_threads_lose_nothing():
    metrics = Metrics()
    threads = [Thread(target=lambda: [metrics.add("biplanar_words_total") for _ in range(2000)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert metrics.total("biplanar_words_total") == 16_000
