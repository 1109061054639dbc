"""Training a segmenter."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from biplanar.data.conllu import parse_conllu
from biplanar.pipeline.loading import load_segmenter
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.train import train_segmenter
from biplanar.tagger.checkpoint import load_checkpoint, save_checkpoint
from biplanar.tagger.config import Config
from biplanar.tokenizer import training
from biplanar.tokenizer.training import (
    RENDERINGS,
    SHUFFLED,
    SMALL_TREEBANK,
    Rendering,
    SegmenterRecord,
    SegmenterTrainer,
    paragraphs_of_sentences,
)
from tests.tokenizer.conftest import SMALL
from tests.tokenizer.treebank import PARAGRAPH, SENTENCES, forms


def test_the_best_network_knows_its_sentences(tagger):
    assert forms(tagger.segment(PARAGRAPH)) == forms(SENTENCES)


def test_records_tell_of_tokens_and_sentences():
    trainer = SegmenterTrainer(replace(SMALL, updates=8), SENTENCES, SENTENCES, threads=1)
    records = [event for event in trainer.run() if isinstance(event, SegmenterRecord)]
    assert records[-1].epoch == trainer.epochs
    assert 0 < records[-1].tokens <= 100
    assert "dev tokens" in str(records[-1])


def test_the_text_of_a_rendering():
    rendering = Rendering.of(paragraphs_of_sentences(SENTENCES))
    assert "".join(rendering.texts).strip() == PARAGRAPH
    text = "".join(rendering.texts)
    spans = zip(rendering.tokens.starts.tolist(), rendering.tokens.ends.tolist(), strict=True)
    assert [text[start:end] for start, end in spans] == [one.form for some in SENTENCES for one in some.tokens]


def test_other_renderings_lose_case_punctuation_and_spaces(monkeypatch):
    monkeypatch.setattr(training, "NEW_WORDS", 0)
    paragraphs = [[one] for some in paragraphs_of_sentences(SENTENCES) for one in some] * 200
    text = "".join(Rendering.of(paragraphs, np.random.default_rng(1)).texts)
    assert "o menino gosta do mar." in text  # in lower case
    assert "DO MENINO LÊ O JORNAL." in text
    assert "O menino gosta do mar " in text  # without a final period
    assert "gosta do mar.\n" in text


def renderings(paragraphs: list) -> list[str]:
    """Texts of some hundred paragraphs like these."""
    return Rendering.of(paragraphs * 200, np.random.default_rng(1)).texts


@pytest.mark.parametrize(
    ("form", "alike"),
    [
        ("12/5/2001", r"12[-./]5[-./]2001|2001[-./]5[-./]12"),
        ("Prof.", r"(Mo|Mou|Moun|Mount|Mounta)\."),
        ("src/paper.txt", r"(mountain|src)/mountain\.txt"),
        ("O'Leary", r"O'Mountain"),
    ],
)
def test_other_renderings_have_other_names(form, alike):
    rows = [f"{at}\t{text}" + "\t_" * 8 for at, text in enumerate(["mountain", form, "x"], 1)]
    texts = renderings(paragraphs_of_sentences(parse_conllu("\n".join(rows) + "\n\n")))
    found = {text.split()[1] for text in texts if text.startswith("mountain")}
    assert form in found
    assert any(re.fullmatch(alike, one) for one in found - {form})


def test_names_stand_in_place_of_some_words(monkeypatch):
    monkeypatch.setattr(training, "NEW_NAMES", 0.5)
    rows = [f"{at}\t{text}" + "\t_" * 8 for at, text in enumerate(["mountain", "a/b", "a.b@c", "x"], 1)]
    texts = renderings(paragraphs_of_sentences(parse_conllu("\n".join(rows) + "\n\n")))
    first = {text.split()[0] for text in texts}
    assert first >= {"mountain", "a/b", "a.b@c"}


def test_other_words_stand_in_place_of_some(monkeypatch):
    monkeypatch.setattr(training, "NEW_WORDS", 0.5)
    rows = [f"{at}\t{text}" + "\t_" * 8 for at, text in enumerate(["Mountain", "river", "the", "x"], 1)]
    texts = renderings(paragraphs_of_sentences(parse_conllu("\n".join(rows) + "\n\n")))
    assert {"Mountain river the x", "River river the x", "Mountain mountain the x"} <= {text.strip() for text in texts}


@pytest.mark.parametrize("quote", ['"', "«"])
def test_some_sentences_are_put_between_quotes_where_both_look_alike(quote):
    rows = [f"{at}\t{text}" + "\t_" * 8 for at, text in enumerate(["Sim", ".", quote], 1)]
    texts = renderings(paragraphs_of_sentences(parse_conllu("\n".join([*rows[:2], "", *rows, "", ""]))))
    assert any('" Sim . " ' in text for text in texts) is (quote == '"')
    assert any('"Sim ." ' in text for text in texts) is (quote == '"')


def test_transcripts_are_in_lower_case_and_without_punctuation(monkeypatch):
    monkeypatch.setattr(training, "TRANSCRIPTS", 0.2)
    texts = renderings(paragraphs_of_sentences(SENTENCES))
    assert any(len(text) > 200 and not re.search(r"[A-ZÁÉ.,?!]", text) for text in texts)


def test_small_treebanks_lose_their_case_more_seldom():
    rows = [f"{at}\t{text}" + "\t_" * 8 for at, text in enumerate(["Sim", "."], 1)]
    paragraphs = paragraphs_of_sentences(parse_conllu("\n".join([*rows, "", ""])))
    shares = [
        np.mean([text.islower() for text in Rendering.of(paragraphs * count, np.random.default_rng(1)).texts])
        for count in (SMALL_TREEBANK - 500, SMALL_TREEBANK + 500)
    ]
    assert 0 < shares[0] < 0.04 < shares[1]


def test_headings_are_lines_without_final_punctuation():
    texts = renderings(paragraphs_of_sentences(SENTENCES))
    assert any(re.search(r"\.\n\w[^\n]+\w\n\w[^\n]+\. ", text) for text in texts)


def test_some_paragraphs_are_garbled():
    paragraphs = [[one] for some in paragraphs_of_sentences(SENTENCES) for one in some] * 200
    text = "".join(Rendering.of(paragraphs, np.random.default_rng(1)).texts)
    assert "A avÃ³ mora" in text
    assert "lÃª o jornal" in text


def test_some_renderings_have_sentences_in_another_order(monkeypatch):
    monkeypatch.setattr(training, "NEW_WORDS", 0)
    trainer, in_order = SegmenterTrainer(SMALL, SENTENCES, SENTENCES, threads=1), []
    for trainer.epoch in range(RENDERINGS):
        corpus = trainer.corpus_of_epoch()
        text = "".join(corpus.forms[number] for number in corpus.words.tolist()).lower()
        places = [text.index(word) for word in ("gata", "gosta", "campo", "rua", "peixe", "depois", "costa", "loja")]
        in_order.append(places == sorted(places))
    assert in_order.count(False) == SHUFFLED


def test_a_training_goes_on_as_if_it_had_never_stopped(tmp_path):
    def trainer() -> SegmenterTrainer:
        return SegmenterTrainer(replace(SMALL, updates=12), SENTENCES, SENTENCES, threads=1)

    records = [event for event in trainer().run() if isinstance(event, SegmenterRecord)]
    first = trainer()
    for event in first.run():
        if isinstance(event, SegmenterRecord):
            save_checkpoint(first, tmp_path / "checkpoint", first.origin())
            break
    again = trainer()
    load_checkpoint(again, tmp_path / "checkpoint", again.origin())
    rest = [event for event in again.run() if isinstance(event, SegmenterRecord)]
    assert [(one.epoch, one.loss) for one in rest] == [(one.epoch, one.loss) for one in records[1:]]


def test_a_folder_is_written_and_loaded(tmp_path, tagger):
    folder, config = ModelFolder(tmp_path), Config(segmenter=SMALL)
    list(train_segmenter(folder, config, SENTENCES, SENTENCES, seed=1, device="cpu", threads=1))
    found = load_segmenter(folder).segment(PARAGRAPH)
    assert forms(found) == forms(tagger.segment(PARAGRAPH)) == forms(SENTENCES)


def test_a_treebank_of_one_sentence():
    sentences = parse_conllu("1\tSim" + "\t_" * 8 + "\n\n")
    trainer = SegmenterTrainer(replace(SMALL, updates=2), sentences, sentences, threads=1)
    list(trainer.run())
    assert forms(trainer.segmenter().segment("Sim")) == [["Sim"]]


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_damaged_folder(tmp_path, share):
    folder = ModelFolder(tmp_path)
    list(
        train_segmenter(folder, Config(segmenter=replace(SMALL, updates=1)), SENTENCES, SENTENCES, seed=1, device="cpu")
    )
    for path in (folder.segmenter.vocabulary, folder.segmenter.multiword, folder.segmenter.int8 / "words.onnx"):
        data = path.read_bytes()
        path.write_bytes(data[: int(share * len(data))])
        with pytest.raises(Exception, match=path.name) as caught:
            load_segmenter(folder)
        assert type(caught.value).__name__ == "FileError"
        path.write_bytes(data)
