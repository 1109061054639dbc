"""Biplanar: dependency parsing as tagging, crossing arcs included.

What stands here is loaded when it is first used, so that `import biplanar` and `biplanar --help` are quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from biplanar.plugins import hook

if TYPE_CHECKING:
    from pathlib import Path

    from biplanar.data.conllu import Sentence as Sentence
    from biplanar.data.conllu import Word as Word
    from biplanar.data.conllu import parse_conllu as parse_conllu
    from biplanar.data.conllu import read_conllu as read_conllu
    from biplanar.data.conllu import write_conllu as write_conllu
    from biplanar.data.graph import Graph as Graph
    from biplanar.data.tree import Tree as Tree
    from biplanar.decoding import DECODERS as DECODERS
    from biplanar.decoding.labels import decode as decode
    from biplanar.decoding.labels import decode_all as decode_all
    from biplanar.decoding.labels import encode as encode
    from biplanar.decoding.labels import encode_all as encode_all
    from biplanar.encodings import ENCODINGS as ENCODINGS
    from biplanar.errors import BiplanarError as BiplanarError
    from biplanar.evaluation import evaluate as evaluate
    from biplanar.pipeline.document import Document as Document
    from biplanar.pipeline.loading import load as load
    from biplanar.pipeline.options import ParseOptions as ParseOptions
    from biplanar.pipeline.parser import Parser as Parser
    from biplanar.planes.assignment import planes_of as planes_of

__version__ = "0.1.0"

_HOMES = {
    "DECODERS": "decoding",
    "ENCODINGS": "encodings",
    "BiplanarError": "errors",
    "Document": "pipeline.document",
    "Graph": "data.graph",
    "ParseOptions": "pipeline.options",
    "Parser": "pipeline.parser",
    "Sentence": "data.conllu",
    "Tree": "data.tree",
    "Word": "data.conllu",
    "decode": "decoding.labels",
    "decode_all": "decoding.labels",
    "encode": "decoding.labels",
    "encode_all": "decoding.labels",
    "evaluate": "evaluation",
    "load": "pipeline.loading",
    "parse_conllu": "data.conllu",
    "planes_of": "planes.assignment",
    "read_conllu": "data.conllu",
    "write_conllu": "data.conllu",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"biplanar.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


# What sentences can do through higher rooms.


@hook("html")
def _html(sentence: Sentence) -> str:
    from biplanar.draw import Entry

    return Entry(1, sentence).html()


@hook("draw")
def _draw(sentence: Sentence, path: str | Path | None, **options: Any) -> str:
    from biplanar.draw import draw_sentence, save_image

    svg = draw_sentence(sentence, **options)
    if path is not None:
        save_image(svg, path)
    return svg


@hook("is_projective")
def _is_projective(tree: Tree) -> bool:
    from biplanar.planes.crossings import is_projective

    return is_projective(tree)


@hook("planes")
def _planes(tree: Tree) -> list[int]:
    from biplanar.draw.arcs import planes_to_draw

    return planes_to_draw(tree)
