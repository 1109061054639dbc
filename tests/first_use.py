"""Compile all that is compiled, in two processes that take equally long: `python -m tests.first_use search`, `others`.

Otherwise each of the processes that run tests would compile for itself, and commands that are tested would say so on
standard error.
"""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from typing import Any

from biplanar.compiled import cache_folder
from tests.paths import ROOT, TINY


def compile_once() -> None:
    """Do so if there is no machine code of the current sources yet."""
    if not any(cache_folder().rglob("*.nbi")):
        command = [sys.executable, "-m", "tests.first_use"]
        begun = [subprocess.Popen([*command, part], cwd=ROOT, stderr=subprocess.DEVNULL) for part in PARTS]
        codes = [process.wait() for process in begun]
        if any(codes):
            raise RuntimeError("what is compiled could not be used; `python -m tests.first_use` says why")


def use_encodings() -> None:
    """Every encoding, and every decoder that takes labels alone."""
    from biplanar import DECODERS, ENCODINGS, decode_all, encode_all, read_conllu

    sentences = list(read_conllu(TINY))
    trees, upos = [sentence.tree for sentence in sentences], [sentence.upos for sentence in sentences]
    labels_alone = [name for name, decoder in DECODERS.items() if decoder.repair]
    for encoding in ENCODINGS:
        rows = encode_all(trees, encoding, upos=upos)
        for decoder in labels_alone:
            decode_all(rows, encoding, decoder=decoder, upos=upos)


def parse(**options: Any) -> None:
    """With the model inside."""
    from biplanar.bulk.chunks import Source
    from biplanar.bulk.output import parse_files
    from biplanar.bulk.task import Task
    from biplanar.pipeline.options import ParseOptions

    parse_files(Source((TINY,)), BytesIO(), Task(options=ParseOptions(**options)))


def use_search() -> None:
    """The default decoder, which alone gives several trees."""
    parse()
    parse(best=3, probabilities=True)


def use_others() -> None:
    """Every encoding, and every other decoder."""
    from biplanar import DECODERS

    use_encodings()
    for decoder in DECODERS.keys() - {"search"}:
        parse(decoder=decoder)


PARTS = {"search": use_search, "others": use_others}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
