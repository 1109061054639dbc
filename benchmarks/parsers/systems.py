"""What is compared: parsers with a model and options, as values that can be sent to another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biplanar.pipeline.model_folder import ModelFolder

# The runtime of a folder that is loaded without naming one: the fastest that it has.
FASTEST = "fastest"

# UDPipe's own beam, and a greedy one; and with the tags of the treebank, so that only its parser works.
UDPIPE_MODES = {
    "tag+parse": {},
    "tag+parse, beam 1": {"parser": "beam_search=1"},
    "parse, gold tags": {"tagger": "none"},
}
SPACY_MODES = {"tag+parse": {}, "parse": {"exclude": "tagger"}}


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
        from biplanar.pipeline.model_folder import ModelFolder

        if self.model is None:
            return None
        path = Path(self.model)
        runtime = self.options.get("runtime")  # which only Biplanar's systems have
        return _size(path) if runtime is None else sum(map(_size, _needed(ModelFolder(path), runtime)))


def biplanar_systems(
    name: str, folder: str, runtimes: Sequence[str], decoders: Sequence[str], *, every_pair: bool = False
) -> list[System]:
    """Each runtime with the first decoder, and each decoder with the last runtime; or all pairs of them."""
    pairs = [
        (runtime, decoder)
        for runtime in runtimes
        for decoder in decoders
        if every_pair or decoder == decoders[0] or runtime == runtimes[-1]
    ]
    return [
        System(
            " ".join([name, *([runtime] if runtime != FASTEST else []), decoder]),
            "biplanar",
            name,
            folder,
            {"runtime": runtime, "decoder": decoder},
        )
        for runtime, decoder in pairs
    ]


def udpipe_systems(model: str | None) -> list[System]:
    """UDPipe 1 with its default options, with a greedy search, and without its tagger."""
    return _peers("UDPipe 1", "udpipe", model, UDPIPE_MODES)


def spacy_systems(model: str | None) -> list[System]:
    """The tagger and parser of spaCy, and its parser alone."""
    return _peers("spaCy", "spacy", model, SPACY_MODES)


def supar_systems(model: str | None) -> list[System]:
    """SuPar's biaffine parser."""
    return _peers("SuPar", "supar", model, {"biaffine": {}})


def _peers(family: str, kind: str, model: str | None, modes: Mapping[str, Mapping[str, str]]) -> list[System]:
    missing = None if model else f"no model was given (--{kind})"
    return [System(f"{family} {mode}", kind, family, model, options, missing) for mode, options in modes.items()]


def _needed(folder: ModelFolder, runtime: str) -> list[Path]:
    """Settings, vocabulary and the network for one runtime: folders have it for several."""
    networks = {"int8": folder.int8, "onnx": folder.onnx, "torch": folder.weights}
    there = [path for path in networks.values() if path.exists()]
    network = networks[runtime] if runtime != FASTEST else there[0] if there else folder.weights
    return [folder.config, folder.vocabulary, network]


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
