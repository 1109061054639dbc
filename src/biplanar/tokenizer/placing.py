"""Where tokens stand in the text, which may differ from what UDPipe was given, but not in the places of its tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from biplanar.data.words import space_items, spaced
from biplanar.tokenizer.paragraphs import for_udpipe

NO_SPACE = "SpaceAfter=No"
_TEXT = "# text = "
_NO_COLUMNS = "_\t" * 7


def is_plain(block: str) -> bool:
    """Whether no word of a sentence has a space in it; of such spaces, UDPipe does not always tell which they were."""
    return block.find(" ", block.index("\n", block.index(_TEXT))) < 0


@dataclass(frozen=True)
class Placing:
    """How to write tokens as they stand in the text."""

    normalized_spaces: bool = False  # MISC tells whether there is a space, and not which
    ranges: bool = False  # with TokenRange in MISC

    def place(self, blocks: Iterable[str], paragraph: str, start: int) -> Iterator[str]:
        """The sentences of a paragraph that begins at `start` in the text, with the characters of the paragraph."""
        at = 0
        for block in blocks:
            end = None if self.ranges else _end_if_same(block, paragraph, at)
            placed, at = self._place(block, paragraph, at, start) if end is None else (block, end)
            yield placed

    def _place(self, block: str, paragraph: str, at: int, start: int) -> tuple[str, int]:
        """A sentence, and where the next one begins."""
        lines, text, number = [], "", 1
        for form, misc, words in _tokens(block):
            before, length, after = map(len, spaced(form, misc))
            first, last = at + before, at + before + length
            token = for_udpipe(paragraph[first:last])
            if token != form and not any(map(str.isspace, token)):  # it was masked
                form, words = token, []
            items = [] if after or not self.normalized_spaces else [NO_SPACE]
            if not self.normalized_spaces:
                inside = token if token != form else ""
                items = space_items(paragraph[last : last + after], paragraph[at:first], inside)
            if self.ranges:
                items.append(f"TokenRange={start + first}:{start + last}")
            numbers = f"{number}-{number + len(words) - 1}" if words else number
            lines.append(f"{numbers}\t{form}\t{_NO_COLUMNS}{'|'.join(items) or '_'}\n")
            lines += [f"{at}\t{word}\t{_NO_COLUMNS}_\n" for at, word in enumerate(words, number)]
            number += len(words) or 1
            text += f"{form} " if after else form
            at = last + after
        comments = block[: block.index(_TEXT)]
        return f"{comments}{_TEXT}{text.removesuffix(' ')}\n{''.join(lines)}\n", at


def _tokens(block: str) -> Iterator[tuple[str, str, list[str]]]:
    """The form and MISC of each token, and the words of multiword tokens."""
    lines = iter(block[block.index("\n", block.index(_TEXT)) + 1 : -2].split("\n"))
    for line in lines:
        number, form, *_, misc = line.split("\t")
        first, _, last = number.partition("-")
        words = [next(lines).split("\t", 2)[1] for _ in range(int(first), int(last) + 1)] if last else []
        yield form, misc, words


def _end_if_same(block: str, paragraph: str, at: int) -> int | None:
    """Where the next sentence begins, if all is as UDPipe has written it: single spaces, and the same characters."""
    first = block.index(_TEXT) + len(_TEXT)
    text = block[first : block.index("\n", first)]
    end = at + len(text)
    if "Spaces" in block or not paragraph.startswith(text, at):
        return None
    if block.endswith(f"{NO_SPACE}\n\n"):
        return end
    return end + 1 if paragraph.startswith(" ", end) else None
