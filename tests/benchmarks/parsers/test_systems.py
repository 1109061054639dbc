from __future__ import annotations

import pytest
from benchmarks.parsers.systems import UNIT, System, biplanar_systems, spacy_systems, supar_systems, udpipe_systems


def pairs(systems):
    return [(system.options["runtime"], system.options["decoder"]) for system in systems]


class TestBiplanar:
    def test_more_runtimes_with_the_search_and_more_decoders_in_int8(self):
        systems = biplanar_systems("fast", "folder", ["greedy", "torch", "paper", "int8"])
        assert pairs(systems) == [("int8", "search"), ("torch", "search"), ("int8", "greedy"), ("int8", "paper")]
        assert systems[-1].name == "fast int8 paper"
        assert {system.family for system in systems} == {"fast"}

    def test_alone(self):
        assert pairs(biplanar_systems("fast", "folder")) == [("int8", "search")]

    @pytest.mark.parametrize(("runtime", "size"), [("torch", 111), ("onnx", 1111), ("int8", 11111)])
    def test_only_files_that_a_runtime_needs_count(self, tmp_path, runtime, size):
        files = {
            "config.toml": 1,
            "vocab.json": 10,
            "model.safetensors": 100,
            "onnx/words.onnx": 500,
            "onnx/labels.onnx": 600,
            "int8/words.onnx": 11100,
            "README.md": 5,
        }
        for name, count in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(b"x" * count)
        assert System("x", "biplanar", "x", str(tmp_path), {"runtime": runtime}).size == size


class TestPeers:
    def test_all_modes_of_a_model(self, tmp_path):
        (tmp_path / "model").write_bytes(b"12345")
        systems = udpipe_systems(str(tmp_path / "model"))
        assert [system.name for system in systems] == [UNIT, "UDPipe 1 parse, gold tags"]
        assert [system.size for system in systems] == [5, 5]
        assert all(system.missing is None for system in systems)
        assert {system.to_dict()["model"] for system in systems} == {"model"}

    @pytest.mark.parametrize(
        ("make", "kind"), [(udpipe_systems, "udpipe"), (spacy_systems, "spacy"), (supar_systems, "supar")]
    )
    def test_without_a_model_they_say_so(self, make, kind):
        assert {system.missing for system in make(None)} == {f"no model was given (--{kind})"}

    def test_all_files_of_a_folder_count(self, tmp_path):
        (tmp_path / "inner").mkdir()
        (tmp_path / "a").write_bytes(b"123")
        (tmp_path / "inner" / "b").write_bytes(b"4567")
        assert System("x", "spacy", "x", str(tmp_path)).size == 7
