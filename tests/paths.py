"""Where files are that tests and benchmarks read."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TINY = ROOT / "examples" / "tiny.conllu"  # hand-written sentences, of which some have crossing arcs


def treebanks_folder() -> Path:
    """The folder that `$BIPLANAR_TREEBANKS` names, or else the one beside the repository."""
    return Path(os.environ.get("BIPLANAR_TREEBANKS") or ROOT.parent / "shared" / "ud-2.4")


def treebank_files() -> list[Path]:
    """All CoNLL-U files of all treebanks there are."""
    return sorted(treebanks_folder().glob("UD_*/*.conllu.xz"))
