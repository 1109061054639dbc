"""Treebanks with enhanced graphs, where there are any."""

from __future__ import annotations

from pathlib import Path

from tests.paths import ROOT, treebanks_folder

ENHANCED = ROOT / "examples" / "enhanced.conllu"  # hand-written sentences, of which one has an empty node


def enhanced_files() -> list[Path]:
    """The CoNLL-U files with graphs, of two releases of Universal Dependencies."""
    folders = (treebanks_folder(), treebanks_folder().with_name("ud-2.16"))
    names = ("UD_English-EWT", "UD_Lithuanian-ALKSNIS")
    return sorted(file for folder in folders for name in names for file in (folder / name).glob("*.conllu.xz"))
