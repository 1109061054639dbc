"""`biplanar draw`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biplanar.cli.common import TEXT_ENCODING, split_names
from biplanar.data.files import UTF_8, display_name, writing
from biplanar.errors import BiplanarError, check_name

if TYPE_CHECKING:
    from biplanar.draw import Entry

FILTERS = ("nonprojective", "different")
ENDINGS = (".svg", ".png", ".pdf", ".html", ".txt")


def draw(
    file: Annotated[str, typer.Argument(help="Parsed CoNLL-U, also .gz, .xz or .bz2; - is standard input.")] = "-",
    output: Annotated[str, typer.Option("--output", "-o", help=f"A file: {', '.join(ENDINGS)}.")] = "-",
    encoding: Annotated[str | None, typer.Option("--encoding", "-e", help="Show labels: 2p-full, rel-pos, ...")] = None,
    columns: Annotated[str, typer.Option(help="Show columns under the words: upos,xpos,feats,lemma.")] = "",
    only: Annotated[str | None, typer.Option(help="Only nonprojective trees, or different ones (--against).")] = None,
    against: Annotated[str | None, typer.Option(help="A system's CoNLL-U to compare these gold trees with.")] = None,
    graphs: Annotated[bool, typer.Option("--graphs", help="Also draw the enhanced graphs of DEPS.")] = False,
    first: Annotated[int | None, typer.Option(help="Draw up to N sentences.", min=1)] = None,
    theme: Annotated[str, typer.Option(help="auto (the reader's), light or dark.")] = "auto",
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
) -> None:
    """Draw trees: plane 1 above the words, plane 2 below. With --against: gold above, system below.

    biplanar parse --text "Nobody came." | biplanar draw --encoding 2p-full
    biplanar draw parsed.conllu --first 3 --columns upos,lemma -o trees.svg
    biplanar draw gold.conllu --against parsed.conllu --only different -o d.html
    """
    from biplanar.draw import draw_page, image_of
    from biplanar.draw.layout import check_columns
    from biplanar.draw.svg import get_palette, to_svg
    from biplanar.encodings import get_encoding

    ending = ".txt" if output == "-" else Path(output).suffix
    if ending not in ENDINGS:
        raise BiplanarError(f"{output}: cannot draw to a file of this ending (known: {', '.join(ENDINGS)})")
    if only is not None:
        check_name("filter", only, FILTERS)
    if against is None and only == "different":
        raise BiplanarError("--only different needs --against SYSTEM")
    if against is not None and (encoding is not None or graphs):
        raise BiplanarError(f"{'--graphs' if encoding is None else '--encoding'} and --against cannot be combined")
    shown = split_names(columns)
    check_columns(shown)
    get_palette(theme)
    if encoding is not None:
        get_encoding(encoding)
    entries = islice(_chosen(_entries(file, against, text_encoding, graphs), only), first)
    with writing(output) as stream:
        if ending == ".html":
            title = Path(file).name if file != "-" else "Trees"
            page = draw_page(entries, title=title, encoding=encoding, columns=shown, theme=theme, graphs=graphs)
            stream.writelines(page)
        elif ending == ".txt":
            colour, width = stream.isatty(), terminal_width() if stream.isatty() else None
            drawn = (entry.lines(encoding, columns=shown, width=width, colour=colour) for entry in entries)
            stream.writelines(picture + "\n\n" for picture in drawn)
        elif canvases := [entry.canvas(encoding, columns=shown) for entry in entries]:
            stream.buffer.write(image_of(to_svg(canvases, theme), ending))
        else:
            raise BiplanarError(f"{display_name(file)}: no sentences to draw")


def terminal_width() -> int | None:
    """The width of the terminal; None if standard output is a file or a pipe, which may have any."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _entries(file: str, against: str | None, text_encoding: str, graphs: bool) -> Iterator[Entry]:
    from biplanar.data.conllu import read_conllu
    from biplanar.draw import Entry, paired

    if against is None:
        sentences = enumerate(read_conllu(file, text_encoding), 1)
        return (Entry(number, sentence, graph=graphs) for number, sentence in sentences)
    pairs = paired(read_conllu(file, text_encoding), read_conllu(against, text_encoding))
    return (Entry(number, gold, system) for number, (gold, system) in enumerate(pairs, 1))


def _chosen(entries: Iterator[Entry], only: str | None) -> Iterator[Entry]:
    from biplanar.planes.crossings import is_projective

    for entry in entries:
        trees = [sentence.tree for sentence in (entry.sentence, entry.other) if sentence is not None]
        if only == "nonprojective" and all(map(is_projective, trees)):
            continue
        if only == "different" and trees[0] == trees[1]:
            continue
        yield entry
