"""The OpenAPI description of all routes, made of their types, with the limits of this server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from biplanar import __version__
from biplanar.decoding import DECODERS
from biplanar.encodings import ENCODINGS, LIFTED
from biplanar.serve import ServerConfig
from biplanar.serve.responses import UDPIPE_PATHS
from biplanar.serve.schemas import Error

Schema = dict[str, Any]

JSON, TEXT = "application/json", "text/plain"
FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
REFERENCE = "#/components/schemas/{model}"

REFUSALS = {
    400: "Something is wrong with the request; the message says what and where.",
    408: "The body did not arrive in time.",
    413: "The body is too large, has too many words in it, or asks for too large an answer.",
    415: "The Content-Type is not supported.",
    421: "The Host is not served here.",
    500: "The model or the server failed.",
    503: "Too many requests are waiting, or answers unread; Retry-After says in how many seconds to ask again.",
    504: "No answer was found in time.",
}


@dataclass(frozen=True)
class Operation:
    """A route, and the types of what is asked and answered there."""

    methods: list[str]
    path: str
    endpoint: Callable[[Request], Awaitable[Response]]
    answer: Any = str  # which is plain text, as other types are JSON
    request: type[BaseModel] | None = None
    statuses: tuple[int, ...] = (200,)


def describe(operations: Sequence[Operation], config: ServerConfig) -> Schema:
    """The whole description."""
    answers = [(one.path, "serialization", TypeAdapter(one.answer)) for one in operations]
    requests = [(one.path, "validation", TypeAdapter(one.request)) for one in operations if one.request]
    found, defined = TypeAdapter.json_schemas([*answers, *requests], ref_template=REFERENCE)  # type: ignore[list-item]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Biplanar",
            "version": __version__,
            "description": "Dependency parsing as tagging. `/models` and `/process` are UDPipe's interface.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            one.path: {
                method.lower(): _operation(one, method, found[one.path, "serialization"]) for method in one.methods
            }
            for one in operations
        },
        "components": {"schemas": _limited(defined["$defs"], config)},
    }


def _operation(one: Operation, method: str, answer: Any) -> Schema:
    described: Schema = {
        "operationId": f"{one.endpoint.__name__}_{method.lower()}",
        "summary": one.endpoint.__doc__,
        "responses": {str(status): _response("The answer.", answer, one.answer) for status in one.statuses},
    }
    if one.request is not None:
        kind = str if one.path in UDPIPE_PATHS else Error
        error = TypeAdapter(kind).json_schema()
        described["responses"] |= {str(status): _response(why, error, kind) for status, why in REFUSALS.items()}
        described |= _asked(one.path, method, one.request)
    return described


def _response(description: str, schema: Any, kind: Any) -> Schema:
    return {"description": description, "content": {TEXT if kind is str else JSON: {"schema": schema}}}


def _asked(path: str, method: str, request: type[BaseModel]) -> Schema:
    """The fields of a request: in the query, or in a body of JSON or a form."""
    if method == "GET":
        schema = request.model_json_schema()
        place = {"in": "query", "allowEmptyValue": True}
        return {
            "parameters": [
                {"name": name, "required": name in schema["required"], "schema": field, **place}
                for name, field in schema["properties"].items()
            ]
        }
    reference = {"schema": {"$ref": REFERENCE.format(model=request.__name__)}}
    kinds = FORMS if path in UDPIPE_PATHS else (JSON,)
    return {"requestBody": {"required": True, "content": dict.fromkeys(kinds, reference)}}


def _limited(schemas: Schema, config: ServerConfig) -> Schema:
    """The schemas with what this server allows."""
    fields = schemas["ParseRequest"]["properties"]
    fields["best"]["maximum"] = config.best
    fields["words"]["items"]["items"]["maxLength"] = config.word_characters
    fields["decoder"]["enum"] = list(DECODERS)
    fields["labels"]["enum"] = ["", *ENCODINGS, *LIFTED]
    return schemas
