"""Pictures as files: SVG as it is, PNG and PDF through CairoSVG where it is installed."""

from __future__ import annotations

import re
import unicodedata
from html import unescape
from pathlib import Path

from biplanar.data.files import writing
from biplanar.draw.text import escaped, is_right_to_left
from biplanar.errors import BiplanarError, need

SCALE = 2  # pixels of a PNG for each of the SVG: letters stay sharp on today's screens and in print

ENDINGS = (".svg", ".png", ".pdf")

_TEXT = re.compile("(?<=>)[^<>]+(?=<)")  # in an SVG document


def image_of(svg: str, ending: str) -> bytes:
    """An SVG document as the bytes of a file with that ending."""
    if ending not in ENDINGS:
        raise BiplanarError(f"no pictures of the format {ending!r}; known endings: {', '.join(ENDINGS)}")
    if ending == ".svg":
        return f"{svg}\n".encode()
    cairosvg, content = need("cairosvg", ending, "formats"), _in_visual_order(svg)
    is_png = ending == ".png"
    return bytes(cairosvg.svg2png(content, scale=SCALE) if is_png else cairosvg.svg2pdf(content))


def save_image(svg: str, path: str | Path) -> None:
    """Write an SVG document as SVG, PNG or PDF, by the path's ending."""
    image = image_of(svg, Path(path).suffix)
    with writing(path) as stream:
        stream.buffer.write(image)


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
