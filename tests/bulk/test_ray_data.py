"""Ray Data: the same bytes as in one process, whoever is killed. Ray starts once, which takes some seconds."""

from __future__ import annotations

import io
import os
import pickle
import random
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from biplanar.bulk import EngineConfig, Plan, Source, ThisProcess, make_engine, parse_files
from biplanar.bulk.ray_data import _Attempts, _cluster, _ray, _Worker
from biplanar.data.conllu import Sentence, read_conllu
from biplanar.errors import BiplanarError, UnfinishedError
from tests.bulk.corpus import CONLLU, task_of
from tests.bulk.pages import commands
from tests.commands import check_refused, check_refused_with

TASK = task_of(decoder="greedy")
CONFIG = EngineConfig(workers=2)
WORDS = "dog cat man river sees finds a the old very large near who ."

pytestmark = pytest.mark.filterwarnings("default")  # Ray's own


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A local cluster that all tests of this module use; its address."""
    ray = _ray()
    with _cluster(ray, CONFIG, threads=2):
        yield ray.get_runtime_context().gcs_address


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """20,000 generated sentences."""
    rng, words = random.Random(5), WORDS.split()
    path = tmp_path_factory.mktemp("corpus") / "x.conllu"
    sentences = (rng.choices(words, k=rng.randint(1, 5)) for _ in range(20_000))
    path.write_text(
        "".join(Sentence.from_words(one, comments=[f"# sent_id = {i}"]).raw for i, one in enumerate(sentences))
    )
    return path


@pytest.fixture(scope="module")
def wanted(corpus, tmp_path_factory) -> list[bytes]:
    """Its shards, made by this process."""
    plan = plan_of(corpus, tmp_path_factory.mktemp("one"))
    list(plan.run(ThisProcess()))
    return [Path(shard.path).read_bytes() for shard in plan.shards]


def plan_of(corpus: Path, folder: Path) -> Plan:
    return Plan.of(Source((corpus,)), folder, TASK, size=200_000)


def actors(ancestor: int) -> list[int]:
    """The workers of Ray that descend from a process and have loaded a model."""
    found = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]
    return [pid for pid in found if _is_actor(pid, ancestor)]


def _is_actor(pid: int, ancestor: int) -> bool:
    try:
        if not Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::MapWorker"):
            return False
        while pid not in (0, 1, ancestor):
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        return pid == ancestor
    except OSError:
        return False


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 240  # all of this may be slow on a busy machine
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to find workers in")
class TestKilled:
    def test_a_worker(self, cluster, corpus, wanted, tmp_path):  # noqa: ARG002
        killed = []

        def kill_one() -> None:
            wait_until(lambda: any(tmp_path.glob("x-*.conllu")) and any(tmp_path.glob(".biplanar-*")))
            killed.append(actors(os.getpid())[0])
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        plan = plan_of(corpus, tmp_path)
        done = [result.shard.path for result in plan.run(make_engine(CONFIG, "ray"))]
        killer.join()
        assert killed
        assert len(plan.shards) >= 8
        assert sorted(done) == [shard.path for shard in plan.shards]
        found = [Path(shard.path).read_bytes() for shard in plan.shards]
        assert found == wanted
        ids = [one.comment("sent_id") for shard in plan.shards for one in read_conllu(shard.path)]
        assert ids == [str(number) for number in range(20_000)]

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_the_driver(self, cluster, corpus, wanted, tmp_path, number):
        program = (
            "import sys; from tests.bulk.test_ray_data import *\n"
            "config = EngineConfig(2, address=sys.argv[1])\n"
            "list(plan_of(Path(sys.argv[2]), Path(sys.argv[3])).run(make_engine(config, 'ray')))"
        )
        command = [sys.executable, "-W", "ignore", "-c", program, cluster, corpus, tmp_path]
        with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as driver:
            wait_until(lambda: len(list(tmp_path.glob("x-*.conllu"))) > 1)
            driver.send_signal(number)
            assert driver.communicate(timeout=60)[1] == ""
        assert driver.returncode == -number if number == signal.SIGKILL else driver.returncode
        wait_until(lambda: not actors(os.getpid()))  # they end with their driver
        finished = {str(path): path.stat() for path in tmp_path.glob("x-*.conllu")}
        plan = plan_of(corpus, tmp_path)
        assert 1 < len(finished) < len(plan.shards)
        done = [result.shard.path for result in plan.run(make_engine(CONFIG, "ray"))]
        assert sorted([*done, *finished]) == [shard.path for shard in plan.shards]
        assert all(Path(path).stat() == before for path, before in finished.items())
        assert [Path(shard.path).read_bytes() for shard in plan.shards] == wanted
        assert not list(tmp_path.glob(".biplanar-*"))


def test_an_item_that_ends_its_workers_again_and_again_is_given_up(monkeypatch):
    monkeypatch.setattr("ray.get", lambda value: value)
    attempts, number = SimpleNamespace(begin=SimpleNamespace(remote=_Attempts().begin)), {"number": pa.array([1])}
    worker = _Worker(lambda: str, ["a", "b"], attempts, ".")
    answers = [pickle.loads(worker(number)["answer"][0].as_py()) for _ in range(4)]
    assert answers[:3] == ["b"] * 3
    with pytest.raises(UnfinishedError, match="3 workers died"):
        raise answers[3]


def test_errors_come_as_answers():
    attempts = SimpleNamespace(begin=SimpleNamespace(remote=_Attempts().begin))
    worker = _Worker(lambda: int, ["no number"], attempts, ".")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ray.get", lambda value: value)
        answer = pickle.loads(worker({"number": pa.array([0])})["answer"][0].as_py())
    with pytest.raises(RuntimeError, match=r"ValueError: invalid literal for int.*: 'no number'"):
        raise answer


def test_the_command_numbers_the_sentences_of_text(cluster, tmp_path, run, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr("biplanar.cli.parse.MEGABYTE", 500)
    (tmp_path / "x.txt").write_text("Nobody came. Why?\n\n" * 40)
    options = ("--engine", "ray", "--workers", 1, "--max-workers", 2, "--shard-size", 1, "--decoder", "greedy")
    result = run("parse", tmp_path / "x.txt", "--output-dir", tmp_path / "out", *options)
    assert result == (0, "", f"biplanar: 2 shards in {tmp_path / 'out'}\n")
    stream = io.BytesIO()
    parse_files(Source((tmp_path / "x.txt",)), stream, TASK)
    found = b"".join(path.read_bytes() for path in sorted((tmp_path / "out").glob("*.conllu")))
    assert found == stream.getvalue()


def test_the_command_in_the_docs(cluster, docs_folder, run, monkeypatch):  # noqa: ARG001
    monkeypatch.chdir(docs_folder)
    (line,) = commands("scale.md")
    assert run(*shlex.split(line)[1:]).code == 0
    assert sorted(path.name for path in docs_folder.glob("parsed/*")) == [
        ".plan.json",
        "corpus.conllu",
        "documents.conllu",
    ]
    assert len(list(read_conllu(docs_folder / "parsed" / "documents.conllu"))) == 3


class TestRefused:
    def test_without_a_folder(self, run):
        check_refused_with(run("parse", "--text", "Yes.", "--engine", "ray"), "--output-dir")
        with pytest.raises(BiplanarError, match="--output-dir"):
            parse_files(Source(text="Yes."), io.BytesIO(), TASK, make_engine(CONFIG, "ray"))

    def test_without_ray(self, run, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "ray.data", None)
        (tmp_path / "x.conllu").write_text(CONLLU)
        result = run("parse", tmp_path / "x.conllu", "--output-dir", tmp_path / "out", "--engine", "ray")
        check_refused_with(result, "--engine ray needs the extra 'ray'")

    def test_an_address_where_nobody_is(self, run, monkeypatch, tmp_path):
        monkeypatch.setattr("ray.is_initialized", lambda: False)
        (tmp_path / "x.conllu").write_text(CONLLU)
        options = ("--output-dir", tmp_path / "out", "--engine", "ray", "--address", "127.0.0.1:9")
        result = run("parse", tmp_path / "x.conllu", *options)
        check_refused_with(result, "no Ray cluster at 127.0.0.1:9")

    def test_its_options_without_it(self, run):
        message = "--max-workers, --gpus-per-worker and --address need --engine ray"
        check_refused(run("parse", "--text", "Yes.", "--gpus-per-worker", "0.5"), message)
