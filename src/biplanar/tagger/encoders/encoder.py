"""What an encoder is."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from biplanar.errors import BiplanarError
from biplanar.tagger.tensors import TensorBatch, TensorSpellings


class Encoder(nn.Module):
    """What every encoder can do; whether it is being trained, `training` tells."""

    form_width: int  # of the vectors of forms
    width: int  # of the vectors that come out
    recordable = True  # as a CUDA graph: a step of training depends on nothing but the shapes of its tensors
    accumulate = 1  # batches whose gradients are added up for one update
    amp = False  # half precision while it is trained, where a CPU gains from it

    @abstractmethod
    def represent(self, spellings: TensorSpellings) -> Tensor:
        """Every form by itself, before it is seen in a sentence: (forms, features)."""

    def put_vector(self, form: int, vector: Tensor) -> None:  # noqa: ARG002
        """Start the vector of a form, by its number, from one that was trained elsewhere."""
        raise BiplanarError(f"an encoder of type {type(self).__name__} takes no pre-trained vectors")

    def load_pretrained(self) -> None:
        """Start from weights that were trained elsewhere, where there are any."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Parameters with a learning rate and a weight decay of their own, as optimizers take them."""
        return []

    def write_files(self, folder: Path) -> None:
        """Write what it takes to make the encoder again beside its settings and weights."""

    @abstractmethod
    def forward(self, forms: Tensor, batch: TensorBatch) -> Tensor:
        """Every word in its context: (all words, width). `forms` are what `represent` gives."""
