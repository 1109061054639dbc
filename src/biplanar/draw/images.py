"""Pictures as files: SVG as it is, PNG and PDF through CairoSVG where it is installed."""

from __future__ import annotations

import re
import unicodedata
from html import unescape
from pathlib import Path
from typing import Any

from biplanar.data.files import writing
from biplanar.draw.text import escaped, is_right_to_left
from biplanar.errors import BiplanarError, needing

SCALE = 2  # pixels of a PNG for each of the SVG: letters stay sharp on today's screens and in print

# Endings of files that SVG is converted to.
CONVERTED = (".png", ".pdf")
ENDINGS = (".svg", *CONVERTED)

_TEXT = re.compile("(?<=>)[^<>]+(?=<)")  # in an SVG document


def image_of(svg: str, ending: str) -> bytes:
    """An SVG document as the bytes of a file with that ending."""
    if ending == ".svg":
        return f"{svg}\n".encode()
    if ending == ".png":
        return bytes(_cairosvg(ending).svg2png(bytestring=_in_visual_order(svg), scale=SCALE))
    if ending == ".pdf":
        return bytes(_cairosvg(ending).svg2pdf(bytestring=_in_visual_order(svg)))
    raise BiplanarError(f"no pictures of the format {ending!r}; known endings: {', '.join(ENDINGS)}")


def save_image(svg: str, path: str | Path) -> None:
    """Write an SVG document as SVG, PNG or PDF, by the path's ending."""
    image = image_of(svg, Path(path).suffix)
    with writing(path) as stream:
        stream.buffer.write(image)


def _cairosvg(ending: str) -> Any:
    with needing("formats", ending):
        import cairosvg
    return cairosvg


def _in_visual_order(svg: str) -> bytes:
    """The document with texts from right to left turned round: CairoSVG sets all letters from left to right."""
    return _TEXT.sub(lambda found: _turned(found[0]), svg).encode()


def _turned(text: str) -> str:
    """A text of a right-to-left script, its last character first; marks stay on their letters, numbers whole."""
    if not is_right_to_left([unescape(text)]):
        return text
    clusters: list[str] = []
    for character in unescape(text):
        if clusters and (unicodedata.combining(character) or (character.isdecimal() and clusters[-1][-1].isdecimal())):
            clusters[-1] += character
        else:
            clusters.append(character)
    return escaped("".join(reversed(clusters)))
