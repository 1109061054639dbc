"""What a result was measured with, so that a page never shows the figures of another recipe as today's.

A result keeps the release of its treebank, a digest of its settings, and the versions of the code that it depends on.
It is current if all of them are those that the plan gives today.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from study import treebanks

RELEASE = f"UD {treebanks.RELEASE}"

# Raised when a change of the code changes results. `arcs` is the search of networks with scores of pairs of words (2:
# arcs propose trees), `labels` the search of labels alone, `greedy` each decoder that takes the best labels.
CODE = {"network": 1, "greedy": 1, "labels": 1, "arcs": 2, "minimum-risk": 2, "biaffine": 1}

# The version of each decoder, with a digest of its trees for a few sentences by the bundled model: a test fails when
# they change.
PROBES = {
    "greedy": (1, "558f47493b43"),
    "labels": (1, "fcb24b2fcdc6"),
    "arcs": (2, "fcb24b2fcdc6"),
    "minimum-risk": (2, "fcb24b2fcdc6"),
}

# Settings that change no result: what is looked at on the way, and what needs teachers or vectors.
_IGNORED = {
    *("training.evaluations", "training.patience", "training.segmenter_epochs", "training.taught"),
    *("vocabulary.vectors_limit", "network.arc_dim", "auxiliary.arc_dim"),
}
_NEEDS = {  # settings that count only where another is on
    "auxiliary.relation_dim": "auxiliary.relations",
    "auxiliary.depths": "network.depths",
    "auxiliary.columns": "network.columns",
    "network.column_forms": "network.columns",
    "network.column_hidden": "network.columns",
}
UPDATES = 4500  # of results that do not name them
_OFF = (None, 0, False, "", "auto", "none")


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that change results, as `section.key`; those that are off, none or automatic are left out."""
    flat = {
        f"{section}.{key}": value
        for section in ("network", "auxiliary", "training", "vocabulary")
        for key, value in config.get(section, {}).items()
    }
    flat.setdefault("network.encoder", "bilstm")
    if flat["network.encoder"] != "transformer":
        flat.pop("network.transformer", None)
    on = {name: value for name, value in flat.items() if value not in _OFF and name not in _IGNORED}
    kept = {name: value for name, value in on.items() if _NEEDS.get(name, name) in on}
    if "training.epochs" in kept or kept.get("training.updates") == UPDATES:
        kept.pop("training.updates", None)  # which says how many epochs there are
    return {"encoding": config["encoding"], **dict(sorted(kept.items()))}


def digest(value: Any) -> str:
    """A short digest of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def fingerprint(config: Mapping[str, Any], decoders: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Of a run with these settings, by today's code unless other versions are given."""
    return {"data": RELEASE, "settings": digest(settings_of(config)), "code": dict(decoders or CODE)}


def model_digest(folder: Path) -> str:
    """Of what decides a model's output: network, vocabulary, lemmas and tokenizer."""
    names = (
        "vocab.json",
        "lemmas.json",
        "segmenter/vocab.json",
        "segmenter/multiword.json",
        "segmenter/int8/forms.onnx",
        "segmenter/int8/words.onnx",
        "int8/forms.onnx",
        "int8/words.onnx",
        "int8/relations.onnx",
    )
    found = hashlib.sha256()
    for path in (folder / name for name in names):
        if path.exists():  # not all models have lemmas
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


def of_model(folder: Path, release: str = treebanks.BUNDLED.release) -> dict[str, Any]:
    """Of what a model, by default the bundled one, gives by today's code for a treebank of a release."""
    return {"data": f"UD {release}", "model": model_digest(folder), "code": CODE}


def part_of(decoder: str, *, arcs: bool) -> str:
    """The part of the code that a decoder's figures depend on."""
    if decoder in ("paper", "greedy"):
        return "greedy"
    return ("arcs" if arcs else "labels") if decoder == "search" else decoder if decoder in CODE else "greedy"
