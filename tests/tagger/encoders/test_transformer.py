"""The encoder `transformer`, by tiny ones with random weights: what words are, how it learns, what it refuses."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from torch import Tensor

from biplanar.errors import BiplanarError, FileError, UnknownNameError
from biplanar.tagger.config import ConfigError, NetworkConfig, TransformerConfig
from biplanar.tagger.encoders import make_encoder
from biplanar.tagger.encoders.transformer import WEIGHT_DECAY, Transformer, find_pretrained
from biplanar.tagger.features import Corpus, Vocabulary
from biplanar.tagger.loop import parameter_groups
from biplanar.tagger.network import Tagger
from biplanar.tagger.subwords import Windows
from tests.tagger.networks import batch_of
from tests.tagger.pretrained import write_bert, write_roberta

SENTENCES = [
    ["Yes"],
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
    ["She", "sings", "!"],
    ["the", "wanderer" * 9, "sings", "the", "songs", "of", "the", "sea"],  # which are two windows
]
VOCABULARY = Vocabulary.of(SENTENCES, {"deprel": ("root", "obj")}, min_form_count=1, min_char_count=1)
KINDS = {"bert": write_bert, "roberta": write_roberta}


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pre-trained encoder of each kind."""
    return KINDS[request.param](tmp_path_factory.mktemp("encoders") / request.param)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("encoders") / "one")


def encoder_of(folder: Path | str, switches: dict[str, object] | None = None, **settings: object) -> Transformer:
    """With the weights of a folder."""
    torch.manual_seed(5)
    small = {"word_dim": None, "char_dim": None, "char_hidden": 4, "form_dim": 20, "hidden": 12, "layers": 1}
    small["column_forms"] = False
    network = NetworkConfig(
        encoder="transformer",
        transformer=TransformerConfig(model=str(folder), **settings),
        **{**small, "dropout": 0.0, **(switches or {})},
    )
    encoder = make_encoder(network, len(VOCABULARY.forms), len(VOCABULARY.chars), 1)
    assert isinstance(encoder, Transformer)
    encoder.load_pretrained()
    return encoder.eval()


def encode(encoder: Transformer, sentences: list[list[str]] = SENTENCES) -> Tensor:
    spellings, batch = batch_of(VOCABULARY, sentences)
    encoded: Tensor = encoder(encoder.represent(spellings), batch)
    return encoded


class TestWords:
    @pytest.mark.parametrize("pooling", ["mean", "first"])
    def test_they_do_not_depend_on_the_batch(self, folder, pooling):
        encoder = encoder_of(folder, pooling=pooling)
        together = encode(encoder)
        assert together.shape == (21, encoder.width) == (21, 24)
        alone = torch.cat([encode(encoder, [sentence]) for sentence in SENTENCES])
        torch.testing.assert_close(together, alone)

    def test_they_are_the_mean_or_the_first_of_their_sub_words(self, folder):
        """Compared with the library's own states of a sentence that is one window."""
        forms = ["the", "cat", "sings"]
        for pooling, pool in (("mean", lambda rows: rows.mean(dim=0)), ("first", lambda rows: rows[0])):
            encoder = encoder_of(folder, pooling=pooling)
            split = encoder.subwords.split(forms)
            ids = [*encoder.subwords.prefix, *(one for word in split for one in word), *encoder.subwords.suffix]
            found = encoder.pretrained(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
            rows = torch.stack(found).mean(dim=0)[0]  # a fresh mix is the mean of all layers
            starts = np.cumsum([len(encoder.subwords.prefix), *map(len, split)])
            expected = [pool(rows[start:end]) for start, end in pairwise(starts)]
            windows = Windows.of(Corpus.of([forms]).batch([0]), encoder.subwords).padded(np.array([0]), len(ids) + 3)
            words = encoder.in_context(*map(torch.from_numpy, windows[1:]), forms=None)
            torch.testing.assert_close(words, torch.tanh(encoder.word(torch.stack(expected))))

    def test_the_context_matters(self, folder):
        encoder = encoder_of(folder)
        one, other = (encode(encoder, [["the", word, "sings"]])[0] for word in ("cat", "dog"))
        assert not torch.allclose(one, other)

    def test_word_and_character_vectors_stand_beside_them(self, bert):
        encoder = encoder_of(bert, {"word_dim": 6, "char_dim": 3})
        assert (encoder.form_width, encoder.word.in_features) == (6 + 2 * 4, 32 + 6 + 2 * 4)
        before = encode(encoder)
        with torch.no_grad():
            encoder.put_vector(VOCABULARY.form_ids["sings"], torch.full((6,), 3.0))
        assert not torch.allclose(encode(encoder), before)

    def test_no_words_have_no_vectors(self, bert):
        assert encode(encoder_of(bert), [[]]).shape == (0, 24)


class TestLearning:
    def gradients(self, encoder: Transformer) -> dict[str, Tensor]:
        encode(encoder.train()).square().sum().backward()
        return {name: one.grad for name, one in encoder.pretrained.named_parameters() if one.grad is not None}

    def without_dropout(self, folder: Path, to: Path) -> Path:
        shutil.copytree(folder, to)
        config = json.loads((to / "config.json").read_text())
        off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        (to / "config.json").write_text(json.dumps(config | off))
        return to

    def test_checkpointing_changes_no_gradient(self, folder, tmp_path):
        still = self.without_dropout(folder, tmp_path / "still")
        plain = self.gradients(encoder_of(still))
        again = self.gradients(encoder_of(still, checkpointing=True))
        assert len(plain) > 40
        assert plain.keys() == again.keys()
        for name, gradient in plain.items():
            torch.testing.assert_close(again[name], gradient, msg=name)

    def test_half_precision_is_nearly_the_same(self, folder, tmp_path, monkeypatch):
        """Of the pre-trained part alone, and in training."""
        monkeypatch.setattr("biplanar.tagger.encoders.transformer._cpu_has_bfloat16", lambda: True)
        encoder = encoder_of(self.without_dropout(folder, tmp_path / "still"))
        exact = encode(encoder.train())
        encoder.amp = True
        found = encode(encoder)
        assert found.dtype == torch.float32
        assert not torch.equal(found, exact)
        torch.testing.assert_close(found, exact, atol=0.1, rtol=0)
        assert torch.equal(encode(encoder.eval()), exact)

    def test_what_is_frozen_has_no_gradients_and_no_rates(self, folder):
        encoder = encoder_of(folder, frozen=True)
        assert not self.gradients(encoder)
        assert not encoder.parameter_groups()
        assert not encoder.pretrained.training
        assert encoder.mix.weights.grad is not None

    def test_layers_have_rates_that_decay_downwards(self, folder):
        encoder = encoder_of(folder, learning_rate=0.01, layer_decay=0.5)
        rates = {
            id(parameter): (group["lr"], group["weight_decay"])
            for group in encoder.parameter_groups()
            for parameter in group["params"]
        }
        named = dict(encoder.pretrained.named_parameters())
        assert len(rates) == len(named)
        for name, parameter in named.items():
            depth = 3 if name.startswith("embeddings") else 2 - int(name.split(".")[2])
            decay = WEIGHT_DECAY if parameter.ndim > 1 else 0
            assert rates[id(parameter)] == (pytest.approx(0.01 * 0.5**depth), decay), name

    def test_every_weight_is_in_one_group(self, bert):
        config = NetworkConfig(
            encoder="transformer", transformer=TransformerConfig(model=str(bert)), hidden=12, column_forms=False
        )
        network = Tagger(config, 9, 9, {"deprel": ("root", "obj")})
        groups = parameter_groups(network, list(network.parameters()), 0.5)
        assert groups[0]["lr"] == 0.5
        found = [id(parameter) for group in groups for parameter in group["params"]]
        assert sorted(found) == sorted(id(parameter) for parameter in network.parameters())


class TestRefusals:
    def changed(self, bert: Path, to: Path, **values: object) -> Path:
        """A copy with other settings."""
        shutil.copytree(bert, to)
        config = json.loads((to / "config.json").read_text()) | values
        (to / "config.json").write_text(json.dumps({key: one for key, one in config.items() if one is not None}))
        return to

    def test_no_name(self):
        with pytest.raises(ConfigError, match=r"network\.transformer\.model"):
            make_encoder(NetworkConfig(encoder="transformer"), 1, 1, 1)

    def test_a_wrong_name(self, monkeypatch):
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        for name in ("no/such-encoder", "no such folder", "a/b/c"):
            with pytest.raises(FileError, match=f"{name}: no such folder"):
                encoder_of(name, local_files_only=True)

    def test_another_pooling(self, bert):
        with pytest.raises(UnknownNameError, match="mean"):
            encoder_of(bert, pooling="means")

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
    def test_a_folder_that_lacks_a_file(self, bert, tmp_path, name):
        shutil.copytree(bert, tmp_path / "copy")
        (tmp_path / "copy" / name).unlink()
        with pytest.raises(FileError, match=name):
            find_pretrained(str(tmp_path / "copy"))

    def test_a_broken_tokenizer(self, bert, tmp_path):
        shutil.copytree(bert, tmp_path / "copy")
        (tmp_path / "copy" / "tokenizer.json").write_text("{}")
        with pytest.raises(FileError, match="not a tokenizer"):
            encoder_of(tmp_path / "copy")

    def test_an_encoder_that_wants_code_of_its_own(self, bert, tmp_path):
        """Whose module would say so if it were run."""
        own = self.changed(bert, tmp_path / "own", model_type="newbert", auto_map={"AutoModel": "code.NewModel"})
        (own / "code.py").write_text("raise SystemExit('run')\n")
        with pytest.raises(FileError, match="no code of a model is run"):
            encoder_of(own)

    def test_code_beside_a_known_encoder_is_not_run(self, bert, tmp_path):
        names = {"AutoModel": "code.NewModel", "AutoConfig": "code.NewConfig"}
        own = self.changed(bert, tmp_path / "own", auto_map=names)
        (own / "code.py").write_text("raise SystemExit('run')\n")
        torch.testing.assert_close(encode(encoder_of(own)), encode(encoder_of(bert)))

    def test_an_unknown_kind_of_encoder(self, bert, tmp_path):
        with pytest.raises(FileError, match="transformers cannot read this encoder"):
            encoder_of(self.changed(bert, tmp_path / "other", model_type="newbert"))

    def test_what_gives_sub_words_no_vectors_of_their_own(self, bert, tmp_path):
        small = {"d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48, "block_sizes": [1], "num_hidden_layers": None}
        for kind, values in {"vit": {"image_size": 32}, "funnel": small}.items():  # which sees pictures, and pools
            other = self.changed(bert, tmp_path / kind, model_type=kind, **values)
            with pytest.raises(FileError, match=f"an encoder of type {kind} does not give each sub-word a vector"):
                encoder_of(other)

    def test_pickled_weights(self, bert, tmp_path):
        shutil.copytree(bert, tmp_path / "copy")
        (tmp_path / "copy" / "model.safetensors").unlink()
        with pytest.raises(FileError, match=r"no model\.safetensors"):
            encoder_of(tmp_path / "copy")
        torch.save({}, tmp_path / "copy" / "pytorch_model.bin")
        with pytest.raises(FileError, match="is a pickle, which may hold code"):
            encoder_of(tmp_path / "copy")

    def test_weights_of_another_encoder(self, bert, tmp_path):
        with pytest.raises(FileError, match=r"weights do not match|cannot read"):
            encoder_of(self.changed(bert, tmp_path / "other", num_hidden_layers=5))
        with pytest.raises(FileError, match=r"weights do not match|cannot read"):
            encoder_of(self.changed(bert, tmp_path / "wider", intermediate_size=50))

    def test_a_missing_extra(self, bert):
        with (
            mock.patch.dict("sys.modules", {"transformers": None}),
            pytest.raises(BiplanarError, match="needs the extra 'transformers'"),
        ):
            encoder_of(bert)
