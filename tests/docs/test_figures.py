"""No page has a measured figure of its own: what is measured is stored, and comes into pages by markers."""

from __future__ import annotations

import re

import pytest
from study.pages import ROOT, pages

# What no prose is: what markers enclose, code, and targets of links.
_NOT_PROSE = re.compile(
    r"<!-- table: .*?<!-- end -->|<!-- = .*?<!-- end -->|^```.*?^```$|^    .*?$|`[^`\n]*`|\]\([^)]*\)|<https?:[^>]*>",
    re.MULTILINE | re.DOTALL,
)
_FIGURE = re.compile(
    r"(?<![\w.])\d+\.\d+(?![\w.]*\w)"
    r"|(?<![\w.,])\d[\d,]*\s?(?:%|ms\b|µs|s\b|seconds\b|minutes\b|[KMGT]i?B\b|(?:words|sentences)(?:/s| a second))"
)

# Constants: versions, thresholds and settings.
_EVERYWHERE = {"2.4", "2.16", "95 %"}  # releases of UD, and the width of intervals
_CONSTANTS = {
    "README.md": {"3.11", "4.0", "2.0", "6 MB"},
    "drawing.md": {"1 MB"},
    "install.md": {"3.11", "3.12", "3.13"},
    "models.md": {"2.0", "2.17", "6 MB"},
    "results.md": {"2.5", "1.2"},
    "scale.md": {"32 MB", "1,000 MB"},
    "search.md": {"0.001", "0.5", "0.005", "0.995"},
    "study.md": {"0.05", "0.9", "0.75", "0.1", "0.33", "0.95", "0.003", "0.002", "5 %"},
}


def figures_in(text: str) -> set[str]:
    """Decimals, and numbers with units, in prose."""
    return set(_FIGURE.findall(_NOT_PROSE.sub(" ", text)))


# The card of the bundled model also tells how it was made.
PAGES = [page for page in pages() if "models" not in page.parts]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_figures_come_from_the_store(page) -> None:
    found = figures_in(page.read_text(encoding="utf-8")) - _EVERYWHERE
    assert found == _CONSTANTS.get(page.name, set()), "store what was measured, and show it by a marker"


@pytest.mark.parametrize(
    "text", ["84.52 LAS", "0.3 points", "40,000 words/s", "| 84.52 |", "takes 30 s.", "uses 250 MiB", "57 %"]
)
def test_a_figure_is_found(text: str) -> None:
    assert len(figures_in(text)) == 1


@pytest.mark.parametrize(
    "text",
    ["<!-- = mean both -->83.52<!-- end --> LAS", "`--network.dropout 0.1`", "    0.5 x score", "1.2.3", "5 trees"],
)
def test_what_is_no_figure_of_the_page_is_passed_over(text: str) -> None:
    assert not figures_in(text)


def test_pages_speak_of_the_present() -> None:
    past = re.compile(
        r"\b(anew|no longer|used to|was measured|came later|older recipe|before arcs|model inside)\b", re.I
    )
    texts = {page.relative_to(ROOT): page.read_text(encoding="utf-8") for page in PAGES}
    assert {str(page): past.findall(text) for page, text in texts.items() if past.search(text)} == {}
