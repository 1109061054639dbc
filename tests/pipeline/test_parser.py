"""Parsing with the English model that ships inside."""

from __future__ import annotations

import pickle
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import biplanar
from biplanar.data.conllu import DEPREL, DEPS, FEATS, HEAD, XPOS, parse_conllu
from biplanar.data.raw_text import raw_text
from biplanar.errors import BiplanarError, FileError, UnknownNameError

TEXT = "A hearing is scheduled on the issue today. Nobody came."

# Multiword tokens, an empty node, comments and MISC are kept; only the tree is new.
RICH = """\
# sent_id = rich-1
# text = She can't sing.
1\tShe\tshe\tPRON\t_\t_\t_\t_\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\t_\t_\t_\t_\t_\t_
3\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_
4\tsing\tsing\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No
4.1\tsongs\tsong\tNOUN\t_\t_\t_\t_\t4:obj\t_
5\t.\t.\tPUNCT\t_\t_\t_\t_\t_\tNote=end
"""


@pytest.fixture(scope="module")
def parser():
    return biplanar.load()


class TestInputs:
    def test_raw_text(self, parser):
        document = parser(TEXT)
        assert [sentence.forms[-1] for sentence in document] == [".", "."]
        assert document[0].words[3].deprel == "root"
        assert document[0].words[3].head == 0
        assert document[0].words[0].head == 2
        assert len(document[:1]) == 1

    def test_a_document_draws_itself(self, parser):
        drawn = parser(TEXT)._repr_html_()
        assert drawn.count("<svg") == 2
        assert "obl:unmarked" in drawn

    def test_a_list_of_texts_gives_a_document_of_each(self, parser):
        documents = parser(["Nobody came. Really.", "Yes."])
        assert [[len(sentence) for sentence in document] for document in documents] == [[3, 2], [2]]
        assert parser(["Nobody came. Really.", "Yes."]) == [parser("Nobody came. Really."), parser("Yes.")]
        assert parser(documents) == documents

    def test_words(self, parser):
        document = parser([["Nobody", "came", "."], ["Yes"]])
        assert [sentence.forms for sentence in document] == [["Nobody", "came", "."], ["Yes"]]
        assert document[0].tree.heads == (2, 0, 2)

    @pytest.mark.parametrize("tags", [True, False])
    def test_conllu_keeps_all_else(self, parser, tags):
        (before,), (after,) = (sentences := parse_conllu(RICH)), list(parser.pipe(sentences, tags=tags))
        assert after.tree.heads == (4, 4, 4, 0, 4)
        blanked = [row.split("\t") for row in after.raw.split("\n")]
        for row in blanked:
            if len(row) == 10 and row[0].isdigit():
                row[HEAD] = row[DEPREL] = "_"
                assert tags == (row[XPOS] != "_") == (row[DEPS] != "_")
                row[XPOS] = row[FEATS] = row[DEPS] = "_"
        assert "\n".join("\t".join(row) for row in blanked) == before.raw

    def test_a_document_and_sentences_are_parsed_again(self, parser):
        document = parser(TEXT)
        assert parser(document) == document
        assert parser(list(document)).text == document.text
        assert parser(document[1]).sentences == (document[1],)
        other = document[0].with_tree(biplanar.Tree((0, *range(1, len(document[0]))), ("x",) * len(document[0])))
        assert parser([other, ["Yes", "."]])[0] == document[0]

    @pytest.mark.parametrize("given", [None, 3, b"Yes.", [None], [["Yes", 3]], ["Yes.", ["Yes", "."]]])
    def test_what_cannot_be_parsed_is_refused(self, parser, given):
        with pytest.raises(BiplanarError, match="cannot parse") as refusal:
            parser(given)
        assert repr(given) in str(refusal.value) or isinstance(given, list)

    def test_nothing(self, parser):
        assert len(parser("")) == 0
        assert len(parser(" \n\n ")) == 0
        assert len(parser([])) == 0
        assert list(parser.pipe([])) == []

    def test_odd_text_survives(self, parser):
        words = [["🦄", "👩‍👩‍👧", "שלום", "العربية", "x" * 5000, "\u200b", "a b"]]
        assert parser(words)[0].forms == words[0]
        assert "🦄" in parser("I saw a 🦄 today. שלום עולם!").to_conllu()


class TestPipe:
    def test_texts_documents_and_sentences_give_what_they_are(self, parser):
        document = parser(TEXT)
        items = [TEXT, "", document, document[1], ["Nobody", "came", "."]]
        assert list(parser.pipe(items))[:-1] == [document, parser(""), document, document[1]]
        assert list(parser.pipe(items))[-1].forms == ["Nobody", "came", "."]

    def test_texts_are_parsed_in_batches_across_them(self, parser, monkeypatch):
        texts, sizes, parse = [TEXT, "", "Yes."] * 20, [], biplanar.Parser.parse
        wanted = [parser(text) for text in texts]

        def counted(self, given, *more):
            sizes.append(len(given))
            return parse(self, given, *more)

        monkeypatch.setattr(biplanar.Parser, "parse", counted)
        found = list(parser.pipe(texts))
        assert (found, sizes) == (wanted, [60])
        assert [sentence.start_char for sentence in found[3]] == [0, 43]

    def test_it_takes_pairs_as_spacy_does(self, parser):
        pairs = [("Nobody came.", {"id": 1}), (["Yes", "."], "words")]
        (document, context), (sentence, kind) = parser.pipe(pairs, as_tuples=True)
        assert (document.text, context) == ("Nobody came.", {"id": 1})
        assert (sentence.forms, kind) == (["Yes", "."], "words")

    @pytest.mark.parametrize("given", ["Nobody came.", b"Nobody came.", None, 3])
    def test_what_is_no_stream_is_refused(self, parser, given):
        with pytest.raises(BiplanarError, match="pass a list"):
            next(parser.pipe(given))


class TestBehaviour:
    def test_trees_are_valid_and_the_root_alone_is_called_root(self, parser):
        for sentence in parser(TEXT * 5):
            tree = sentence.tree
            assert len(tree.roots) == 1
            assert [word for word, deprel in enumerate(tree.deprels, 1) if deprel == "root"] == list(tree.roots)

    def test_results_do_not_depend_on_the_batches_and_keep_their_order(self, parser):
        text = "The old man who lives near the river saw a very large dog yesterday , did n't he ?"
        words = [text.split(" ")[: 1 + (7 * number) % 19] for number in range(60)]
        sentences = [biplanar.Sentence.from_words(row) for row in words]
        together = [sentence.raw for sentence in parser.pipe(sentences)]
        small = [sentence.raw for sentence in parser.pipe(sentences, batch_words=30)]
        alone = [parser([row])[0].raw for row in words]
        assert together == small == alone
        assert [parse_conllu(raw)[0].forms for raw in together] == words

    def test_it_streams(self, parser, monkeypatch):
        monkeypatch.setattr("biplanar.pipeline.parser.CHUNK_WORDS", 10)
        taken = []

        def source():
            for number in range(1000):
                taken.append(number)
                yield biplanar.Sentence.from_words(["Nobody", "came", "."])

        stream = parser.pipe(source(), batch_words=1)
        for _ in range(8):
            next(stream)
        assert len(taken) <= 12

    @pytest.mark.parametrize("decoder", ["greedy", "paper"])
    def test_decoders(self, parser, decoder):
        assert parser("Nobody came.", decoder=decoder)[0].tree.heads == (2, 0, 2)

    def test_an_unknown_decoder(self, parser):
        with pytest.raises(UnknownNameError, match="did you mean 'greedy'"):
            parser("Nobody came.", decoder="gredy")

    def test_options_by_name_or_as_a_value(self, parser):
        options = biplanar.ParseOptions(decoder="greedy", probabilities=True)
        by_name = parser("Nobody came.", decoder="greedy", probabilities=True)
        assert parser("Nobody came.", options) == by_name
        assert "HeadProb" in by_name.to_conllu()
        with pytest.raises(UnknownNameError, match="did you mean 'decoder'"):
            parser("Nobody came.", decode="greedy")

    def test_how_trees_were_found_is_returned(self, parser):
        assert parser(TEXT).outcome.sentences == 2
        assert parser("").outcome.sentences == 0

    def test_a_very_long_sentence(self, parser):
        words = ["the", "dog", "that", "saw", "the", "cat", "that", "chased", "a", "mouse", "and"] * 455
        assert len(parser([words])[0]) == 5005
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        assert peak < 6  # gigabytes, and the whole test process is in it

    def test_raw_text_of_a_treebank(self):
        sentences = parse_conllu(RICH + "\n# newpar\n# text = Next one.\n" + RICH.split("\n", 2)[2])
        assert raw_text(sentences) == "She can't sing.\n\nNext one.\n"


class TestElsewhere:
    def test_it_is_pickled_by_what_it_was_loaded_from(self, parser, monkeypatch, tmp_path):
        (tmp_path / "model").symlink_to(parser.folder.path)
        monkeypatch.chdir(tmp_path)
        pickled = [pickle.dumps(one) for one in (parser, biplanar.load("model", runtime="int8"))]
        monkeypatch.chdir("/")  # a path that was relative leads to the same place
        assert all(len(one) < 1000 for one in pickled)
        assert [pickle.loads(one)(TEXT) for one in pickled] == [parser(TEXT)] * 2

    def test_one_that_was_not_loaded_says_so(self, parser):
        made = biplanar.Parser(parser.scorer, parser.inventory, parser.folder, batch_words=500)
        with pytest.raises(BiplanarError, match="can be pickled"):
            pickle.dumps(made)

    def test_several_threads_at_once(self, parser):
        texts = [f"Nobody came to house {number} because of {'very ' * number}bad weather." for number in range(24)]
        alone = [parser(text) for text in texts]
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(parser, texts)) == alone


def test_a_model_without_a_tokenizer_says_so(parser, tmp_path):
    for path in parser.folder.path.iterdir():
        if path.name != "segmenter":
            (tmp_path / path.name).symlink_to(path)
    bare = biplanar.load(tmp_path)
    assert len(bare([["Yes", "."]])) == 1
    with pytest.raises(FileError, match="has no segmenter"):
        bare("Yes.")


def test_the_embedded_model_is_small_and_says_what_it_is(parser):
    sizes = {path.name: path.stat().st_size for path in parser.folder.path.rglob("*") if path.is_file()}
    assert sizes["forms.onnx"] > 1e6  # the weights, which are in a folder below, are counted
    assert sum(sizes.values()) < 15e6
    card = parser.folder.card.read_text(encoding="utf-8")
    assert "UD_English-EWT 2.16" in card
    assert "CC BY-SA 4.0" in card


def test_it_parses_without_torch():
    program = "import sys, biplanar; print(len(biplanar.load()('Nobody came.'))); assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
