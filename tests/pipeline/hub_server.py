"""A local server that speaks the Hugging Face hub's protocol, as far as models are downloaded and uploaded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

Files = dict[str, bytes]


def files_of(folder: Path) -> Files:
    """What a folder holds, by path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@dataclass
class Hub:
    """Repositories with their commits."""

    address: str = ""
    commits: dict[str, dict[str, Files]] = field(default_factory=dict)  # by repository and commit
    refs: dict[str, dict[str, str]] = field(default_factory=dict)  # by repository and name
    requests: list[str] = field(default_factory=list)
    slow: float = 0.0  # seconds before each file

    def commit(self, repository: str, files: Files, *refs: str) -> str:
        """Add a commit, to which branches or tags point."""
        digest = hashlib.sha1()
        for name, content in sorted(files.items()):
            digest.update(name.encode() + content)
        self.commits.setdefault(repository, {})[digest.hexdigest()] = files
        self.refs.setdefault(repository, {}).update(dict.fromkeys(refs or ("main",), digest.hexdigest()))
        return digest.hexdigest()

    def files(self, repository: str, revision: str = "main") -> Files:
        """What a revision holds."""
        return self.commits[repository][self.refs[repository].get(revision, revision)]


def handler_of(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            hub.requests.append(f"{self.command} {self.path}")
            path = self.path.partition("?")[0]
            if match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
                self.send_file(*match.groups())
            elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)", path):
                if found := self.find(*match.groups()):
                    self.send_json(
                        [
                            {
                                "type": "file",
                                "path": name,
                                "size": len(content),
                                "oid": hashlib.sha1(content).hexdigest(),
                            }
                            for name, content in found[1].items()
                        ]
                    )
            elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/([^/]+))?", path):
                if found := self.find(match[1], match[2] or "main"):
                    siblings = [{"rfilename": name} for name in found[1]]
                    self.send_json({"id": match[1], "sha": found[0], "siblings": siblings})
            else:
                self.refuse("EntryNotFound")

        def do_POST(self) -> None:
            hub.requests.append(f"{self.command} {self.path}")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path == "/api/validate-yaml":
                self.send_json({"errors": [], "warnings": []})
            elif self.headers.get("Authorization") != "Bearer hf_test":
                self.refuse("RepoNotFound", 401)
            elif self.path == "/api/repos/create":
                wanted = json.loads(body)
                repository = f"{wanted['organization']}/{wanted['name']}"
                hub.refs.setdefault(repository, {})
                self.send_json({"url": f"{hub.address}/{repository}"})
            elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/preupload/([^/?]+).*", self.path):
                names = [file["path"] for file in json.loads(body)["files"]]
                self.send_json({"files": [{"path": n, "uploadMode": "regular", "shouldIgnore": False} for n in names]})
            elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/commit/([^/?]+).*", self.path):
                entries = [json.loads(line) for line in body.splitlines()]
                values = [entry["value"] for entry in entries if entry["key"] == "file"]
                files = {value["path"]: base64.b64decode(value["content"]) for value in values}
                commit = hub.commit(match[1], files, match[2])
                self.send_json({"commitOid": commit, "commitUrl": f"{hub.address}/{match[1]}/commit/{commit}"})
            else:
                self.refuse("EntryNotFound")

        def find(self, repository: str, revision: str) -> tuple[str, Files] | None:
            if repository not in hub.commits:
                return self.refuse("RepoNotFound")
            commit = hub.refs[repository].get(revision, revision)
            if commit not in hub.commits[repository]:
                return self.refuse("RevisionNotFound")
            return commit, hub.commits[repository][commit]

        def send_file(self, repository: str, revision: str, name: str) -> None:
            if (found := self.find(repository, revision)) is None:
                return
            commit, files = found
            if name not in files:
                self.refuse("EntryNotFound", commit=commit)
                return
            time.sleep(hub.slow)
            content = files[name]
            self.send_response(200)
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", commit)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def refuse(self, code: str, status: int = 404, commit: str | None = None) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            if commit is not None:
                self.send_header("X-Repo-Commit", commit)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def send_json(self, value: Any) -> None:
            content = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler


@contextmanager
def running_hub() -> Iterator[Hub]:
    """A hub on a free port of this machine."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(hub))
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
