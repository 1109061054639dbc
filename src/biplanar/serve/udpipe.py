"""The REST interface of UDPipe's server, so that its clients work here unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

from biplanar import __version__
from biplanar.data.conllu import DEPREL, DEPS, FEATS, HEAD, LEMMA, MISC, UPOS, XPOS, Sentence, parse_conllu
from biplanar.data.raw_text import numbered, split_horizontal, split_vertical, starts_paragraph, token_text
from biplanar.errors import check_name
from biplanar.pipeline.options import ParseOptions
from biplanar.serve.forms import Fields
from biplanar.serve.jobs import Parsing, RequestPlan, Trees
from biplanar.serve.models import Model, Models
from biplanar.serve.responses import refusal
from biplanar.serve.schemas import ProcessRequest, validated
from biplanar.tokenizer.segmenter import HINT, ONLY

TOKENIZER, CONLLU = "tokenizer", "conllu"
TOKENIZERS = (TOKENIZER, "generic_tokenizer")
SPACING = ("normalized_spaces", "ranges")
OFF = "none"  # switches a stage off, as leaving it out does
NO_BREAK_SPACE = "\u00a0"  # stands for a space within a word where spaces stand between words


def models_answer(models: Models) -> bytes:
    """The answer of `/models`: which models there are, and which stages each has."""
    return _json({"models": {model.name: _stages(model) for model in models.all}, "default_model": models.default.name})


def _stages(model: Model) -> list[str]:
    has_tagger = bool(model.columns) or model.has_udpipe_tagger
    has = {"tokenizer": model.takes_raw_text, "tagger": has_tagger, "parser": True}
    return [name for name, there in has.items() if there]


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


# Reading


def process_plan(fields: Fields, models: Models) -> RequestPlan:
    """Read a request for `/process`."""
    request = validated(fields, ProcessRequest)
    model = models.find(request.model)
    write = WRITERS[_format("output", request.output, WRITERS)]
    source = _source(request)
    sentences = _read(source, request, model)
    tag, parse = request.tagger != OFF, request.parser != OFF
    if tag and model.has_udpipe_tagger:
        sentences = (tagged for sentence in sentences for tagged in model.parser.segmenter.tag([sentence]))
    parsing = _parsing(model, tag=tag, parse=parse, retag=source == CONLLU or model.has_udpipe_tagger)
    written = ""

    def render(trees: Trees) -> Iterator[bytes]:
        nonlocal written
        written = write(trees[0][0], model, written)
        yield json.dumps(written, ensure_ascii=False)[1:-1].encode()

    # The sentences go between the last two quotation marks.
    before, _, after = _json({"model": model.name, "acknowledgements": [], "result": ""}).rpartition(b'""')
    sentences = model.parsable(sentences) if parsing else sentences
    return RequestPlan(sentences, render, before + b'"', closing=lambda: b'"' + after, parsing=parsing)


def _parsing(model: Model, *, tag: bool, parse: bool, retag: bool) -> Parsing | None:
    """What is left to the network; a stage that is not asked for leaves its columns as they are.

    `retag` says that words may have tags, to be replaced. Others are parsed together with those of `/api/parse`.
    """
    if parse:
        tagged_inside = model.has_udpipe_tagger and model.parser.encoding.needs_upos
        kept = (LEMMA, UPOS, XPOS, FEATS) if tagged_inside and not tag else ()
        return model.parsing(ParseOptions(tags=tag, retag=tag and retag), kept=kept)
    if tag and model.columns:
        return model.parsing(ParseOptions("greedy", retag=True), kept=(HEAD, DEPREL, DEPS, MISC))
    return None


def _format(kind: str, name: str, known: Collection[str]) -> str:
    """The name of a format, without options such as the `v2` of `conllu=v2`."""
    name = name.partition("=")[0]
    check_name(f"{kind} format", name, known)
    return name


def _source(request: ProcessRequest) -> str:
    """The name of the input's reader, or that of the tokenizer, which wins over it."""
    name = _format("input", request.input, (*READERS, *TOKENIZERS))
    return TOKENIZER if TOKENIZER in request.model_fields_set or name in TOKENIZERS else name


def _read(source: str, request: ProcessRequest, model: Model) -> Iterator[Sentence]:
    text = request.data.removeprefix("\ufeff").replace("\r\n", "\n")
    if source != TOKENIZER:
        return READERS[source](text)
    if not model.takes_raw_text:
        raise refusal(f"the model {model.name} has no tokenizer: send words, horizontal, vertical or as CoNLL-U")
    inline = request.input.partition("=")[2]  # as in `input=tokenizer=ranges`
    options = (request.tokenizer if TOKENIZER in request.model_fields_set else inline).split(";")
    line_breaks = ONLY if "presegmented" in options else HINT
    return model.segmented(text, line_breaks=line_breaks, **{name: name in options for name in SPACING})


def _conllu(text: str) -> Iterator[Sentence]:
    return iter(parse_conllu(text.strip("\n") + "\n\n", "data") if text.strip() else ())


def _horizontal(text: str) -> Iterator[Sentence]:
    sentences = split_horizontal(text.split("\n"))
    return numbered([word.replace(NO_BREAK_SPACE, " ") for word in words] for words in sentences)


READERS: dict[str, Callable[[str], Iterator[Sentence]]] = {
    CONLLU: _conllu,
    "horizontal": _horizontal,
    "vertical": lambda text: numbered(split_vertical(text.split("\n"))),
}


# Writing


def _as_conllu(sentence: Sentence, model: Model, before: str) -> str:
    if before:
        return sentence.to_conllu()
    origin = {"udpipe_model": model.name, "udpipe_model_licence": model.licence}
    return sentence.with_comments({"generator": f"Biplanar {__version__}", **origin}).to_conllu()


def _as_text(sentence: Sentence, _: Model, before: str) -> str:
    """What was cut into words, with a blank line between paragraphs where the spaces in MISC tell of none."""
    blank_line = "\n\n" if before and starts_paragraph(sentence) and "\n" not in before[len(before.rstrip()) :] else ""
    return blank_line + token_text(sentence)


# From a sentence, the model and what was written of the sentence before, to what is written.
WRITERS: dict[str, Callable[[Sentence, Model, str], str]] = {
    CONLLU: _as_conllu,
    "horizontal": lambda sentence, *_: " ".join(form.replace(" ", NO_BREAK_SPACE) for form in sentence.forms) + "\n",
    "vertical": lambda sentence, *_: "\n".join(sentence.forms) + "\n\n",
    "plaintext": _as_text,
}
