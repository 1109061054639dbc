"""The treebanks of the study: where their files are, and which of them stand in for the released ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.errors import FileError

SPLITS = ("train", "dev", "test")
RELEASE = "2.4"  # of UD
LENT = 8  # of so many parts of a training file, one is dev where there is no dev file


@dataclass(frozen=True)
class Treebank:
    """One treebank of UD. `near`: its training file is close to the released one, but not the same."""

    code: str  # short name, part of every run's key
    name: str  # as in the paper's tables
    near: bool = False
    release: str = RELEASE

    @property
    def language(self) -> str:
        """The language, for tables."""
        return self.name.partition("-")[0].replace("_", " ")

    @property
    def title(self) -> str:
        """The language; a star where the training file is only near the released one."""
        return f"{self.language}{'*' if self.near else ''}"

    def file(self, split: str, root: Path) -> Path:
        """The file of a split below `root`, the folder that holds `ud-2.4` and `ud-near-2.4`."""
        near = "near-" if self.near and split == "train" else ""
        folder = root / f"ud-{near}{self.release}" / f"UD_{self.name}"
        found = sorted(folder.glob(f"*-{split}.conllu*"))
        if len(found) != 1:
            raise FileError(f"{folder}: {len(found)} files are named *-{split}.conllu, instead of one")
        return found[0]


# From small to large.
TREEBANKS = (
    Treebank("lt", "Lithuanian-HSE"),
    Treebank("hu", "Hungarian-Szeged"),
    Treebank("af", "Afrikaans-AfriBooms"),
    Treebank("eu", "Basque-BDT"),
    Treebank("gl", "Galician-CTG", near=True),
    Treebank("grc", "Ancient_Greek-Perseus", near=True),
    Treebank("pt", "Portuguese-Bosque"),
    Treebank("ko", "Korean-Kaist"),
)
ENGLISH = Treebank("en", "English-EWT")  # not in the paper
BUNDLED = Treebank("en", "English-EWT", release="2.16")  # that of the model that ships
BY_CODE = {treebank.code: treebank for treebank in (*TREEBANKS, ENGLISH)}


def read_splits(files: Mapping[str, Path]) -> dict[str, list[Sentence]]:
    """The sentences of each split; without a dev file, the last eighth of the training file is dev."""
    splits = {split: list(read_conllu(file)) for split, file in files.items()}
    if "dev" not in splits:
        kept = len(splits["train"]) - len(splits["train"]) // LENT
        splits |= {"train": splits["train"][:kept], "dev": splits["train"][kept:]}
    return splits
