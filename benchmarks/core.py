"""How fast the core is: reading CoNLL-U, encoding and decoding, compiling, and plane assignment on long sentences.

All on one core. Each time is the best of several rounds of processor time, and what is compared takes turns, so
that a busy machine disturbs all alike. Compare ratios, not rates, between machines.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.core_report import SIZES, compiling_sheet, growth_sheets, labels_sheet, reading_sheet
from benchmarks.machine import ONE_THREAD, machine, use_one_core, versions

os.environ.update(ONE_THREAD)  # before the libraries below are imported

import conllu
import pyconll

from benchmarks.arguments import ArgumentParser, at_least, names
from benchmarks.output import Numbers, described, keep, show
from benchmarks.texts import treebanks_folder
from benchmarks.timing import best_times
from benchmarks.trees import locally_crossing_heads, projective_heads, random_heads, tree_of
from biplanar import Sentence, decode_all, encode_all, read_conllu
from biplanar.data.conllu import DEPREL
from biplanar.data.forest import Forest
from biplanar.decoding import decode_forest
from biplanar.encodings import ENCODINGS, Encoding
from biplanar.planes.assignment import STRATEGIES, assign_planes

PACKAGES = ("conllu", "numba", "numpy", "pyconll")
READING_FILES = ("UD_Korean-Kaist/ko_kaist-ud-train.conllu.xz", "UD_English-EWT/en_ewt-ud-train.conllu.xz")
LABELS_FILE = READING_FILES[0]
PARTS = ("reading", "labels", "compiling", "growth")


# Reading CoNLL-U: every reader counts the sentences, or takes out the words' columns and counts those.


def stream_biplanar(path: str) -> int:
    """Biplanar, sentences only."""
    return sum(1 for _ in read_conllu(path))


def stream_conllu(path: str) -> int:
    """The package `conllu`, sentences only."""
    with Path(path).open(encoding="utf-8") as stream:
        return sum(1 for _ in conllu.parse_incr(stream))


def stream_pyconll(path: str) -> int:
    """The package `pyconll`, sentences only."""
    return sum(1 for _ in pyconll.iter_from_file(path))


def columns_biplanar(path: str) -> int:
    """Biplanar, with forms, heads and relations."""
    words = 0
    for sentence in read_conllu(path):
        forms, _heads, _deprels = sentence.forms, sentence.heads, sentence.column(DEPREL)
        words += len(forms)
    return words


def columns_conllu(path: str) -> int:
    """The package `conllu`, the same."""
    words = 0
    with Path(path).open(encoding="utf-8") as stream:
        for sentence in conllu.parse_incr(stream):
            tokens = [token for token in sentence if type(token["id"]) is int]
            forms = [token["form"] for token in tokens]
            _heads = [token["head"] for token in tokens]
            _deprels = [token["deprel"] for token in tokens]
            words += len(forms)
    return words


def columns_pyconll(path: str) -> int:
    """The package `pyconll`, the same."""
    words = 0
    for sentence in pyconll.iter_from_file(path):
        tokens = [token for token in sentence if token.id.isdigit()]
        forms = [token.form for token in tokens]
        _heads = [int(token.head) for token in tokens]
        _deprels = [token.deprel for token in tokens]
        words += len(forms)
    return words


READERS: dict[str, dict[str, Callable[[str], int]]] = {
    "stream": {"biplanar": stream_biplanar, "conllu": stream_conllu, "pyconll": stream_pyconll},
    "with columns": {"biplanar": columns_biplanar, "conllu": columns_conllu, "pyconll": columns_pyconll},
}


def measure_reading(treebanks: Path, rounds: int) -> list[Numbers]:
    """Words a second of every reader on plain files."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in READING_FILES:
            path = Path(folder, "plain.conllu")
            path.write_bytes(lzma.decompress((treebanks / name).read_bytes()))
            words = columns_biplanar(str(path))
            for what, readers in READERS.items():
                rates = _reading_rates(readers, str(path), words, rounds)
                ratio = rates["biplanar"] / max(rates["conllu"], rates["pyconll"])
                rows.append({"file": Path(name).stem, "words": words, "what": what, **rates, "ratio": ratio})
    return rows


def _reading_rates(readers: dict[str, Callable[[str], int]], path: str, words: int, rounds: int) -> dict[str, float]:
    found = {name: reader(path) for name, reader in readers.items()}
    if len(set(found.values())) > 1:
        raise SystemExit(f"the readers do not agree on {path}: {found}")
    times = best_times({name: partial(read, path) for name, read in readers.items()}, rounds)
    return {name: words / seconds for name, seconds in times.items()}


# Encoding and decoding


def measure_labels(treebanks: Path, rounds: int) -> list[Numbers]:
    """Sentences a second of all encodings, compiled and as text."""
    sentences = list(read_conllu(treebanks / LABELS_FILE))
    return [_measure_encoding(encoding, sentences, rounds) for encoding in ENCODINGS.values()]


def _measure_encoding(encoding: Encoding, sentences: list[Sentence], rounds: int) -> Numbers:
    compiled = best_times(_compiled_tasks(encoding, Forest.from_sentences(sentences)), rounds)
    text = best_times(_text_tasks(encoding.name, sentences), rounds)
    return {
        "encoding": encoding.name,
        **{task: len(sentences) / seconds for task, seconds in compiled.items()},
        **{task: len(sentences) / seconds for task, seconds in text.items()},
    }


def _compiled_tasks(encoding: Encoding, forest: Forest) -> dict[str, Callable[[], Any]]:
    """Arrays of heads to numbered labels, and numbered labels to the heads of valid trees."""
    columns = encoding.encode(forest)

    def decode() -> Forest:
        return decode_forest(columns, forest.deprels, forest.offsets, encoding, decoder="greedy", upos=forest.upos)

    return {"encode": lambda: encoding.encode(forest), "decode": decode}


def _text_tasks(name: str, sentences: list[Sentence]) -> dict[str, Callable[[], Any]]:
    """What most users call: trees to rows of text, and rows of text to trees."""
    trees, upos = [sentence.tree for sentence in sentences], [sentence.upos for sentence in sentences]
    rows = encode_all(trees, name, upos=upos)
    return {
        "encode_all": lambda: encode_all(trees, name, upos=upos),
        "decode_all": lambda: decode_all(rows, name, upos=upos),
    }


# Compiling

# In a process of its own: import, then everything that has to be compiled, with a tree that does not fit in two planes.
FIRST_USE = """
import json, sys, time
heads, started = json.loads(sys.argv[1]), time.process_time()
from biplanar import DECODERS, ENCODINGS, Tree, decode, encode
tree, upos = Tree(tuple(heads), tuple("dep" if head else "root" for head in heads)), ["X"] * len(heads)
ENCODINGS
imported = time.process_time()
for name in ENCODINGS:
    rows = encode(tree, name, upos=upos)
    for decoder in (name for name, one in DECODERS.items() if one.repair):
        decode(rows, name, decoder=decoder, upos=upos)
print(json.dumps({"import": imported - started, "first use": time.process_time() - imported}))
"""


def measure_compiling(rounds: int) -> Numbers:
    """Seconds of the first use of all encodings and decoders, with an empty and with a full cache of compiled code."""
    cold, warm = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_first_use(cache))
            warm += [_first_use(cache) for _ in range(3)]
    return {"empty cache": _least(cold), "full cache": _least(warm)}


def _first_use(cache: str) -> dict[str, float]:
    heads = json.dumps(random_heads(60, Random(1)))
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", FIRST_USE, heads]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds


def _least(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(run[name] for run in runs) for name in runs[0]}


# Growth


KINDS: dict[str, Callable[[int, Random], tuple[int, ...]]] = {
    "projective": projective_heads,
    "locally crossing": locally_crossing_heads,
    "random": random_heads,
}
ONE_OFF = (("random", 10_000), ("projective", 100_000))


def measure_growth(rounds: int) -> Numbers:
    """Seconds of plane assignment by kind of tree, size and strategy, and of some long sentences."""
    kinds = {kind: {str(size): _assignment_times(kind, size, rounds) for size in SIZES} for kind in KINDS}
    long = [[kind, size, _assignment_times(kind, size, rounds)] for kind, size in ONE_OFF]
    return {"kinds": kinds, "one-off": long}


def _assignment_times(kind: str, size: int, rounds: int) -> dict[str, float]:
    """The mean over several trees, one call each; more of them where they are short.

    Called again and again with one short tree, the processor learns its branches by heart.
    """
    forests = [_one_tree(kind, size, seed) for seed in range(max(1, SIZES[-1] // size))]
    tasks = {
        name: lambda strategy=strategy: [assign_planes(forest, strategy) for forest in forests]
        for name, strategy in STRATEGIES.items()
    }
    return {name: seconds / len(forests) for name, seconds in best_times(tasks, rounds).items()}


def _one_tree(kind: str, size: int, seed: int) -> Forest:
    return Forest.from_trees([tree_of(KINDS[kind](size, Random(seed)))])


# The script


def main() -> None:
    """Run all parts, or the chosen ones, print their tables, and keep the numbers as JSON."""
    options = _options()
    use_one_core()
    results: Numbers = {"machine": machine(), "versions": versions(PACKAGES)}
    print(described(results["machine"] | results["versions"]))
    treebanks = all((options.treebanks / name).is_file() for name in READING_FILES)
    if not treebanks:
        print(f"{options.treebanks}: no {' or no '.join(READING_FILES)}; reading and labels are left out")
    if "reading" in options.only and treebanks:
        results["reading"] = measure_reading(options.treebanks, options.rounds)
        show([reading_sheet(results["reading"])])
    if "labels" in options.only and treebanks:
        results["labels"] = measure_labels(options.treebanks, options.rounds)
        show([labels_sheet(results["labels"])])
    if "compiling" in options.only:
        results["compiling"] = measure_compiling(rounds=2)
        show([compiling_sheet(results["compiling"])])
    if "growth" in options.only:
        results["growth"] = measure_growth(options.rounds)
        show(growth_sheets(results["growth"]))
    keep(results, options.json)


def _options() -> argparse.Namespace:
    parser = ArgumentParser("benchmarks.core", __doc__)
    folder = treebanks_folder()
    parser.add_argument("--treebanks", type=Path, default=folder, help="folder of UD treebanks (UD_*/*.conllu.xz)")
    parser.add_argument("--only", type=names("part", PARTS), default=PARTS, help=f"of {','.join(PARTS)}")
    parser.add_argument("--rounds", type=at_least(1), default=5, help="rounds of which the best counts")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
