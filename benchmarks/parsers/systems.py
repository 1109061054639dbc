"""What is compared: parsers with a model and options, as values that can be sent to another process."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from biplanar.decoding import DECODERS, DEFAULT_DECODER
from biplanar.pipeline.loading import RUNTIMES
from biplanar.pipeline.model_folder import ModelFolder

FASTEST = RUNTIMES[0]

# With the tags of the treebank, only UDPipe's parser works.
UDPIPE_MODES = {"tag+parse": {}, "parse, gold tags": {"tagger": "none"}}
UNIT = "UDPipe 1 tag+parse"  # whose speed others are compared with


@dataclass(frozen=True)
class System:
    """A parser, its model and how it is run; or why it cannot be."""

    name: str
    kind: str  # whose adapter it needs
    family: str  # systems of one family share a colour
    model: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    missing: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; whose machine it was on does not matter."""
        return asdict(self) | {"model": self.model and Path(self.model).name}

    @property
    def size(self) -> int | None:
        """Bytes of the files that this system needs of its model."""
        if self.model is None:
            return None
        path = Path(self.model)
        runtime = self.options.get("runtime")  # which only Biplanar's systems have
        return _size(path) if runtime is None else sum(map(_size, _needed(ModelFolder(path), runtime)))


def biplanar_systems(name: str, folder: str, more: Collection[str] = ()) -> list[System]:
    """A model in int8 with its usual decoder; with that, more runtimes, and in int8 more decoders."""
    pairs = [(one, DEFAULT_DECODER) for one in RUNTIMES if one == FASTEST or one in more]
    pairs += [(FASTEST, one) for one in DECODERS if one != DEFAULT_DECODER and one in more]
    return [
        System(f"{name} {runtime} {decoder}", "biplanar", name, folder, {"runtime": runtime, "decoder": decoder})
        for runtime, decoder in pairs
    ]


def udpipe_systems(model: str | None) -> list[System]:
    """UDPipe 1 with its default options, and without its tagger."""
    return _peers("UDPipe 1", "udpipe", model, UDPIPE_MODES)


def spacy_systems(model: str | None) -> list[System]:
    """The tagger and parser of spaCy."""
    return _peers("spaCy", "spacy", model, {"tag+parse": {}})


def supar_systems(model: str | None) -> list[System]:
    """SuPar's biaffine parser."""
    return _peers("SuPar", "supar", model, {"biaffine": {}})


def _peers(family: str, kind: str, model: str | None, modes: Mapping[str, Mapping[str, str]]) -> list[System]:
    missing = None if model else f"no model was given (--{kind})"
    return [System(f"{family} {mode}", kind, family, model, options, missing) for mode, options in modes.items()]


def _needed(folder: ModelFolder, runtime: str) -> list[Path]:
    """Settings, vocabulary and the network for one runtime: folders have it for several."""
    networks = {"int8": folder.int8, "onnx": folder.onnx, "torch": folder.weights}
    return [folder.config, folder.vocabulary, networks[runtime]]


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
