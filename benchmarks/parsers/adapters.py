"""How each kind of parser is loaded, and how it parses a CoNLL-U file into another; each is imported only when asked.

An adapter is made of a model and options, and is then called with two paths. It keeps sentences and words as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.parsers.stages import Stopwatch, WatchedScorer
from biplanar.errors import BiplanarError, FileError

if TYPE_CHECKING:
    from biplanar.bulk.task import Task
    from biplanar.data.conllu import Sentence
    from biplanar.data.tree import Tree

Options = Mapping[str, str]
Stages = dict[str, float]
Parse = Callable[[Path, Path], Stages | None]  # the seconds of each stage, where they are known


def open_biplanar(model: str | None, options: Options) -> Parse:
    """Biplanar, from file to file, by what the command `biplanar parse` runs."""
    from biplanar.bulk.chunks import Source
    from biplanar.bulk.engines import ThisProcess
    from biplanar.bulk.output import parse_files

    task = _task(model, options)
    engine = ThisProcess(loaded=task())

    def parse(source: Path, target: Path) -> None:
        with target.open("wb") as stream:
            parse_files(Source((source,)), stream, task, engine)

    return parse


def _task(model: str | None, options: Options) -> Task:
    from biplanar.bulk.task import Task
    from biplanar.pipeline.options import ParseOptions

    return Task(model, runtime=options["runtime"], options=ParseOptions(decoder=options["decoder"], retag=True))


def open_stages(model: str | None, options: Options) -> Parse:
    """Biplanar again, one step after the other, so that it is known which takes how long."""
    from biplanar.bulk.chunks import Source

    task = _task(model, options)
    work = task()
    scorer, enough = work.parser.scorer, work.parser.chunk_words(task.options)

    def parse(source: Path, target: Path) -> Stages:
        watch = Stopwatch()
        work.parser.scorer = WatchedScorer(scorer, watch)
        with target.open("wb") as stream:
            for chunk in Source((source,)).chunks(lambda _: enough):
                given = work.read(chunk)
                watch.enter("features")
                trees = work.parse(given)
                watch.enter("write")
                stream.write(work.render(chunk, trees).output)
                watch.enter("read")
        watch.enter("write")
        return watch.seconds

    return parse


def open_udpipe(model: str | None, options: Options) -> Parse:
    """UDPipe 1: the whole file goes through its own pipeline, reading and writing included.

    With a `tokenizer`, which may be that of another model, the file is raw text.
    """
    from ufal.udpipe import Model, Pipeline, ProcessingError

    def loaded(path: str | None) -> Any:
        found = Model.load(str(path))
        if found is None:
            raise FileError(f"{path}: not a UDPipe model")
        return found

    tagger = Pipeline.NONE if options.get("tagger") == "none" else Pipeline.DEFAULT
    # A pipeline does not keep its model alive, so they must not live apart.
    pipelines = [(loaded(model), ("conllu", tagger, Pipeline.DEFAULT, "conllu"))]
    if "tokenizer" in options:
        cutting = ("tokenize", Pipeline.NONE, Pipeline.NONE, "conllu")
        pipelines.insert(0, (loaded(options["tokenizer"]), cutting))

    def parse(source: Path, target: Path) -> None:
        text, error = source.read_text(encoding="utf-8"), ProcessingError()
        for one, steps in pipelines:
            text = Pipeline(one, *steps).process(text, error)
            if error.occurred():
                raise BiplanarError(f"{source}: {error.message}")
        target.write_text(text, encoding="utf-8", newline="")

    return parse


def open_spacy(model: str | None, _: Options) -> Parse:
    """spaCy: a document is a sentence and must stay one."""
    spacy = _imported("spacy")
    from spacy.tokens import Doc

    from biplanar.data.conllu import read_conllu, write_conllu

    pipeline = spacy.load(str(model))

    def document(sentence: Sentence) -> Any:
        forms = sentence.forms
        starts: list[bool | int | None] = [place == 0 for place in range(len(forms))]
        return Doc(pipeline.vocab, words=forms, sent_starts=starts)

    def parse(source: Path, target: Path) -> None:
        pairs = ((document(sentence), sentence) for sentence in read_conllu(source))
        parsed = pipeline.pipe(pairs, as_tuples=True)
        with target.open("w", encoding="utf-8", newline="") as stream:
            write_conllu((sentence.with_tree(_spacy_tree(doc)) for doc, sentence in parsed), stream)

    return parse


def _spacy_tree(doc: Any) -> Tree:
    """The tree of a document: spaCy's roots are their own heads, and their relation is called ROOT."""
    from biplanar.data.tree import Tree

    heads = tuple(0 if token.head.i == token.i else token.head.i + 1 for token in doc)
    return Tree(heads, tuple("root" if token.dep_ == "ROOT" else token.dep_ for token in doc))


def open_supar(model: str | None, _: Options) -> Parse:
    """SuPar's biaffine parser, made to give trees as its own command does when asked with `--tree`."""
    supar = _imported("supar")
    make_supar_loadable()
    import torch

    torch.set_num_threads(1)
    parser = supar.Parser.load(str(model))

    def parse(source: Path, target: Path) -> None:
        parser.predict(str(source), pred=str(target), tree=True, proj=False, verbose=False)

    return parse


def make_supar_loadable() -> None:
    """SuPar 1.1.4 keeps its settings as pickles, which `torch.load` refuses since 2.6 unless told to trust them."""
    import torch

    torch.load = functools.partial(torch.load, weights_only=False)


def _imported(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise BiplanarError(f"{name} is not installed: pip install 'biplanar[bench]' ({error})") from error


ADAPTERS: dict[str, Callable[[str | None, Options], Parse]] = {
    "biplanar": open_biplanar,
    "stages": open_stages,
    "udpipe": open_udpipe,
    "spacy": open_spacy,
    "supar": open_supar,
}
