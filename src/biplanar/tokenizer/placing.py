"""Where tokens stand in the text, which may differ from what UDPipe was given, but for its length up to the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from biplanar.data.raw_text import escape_spaces, unescape_spaces
from biplanar.tokenizer.text_for_udpipe import for_udpipe

NO_SPACE = "SpaceAfter=No"
_TEXT = "# text = "
_NONE = "_\t" * 7


def is_plain(block: str) -> bool:
    """Whether no word of a sentence has a space in it; of such spaces, UDPipe does not always tell which they were."""
    return block.find(" ", block.index("\n", block.index(_TEXT))) < 0


@dataclass(frozen=True)
class Placing:
    """How to write the place of tokens into MISC."""

    normalized_spaces: bool = False  # whether there is a space, and not which
    ranges: bool = False  # TokenRange

    def place(self, blocks: Iterable[str], paragraph: str, start: int) -> Iterator[str]:
        """The sentences of a paragraph that begins at `start` in the text, with the spaces of the paragraph."""
        at = 0
        for block in blocks:
            end = None if self.ranges else _end_if_same(block, paragraph, at)
            if end is None:
                block, end = self._place(block, paragraph, at, start)
            yield block
            at = end

    def _place(self, block: str, paragraph: str, at: int, start: int) -> tuple[str, int]:
        """A sentence, and where the next one begins."""
        lines, inside = [], 0
        for line in block.split("\n"):
            if not line or line[0] == "#" or inside:
                lines.append(line)
                inside -= inside > 0
                continue
            number, form, _ = line.split("\t", 2)
            before, token, after = _lengths(form, line[line.rindex("\t") + 1 :])
            first, last = at + before, at + before + token
            misc = self._misc(form, paragraph[at:first], paragraph[first:last], paragraph[last : last + after], after)
            if self.ranges:
                misc.append(f"TokenRange={start + first}:{start + last}")
            lines.append(f"{number}\t{form}\t{_NONE}{'|'.join(misc) or '_'}")
            at = last + after
            if "-" in number:
                one, _, other = number.partition("-")
                inside = int(other) - int(one) + 1
        return "\n".join(lines), at

    def _misc(self, form: str, before: str, token: str, after: str, length: int) -> list[str]:
        """What MISC tells of the white space around and in a token."""
        if self.normalized_spaces:
            return [] if length else [NO_SPACE]
        misc = [f"SpacesBefore={escape_spaces(before)}"] if before else []
        if after != " ":
            misc.append(f"SpacesAfter={escape_spaces(after)}" if after else NO_SPACE)
        if for_udpipe(token) != form:
            misc.append(f"SpacesInToken={escape_spaces(token)}")
        return misc


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


def _lengths(form: str, misc: str) -> tuple[int, int, int]:
    """How many characters stand before a token, in it, and behind it."""
    if misc == "_":
        return 0, len(form), 1
    if misc == NO_SPACE:
        return 0, len(form), 0
    items = dict(item.partition("=")[::2] for item in misc.split("|"))
    after = 0 if items.get("SpaceAfter") == "No" else 1
    before, token, behind = (items.get(f"Spaces{where}") for where in ("Before", "InToken", "After"))
    return (
        len(unescape_spaces(before or "")),
        len(form if token is None else unescape_spaces(token)),
        after if behind is None else len(unescape_spaces(behind)),
    )
