"""Pictures as files: SVG as it is, PNG and PDF through CairoSVG where it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biplanar.data.files import writing
from biplanar.errors import BiplanarError

SCALE = 2  # pixels of a PNG for each of the SVG: letters stay sharp on today's screens and in print

# Endings of files that SVG is converted to.
CONVERTED = (".png", ".pdf")
ENDINGS = (".svg", *CONVERTED)


def image_of(svg: str, ending: str) -> bytes:
    """An SVG document as the bytes of a file with that ending."""
    if ending == ".svg":
        return f"{svg}\n".encode()
    if ending == ".png":
        return bytes(_cairosvg(ending).svg2png(bytestring=svg.encode(), scale=SCALE))
    if ending == ".pdf":
        return bytes(_cairosvg(ending).svg2pdf(bytestring=svg.encode()))
    raise BiplanarError(f"expected a picture that ends in {', '.join(ENDINGS)}, found {ending!r}")


def save_image(svg: str, path: str | Path) -> None:
    """Write an SVG document as SVG, PNG or PDF, by the path's ending."""
    image = image_of(svg, Path(path).suffix)
    with writing(path) as stream:
        stream.buffer.write(image)


def _cairosvg(ending: str) -> Any:
    try:
        import cairosvg
    except (ImportError, OSError) as error:  # the latter where the C library is missing
        raise BiplanarError(f"{ending} needs CairoSVG and cairo: pip install 'biplanar[formats]'") from error
    return cairosvg
