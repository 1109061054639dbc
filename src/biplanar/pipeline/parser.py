"""The parser: the one place where tokenizer, features, tagger and decoding meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from math import isnan
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from biplanar.data import conllu
from biplanar.data.conllu import EMPTY, FEATS, RawConllu, Sentence
from biplanar.data.conllu_bytes import FILLED, ConlluTable
from biplanar.data.forest import Column
from biplanar.data.raw_text import with_offsets
from biplanar.data.words import PROBABILITY
from biplanar.decoding.beam import Outcome
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.encodings import Encoding
from biplanar.encodings.columns import COLUMNS
from biplanar.encodings.lemmas import LemmaDictionary
from biplanar.errors import BiplanarError, FileError, ScoreError
from biplanar.pipeline.document import Document
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.options import DEFAULT_OPTIONS, ParseOptions
from biplanar.pipeline.parser_input import ParserInput, chunked
from biplanar.tagger.predict import Scorer, parse_corpus

if TYPE_CHECKING:
    from biplanar.tokenizer.segmenter import Segmenter

# Words (or batches, if that is more) that are read to be sorted by length and cut into batches.
CHUNK_WORDS, CHUNK_BATCHES = 50_000, 10

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
        reload: Callable[[], Parser] | None = None,
    ) -> None:
        """`lemmas` are known ones, which the network need not predict; `reload` loads the same parser elsewhere."""
        self.scorer, self.inventory, self.folder = scorer, inventory, folder
        self.batch_words, self.lemmas = batch_words, lemmas
        self._segmenter: Segmenter | None = None
        self._reload = reload

    def __repr__(self) -> str:
        return f"<Parser {str(self.folder.path)!r}, {self.encoding.name}>"

    def __reduce__(self) -> tuple[Callable[[], Parser], tuple[()]]:
        """Pickled is where it was loaded from, and how."""
        if self._reload is None:
            raise BiplanarError("only parsers from biplanar.load can be pickled")
        return self._reload, ()

    @property
    def encoding(self) -> Encoding:
        """What its labels are."""
        return self.inventory.encoding

    @property
    def segmenter(self) -> Segmenter:
        """What cuts raw text into sentences and words; loaded when it is first needed."""
        if self._segmenter is None:
            from biplanar.tokenizer.segmenter import Segmenter

            if not self.folder.segmenter.exists():
                raise FileError(f"{self.folder.path}: this model has no tokenizer, so it takes words and not raw text")
            self.folder.verify(self.folder.segmenter, self.folder.whole_tokens)
            self._segmenter = Segmenter.load(self.folder.segmenter)
        return self._segmenter

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
        for given, parsed in self._parsed(self._sentences(items), chosen):
            sentences += self.annotated(given, parsed, chosen)
            outcome += parsed.outcome
        return Document(tuple(sentences), outcome)

    def pipe(
        self,
        items: Iterable[Any],
        options: ParseOptions = DEFAULT_OPTIONS,
        *,
        as_tuples: bool = False,
        **changes: Any,
    ) -> Iterator[Any]:
        """Parse a stream of texts, documents or sentences, in its order, with bounded memory, and in batches across it.

        A text or a document gives a document, a sentence (or a list of words) a sentence. With `as_tuples` the stream
        has pairs of an item and anything else, and so has the result, as in spaCy.

        Trees are replaced. What the model predicts beside them (`inventory.output_columns`) fills empty columns, with
        `retag` all; the others are kept. With `probabilities`, MISC says how likely each word's head is (`HeadProb`).
        """
        if isinstance(items, str):
            raise BiplanarError("pipe takes several texts: pass a list, or call the parser with the text")
        chosen = options.changed(**changes)
        pairs = items if as_tuples else ((item, None) for item in items)
        read = ((item, context, list(self._sentences([item]))) for item, context in pairs)
        enough = self.chunk_words(chosen)
        for chunk in chunked(read, lambda one: sum(map(len, one[2])), lambda _: enough):
            stream = self._parsed((sentence for _, _, sentences in chunk for sentence in sentences), chosen)
            results = (one for given, parsed in stream for one in self.annotated(given, parsed, chosen))
            for item, context, sentences in chunk:
                own = tuple(islice(results, len(sentences)))
                result = Document(own) if isinstance(item, (str, Document)) else own[0]
                yield (result, context) if as_tuples else result

    def _parsed(self, sentences: Iterable[Sentence], options: ParseOptions) -> Iterator[tuple[ParserInput, Parsed]]:
        decoder, enough = options.tree_decoder(self.inventory), self.chunk_words(options)
        for chunk in chunked(sentences, len, lambda _: enough):
            given = self.given(chunk)
            yield given, self.parse(given, decoder, options)

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
        trees = [(next(self.annotated(given, parsed, options)), score) for parsed, score in found]
        return SeveralTrees(trees, found[0][0].outcome)

    def given(self, sentences: list[Sentence]) -> ParserInput:
        """Sentences to be parsed together, with the tags that the encoding needs."""
        return ParserInput(None, self._tagged(sentences))

    def read(self, blocks: Sequence[RawConllu], options: ParseOptions, *, as_objects: bool = False) -> ParserInput:
        """Read sentences to be parsed together: as bytes, if MISC will not change, or else as objects."""
        others = any(number not in FILLED for number in self.inventory.output_numbers)

        def misc_is_kept(table: ConlluTable) -> bool:
            if as_objects or others or options.probabilities:
                return False
            tags_missing = self.inventory.needs_tagger and EMPTY in table.upos.names
            return not (tags_missing or PROBABILITY.encode() in table.data)

        given = ParserInput.of(blocks, misc_is_kept)
        return given if given.table is not None else self.given(given.sentences)

    def parse(self, given: ParserInput, decoder: TreeDecoder, options: ParseOptions = DEFAULT_OPTIONS) -> Parsed:
        """The trees of some sentences, and what else the model predicts."""
        batch_words, upos = options.batch_words or self.batch_words, self._given_tags(given, options)
        with self._named_in_errors():
            return parse_corpus(self.scorer, given.corpus, decoder, batch_words, upos)

    @contextmanager
    def _named_in_errors(self) -> Iterator[None]:
        try:
            yield
        except ScoreError as error:
            raise ScoreError(f"{self.folder.path}: {error}") from error

    def to_conllu(self, given: ParserInput, parsed: Parsed, options: ParseOptions = DEFAULT_OPTIONS) -> bytes:
        """Sentences with their trees and columns."""
        if given.table is not None:
            values = self.values(given, parsed)
            return given.table.with_trees(parsed.heads, self.deprels(parsed), values, replace=options.retag)
        return "".join([sentence.raw for sentence in self.annotated(given, parsed, options)]).encode()

    def annotated(
        self, given: ParserInput, parsed: Parsed, options: ParseOptions = DEFAULT_OPTIONS
    ) -> Iterator[Sentence]:
        """Sentences with their trees and columns, one by one."""
        values = {number: column.labels() for number, column in self.values(given, parsed).items()}
        arcs = {conllu.HEAD: list(map(str, parsed.heads.tolist())), conllu.DEPREL: self.deprels(parsed).labels()}
        for sentence, start in zip(given.sentences, given.corpus.offsets[:-1].tolist(), strict=True):
            words = slice(start, start + len(sentence))
            own = {number: column[words] for number, column in values.items()}
            tree = {number: column[words] for number, column in arcs.items()}
            result = sentence.with_columns(tree | (own if options.retag else _missing(sentence, own)))
            if parsed.probabilities is not None:
                likely = parsed.probabilities[words].tolist()
                result = result.with_misc(PROBABILITY, [None if isnan(one) else f"{one:.3f}" for one in likely])
            elif PROBABILITY in sentence.raw:  # of another tree
                result = result.with_misc(PROBABILITY, [None] * len(sentence))
            yield result

    def values(self, given: ParserInput, parsed: Parsed) -> dict[int, Column]:
        """What the model predicts beside the trees, by the number of the column."""
        if not parsed.columns:
            return {}
        forms = Column(given.corpus.words.astype(np.int32), tuple(given.corpus.forms))
        values = {
            COLUMNS[name].number: COLUMNS[name].decode(Column(ids, self.inventory.names[name]), forms)
            for name, ids in parsed.columns.items()
        }
        if self.lemmas is not None and {conllu.LEMMA, conllu.UPOS} <= set(values):
            values[conllu.LEMMA] = self.lemmas.look_up(values[conllu.LEMMA], values[conllu.UPOS], forms)
        return values

    def _given_tags(self, given: ParserInput, options: ParseOptions) -> Column | None:
        """The tags of the input, where they count; the decoder asks the network for what is missing."""
        replaced = options.retag and not self.inventory.needs_tagger
        return given.upos if self.encoding.needs_upos and not replaced else None

    def _sentences(self, items: Iterable[Any]) -> Iterator[Sentence]:
        """The sentences of texts, documents, sentences and lists of words, with offsets in the text of all of them."""
        return with_offsets(sentence for item in items for sentence in self._of_item(item))

    def _of_item(self, item: Any) -> Iterable[Sentence]:
        if isinstance(item, str):
            return self.segmenter.segment(item)
        if isinstance(item, Document):
            return item
        return [item if isinstance(item, Sentence) else Sentence.from_words(_words(item))]

    def _tagged(self, sentences: list[Sentence]) -> list[Sentence]:
        """With tags of UDPipe's where the encoding needs them and not all words of a sentence have one."""
        if not self.inventory.needs_tagger:
            return sentences
        return [self.segmenter.tag([one])[0] if EMPTY in one.upos else one for one in sentences]

    def deprels(self, parsed: Parsed) -> Column:
        """The relations of all words."""
        return Column(parsed.relations, self.inventory.deprels)


def _items(text: Any) -> Sequence[Any]:
    """What was given to be parsed, as a list."""
    if isinstance(text, (str, Document, Sentence)):
        return [text]
    if not isinstance(text, Iterable):
        raise BiplanarError(f"cannot parse {text!r}: pass a text, a document, or sentences")
    return text if isinstance(text, Sequence) else list(text)


def _words(item: Any) -> list[str]:
    words = list(item) if isinstance(item, Iterable) else [item]
    if not isinstance(item, Iterable) or not all(isinstance(word, str) for word in words):
        raise BiplanarError(f"cannot parse {item!r}: a sentence is a list of words")
    return words


def _missing(sentence: Sentence, values: Mapping[int, list[str]]) -> dict[int, list[str]]:
    """Values for the columns in which words have none, with those that they have.

    No features are a value as well, if other words of the sentence have some.
    """
    missing = {}
    for number, new in values.items():
        old = sentence.column(number)
        if EMPTY in old and not (number == FEATS and any(one != EMPTY for one in old)):
            missing[number] = [value if one == EMPTY else one for one, value in zip(old, new, strict=True)]
    return missing
