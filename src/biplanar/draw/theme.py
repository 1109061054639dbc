"""The colours of pictures, on light and on dark paper.

Every coloured group of a picture has both a colour of its own and a class. So a picture in one theme is right in any
program, and for one that follows its reader's theme, a few rules for the classes suffice.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from biplanar.errors import UnknownNameError


@dataclass(frozen=True)
class Palette:
    """Colours by what they are for. Blue and orange are told apart with every common kind of colour blindness."""

    paper: str
    ink: str
    soft: str
    line: str  # around things
    one: str
    two: str


LIGHT = Palette(paper="#ffffff", ink="#1b1f24", soft="#6a737d", line="#dfe3e8", one="#0072b2", two="#b95000")
DARK = Palette(paper="#0d1117", ink="#e6edf3", soft="#8d96a0", line="#2b3138", one="#58b4ea", two="#f0a030")
THEMES = ("auto", "light", "dark")


def get_palette(theme: str) -> Palette:
    """The colours that a picture has by itself; with `auto` its reader's theme may change them."""
    if theme not in THEMES:
        raise UnknownNameError("theme", theme, THEMES)
    return DARK if theme == "dark" else LIGHT


def style_sheet(theme: str) -> str:
    """Rules for readers who prefer dark pages, where the theme leaves it to them."""
    get_palette(theme)
    return f"@media (prefers-color-scheme:dark){{{_rules(DARK)}}}" if theme == "auto" else ""


def _rules(palette: Palette) -> str:
    names = asdict(palette)
    paper = names.pop("paper")
    return f".bp-auto .bp-paper{{fill:{paper}}}" + "".join(
        f".bp-auto .bp-{name}{{color:{colour}}}" for name, colour in names.items()
    )
