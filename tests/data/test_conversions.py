from __future__ import annotations

import json
import sys

import pytest

from biplanar import parse_conllu
from biplanar.errors import BiplanarError
from tests.data.test_sentence import CROSSING
from tests.data.test_words import TEXT

(SENTENCE,) = parse_conllu(f"# newpar\n# newdoc id = d1\n# by = hand\n{TEXT}")


def test_plain_values():
    values = SENTENCE.to_dict()
    assert list(values) == ["sent_id", "text", "newdoc", "newpar", "comments", "multiword", "words"]
    assert (values["newdoc"], values["newpar"], values["comments"]) == ("d1", True, {"by": "hand"})
    assert values["multiword"] == [{"id": (2, 3), "form": "can't", "misc": r"SpacesAfter=\s\s"}]
    assert values["words"][1] == SENTENCE[1]._asdict()


def test_what_is_not_there_is_left_out():
    assert list(CROSSING.to_dict()) == ["sent_id", "text", "words"]
    assert CROSSING.to_dict()["sent_id"] is None


def test_json_is_one_line_of_the_same():
    line = SENTENCE.to_json()
    assert "\n" not in line
    assert json.loads(line)["words"] == SENTENCE.to_dict()["words"]
    assert "ø" in parse_conllu("1\tø\t_\t_\t_\t_\t_\t_\t_\t_\n\n")[0].to_json()


def test_a_data_frame():
    pytest.importorskip("pandas")
    frame = SENTENCE.to_dataframe()
    assert frame["form"].tolist() == SENTENCE.forms
    assert frame["head"].tolist() == SENTENCE.heads
    assert frame["start_char"].tolist() == [0, 4, 4, 11, 15]
    assert set(frame["sent_id"]) == {"s1"}


def test_a_graph():
    networkx = pytest.importorskip("networkx")
    graph = CROSSING.to_networkx()
    assert networkx.is_arborescence(graph)
    assert graph.edges[2, 7]["deprel"] == "nmod"
    assert graph.nodes[7]["form"] == "issue"
    assert graph.graph["text"] == CROSSING.text


@pytest.mark.parametrize(("method", "library"), [("to_dataframe", "pandas"), ("to_networkx", "networkx")])
def test_a_library_that_is_missing(monkeypatch, method, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(BiplanarError, match="extra 'formats'"):
        getattr(CROSSING, method)()
