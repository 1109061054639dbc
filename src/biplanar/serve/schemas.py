"""The types of requests and answers, which check requests and make the OpenAPI description."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, FailFast, Field, ValidationError
from pydantic_core import from_json
from typing_extensions import TypedDict  # which pydantic wants before Python 3.12

from biplanar.decoding import DEFAULT_DECODER
from biplanar.draw.layout import COLUMNS
from biplanar.encodings.replay import Step
from biplanar.errors import check_name
from biplanar.serve.responses import refusal

Requested = TypeVar("Requested", bound=BaseModel)

SOURCES = ("text", "words", "conllu")  # of which a request to parse has one
ONE_SOURCE = {"oneOf": [{"required": [source]} for source in SOURCES]}

# Checked where sentences are made of them.
Word = Annotated[str, Field(json_schema_extra={"minLength": 1, "pattern": "^[^\\t\\n]+$"})]
Words = Annotated[list[Word], Field(min_length=1), FailFast()]


class ParseRequest(BaseModel, strict=True, extra="forbid", json_schema_extra=ONE_SOURCE):
    """One of text, words and conllu, and how to parse it."""

    text: str = Field("", description="Raw text.")
    words: Annotated[list[Words], FailFast()] = Field([], description="Sentences as lists of words.")
    conllu: str = Field("", description="CoNLL-U; its trees are replaced, and columns filled that it lacks.")
    model: str = Field("", description="A model's name; by default the first.")
    decoder: str = DEFAULT_DECODER
    labels: str = Field("", description="The encoding whose labels to show; by default the model's own.")
    columns: str = Field("", description=f"Columns to draw under the words, with commas between: {', '.join(COLUMNS)}.")
    retag: bool = Field(False, description="Replace tags, features and lemmas of the CoNLL-U by predicted ones.")
    probabilities: bool = Field(False, description="Give the probability of each head.")
    best: int = Field(1, ge=1, description="Trees per sentence; rel-pos, absolute and relative have one.")
    svg: bool = Field(False, description="Draw the trees.")
    replay: bool = Field(False, description="Give the steps in which labels are decoded.")
    parse: bool = Field(True, description="False: show the trees of the CoNLL-U as they are.")


class CompareRequest(BaseModel, strict=True, extra="forbid"):
    """Two versions of the same sentences, as CoNLL-U."""

    gold: str
    system: str


class ProcessRequest(BaseModel):
    """The fields of UDPipe's interface that are known here; others are ignored."""

    data: str = Field(description="What to process.")
    model: str = Field("", description="A model's name, or its beginning up to a hyphen.")
    tokenizer: str = Field(
        "",
        description="If given, even empty: the data is raw text. Options, with ; between them: "
        "presegmented, normalized_spaces, ranges.",
    )
    input: str = Field(
        "conllu",
        description="The format of the data if no tokenizer is asked for: conllu, horizontal, "
        "vertical, tokenizer, generic_tokenizer.",
    )
    tagger: str = Field(
        "none", description="If given: tag, with models that can; tags, features and lemmas of the data are replaced."
    )
    parser: str = Field("none", description="If given: parse; trees of the data are replaced.")
    output: str = Field("conllu", description="The format of the result: conllu, horizontal, vertical, plaintext.")


def read_json(body: bytes, kind: type[Requested]) -> Requested:
    """A request from JSON, or a refusal that says what is wrong with it."""
    try:
        values = from_json(body.removeprefix(BOM_UTF8), allow_inf_nan=False)
    except ValueError as error:
        raise refusal(f"body: not JSON: {error}") from error
    if not isinstance(values, dict):
        raise refusal("body: not a JSON object")
    for name in values:  # pydantic would list all unknown fields, of which there may be a million
        check_name("field", name, kind.model_fields)
    return validated(values, kind)


def validated(values: object, kind: type[Requested]) -> Requested:
    """A request from its fields."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        (first, *_) = error.errors(include_url=False, include_context=False, include_input=False)
        place = ".".join(map(str, first["loc"])) or "body"
        raise refusal(f"{place}: {first['msg']}") from error


# Answers

Share = Annotated[float, Field(ge=0, le=1)]
ColumnValues = Annotated[list[str], Field(description="As in CoNLL-U: _ where there is none.")]

Error = dict[Literal["error"], str]
Health = dict[Literal["status", "waiting"], Literal["ok", "stuck"] | int]
UDPipeModels = dict[Literal["models", "default_model"], str | dict[str, list[str]]]
UDPipeResult = dict[Literal["model", "acknowledgements", "result"], str | list[str]]


class Replay(TypedDict):
    """A decoding step by step. A part of a label is its word, start, end, and the number of the label."""

    stacks: Annotated[list[tuple[str, int]], Field(description="Name, and plane or 0.")]
    first: Annotated[list[tuple[int, int]], Field(description="What lies on a stack at first: stack and word.")]
    steps: list[Step]


class Tree(TypedDict):
    """A tree of a sentence."""

    heads: Sequence[Annotated[int, Field(ge=0)]]
    deprels: Sequence[str]
    planes: Annotated[list[int], Field(description="0: the root's arc, or one in neither plane.")]
    tasks: Annotated[list[str] | None, Field(description="The names of the labels of a word.")]
    labels: Annotated[list[tuple[str, ...]] | None, Field(description="Null if the encoding cannot express the tree.")]
    log_probability: float | None
    probabilities: Sequence[Share] | None
    svg: str | None
    replay: Annotated[Replay | None, Field(description="Null if not requested, or if the encoding has none.")]
    conllu: str


class ParsedSentence(TypedDict):
    """A sentence with its trees."""

    text: str
    forms: Sequence[str]
    upos: ColumnValues
    xpos: ColumnValues
    feats: ColumnValues
    lemma: ColumnValues
    conllu: str
    nonprojective: bool
    rtl: bool
    trees: Annotated[list[Tree], Field(min_length=1)]


class Parsed(TypedDict):
    """The answer to a request to parse."""

    model: str
    decoder: str
    labels: str
    sentences: list[ParsedSentence]


class ComparedSentence(TypedDict):
    """Two trees of a sentence."""

    text: str
    svg: str
    wrong: int
    words: int


class Compared(TypedDict):
    """The answer to a request to compare."""

    sentences: list[ComparedSentence]
    scores: dict[Literal["UAS", "LAS"], Share]


class ModelFacts(TypedDict):
    """A model of the server."""

    name: str
    encoding: str
    raw_text: bool
    several_trees: Annotated[bool, Field(description="Whether `best` may be more than 1.")]
    columns: Annotated[Sequence[str], Field(description="The columns that it predicts beside the tree.")]
    description: str


class Choices(TypedDict):
    """What requests can choose from."""

    default: str
    models: list[ModelFacts]
    decoders: list[str]
    encodings: list[str]
    limits: Annotated[dict[str, float], Field(description="What one request may ask for.")]
