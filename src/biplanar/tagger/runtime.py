"""Scores without PyTorch: a network in an ONNX file, run by ONNX Runtime on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED

import numpy as np
import onnxruntime

from biplanar.data.arrays import Float32s, Int64s
from biplanar.data.files import writing
from biplanar.data.forest import offsets_of
from biplanar.decoding.arcs import ArcProducts
from biplanar.decoding.scores import DEPREL, ColumnTables, Scores
from biplanar.encodings.columns import COLUMNS
from biplanar.errors import FileError, file_errors, first_line
from biplanar.tagger.features import Batch, FormCache, Spellings, Vocabulary
from biplanar.tagger.subwords import PaddedWindows, Subwords, Windows

# Tables of `words.onnx` that are no labels: what each word is as a dependent and as a head.
DEPENDENT, GOVERNOR = "relation.dependent", "relation.head"

# And in arcs: its vectors as a dependent and as a head, and the score of the root as its head.
ARC_TABLES = ARC_DEPENDENT, ARC_HEAD, ARC_ROOT = "arc.dependent", "arc.head", "arc.root"

# What each graph is given, and what the one of words is given besides if it has attention.
FORM_INPUTS, WORD_INPUTS = {"ids", "chars", "lengths"}, {"forms", "words", "lengths", "places"}
SUBWORD_INPUTS, FORMS = PaddedWindows._fields[1:], "forms"
RELATION_INPUTS, WINDOW_INPUTS = {"dependents", "heads", "governors"}, {"windows", "window_lengths", "window_places"}

# The version of the graph's layout; a file of another version is refused.
FORMAT_KEY, FORMAT_VERSION = "biplanar_format", "2"

# Metadata that is equal in all files of one network.
NETWORK_KEY = "biplanar_network"

# Forms of the vocabulary whose vectors may be stored with the network, in int8 up to this value.
MOST_KNOWN, LARGEST_INT8 = 50_000, 127

# Forms that are encoded at once: their activations fit in the CPU cache.
FORMS_AT_ONCE = 64

# Windows of sub-words are padded to a multiple of this many.
WINDOW_STEP = 8

FATAL = 4  # ONNX Runtime's log level: it also raises what it logs below, or it is nothing a user can act on


class OnnxFiles:
    """The files of one network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.forms = folder / "forms.onnx"  # from spellings to vectors of forms; not in all networks with sub-words
        self.subwords = folder / "subwords.onnx"  # from sub-words and forms to vectors of words; not in all networks
        self.words = folder / "words.onnx"  # from vectors of forms to scores of words in their sentences
        self.relations = folder / "relations.onnx"  # from words and heads to scores of relations; not in all networks
        self.known = folder / "known.npz"  # vectors of forms, computed in advance; not in all networks


class OnnxTagger:
    """Scores for the labels of every task, word by word; of relations given the head, if the network has them."""

    decoding_threads = 1

    def __init__(
        self, folder: str | Path, vocabulary: Vocabulary, *, threads: int = 1, subwords: Subwords | None = None
    ) -> None:
        """`subwords` are those of a network with a pre-trained encoder."""
        self.files = OnnxFiles(Path(folder))
        self._words = _Graph(self.files.words, threads, WORD_INPUTS, WINDOW_INPUTS)
        self._contexts: _Graph | None = None
        self._spell: _Graph | None = None
        self._relations: _Graph | None = None
        self._subwords = subwords
        if subwords is not None:
            self._contexts = self._load_part(self.files.subwords, threads, set(SUBWORD_INPUTS), {FORMS})
        if self._contexts is None or FORMS in self._contexts.inputs:
            self._spell = self._load_part(self.files.forms, threads, FORM_INPUTS)
        self.labels = self._words.widths
        self._check_labels(vocabulary)
        self._form_width = 0 if self._spell is None else self._spell.width
        if DEPENDENT in self.labels:
            self._relations = self._load_part(self.files.relations, threads, RELATION_INPUTS)
            if (found := self._relations.width) != (deprels := len(vocabulary.tasks.get(DEPREL, ()))):
                raise FileError(f"{self.files.relations}: scores for {found} relations instead of {deprels}")
        self.forms = FormCache(vocabulary, self._encode_forms, known=self._read_known(len(vocabulary.forms)))

    def _load_part(self, path: Path, threads: int, wanted: Set[str], more: Set[str] = frozenset()) -> _Graph:
        """A graph with one output."""
        graph = _Graph(path, threads, wanted, more)
        if len(graph.widths) != 1:
            raise FileError(f"{path}: not the graph that belongs here: it has several outputs")
        self._check_network(graph.network, path)
        return graph

    def _check_network(self, network: str | None, path: Path) -> None:
        if network != (self._words.network or ""):
            raise FileError(f"{path}: not of the same network as {self.files.words}")

    def _check_labels(self, vocabulary: Vocabulary) -> None:
        for task, names in vocabulary.tasks.items():
            if (found := self.labels.get(task, 0)) != len(names):
                raise FileError(f"{self.files.words}: scores for {found} labels of {task} instead of {len(names)}")
        if (DEPENDENT in self.labels) != (GOVERNOR in self.labels):
            raise FileError(f"{self.files.words}: only one of {DEPENDENT} and {GOVERNOR}")
        if len({name in self.labels for name in ARC_TABLES}) > 1:
            raise FileError(f"{self.files.words}: only some of {', '.join(ARC_TABLES)}")

    def _read_known(self, forms: int) -> Float32s | None:
        path = self.files.known
        if not path.exists():
            return None
        with (
            _reading(path, "vectors of forms"),
            path.open("rb") as stream,
            np.load(stream, allow_pickle=False) as parts,
        ):
            if any(part.compress_type != ZIP_STORED for part in parts.zip.infolist()):
                raise ValueError("compressed")  # what may become much larger than the file
            rounded, network = parts["vectors"], str(parts["network"])
        self._check_network(network, path)
        shape = (min(forms, MOST_KNOWN), self._form_width)
        if rounded.shape != shape or rounded.dtype != np.int8:
            raise FileError(f"{path}: an array of shape {rounded.shape} of {rounded.dtype} instead of {shape} of int8")
        return np.asarray(np.divide(rounded, LARGEST_INT8, dtype=np.float32))

    def write_known(self, vocabulary: Vocabulary) -> None:
        """Store the vectors of the vocabulary's forms beside the network, in int8: features are between -1 and 1."""
        vectors = self._encode_forms(Spellings.of(vocabulary.forms[:MOST_KNOWN], vocabulary))
        rounded, network = np.rint(vectors * LARGEST_INT8).astype(np.int8), np.array(self._words.network or "")
        with writing(self.files.known) as stream:
            np.savez(stream.buffer, vectors=rounded, network=network)

    def _encode_forms(self, spellings: Spellings) -> Float32s:
        """Form vectors, a few forms of similar lengths at a time: ONNX's LSTM computes the padding, too."""
        vectors = np.empty((len(spellings.ids), self._form_width), dtype=np.float32)
        if self._spell is None:
            return vectors
        order = np.argsort(spellings.lengths, kind="stable")
        for start in range(0, len(order), FORMS_AT_ONCE):
            chosen = order[start : start + FORMS_AT_ONCE]
            some = spellings.some(chosen)
            inputs = {"ids": some.ids, "chars": some.chars, "lengths": some.lengths}
            complaint = "these words do not fit the network, whose vocabulary must be another's"
            (vectors[chosen],) = self._spell.run(inputs, len(chosen), complaint).values()
        return vectors

    def represent(self, forms: Sequence[str]) -> Float32s:
        """Vectors of some forms: (forms, features)."""
        vectors: Float32s = self.forms.vectors(forms)
        return vectors

    def score(self, forms: Float32s, batch: Batch) -> Scores:
        """The scores of a batch."""
        tables = self._tables(forms, batch)
        relate = None
        if self._relations is not None:
            relate = partial(self._relate, tables.pop(DEPENDENT), tables.pop(GOVERNOR))
        columns = {task: tables.pop(task) for task in list(tables) if task in COLUMNS}
        offsets, arcs = offsets_of(batch.lengths), None
        if ARC_ROOT in tables:
            dependents, heads, roots = (tables.pop(name) for name in ARC_TABLES)
            arcs = ArcProducts(offsets, dependents, heads, roots[:, 0])
        return Scores(offsets, tables, relate, ColumnTables(columns) if columns else None, arcs)

    def _tables(self, forms: Float32s, batch: Batch) -> dict[str, Float32s]:
        if not batch.words.size:  # ONNX Runtime would end the process
            return {task: np.zeros((0, size), dtype=np.float32) for task, size in self.labels.items()}
        if self._subwords is not None:
            forms, batch = self._in_context(forms, batch, self._subwords), batch.each_word
        sentence, word = np.nonzero(batch.mask)
        places = word * len(batch.lengths) + sentence
        inputs: dict[str, Any] = {"forms": forms, "words": batch.words, "lengths": batch.lengths, "places": places}
        if self._words.inputs >= WINDOW_INPUTS:  # which words attention sees together
            some = batch.windows
            inputs |= {"windows": some.each_word.words, "window_lengths": some.lengths, "window_places": some.places}
        return self._words.run(inputs, len(places))

    def _in_context(self, forms: Float32s, batch: Batch, subwords: Subwords) -> Float32s:
        """Vectors of words from their windows of sub-words: (all words, features).

        A window always has the same padding, so that its rounding does not depend on the windows beside it.
        """
        assert self._contexts is not None
        windows = Windows.of(batch, subwords)
        vectors = np.empty((len(windows.counts), self._contexts.width), dtype=np.float32)
        padded = np.minimum(-(-windows.lengths // WINDOW_STEP) * WINDOW_STEP, subwords.longest)
        own_forms = forms[batch.words[batch.mask]]
        for longest in np.unique(padded).tolist():
            words, *arrays = windows.padded(np.flatnonzero(padded == longest), longest)
            inputs: dict[str, Any] = dict(zip(SUBWORD_INPUTS, arrays, strict=True))
            if self._spell is not None:
                inputs[FORMS] = own_forms[words]
            (vectors[words],) = self._contexts.run(inputs, len(words)).values()
        return vectors

    def _relate(self, dependents: Float32s, heads: Float32s, governors: Int64s) -> Float32s:
        """Scores of relations, given each word's head: (words, relations)."""
        assert self._relations is not None
        inputs = {"dependents": dependents, "heads": heads, "governors": governors}
        (scores,) = self._relations.run(inputs, len(governors)).values()
        return scores


class _Graph:
    """A graph that ONNX Runtime runs; its inputs are those that are wanted, and maybe some more."""

    def __init__(self, path: Path, threads: int, wanted: Set[str], more: Set[str]) -> None:
        self.path = path
        with _reading(path, "ONNX data"):
            self._session = _open(path, threads)
            metadata: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        if (version := metadata.get(FORMAT_KEY)) is None:
            raise FileError(f"{path}: not a network of Biplanar's")
        if version != FORMAT_VERSION:
            raise FileError(f"{path}: a network of format {version!r} instead of {FORMAT_VERSION!r}")
        self.network = metadata.get(NETWORK_KEY)
        self.inputs = {one.name for one in self._session.get_inputs()}
        if self.inputs not in (wanted, wanted | more):
            raise FileError(f"{path}: not the graph that belongs here: its inputs are {', '.join(sorted(self.inputs))}")
        with _reading(path, "ONNX data"):  # how many features or labels each output has, by its name
            self.widths = {output.name: int(output.shape[-1]) for output in self._session.get_outputs()}

    @property
    def width(self) -> int:
        """That of the only output."""
        (width,) = self.widths.values()
        return width

    def run(
        self, inputs: Mapping[str, Any], rows: int, complaint: str = "ONNX Runtime cannot run this network"
    ) -> dict[str, Float32s]:
        """All outputs by their names: (rows, width). Compiled code takes the shape for granted."""
        try:
            tables = dict(zip(self.widths, self._session.run(None, inputs), strict=True))
        except Exception as error:  # ONNX Runtime's errors have no base of their own
            raise FileError(f"{self.path}: {complaint} ({first_line(error)})") from error
        for name, table in tables.items():
            shape = (rows, self.widths[name])
            if table.shape != shape or table.dtype != np.float32:
                found = f"{table.shape} of {table.dtype}"
                raise FileError(f"{self.path}: a table of shape {found} instead of {shape} of float32")
        return tables


def _open(path: Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = FATAL
    options.enable_mem_pattern = False  # it caches a plan for every input shape, and batches differ in theirs
    with path.open("rb"):  # ONNX Runtime's own error would not say what is wrong with the file
        pass
    # There is nothing to fall back to, and ONNX Runtime would print that it does.
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"], enable_fallback=False)


@contextmanager
def _reading(path: Path, kind: str) -> Iterator[None]:
    """Damaged files make ONNX Runtime, NumPy and zipfile raise errors of more kinds than they name."""
    try:
        with file_errors(path):
            yield
    except FileError:
        raise
    except Exception as error:
        raise FileError(f"{path}: truncated or corrupt {kind} ({first_line(error)})") from error
