"""The parser: the one place where segmentation, features, tagger and decoding meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, overload

from biplanar.conllu import MISC, Sentence
from biplanar.decoding.search import Beam, Outcome
from biplanar.encodings import Encoding, get_encoding
from biplanar.errors import BiplanarError, FileError
from biplanar.forest import Column, Forest, offsets_of
from biplanar.model_folder import ModelFolder
from biplanar.tagger.features import Corpus, Vocabulary
from biplanar.tagger.predict import DEFAULT_DECODER, Parsed, Scorer, TreeDecoder, parse_corpus

if TYPE_CHECKING:
    from biplanar.segmentation import Segmenter

# The model that ships inside.
EMBEDDED = "en"

# Sentences are read ahead up to so many words, to be sorted by length and cut into batches.
WINDOW_WORDS = 50_000

# Words that go through the network at once: on a processor core more would only be more padding.
BATCH_WORDS, DEVICE_BATCH_WORDS = 500, 20_000

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
            from biplanar.segmentation import Segmenter

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
        decoder = TreeDecoder(self.encoding, self.vocabulary.tasks, beam=beam or Beam(), probabilities=probabilities)
        batch = Corpus.of([sentence.forms], self.vocabulary).batch([0])
        for parsed, score in decoder.best_trees(self.scorer, batch, wanted):
            self.outcome += Outcome() if isfinite(score) else Outcome(lost=1)
            yield next(self._with_trees([sentence], parsed)), score

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
        how = TreeDecoder(self.encoding, self.vocabulary.tasks, decoder, beam or Beam(), probabilities)
        for window in _windows(sentences):
            yield from self._parse(window, how, batch_words or self.batch_words)

    def _parse(self, sentences: list[Sentence], decoder: TreeDecoder, batch_words: int) -> Iterator[Sentence]:
        if self.encoding.needs_upos and any("_" in sentence.upos for sentence in sentences):
            sentences = self.segmenter.tag(sentences)
        corpus = Corpus.of([sentence.forms for sentence in sentences], self.vocabulary)
        upos = Column.of(tag for sentence in sentences for tag in sentence.upos) if self.encoding.needs_upos else None
        parsed = parse_corpus(self.scorer, corpus, decoder, batch_words, upos)
        self.outcome += parsed.outcome
        return self._with_trees(sentences, parsed)

    def _with_trees(self, sentences: list[Sentence], parsed: Parsed) -> Iterator[Sentence]:
        offsets = offsets_of(map(len, sentences))
        forest = Forest(offsets, parsed.heads, Column(parsed.relations, self.vocabulary.tasks["deprel"]), None)
        for sentence, tree, start in zip(sentences, forest.trees(), offsets[:-1], strict=True):
            result = sentence.with_tree(tree)
            if parsed.probabilities is not None:
                chances = parsed.probabilities[start : start + len(sentence)].tolist()
                result = result.with_misc(PROBABILITY, [None if isnan(one) else f"{one:.3f}" for one in chances])
            elif PROBABILITY in sentence.raw:  # of another tree
                result = result.with_misc(PROBABILITY, [None] * len(sentence))
            yield result


def load(model: str | Path | None = None, *, device: str = "cpu", threads: int = 1) -> Parser:
    """The parser of a model folder; without one, the English parser that ships inside.

    On the CPU the network runs in ONNX Runtime where the folder has it so; on other devices it runs in PyTorch.
    """
    folder = ModelFolder(_embedded() if model is None else Path(model))
    config, vocabulary = folder.read_settings()
    encoding = get_encoding(config.encoding)
    if device == "cpu" and folder.onnx.exists():
        from biplanar.tagger.runtime import OnnxTagger

        return Parser(OnnxTagger(folder.onnx, threads=threads), encoding, vocabulary, folder)
    try:
        from biplanar.tagger.checkpoint import load_tagger
    except ImportError as error:
        raise BiplanarError("this needs PyTorch: pip install 'biplanar[train]'") from error
    scorer = load_tagger(folder.weights, config, vocabulary, device)
    size = BATCH_WORDS if device == "cpu" else DEVICE_BATCH_WORDS
    return Parser(scorer, encoding, vocabulary, folder, batch_words=size)


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


def _windows(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    window: list[Sentence] = []
    words = 0
    for sentence in sentences:
        window.append(sentence)
        words += len(sentence)
        if words >= WINDOW_WORDS:
            yield window
            window, words = [], 0
    if window:
        yield window
