from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import nn

from biplanar.errors import BiplanarError, FileError
from biplanar.tagger.config import Network
from biplanar.tagger.export import SPELLING_GROUPS, export_onnx
from biplanar.tagger.features import Batch, Corpus, Vocabulary
from biplanar.tagger.network import Tagger, TensorBatch, TorchTagger
from biplanar.tagger.runtime import FORMAT_KEY, OnnxTagger

SENTENCES = [
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
    ["Yes"],
    ["a"],
    ["I"] * 3,
    ["Donaudampfschifffahrtsgesellschaftskapitän"[:40], "!"],
    ["https://example.org/a/very/long/address/that/is/spelled/by/its/ends/only", "."],
    ["猫", "が", "好き"],
    ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "and", "runs", "on", ","] * 4,
    [""],
]
TASKS = {
    "plane1": tuple("0123456789A"),
    "plane2": tuple("012"),
    "deprel": tuple("01234567"),
    "depth.plane1.left": tuple("01234"),
}
VOCABULARY = Vocabulary.of(SENTENCES, TASKS, min_form_count=1, min_char_count=1)

CONFIGS = {
    "one layer": Network(word_dim=7, char_dim=5, char_hidden=3, hidden=9, layers=1),
    "two layers": Network(word_dim=20, char_dim=8, char_hidden=16, hidden=33, layers=2),
    "three layers": Network(word_dim=1, char_dim=1, char_hidden=1, hidden=64, layers=3, relation_hidden=0),
    "attention": Network(word_dim=20, char_dim=8, char_hidden=16, hidden=33, layers=1, attention=True),
    "attention, plain outputs": Network(
        word_dim=20, char_dim=8, char_hidden=16, hidden=33, layers=1, output_hidden=0, attention=True, relation_hidden=0
    ),
    "treebanks": Network(word_dim=7, char_dim=5, char_hidden=3, hidden=32, layers=2, treebank_dim=6),
    "all there is": Network(
        word_dim=20, char_dim=8, char_hidden=16, hidden=33, layers=2, attention=True, relation_hidden=11, treebank_dim=6
    ),
}
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
both_kinds = pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])

ScoreTables = Mapping[str, NDArray[np.float32]]


def random_network(config: Network) -> Tagger:
    """A network whose scores differ clearly, as those of a trained one do."""
    torch.manual_seed(7)
    sizes = {task: len(names) for task, names in TASKS.items()}
    network = Tagger(config, len(VOCABULARY.forms), len(VOCABULARY.chars), sizes, arc_dim=12, treebanks=3)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if not parameter.any() or "bias" in name:
                parameter.add_(torch.randn_like(parameter) * 0.3)
            elif "embedding" in name or "outputs" in name:
                parameter.mul_(5)
    return network.eval()


def batch_of(sentences: list[list[str]]) -> Batch:
    return Corpus.of(sentences, VOCABULARY).batch(range(len(sentences)))


@torch.no_grad()
def torch_scores(network: Tagger, batch: Batch) -> ScoreTables:
    return {task: table.numpy() for task, table in network(TensorBatch.of(batch, torch.device("cpu"))).items()}


def exported(network: Tagger, folder: Path, *, int8: bool = False) -> OnnxTagger:
    export_onnx(network, folder / "model.onnx", int8=int8)
    return OnnxTagger(folder / "model.onnx")


def assert_same(found: ScoreTables, expected: ScoreTables) -> None:
    assert list(found) == list(expected)
    for task, table in expected.items():
        assert found[task].shape == table.shape
        assert found[task].dtype == np.float32
        np.testing.assert_allclose(found[task], table, atol=1e-4)
        assert (found[task].argmax(axis=1) == table.argmax(axis=1)).all()


def agreement(one: ScoreTables, other: ScoreTables) -> float:
    """The share of labels that are the same."""
    return float(np.mean(np.concatenate([one[task].argmax(axis=1) == other[task].argmax(axis=1) for task in TASKS])))


@every_config
def test_scores_are_those_of_pytorch(config: Network, tmp_path: Path) -> None:
    network = random_network(config)
    batch = batch_of(SENTENCES)
    assert_same(exported(network, tmp_path).score(batch), torch_scores(network, batch))


def test_every_kind_of_output_layer(tmp_path: Path) -> None:
    network, batch = random_network(CONFIGS["two layers"]), batch_of(SENTENCES)
    network.outputs["plane1"] = nn.Linear(network.width, 11, bias=False)
    deep = nn.Sequential(nn.Linear(network.width, 6), nn.LeakyReLU(0.1), nn.Dropout(0.2), nn.Linear(6, 8))
    network.outputs["deprel"] = deep.eval()
    assert_same(exported(network, tmp_path).score(batch), torch_scores(network, batch))
    assert agreement(exported(network, tmp_path, int8=True).score(batch), torch_scores(network, batch)) > 0.9


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tagger, OnnxTagger]:
    network = random_network(CONFIGS["one layer"])
    return network, exported(network, tmp_path_factory.mktemp("small"))


@given(st.lists(st.lists(st.text("abcdeXß猫", max_size=45), min_size=1, max_size=12), min_size=1, max_size=6))
@settings(max_examples=50)
def test_any_sentences(small: tuple[Tagger, OnnxTagger], sentences: list[list[str]]) -> None:
    network, tagger = small
    batch = batch_of(sentences)
    assert_same(tagger.score(batch), torch_scores(network, batch))


@both_kinds
@pytest.mark.parametrize("length", sorted({1, 40, *SPELLING_GROUPS, *(limit + 1 for limit in SPELLING_GROUPS)}))
def test_batches_of_one_word(length: int, int8: bool, tmp_path: Path) -> None:
    """All groups of spellings but one are empty."""
    network = random_network(CONFIGS["one layer"])
    batch = batch_of([["a" * length]])
    found, expected = exported(network, tmp_path, int8=int8).score(batch), torch_scores(network, batch)
    for task, table in expected.items():
        np.testing.assert_allclose(found[task], table, atol=0.1 if int8 else 1e-4)


@both_kinds
@pytest.mark.parametrize("name", ["two layers", "attention", "all there is"])
def test_batching_changes_nothing(name: str, int8: bool, tmp_path: Path) -> None:
    """But for int8, where the range of a whole batch decides how finely each of its values is rounded."""
    tagger = exported(random_network(CONFIGS[name]), tmp_path, int8=int8)
    together = tagger.score(batch_of(SENTENCES))
    alone = [tagger.score(batch_of([sentence])) for sentence in SENTENCES]
    joined = {task: np.concatenate([scores[task] for scores in alone]) for task in together}
    if int8:
        assert agreement(together, joined) > 0.95
    else:
        assert_same(together, joined)


@every_config
def test_int8_is_close(config: Network, tmp_path: Path) -> None:
    network = random_network(config)
    batch = batch_of(SENTENCES)
    found, expected = exported(network, tmp_path, int8=True).score(batch), torch_scores(network, batch)
    for task, table in expected.items():
        assert np.abs(found[task] - table).mean() < 0.05 * table.std()
    assert agreement(found, expected) > 0.95


@every_config
def test_compact_is_closer(config: Network, tmp_path: Path) -> None:
    network = random_network(config)
    batch = batch_of(SENTENCES)
    export_onnx(network, tmp_path / "model.onnx", compact=True)
    found, expected = OnnxTagger(tmp_path / "model.onnx").score(batch), torch_scores(network, batch)
    for task, table in expected.items():
        assert np.abs(found[task] - table).mean() < 0.02 * table.std()
    assert agreement(found, expected) > 0.97


class TestRelations:
    """What relates words to their heads is in a file of its own."""

    @pytest.fixture
    def network(self) -> Tagger:
        return random_network(CONFIGS["all there is"])

    def tables(self, words: int) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        rng = np.random.default_rng(3)
        dependents, heads = rng.normal(size=(2, words, 11)).astype(np.float32)
        return dependents, heads, rng.integers(0, words + 1, words)

    @pytest.mark.parametrize("words", [0, 1, 2, 100])
    def test_scores_are_those_of_pytorch(self, network: Tagger, words: int, tmp_path: Path) -> None:
        found = exported(network, tmp_path).relate(*self.tables(words))
        expected = TorchTagger(network, torch.device("cpu")).relate(*self.tables(words))
        assert found.shape == expected.shape == (words, len(TASKS["deprel"]))
        assert found.dtype == expected.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-5)

    @pytest.mark.parametrize("how", ["int8", "compact"])
    def test_half_precision_is_close(self, network: Tagger, how: str, tmp_path: Path) -> None:
        export_onnx(network, tmp_path / "model.onnx", **{how: True})
        found = OnnxTagger(tmp_path / "model.onnx").relate(*self.tables(100))
        expected = TorchTagger(network, torch.device("cpu")).relate(*self.tables(100))
        assert 0 < np.abs(found - expected).max() < 0.01

    def test_the_root_is_governor_0(self, network: Tagger, tmp_path: Path) -> None:
        assert network.relations is not None
        dependents, heads, _ = self.tables(2)
        root = network.relations.root.detach().numpy()[None]
        tagger = exported(network, tmp_path)
        by_number = tagger.relate(dependents, heads, np.array([0, 1]))
        by_hand = tagger.relate(dependents, np.concatenate([root, heads[:1]]), np.array([1, 2]))
        np.testing.assert_allclose(by_number, by_hand, atol=1e-6)

    def test_a_network_without(self, tmp_path: Path) -> None:
        network = random_network(CONFIGS["three layers"])
        tagger = exported(network, tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
        for scorer in (tagger, TorchTagger(network, torch.device("cpu"))):
            assert not [name for name in scorer.score(batch_of(SENTENCES)) if name.startswith("relation")]
            with pytest.raises(BiplanarError, match="no relations given the head"):
                scorer.relate(*self.tables(1))

    def test_a_missing_file(self, network: Tagger, tmp_path: Path) -> None:
        exported(network, tmp_path)
        (tmp_path / "relations.onnx").unlink()
        with pytest.raises(FileError, match=r"relations\.onnx: No such file"):
            OnnxTagger(tmp_path / "model.onnx")

    def test_a_file_of_another_network(self, network: Tagger, tmp_path: Path) -> None:
        exported(network, tmp_path)
        (tmp_path / "relations.onnx").rename(tmp_path / "aside")
        with torch.no_grad():
            network.relations.output.bias.add_(1)
        exported(network, tmp_path)
        (tmp_path / "aside").rename(tmp_path / "relations.onnx")
        with pytest.raises(FileError, match=r"relations\.onnx: expected the relations of model\.onnx"):
            OnnxTagger(tmp_path / "model.onnx")

    def test_a_truncated_file(self, network: Tagger, tmp_path: Path) -> None:
        exported(network, tmp_path)
        path = tmp_path / "relations.onnx"
        path.write_bytes(path.read_bytes()[:100])
        with pytest.raises(FileError, match=r"relations\.onnx: (truncated or corrupt|expected a Biplanar network)"):
            OnnxTagger(tmp_path / "model.onnx")


def test_int8_is_small(tmp_path: Path) -> None:
    network = random_network(Network(word_dim=50, char_dim=32, char_hidden=64, hidden=200, layers=2, relation_hidden=0))
    export_onnx(network, tmp_path / "full.onnx")
    export_onnx(network, tmp_path / "small.onnx", int8=True)
    kinds = {"embedding": 0, "weight": 0, "bias": 0}
    for name, parameter in network.named_parameters():
        kinds[next(kind for kind in kinds if kind in name)] += parameter.numel()
    graph = 20_000
    assert (tmp_path / "full.onnx").stat().st_size < 4 * sum(kinds.values()) + graph
    per_output = 4 + 4 + 1  # bias, scale, zero point
    promised = kinds["weight"] + 2 * kinds["embedding"] + per_output * kinds["bias"]
    assert (tmp_path / "small.onnx").stat().st_size < promised + graph


@both_kinds
@every_config
def test_the_graph_is_valid_onnx(config: Network, int8: bool, tmp_path: Path) -> None:
    export_onnx(random_network(config), tmp_path / "model.onnx", int8=int8)
    model = onnx.load(tmp_path / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert {domain.domain for domain in model.opset_import} == ({"", "com.microsoft"} if int8 else {""})
    if config.relation_hidden:
        onnx.checker.check_model(onnx.load(tmp_path / "relations.onnx"), full_check=True)


def test_the_same_network_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("one.onnx", "two.onnx"):
        export_onnx(random_network(CONFIGS["one layer"]), tmp_path / name, int8=True)
    assert (tmp_path / "one.onnx").read_bytes() == (tmp_path / "two.onnx").read_bytes()


def test_weights_of_nothing_but_zeros(tmp_path: Path) -> None:
    network = random_network(CONFIGS["one layer"])
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
    scores = exported(network, tmp_path, int8=True).score(batch_of(SENTENCES))
    assert all((table == 0).all() for table in scores.values())


def test_an_unknown_layer_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    network = random_network(CONFIGS["one layer"])
    network.outputs["plane1"] = nn.Sequential(nn.Linear(network.width, 11), nn.Softsign())
    with pytest.raises(BiplanarError, match=r"outputs\.plane1\.1: a layer of type Softsign"):
        export_onnx(network, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_a_failed_export_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(FileError, match="No space left"):
        export_onnx(random_network(CONFIGS["one layer"]), tmp_path / "model.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
    assert (tmp_path / "model.onnx").read_bytes() == b"old"


def test_no_folder_to_write_to(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        export_onnx(random_network(CONFIGS["one layer"]), tmp_path / "nowhere" / "model.onnx")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"model\.onnx: No such file"):
        OnnxTagger(tmp_path / "model.onnx")
    with pytest.raises(FileError, match="Is a directory"):
        OnnxTagger(tmp_path)


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.99])
def test_a_truncated_file(kept: float, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    export_onnx(random_network(CONFIGS["one layer"]), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(kept if kept > 1 else kept * len(data))])
    with pytest.raises(FileError, match=r"model\.onnx: (truncated or corrupt|expected a Biplanar network)"):
        OnnxTagger(path)
    assert capfd.readouterr() == ("", "")


def test_a_file_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_text("encoding = '2p-full'\n" * 100)
    with pytest.raises(FileError, match=r"model\.onnx: truncated or corrupt"):
        OnnxTagger(path)


@pytest.mark.parametrize("version", [None, "2", ""])
def test_another_format_is_refused(version: str | None, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    export_onnx(random_network(CONFIGS["one layer"]), path)
    model = onnx.load(path)
    onnx.helper.set_model_props(model, {} if version is None else {FORMAT_KEY: version})
    onnx.save(model, path)
    with pytest.raises(
        FileError, match=f"expected a Biplanar network of format '1', found {version!r}".replace("None", "none")
    ):
        OnnxTagger(path)


def test_words_of_another_vocabulary(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tagger = exported(random_network(CONFIGS["one layer"]), tmp_path)
    batch = batch_of(SENTENCES)
    with pytest.raises(BiplanarError, match=r"model\.onnx: these words do not fit"):
        tagger.score(replace(batch, forms=batch.forms + len(VOCABULARY.forms)))
    assert capfd.readouterr() == ("", "")


@both_kinds
def test_no_words_have_no_scores(int8: bool, tmp_path: Path) -> None:
    tagger = exported(random_network(CONFIGS["one layer"]), tmp_path, int8=int8)
    nothing = np.zeros(0, dtype=np.int64)
    empty = Batch(nothing, np.zeros((0, 1), dtype=np.int64), nothing, np.zeros((0, 0), dtype=np.int64), nothing)
    assert {task: table.shape for task, table in tagger.score(empty).items()} == {
        "plane1": (0, 11),
        "plane2": (0, 3),
        "deprel": (0, 8),
        "depth.plane1.left": (0, 5),
        "relation.dependent": (0, 200),
        "relation.head": (0, 200),
    }


def test_threads_do_not_change_scores(tmp_path: Path) -> None:
    tagger, batch = exported(random_network(CONFIGS["two layers"]), tmp_path), batch_of(SENTENCES)
    assert_same(OnnxTagger(tagger.path, threads=2).score(batch), tagger.score(batch))


def test_the_runtime_needs_neither_torch_nor_onnx() -> None:
    code = "import sys, biplanar.tagger.runtime; print({'torch', 'onnx'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("set()\n", "")
