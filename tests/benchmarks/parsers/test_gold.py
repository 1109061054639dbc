from __future__ import annotations

import pytest
from benchmarks.parsers.gold import GoldFile, without_tree
from benchmarks.parsers.processes import NotMeasuredError
from benchmarks.texts import write_file

from biplanar.data.conllu import Sentence, parse_conllu, read_conllu
from biplanar.data.tree import Tree
from biplanar.errors import FormatError
from tests.paths import TINY

MULTIWORD = (
    "# text = vámonos\n1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n1\tvamos\tir\tVERB\t_\t_\t0\troot\t0:root\t_\n"
    "2\tnos\tnosotros\tPRON\t_\tCase=Acc\t1\tobj\t_\tNote=x\n3.1\te\t_\t_\t_\t_\t_\t_\t1:dep\t_\n"
)


class TestGoldFile:
    def test_systems_see_no_trees(self, gold):
        blank = list(read_conllu(gold.source))
        assert not any(sentence.is_parsed for sentence in blank)
        assert [sentence.forms for sentence in blank] == [sentence.forms for sentence in gold.sentences]
        assert [sentence.upos for sentence in blank] == [sentence.upos for sentence in gold.sentences]
        assert len(list(read_conllu(gold.warm_up))) == 10

    def test_all_but_the_tree_stays(self):
        blank = without_tree(parse_conllu(MULTIWORD)[0]).raw
        expected = MULTIWORD.replace("0\troot\t0:root", "_\t_\t_").replace("1\tobj", "_\t_").replace("1:dep", "_")
        assert blank == expected + "\n"

    def test_the_gold_file_scores_best(self, gold):
        assert gold.score(TINY) == {"uas": 100.0, "las": 100.0}

    def test_wrong_arcs_cost(self, gold, tmp_path):
        chain = [
            sentence.with_tree(Tree(tuple(range(len(sentence))), ("dep",) * len(sentence)))
            for sentence in gold.sentences
        ]
        write_file(chain, tmp_path / "chain.conllu")
        scores = gold.score(tmp_path / "chain.conllu")
        assert 0 < scores["uas"] < 50
        assert scores["las"] == 0

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda gold: gold[1:], r"^its output has other sentences or words than its input$"),
            (lambda gold: [without_tree(one) for one in gold], r"^its output is no CoNLL-U with trees: .*HEAD"),
            (lambda gold: [Sentence.from_words(["x"], Tree((0,), ("root",)))] * len(gold), r"^its output has other"),
        ],
    )
    def test_what_is_no_answer_is_not_scored(self, gold, tmp_path, change, message):
        write_file(change(gold.sentences), tmp_path / "output.conllu")
        with pytest.raises(NotMeasuredError, match=message):
            gold.score(tmp_path / "output.conllu")

    def test_a_gold_file_without_trees_is_refused(self, tmp_path):
        write_file([Sentence.from_words(["Why", "?"])], tmp_path / "words.conllu")
        with (
            pytest.raises(FormatError, match=r"words\.conllu:1: expected a whole number as HEAD"),
            GoldFile.opened(tmp_path / "words.conllu"),
        ):
            pass
