"""A document: parsed sentences in order, and what else they can become."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, overload

from biplanar.data.conllu import Sentence, Word
from biplanar.data.raw_text import original_text, with_offsets
from biplanar.decoding.beam import Outcome

if TYPE_CHECKING:
    import pandas
    from spacy.tokens import Doc
    from spacy.vocab import Vocab


@dataclass(frozen=True, repr=False)
class Document:
    """Parsed sentences, in order: they are what iterating and indexing gives."""

    sentences: tuple[Sentence, ...]
    outcome: Outcome = field(default_factory=Outcome, compare=False)  # how their trees were found

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> Document:
        """A document of sentences from anywhere, whose offsets count in the text of all of them."""
        return cls(tuple(with_offsets(sentences)))

    @classmethod
    def from_spacy(cls, doc: Doc) -> Document:
        """The sentences of a spaCy document; its tokens are the words, and white space is kept in MISC."""
        from biplanar.data.documents import from_spacy

        return cls.of(from_spacy(doc))

    @classmethod
    def from_stanza(cls, doc: Any) -> Document:
        """The sentences of a document of Stanza's, multiword tokens included."""
        from biplanar.data.documents import from_stanza

        return cls.of(from_stanza(doc))

    def __repr__(self) -> str:
        sentences, words = len(self.sentences), sum(map(len, self.sentences))
        return f"<Document: {sentences} sentence{'s' * (sentences != 1)}, {words} word{'s' * (words != 1)}>"

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

    @property
    def words(self) -> list[Word]:
        """The words of all sentences."""
        return list(chain.from_iterable(self.sentences))

    @property
    def text(self) -> str:
        """The text that the sentences were cut from; of sentences that came as words, one with spaces between."""
        return original_text(self.sentences)

    def to_conllu(self) -> str:
        """All sentences as CoNLL-U."""
        return "".join(sentence.to_conllu() for sentence in self.sentences)

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain values: `Sentence.to_dict` of each sentence."""
        return [sentence.to_dict() for sentence in self.sentences]

    def to_json(self) -> str:
        """A JSON list of an object for each sentence, a line each."""
        return "[" + ",\n".join(sentence.to_json() for sentence in self.sentences) + "]"

    def to_dataframe(self) -> pandas.DataFrame:
        """A row for each word, with the number of its sentence, from 0."""
        from biplanar.data.conversions import words_frame

        return words_frame(self.sentences)

    def to_spacy(self, vocab: Vocab) -> Doc:
        """A spaCy document, with a token for each word."""
        from biplanar.data.documents import to_spacy

        return to_spacy(self.sentences, vocab)

    def _repr_html_(self) -> str:
        """The trees as a notebook draws them."""
        return "".join(sentence._repr_html_() or "" for sentence in self.sentences)
