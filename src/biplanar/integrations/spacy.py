"""Biplanar in spaCy: `nlp.add_pipe("biplanar")`, and the tokenizer `biplanar.tokenizer`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, POS, SENT_START, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc
from spacy.util import registry
from spacy.vocab import Vocab

from biplanar.data import conllu
from biplanar.data.arrays import Int64s
from biplanar.data.forest import Column, offsets_of
from biplanar.data.spacy_docs import noun_chunks, spacy_relation
from biplanar.decoding import DEFAULT_DECODER
from biplanar.decoding.beam import Beam
from biplanar.integrations.carried_model import copy_files, pack, parsing_files, unpack
from biplanar.integrations.spacy_sentences import DocSentences
from biplanar.integrations.spacy_tokenizer import BiplanarTokenizer
from biplanar.pipeline.loading import Placement, load
from biplanar.pipeline.options import ParseOptions
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.parser_input import chunked

Hashes = NDArray[np.uint64]

# What spaCy calls the columns that a model may predict.
ATTRIBUTES = {conllu.UPOS: POS, conllu.XPOS: TAG, conllu.FEATS: MORPH, conllu.LEMMA: LEMMA}

ASSIGNED = ("head", "dep", "is_sent_start", "pos", "tag", "morph", "lemma")

# What spaCy's own components say of white space.
SPACE_RELATION, SPACE_TAG, SPACE_POS = "dep", "_SP", IDS["SPACE"]

# Documents that are parsed together, if nobody says otherwise.
BATCH_SIZE = 1000


class BiplanarParser:
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
        self._parser: Parser | None = None

    @property
    def parser(self) -> Parser:
        """The parser itself."""
        if self._parser is None:
            self._parser = load(self.model, **self._placement)
        return self._parser

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
        parsed = parser.parse(given, options.tree_decoder(parser.inventory), options)
        columns = {DEP: self._hashes(conllu.DEPREL, parser.deprels(parsed))}
        for number, column in parser.values(given, parsed).items():
            if number in ATTRIBUTES:
                columns[ATTRIBUTES[number]] = self._hashes(number, column)
        heads = _absolute(parsed.heads.astype(np.int64), given.corpus.offsets)
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
        names = {DEP: SPACE_RELATION, TAG: SPACE_TAG}
        return SPACE_POS if attribute == POS else self.vocab.strings.add(names[attribute])

    def to_disk(self, path: str | Path, **_: Any) -> None:
        """Copy the model's files: it travels with the pipeline."""
        folder = self.parser.folder
        copy_files(parsing_files(folder), folder.path, Path(path))

    def from_disk(self, path: str | Path, **_: Any) -> BiplanarParser:
        """Load the model of a folder."""
        self._parser = load(path, **self._placement)
        return self

    def to_bytes(self, **_: Any) -> bytes:
        """The model's files as bytes."""
        folder = self.parser.folder
        return pack(parsing_files(folder), folder.path)

    def from_bytes(self, data: bytes, **_: Any) -> BiplanarParser:
        """Load the model that `to_bytes` gave, from a folder that lasts as long as the component."""
        return self.from_disk(unpack(data, self))


def _absolute(heads: Int64s, offsets: Int64s) -> Int64s:
    """Heads as numbers of words in all sentences, from 0; a root is its own head."""
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    return np.where(heads > 0, starts + heads - 1, np.arange(len(heads)))


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
