"""The parser: the one place where tokenizer, features, tagger and decoding meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, overload

from biplanar.data.conllu import EMPTY, RawConllu, Sentence
from biplanar.data.conllu_bytes import FILLED, ConlluTable
from biplanar.data.forest import Column
from biplanar.data.raw_text import with_offsets
from biplanar.data.words import PROBABILITY
from biplanar.decoding.beam import Outcome
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.tree_decoder import Parsed
from biplanar.encodings import Encoding
from biplanar.encodings.lemmas import LemmaDictionary
from biplanar.errors import BiplanarError, FileError, ScoreError
from biplanar.pipeline.document import Document
from biplanar.pipeline.hub import download, upload
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.options import DEFAULT_OPTIONS, ParseOptions
from biplanar.pipeline.parser_io import ParserInput, ParserOutput, chunked
from biplanar.tagger.predict import Scorer, parse_corpus

if TYPE_CHECKING:
    from biplanar.tokenizer.segmenter import Segmenter

# Words (or batches, if that is more) that are read to be sorted by length and cut into batches.
CHUNK_WORDS, CHUNK_BATCHES = 50_000, 10

TEXT_SIZE = 20_000  # characters of texts that are cut into words together

# A sentence that is parsed again, or its words.
Words = Sentence | list[str] | tuple[str, ...]


@dataclass(frozen=True)
class SeveralTrees:
    """Trees of one sentence, best first, each with the log-probability of its best labels.

    It is -inf where the search found no tree, and the tree is that of the arcs or of greedy decoding.
    """

    trees: list[tuple[Sentence, float]]
    outcome: Outcome


class Parser:
    """Parses text, words or CoNLL-U. Made by `biplanar.load`.

    All that parse take `ParseOptions`, or single options by their names: `parser(text, decoder="greedy")`.
    """

    def __init__(
        self,
        scorer: Scorer,
        inventory: LabelInventory,
        folder: ModelFolder,
        *,
        batch_words: int,
        lemmas: LemmaDictionary | None = None,
        load_segmenter: Callable[[], Segmenter] | None = None,
        reload: Callable[[], Parser] | None = None,
    ) -> None:
        """`lemmas` are known ones, which the network need not predict; `reload` loads the same parser elsewhere.

        `load_segmenter` loads what cuts raw text into words, when it is first needed.
        """
        self.scorer, self.inventory, self.folder = scorer, inventory, folder
        self.batch_words, self.lemmas = batch_words, lemmas
        self._load_segmenter = load_segmenter
        self._reload = reload

    def __repr__(self) -> str:
        return f"<Parser {str(self.folder.path)!r}, {self.encoding.name}>"

    def __reduce__(self) -> tuple[Callable[[], Parser], tuple[()]]:
        """Pickled is where it was loaded from, and how."""
        if self._reload is None:
            raise BiplanarError("only parsers from biplanar.load can be pickled")
        return self._reload, ()

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path,
        *,
        revision: str | None = None,
        cache_dir: str | Path | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
        token: str | bool | None = None,
        **options: Any,
    ) -> Parser:
        """The parser of a folder or of a model of the Hugging Face hub, with the options of `biplanar.load`."""
        from biplanar.pipeline.loading import load

        if Path(model).is_dir():
            return load(Path(model), **options)
        folder = download(
            str(model),
            revision,
            cache_dir=cache_dir,
            force_download=force_download,
            local_files_only=local_files_only,
            token=token,
        )
        return load(folder, **options)

    def save_pretrained(self, folder: str | Path) -> None:
        """Copy the model to a folder that is new or empty."""
        self.folder.copy_to(Path(folder))

    def push_to_hub(
        self,
        name: str,
        *,
        licence: str | None = None,
        language: str | list[str] | None = None,
        private: bool | None = None,
        revision: str | None = None,
        commit_message: str | None = None,
        token: str | None = None,
    ) -> str:
        """Upload the model to the Hugging Face hub, as `owner/name`; gives the address of the commit.

        The licence and the language (`en`) are those of the model's card, if none are passed; a model without a
        licence is refused.
        """
        with TemporaryDirectory() as place:
            copy = self.folder.copy_to(Path(place) / "model")
            return upload(
                copy.path,
                copy.card,
                name,
                licence=licence,
                language=language,
                private=private,
                revision=revision,
                commit_message=commit_message,
                token=token,
            )

    @property
    def encoding(self) -> Encoding:
        """What its labels are."""
        return self.inventory.encoding

    @cached_property
    def segmenter(self) -> Segmenter:
        """What cuts raw text into sentences and words; loaded when it is first needed."""
        if self._load_segmenter is None:
            raise FileError(f"{self.folder.path}: this parser has no segmenter, so it takes words and not raw text")
        return self._load_segmenter()

    # For people

    @overload
    def __call__(
        self, text: list[str] | list[Document], options: ParseOptions = ..., **changes: Any
    ) -> list[Document]: ...
    @overload
    def __call__(
        self, text: str | Document | Sentence | Sequence[Words], options: ParseOptions = ..., **changes: Any
    ) -> Document: ...
    def __call__(self, text: Any, options: ParseOptions = DEFAULT_OPTIONS, **changes: Any) -> Document | list[Document]:
        """Parse a text, a document, a sentence, or a list of sentences, each a list of words or a `Sentence`.

        A list of texts or documents gives a list of documents. So `parser(["Nobody", "came", "."])` is three texts, and
        `parser([["Nobody", "came", "."]])` is one sentence.
        """
        items = _items(text)
        are_documents = {isinstance(item, (str, Document)) for item in items}
        if len(are_documents) > 1:
            raise BiplanarError("cannot parse a list of texts and sentences: pass them one by one, or to pipe")
        if True in are_documents and not isinstance(text, (str, Document)):
            return list(self.pipe(items, options, **changes))
        sentences, outcome = list[Sentence](), Outcome()
        chosen = options.changed(**changes)
        for output in self._parsed(self._sentences(items), chosen):
            sentences += output.sentences()
            outcome += output.parsed.outcome
        return Document(tuple(sentences), outcome)

    def pipe(
        self, items: Iterable[Any], options: ParseOptions = DEFAULT_OPTIONS, *, as_tuples: bool = False, **changes: Any
    ) -> Iterator[Any]:
        """Parse a stream of texts, documents or sentences, in its order, with bounded memory, and in batches across it.

        A text or a document gives a document, a sentence (or a list of words) a sentence. With `as_tuples` the stream
        has pairs of an item and anything else, and so has the result, as in spaCy.

        Trees are replaced. What the model predicts beside them (`inventory.output_columns`) fills empty columns, with
        `retag` all; the others are kept. With `probabilities`, MISC says how likely each word's head is (`HeadProb`).
        """
        if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
            raise BiplanarError(f"cannot parse {items!r} as a stream: pass a list of texts, documents or sentences")
        chosen = options.changed(**changes)
        pairs = items if as_tuples else ((item, None) for item in items)
        enough = self.chunk_words(chosen)
        for chunk in chunked(self._read(pairs), lambda one: sum(map(len, one[2])), lambda _: enough):
            stream = self._parsed((sentence for _, _, sentences in chunk for sentence in sentences), chosen)
            results = (one for output in stream for one in output.sentences())
            for item, context, sentences in chunk:
                own = tuple(islice(results, len(sentences)))
                result = Document(own) if isinstance(item, (str, Document)) else own[0]
                yield (result, context) if as_tuples else result

    def _read(self, pairs: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any, list[Sentence]]]:
        """Items of a stream with their sentences; texts that follow each other are cut together."""

        def size(pair: tuple[Any, Any]) -> int:
            return len(pair[0]) if isinstance(pair[0], str) else TEXT_SIZE

        for some in chunked(pairs, size, lambda _: TEXT_SIZE):
            strings = [item for item, _ in some if isinstance(item, str)]
            texts = iter(self.segmenter.segment_all(strings) if strings else [])
            for item, context in some:
                sentences = next(texts) if isinstance(item, str) else self._of_item(item)
                yield item, context, list(with_offsets(sentences))

    def _parsed(self, sentences: Iterable[Sentence], options: ParseOptions) -> Iterator[ParserOutput]:
        enough = self.chunk_words(options)
        for chunk in chunked(sentences, len, lambda _: enough):
            yield self.parse(self.given(chunk), options)

    def best_trees(
        self, text: Any, wanted: int = 5, options: ParseOptions = DEFAULT_OPTIONS, **changes: Any
    ) -> list[list[tuple[Sentence, float]]]:
        """For each sentence up to `wanted` trees, best first, each with the log-probability of its best labels.

        It is -inf where the search found no tree, and the tree is that of the arcs or of greedy decoding.
        """
        chosen = options.changed(**changes)
        return [self.several_trees(sentence, wanted, chosen).trees for sentence in self._sentences(_items(text))]

    # For the stages around it

    def chunk_words(self, options: ParseOptions) -> int:
        """How many words are read to be parsed together."""
        return max(CHUNK_WORDS, CHUNK_BATCHES * (options.batch_words or self.batch_words))

    def several_trees(
        self, sentence: Sentence, wanted: int, options: ParseOptions = DEFAULT_OPTIONS, *, chosen_first: bool = False
    ) -> SeveralTrees:
        """Up to `wanted` trees of one sentence; with `chosen_first`, the decoder's own goes before the best others."""
        given = self.given([sentence])
        scores = self.scorer.score(self.scorer.represent(given.corpus.forms), given.corpus.batch([0]))
        decoder, tags = options.tree_decoder(self.inventory), self._given_tags(given, options)
        with self._named_in_errors():
            found = decoder.several(scores, wanted, tags, chosen_first=chosen_first)
        trees = [(next(self._output(given, parsed, options).sentences()), score) for parsed, score in found]
        return SeveralTrees(trees, found[0][0].outcome)

    def given(self, sentences: list[Sentence]) -> ParserInput:
        """Sentences to be parsed together, with the tags that the encoding needs."""
        return ParserInput(None, self._tagged(sentences))

    def read(
        self, content: Sequence[RawConllu] | ConlluTable, options: ParseOptions, *, as_objects: bool = False
    ) -> ParserInput:
        """Read sentences to be parsed together: as bytes, if MISC will not change, or else as objects."""
        others = any(number not in FILLED for number in self.inventory.output_numbers)

        def misc_is_kept(table: ConlluTable) -> bool:
            if as_objects or others or options.probabilities:
                return False
            tags_missing = self.inventory.needs_tagger and EMPTY in table.upos.names
            return not (tags_missing or PROBABILITY.encode() in table.data)

        given = ParserInput.of(content, misc_is_kept)
        return given if given.table is not None else self.given(given.sentences)

    def parse(self, given: ParserInput, options: ParseOptions = DEFAULT_OPTIONS) -> ParserOutput:
        """The trees of some sentences, and what else the model predicts."""
        decoder, upos = options.tree_decoder(self.inventory), self._given_tags(given, options)
        with self._named_in_errors():
            parsed = parse_corpus(self.scorer, given.corpus, decoder, options.batch_words or self.batch_words, upos)
        return self._output(given, parsed, options)

    def _output(self, given: ParserInput, parsed: Parsed, options: ParseOptions) -> ParserOutput:
        return ParserOutput(given, parsed, self.inventory, self.lemmas, options.retag)

    @contextmanager
    def _named_in_errors(self) -> Iterator[None]:
        try:
            yield
        except ScoreError as error:
            raise ScoreError(f"{self.folder.path}: {error}") from error

    def _given_tags(self, given: ParserInput, options: ParseOptions) -> Column | None:
        """The tags of the input, where they count; the decoder asks the network for what is missing."""
        replaced = options.retag and not self.inventory.needs_tagger
        return given.upos if self.encoding.needs_upos and not replaced else None

    def _sentences(self, items: Iterable[Any]) -> Iterator[Sentence]:
        """The sentences of texts, documents, sentences and lists of words, with offsets in the text of all of them."""
        read = (self.segmenter.segment(item) if isinstance(item, str) else self._of_item(item) for item in items)
        return with_offsets(sentence for sentences in read for sentence in sentences)

    def _of_item(self, item: Any) -> Iterable[Sentence]:
        if isinstance(item, Document):
            return item
        return [item if isinstance(item, Sentence) else Sentence.from_words(_words(item))]

    def _tagged(self, sentences: list[Sentence]) -> list[Sentence]:
        """With tags of UDPipe's where the encoding needs them and not all words of a sentence have one."""
        if not self.inventory.needs_tagger:
            return sentences
        return [self.segmenter.tag([one])[0] if EMPTY in one.upos else one for one in sentences]


def _items(text: Any) -> Sequence[Any]:
    """What was given to be parsed, as a list."""
    if isinstance(text, (str, Document, Sentence)):
        return [text]
    if isinstance(text, bytes) or not isinstance(text, Iterable):
        raise BiplanarError(f"cannot parse {text!r}: pass a text, a document, or sentences")
    return text if isinstance(text, Sequence) else list(text)


def _words(item: Any) -> list[str]:
    words = list(item) if isinstance(item, Iterable) else [item]
    if not isinstance(item, Iterable) or not all(isinstance(word, str) for word in words):
        raise BiplanarError(f"cannot parse {item!r}: a sentence is a list of words")
    return words
