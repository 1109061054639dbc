"""The text that sentences were, or could have been, cut from; and sentences of text that is already cut into words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from biplanar.data.conllu import EMPTY, MISC, Sentence

_NEW_PARAGRAPH = re.compile(r"#\s*new(?:doc|par)\b")


def raw_text(sentences: Iterable[Sentence]) -> str:
    """The text of a treebank: each paragraph on a line, and a blank line between paragraphs.

    A sentence's text is its comment `# text`, or else its tokens. Between sentences there is a space, whatever is said
    of the last token: this is the text that published scores of models from raw text are measured on.
    """
    parts: list[str] = []
    for sentence in sentences:
        if parts:
            parts.append("\n\n" if starts_paragraph(sentence) else " ")
        text = sentence.comment("text")
        parts.append(token_text(sentence).strip() if text is None else text)
    return "".join(parts) + "\n"


def original_text(sentences: Iterable[Sentence]) -> str:
    """The text that sentences were cut from, to the character, if the MISC of their tokens tells all white space.

    It does in what the tokenizers of Biplanar and UDPipe write, unless they were asked for normalized spaces.
    """
    return "".join(map(token_text, sentences))


def token_text(sentence: Sentence) -> str:
    """The tokens of a sentence with the white space around them, that behind the last one included."""
    return "".join(part for token in sentence.tokens for part in token.spaced)


def with_offsets(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """The same sentences, each with its offset in the text of all of them."""
    offset = 0
    for sentence in sentences:
        yield sentence.with_offset(offset) if offset != sentence.offset else sentence
        offset += _length(sentence)


def _length(sentence: Sentence) -> int:
    """How long `token_text` is, without making it where no token has more than a space behind it."""
    misc, words = sentence.column(MISC), len(sentence)
    spaces = misc.count(EMPTY)
    if spaces + misc.count("SpaceAfter=No") == words and sentence.raw.count("\t") == 9 * words:
        return len("".join(sentence.forms)) + spaces
    return len(token_text(sentence))


def starts_paragraph(sentence: Sentence) -> bool:
    """Whether a paragraph or a document begins with it."""
    return any(map(_NEW_PARAGRAPH.match, sentence.comments))


def split_horizontal(lines: Iterable[str]) -> Iterator[list[str]]:
    """The words of sentences that stand a line each."""
    words = (re.split("[ \t]+", line.strip(" \t")) for line in lines)
    return (line for line in words if line != [""])


def split_vertical(lines: Iterable[str]) -> Iterator[list[str]]:
    """The words of sentences with a word a line, before any tab, and an empty line after each sentence."""
    words = (line.strip(" \t").partition("\t")[0] for line in lines)
    return ([word, *takewhile(bool, words)] for word in words if word)


def numbered(sentences: Iterable[list[str]]) -> Iterator[Sentence]:
    """Sentences of words, with their numbers and texts as comments."""
    for number, forms in enumerate(sentences, 1):
        yield Sentence.from_words(forms, comments=comments_for(number, forms))


def comments_for(number: int | str, forms: Sequence[str]) -> list[str]:
    """What is said of a sentence that came as words."""
    return [f"# sent_id = {number}", f"# text = {' '.join(forms)}"]
