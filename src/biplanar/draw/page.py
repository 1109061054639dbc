"""Many trees on one HTML page that needs nothing else: no scripts, no files, no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from biplanar.draw.sentences import Entry
from biplanar.draw.svg import DARK, Palette, get_palette, style_sheet
from biplanar.draw.text import element, escaped

SNIPPET = 90  # characters of a sentence in the list of all

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

STYLE = """
body{margin:0;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',Arial,sans-serif}
.page{display:grid;grid-template-columns:minmax(0,19rem) minmax(0,1fr);align-items:start}
nav{grid-column:1;grid-row:1;position:sticky;top:0;box-sizing:border-box;height:100vh;overflow-y:auto;padding:1rem}
nav h2{font-size:.85rem;font-weight:600;margin:0 0 .5rem}
nav ol{list-style:none;margin:0;padding:0}
nav a{display:flex;gap:.6rem;padding:.2rem .4rem;border-radius:6px;font-size:.85rem;text-decoration:none}
nav a b{font-weight:400;min-width:2em;text-align:end;font-variant-numeric:tabular-nums}
nav a bdi{flex:1;overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
main{grid-column:2;grid-row:1;padding:1.2rem 1.6rem;max-width:100%;box-sizing:border-box}
h1{font-size:1.3rem;margin:0 0 .3rem}
.key{font-size:.85rem;display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;margin:0 0 1.2rem;padding:0;list-style:none}
.key i{display:inline-block;width:1.6rem;vertical-align:middle;margin-inline-end:.45rem;border-top:1.5px solid}
.key .heavy{border-top-width:3px}
section{border:1px solid;border-radius:10px;margin:0 0 1.2rem;padding:.9rem 1.1rem 1.1rem;scroll-margin-top:.6rem;
content-visibility:auto;contain-intrinsic-size:auto 320px}
section h3{font-size:.8rem;font-weight:400;margin:0;display:flex;flex-wrap:wrap;gap:.2rem 1rem}
section h3 a{text-decoration:none}
section p{margin:.25rem 0 .5rem}
.bp-scroll svg{display:block}
.bp-arc:hover path{stroke-width:3}
@media (max-width:60rem){.page{display:block}nav{position:static;height:auto;max-height:40vh}}
"""


# The classes of a line, its style, and what it means.
KEY = (
    ("one", "solid", "plane 1, above the words"),
    ("two", "solid", "plane 2, below"),
    ("soft", "solid", "in neither plane"),
    ("ink heavy", "solid", "crosses another arc"),
)
KEY_OF_GRAPHS = (
    ("three", "solid", "only in the enhanced graph"),
    ("one", "dashed", "only in the tree"),
)
KEY_OF_COMPARISONS = (
    ("one heavy", "dashed", "gold arc that the system misses"),
    ("two heavy", "solid", "arc that the system has instead"),
    ("soft", "solid", "arc of both; a relation that differs is underlined"),
)


def draw_page(
    entries: Iterable[Entry],
    *,
    title: str = "Trees",
    encoding: str | None = None,
    columns: Sequence[str] = (),
    theme: str = "auto",
    graphs: bool = False,  # whether entries are drawn with enhanced graphs
) -> Iterator[str]:
    """The page in parts that are written one by one: a picture for each entry, and at the side a list of all."""
    scheme = {"auto": "light dark"}.get(theme, theme)
    colours = partial(_colours, has_graphs=graphs)
    rules = colours(get_palette(theme)) + style_sheet(theme, has_graphs=graphs)
    style = f":root{{color-scheme:{scheme}}}" + STYLE + rules
    style += f"@media (prefers-color-scheme:dark){{{colours(DARK)}}}" if theme == "auto" else ""
    yield _opening(title, style)
    links: list[str] = []
    for entry in entries:
        if not links:
            items = KEY + KEY_OF_GRAPHS * graphs if entry.other is None else KEY_OF_COMPARISONS
            yield element("ul", {"class": "key"}, *(_key_item(*item) for item in items))
        links.append(_link(entry))
        yield _section(entry, entry.html(theme, style=False, encoding=encoding, columns=columns))
    yield "</main>"
    yield element("nav", {}, element("h2", {}, f"Trees: {len(links)}"), element("ol", {}, *links))
    yield "</div></body></html>\n"


def _opening(title: str, style: str) -> str:
    head = [
        element("meta", {"charset": "utf-8"}),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("title", {}, escaped(title)),
        element("style", {}, style),
    ]
    start = f'<!DOCTYPE html>\n<html lang="en"><head>{"".join(head)}</head><body><div class="page"><main>'
    return start + element("h1", {}, escaped(title))


def _key_item(classes: str, line: str, meaning: str) -> str:
    sample = element("i", {"class": classes, "style": f"border-top-style:{line}"})
    return element("li", {}, sample, escaped(meaning))


def _section(entry: Entry, picture: str) -> str:
    anchor = f"s{entry.number}"
    name = element("a", {"href": f"#{anchor}"}, element("bdi", {}, escaped(entry.name)))
    heading = element("h3", {}, name, element("span", {}, escaped(entry.note)))
    text = element("p", {"dir": "auto"}, escaped(entry.text))
    return element("section", {"id": anchor}, heading, text, picture)


def _link(entry: Entry) -> str:
    text = entry.text if len(entry.text) <= SNIPPET else entry.text[:SNIPPET] + "…"
    number, words = element("b", {}, str(entry.number)), element("bdi", {}, escaped(text))
    return element("li", {}, element("a", {"href": f"#s{entry.number}"}, number, words))


def _colours(palette: Palette, *, has_graphs: bool) -> str:
    third = f".key .three{{color:{palette.three}}}" if has_graphs else ""
    return third + (
        f"body{{background:{palette.paper};color:{palette.ink}}}a{{color:inherit}}"
        f"section,nav{{border-color:{palette.line}}}section:target{{border-color:{palette.one}}}"
        f"section h3,.key,nav b{{color:{palette.soft}}}nav a:hover{{background:{palette.line}}}"
        f".key .one{{color:{palette.one}}}.key .two{{color:{palette.two}}}.key .ink{{color:{palette.ink}}}"
    )
