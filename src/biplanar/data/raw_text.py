"""The text behind sentences: what was, or what could have been, cut into their words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from biplanar.data.conllu import Sentence

_NEW_PARAGRAPH = re.compile(r"#\s*new(?:doc|par)\b")

# How UDPipe writes white space, and what would end an item of MISC, in the values of SpacesAfter and its like.
_ESCAPES = {" ": r"\s", "\t": r"\t", "\r": r"\r", "\n": r"\n", "|": r"\p", "\\": r"\\"}
_ESCAPED = str.maketrans(_ESCAPES)
_UNESCAPED = {escape: sign for sign, escape in _ESCAPES.items()}
_ESCAPE = re.compile(r"\\[strnp\\]")


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
    return "".join(_with_spaces(token.form, token.misc) for token in sentence.tokens())


def _with_spaces(form: str, misc: str) -> str:
    if misc == "_":
        return f"{form} "
    items = dict(item.partition("=")[::2] for item in reversed(misc.split("|")))  # the first of a name counts
    after = "" if items.get("SpaceAfter") == "No" else r"\s"
    parts = items.get("SpacesBefore", ""), items.get("SpacesAfter", after)
    before, behind = map(unescape_spaces, parts)
    return before + (unescape_spaces(items["SpacesInToken"]) if "SpacesInToken" in items else form) + behind


def escape_spaces(text: str) -> str:
    """White space, or a token with white space in it, as a value in MISC; rare kinds of space stay as they are."""
    return text.translate(_ESCAPED)


def unescape_spaces(value: str) -> str:
    """The white space, or the token, that such a value stands for."""
    return _ESCAPE.sub(lambda found: _UNESCAPED[found[0]], value) if "\\" in value else value


def starts_paragraph(sentence: Sentence) -> bool:
    """Whether a paragraph or a document begins with it."""
    return any(map(_NEW_PARAGRAPH.match, sentence.comments))
