"""Biplanar: dependency parsing as tagging, crossing arcs included.

Names are loaded when they are first used, so that `import biplanar` and `biplanar --help` are quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from biplanar.plugins import HOOKS

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

__version__ = "1.0.0"

_NAMES = {
    "data.conllu": ("Sentence", "Word", "parse_conllu", "read_conllu", "write_conllu"),
    "data.graph": ("Graph",),
    "data.tree": ("Tree",),
    "decoding": ("DECODERS",),
    "decoding.labels": ("decode", "decode_all", "encode", "encode_all"),
    "encodings": ("ENCODINGS",),
    "errors": ("BiplanarError",),
    "evaluation": ("evaluate",),
    "pipeline.document": ("Document",),
    "pipeline.loading": ("load",),
    "pipeline.options": ("ParseOptions",),
    "pipeline.parser": ("Parser",),
    "planes.assignment": ("planes_of",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"biplanar.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


# Methods of sentences and trees that need higher rooms.


def _html(sentence: Sentence) -> str:
    from biplanar.draw import Entry

    return Entry(1, sentence).html()


def _draw(sentence: Sentence, path: str | Path | None, **options: Any) -> str:
    from biplanar.draw import draw_sentence, save_image

    svg = draw_sentence(sentence, **options)
    if path is not None:
        save_image(svg, path)
    return svg


def _is_projective(tree: Tree) -> bool:
    from biplanar.planes.crossings import is_projective

    return is_projective(tree)


def _planes(tree: Tree) -> list[int]:
    from biplanar.draw.arcs import planes_to_draw

    return planes_to_draw(tree)


HOOKS.update(html=_html, draw=_draw, is_projective=_is_projective, planes=_planes)
