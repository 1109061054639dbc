"""Biplanar: dependency parsing as tagging, crossing arcs included.

What stands here is loaded when it is first used, so that `import biplanar` and `biplanar --help` are quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from biplanar.notebook import draws_sentences

if TYPE_CHECKING:
    from biplanar.conllu import Sentence, Word, parse_conllu, read_conllu, write_conllu
    from biplanar.decoding import DECODERS
    from biplanar.encodings import ENCODINGS
    from biplanar.errors import BiplanarError
    from biplanar.evaluation import evaluate
    from biplanar.labels import decode, decode_all, encode, encode_all
    from biplanar.parser import Document, Parser, load
    from biplanar.planes import planes_of
    from biplanar.tree import Tree

__version__ = "0.1.0"

_HOMES = {
    "DECODERS": "decoding",
    "ENCODINGS": "encodings",
    "BiplanarError": "errors",
    "Document": "parser",
    "Parser": "parser",
    "Sentence": "conllu",
    "Tree": "tree",
    "Word": "conllu",
    "decode": "labels",
    "decode_all": "labels",
    "encode": "labels",
    "encode_all": "labels",
    "evaluate": "evaluation",
    "load": "parser",
    "parse_conllu": "conllu",
    "planes_of": "planes",
    "read_conllu": "conllu",
    "write_conllu": "conllu",
}

__all__ = [
    "DECODERS",
    "ENCODINGS",
    "BiplanarError",
    "Document",
    "Parser",
    "Sentence",
    "Tree",
    "Word",
    "decode",
    "decode_all",
    "encode",
    "encode_all",
    "evaluate",
    "load",
    "parse_conllu",
    "planes_of",
    "read_conllu",
    "write_conllu",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"biplanar.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


@draws_sentences
def _sentence_html(sentence: Sentence) -> str:
    from biplanar.draw.sentences import sentence_html

    return sentence_html(sentence)
