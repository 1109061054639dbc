"""Raw text to sentences and words, by the trainable tokenizer of UDPipe 1 as in the paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ufal import udpipe

from biplanar.data.conllu import FEATS, LEMMA, UPOS, XPOS, Sentence, parse_conllu
from biplanar.errors import BiplanarError, FileError
from biplanar.tokenizer.paragraphs import for_udpipe, paragraph_for_udpipe, paragraphs_of
from biplanar.tokenizer.placing import NO_SPACE, Placing, is_plain
from biplanar.tokenizer.whole_tokens import WholeTokens, whole_tokens_path

_MAGIC = b"\x12morphodita_parsito"  # without it, UDPipe may end the whole process
_ADDED_LINE_END = "SpacesAfter=\\n\n\n"  # of a paragraph that ends without white space
_SENTENCE_NUMBER = re.compile(r"(?<=^# sent_id = )\d+$", re.MULTILINE)
_SPACES_IN_MISC = re.compile(r"\t(?!SpaceAfter=No$)([^\t\n]*Space[^\t\n]*)$", re.MULTILINE)


class Segmenter:
    """A trained UDPipe model: cuts text into sentences and words, and tags them if it has learnt to."""

    def __init__(self, model: Any, whole_tokens: WholeTokens | None = None) -> None:
        self._model = model
        self._whole_tokens = whole_tokens or WholeTokens()
        probe = udpipe.Sentence()
        probe.addWord("a")
        self.has_tagger = bool(model.tag(probe, "", udpipe.ProcessingError()))

    @classmethod
    def load(cls, path: str | Path) -> Segmenter:
        """Read a model that `train_segmenter` or UDPipe 1 has written, and what it keeps whole if that lies beside."""
        try:
            with Path(path).open("rb") as stream:
                begins_well = stream.read(len(_MAGIC)) == _MAGIC
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from error
        model = udpipe.Model.load(str(path)) if begins_well else None
        if model is None:
            raise FileError(f"{path}: not a UDPipe model, or a damaged one")
        if model.newTokenizer("") is None:
            raise FileError(f"{path}: a UDPipe model without a tokenizer")
        return cls(model, WholeTokens.load(whole_tokens_path(path)))

    def segment(self, text: str, **options: bool) -> list[Sentence]:
        """The sentences of a text, with the options of `stream`."""
        return list(self.stream([text], **options))

    def stream(
        self,
        chunks: Iterable[str],
        *,
        presegmented: bool = False,
        normalized_spaces: bool = False,
        ranges: bool = False,
    ) -> Iterator[Sentence]:
        """The sentences of a text that comes in chunks (lines with their ends, or any others) and may be of any size.

        How the text is cut into chunks makes no difference. Each paragraph is looked at by itself, as no sentence goes
        on over a blank line. MISC keeps all white space (`raw_text.original_text`).

        `presegmented` says that each line is a sentence. With `normalized_spaces`, MISC only tells whether a space
        follows; with `ranges`, also which characters of the text a token is (`TokenRange=start:end`).
        """
        tokenize = self._tokenizer(presegmented, Placing(normalized_spaces, ranges))
        for paragraphs in paragraphs_of(chunks, presegmented=presegmented):
            if conllu := tokenize(paragraphs):
                yield from parse_conllu(conllu)

    def to_conllu(
        self,
        paragraphs: Iterable[str],
        *,
        before: str = "",
        start: int = 0,
        presegmented: bool = False,
        normalized_spaces: bool = False,
        ranges: bool = False,
        sent_id: Callable[[int], str] = str,
    ) -> str:
        """The sentences of some paragraphs (`paragraphs_of`) as text, with ids made of their numbers from 1.

        `before` says what stands before them, as far as it matters (`spaces_after`); nothing: they are the first.
        `start` is how many characters that are, which matters to `ranges`.
        """
        tokenize = self._tokenizer(presegmented, Placing(normalized_spaces, ranges))
        skipped = tokenize([before]).count("\n\n") if before else 0
        tokenize.start = start
        conllu = tokenize(paragraphs)
        return _SENTENCE_NUMBER.sub(lambda found: sent_id(int(found[0]) - skipped), conllu)

    def _tokenizer(self, presegmented: bool, placing: Placing) -> _Tokenizer:
        tokenizer = self._model.newTokenizer("presegmented" if presegmented else "")
        return _Tokenizer(tokenizer, presegmented, self._whole_tokens, placing)

    def tag(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """The same sentences with the lemmas, tags and features that UDPipe's tagger gives them."""
        if not self.has_tagger:
            raise BiplanarError("this UDPipe model has no tagger")
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


class _Tokenizer:
    """Tokenizes the paragraphs of a text, one after the other."""

    def __init__(self, tokenizer: Any, presegmented: bool, whole_tokens: WholeTokens, placing: Placing) -> None:
        self._tokenizer, self._presegmented = tokenizer, presegmented
        self._writer = udpipe.OutputFormat.newOutputFormat("conllu")
        self._whole_tokens, self._placing = whole_tokens, placing
        self.start = 0  # characters before the next paragraph

    def __call__(self, paragraphs: Iterable[str]) -> str:
        """Their sentences as CoNLL-U."""
        conllu = "".join([block for paragraph in paragraphs for block in self._blocks(paragraph)])
        only_normalizes = self._placing.normalized_spaces and not self._placing.ranges
        return _SPACES_IN_MISC.sub(_plain_misc, conllu) if only_normalizes else conllu

    def _blocks(self, paragraph: str) -> Iterable[str]:
        """The sentences of a paragraph, written by UDPipe, or by `Placing` where that is not enough."""
        given = paragraph_for_udpipe(paragraph, presegmented=self._presegmented)
        masked = self._whole_tokens.mask(given)
        blocks = self._udpipe_blocks(masked)
        unchanged = given == paragraph
        if blocks and blocks[-1].endswith(_ADDED_LINE_END) and given == f"{paragraph}\n":
            blocks[-1] = f"{blocks[-1].removesuffix(_ADDED_LINE_END)}{NO_SPACE}\n\n"
            unchanged = True
        start, placing = self.start, self._placing
        self.start += len(paragraph)
        has_its_spaces = placing.normalized_spaces or (unchanged and all(map(is_plain, blocks)))
        if masked == given and has_its_spaces and not placing.ranges:
            return blocks
        return placing.place(blocks, paragraph, start)

    def _udpipe_blocks(self, text: str) -> list[str]:
        sentence, error, blocks = udpipe.Sentence(), udpipe.ProcessingError(), []
        self._tokenizer.setText(text)
        while self._tokenizer.nextSentence(sentence, error):
            blocks.append(self._writer.writeSentence(sentence))
        if error.occurred():
            raise BiplanarError(f"UDPipe cannot segment a text: {error.message}")
        return blocks


def shift_numbers(conllu: str, by: int) -> str:
    """Segmented sentences with higher or lower numbers."""
    return _SENTENCE_NUMBER.sub(lambda found: str(int(found[0]) + by), conllu) if by else conllu


def _plain_misc(match: re.Match[str]) -> str:
    """Whether there is a space is kept, which spaces there were is not."""
    return f"\t{NO_SPACE}" if NO_SPACE in match[1].split("|") else "\t_"
