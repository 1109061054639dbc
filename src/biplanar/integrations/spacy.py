"""Biplanar in spaCy: `nlp.add_pipe("biplanar")`, and the tokenizer `biplanar.tokenizer`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, POS, SENT_START, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc
from spacy.util import DummyTokenizer, registry
from spacy.vocab import Vocab

from biplanar.data import conllu
from biplanar.data.arrays import Int64s
from biplanar.data.forest import Column, offsets_of
from biplanar.data.documents import noun_chunks, spacy_relation
from biplanar.decoding import DEFAULT_DECODER
from biplanar.decoding.beam import Beam
from biplanar.integrations.carried_model import CarriedModel
from biplanar.integrations.spacy_sentences import DocSentences
from biplanar.pipeline.loading import Placement, load
from biplanar.pipeline.model_folder import ModelFolder
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

# Documents that are parsed together, if nobody says otherwise.
BATCH_SIZE = 1000


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
        heads = _absolute(output.parsed.heads.astype(np.int64), given.corpus.offsets)
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
        networks = [path for network in (folder.int8, folder.onnx) for path in sorted(network.glob("*"))]
        return folder, [*folder.parts, folder.weights, folder.checksums, folder.card, *networks]

    def from_disk(self, path: str | Path, **_: Any) -> Self:
        """Load the model of a folder."""
        self.parser = load(path, **self._placement)
        return self


def _absolute(heads: Int64s, offsets: Int64s) -> Int64s:
    """Heads as numbers of words in all sentences, from 0; a root is its own head."""
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    return np.where(heads > 0, starts + heads - 1, np.arange(len(heads)))


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
        self.folder.verify(self.folder.segmenter, self.folder.whole_tokens)
        return Segmenter.load(self.folder.segmenter)

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
        return self.folder, [self.folder.segmenter, self.folder.whole_tokens, self.folder.checksums]

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
