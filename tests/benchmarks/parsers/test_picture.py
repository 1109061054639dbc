from __future__ import annotations

import random
import sys
from itertools import combinations

import pytest
from benchmarks.parsers.picture import _box, _box_of_point, check_drawable, draw, figure_of, marks_of, pareto_front

from biplanar.errors import BiplanarError, FileError


def system(name, speed, las, family="fast", not_measured=None):
    rates = {"best": speed, "median": speed}
    return {"name": name, "family": family, "words_per_second": rates, "las": las, "not_measured": not_measured}


SYSTEMS = [
    system("slow", 500, 86, "SuPar"),
    system("fast int8 search", 20_000, 84),
    system("fast int8 greedy", 21_000, 83.9),
    system("worse", 3_000, 77, "UDPipe 1"),
    {"name": "absent", "family": "spaCy", "not_measured": "no model was given"},
]


def names_of(figure):
    (axes,) = figure.axes
    return {text.get_text(): text for text in axes.texts}


class TestFront:
    def test_none_is_surpassed(self):
        points = [(1.0, 5.0), (2.0, 4.0), (2.0, 3.0), (3.0, 4.0), (0.5, 5.0), (4.0, 1.0)]
        assert pareto_front(points) == [(1.0, 5.0), (3.0, 4.0), (4.0, 1.0)]

    def test_brute_force(self):
        rng = random.Random(1)
        for _ in range(100):
            points = [(float(rng.randrange(8)), float(rng.randrange(8))) for _ in range(rng.randrange(1, 12))]
            surpassed = {
                one for one in points for other in points if other != one and other[0] >= one[0] and other[1] >= one[1]
            }
            assert pareto_front(points) == sorted(set(points) - surpassed)


class TestNames:
    def test_all_that_were_measured_and_the_usual_decoder_unnamed(self):
        assert set(names_of(figure_of(SYSTEMS))) == {"slow", "fast int8", "fast int8 greedy", "worse"}

    @pytest.mark.parametrize("seed", range(5))
    def test_nothing_overlaps_and_nothing_is_cut_off(self, seed):
        rng = random.Random(seed)
        crowd = [
            system(f"model {number} minimum-risk", 1000 * 2 ** rng.uniform(0, 5), rng.gauss(84, 1), str(number % 4))
            for number in range(18)
        ]
        figure = figure_of(crowd)
        (axes,) = figure.axes
        names = [_box(figure, name) for name in names_of(figure).values()]
        points = [_box_of_point(axes, mark.place) for mark in marks_of(crowd)]
        assert len(names) == 18
        assert not any(one.overlaps(other) for one, other in combinations(names, 2))
        assert not any(name.overlaps(point) for name in names for point in points)
        assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in names)
        assert all(axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1 for box in names)

    def test_points_on_the_front_are_filled(self):
        (axes,) = figure_of(SYSTEMS).axes
        faces = {line.get_xdata()[0]: line.get_markerfacecolor() for line in axes.lines if line.get_marker() != "None"}
        assert {speed for speed, face in faces.items() if face != "white"} == {500, 20_000, 21_000}


class TestFiles:
    @pytest.mark.parametrize("name", ["speed.png", "speed.svg"])
    def test_png_and_svg(self, tmp_path, name):
        png, svg = draw(SYSTEMS, tmp_path / name)
        assert png.read_bytes().startswith(b"\x89PNG")
        assert ">fast int8 greedy</text>" in svg.read_text(encoding="utf-8")  # which can be searched, and takes no room
        assert sorted(path.name for path in tmp_path.iterdir()) == ["speed.png", "speed.svg"]

    def test_the_same_numbers_give_the_same_files(self, tmp_path):
        first = [path.read_bytes() for path in draw(SYSTEMS, tmp_path / "first.png")]
        assert [path.read_bytes() for path in draw(SYSTEMS, tmp_path / "second.png")] == first

    def test_trouble(self, tmp_path, monkeypatch):
        with pytest.raises(BiplanarError, match="no system was measured"):
            draw(SYSTEMS[-1:], tmp_path / "speed.png")
        with pytest.raises(FileError, match="nowhere"):
            draw(SYSTEMS, tmp_path / "nowhere" / "speed.png")
        with pytest.raises(FileError, match="no such folder"):
            check_drawable(tmp_path / "nowhere" / "speed.png")
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(BiplanarError, match=r"^plots need matplotlib: pip install matplotlib"):
            check_drawable(tmp_path / "speed.png")
