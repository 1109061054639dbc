"""`biplanar evaluate` from the outside."""

from __future__ import annotations

import json
import re
from pathlib import Path

import biplanar
from tests.commands import check_refused_with
from tests.paths import TINY

ENGLISH = Path(biplanar.__file__).parent / "models" / "en"


def test_two_files(run):
    result = run("evaluate", TINY, TINY)
    assert (result.code, result.err) == (0, "")
    assert "LAS" in result.out
    assert "100.00" in result.out


def test_columns_that_were_kept_from_the_input_are_named(run, tmp_path):
    """Trees of the bundled model under the tags of the gold file."""
    assert run("parse", TINY, "-o", tmp_path / "kept.conllu").code == 0
    assert run("parse", TINY, "--retag", "-o", tmp_path / "own.conllu").code == 0
    assert "UPOS, Lemmas: identical to the gold file" in run("evaluate", TINY, tmp_path / "kept.conllu").err
    own = (tmp_path / "own.conllu").read_text(encoding="utf-8")
    (tmp_path / "own.conllu").write_text(
        own.replace("\tNOUN\t", "\tPROPN\t", 1), encoding="utf-8"
    )  # else all are right
    assert run("evaluate", TINY, tmp_path / "own.conllu").err == ""


def test_json_with_breakdowns_and_another_system(run):
    result = run("evaluate", TINY, TINY, "--json", "--by", "deprel,projectivity", "--against", TINY)
    numbers = json.loads(result.out)
    assert numbers["scores"]["LAS"]["f1"] == 1
    assert set(numbers["by"]) == {"deprel", "projectivity"}
    assert numbers["bootstrap"]["p_value"] == 1


SMALL = ("--network.hidden", 8, "--network.char_hidden", 4, "--network.layers", 1, "--training.epochs", 1)


def train(run, folder, columns: str) -> None:
    files = ("--train", TINY, "--dev", TINY, "-o", folder, "--device", "cpu")
    trained = run("train", "paper", *files, *SMALL, f"--network.columns={columns}")
    assert trained.code == 0, trained.err


def test_a_model_is_not_judged_by_what_it_copied(run, tmp_path):
    train(run, tmp_path, "")
    every = set(json.loads(run("evaluate", TINY, TINY, "--json").out)["scores"])
    tags = {"UPOS", "AllTags", "Lemmas", "MLAS", "BLEX"}  # the treebank has no XPOS and no FEATS
    assert tags <= every
    for words in ([], ["--raw"]):
        result = run("evaluate", TINY, "-m", tmp_path, "--json", *words)
        assert set(json.loads(result.out)["scores"]) == every - tags
    table = run("evaluate", TINY, "-m", tmp_path).out
    assert "UAS" in table
    assert "UPOS" not in table


def test_a_model_is_judged_by_the_columns_that_it_predicts(run, tmp_path):
    train(run, tmp_path, "upos")
    scores = json.loads(run("evaluate", TINY, "-m", tmp_path, "--json").out)["scores"]
    assert scores["UPOS"]["f1"] < 1  # after one epoch: what it says and not what the file says
    assert "Lemmas" not in scores


def test_a_bootstrap_in_words(run):
    assert "LAS difference +0.00" in run("evaluate", TINY, TINY, "--against", TINY).out


def test_breakdowns_by_tag_by_feature_and_of_unknown_words(run, tmp_path):
    gold, system, train = tmp_path / "gold.conllu", tmp_path / "system.conllu", tmp_path / "train.conllu"
    gold.write_text(sentence_of("her/DET/Number[psor]=Sing", "cats/NOUN/Number=Plur"), encoding="utf-8")
    system.write_text(sentence_of("her/PRON/Number[psor]=Sing", "cats/NOUN/Number=Sing"), encoding="utf-8")
    train.write_text(sentence_of("her/DET/_"), encoding="utf-8")
    numbers = json.loads(run("evaluate", gold, system, "--by", "upos,feature", "--train", train, "--json").out)
    assert numbers["by"]["upos"]["DET"]["recall"] == 0
    assert numbers["by"]["feature"]["Number=Plur"]["gold"] == 1
    assert numbers["by"]["known"]["UPOS known"]["f1"] == 0
    assert numbers["by"]["known"]["UPOS unknown"]["f1"] == 1
    out = run("evaluate", gold, system, "--by", "upos,feature", "--train", train, "--train", system).out
    assert re.search(r"UPOS by tag.*^NOUN +100.00.*Features by name and value", out, re.DOTALL | re.MULTILINE)
    assert re.search(r"^Number\[psor\]=Sing +100.00 ", out, re.MULTILINE)
    assert re.search(r"^UPOS unknown +0.00 +0.00 +0.00 +0 +0 +0$", out, re.MULTILINE)  # the second file has them all


def sentence_of(*words: str) -> str:
    columns = [word.split("/") for word in words]
    rows = [
        f"{at}\t{form}\t_\t{tag}\t_\t{feats}\t{at - 1}\tdep\t_\t_" for at, (form, tag, feats) in enumerate(columns, 1)
    ]
    return "\n".join([*rows, "", ""])


def test_a_breakdown_of_what_was_not_predicted(run, tmp_path):
    gold, system = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    gold.write_text(sentence_of("cats/NOUN/Number=Plur"), encoding="utf-8")
    system.write_text(sentence_of("cats/NOUN/_"), encoding="utf-8")
    out = run("evaluate", gold, system, "--by", "feature").out
    assert out.endswith("Features by name and value: the system predicted none\n")


def test_bad_requests(run):
    check_refused_with(run("evaluate", TINY, TINY, "--by", "known"), "--train")
    check_refused_with(run("evaluate", TINY), "-m MODEL")
    check_refused_with(run("evaluate", TINY, TINY, "--by", "lenght"), "did you mean 'length'?")
