"""The parser: the one place where segmentation, features, tagger and decoding meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from math import isfinite, isnan
from pathlib import Path
from typing import IO, TYPE_CHECKING, overload

from biplanar.data.conllu import MISC, Block, Sentence, read_blocks
from biplanar.data.conllu_bytes import Chunk
from biplanar.data.files import is_plain_file, write_all
from biplanar.data.forest import Column, Forest, offsets_of
from biplanar.data.overlap import overlap
from biplanar.decoding.search import Beam, Outcome
from biplanar.encodings import Encoding, get_encoding
from biplanar.errors import BiplanarError, FileError, UnknownNameError
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.windows import Window, gather
from biplanar.tagger.features import Vocabulary
from biplanar.tagger.predict import DEFAULT_DECODER, Parsed, Scorer, TreeDecoder, parse_corpus

if TYPE_CHECKING:
    from biplanar.tokenizer.segmentation import Segmenter

# The model that ships inside.
EMBEDDED = "en"

# Sentences are read up to so many words (or batches, if that is more), to be sorted by length and cut into batches.
WINDOW_WORDS, WINDOW_BATCHES = 50_000, 10

# Words that go through the network at once: on a processor core more would only be more padding.
BATCH_WORDS, DEVICE_BATCH_WORDS = 500, 60_000

# What a network can run in, the fastest on a processor core first.
RUNTIMES = ("int8", "onnx", "torch")

# What MISC calls the probability of a word's head.
PROBABILITY = "HeadProb"


@dataclass(frozen=True)
class Document:
    """Parsed sentences, in order."""

    sentences: tuple[Sentence, ...]

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    @overload
    def __getitem__(self, at: int) -> Sentence: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Sentence, ...]: ...
    def __getitem__(self, at: int | slice) -> Sentence | tuple[Sentence, ...]:
        return self.sentences[at]

    def to_conllu(self) -> str:
        """All sentences as CoNLL-U."""
        return "".join(sentence.to_conllu() for sentence in self.sentences)

    def _repr_html_(self) -> str:
        """The trees as a notebook draws them."""
        return "".join(sentence._repr_html_() or "" for sentence in self.sentences)


class Parser:
    """Parses text, words or CoNLL-U. Made by `biplanar.load`."""

    def __init__(
        self,
        scorer: Scorer,
        encoding: Encoding,
        vocabulary: Vocabulary,
        folder: ModelFolder,
        *,
        batch_words: int = BATCH_WORDS,
    ) -> None:
        self.scorer, self.encoding, self.vocabulary, self.folder = scorer, encoding, vocabulary, folder
        self.batch_words = batch_words
        self.outcome = Outcome()  # how all searches so far fared
        self._segmenter: Segmenter | None = None

    @property
    def segmenter(self) -> Segmenter:
        """What cuts raw text into sentences and words; loaded when it is first needed."""
        if self._segmenter is None:
            from biplanar.tokenizer.segmentation import Segmenter

            if not self.folder.segmenter.exists():
                raise FileError(f"{self.folder.path}: this model has no tokenizer, so it takes words and not raw text")
            self._segmenter = Segmenter.load(self.folder.segmenter)
        return self._segmenter

    def __call__(
        self,
        text: str | Sequence[str] | Sequence[Sequence[str]],
        *,
        decoder: str = DEFAULT_DECODER,
        probabilities: bool = False,
    ) -> Document:
        """Parse raw text, a list of sentences as text, or a list of sentences as lists of words."""
        return Document(tuple(self.pipe(self._sentences(text), decoder=decoder, probabilities=probabilities)))

    def best_trees(
        self, text: str | Sequence[str] | Sequence[Sequence[str]], wanted: int = 5, *, beam: Beam | None = None
    ) -> list[list[tuple[Sentence, float]]]:
        """For each sentence up to so many trees, best first, each with the log-probability of its best labels.

        It is -inf where the search found no tree, and greedy decoding did.
        """
        return [list(self.best_trees_of(sentence, wanted, beam=beam)) for sentence in self._sentences(text)]

    def best_trees_of(
        self, sentence: Sentence, wanted: int, *, beam: Beam | None = None, probabilities: bool = False
    ) -> Iterator[tuple[Sentence, float]]:
        """The same for one sentence."""
        decoder = self.tree_decoder(DEFAULT_DECODER, beam, probabilities)
        for parsed, score in decoder.best_trees(self.scorer, sentence.forms, wanted):
            self.outcome += Outcome() if isfinite(score) else Outcome(lost=1)
            yield next(self.with_trees([sentence], parsed)), score

    def _sentences(self, text: str | Sequence[str] | Sequence[Sequence[str]]) -> list[Sentence]:
        if isinstance(text, str):
            return self.segmenter.segment(text)
        return [
            one
            for item in text
            for one in (
                self.segmenter.segment(item, presegmented=True)
                if isinstance(item, str)
                else [Sentence.from_words(list(item))]
            )
        ]

    def pipe(
        self,
        sentences: Iterable[Sentence],
        *,
        decoder: str = DEFAULT_DECODER,
        batch_words: int | None = None,
        probabilities: bool = False,
        beam: Beam | None = None,
    ) -> Iterator[Sentence]:
        """Parse a stream of sentences, in its order and with bounded memory; all columns but the tree's are kept.

        With `probabilities`, MISC says of each word how likely its head is (`HeadProb`).
        """
        how = self.tree_decoder(decoder, beam, probabilities)
        size = batch_words or self.batch_words
        for group in gather(sentences, len, lambda _: window_words(size)):
            window = Window(None, self._tagged(group))
            yield from self.with_trees(window.sentences, self.parse_window(window, how, size))

    def parse_file(
        self,
        source: str | Path,
        target: IO[bytes],
        *,
        decoder: str = DEFAULT_DECODER,
        batch_words: int | None = None,
        probabilities: bool = False,
        beam: Beam | None = None,
    ) -> None:
        """Parse a CoNLL-U file (`-`: standard input) and write it as CoNLL-U, byte for byte as `pipe` would.

        It is many times faster than that but for the network, as there is no object for each word; and while some
        sentences are parsed, the next are read and the last are written.
        """
        how = self.tree_decoder(decoder, beam, probabilities)
        size = batch_words or self.batch_words
        groups = gather(read_blocks(source), lambda block: block.next_line - block.line, lambda _: window_words(size))
        overlap(
            (self.read_window(blocks, how) for blocks in groups),
            lambda window: (window, self.parse_window(window, how, size)),
            lambda parsed: write_all(target, self.to_conllu(*parsed)),
            ahead=is_plain_file(source),
        )

    def tree_decoder(self, decoder: str, beam: Beam | None, probabilities: bool) -> TreeDecoder:
        """How scores become trees."""
        return TreeDecoder(self.encoding, self.vocabulary.tasks, decoder, beam or Beam(), probabilities)

    def read_window(self, blocks: Sequence[Block], decoder: TreeDecoder, *, one_by_one: bool = False) -> Window:
        """Read some sentences to be parsed together: as bytes, if only their trees will change, or else one by one."""

        def only_trees_change(chunk: Chunk) -> bool:
            tags_missing = self.encoding.needs_upos and "_" in chunk.upos.names
            return not (one_by_one or tags_missing or decoder.probabilities or PROBABILITY.encode() in chunk.data)

        window = Window.of(blocks, only_trees_change)
        return window if window.chunk is not None else Window(None, self._tagged(window.sentences))

    def parse_window(self, window: Window, decoder: TreeDecoder, batch_words: int | None = None) -> Parsed:
        """The trees of some sentences."""
        upos = window.upos if self.encoding.needs_upos else None
        parsed = parse_corpus(self.scorer, window.corpus, decoder, batch_words or self.batch_words, upos)
        self.outcome += parsed.outcome
        return parsed

    def to_conllu(self, window: Window, parsed: Parsed) -> bytes:
        """Sentences with their trees."""
        if window.chunk is not None:
            return window.chunk.with_trees(parsed.heads, self._deprels(parsed))
        return "".join([sentence.raw for sentence in self.with_trees(window.sentences, parsed)]).encode()

    def _tagged(self, sentences: list[Sentence]) -> list[Sentence]:
        """With tags where the encoding needs them and not all words of a sentence have one."""
        if not self.encoding.needs_upos:
            return sentences
        return [self.segmenter.tag([one])[0] if "_" in one.upos else one for one in sentences]

    def _deprels(self, parsed: Parsed) -> Column:
        return Column(parsed.relations, self.vocabulary.tasks["deprel"])

    def with_trees(self, sentences: list[Sentence], parsed: Parsed) -> Iterator[Sentence]:
        """Sentences with their trees, one by one."""
        offsets = offsets_of(map(len, sentences))
        forest = Forest(offsets, parsed.heads, self._deprels(parsed), None)
        for sentence, tree, start in zip(sentences, forest.trees(), offsets[:-1], strict=True):
            result = sentence.with_tree(tree)
            if parsed.probabilities is not None:
                chances = parsed.probabilities[start : start + len(sentence)].tolist()
                result = result.with_misc(PROBABILITY, [None if isnan(one) else f"{one:.3f}" for one in chances])
            elif PROBABILITY in sentence.raw:  # of another tree
                result = result.with_misc(PROBABILITY, [None] * len(sentence))
            yield result


def load(
    model: str | Path | None = None, *, device: str = "cpu", threads: int | None = None, runtime: str | None = None
) -> Parser:
    """The parser of a model folder; without one, the English parser that ships inside.

    `runtime` is what the network runs in: `int8` (ONNX Runtime, bytes), `onnx` (ONNX Runtime, floats) or `torch`. By
    default it is the first of them that the folder has, and on other devices than the CPU it is `torch`. On the CPU it
    has one thread if `threads` does not say otherwise, or as many as PyTorch has been told to take.
    """
    folder = ModelFolder(_embedded() if model is None else Path(model))
    config, vocabulary = folder.read_settings()
    encoding = get_encoding(config.encoding)
    if missing := set(encoding.tasks) - set(vocabulary.tasks):
        raise FileError(f"{folder.vocabulary}: expected labels of {encoding.name}, found none of {min(missing)}")
    if runtime not in (None, *RUNTIMES):
        raise UnknownNameError("runtime", runtime, RUNTIMES)
    if device == "auto" and (runtime in ("int8", "onnx") or not folder.weights.exists()):
        device = "cpu"
    device = find_device(device)
    runtime = runtime or _fastest(folder, device)
    if runtime != "torch":
        from biplanar.tagger.runtime import OnnxTagger

        if device != "cpu":
            raise BiplanarError(f"expected the runtime torch for the device {device}, found {runtime}")
        scorer = OnnxTagger(folder.int8 if runtime == "int8" else folder.onnx, vocabulary, threads=threads or 1)
        return Parser(scorer, encoding, vocabulary, folder)
    with _needing_torch():
        from biplanar.tagger.checkpoint import load_tagger
    tagger = load_tagger(folder.weights, config, vocabulary, device, threads=threads)
    return Parser(tagger, encoding, vocabulary, folder, batch_words=default_batch_words(device))


@contextmanager
def _needing_torch() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise BiplanarError("this needs PyTorch: pip install 'biplanar[train]'") from error


@cache
def find_device(name: str) -> str:
    """Make sure of a device; `auto` is the fastest there is, which without PyTorch is the CPU."""
    if name == "cpu" or (name == "auto" and not find_spec("torch")):
        return "cpu"
    with _needing_torch():
        from biplanar.tagger.device import choose_device
    return str(choose_device(name))


def default_batch_words(device: str) -> int:
    """How many words go through the network at once, if nobody says otherwise."""
    return BATCH_WORDS if find_device(device) == "cpu" else DEVICE_BATCH_WORDS


def window_words(batch_words: int) -> int:
    """How many words are read to be parsed together."""
    return max(WINDOW_WORDS, WINDOW_BATCHES * batch_words)


def _fastest(folder: ModelFolder, device: str) -> str:
    if device != "cpu":
        return "torch"
    return "int8" if folder.int8.exists() else "onnx" if folder.onnx.exists() else "torch"


def head_probabilities(sentence: Sentence) -> list[float] | None:
    """How likely the head of each word is, where MISC tells it of all."""
    marker = f"{PROBABILITY}="
    found = [item for misc in sentence.column(MISC) for item in misc.split("|") if item.startswith(marker)]
    return [float(item.removeprefix(marker)) for item in found] if len(found) == len(sentence) else None


def raw_text(sentences: Sequence[Sentence]) -> str:
    """The text of a treebank as UD publishes it: a paragraph a line, a blank line between paragraphs."""
    pieces: list[str] = []
    for sentence in sentences:
        starts = any(comment.startswith(("# newdoc", "# newpar")) for comment in sentence.comments)
        if pieces:
            pieces.append("\n\n" if starts else " ")
        text = sentence.comment("text")
        pieces.append(text if text is not None else " ".join(sentence.forms))
    return "".join(pieces) + "\n"


def _embedded() -> Path:
    path = Path(str(files("biplanar"))) / "models" / EMBEDDED
    if not path.exists():
        raise FileError("this installation has no model inside: name one")
    return path
