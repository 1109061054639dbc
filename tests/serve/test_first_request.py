"""The first request finds all loaded and compiled, as the next ones do."""

from __future__ import annotations

import json
import subprocess
import sys

# Asks a server that has just been loaded, and prints what each first request loads: modules and machine code.
SCRIPT = """
import asyncio, json, sys

import httpx

from biplanar import compiled
from biplanar.decoding import all_decoders
from biplanar.encodings import all_encodings
from biplanar.serve.app import create_app
from biplanar.serve.models import Models

TEXT = {"text": "A hearing is scheduled on the issue today. Nobody came."}
REQUESTS = [
    TEXT,
    {"words": [["Nobody", "came", "."]]},
    TEXT | {"best": 3},
    *(TEXT | {"decoder": name, "probabilities": True} for name in all_decoders()),
    *(TEXT | {"labels": name, "svg": True, "replay": True, "columns": "upos,feats"} for name in all_encodings()),
]

async def ask():
    app = create_app(Models.load([]))
    async with app.routes.router.lifespan_context(app.routes):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            await client.get("/healthz")
            load = compiled._Cache.load_overload
            code = []
            compiled._Cache.load_overload = lambda *given: code.append(given[0]._impl.filename_base) or load(*given)
            for request in REQUESTS:
                before = set(sys.modules)
                answer = await client.post("/api/parse", json=request)
                assert answer.status_code == 200, answer.text
                print(json.dumps([request, sorted(set(sys.modules) - before), code]))
                code.clear()

asyncio.run(ask())
"""


def test_nothing_is_left_to_load():
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
    requests = list(map(json.loads, found.splitlines()))
    assert len(requests) > 20
    assert [one for one in requests if one[1] or one[2]] == []
