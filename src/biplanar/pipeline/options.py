"""How to parse: one value, from the command line, the server and Python down to the decoder."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from biplanar.decoding import DEFAULT_DECODER, get_decoder
from biplanar.decoding.beam import Beam
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.errors import BiplanarError, check_name


@dataclass(frozen=True)
class ParseOptions:
    """How to parse."""

    decoder: str = DEFAULT_DECODER  # a name in `DECODERS`
    beam: Beam = field(default_factory=Beam)  # how hard to search
    probabilities: bool = False  # of each word's head, as HeadProb in MISC
    best: int = 1  # trees of each sentence
    tags: bool = True  # fill the columns that the model predicts: tags, features, lemmas
    retag: bool = False  # and replace what the input has in them
    batch_words: int | None = None  # that go through the network at once; None: what suits the device

    def __post_init__(self) -> None:
        several = get_decoder(self.decoder).finds_several
        if self.best < 1:
            raise BiplanarError(f"best must be at least 1, not {self.best}")
        if self.best > 1 and not several:
            raise BiplanarError(f"--best needs --decoder {DEFAULT_DECODER}, not {self.decoder}")
        if self.batch_words is not None and self.batch_words < 1:
            raise BiplanarError(f"batch_words must be at least 1, not {self.batch_words}")

    def changed(self, **changes: Any) -> ParseOptions:
        """The same with some options replaced, by their names."""
        known = [one.name for one in fields(self)]
        for name in changes:
            check_name("option", name, known)
        return replace(self, **changes) if changes else self

    def tree_decoder(self, inventory: LabelInventory) -> TreeDecoder:
        """What decodes the scores of a model's labels."""
        return TreeDecoder(inventory, get_decoder(self.decoder), self.beam, self.probabilities, self.tags)


DEFAULT_OPTIONS = ParseOptions()
