"""Models of the hub, against a local server that speaks its protocol."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import biplanar
from biplanar.errors import BiplanarError, FileError
from biplanar.pipeline.card import licence_metadata
from biplanar.pipeline.model_folder import ModelFolder
from tests.commands import Run, check_refused_with
from tests.pipeline.hub_server import Hub, files_of, running_hub

pytest.importorskip("huggingface_hub", reason="no huggingface_hub: pip install '.[hub]'")

BUNDLED = ModelFolder.find().path
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    with running_hub() as hub:
        yield hub


@pytest.fixture
def hub(server: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A hub with one model; the cache and the working directory are empty."""
    from huggingface_hub import constants
    from huggingface_hub.utils import disable_progress_bars

    server.commits.clear()
    server.refs.clear()
    server.slow = 0.0
    server.commit("acme/english", files_of(BUNDLED))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
    point_to(server.address, monkeypatch)
    monkeypatch.chdir(tmp_path)
    server.requests.clear()
    with disable_progress_bars():
        yield server


def point_to(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What HF_ENDPOINT does when the library is imported."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")


def command(hub: Hub, *arguments: str, limit: int | None = None, **variables: str) -> subprocess.Popen[str]:
    """A command in a process of its own, which may not write files of more bytes than `limit`."""
    code = "from biplanar.cli import main; main()"
    if limit is not None:
        code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); {code}"
    environment = os.environ | {"HF_ENDPOINT": hub.address, "HF_HOME": "home"} | variables
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


class TestDownload:
    def test_a_model_is_downloaded_once_and_asked_for_once_from_then_on(self, hub, run: Run):
        assert len(biplanar.load("acme/english")("Nobody came.")) == 1
        assert sum(request.startswith("GET /acme/english/resolve") for request in hub.requests) == 13
        hub.requests.clear()
        assert run("parse", "--text", "Nobody came.", "-m", "acme/english").out.count("\tnsubj\t") == 1
        assert hub.requests == ["GET /api/models/acme/english"]

    def test_revisions_are_branches_tags_and_commits(self, hub):
        changed = files_of(BUNDLED) | {"README.md": b"# Version 2\n"}
        second = hub.commit("acme/english", changed, "v2")
        first = hub.refs["acme/english"]["main"]
        for name, commit in {"acme/english": first, "acme/english@v2": second, f"acme/english@{first}": first}.items():
            assert biplanar.load(name).folder.path.name == commit
        parser = biplanar.Parser.from_pretrained("acme/english", revision="v2")
        assert parser.folder.card.read_text(encoding="utf-8") == "# Version 2\n"

    def test_a_branch_that_has_moved_is_downloaded_again(self, hub):
        old = biplanar.load("acme/english").folder.path
        new = hub.commit("acme/english", files_of(BUNDLED) | {"README.md": b"# Version 2\n"})
        assert old.name != biplanar.load("acme/english").folder.path.name == new

    def test_pickled_is_the_commit(self, hub):
        parser = biplanar.load("acme/english")
        hub.commit("acme/english", files_of(BUNDLED) | {"README.md": b"# Version 2\n"})
        hub.requests.clear()
        assert pickle.loads(pickle.dumps(parser)).folder == parser.folder
        assert not hub.requests

    def test_workers_use_one_commit(self, hub, run: Run):
        Path("text.txt").write_text("Nobody came.\n", encoding="utf-8")
        assert run("parse", "text.txt", "-m", "acme/english").code == 0
        assert len([one for one in hub.requests if one == "GET /api/models/acme/english"]) == 1

    def test_a_folder_comes_first(self, hub):
        parser = biplanar.load()
        parser.save_pretrained("acme/english")
        assert biplanar.load("acme/english").folder.path == Path("acme/english")
        assert biplanar.Parser.from_pretrained("acme/english").folder.path == Path("acme/english")
        assert not hub.requests
        with pytest.raises(FileError, match="files in this folder already"):
            parser.save_pretrained("acme/english")

    def test_two_processes_at_once(self, hub):
        hub.slow = 0.05
        both = [command(hub, "download", "acme/english") for _ in range(2)]
        (code, out, _), other = map(ended, both)
        assert code == 0
        assert other[:2] == (code, out)
        ModelFolder(Path(out.strip())).verify_all()

    def test_a_killed_download_is_completed_by_the_next(self, hub):
        hub.slow = 0.3
        process = command(hub, "download", "acme/english")
        while not any(request.startswith("GET /acme/english/resolve") for request in hub.requests):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert ended(process)[0] == -signal.SIGKILL
        hub.slow = 0.0
        with pytest.raises(FileError, match="not in the cache"):
            biplanar.Parser.from_pretrained("acme/english", local_files_only=True)
        biplanar.load("acme/english").folder.verify_all()
        assert biplanar.Parser.from_pretrained("acme/english", local_files_only=True)

    def test_a_full_disk(self, hub):
        code, out, err = ended(command(hub, "download", "acme/english", limit=200_000))
        assert (code, out) == (2, "")
        assert err.endswith("File too large\n")
        code, out, _ = ended(command(hub, "download", "acme/english"))
        assert code == 0
        assert biplanar.load(Path(out.strip()))

    def test_a_damaged_file_is_refused(self, hub, run: Run):
        hub.commit("acme/english", files_of(BUNDLED) | {"lemmas.json": b"{}"})
        check_refused_with(run("download", "acme/english"), "lemmas.json: the file is damaged")
        with pytest.raises(FileError, match=r"lemmas\.json: the file is damaged"):
            biplanar.load("acme/english")

    def test_a_missing_file_is_refused(self, hub, run: Run):
        files = files_of(BUNDLED)
        del files["int8/known.npz"]
        hub.commit("acme/english", files)
        check_refused_with(run("download", "acme/english"), "known.npz: the file is missing")


class TestOffline:
    @pytest.mark.usefixtures("hub")
    def test_what_is_in_the_cache_needs_no_hub(self, monkeypatch):
        from huggingface_hub import constants

        biplanar.load("acme/english")
        point_to(NOWHERE, monkeypatch)
        assert biplanar.load("acme/english")
        assert biplanar.Parser.from_pretrained("acme/english", local_files_only=True)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        assert biplanar.load("acme/english")

    def test_the_variables_of_the_hub_hold(self, hub):
        assert ended(command(hub, "download", "acme/english"))[0] == 0
        hub.requests.clear()
        code, out, _ = ended(command(hub, "models", "--json", HF_ENDPOINT=NOWHERE))
        assert code == 0
        listed = [(one["name"], one["kind"]) for one in json.loads(out) if one["kind"] != "installed"]
        assert listed == [("en", "bundled"), ("acme/english@main", "cached")]
        code, out, _ = ended(command(hub, "download", "acme/english", HF_HUB_OFFLINE="1"))
        assert code == 0
        assert Path(out.strip()).is_relative_to(Path("home").resolve())
        assert not hub.requests


class TestRefused:
    @pytest.mark.parametrize(
        ("name", "part"),
        [
            ("acme/german", "no such folder, and no such model on http"),
            ("acme/english@v7", "acme/english: no revision 'v7'"),
            ("acme/pictures", "not a model of Biplanar: it has no config.toml"),
        ],
    )
    def test_names(self, hub, run: Run, name, part):
        hub.commit("acme/pictures", {"config.json": b"{}", "model.safetensors": b"0" * 1000})
        check_refused_with(run("parse", "--text", "No.", "-m", name), part)
        check_refused_with(run("download", name), part)
        assert not any("/resolve/" in request for request in hub.requests)

    def test_what_is_no_name_of_the_hub(self, hub, run: Run):
        check_refused_with(run("download", "english"), "english: not the name of a model of the hub")
        check_refused_with(run("parse", "--text", "No.", "-m", "a/b/c"), "a/b/c: not a model folder")
        assert not hub.requests

    @pytest.mark.usefixtures("hub")
    def test_no_network(self, run: Run, monkeypatch):
        point_to(NOWHERE, monkeypatch)
        check_refused_with(run("download", "acme/english"), "Connection refused")

    @pytest.mark.usefixtures("hub")
    def test_downloads_switched_off(self, run: Run, monkeypatch):
        from huggingface_hub import constants

        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        check_refused_with(run("download", "acme/english"), "downloads are switched off")

    @pytest.mark.usefixtures("hub")
    def test_without_the_extra(self, run: Run, monkeypatch):
        monkeypatch.setitem(sys.modules, "huggingface_hub", None)
        check_refused_with(run("parse", "--text", "No.", "-m", "acme/english"), "no such folder; a model of the")
        check_refused_with(run("download", "acme/english"), "needs the extra 'hub'")
        assert "bundled" in run("models").out


class TestEncoders:
    """Pre-trained encoders, which a training fetches by their names."""

    @pytest.fixture(autouse=True)
    def encoder(self, hub: Hub, tmp_path: Path) -> None:
        """One with files beside it that could hold code."""
        pretrained = pytest.importorskip("tests.tagger.pretrained", reason="no transformers", exc_type=ImportError)
        own = {"code.py": b"raise SystemExit", "pytorch_model.bin": b"pickle"}
        hub.commit("acme/encoder", files_of(pretrained.write_bert(tmp_path / "bert")) | own)

    def find(self, name: str, *, local_files_only: bool = False) -> Path:
        from biplanar.tagger.encoders.transformer import find_pretrained

        find_pretrained.cache_clear()
        return find_pretrained(name, local_files_only)

    def test_neither_code_nor_pickles_are_fetched(self):
        files = {path.name for path in self.find("acme/encoder").iterdir()}
        assert files == {"config.json", "tokenizer.json", "model.safetensors"}

    def test_what_is_in_the_cache_needs_no_hub(self, hub, monkeypatch):
        from huggingface_hub import constants

        folder = self.find("acme/encoder")
        hub.requests.clear()
        assert self.find("acme/encoder", local_files_only=True) == folder
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        assert self.find("acme/encoder") == folder
        assert not hub.requests
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        point_to(NOWHERE, monkeypatch)
        assert self.find("acme/encoder") == folder

    def test_names(self, monkeypatch):
        with pytest.raises(FileError, match="acme/nothing: no such folder, and no such model on http"):
            self.find("acme/nothing")
        with pytest.raises(FileError, match=r"acme/nothing: .*not in the cache, and downloads are switched off"):
            self.find("acme/nothing", local_files_only=True)
        point_to(NOWHERE, monkeypatch)
        with pytest.raises(FileError, match=r"acme/nothing: .*Connection refused"):
            self.find("acme/nothing")


class TestUpload:
    def test_what_is_uploaded_can_be_downloaded(self, hub):
        parser = biplanar.load()
        assert parser.push_to_hub("acme/pushed", token="hf_test").startswith(f"{hub.address}/acme/pushed/commit/")
        again = biplanar.load("acme/pushed")
        again.folder.verify_all()
        assert files_of(again.folder.path).keys() == files_of(BUNDLED).keys()

    def test_the_card_tells_the_hub_what_was_passed(self, hub):
        metadata = uploaded_metadata(hub, licence="GNU GPL 3.0", language=["en"])
        assert metadata["license"] == "gpl-3.0"
        assert metadata["language"] == ["en"]
        assert metadata["library_name"] == "biplanar"
        assert metadata["pipeline_tag"] == "token-classification"
        assert uploaded_metadata(hub)["license"] == "cc-by-sa-4.0"  # that of the bundled model's card

    def test_a_model_without_a_licence_is_refused(self, hub, tmp_path):
        folder = ModelFolder(BUNDLED).copy_to(tmp_path / "model")
        folder.card.write_text("# A model\n", encoding="utf-8")
        with pytest.raises(BiplanarError, match="licence"):
            biplanar.load(folder.path).push_to_hub("acme/pushed", token="hf_test")
        assert not hub.requests

    @pytest.mark.usefixtures("hub")
    def test_without_a_token(self):
        with pytest.raises(FileError, match="hf auth login"):
            biplanar.load().push_to_hub("acme/pushed", token="wrong")


def uploaded_metadata(hub: Hub, **options: Any) -> dict[str, Any]:
    from huggingface_hub import ModelCard

    biplanar.load().push_to_hub("acme/pushed", token="hf_test", **options)
    return ModelCard(hub.files("acme/pushed")["README.md"].decode()).data.to_dict()


@pytest.mark.parametrize(
    ("licence", "metadata"),
    [
        ("CC BY-SA 4.0", {"license": "cc-by-sa-4.0"}),
        ("LGPL-LR", {"license": "lgpl-lr"}),
        ("Licence of the House", {"license": "other", "license_name": "licence-of-the-house"}),
        ("not stated", {}),
    ],
)
def test_licences_as_the_hub_calls_them(licence, metadata):
    assert licence_metadata(licence) == metadata
