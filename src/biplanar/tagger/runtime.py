"""Scores without PyTorch: a network in an ONNX file, run by ONNX Runtime on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from zipfile import ZIP_STORED

import numpy as np
import onnxruntime

from biplanar.data.arrays import Float32s, Int64s
from biplanar.data.files import writing
from biplanar.data.forest import offsets_of
from biplanar.decoding.arcs import ArcProducts
from biplanar.decoding.scores import DEPREL, ColumnTables, Scores
from biplanar.encodings.columns import COLUMNS
from biplanar.errors import BiplanarError, FileError
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
        self._words = _load(self.files.words, threads)
        inputs = _check_inputs(self._words, WORD_INPUTS, self.files.words, more=WINDOW_INPUTS)
        self._network = _metadata(self._words, NETWORK_KEY) or ""
        self._subwords, self._contexts, self._spell = subwords, None, None
        if subwords is not None:
            self._contexts = self._load_part(self.files.subwords, threads, set(SUBWORD_INPUTS), more={FORMS})
        if self._contexts is None or FORMS in _inputs(self._contexts):
            self._spell = self._load_part(self.files.forms, threads, FORM_INPUTS)
        self._attends = inputs >= WINDOW_INPUTS
        self.labels = _output_sizes(self._words, self.files.words)
        self._check_labels(vocabulary)
        self._form_width = 0
        if self._spell is not None:
            (self._form_width,) = _output_sizes(self._spell, self.files.forms).values()
        self._relations = None
        if DEPENDENT in self.labels:
            self._relations = self._load_part(self.files.relations, threads, RELATION_INPUTS)
        self._deprels = len(vocabulary.tasks.get(DEPREL, ()))
        self.forms = FormCache(vocabulary, self._encode_forms, known=self._read_known(len(vocabulary.forms)))

    def _load_part(
        self, path: Path, threads: int, inputs: set[str], more: Set[str] = frozenset()
    ) -> onnxruntime.InferenceSession:
        """A graph with one output."""
        session = _load(path, threads)
        _check_inputs(session, inputs, path, more)
        if len(session.get_outputs()) != 1:
            raise FileError(f"{path}: not the graph that belongs here: it has several outputs")
        if _metadata(session, NETWORK_KEY) != self._network:
            raise FileError(f"{path}: not of the same network as {self.files.words}")
        return session

    def _check_labels(self, vocabulary: Vocabulary) -> None:
        for task, names in vocabulary.tasks.items():
            if (found := self.labels.get(task, 0)) != len(names):
                expected = f"expected scores for the {len(names)} labels of {task}"
                raise FileError(f"{self.files.words}: {expected}, found {found}")
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
        if network != self._network:
            raise FileError(f"{path}: not of the same network as {self.files.words}")
        expected = (min(forms, MOST_KNOWN), self._form_width)
        if rounded.shape != expected or rounded.dtype != np.int8:
            found = f"{rounded.shape} of {rounded.dtype}"
            raise FileError(f"{path}: expected an array of shape {expected} of int8, found one of shape {found}")
        return np.asarray(np.divide(rounded, LARGEST_INT8, dtype=np.float32))

    def write_known(self, vocabulary: Vocabulary) -> None:
        """Store the vectors of the vocabulary's forms beside the network, in int8: features are between -1 and 1."""
        vectors = self._encode_forms(Spellings.of(vocabulary.forms[:MOST_KNOWN], vocabulary))
        rounded, network = np.rint(vectors * LARGEST_INT8).astype(np.int8), np.array(self._network)
        with writing(self.files.known) as stream:
            np.savez(stream.buffer, vectors=rounded, network=network)

    def _encode_forms(self, spellings: Spellings) -> Float32s:
        """Form vectors, a few forms of similar lengths at a time: ONNX's LSTM computes the padding, too."""
        vectors = np.empty((len(spellings.ids), self._form_width), dtype=np.float32)
        if self._spell is None:
            return vectors
        order = np.argsort(spellings.lengths, kind="stable")
        for start in range(0, len(order), FORMS_AT_ONCE):
            some = order[start : start + FORMS_AT_ONCE]
            vectors[some] = self._encode_some(spellings.some(some))
        return vectors

    def _encode_some(self, spellings: Spellings) -> Float32s:
        assert self._spell is not None
        inputs = {"ids": spellings.ids, "chars": spellings.chars, "lengths": spellings.lengths}
        try:
            (vectors,) = self._spell.run(None, inputs)
        except Exception as error:  # ONNX Runtime's errors have no base of their own
            message = f"{self.files.forms}: these words do not fit the network, whose vocabulary must be another's"
            raise BiplanarError(f"{message} ({_first_line(error)})") from error
        _check_table(vectors, (len(spellings.ids), self._form_width), self.files.forms)
        return np.asarray(vectors, dtype=np.float32)

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
        inputs = {"forms": forms, "words": batch.words, "lengths": batch.lengths, "places": places}
        if self._attends:
            inputs |= _windows(batch.windows)
        with _running(self.files.words):
            tables = dict(zip(self.labels, self._words.run(list(self.labels), inputs), strict=True))
        for task, table in tables.items():
            _check_table(table, (len(places), self.labels[task]), self.files.words)
        return tables

    def _in_context(self, forms: Float32s, batch: Batch, subwords: Subwords) -> Float32s:
        """Vectors of words from their windows of sub-words: (all words, features).

        A window always has the same padding, so that its rounding does not depend on the windows beside it.
        """
        assert self._contexts is not None
        windows, path = Windows.of(batch, subwords), self.files.subwords
        (width,) = _output_sizes(self._contexts, path).values()
        vectors = np.empty((len(windows.counts), width), dtype=np.float32)
        padded = np.minimum(-(-windows.lengths // WINDOW_STEP) * WINDOW_STEP, subwords.longest)
        own_forms = forms[batch.words[batch.mask]]
        for longest in np.unique(padded).tolist():
            words, *arrays = windows.padded(np.flatnonzero(padded == longest), longest)
            inputs = dict(zip(SUBWORD_INPUTS, arrays, strict=True))
            if self._spell is not None:
                inputs[FORMS] = own_forms[words]
            with _running(path):
                (found,) = self._contexts.run(None, inputs)
            _check_table(found, (len(words), width), path)
            vectors[words] = found
        return vectors

    def _relate(self, dependents: Float32s, heads: Float32s, governors: Int64s) -> Float32s:
        """Scores of relations, given each word's head: (words, relations)."""
        assert self._relations is not None
        with _running(self.files.relations):
            (scores,) = self._relations.run(None, {"dependents": dependents, "heads": heads, "governors": governors})
        _check_table(scores, (len(governors), self._deprels), self.files.relations)
        return np.asarray(scores, dtype=np.float32)


def _windows(batch: Batch) -> dict[str, Int64s]:
    """Which words attention sees together."""
    return {"windows": batch.each_word.words, "window_lengths": batch.lengths, "window_places": batch.places}


def _load(path: Path, threads: int) -> onnxruntime.InferenceSession:
    with _reading(path, "ONNX data"):
        session = _open(path, threads)
        version = _metadata(session, FORMAT_KEY)
    if version != FORMAT_VERSION:
        found = "none" if version is None else f"{version!r}"
        raise FileError(f"{path}: expected a Biplanar network of format {FORMAT_VERSION!r}, found {found}")
    return session


def _check_inputs(
    session: onnxruntime.InferenceSession, wanted: Set[str], path: Path, more: Set[str] = frozenset()
) -> Set[str]:
    """The inputs of a graph: those that are wanted, and maybe some more."""
    found = _inputs(session)
    if found not in (wanted, wanted | more):
        raise FileError(f"{path}: not the graph that belongs here: its inputs are {', '.join(sorted(found))}")
    return found


def _inputs(session: onnxruntime.InferenceSession) -> set[str]:
    return {one.name for one in session.get_inputs()}


def _check_table(table: Float32s, shape: tuple[int, int], path: Path) -> None:
    """Compiled code takes the shape for granted."""
    if table.shape != shape or table.dtype != np.float32:
        raise FileError(f"{path}: a table of shape {table.shape} of {table.dtype} instead of {shape} of float32")


def _output_sizes(session: onnxruntime.InferenceSession, path: Path) -> dict[str, int]:
    """How many features or labels each output has, by its name."""
    with _reading(path, "ONNX data"):
        return {output.name: int(output.shape[-1]) for output in session.get_outputs()}


def _metadata(session: onnxruntime.InferenceSession, key: str) -> str | None:
    found: str | None = session.get_modelmeta().custom_metadata_map.get(key)
    return found


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
        yield
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error
    except Exception as error:
        raise FileError(f"{path}: truncated or corrupt {kind} ({_first_line(error)})") from error


@contextmanager
def _running(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # ONNX Runtime's errors have no base of their own
        raise FileError(f"{path}: ONNX Runtime cannot run this network ({_first_line(error)})") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
