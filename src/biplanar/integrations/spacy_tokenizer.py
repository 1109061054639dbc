"""A model's tokenizer as the tokenizer of a spaCy pipeline; it also says where sentences start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.util import DummyTokenizer
from spacy.vocab import Vocab

from biplanar.data.conllu import Token
from biplanar.integrations.carried_model import copy_files, pack, tokenizer_files, unpack
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.tokenizer.segmenter import Segmenter

Piece = tuple[str, bool, bool]  # a token's text, whether a space follows, and whether a sentence starts


class BiplanarTokenizer(DummyTokenizer):
    """Cuts text into words; a multiword token is one token, unless it is its words side by side (`do` `n't`)."""

    def __init__(self, vocab: Vocab, model: str | None = None) -> None:
        self.vocab, self.model = vocab, model
        self._segmenter: Segmenter | None = None
        self._folder: ModelFolder | None = None

    @property
    def folder(self) -> ModelFolder:
        """Where the tokenizer's files are."""
        return self._folder or ModelFolder.find(self.model)

    @property
    def segmenter(self) -> Segmenter:
        """Loaded when it is first needed."""
        return self._segmenter or self._load()

    def _load(self) -> Segmenter:
        self.folder.verify(self.folder.segmenter, self.folder.whole_tokens)
        self._segmenter = Segmenter.load(self.folder.segmenter)
        return self._segmenter

    def __call__(self, text: str) -> Doc:
        """A document with the same text to the character; white space beyond single spaces has tokens, as in spaCy."""
        pieces = list(self._pieces(text))
        words, spaces, starts = map(list, zip(*pieces, strict=True)) if pieces else ([], [], [])
        starts = [place == 0 or start for place, start in enumerate(starts)]
        return Doc(self.vocab, words=words, spaces=spaces, sent_starts=starts)

    def _pieces(self, text: str) -> Iterator[Piece]:
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

    def to_disk(self, path: str | Path, **_: Any) -> None:
        """Copy the tokenizer's files."""
        copy_files(tokenizer_files(self.folder), self.folder.path, Path(path))

    def from_disk(self, path: str | Path, **_: Any) -> BiplanarTokenizer:
        """Use the tokenizer of a folder."""
        self._folder, self._segmenter = ModelFolder(Path(path)), None
        self._load()
        return self

    def to_bytes(self, **_: Any) -> bytes:
        """The tokenizer's files as bytes."""
        return pack(tokenizer_files(self.folder), self.folder.path)

    def from_bytes(self, data: bytes, **_: Any) -> BiplanarTokenizer:
        """Use the tokenizer that `to_bytes` gave."""
        return self.from_disk(unpack(data, self))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_segmenter": None}


def _words(token: Token, text: str) -> Iterable[str]:
    forms = [word.form for word in token.words] if token.is_multiword else [text]
    return forms if "".join(forms) == text else [text]
