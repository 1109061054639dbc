"""The text behind sentences: what was, or what could have been, cut into their words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from biplanar.data.conllu import Sentence

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
        parts.append(token_text(sentence).removesuffix(" ") if text is None else text)
    return "".join(parts) + "\n"


def token_text(sentence: Sentence) -> str:
    """The tokens of a sentence with the spaces behind them, that behind the last one included."""
    return "".join(f"{token.form} " if token.space_after else token.form for token in sentence.tokens())


def starts_paragraph(sentence: Sentence) -> bool:
    """Whether a paragraph or a document begins with it."""
    return any(map(_NEW_PARAGRAPH.match, sentence.comments))
