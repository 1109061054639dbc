"""Scores without PyTorch: a network in an ONNX file, run by ONNX Runtime on the CPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime

from biplanar.errors import BiplanarError, FileError
from biplanar.tagger.features import Batch
from biplanar.tagger.predict import DEPENDENT, Floats, Scores
from biplanar.tree import Int64s

# How the graph is put together; a file of another version is refused.
FORMAT_KEY, FORMAT_VERSION = "biplanar_format", "1"

# What tells that two files are parts of one network.
NETWORK_KEY = "biplanar_network"

INPUTS = ("forms", "chars", "spelling_lengths", "words", "lengths")

FATAL = 4  # of ONNX Runtime's levels: what it has to say below, it raises as well, or nobody can act on


class OnnxTagger:
    """Scores for the labels of every task, word by word; of relations given the head, if the network has them."""

    def __init__(self, path: str | Path, *, threads: int = 1) -> None:
        self.path = Path(path)
        self._session = _load(self.path, threads)
        self.labels: dict[str, int] = {output.name: output.shape[-1] for output in self._session.get_outputs()}
        self._relations = self._load_relations(threads) if DEPENDENT in self.labels else None

    def _load_relations(self, threads: int) -> onnxruntime.InferenceSession:
        path = relations_beside(self.path)
        session = _load(path, threads)
        if _metadata(session, NETWORK_KEY) != _metadata(self._session, NETWORK_KEY):
            raise FileError(f"{path}: expected the relations of {self.path.name}, found those of another network")
        return session

    def score(self, batch: Batch) -> Scores:
        """Scores by task: (words of all sentences, labels)."""
        if not batch.words.size:  # ONNX Runtime would end the process
            return {task: np.zeros((0, size), dtype=np.float32) for task, size in self.labels.items()}
        inputs = {name: getattr(batch, name) for name in INPUTS}
        try:
            tables = self._session.run(list(self.labels), inputs)
        except Exception as error:  # ONNX Runtime's errors have no base of their own
            message = f"{self.path}: these words do not fit the network, whose vocabulary must be another's"
            raise BiplanarError(f"{message} ({_first_line(error)})") from error
        padded = dict(zip(self.labels, tables, strict=True))  # (sentences, words, labels) each
        return {task: np.asarray(table[batch.mask], dtype=np.float32) for task, table in padded.items()}

    def relate(self, dependents: Floats, heads: Floats, governors: Int64s) -> Floats:
        """Scores of relations, given each word's head: (words, relations)."""
        if self._relations is None:
            raise BiplanarError(f"{self.path}: this network has no relations given the head")
        (scores,) = self._relations.run(None, {"dependents": dependents, "heads": heads, "governors": governors})
        return np.asarray(scores, dtype=np.float32)


def relations_beside(path: Path) -> Path:
    """Where the part of a network is that relates words to their heads."""
    return path.with_name("relations.onnx")


def _load(path: Path, threads: int) -> onnxruntime.InferenceSession:
    session = _open(path, threads)
    version = _metadata(session, FORMAT_KEY)
    if version != FORMAT_VERSION:
        found = "none" if version is None else f"{version!r}"
        raise FileError(f"{path}: expected a Biplanar network of format {FORMAT_VERSION!r}, found {found}")
    return session


def _metadata(session: onnxruntime.InferenceSession, key: str) -> str | None:
    found: str | None = session.get_modelmeta().custom_metadata_map.get(key)
    return found


def _open(path: Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = FATAL
    options.enable_mem_pattern = False  # it remembers every shape it sees, and no two batches have the same
    try:
        with path.open("rb"):
            pass
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error
    except Exception as error:  # ONNX Runtime's errors have no base of their own
        raise FileError(f"{path}: truncated or corrupt ONNX data ({_first_line(error)})") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
