"""With stand-ins of the shape that Stanza documents."""

from __future__ import annotations

from types import SimpleNamespace

from biplanar import Document

TEXT = " She can't sing.\n\nYes "


def word(number: int, text: str, **values: object) -> SimpleNamespace:
    columns = {"lemma": None, "upos": None, "xpos": None, "feats": None, "head": None, "deprel": None, "deps": None}
    return SimpleNamespace(id=number, text=text, misc=None, **columns | values)


def token(start: int, text: str, *words: SimpleNamespace) -> SimpleNamespace:
    numbers = (words[0].id,) if len(words) == 1 else (words[0].id, words[-1].id)
    return SimpleNamespace(
        id=numbers, text=text, words=list(words), start_char=start, end_char=start + len(text), misc="start_char=9"
    )


def document(text: str | None = TEXT) -> SimpleNamespace:
    first = [
        token(1, "She", word(1, "She", upos="PRON", feats="Case=Nom", head=4, deprel="nsubj")),
        token(5, "can't", word(2, "ca", head=4, deprel="aux"), word(3, "n't", head=4, deprel="advmod")),
        token(11, "sing", word(4, "sing", head=0, deprel="root")),
        token(15, ".", word(5, ".", head=4, deprel="punct")),
    ]
    sentences = [
        SimpleNamespace(tokens=first, text="She can't sing.", sent_id="a", comments=["# by = hand"]),
        SimpleNamespace(tokens=[token(18, "Yes", word(1, "Yes", head=0, deprel="root"))], text="Yes"),
    ]
    return SimpleNamespace(sentences=sentences, text=text)


def test_everything_is_kept():
    found = Document.from_stanza(document())
    assert found[0].tree.heads == (4, 4, 4, 0, 4)
    assert found[0].comments == ["# sent_id = a", "# text = She can't sing.", "# by = hand"]
    assert found[0][0].features == {"Case": "Nom"}
    assert [one.text for one in found[0].tokens] == ["She", "can't", "sing", "."]
    assert found[0][0].lemma == "_"
    assert found[1].sent_id == "2"


def test_text_and_offsets():
    found = Document.from_stanza(document())
    assert found.text == TEXT
    assert [one.start_char for one in found[0].tokens] == [1, 5, 11, 15]
    assert found[1].start_char == 18
    assert "start_char" not in found.to_conllu()


def test_without_a_text_tokens_have_spaces_between():
    assert Document.from_stanza(document(None)).text.startswith("She can't sing . ")


def test_nothing():
    assert len(Document.from_stanza(SimpleNamespace(sentences=[], text=""))) == 0
