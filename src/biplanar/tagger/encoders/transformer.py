"""A pre-trained encoder of the Hugging Face hub below BiLSTMs: words are made of their sub-words in context."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from biplanar.errors import BiplanarError, FileError, UnknownNameError, file_errors, first_line, needing
from biplanar.tagger.config import FIRST, POOLINGS, ConfigError, NetworkConfig
from biplanar.tagger.encoders.bilstm import BiLstm
from biplanar.tagger.subwords import CONFIG, TOKENIZER, Subwords, Windows, read_json
from biplanar.tagger.tensors import TensorBatch

EXTRA = "transformers"

# What is fetched from the hub: no code, and weights in no format that could hold code.
FILES = [CONFIG, TOKENIZER, "model*.safetensors", "model.safetensors.index.json"]

WEIGHT_DECAY = 0.01

_LAYER = re.compile(r"\b(?:layers?|block|h)\.(\d+)\.")


class Transformer(BiLstm):
    """The layers of a pre-trained encoder, mixed; word and character vectors beside them; then BiLSTMs."""

    recordable = False  # the windows of sub-words depend on the words

    def __init__(self, config: NetworkConfig, forms: int, chars: int, treebanks: int) -> None:
        """The pre-trained encoder has random weights until it gets its own (`load_pretrained`) or others."""
        settings = config.transformer
        if settings.model is None:
            raise ConfigError(
                "the encoder 'transformer' needs network.transformer.model: a name on the hub or a folder"
            )
        if settings.pooling not in POOLINGS:
            raise UnknownNameError("network.transformer.pooling", settings.pooling, POOLINGS)
        if config.column_forms:
            raise ConfigError(
                "the encoder 'transformer' needs network.column_forms false: all it has are words in context"
            )
        folder = find_pretrained(settings.model, settings.local_files_only)
        pretrained = _make(folder)
        features: int = pretrained.config.hidden_size
        word_width = config.form_dim or features
        super().__init__(config, forms, chars, treebanks, word_width=word_width)
        self.settings, self.folder, self.accumulate = settings, folder, settings.accumulate
        self.subwords = Subwords(folder, only_first=settings.pooling == FIRST)
        self.pretrained = pretrained
        self.mix = LayerMix(pretrained.config.num_hidden_layers + 1)
        self.word = nn.Linear(features + self.form_width, word_width)
        if settings.frozen:
            self.pretrained.requires_grad_(requires_grad=False)
        elif settings.checkpointing:
            self.pretrained.config.use_cache = False  # else each training begins with a warning
            self.pretrained.activation_checkpointing_enable()

    def load_pretrained(self) -> None:
        """Read the weights of the pre-trained encoder."""
        _check_layers(self.folder, self.pretrained.eval())
        self.pretrained.load_state_dict(_read_weights(self.folder))
        self.train(self.training)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """The pre-trained encoder's, layer by layer."""
        if self.settings.frozen:
            return []
        top: int = self.pretrained.config.num_hidden_layers
        groups: dict[tuple[int, float], list[nn.Parameter]] = {}
        for name, parameter in self.pretrained.named_parameters():
            found = _LAYER.search(name)
            layer = int(found[1]) + 1 if found else 0 if "embed" in name else top
            groups.setdefault((layer, WEIGHT_DECAY if parameter.ndim > 1 else 0.0), []).append(parameter)
        return [
            {"params": parameters, "lr": self.settings.learning_rate * self.settings.layer_decay ** (top - layer)}
            | {"weight_decay": decay}
            for (layer, decay), parameters in groups.items()
        ]

    def write_files(self, folder: Path) -> None:
        """Write the pre-trained encoder's configuration and tokenizer."""
        with file_errors(folder):
            folder.mkdir(exist_ok=True)
            for name in (CONFIG, TOKENIZER):
                if not (folder / name).exists() or not (folder / name).samefile(self.folder / name):
                    shutil.copyfile(self.folder / name, folder / name)

    def train(self, mode: bool = True) -> Transformer:
        """What is frozen has no dropout either."""
        super().train(mode)
        if self.settings.frozen:
            self.pretrained.eval()
        return self

    def forward(self, forms: Tensor, batch: TensorBatch) -> Tensor:
        """Words from their sub-words in context and their forms, then the BiLSTMs: (all words, width)."""
        if not len(batch.places):
            return forms.new_zeros(0, self.width)
        windows = Windows.of(batch.batch, self.subwords)
        arrays = windows.padded(np.arange(len(windows.lengths)), int(windows.lengths.max()))
        tensors = [torch.from_numpy(array).to(batch.device) for array in arrays[1:]]
        own_forms = forms.index_select(0, batch.forms) if self.form_width else None
        return super().forward(self.in_context(*tensors, forms=own_forms), batch.each_word)

    def in_context(
        self, ids: Tensor, mask: Tensor, places: Tensor, owners: Tensor, counts: Tensor, *, forms: Tensor | None
    ) -> Tensor:
        """Words from their sub-words, by tensors as in `PaddedWindows`, and their forms: (words, features)."""
        half = self.training and self.amp and ids.device.type == "cpu" and _cpu_has_bfloat16()
        with (
            torch.set_grad_enabled(torch.is_grad_enabled() and not self.settings.frozen),
            torch.autocast("cpu", torch.bfloat16) if half else nullcontext(),
        ):
            found = self.pretrained(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        mixed = self.mix(found.hidden_states).flatten(0, 1)  # (all sub-words, features)
        mixed = mixed.float() if half else mixed
        sums = mixed.new_zeros(counts.shape[0], mixed.shape[1]).index_add(0, owners, mixed.index_select(0, places))
        means = sums / counts[:, None].to(sums.dtype)
        return torch.tanh(self.word(means if forms is None else torch.cat([means, forms.to(means.dtype)], dim=-1)))


@cache
def _cpu_has_bfloat16() -> bool:
    """Without instructions for it, products in half precision would take longer."""
    get_capabilities = getattr(torch.cpu, "get_capabilities", dict)  # older versions of PyTorch do not tell
    capabilities: dict[str, object] = get_capabilities()
    return any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


class LayerMix(nn.Module):
    """A weighted mean of layers, times a number (Peters et al. 2018)."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, states: tuple[Tensor, ...]) -> Tensor:
        """Like each of the layers."""
        shares = self.weights.softmax(dim=0) * self.scale
        mixed = states[0] * shares[0]
        for state, share in zip(states[1:], shares[1:], strict=True):
            mixed = mixed + state * share
        return mixed


@cache
def find_pretrained(model: str, local_files_only: bool = False) -> Path:
    """The folder of an encoder: the one that is named, or that of the hub's cache, where it is fetched to."""
    folder = Path(model)
    if not folder.is_dir():
        folder = _fetch(model, local_files_only)
    for name, what in ((CONFIG, "an encoder"), (TOKENIZER, "a tokenizer")):
        if not (folder / name).exists():
            raise FileError(f"{model}: not {what} that can be used: it has no {name}")
    return folder


def _fetch(model: str, local_files_only: bool) -> Path:
    with needing(EXTRA, "fetching an encoder"):
        from huggingface_hub import constants, errors, snapshot_download
    try:
        return Path(snapshot_download(model, allow_patterns=FILES, local_files_only=local_files_only))
    except errors.HFValidationError as error:
        raise FileError(f"{model}: no such folder, and not a name on the hub") from error
    except errors.RepositoryNotFoundError as error:
        message = (
            f"no such folder, and no such model on {constants.ENDPOINT}; if it is private, log in by `hf auth login`"
        )
        raise FileError(f"{model}: {message}") from error
    except (errors.LocalEntryNotFoundError, errors.HfHubHTTPError, OSError) as error:
        offline = local_files_only or constants.is_offline_mode()
        why = (
            "it is not in the cache, and downloads are switched off"
            if offline
            else first_line(error.__cause__ or error)
        )
        raise FileError(f"{model}: no such folder, and not to be had from the hub: {why}") from error


def _make(folder: Path) -> Any:
    """The encoder that a folder's configuration describes, with random weights."""
    with needing(EXTRA, "the encoder 'transformer'"):
        from transformers import AutoConfig, AutoModel
    with _reading(folder):
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        if config.is_encoder_decoder:
            raise FileError(f"{folder}: a model with a decoder is no encoder")
        make: Any = AutoModel.from_config  # without types
        encoder = _without_pooler(make(config, trust_remote_code=False, dtype=torch.float32))
    if not hasattr(encoder.config, "hidden_size"):
        raise _no_text_encoder(folder, encoder)
    return encoder


def _check_layers(folder: Path, encoder: Any) -> None:
    """Refuse an encoder that reads pictures or sound, or sees several sub-words as one."""
    ids = torch.zeros(1, 8, dtype=torch.int64, device=encoder.device)
    try:
        with torch.no_grad():
            found = encoder(input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
        shapes = [state.shape for state in found.hidden_states]
    except Exception as error:  # each encoder raises its own
        raise _no_text_encoder(folder, encoder) from error
    if shapes != [(*ids.shape, encoder.config.hidden_size)] * (encoder.config.num_hidden_layers + 1):
        raise _no_text_encoder(folder, encoder)


def _no_text_encoder(folder: Path, encoder: Any) -> FileError:
    kind = encoder.config.model_type
    return FileError(f"{folder}: an encoder of type {kind} does not give each sub-word a vector in each layer")


def _read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights of an encoder by their names; what a file has besides, such as output layers, is left out."""
    from transformers import AutoModel

    if not any(folder.glob("model*.safetensors")):
        pickles = [path.name for path in folder.glob("*.bin")]
        reason = f"{pickles[0]} is a pickle, which may hold code" if pickles else "no model.safetensors"
        raise FileError(f"{folder}: no weights in the format safetensors: {reason}")
    with _reading(folder):
        model, found = AutoModel.from_pretrained(
            folder,
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
        )
    weights: dict[str, Tensor] = _without_pooler(model).state_dict()
    if missing := sorted(set(found["missing_keys"]) & set(weights)):
        raise FileError(f"{folder}: the weights do not match {CONFIG}: there is no {missing[0]}")
    return weights


def _without_pooler(model: Any) -> Any:
    """Without the layer that makes one vector of a whole text."""
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return model


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """The library raises errors of many kinds, and prints warnings and progress."""
    import transformers

    logging: Any = transformers.utils.logging  # without types
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with redirect_stderr(StringIO()):  # its own switch of progress bars cannot be put back to where it was
            yield
    except BiplanarError:
        raise
    except Exception as error:
        if "auto_map" in read_json(folder / CONFIG):
            raise FileError(f"{folder}: this encoder needs code of its own, and no code of a model is run") from error
        raise FileError(f"{folder}: transformers cannot read this encoder ({first_line(error)})") from error
    finally:
        logging.set_verbosity(level)
