from __future__ import annotations

import gc
import pickle
import shutil
from dataclasses import replace
from importlib.metadata import entry_points
from itertools import chain, pairwise
from random import Random

import numpy as np
import pytest

import biplanar
from biplanar import Document, Tree
from biplanar.errors import FileError, UnknownNameError
from biplanar.planes.crossings import is_projective
from tests.strategies import random_heads

spacy = pytest.importorskip("spacy")
from spacy.tokens import Doc, DocBin  # noqa: E402

TEXT = "A hearing is scheduled on the issue today. Nobody came."


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("biplanar")
    return nlp


def arcs(doc: Doc) -> list[tuple[int, str]]:
    return [(token.head.i, token.dep_) for token in doc]


class TestParsing:
    def test_the_entry_points_are_installed(self):
        assert "biplanar" in entry_points(group="spacy_factories").names
        assert "biplanar.tokenizer" in entry_points(group="spacy_tokenizers").names

    def test_it_sets_what_the_parser_finds(self, nlp):
        doc = nlp(TEXT)
        wanted = biplanar.load()([[token.text for token in sent] for sent in doc.sents])
        assert [sent.text for sent in doc.sents] == ["A hearing is scheduled on the issue today.", "Nobody came."]
        for ours, theirs in zip(wanted, Document.from_spacy(doc), strict=True):
            assert [word[:8] for word in ours] == [word[:8] for word in theirs]
        assert not wanted[0].is_projective
        assert doc[3].dep_ == "ROOT"
        assert next(doc.sents).root.text == "scheduled"

    def test_streams_keep_order_and_trees_whatever_the_batches(self, nlp):
        texts = [f"Nobody came to {'the big ' * number}house. Why?" for number in range(8)] + ["", "  "]
        alone = [arcs(nlp(text)) for text in texts]
        for size in (1, 3, 1000):
            docs = list(nlp.pipe(texts, batch_size=size))
            assert [doc.text for doc in docs] == texts
            assert [arcs(doc) for doc in docs] == alone
            assert [len(list(doc.sents)) for doc in docs[:-2]] == [2] * 8

    def test_long_documents_are_not_gathered(self, nlp, monkeypatch):
        monkeypatch.setattr("biplanar.pipeline.parser.CHUNK_WORDS", 10)
        component, taken = nlp.get_pipe("biplanar"), []
        monkeypatch.setattr(component, "options", replace(component.options, batch_words=1))

        def docs():
            for number in range(100):
                taken.append(number)
                yield nlp.make_doc("Nobody came in time .")

        next(component.pipe(docs(), batch_size=1000))
        assert len(taken) <= 3

    def test_white_space_is_no_word(self, nlp):
        doc = nlp("\n Nobody  came.\n\nWhy\t? ")
        spaces = [token for token in doc if token.is_space]
        assert len(spaces) >= 4
        assert {(token.dep_, token.pos_, token.tag_) for token in spaces} == {("dep", "SPACE", "_SP")}
        assert all(not token.head.is_space for token in doc)
        assert [sent.text.split() for sent in doc.sents] == [["Nobody", "came."], ["Why", "?"]]
        assert Document.from_spacy(doc)[0].tree == biplanar.load()([["Nobody", "came", "."]])[0].tree
        assert nlp("")[:].text == ""
        assert not nlp(" \n ").has_annotation("DEP")

    @pytest.mark.parametrize("starts", [[True, False, False, True, False, False], [True] + [False] * 5])
    def test_given_sentences_are_kept(self, nlp, starts):
        doc = Doc(nlp.vocab, words=["Nobody", "came", ".", "\n", "Why", "?"], sent_starts=starts)
        nlp.get_pipe("biplanar")(doc)
        assert [token.is_sent_start for token in doc] == starts
        assert all(token.sent == token.head.sent for token in doc)
        assert len(list(doc.sents)) == sum(starts)

    def test_after_another_component(self):
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer", config={"punct_chars": [","]})
        nlp.add_pipe("biplanar")
        assert [sent.text for sent in nlp("Yes, nobody came. Why not.").sents] == ["Yes,", "nobody came. Why not."]

    def test_tags_that_are_there_are_kept_unless_they_are_to_be_replaced(self, nlp):
        def tagged() -> Doc:
            words = ["Nobody", "came"]
            return Doc(nlp.vocab, words=words, pos=["X", ""], lemmas=["nob", ""], tags=["", "T"], sent_starts=[1, -1])

        component = nlp.get_pipe("biplanar")
        kept = component(tagged())
        assert [(token.pos_, token.lemma_) for token in kept] == [("X", "nob"), ("VERB", "come")]
        assert kept[1].tag_ == "T"
        other = spacy.blank("en").add_pipe("biplanar", config={"retag": True})
        replaced = other(Doc(other.vocab, words=["Nobody", "came"], pos=["X", "X"], sent_starts=[1, -1]))
        assert [token.pos_ for token in replaced] == ["PRON", "VERB"]

    def test_displacy(self, nlp):
        drawn = spacy.displacy.render(nlp(TEXT), style="dep", jupyter=False)
        assert "nmod" in drawn


class TestConfiguration:
    def test_options(self):
        nlp = spacy.blank("en")
        component = nlp.add_pipe("biplanar", config={"decoder": "greedy", "beam": 7, "batch_words": 30, "tags": False})
        assert (component.options.decoder, component.options.beam.states) == ("greedy", 7)
        assert not nlp("Nobody came.").has_annotation("TAG")

    def test_unknown_names(self, tmp_path):
        with pytest.raises(UnknownNameError, match="did you mean 'greedy'"):
            spacy.blank("en").add_pipe("biplanar", config={"decoder": "gredy"})
        with pytest.raises(FileError, match="no model named 'xx'"):
            spacy.blank("en").add_pipe("biplanar", config={"model": "xx"})
        with pytest.raises(FileError, match="not a model folder"):
            spacy.blank("en").add_pipe("biplanar", config={"model": str(tmp_path)})
        with pytest.raises(ValueError, match="unexpected argument: 'decode'"):
            spacy.blank("en").add_pipe("biplanar", config={"decode": "greedy"})

    def test_a_model_without_a_tokenizer_needs_sentences(self, nlp, tmp_path):
        nlp.get_pipe("biplanar").to_disk(tmp_path)
        shutil.rmtree(tmp_path / "segmenter")
        bare = spacy.blank("en")
        bare.add_pipe("biplanar", config={"model": str(tmp_path)})
        with pytest.raises(FileError, match="has no tokenizer to find sentences with: add a component"):
            bare("Yes.")
        bare.add_pipe("sentencizer", first=True)
        assert len(list(bare("Yes. No.").sents)) == 2


class TestNounChunks:
    SENTENCES = (
        (
            "He gave the very old man 's two dogs to New York today .",
            ["He", "the very old man 's two dogs", "New York", "today"],
        ),
        ("Cats and small dogs sleep", ["Cats", "small dogs"]),
    )

    @pytest.mark.parametrize(("text", "wanted"), SENTENCES)
    def test_they_are_base_noun_phrases(self, nlp, text, wanted):
        doc = Doc(nlp.vocab, text.split(" "), sent_starts=[True] + [False] * (len(text.split(" ")) - 1))
        assert [chunk.text for chunk in nlp(doc).noun_chunks] == wanted
        again = Document.from_spacy(doc).to_spacy(spacy.blank("en").vocab)
        assert [chunk.text for chunk in again.noun_chunks] == wanted

    def test_they_neither_overlap_nor_go_on_over_gaps(self, nlp):
        random, names = Random(1), ["det", "amod", "compound", "nsubj", "case", "nmod:poss", "flat", "conj"]
        for _ in range(100):
            heads = random_heads(12, random)
            heads = [head - 1 if head else at for at, head in enumerate(heads)]
            pos = random.choices(["NOUN", "PRON", "DET"], k=12)
            doc = Doc(nlp.vocab, ["x"] * 12, heads=heads, deps=random.choices(names, k=12), pos=pos)
            spans = [(chunk.start, chunk.end) for chunk in doc.noun_chunks]
            assert spans == sorted(spans)
            assert all(end <= start for (_, end), (start, _) in pairwise(spans))


class TestTravelling:
    def test_to_disk_and_back(self, nlp, tmp_path):
        nlp.to_disk(tmp_path / "pipeline")
        again = spacy.load(tmp_path / "pipeline")
        assert again.get_pipe("biplanar").parser.folder.path == tmp_path / "pipeline" / "biplanar"
        assert arcs(again(TEXT)) == arcs(nlp(TEXT))
        again.to_disk(tmp_path / "pipeline")  # onto itself
        assert arcs(spacy.load(tmp_path / "pipeline")(TEXT)) == arcs(nlp(TEXT))

    def test_the_first_model_is_not_needed_any_more(self, nlp, tmp_path):
        nlp.get_pipe("biplanar").to_disk(tmp_path / "model")
        other = spacy.blank("en")
        other.add_pipe("biplanar", config={"model": str(tmp_path / "model")})
        other.to_disk(tmp_path / "pipeline")
        (tmp_path / "model").rename(tmp_path / "gone")
        assert arcs(spacy.load(tmp_path / "pipeline")(TEXT)) == arcs(nlp(TEXT))

    def test_to_bytes_and_back(self, nlp):
        other = spacy.blank("en")
        other.add_pipe("biplanar")
        other.from_bytes(nlp.to_bytes())
        folder = other.get_pipe("biplanar").parser.folder.path
        assert arcs(other(TEXT)) == arcs(nlp(TEXT))
        assert folder.exists()
        other.remove_pipe("biplanar")
        del other
        gc.collect()
        assert not folder.exists()

    def test_pickled(self, nlp):
        assert arcs(pickle.loads(pickle.dumps(nlp))(TEXT)) == arcs(nlp(TEXT))


class TestCrossingArcs:
    """A generated corpus whose arcs cross at will, in the place of what a model finds."""

    @pytest.fixture
    def corpus(self, nlp, monkeypatch):
        random, parser = Random(3), nlp.get_pipe("biplanar").parser
        names = parser.inventory.deprels
        trees = []

        def parse(given, options):
            output = parse_really(given, options)
            parsed = output.parsed
            heads = [random_heads(len(sentence), random) for sentence in given.sentences]
            relations = [[random.randrange(len(names)) for _ in one] for one in heads]
            trees.extend(Tree(one, [names[at] for at in own]) for one, own in zip(heads, relations, strict=True))
            numbers = {"heads": heads, "relations": relations}
            found = {name: np.array([*chain(*some)], dtype=parsed.heads.dtype) for name, some in numbers.items()}
            return replace(output, parsed=replace(parsed, **found))

        parse_really = parser.parse
        monkeypatch.setattr(parser, "parse", parse)
        texts = [
            " ".join(f"Nobody came{' to the house' * random.randrange(6)}." for _ in range(random.randrange(1, 5)))
            for _ in range(40)
        ]
        docs = list(nlp.pipe(texts, batch_size=7))
        assert sum(not is_projective(tree) for tree in trees) > len(trees) / 2
        return docs, trees

    def check(self, docs, trees):
        assert [sentence.tree for doc in docs for sentence in Document.from_spacy(doc)] == trees

    def test_all_are_kept(self, nlp, corpus, tmp_path):
        docs, trees = corpus
        self.check(docs, trees)
        DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "docs.spacy")
        stored = list(DocBin().from_disk(tmp_path / "docs.spacy").get_docs(nlp.vocab))
        assert [arcs(doc) for doc in stored] == [arcs(doc) for doc in docs]
        for number, doc in enumerate(docs):
            doc.to_disk(tmp_path / str(number))
        again = [Doc(nlp.vocab).from_disk(tmp_path / str(number)) for number in range(len(docs))]
        assert [arcs(doc) for doc in again] == [arcs(doc) for doc in docs]
        self.check([Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in docs], trees)
