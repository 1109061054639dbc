"""Raw text to sentences and words, by the trainable tokenizer of UDPipe 1 as in the paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ufal import udpipe

from biplanar.data.conllu import FEATS, LEMMA, UPOS, XPOS, Sentence, parse_conllu
from biplanar.errors import BiplanarError, FileError
from biplanar.tokenizer.paragraphs import paragraphs_of
from biplanar.tokenizer.text_for_udpipe import for_udpipe

_MAGIC = b"\x12morphodita_parsito"  # without it, UDPipe may end the whole process
_MORE_SPACES = re.compile("[\v\f\x1c-\x1f\x85\u2028\u2029]")  # which UDPipe takes for paragraphs of words
_SENTENCE_NUMBER = re.compile(r"(?<=^# sent_id = )\d+$", re.MULTILINE)
_SPACES_IN_MISC = re.compile(r"\t(?!SpaceAfter=No$)([^\t\n]*Space[^\t\n]*)$", re.MULTILINE)
_NO_SPACE = "SpaceAfter=No"


class Segmenter:
    """A trained UDPipe model: cuts text into sentences and words, and tags them if it has learnt to."""

    def __init__(self, model: Any) -> None:
        self._model = model
        probe = udpipe.Sentence()
        probe.addWord("a")
        self._has_tagger = bool(model.tag(probe, "", udpipe.ProcessingError()))

    @classmethod
    def load(cls, path: str | Path) -> Segmenter:
        """Read a model that `train_segmenter` or UDPipe 1 has written."""
        try:
            with Path(path).open("rb") as stream:
                begins_well = stream.read(len(_MAGIC)) == _MAGIC
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from error
        model = udpipe.Model.load(str(path)) if begins_well else None
        if model is None:
            raise FileError(f"{path}: expected a UDPipe model, found another file or a damaged one")
        if model.newTokenizer("") is None:
            raise FileError(f"{path}: expected a UDPipe model with a tokenizer, found one without")
        return cls(model)

    @property
    def has_tagger(self) -> bool:
        """Whether `tag` can be asked for."""
        return self._has_tagger

    def segment(self, text: str, *, presegmented: bool = False) -> list[Sentence]:
        """The sentences of a text; `presegmented` says that each line is one."""
        return list(self.stream([text], presegmented=presegmented))

    def stream(self, chunks: Iterable[str], *, presegmented: bool = False) -> Iterator[Sentence]:
        """The sentences of a text that comes in chunks (lines with their ends, or any others) and may be of any size.

        How the text is cut into chunks makes no difference. Each paragraph is looked at by itself, as no sentence goes
        on over a blank line.
        """
        tokenizer = self._tokenizer(presegmented)
        for paragraphs in paragraphs_of(chunks, presegmented=presegmented):
            if conllu := _tokenize(tokenizer, paragraphs):
                yield from parse_conllu(conllu)

    def to_conllu(self, paragraphs: Iterable[str], *, before: str = "", presegmented: bool = False) -> str:
        """The sentences of some paragraphs (`paragraphs_of`), numbered from 1, as text.

        `before` says what stands before them, as far as it matters (`spaces_after`); nothing: they are the first.
        """
        tokenizer = self._tokenizer(presegmented)
        skipped = _tokenize(tokenizer, [before]).count("\n\n") if before else 0
        return shift_numbers(_tokenize(tokenizer, paragraphs), -skipped)

    def _tokenizer(self, presegmented: bool) -> Any:
        return self._model.newTokenizer("presegmented" if presegmented else "")

    def tag(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """The same sentences with the lemmas, tags and features that UDPipe's tagger gives them."""
        if not self.has_tagger:
            raise BiplanarError("expected a UDPipe model with a tagger, found one without; train it with a tagger")
        return [self._tag(sentence) for sentence in sentences]

    def _tag(self, sentence: Sentence) -> Sentence:
        tagged, error = udpipe.Sentence(), udpipe.ProcessingError()
        for form in sentence.forms:
            tagged.addWord(for_udpipe(form))
        if not self._model.tag(tagged, "", error):
            raise BiplanarError(f"UDPipe cannot tag a sentence: {error.message}")
        words = list(tagged.words)[1:]
        found = {LEMMA: "lemma", UPOS: "upostag", XPOS: "xpostag", FEATS: "feats"}
        return sentence.with_columns({at: [getattr(word, name) or "_" for word in words] for at, name in found.items()})


def _tokenize(tokenizer: Any, paragraphs: Iterable[str]) -> str:
    """The sentences of some paragraphs of a text as CoNLL-U."""
    sentence, error = udpipe.Sentence(), udpipe.ProcessingError()
    writer, blocks = udpipe.OutputFormat.newOutputFormat("conllu"), []
    for paragraph in paragraphs:
        tokenizer.setText(for_udpipe(_MORE_SPACES.sub(" ", paragraph)))
        while tokenizer.nextSentence(sentence, error):
            blocks.append(writer.writeSentence(sentence))
        if error.occurred():
            raise BiplanarError(f"UDPipe cannot segment a text: {error.message}")
    return _SPACES_IN_MISC.sub(_plain_misc, "".join(blocks))


def shift_numbers(conllu: str, by: int) -> str:
    """Segmented sentences with higher or lower numbers."""
    return _SENTENCE_NUMBER.sub(lambda found: str(int(found[0]) + by), conllu) if by else conllu


def _plain_misc(match: re.Match[str]) -> str:
    """Whether there is a space is kept, which spaces there were is not."""
    return f"\t{_NO_SPACE}" if _NO_SPACE in match[1].split("|") else "\t_"
