"""Biplanar in spaCy: `nlp.add_pipe("biplanar")`, and the tokenizer `biplanar.tokenizer`."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any, Self

import numpy as np
import srsly
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, IS_SPACE, LEMMA, MORPH, ORTH, POS, SENT_START, SPACY, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc
from spacy.util import DummyTokenizer, registry
from spacy.vocab import Vocab

from biplanar.data import conllu
from biplanar.data.arrays import Bools, Int64s
from biplanar.data.conllu import Sentence
from biplanar.data.documents import noun_chunks, spacy_relation
from biplanar.data.forest import Column, offsets_of
from biplanar.decoding import DEFAULT_DECODER
from biplanar.decoding.beam import Beam
from biplanar.errors import FileError
from biplanar.pipeline.loading import Placement, load, load_segmenter
from biplanar.pipeline.model_folder import ModelFolder, is_inside
from biplanar.pipeline.options import ParseOptions
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.parser_io import chunked
from biplanar.tokenizer.segmenter import Segmenter

Hashes = NDArray[np.uint64]

# What spaCy calls the columns that a model may predict.
ATTRIBUTES = {conllu.UPOS: POS, conllu.XPOS: TAG, conllu.FEATS: MORPH, conllu.LEMMA: LEMMA}

ASSIGNED = ("head", "dep", "is_sent_start", "pos", "tag", "morph", "lemma")

# What spaCy's own components say of white space.
SPACE_NAMES, SPACE_POS = {DEP: "dep", TAG: "_SP"}, IDS["SPACE"]

# Documents that are parsed together by default.
BATCH_SIZE = 1000

# A model that travels with a pipeline


class CarriedModel(ABC):
    """What spaCy asks of a component that has files: to write them, and to be loaded from them."""

    @abstractmethod
    def files(self) -> tuple[ModelFolder, list[Path]]:
        """The model's folder, and those files of it that travel."""

    @abstractmethod
    def from_disk(self, path: str | Path, **_: Any) -> Self:
        """Load the files of a folder."""

    def to_disk(self, path: str | Path, **_: Any) -> None:
        """Copy the files to a folder, which is made if need be."""
        for name, file in self._by_name().items():
            copy = Path(path) / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not (copy.exists() and copy.samefile(file)):
                shutil.copyfile(file, copy)

    def to_bytes(self, **_: Any) -> bytes:
        """The names of the files, and what is in them."""
        return bytes(srsly.msgpack_dumps({name: file.read_bytes() for name, file in self._by_name().items()}))

    def from_bytes(self, data: bytes, **_: Any) -> Self:
        """Load what `to_bytes` gave, from a folder that lasts as long as the component."""
        return self.from_disk(unpack(data, self))

    def _by_name(self) -> dict[str, Path]:
        folder, files = self.files()
        return {file.relative_to(folder.path).as_posix(): file for file in files if file.is_file()}


def unpack(data: bytes, owner: object) -> Path:
    """A folder with the files of `to_bytes`, which lasts as long as its owner; names that lead out are refused."""
    folder = Path(tempfile.mkdtemp(prefix="biplanar-"))
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    for name, content in srsly.msgpack_loads(data).items():
        if not isinstance(content, bytes) or not isinstance(name, str) or not is_inside(name):
            raise FileError(f"not a file of a model: {name!r}")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


# Documents of spaCy


@dataclass(frozen=True)
class DocSentences:
    """The sentences of a document that have words."""

    doc: Doc
    texts: list[str]  # of all tokens
    words: Int64s  # tokens that are no white space
    spaces: Int64s  # tokens that are
    offsets: Int64s  # (sentences + 1,): the words of each sentence
    starts: Bools  # (tokens,): where sentences begin; white space before the first word belongs to the first one

    @classmethod
    def of(cls, docs: Sequence[Doc], parser: Parser) -> list[DocSentences]:
        """By the boundaries that documents have, or else by the model's tokenizer."""
        # Arrays of all tokens at once: an object for each token would take as long as the network.
        tables = [np.asarray(doc.to_array([ORTH, SPACY, IS_SPACE, SENT_START])).T for doc in docs]
        texts = [_texts(doc, table[0].tolist()) for doc, table in zip(docs, tables, strict=True)]
        begins = [table[3].astype(np.int64) == 1 for table in tables]
        unknown = [at for at, doc in enumerate(docs) if len(doc) and not doc.has_annotation("SENT_START")]
        found = _boundaries([_spaced(texts[at], tables[at][1].tolist()) for at in unknown], parser) if unknown else []
        for at, starts in zip(unknown, found, strict=True):
            begins[at] = starts
        return [cls._of(*each) for each in zip(docs, texts, (table[2] for table in tables), begins, strict=True)]

    @classmethod
    def _of(cls, doc: Doc, texts: list[str], is_space: Int64s, begins: Bools) -> DocSentences:
        words, spaces = np.flatnonzero(is_space == 0), np.flatnonzero(is_space)
        numbers = np.cumsum(begins)  # (tokens,): of each token's sentence
        firsts = np.flatnonzero(np.diff(numbers[words], prepend=-1))  # the first word of each sentence
        starts = np.zeros(len(doc), dtype=bool)
        starts[np.searchsorted(numbers, numbers[words[firsts]])] = True
        starts[: words[0] + 1 if len(words) else 0] = False
        starts[:1] = True
        return cls(doc, texts, words, spaces, np.append(firsts, len(words)), starts)

    def sentences(self, *, tags: bool) -> list[Sentence]:
        """Their words for the parser, with the tags that the document has if they are wanted."""
        forms = [self.texts[at] for at in self.words.tolist()] if len(self.spaces) else self.texts
        if conllu.find_misfit(forms) is not None:
            forms = [re.sub(r"\s", " ", form) for form in forms]
        upos = [self.doc[at].pos_ or "_" for at in self.words.tolist()] if tags else None
        bounds = list(pairwise(self.offsets.tolist()))
        return [Sentence.from_words(forms[a:b], upos=upos[a:b] if upos else None) for a, b in bounds]

    def heads_of_spaces(self) -> Int64s:
        """The word before each white space if it is in the same sentence, else the one behind it."""
        sentences = np.cumsum(self.starts)
        behind = np.searchsorted(self.words, self.spaces)
        before, after = self.words[np.maximum(behind - 1, 0)], self.words[np.minimum(behind, len(self.words) - 1)]
        fits = (before < self.spaces) & (sentences[before] == sentences[self.spaces])
        return np.where(fits, before, after)


def _texts(doc: Doc, orths: list[int]) -> list[str]:
    strings = doc.vocab.strings
    known = {orth: strings[orth] for orth in set(orths)}
    return [known[orth] for orth in orths]


def _spaced(texts: list[str], spaced: list[int]) -> list[str]:
    return [f"{text} " if space else text for text, space in zip(texts, spaced, strict=True)]


def _boundaries(docs: Sequence[list[str]], parser: Parser) -> list[Bools]:
    """At which tokens of each document the model's tokenizer starts a sentence; all are one text, as paragraphs."""
    if not parser.folder.takes_text:
        hint = "add a component that finds sentences before it, such as 'sentencizer'"
        raise FileError(f"{parser.folder.path}: this model has no tokenizer to find sentences with: {hint}")
    found = parser.segmenter.sentence_ends(docs)
    return [np.append(True, ends[:-1]) for ends in found]


# The components


class BiplanarParser(CarriedModel):
    """A component that sets heads, relations, sentence starts and what else its model predicts."""

    def __init__(
        self,
        vocab: Vocab,
        model: str | None = None,
        *,
        device: str = "cpu",
        runtime: str | None = None,
        threads: int | None = None,
        options: ParseOptions | None = None,
    ) -> None:
        """`model` is a name or a folder, and None the bundled model; it is loaded when it is first needed."""
        self.vocab, self.model, self.options = vocab, model, options or ParseOptions()
        self._placement: dict[str, Any] = {"device": device, "runtime": runtime, "threads": threads}

    @cached_property
    def parser(self) -> Parser:
        """The parser itself."""
        return load(self.model, **self._placement)

    def __call__(self, doc: Doc) -> Doc:
        """Parse one document."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = BATCH_SIZE) -> Iterator[Doc]:
        """Parse a stream of documents, up to `batch_size` at a time, or fewer if they are long."""
        enough = self.parser.chunk_words(self.options)
        least = ceil(enough / batch_size)
        for docs in chunked(stream, lambda doc: max(len(doc), least), lambda _: enough):
            self._annotate(docs)
            yield from docs

    def _annotate(self, docs: list[Doc]) -> None:
        parser, options = self.parser, self.options
        parts = DocSentences.of(docs, parser)
        tags = parser.encoding.needs_upos
        sentences = [sentence for part in parts for sentence in part.sentences(tags=tags)]
        if not sentences:
            return
        given = parser.given(sentences)
        output = parser.parse(given, options)
        columns = {DEP: self._hashes(conllu.DEPREL, output.deprels)}
        for number, column in output.columns.items():
            if number in ATTRIBUTES:
                columns[ATTRIBUTES[number]] = self._hashes(number, column)
        relative, offsets = output.parsed.heads.astype(np.int64), given.corpus.offsets
        starts = np.repeat(offsets[:-1], np.diff(offsets))
        heads = np.where(relative > 0, starts + relative - 1, np.arange(len(relative)))  # a root is its own head
        bounds = offsets_of(len(part.words) for part in parts)
        for part, (start, end) in zip(parts, pairwise(bounds.tolist()), strict=True):
            if end > start:
                own = {attribute: values[start:end] for attribute, values in columns.items()}
                self._write(part, heads[start:end] - start, own)

    def _hashes(self, number: int, column: Column) -> Hashes:
        """A column's values as spaCy numbers them."""
        hashes = np.array([*(self._hash(number, name) for name in column.names), 0], dtype=np.uint64)
        return hashes[column.ids]

    def _hash(self, number: int, name: str) -> int:
        if number == conllu.FEATS:
            return int(self.vocab.morphology.add("" if name == conllu.EMPTY else name))
        if name == conllu.EMPTY:
            return 0
        if number == conllu.UPOS:
            return int(IDS.get(name, IDS["X"]))
        return int(self.vocab.strings.add(spacy_relation(name) if number == conllu.DEPREL else name))

    def _write(self, part: DocSentences, heads: Int64s, columns: dict[int, Hashes]) -> None:
        """Set the attributes of one document; `heads` are numbers of its words."""
        doc, attributes = part.doc, [HEAD, *columns]
        table = np.zeros((len(doc), len(attributes)), dtype=np.uint64)
        table[part.words, 0] = (part.words[heads] - part.words).view(np.uint64)
        for at, values in enumerate(columns.values(), 1):
            table[part.words, at] = values
        if len(part.spaces):
            table[part.spaces, 0] = (part.heads_of_spaces() - part.spaces).view(np.uint64)
            for at, attribute in enumerate(columns, 1):
                table[part.spaces, at] = self._of_spaces(part, attribute)
        if len(columns) > 1 and not self.options.retag:
            kept = np.asarray(doc.to_array(attributes[2:]), dtype=np.uint64).reshape(len(doc), -1)
            table[:, 2:] = np.where(kept, kept, table[:, 2:])
        doc.from_array(attributes, table)  # type: ignore[arg-type]
        # From heads spaCy infers where sentences start, but not always rightly if many arcs cross.
        starts = np.where(part.starts, 1, -1).astype(np.int64).view(np.uint64)
        doc.from_array([SENT_START], starts.reshape(-1, 1))  # type: ignore[arg-type]

    def _of_spaces(self, part: DocSentences, attribute: int) -> Any:
        """What white space has as a relation, tag, ..."""
        if attribute == LEMMA:
            return np.array([part.doc[at].orth for at in part.spaces.tolist()], dtype=np.uint64)
        if attribute == MORPH:
            return self._hash(conllu.FEATS, "_")
        return SPACE_POS if attribute == POS else self.vocab.strings.add(SPACE_NAMES[attribute])

    def files(self) -> tuple[ModelFolder, list[Path]]:
        """What parsing needs, and the card; what only training needs is left behind."""
        folder = self.parser.folder
        folders = (folder.encoder, folder.int8, folder.onnx, folder.segmenter.int8)
        networks = [path for part in folders for path in sorted(part.glob("*"))]
        return folder, [*folder.parts, folder.weights, folder.checksums, folder.card, *networks]

    def from_disk(self, path: str | Path, **_: Any) -> Self:
        """Load the model of a folder."""
        self.parser = load(path, **self._placement)
        return self


class BiplanarTokenizer(CarriedModel, DummyTokenizer):
    """Cuts text into words; a multiword token is one token, unless it is its words side by side (`do` `n't`)."""

    def __init__(self, vocab: Vocab, model: str | None = None) -> None:
        self.vocab, self.model = vocab, model

    @cached_property
    def folder(self) -> ModelFolder:
        """Where the tokenizer's files are."""
        return ModelFolder.find(self.model)

    @cached_property
    def segmenter(self) -> Segmenter:
        """Loaded when it is first needed."""
        return load_segmenter(self.folder)

    def __call__(self, text: str) -> Doc:
        """A document with the same text to the character; white space beyond single spaces has tokens, as in spaCy."""
        pieces = list(self._pieces(text))
        words, spaces, starts = map(list, zip(*pieces, strict=True)) if pieces else ([], [], [])
        starts = [place == 0 or start for place, start in enumerate(starts)]
        return Doc(self.vocab, words=words, spaces=spaces, sent_starts=starts)

    def _pieces(self, text: str) -> Iterator[tuple[str, bool, bool]]:
        """The text of each token, whether a space follows, and whether a sentence starts there."""
        end = 0
        for sentence in self.segmenter.segment(text):
            for place, token in enumerate(sentence.tokens):
                before, own, after = token.spaced
                begins = place == 0 and end > 0
                end += len(before) + len(own) + len(after)
                if before:
                    yield before, False, False
                follows = after.startswith(" ")
                *firsts, last = _words(token, own)
                for number, word in enumerate(firsts):
                    yield word, False, begins and number == 0
                yield last, follows, begins and not firsts
                if rest := after[follows:]:
                    yield rest, False, False
        if rest := text[end:]:  # a text of white space alone
            yield rest, False, False

    def files(self) -> tuple[ModelFolder, list[Path]]:
        """Those of the tokenizer."""
        folder = self.folder
        own = [folder.udpipe, folder.whole_tokens, folder.checksums]
        return folder, [*own, *folder.segmenter.path.rglob("*")]

    def from_disk(self, path: str | Path, **_: Any) -> Self:
        """Use the tokenizer of a folder."""
        self.folder = ModelFolder(Path(path))
        self.__dict__.pop("segmenter", None)
        self.segmenter.segment("")  # loads it, so that errors come here
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "segmenter"}


def _words(token: conllu.Token, text: str) -> list[str]:
    forms = [word.form for word in token.words] if token.is_multiword else [text]
    return forms if "".join(forms) == text else [text]


@Language.factory(
    "biplanar",
    assigns=["doc.sents", *(f"token.{name}" for name in ASSIGNED)],
    default_config={
        "model": None,
        "device": "cpu",
        "runtime": None,
        "threads": None,
        "decoder": DEFAULT_DECODER,
        "beam": Beam().states,
        "batch_words": None,
        "tags": True,
        "retag": False,
    },
    default_score_weights={"dep_uas": 0.5, "dep_las": 0.5, "dep_las_per_type": None, "sents_f": 0.0},
)
def make_parser(
    nlp: Language,
    name: str,
    model: str | None,
    device: str,
    runtime: str | None,
    threads: int | None,
    decoder: str,
    beam: int,
    batch_words: int | None,
    tags: bool,
    retag: bool,
) -> BiplanarParser:
    """The component, by spaCy's configuration."""
    options = ParseOptions(decoder, Beam(beam), tags=tags, retag=retag, batch_words=batch_words)
    nlp.vocab.get_noun_chunks = noun_chunks  # type: ignore[assignment]  # spaCy itself makes them spans
    if name not in nlp._meta.get("components", ()):  # else this pipeline is loaded from disk, and brings its model
        Placement.of(model, device, runtime).folder.read_settings()
    return BiplanarParser(nlp.vocab, model, device=device, runtime=runtime, threads=threads, options=options)


@registry.tokenizers("biplanar.tokenizer")  # type: ignore[untyped-decorator]
def make_tokenizer(model: str | None = None) -> Callable[[Language], BiplanarTokenizer]:
    """The tokenizer of a model, by spaCy's configuration; without one, that of the bundled model."""
    return lambda nlp: BiplanarTokenizer(nlp.vocab, model)
