"""`/api/parse` and `/api/compare`: what is asked, and what comes back."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from biplanar import ENCODINGS, encode
from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.data.tree import Tree
from biplanar.draw.layout import COLUMNS, columns_of
from biplanar.serve import ServerConfig
from tests.serve.conftest import serving

WORDS = [["Nobody", "came", "."], ["Why", "?"]]
# Word 1 hangs on 3 and 2 on 4: the arcs cross.
CROSSING = Sentence.from_words(list("abcd"), Tree((3, 4, 0, 3), ("x", "y", "root", "z"))).to_conllu()
TWO_ROOTS = Sentence.from_words(["a", "b"], Tree((0, 0), ("root", "root"))).to_conllu()
TAGGED = "1\tdogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def ask(served):
    def ask(**fields):
        answer = served.client.post("/api/parse", json=fields)
        assert answer.headers["content-type"] == "application/json"
        assert answer.status_code == 200, answer.text
        return answer.json()

    return ask


@pytest.fixture
def refused(served):
    def refused(path="/api/parse", *, body=None, status=400, **fields):
        content = body if body is not None else json.dumps(fields).encode()
        answer = served.client.post(path, content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == status, answer.text
        return answer.json()["error"]

    return refused


class TestParse:
    def test_words(self, ask, models):
        answer = ask(words=WORDS)
        assert (answer["model"], answer["decoder"], answer["labels"]) == ("en", "search", "2p-full")
        for found, wanted in zip(answer["sentences"], models.default.parser(WORDS), strict=True):
            assert found["forms"] == wanted.forms
            assert found["text"] == " ".join(wanted.forms)
            assert found["conllu"] == found["trees"][0]["conllu"] == wanted.to_conllu()
            assert (found["nonprojective"], found["rtl"], len(found["trees"])) == (False, False, 1)
            (tree,) = found["trees"]
            assert tuple(tree["heads"]) == wanted.tree.heads
            assert tuple(tree["deprels"]) == wanted.tree.deprels
            assert [
                (*labels, deprel) for labels, deprel in zip(tree["labels"], tree["deprels"], strict=True)
            ] == encode(wanted.tree, "2p-full")
            assert tree["planes"] == [1 if head else 0 for head in wanted.tree.heads]
            assert tree["svg"] is tree["probabilities"] is tree["log_probability"] is None

    def test_raw_text(self, ask, models):
        text = "Nobody came. Why?\n\nשלום."
        answer = ask(text=text, model="english", decoder="greedy")
        wanted = models.default.parser(text, decoder="greedy")
        assert [sentence["conllu"] for sentence in answer["sentences"]] == [each.to_conllu() for each in wanted]
        assert [sentence["text"] for sentence in answer["sentences"]] == ["Nobody came.", "Why?", "שלום."]
        assert [sentence["rtl"] for sentence in answer["sentences"]] == [False, False, True]

    def test_no_text(self, ask):
        assert ask(text="")["sentences"] == ask(words=[])["sentences"] == []

    def test_conllu_keeps_all_else(self, ask):
        (sentence,) = ask(conllu="# sent_id = x\n# text = dogs bark!\n" + TAGGED)["sentences"]
        assert sentence["text"] == "dogs bark!"
        assert "# sent_id = x\n" in sentence["conllu"]
        assert "\tdogs\tdog\tNOUN\t" in sentence["conllu"]

    def test_probabilities(self, ask):
        (tree,) = ask(words=WORDS[:1], probabilities=True)["sentences"][0]["trees"]
        assert len(tree["probabilities"]) == 3
        assert all(0 < chance <= 1 for chance in tree["probabilities"])
        assert "HeadProb=" in tree["conllu"]

    @pytest.mark.parametrize("decoder", ["search", "minimum-risk", "greedy", "paper"])
    def test_the_best_trees(self, ask, decoder):
        (sentence,) = ask(words=[WORDS[0]], best=3, probabilities=True, decoder=decoder)["sentences"]
        trees = sentence["trees"]
        assert 1 < len(trees) <= 3
        assert len({tuple(tree["heads"]) for tree in trees}) == len(trees)
        scores = [tree["log_probability"] for tree in trees[1:]]
        assert scores == sorted(scores, reverse=True)
        assert all(len(tree["probabilities"]) == 3 and "HeadProb" in tree["conllu"] for tree in trees)
        (alone,) = ask(words=[WORDS[0]], decoder=decoder)["sentences"]
        assert trees[0]["heads"] == alone["trees"][0]["heads"]
        if decoder == "search":
            assert trees[0]["log_probability"] > scores[0]

    def test_a_sentence_goes_through_the_network_once(self, ask, models, monkeypatch):
        scorer, asked = models.default.parser.scorer, []
        score = scorer.score
        monkeypatch.setattr(scorer, "score", lambda *given: asked.append(1) or score(*given))
        ask(words=[WORDS[0]], best=3, decoder="greedy")
        assert len(asked) == 1

    def test_pictures_tell_what_is_what(self, ask):
        (tree,) = ask(conllu=CROSSING, parse=False, labels="1p-brackets", svg=True)["sentences"][0]["trees"]
        nodes = [node.attrib for node in ElementTree.fromstring(tree["svg"]).iter()]
        assert [node["data-word"] for node in nodes if "data-word" in node] == ["1", "2", "3", "4"]
        arcs = {node["data-arc"]: "data-extra" in node for node in nodes if "data-arc" in node}
        assert {key for key, extra in arcs.items() if not extra} == {"3-1", "4-2", "0-3", "3-4"}
        assert len(arcs) > 4  # one plane cannot say the tree, and its labels say another arc
        signs = [node["data-sign"] for node in nodes if "data-sign" in node]
        assert len(signs) == sum(len(label.strip("_")) for (label,) in tree["labels"])

    def test_a_carriage_return_in_a_line(self, served):
        fields = {"data": "a\r \nYes.", "tokenizer": "presegmented", "parser": ""}
        answer = served.client.post("/process", data=fields)
        assert answer.status_code == 200, answer.text
        assert [sentence.forms for sentence in parse_conllu(answer.json()["result"])] == [["a"], ["Yes", "."]]

    def test_pictures(self, ask):
        (tree,) = ask(words=[["A", "<b>&", "c"]], svg=True)["sentences"][0]["trees"]
        texts = {node.text for node in ElementTree.fromstring(tree["svg"]).iter() if node.tag.endswith("text")}
        assert {"A", "<b>&", "c", "plane1", "plane2"} <= texts

    def test_pictures_with_columns(self, ask, refused):
        (tree,) = ask(conllu=TAGGED, parse=False, svg=True, columns="upos,lemma")["sentences"][0]["trees"]
        texts = {node.text for node in ElementTree.fromstring(tree["svg"]).iter() if node.tag.endswith("text")}
        assert {"upos", "NOUN", "VERB"} <= texts
        assert "unknown column 'uposs'; did you mean 'upos'?" in refused(text="a", columns="uposs")

    @pytest.mark.parametrize("labels", ENCODINGS)
    def test_labels_of_any_encoding(self, ask, labels):
        (sentence,) = ask(conllu=TAGGED, labels=labels, parse=False, svg=True)["sentences"]
        rows = sentence["trees"][0]["labels"]
        assert [(*row, deprel) for row, deprel in zip(rows, ["nsubj", "root"], strict=True)] == encode(
            Tree((2, 0), ("nsubj", "root")), labels, upos=["NOUN", "VERB"]
        )
        assert sentence["trees"][0]["planes"] == [1, 0]

    def test_trees_that_are_there(self, ask):
        (sentence,) = ask(conllu=CROSSING, parse=False, labels="2p-greedy")["sentences"]
        (tree,) = sentence["trees"]
        assert sentence["nonprojective"] is True
        assert (sentence["conllu"], tree["heads"], sorted(tree["planes"])) == (CROSSING, [3, 4, 0, 3], [0, 1, 1, 2])

    def test_what_an_encoding_cannot_express(self, ask):
        (tree,) = ask(conllu=TWO_ROOTS, parse=False, svg=True)["sentences"][0]["trees"]
        assert (tree["labels"], tree["heads"], tree["planes"]) == (None, [0, 0], [0, 0])
        assert tree["svg"].startswith("<svg")
        (tree,) = ask(conllu=TWO_ROOTS, parse=False, labels="7-bit", replay=True)["sentences"][0]["trees"]
        assert tree["labels"] is tree["replay"] is None
        (tree,) = ask(conllu=CROSSING, parse=False, labels="rel-pos")["sentences"][0]["trees"]
        assert tree["labels"] is None  # there are no tags

    def test_decoding_step_by_step(self, ask):
        tree = ask(conllu=TAGGED, labels="arc-standard", parse=False, replay=True)["sentences"][0]["trees"][0]
        assert tree["labels"] == [["_"], ["LR"]]
        shown = tree["replay"]
        assert (tree["tasks"], shown["stacks"], shown["first"]) == (["transitions"], [["stack", 0]], [[0, 0]])
        assert [step["part"] for step in shown["steps"]] == [[1, 0, 0, 1], [2, 0, 0, 1], [2, 0, 1, 1], [2, 1, 2, 1]]
        assert [step["arcs"] for step in shown["steps"]] == [[], [], [[2, 1, [[2, 0, 1, 1]]]], [[0, 2, [[2, 1, 2, 1]]]]]
        assert [step["pops"] for step in shown["steps"]] == [[], [], [[0, 1]], [[0, 1]]]
        for labels, arcs in (("2p-full", [[2, 1]]), ("absolute", [[2, 1], [0, 2]]), ("rel-pos", [[2, 1], [0, 2]])):
            shown = ask(conllu=TAGGED, labels=labels, parse=False, replay=True)["sentences"][0]["trees"][0]["replay"]
            assert [arc[:2] for step in shown["steps"] for arc in step["arcs"]] == arcs
        answer = ask(conllu=TAGGED, labels="arc-standard", parse=False)
        assert answer["sentences"][0]["trees"][0]["replay"] is None

    def test_odd_words(self, ask):
        words = ["🦄", "شكرا", "x" * 1000, "\u200b", "a b", "\x00", "\x85", "\ufeff", "</script>", "\r"]
        (sentence,) = ask(words=[words], svg=True, best=2)["sentences"]
        assert sentence["forms"] == words


def test_a_model_whose_scores_are_not_finite(models, monkeypatch):
    """The answer tells of it, and the server goes on."""
    scorer = models.default.parser.scorer
    score = scorer.score

    def damaged(*given):
        scores = score(*given)
        for table in scores.labels.values():
            table[:] = np.nan
        return scores

    with serving(models) as server:
        for _ in range(6):
            monkeypatch.setattr(scorer, "score", damaged)
            for decoder in ("search", "greedy"):
                request = {"words": WORDS, "decoder": decoder, "probabilities": True}
                answer = server.client.post("/api/parse", json=request)
                assert answer.status_code == 500
                assert "not finite" in answer.json()["error"]
            monkeypatch.setattr(scorer, "score", score)
            assert server.client.post("/api/parse", json={"words": WORDS}).status_code == 200


class TestColumns:
    """What a model predicts beside the trees."""

    WORDS = (["The", "cat", "sleeps"], ["A", "letter", "arrived"])
    GIVEN = "1\tThe\tLemma\tX\tx\tOdd=Yes\t3\tdep\t_\t_\n2\tcat\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"

    @pytest.fixture
    def shown(self, tagging):
        def shown(**fields):
            answer = tagging.client.post("/api/parse", json=fields)
            assert answer.status_code == 200, answer.text
            return answer.json()["sentences"]

        return shown

    def test_models_tell_of_them(self, tagging):
        (model,) = tagging.client.get("/api/models").json()["models"]
        assert model["columns"] == ["upos", "xpos", "feats", "lemma", "deps"]

    def test_words_get_all(self, shown, tagging_models):
        found, parsed = shown(words=self.WORDS), tagging_models.default.parser(self.WORDS)
        for sentence, wanted in zip(found, parsed, strict=True):
            assert {name: sentence[name] for name in COLUMNS} == columns_of(wanted, COLUMNS)
            assert sentence["conllu"] == wanted.raw
        assert (found[0]["upos"], found[0]["lemma"]) == (["DET", "NOUN", "VERB"], ["the", "cat", "sleep"])

    def test_what_is_given_is_kept_unless_replaced(self, shown, tagging_models):
        (sentence,) = shown(conllu=self.GIVEN)
        assert (sentence["upos"], sentence["lemma"]) == (["X", "NOUN"], ["Lemma", "cat"])
        (sentence,) = shown(conllu=self.GIVEN, retag=True)
        (wanted,) = tagging_models.default.parser.pipe(parse_conllu(self.GIVEN), retag=True)
        assert sentence["conllu"] == wanted.raw
        assert (sentence["upos"], sentence["lemma"]) == (["DET", "NOUN"], ["the", "cat"])

    @pytest.mark.parametrize("retag", [True, False])
    def test_all_trees_have_the_same(self, shown, retag):
        (sentence,) = shown(conllu=self.GIVEN, retag=retag, best=3)
        assert len(sentence["trees"]) > 1
        for tree in sentence["trees"]:
            assert parse_conllu(tree["conllu"])[0].upos == sentence["upos"]

    def test_trees_that_are_there_keep_theirs(self, shown):
        assert shown(conllu=CROSSING, parse=False, retag=True)[0]["conllu"] == CROSSING

    def test_pictures(self, shown):
        (sentence,) = shown(words=self.WORDS[:1], svg=True, columns="lemma,xpos,feats")
        texts = {node.text for node in ElementTree.fromstring(sentence["trees"][0]["svg"]).iter()}
        assert {"lemma", "sleep", "xpos", "ve", "Number", "Sing"} <= texts

    def test_graphs_are_in_pictures(self, shown):
        (sentence,) = shown(words=self.WORDS[:1], svg=True)
        wanted = [f"{word}:{relation}" for word, relation in parse_conllu(sentence["conllu"])[0][2].enhanced_heads]
        svg = sentence["trees"][0]["svg"]
        assert ('class="three"' in svg or "--three" in svg) == (len(wanted) > 1)


class TestRefusals:
    def test_what_is_no_json(self, refused):
        bodies = [b"{", b"\xff", b"[]", b"[" * 100_000, b'{"best": ' + b"9" * 5000 + b"}", b'{"text": NaN}']
        for body in bodies:
            assert refused(body=body).startswith("body: not ")

    def test_types(self, refused):
        for fields in ({"text": 1}, {"best": True}, {"best": 1.5}, {"svg": 1}, {"model": None}, {"words": {}}):
            (name,) = fields
            assert refused(**fields).startswith(f"{name}: ")

    def test_a_million_faults_are_not_all_told(self, refused):
        assert len(refused(words=[1] * 1_000_000)) < 100
        assert len(refused(**{f"x{number}": 1 for number in range(200_000)})) < 500

    @pytest.mark.parametrize("words", [["a"], [[]], [[1]], [["a"], "b"], [None]])
    def test_words(self, refused, words):
        assert refused(words=words).startswith(f"words.{len(words) - 1}")

    @pytest.mark.parametrize("word", ["", "a\tb", "a\nb"])
    def test_words_that_no_column_can_hold(self, refused, word):
        assert refused(words=[["fine", word]]).startswith("value 2: FORM")

    def test_lone_surrogates(self, refused):
        sources = ({"text": "a\ud800"}, {"conllu": "\ud800"}, {"words": [["\ud800"]]}, {"text": "a", "model": "\ud800"})
        for fields in sources:
            assert refused(**fields).startswith("body: not JSON")

    def test_names(self, refused):
        assert refused(text="a", modle="en").startswith("unknown field 'modle'; did you mean 'model'?")
        assert refused(text="a", model="fr").startswith("unknown model 'fr'")
        assert refused(text="a", decoder="gredy").startswith("unknown decoder 'gredy'; did you mean 'greedy'?")
        assert refused(text="a", labels="2p").startswith("unknown encoding '2p'")

    def test_one_source(self, refused):
        assert "none of them" in refused()
        assert "text and conllu" in refused(text="a", conllu="b")

    def test_broken_conllu(self, refused):
        assert refused(conllu="1\ta\n\n") == "conllu:1: expected 10 columns, found 2"
        assert refused(conllu="") == "conllu:1: the file has no sentences"

    def test_trees_that_are_not_there(self, refused):
        assert refused(conllu=TAGGED.replace("\t2\t", "\t_\t"), parse=False).startswith("conllu:1: expected a whole")
        assert refused(conllu=TAGGED.replace("\t0\t", "\t1\t"), parse=False).startswith("conllu:")
        assert refused(text="a", parse=False).startswith("parse: false needs conllu")
        assert refused(conllu=TAGGED, parse=False, best=2).startswith("parse: false needs conllu")

    def test_how_many_trees(self, refused):
        for best in (0, -1, 21, 10**30):
            assert refused(text="a", best=best).startswith("best: ")

    def test_sizes(self, models):
        config = ServerConfig(words=6, sentence_words=4, word_characters=9, drawn_words=4)
        with serving(models, config) as server:

            def status(**fields):
                return server.client.post("/api/parse", json=fields).status_code

            words = ["a", "b", "c"]
            assert status(words=[words, words]) == 200
            assert status(words=[words, words, ["a"]]) == 413
            assert status(words=[[*words, *words]]) == 400
            assert status(words=[["a" * 9]]) == 200
            assert status(words=[["a" * 10]]) == 400
            assert status(words=[words, ["a"]], svg=True) == 200
            assert status(words=[words, words], svg=True) == 413
            assert status(words=[["a", "b"]], best=2) == 200
            assert status(words=[words], best=2) == 413

    def test_a_model_without_a_tokenizer(self, models, tmp_path):
        folder = models.default.parser.folder.path
        for path in folder.iterdir():
            if path.name != "segmenter":
                (tmp_path / path.name).symlink_to(path)
        with serving(type(models).load([f"bare={tmp_path}"])) as server:
            assert server.client.get("/api/models").json()["models"][0]["raw_text"] is False
            assert server.client.get("/models").json()["models"] == {"bare": ["tagger", "parser"]}
            answer = server.client.post("/api/parse", json={"text": "Yes."})
            assert answer.status_code == 400
            assert answer.json()["error"].startswith("text: the model bare has no tokenizer")
            answer = server.client.post("/process", data={"data": "Yes.", "tokenizer": ""})
            assert answer.status_code == 400
            assert answer.text.startswith("the model bare has no tokenizer")
            assert server.client.post("/api/parse", json={"words": [["Yes", "."]]}).status_code == 200


class TestCompare:
    GOLD = TAGGED + CROSSING
    SYSTEM = TAGGED.replace("nsubj", "obj") + CROSSING.replace("\t4\ty", "\t3\ty")

    def test_two_versions(self, served):
        answer = served.client.post("/api/compare", json={"gold": self.GOLD, "system": self.SYSTEM}).json()
        assert [(each["text"], each["wrong"], each["words"]) for each in answer["sentences"]] == [
            ("dogs bark", 1, 2),
            ("a b c d", 1, 4),
        ]
        for sentence in answer["sentences"]:
            texts = {node.text for node in ElementTree.fromstring(sentence["svg"]).iter()}
            assert {"gold", "system"} <= texts
        assert answer["scores"] == {"UAS": 5 / 6, "LAS": 4 / 6}

    def test_refusals(self, refused):
        def error(**fields):
            return refused("/api/compare", **fields)

        assert error(gold=TAGGED).startswith("system: ")
        assert error(gold=TAGGED, system="") == "system:1: the file has no sentences"
        assert error(gold=TAGGED, system=CROSSING).startswith("system:1: 'a' instead of 'dogs'")
        assert "no more sentences" in error(gold=self.GOLD, system=TAGGED)
        assert error(gold=TAGGED, system=TAGGED, model="en").startswith("unknown field 'model'")
        assert "HEAD" in error(gold=TAGGED.replace("\t0\t", "\t9\t"), system=TAGGED)
        blank = "1\t \t_\t_\t_\t_\t0\troot\t_\t_\n\n"
        assert "FORM is nothing but spaces" in error(gold=blank, system=blank)
