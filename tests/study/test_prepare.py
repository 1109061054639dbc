"""What the runs read, made from a tiny treebank."""

from __future__ import annotations

import pytest
from study.common import read_json, unpack
from study.treebanks import BY_CODE, Treebank

from biplanar import read_conllu
from biplanar.errors import FileError
from biplanar.tokenizer.udpipe import train_udpipe
from study import prepare
from tests.paths import TINY

TREEBANK = BY_CODE["lt"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    root = tmp_path_factory.mktemp("prepare")
    folder = root / "ud-2.4" / "UD_Lithuanian-HSE"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        text = TINY.read_text(encoding="utf-8")
        if split == "test":  # a tag that the tagger has never seen
            text = text.replace("\tDET\t", "\tX\t", 1)
        (folder / f"lt_hse-ud-{split}.conllu").write_text(text, encoding="utf-8")
    (root / "data" / "lt").mkdir(parents=True)
    train_udpipe(list(read_conllu(TINY)), None, root / "data" / "lt" / "tokenizer.udpipe", epochs=1)
    prepare.main([str(root / "data"), "lt", "--treebanks", str(root)])
    return root / "data" / "lt"


def test_the_treebank_is_there_as_it_is(prepared):
    originals = [sentence.raw for sentence in read_conllu(TINY)]
    assert [sentence.raw for sentence in read_conllu(prepared / "train.conllu.xz")] == originals


def test_tags_are_predicted_and_trees_are_gold(prepared):
    files = (prepared / "test.conllu.xz", prepared / "test.tagged.conllu.xz")
    pairs = list(zip(*map(read_conllu, files), strict=True))
    assert all(original.tree == tagged.tree for original, tagged in pairs)
    tags = [pair for original, tagged in pairs for pair in zip(original.upos, tagged.upos, strict=True)]
    right = sum(gold == found for gold, found in tags)
    assert len(tags) > right > 0.8 * len(tags)
    assert read_json(prepared / "facts.json")["splits"]["test"]["tags"] == [right, len(tags)]


def test_words_of_raw_text_all_have_tags_and_no_trees(prepared):
    for sentence in read_conllu(prepared / "dev.raw.conllu.xz"):
        assert "_" not in sentence.upos
        assert not sentence.is_parsed


def test_facts(prepared):
    facts, sentences = read_json(prepared / "facts.json"), list(read_conllu(TINY))
    assert facts["splits"]["train"] == {"sentences": len(sentences), "words": sum(map(len, sentences))}
    assert unpack(facts["splits"]["test"]["lengths"]).tolist() == list(map(len, sentences))
    correct, gold, system = facts["splits"]["test"]["raw"]["Words"]
    assert 0 < correct <= min(gold, system)
    assert facts["statistics"]["split_sizes"][0] == len(sentences)


def test_what_is_there_is_not_made_again(prepared, monkeypatch):
    monkeypatch.setattr(prepare, "train_tagger", None)
    monkeypatch.setattr(prepare, "write_files", None)
    prepare.prepare(TREEBANK, prepared.parents[1], prepared.parent)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError, match=r"UD_Old-X: 0 files"):
        Treebank("x", "Old-X").file("train", tmp_path)


def test_training_files_of_near_treebanks_are_apart(tmp_path):
    folder = tmp_path / "ud-near-2.4" / "UD_Galician-CTG"
    folder.mkdir(parents=True)
    (folder / "gl_ctg-near-train.conllu").touch()
    assert BY_CODE["gl"].file("train", tmp_path).parent == folder
