from __future__ import annotations

import subprocess
import sys

from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.data.tree import Tree

SENTENCE = Sentence.from_words(["a", "<b>"], Tree((0, 1), ("root", "x")))


def test_a_sentence_draws_itself():
    html = SENTENCE._repr_html_()
    assert html.startswith("<div ")
    assert "<svg" in html
    assert "&lt;b&gt;" in html


def test_a_sentence_without_a_tree_is_shown_as_text():
    assert Sentence.from_words(["a"])._repr_html_() is None
    circle = "1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n"
    assert parse_conllu(circle)[0]._repr_html_() is None


def test_it_does_so_wherever_it_comes_from():
    """In a process that has asked for nothing but the reader."""
    code = (
        "from biplanar.data.conllu import parse_conllu; import sys;"
        "assert 'biplanar.draw' not in sys.modules;"
        r"print(parse_conllu('1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n')[0]._repr_html_())"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "<svg" in process.stdout
