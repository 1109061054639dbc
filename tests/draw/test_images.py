from __future__ import annotations

import sys

import pytest

from biplanar.draw.images import _in_visual_order, image_of, save_image
from biplanar.errors import BiplanarError
from tests.data.test_sentence import CROSSING

SVG = CROSSING.draw(columns=["upos"])


def test_svg_is_written_as_it_is(tmp_path):
    save_image(SVG, tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").read_text(encoding="utf-8") == SVG + "\n"


@pytest.mark.parametrize(("ending", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_other_formats(tmp_path, ending, start):
    pytest.importorskip("cairosvg")
    CROSSING.draw(tmp_path / f"tree{ending}")
    assert (tmp_path / f"tree{ending}").read_bytes().startswith(start)


def test_a_png_has_two_pixels_for_each_of_the_svg():
    pytest.importorskip("cairosvg")
    width = int(SVG.split('width="')[1].split('"')[0])
    assert int.from_bytes(image_of(SVG, ".png")[16:20], "big") == 2 * width


def test_texts_from_right_to_left_are_turned():
    """As CairoSVG sets the first letter to the left; numbers and marks on letters stay as they are."""
    svg = "<text>אבג</text><text>ab 12</text><text>&quot;אב 12</text><text>בָּא</text>"
    turned = '<text>גבא</text><text>ab 12</text><text>12 בא"</text><text>אבָּ</text>'
    assert _in_visual_order(svg).decode() == turned


def test_another_ending(tmp_path):
    with pytest.raises(BiplanarError, match=r"'\.gif'"):
        save_image(SVG, tmp_path / "tree.gif")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".png", ".pdf"])
def test_without_cairosvg_the_extra_is_named_and_nothing_written(run, monkeypatch, tmp_path, ending):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    result = run("draw", "-o", tmp_path / f"tree{ending}", stdin=CROSSING.raw)
    assert result.code == 2
    assert f"{ending} needs the extra 'formats'" in result.err
    assert list(tmp_path.iterdir()) == []


def test_the_command(run, tmp_path):
    pytest.importorskip("cairosvg")
    assert run("draw", "-o", tmp_path / "trees.png", "--columns", "upos", stdin=CROSSING.raw).code == 0
    assert (tmp_path / "trees.png").read_bytes().startswith(b"\x89PNG")
