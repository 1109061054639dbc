"""Sentences as other values: dictionaries, JSON, data frames, graphs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from biplanar.data.graph import Node
from biplanar.data.rows import COLUMNS
from biplanar.errors import need

if TYPE_CHECKING:
    import networkx
    import pandas

    from biplanar.data.sentence import Sentence

_COMMENT = re.compile(r"#\s*([^=]*?)\s*(?:=\s*(.*?)\s*)?$")

# Comments where documents and paragraphs begin, and what dictionaries call them.
BEGINNINGS = {"newdoc": "newdoc", "newdoc id": "newdoc", "newpar": "newpar", "newpar id": "newpar"}


def sentence_dict(sentence: Sentence) -> dict[str, Any]:
    """What `docs/objects.md` describes."""
    matches = filter(None, map(_COMMENT.fullmatch, reversed(sentence.comments)))
    found: dict[str, str | None] = {match[1]: match[2] for match in matches}
    text = found.pop("text", None)
    result: dict[str, Any] = {"sent_id": found.pop("sent_id", None), "text": sentence.text if text is None else text}
    result |= {name: found.pop(key) or True for key, name in BEGINNINGS.items() if key in found}
    if comments := dict(reversed(found.items())):
        result["comments"] = comments
    has_other_lines = sentence.raw.count("\t") > 9 * len(sentence)
    if has_other_lines and (multiword := [token for token in sentence.tokens if token.is_multiword]):
        result["multiword"] = [{"id": token.id, "form": token.form, "misc": token.misc} for token in multiword]
    if has_other_lines and (empty := sentence.empty_nodes):
        result["empty"] = [_named(columns) for columns in empty.values()]
    return result | {"words": [word.to_dict() for word in sentence]}


def to_json(value: Any) -> str:
    """JSON with all letters as they are."""
    return json.dumps(value, ensure_ascii=False)


def words_frame(sentences: Iterable[Sentence]) -> pandas.DataFrame:
    """A row for each word of some sentences: which sentence, all columns, and where it stands in the text."""
    rows = [
        {"sentence": number, "sent_id": sentence.sent_id}
        | word.to_dict()
        | {"start_char": word.start_char, "end_char": word.end_char}
        for number, sentence in enumerate(sentences)
        for word in sentence
    ]
    return need("pandas", "pandas", "formats").DataFrame(rows)


def networkx_graph(sentence: Sentence, *, enhanced: bool) -> networkx.DiGraph:
    """A graph from heads to dependents: the tree, or the enhanced graph with its empty nodes."""
    networkx = need("networkx", "NetworkX", "formats")
    new_graph = networkx.MultiDiGraph if enhanced else networkx.DiGraph
    graph = new_graph(sent_id=sentence.sent_id, text=sentence.text)
    graph.add_nodes_from((word.id, word.to_dict()) for word in sentence)
    if enhanced:
        graph.add_nodes_from((node, _named(columns)) for node, columns in sentence.empty_nodes.items())
        nodes: Iterable[tuple[Node, Iterable[tuple[Node, str]]]] = sentence.needed_graph().nodes()
    else:
        nodes = enumerate(([arc] for arc in zip(sentence.tree.heads, sentence.tree.deprels, strict=True)), 1)
    for node, heads in nodes:
        graph.add_edges_from((head, node, {"deprel": relation}) for head, relation in heads if head != 0)
    return graph


def _named(columns: Iterable[str]) -> dict[str, str]:
    """Columns by their names."""
    return dict(zip(map(str.lower, COLUMNS), columns, strict=True))


def displacy_dict(sentence: Sentence) -> dict[str, list[dict[str, Any]]]:
    """Words and arcs as displaCy takes them; arcs have their ends from left to right, counted from 0."""
    words, arcs = zip(sentence.forms, sentence.upos, strict=True), list[dict[str, Any]]()
    for word, (head, deprel) in enumerate(zip(sentence.tree.heads, sentence.tree.deprels, strict=True), 1):
        if head:
            start, end, direction = min(head, word) - 1, max(head, word) - 1, "left" if word < head else "right"
            arcs.append({"start": start, "end": end, "label": deprel, "dir": direction})
    return {"words": [{"text": form, "tag": "" if tag == "_" else tag} for form, tag in words], "arcs": arcs}
