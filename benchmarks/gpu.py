"""How fast a model parses on a GPU, part by part, from memory to memory and from file to file.

    python -m benchmarks.gpu MODEL FILE.conllu [--sentences 200000] [--device cuda] [--rounds 3] [--json RESULT]

The file is repeated up to `--sentences` sentences. First all sentences are parsed from words in memory to trees in
memory: tagging and decoding. Then the file is parsed to a file. Unless `--quick`, each part is then measured alone, on
the same batches: vectors of forms, encoder and labels on the device, fetching the scores, decoding in one thread and in
all, relations on the device. What takes longest, if all else ran beside it, is what bounds the whole. Times are
wall-clock times, best of the rounds, after everything has been compiled and run once; the device is waited for wherever
a part ends. Last, unless `--quick`, the trees are compared with those of full precision.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from study.fingerprint import CODE, RELEASE

import biplanar
from benchmarks.arguments import ArgumentParser, at_least
from benchmarks.machine import machine, versions
from benchmarks.output import Numbers, Sheet, keep, show
from benchmarks.texts import repeated
from biplanar.bulk.chunks import Source
from biplanar.bulk.engines import ThisProcess
from biplanar.bulk.output import parse_files
from biplanar.bulk.task import ChunkParser, Task
from biplanar.data.arrays import Int32s
from biplanar.decoding.scores import Scores
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.errors import BiplanarError
from biplanar.pipeline.options import ParseOptions
from biplanar.pipeline.parser import Parser
from biplanar.tagger.device import FULL, TorchTagger
from biplanar.tagger.encoders.bilstm import BiLstm
from biplanar.tagger.features import Batch, Corpus, batches_by_words
from biplanar.tagger.network import Tagger
from biplanar.tagger.predict import parse_corpus
from biplanar.tagger.tensors import TensorBatch
from biplanar.tagger.weights import load_network

PACKAGES = ("numba", "numpy", "torch")
SENTENCES, WARM_UP = 200_000, 2_000
PRECISIONS = {"float16": torch.float16, "bfloat16": torch.bfloat16}
TARGETS = {"tagging and decoding": 150_000, "file to file": 100_000}  # sentences a second, on an H200


@dataclass(frozen=True)
class Setting:
    """What is measured, and how often."""

    parser: Parser
    tagger: TorchTagger
    rounds: int

    @property
    def decoder(self) -> TreeDecoder:
        """The default one."""
        return TreeDecoder(self.parser.inventory)

    def wait(self) -> None:
        """Until the device has done all it was told."""
        if self.tagger.device.type == "cuda":
            torch.cuda.synchronize(self.tagger.device)

    def seconds(self, task: Callable[[], object]) -> float:
        """The best time of the rounds."""
        return min(self.once(task) for _ in range(self.rounds))

    def once(self, task: Callable[[], object]) -> float:
        """Seconds of one call."""
        self.wait()
        start = time.perf_counter()
        task()
        self.wait()
        return time.perf_counter() - start


def tagger_of(parser: Parser, device: torch.device, precision: torch.dtype) -> TorchTagger:
    """The parser's network in another precision, with no form known yet."""
    config, vocabulary = parser.folder.read_settings()
    network = load_network(parser.folder.weights, config, vocabulary)
    return TorchTagger(network.to(device), vocabulary, device, precision=precision)


def measure_whole(setting: Setting, corpus: Corpus, batch_words: int) -> tuple[float, Parsed]:
    """Seconds for tagging and decoding, with the forms' vectors known, and what came out."""
    parsed: list[Parsed] = []

    def run() -> None:
        parsed.append(parse_corpus(setting.tagger, corpus, setting.decoder, batch_words))

    return setting.seconds(run), parsed[-1]


def measure_parts(setting: Setting, corpus: Corpus, batch_words: int) -> dict[str, float]:
    """Seconds of each part for all sentences, each part alone."""
    tagger, decoder = setting.tagger, setting.decoder
    order = np.argsort(-corpus.lengths, kind="stable")
    chosen = batches_by_words(corpus.lengths, batch_words, order)
    fresh = tagger_of(setting.parser, tagger.device, tagger.precision)
    forms = tagger.represent(corpus.forms)
    batches = [corpus.batch(numbers) for numbers in chosen]
    parts = {
        "vectors of forms": setting.once(lambda: fresh.represent(corpus.forms)),
        "batches": setting.seconds(lambda: [corpus.batch(numbers) for numbers in chosen]),
        "encoder and labels": setting.seconds(lambda: encode(tagger, forms, batches)),
    }
    scored = [tagger.score(forms, batch) for batch in batches]
    setting.wait()
    parts["launching, encoder, labels and fetching"] = setting.seconds(lambda: fetch(tagger, forms, batches))
    found = decode(decoder, scored, 1)
    parts["decoding, one thread"] = setting.seconds(lambda: decode(decoder, scored, 1))
    threads = tagger.decoding_threads
    parts[f"decoding, {threads} threads"] = setting.seconds(lambda: decode(decoder, scored, threads))
    if tagger.network.relations is not None:
        parts["relations"] = setting.seconds(lambda: relate(scored, found))
    return parts


@torch.no_grad()
def encode(tagger: TorchTagger, forms: torch.Tensor, batches: list[Batch]) -> None:
    """All that the network does, its results left where they are."""
    for batch in batches:
        if tagger.network.attention is None:
            tagger.network(forms, TensorBatch(batch, tagger.device))
        else:
            tagger.score(forms, batch)


def fetch(tagger: TorchTagger, forms: torch.Tensor, batches: list[Batch]) -> None:
    """The same, and its results fetched; each batch is waited for only when the next is on its way."""
    before: Scores | None = None
    for batch in batches:
        scores = tagger.score(forms, batch)
        if before is not None:
            _ = before.deprels
        before = scores
    if before is not None:
        _ = before.deprels


def decode(decoder: TreeDecoder, scored: list[Scores], threads: int) -> list[Int32s]:
    """Heads, from scores that are here already."""
    with ThreadPoolExecutor(threads) as pool:
        return [decoder.decode(replace(scores, given_governors=None), pool=pool).heads for scores in scored]


def relate(scored: list[Scores], heads: list[Int32s]) -> None:
    """The scores of relations to known heads."""
    for scores, found in zip(scored, heads, strict=True):
        scores.relate(found)


def measure_file(setting: Setting, source: Path, sentences: int, batch_words: int) -> float:
    """Seconds from a file, of the same sentences as often as it takes, to a file."""
    task = Task(setting.parser.folder.path, options=ParseOptions(batch_words=batch_words))
    engine = ThisProcess(loaded=ChunkParser(task, setting.parser))
    blocks = [sentence.raw for sentence in biplanar.read_conllu(source)]
    with tempfile.TemporaryDirectory() as folder:
        file, target = Path(folder, "in.conllu"), Path(folder, "out.conllu")
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(repeated(blocks, sentences))

        def run() -> None:
            with target.open("wb") as stream:
                parse_files(Source((file,)), stream, task, engine)

        run()
        seconds = setting.seconds(run)
        written = target.read_bytes().count(b"\n\n")  # where sentences end
    if written != sentences:
        raise BiplanarError(f"{written} sentences were written instead of {sentences}")
    return seconds


def measure_agreement(setting: Setting, corpus: Corpus, batch_words: int) -> dict[str, dict[str, float]]:
    """How many words get the same head, and the same head and relation, in half precision as in full."""
    device = setting.tagger.device
    full = parse_corpus(tagger_of(setting.parser, device, FULL), corpus, setting.decoder, batch_words)
    agreement = {}
    for name, precision in PRECISIONS.items():
        half = parse_corpus(tagger_of(setting.parser, device, precision), corpus, setting.decoder, batch_words)
        same = half.heads == full.heads
        both = same & (half.relations == full.relations)
        agreement[name] = {"heads": 100 * float(same.mean()), "heads and relations": 100 * float(both.mean())}
    return agreement


def bound_by(parts: dict[str, float], threads: int) -> str:
    """The part that takes longest if all run beside each other."""
    beside = {
        "the device": parts["encoder and labels"] + parts.get("relations", 0.0),
        "launching and fetching": parts["launching, encoder, labels and fetching"],
        "decoding": parts[f"decoding, {threads} threads"],
    }
    return max(beside, key=lambda part: beside[part])


def operations(network: Tagger) -> float:
    """Floating-point operations a word: two for each weight that every word meets."""
    encoder = network.encoder.layers if isinstance(network.encoder, BiLstm) else network.encoder
    parts = [encoder, network.outputs, *([] if network.relations is None else [network.relations])]
    return 2.0 * sum(parameter.numel() for part in parts for parameter in part.parameters())


def measure(options: argparse.Namespace) -> Numbers:
    """Everything."""
    parser = biplanar.load(options.model, device=options.device, runtime="torch")
    if not isinstance(parser.scorer, TorchTagger):
        raise BiplanarError(f"the model runs in {type(parser.scorer).__name__}, not in PyTorch")
    setting, batch_words = Setting(parser, parser.scorer, options.rounds), options.batch_words or parser.batch_words
    forms = [list(sentence.forms) for sentence in biplanar.read_conllu(options.file)]
    corpus, once = Corpus.of(repeated(forms, options.sentences)), Corpus.of(forms)
    parse_corpus(
        parser.scorer, Corpus.of(repeated(forms, min(WARM_UP, options.sentences))), setting.decoder, batch_words
    )
    words, sentences = len(corpus.words), len(corpus.lengths)
    whole, parsed = measure_whole(setting, corpus, batch_words)
    results = {
        "fingerprint": {"data": RELEASE, "code": CODE},
        "machine": machine() | device_of(setting.tagger),
        "versions": versions(PACKAGES),
        "model": options.model.name,
        "file": options.file.name,
        "precision": str(setting.tagger.precision),
        "threads": setting.tagger.decoding_threads,
        "batch_words": batch_words,
        "sentences": sentences,
        "words": words,
        "tagging and decoding": rates(whole, words, sentences),
        "outcome": asdict(parsed.outcome),
        "file to file": rates(measure_file(setting, options.file, sentences, batch_words), words, sentences),
        "parts": {},
    }
    if not options.quick:
        parts = measure_parts(setting, corpus, batch_words)
        encoder = parts["encoder and labels"]
        results |= {
            "parts": {name: rates(seconds, words, sentences) for name, seconds in parts.items()},
            "bound by": bound_by(parts, setting.tagger.decoding_threads),
            "device busy, % of the whole at most": 100 * min(1.0, (encoder + parts.get("relations", 0.0)) / whole),
            "encoder, TFLOP/s": operations(setting.tagger.network) * words / encoder / 1e12,
            "agreement with full precision, %": measure_agreement(setting, once, batch_words),
        }
    return results


def rates(seconds: float, words: int, sentences: int) -> dict[str, float]:
    """Seconds, and what was done in one."""
    return {"seconds": seconds, "words_per_second": words / seconds, "sentences_per_second": sentences / seconds}


def device_of(tagger: TorchTagger) -> Numbers:
    """The accelerator, and its libraries."""
    if tagger.device.type != "cuda":
        return {"device": "none", "cudnn": None}
    return {"device": torch.cuda.get_device_name(tagger.device), "cudnn": torch.backends.cudnn.version()}  # type: ignore[no-untyped-call]


def sheets(results: Numbers) -> Iterator[Sheet]:
    """As tables."""
    title = f"{results['words']:,} words in {results['sentences']:,} sentences on {results['machine']['device']}"
    rows = {name: results[name] for name in TARGETS} | {f"  {name}": row for name, row in results["parts"].items()}
    cells = [
        [name, f"{row['seconds']:.3f}", f"{row['sentences_per_second']:,.0f}", f"{row['words_per_second']:,.0f}"]
        for name, row in rows.items()
    ]
    targets = ", ".join(f"{name} {rate:,}" for name, rate in TARGETS.items())
    note = f"Sentences/s wanted on an H200: {targets}."
    if "bound by" in results:
        note = f"Bound by {results['bound by']}; encoder {results['encoder, TFLOP/s']:.1f} TFLOP/s. {note}"
    yield Sheet(title, ("part", "seconds", "sentences/s", "words/s"), cells, note)
    if "bound by" not in results:
        return
    agreement = results["agreement with full precision, %"].items()
    same = [[name, f"{row['heads']:.3f}", f"{row['heads and relations']:.3f}"] for name, row in agreement]
    yield Sheet("Equal to full precision, %", ("precision", "heads", "heads and relations"), same)


def main() -> None:
    """Measure, print tables, and keep the numbers as JSON."""
    parser = ArgumentParser("benchmarks.gpu", __doc__)
    parser.add_argument("model", type=Path, help="a model folder with weights for PyTorch")
    parser.add_argument("file", type=Path, help="CoNLL-U")
    parser.add_argument("--sentences", type=at_least(1), default=SENTENCES, help="the file is repeated up to n")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch-words", type=at_least(1), help="if not given, the parser's own number for the device")
    parser.add_argument("--rounds", type=at_least(1), default=3, help="rounds of which the best counts")
    parser.add_argument("--quick", action="store_true", help="do not measure each part alone")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    options = parser.parse_args()
    with parser.reporting():
        results = measure(options)
        show(sheets(results))
        keep(results, options.json)


if __name__ == "__main__":
    main()
