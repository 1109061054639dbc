"""The OpenAPI description of all routes, with the limits of this server."""

from __future__ import annotations

from typing import Any

from biplanar import __version__
from biplanar.decoding import DECODERS, DEFAULT_DECODER
from biplanar.draw.tags import COLUMNS
from biplanar.encodings import ENCODINGS, LIFTED
from biplanar.serve.config import ServerConfig
from biplanar.serve.forms import MULTIPART, URLENCODED
from biplanar.serve.udpipe import READERS, TOKENIZERS, WRITERS

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
WHOLE: Schema = {"type": "integer"}

REFUSALS = {
    400: "The request is not as expected; the message says where, what was expected and what was found.",
    408: "The body did not arrive in time.",
    413: "The body is too large, has too many words in it, or asks for too large an answer.",
    415: "The body is of another type.",
    421: "The Host is not one that is served here.",
    503: "Too many requests are waiting, or answers unread; Retry-After says in how many seconds to ask again.",
    504: "No answer was found in time.",
}


def describe(config: ServerConfig) -> Schema:
    """The whole description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Biplanar",
            "version": __version__,
            "description": "Dependency parsing as tagging. `/models` and `/process` are UDPipe's interface.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/api/models": {"get": _get("listModels", "The models, decoders, encodings and limits.", "Models")},
            "/api/parse": {"post": _post("parse", "Parse text, words or CoNLL-U.", "ParseRequest", "Parsed")},
            "/api/compare": {
                "post": _post("compare", "Compare gold trees with a system's.", "CompareRequest", "Compared")
            },
            "/models": {
                "get": _get("udpipeModels", "UDPipe: the models.", "UDPipeModels"),
                "post": _get("udpipeModelsByPost", "UDPipe: the models.", "UDPipeModels"),
            },
            "/process": {"get": _process_by_query(), "post": _process_by_form()},
            "/openapi.json": {"get": _get("describe", "This description.", "Description")},
            "/healthz": {
                "get": {
                    **_get("health", "Whether requests can be answered.", "Health"),
                    "responses": {
                        "200": _answer("Yes.", "Health"),
                        "503": _answer("A worker is stuck or gone.", "Health"),
                    },
                }
            },
            "/metrics": {
                "get": {
                    "operationId": "metrics",
                    "summary": "Counters for Prometheus.",
                    "responses": {"200": {"description": "Text.", "content": {"text/plain": {"schema": STRING}}}},
                }
            },
        },
        "components": {"schemas": {**_questions(config), **_answers()}},
    }


# Operations


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _answer(description: str, name: str) -> Schema:
    return {"description": description, "content": {"application/json": {"schema": _reference(name)}}}


def _get(operation: str, summary: str, answer: str) -> Schema:
    return {"operationId": operation, "summary": summary, "responses": {"200": _answer("The answer.", answer)}}


def _post(operation: str, summary: str, question: str, answer: str) -> Schema:
    return {
        "operationId": operation,
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": _reference(question)}}},
        "responses": {
            "200": _answer("The answer.", answer),
            **{str(status): _answer(meaning, "Error") for status, meaning in REFUSALS.items()},
        },
    }


def _process(operation: str) -> Schema:
    text = {"text/plain": {"schema": STRING}}
    return {
        "operationId": operation,
        "summary": "UDPipe: tokenize, tag and parse.",
        "responses": {
            "200": _answer("The answer.", "UDPipeResult"),
            **{str(status): {"description": meaning, "content": text} for status, meaning in REFUSALS.items()},
        },
    }


def _process_by_query() -> Schema:
    fields = _process_fields()
    parameters = [
        {"name": name, "in": "query", "required": name == "data", "allowEmptyValue": True, "schema": schema}
        for name, schema in fields.items()
    ]
    return {**_process("processByQuery"), "parameters": parameters}


def _process_by_form() -> Schema:
    schema = _object(_process_fields(), required=["data"])
    content = {kind: {"schema": schema} for kind in (MULTIPART, URLENCODED)}
    return {**_process("process"), "requestBody": {"required": True, "content": content}}


def _process_fields() -> Schema:
    return {
        "data": {**STRING, "description": "What to process."},
        "model": {**STRING, "description": "A model's name, or its beginning up to a hyphen."},
        "tokenizer": {
            **STRING,
            "description": "If there: the data is raw text. Options, with ; between them: presegmented, "
            "normalized_spaces, ranges.",
        },
        "input": {
            **STRING,
            "description": f"The format of the data if there is no tokenizer: {', '.join((*READERS, *TOKENIZERS))}.",
        },
        "tagger": {
            **STRING,
            "description": "If there: tag, with models that can; tags, features and lemmas of the data are replaced.",
        },
        "parser": {**STRING, "description": "If there: parse; trees of the data are replaced."},
        "output": {**STRING, "description": f"The format of the result: {', '.join(WRITERS)}."},
    }


# Values


def _object(properties: Schema, required: list[str] | None = None) -> Schema:
    """An object that has no other properties, and by default has all of them."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties) if required is None else required,
        "properties": properties,
    }


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _questions(config: ServerConfig) -> Schema:
    word = {**STRING, "minLength": 1, "maxLength": config.word_characters, "pattern": "^[^\\t\\n]+$"}
    sources = {
        "text": {**STRING, "description": "Raw text."},
        "words": {**_array({**_array(word), "minItems": 1}), "description": "Sentences as lists of words."},
        "conllu": {
            **STRING,
            "description": "Sentences as CoNLL-U; their trees are replaced, and columns filled that they lack.",
        },
    }
    settings = {
        "model": {**STRING, "description": "A model's name; by default the first."},
        "decoder": {**STRING, "enum": list(DECODERS), "default": DEFAULT_DECODER},
        "labels": {
            **STRING,
            "enum": [*ENCODINGS, *LIFTED],
            "description": "The encoding whose labels to show; by default the model's own.",
        },
        "columns": {
            **STRING,
            "default": "",
            "description": f"Columns to draw under the words, with commas between: {', '.join(COLUMNS)}.",
        },
        "retag": {
            **FLAG,
            "default": False,
            "description": "Replace the tags, features and lemmas that the CoNLL-U has by what the model predicts.",
        },
        "probabilities": {**FLAG, "default": False, "description": "How likely each head is."},
        "best": {
            **WHOLE,
            "minimum": 1,
            "maximum": config.best,
            "default": 1,
            "description": "How many trees of each sentence; rel-pos, absolute and relative have one.",
        },
        "svg": {**FLAG, "default": False, "description": "Draw the trees."},
        "replay": {**FLAG, "default": False, "description": "How labels are decoded, step by step."},
        "parse": {**FLAG, "default": True, "description": "False: show the trees that the CoNLL-U has."},
    }
    asked = _object({**sources, **settings}, required=[])
    return {
        "ParseRequest": {**asked, "oneOf": [{"required": [source]} for source in sources]},
        "CompareRequest": _object({"gold": STRING, "system": STRING}),
    }


def _replay() -> Schema:
    """A decoding: its stacks by name and plane, and steps. A part of a label is a word and two places in its label."""
    part = {**_array(WHOLE), "description": "Word, start, end."}
    step = {
        "part": part,
        "pops": {**_array(_array(WHOLE)), "description": "Stack and place."},
        "pushes": {**_array(_array(WHOLE)), "description": "Stack and word."},
        "arcs": {**_array({"type": "array"}), "description": "Head, dependent, and the parts of labels that say it."},
        "story": {**_array({"type": ["string", "integer"]}), "description": "Text, and words by their numbers."},
    }
    return _object(
        {
            "tasks": _array(STRING),
            "stacks": {**_array({"type": "array"}), "description": "Name, and plane or 0."},
            "first": {**_array(_array(WHOLE)), "description": "Stack and word."},
            "steps": _array(_object(step)),
        }
    )


def _answers() -> Schema:
    tree = {
        "heads": _array({**WHOLE, "minimum": 0}),
        "deprels": _array(STRING),
        "planes": {
            **_array({**WHOLE, "enum": [0, 1, 2]}),
            "description": "0: the root's arc, or one in neither plane.",
        },
        "labels": {**_or_null(_array(_array(STRING))), "description": "Null if the encoding has none for such a tree."},
        "log_probability": _or_null({"type": "number"}),
        "probabilities": _or_null(_array({"type": "number", "minimum": 0, "maximum": 1})),
        "svg": _or_null(STRING),
        "replay": {**_or_null(_replay()), "description": "Null for brackets, and for labels that each name a head."},
        "conllu": STRING,
    }
    sentence = {
        "text": STRING,
        "forms": _array(STRING),
        **{name: {**_array(STRING), "description": "As in CoNLL-U: _ where there is none."} for name in COLUMNS},
        "conllu": STRING,
        "nonprojective": FLAG,
        "rtl": FLAG,
        "trees": {**_array(_reference("Tree")), "minItems": 1},
    }
    columns = {**_array(STRING), "description": "The columns that it predicts beside the tree."}
    model = {"name": STRING, "encoding": STRING, "raw_text": FLAG, "columns": columns, "description": STRING}
    limits = {
        **dict.fromkeys(("bytes", "words", "sentence_words", "word_characters", "drawn_words", "best"), WHOLE),
        "seconds": {"type": "number"},
    }
    compared = {"text": STRING, "svg": STRING, "wrong": WHOLE, "words": WHOLE}
    share = {"type": "number", "minimum": 0, "maximum": 1}
    return {
        "Models": _object(
            {
                "default": STRING,
                "models": _array(_object(model)),
                "decoders": _array(STRING),
                "encodings": _array(STRING),
                "limits": _object(limits),
            }
        ),
        "Tree": _object(tree),
        "Sentence": _object(sentence),
        "Parsed": _object(
            {"model": STRING, "decoder": STRING, "labels": STRING, "sentences": _array(_reference("Sentence"))}
        ),
        "Compared": _object({"sentences": _array(_object(compared)), "scores": _object({"UAS": share, "LAS": share})}),
        "Error": _object({"error": STRING}),
        "Health": _object({"status": {**STRING, "enum": ["ok", "stuck"]}, "waiting": WHOLE}),
        "Description": {"type": "object"},
        "UDPipeModels": _object(
            {
                "models": {"type": "object", "additionalProperties": _array(STRING)},
                "default_model": STRING,
            }
        ),
        "UDPipeResult": _object({"model": STRING, "acknowledgements": _array(STRING), "result": STRING}),
    }
