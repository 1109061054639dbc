"""Encodings: trees to labels and back. All of them stand in one dict, behind one small protocol (`Encoding`).

Encodings of projective trees come also with pseudo-projective lifting: `4-bit+head`, `hexatags+head+path`.
"""

from __future__ import annotations

from biplanar.encodings.bits import FULL, STRICT, Bits
from biplanar.encodings.brackets import Brackets
from biplanar.encodings.encoding import Encoding
from biplanar.encodings.hexatags import Hexatags
from biplanar.encodings.hierarchical import Hierarchical
from biplanar.encodings.lifting import SCHEMES, with_lifting
from biplanar.encodings.positions import Positions, RelativePos
from biplanar.encodings.transitions import ARC_EAGER, ARC_HYBRID, ARC_STANDARD, COVINGTON, Transitions
from biplanar.errors import check_name
from biplanar.planes.assignment import STRATEGIES
from biplanar.plugins import add_installed

__all__ = ["ENCODINGS", "LIFTED", "PROJECTIVE", "Encoding", "all_encodings", "get_encoding"]

_ALL: tuple[Encoding, ...] = (
    Brackets("1p-brackets", None),
    *(Brackets(name, strategy) for name, strategy in STRATEGIES.items()),
    RelativePos(),
    Positions("absolute", relative=False),
    Positions("relative", relative=True),
    Bits("4-bit"),
    Bits("7-bit", STRICT),
    Bits("7-bit-full", FULL),
    Hierarchical(),
    Hexatags(),
    Transitions("arc-standard", ARC_STANDARD),
    Transitions("arc-eager", ARC_EAGER),
    Transitions("arc-hybrid", ARC_HYBRID),
    Transitions("covington", COVINGTON),
)
ENCODINGS: dict[str, Encoding] = {encoding.name: encoding for encoding in _ALL}

# Those that lift the arcs of crossing trees, and their names with a lifting that can be undone.
PROJECTIVE = ("4-bit", "hexatags", "arc-standard", "arc-eager", "arc-hybrid")
LIFTED = tuple(f"{name}+{scheme}" for name in PROJECTIVE for scheme in SCHEMES)


def all_encodings() -> dict[str, Encoding]:
    """The encodings, with those of installed packages."""
    add_installed("encodings", ENCODINGS)
    return ENCODINGS


def get_encoding(name: str) -> Encoding:
    """The encoding of that name, with lifting if the name says so."""
    inner, plus, scheme = name.partition("+")
    if plus and inner in PROJECTIVE:
        return with_lifting(ENCODINGS[inner], scheme)
    if name not in ENCODINGS:
        check_name("encoding", name, all_encodings())
    return ENCODINGS[name]
