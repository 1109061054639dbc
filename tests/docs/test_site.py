"""The site is built without a complaint, has all pages, and loads nothing from elsewhere."""

from __future__ import annotations

import importlib
import re
import warnings
from pathlib import Path

import pytest

import biplanar
from tests.paths import ROOT

DOCS = ROOT / "docs"
ELSEWHERE = re.compile(
    r"""<(?:script|img|iframe|link|source|video|audio|embed|object)\b[^>]*\b(?:src|href|data)=["']?(?:https?:)?//[^>]*"""
    r"""|(?:url\(|@import)\s*["']?(?:https?:)?//[^)]*"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages in HTML."""
    mkdocs = pytest.importorskip("mkdocs.commands.build", reason="no MkDocs: pip install '.[docs]'")
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # the theme's libraries warn of each other
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True)
        config.plugins.on_startup(command="build", dirty=False)
        mkdocs.build(config)
    return folder


def test_every_page_is_in_the_site(site: Path) -> None:
    menu = (site / "index.html").read_text(encoding="utf-8")
    pages = [page.stem for page in DOCS.glob("*.md")]
    assert len(pages) > 15
    for page in pages:
        assert (site / f"{page}.html").exists()
        assert re.search(rf'<a href="{page}\.html" class="md-nav__link', menu) or page == "index"


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".svg")]
    assert len(files) > 20
    assert {path.name: found for path in files if (found := ELSEWHERE.findall(path.read_text(encoding="utf-8")))} == {}


@pytest.mark.parametrize(
    "code",
    [
        '<script src="https://example.org/x.js">',
        "<link rel=stylesheet href=//example.org/x.css>",
        "url('https://example.org/x.woff')",
        '@import "https://example.org/x.css"',
    ],
)
def test_what_would_be_loaded_is_found(code: str) -> None:
    assert ELSEWHERE.search(code)


def test_links_to_the_repository_say_where_the_file_is(site: Path) -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in site.glob("*.html"))
    assert 'href="../' not in pages
    assert "<code>examples/train_and_parse.py</code> in the repository" in pages


def test_the_reference_has_all_that_the_package_offers() -> None:
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    described = [attribute_of(name) for name in re.findall(r"^::: (\S+)$", text, re.MULTILINE)]
    missing = [name for name in biplanar.__all__ if not any(getattr(biplanar, name) is one for one in described)]
    assert missing == ["BiplanarError"]  # which comes with its whole module
    assert attribute_of("biplanar.errors") in described


def attribute_of(name: str) -> object:
    """What a full name stands for."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_the_reference_is_rendered(site: Path) -> None:
    page = (site / "python.html").read_text(encoding="utf-8")
    for name in ("Sentence", "Word", "Token", "Document", "BiplanarError"):
        assert re.search(rf'<h\d id="[\w.]*\.{name}"', page), name
