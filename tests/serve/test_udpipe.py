"""UDPipe's interface: its clients must not notice the difference, and nothing they send may break the server."""

from __future__ import annotations

import json
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biplanar import __version__, encode
from biplanar.data.conllu import FEATS, LEMMA, MISC, UPOS, XPOS, Sentence, parse_conllu
from biplanar.pipeline.options import ParseOptions
from biplanar.serve import ServerConfig
from biplanar.serve.documents import ParseAnswer
from biplanar.serve.jobs import Parsing
from biplanar.serve.models import Models
from biplanar.serve.udpipe import process_plan
from tests.serve.conftest import Served, mime_form, serving
from tests.serve.tiny import train_tiny

TEXT = "Nobody came. Why?\n\nBecause it rained."
CONLLU = "1\tNobody\t_\t_\t_\t_\t_\t_\t_\t_\n2\tcame\t_\t_\t_\t_\t_\t_\t_\tNote=x\n"
ORIGIN = f"# generator = Biplanar {__version__}\n# udpipe_model = en\n# udpipe_model_licence = CC BY-SA 4.0\n"


@pytest.fixture
def process(served):
    def process(**fields):
        answer = served.client.post("/process", data=fields)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["access-control-allow-origin"] == "*"
        content = answer.json()
        assert list(content) == ["model", "acknowledgements", "result"]
        assert (content["model"], content["acknowledgements"]) == ("en", [])
        return content["result"]

    return process


def test_models(served):
    for answer in (served.client.get("/models"), served.client.post("/models")):
        assert answer.json() == {"models": {"en": ["tokenizer", "tagger", "parser"]}, "default_model": "en"}
        assert answer.headers["access-control-allow-origin"] == "*"


class TestInputs:
    def test_raw_text(self, process, models):
        result = process(data=TEXT, tokenizer="", tagger="", parser="", model="english")
        assert result == ORIGIN + models.default.parser(TEXT).to_conllu()

    def test_the_tokenizer_wins_over_the_input(self, process):
        assert process(data="a b", tokenizer="", input="vertical", output="vertical") == "a\nb\n\n"
        assert process(data="We go.", input="tokenizer", output="vertical") == "We\ngo\n.\n\n"
        assert process(data="Why? Yes.", input="tokenizer=presegmented", output="horizontal") == "Why ? Yes .\n"

    def test_presegmented(self, process):
        assert (
            process(data="Why? Yes.\nNo.", tokenizer="presegmented;other", output="horizontal") == "Why ? Yes .\nNo .\n"
        )

    def test_ranges(self, process):
        sentences = parse_conllu(process(data="Why?\n\n  I  can't\tgo .", tokenizer="ranges"))
        ranges = {
            line.split("\t")[1]: line.rpartition("TokenRange=")[2]
            for sentence in sentences
            for line in sentence.raw.split("\n")
            if "TokenRange" in line
        }
        assert (ranges["Why"], ranges["?"], ranges["I"], ranges["go"], ranges["."]) == (
            "0:3",
            "3:4",
            "8:9",
            "17:19",
            "20:21",
        )

    def test_conllu(self, process):
        result = process(data=CONLLU, parser="")
        assert result.startswith(ORIGIN)
        assert result.endswith("Note=x\n\n")
        assert parse_conllu(result)[0].tree.heads == (2, 0)

    def test_windows_lines(self, process):
        assert process(data=CONLLU.replace("\n", "\r\n"), parser="") == process(data=CONLLU, parser="")

    def test_horizontal(self, process):
        result = process(data="Nobody came\n\n New\u00a0York  ?\n", input="horizontal", parser="")
        assert [sentence.forms for sentence in parse_conllu(result)] == [["Nobody", "came"], ["New York", "?"]]

    def test_vertical(self, process):
        result = process(data="\nNobody\tx\ncame\n\n\nWhy\n", input="vertical", parser="")
        assert [sentence.forms for sentence in parse_conllu(result)] == [["Nobody", "came"], ["Why"]]

    @pytest.mark.parametrize("data", ["", " \n\n", "\ufeff"])
    @pytest.mark.parametrize("source", ["conllu", "horizontal", "vertical", "tokenizer"])
    def test_nothing(self, process, data, source):
        assert process(data=data, input=source, parser="") == ""

    def test_stages_are_on_by_presence_and_off_by_none(self, process):
        assert parse_conllu(process(data=CONLLU, parser=""))[0].is_parsed
        assert parse_conllu(process(data=CONLLU, parser="anything"))[0].is_parsed
        assert not parse_conllu(process(data=CONLLU))[0].is_parsed
        assert not parse_conllu(process(data=CONLLU, parser="none", tagger="none"))[0].is_parsed


class TestOutputs:
    def test_words(self, process):
        assert process(data=TEXT, tokenizer="", output="horizontal") == "Nobody came .\nWhy ?\nBecause it rained .\n"
        assert process(data="New\u00a0York", input="horizontal", output="horizontal") == "New\u00a0York\n"
        assert process(data="Why?", tokenizer="", output="vertical") == "Why\n?\n\n"

    def test_the_text_again(self, process):
        result = process(data=TEXT, tokenizer="", output="plaintext=normalized_spaces")
        assert [line.rstrip() for line in result.split("\n")] == TEXT.split("\n")

    def test_the_text_again_with_its_spaces(self, process):
        text = " Nobody  came.\n \n\nWhy?\t"
        assert process(data=text, tokenizer="", output="plaintext") == text

    def test_spaces_are_kept_as_misc(self, process):
        (sentence,) = parse_conllu(process(data=" Why ?\n", tokenizer=""))
        assert sentence.column(MISC) == [r"SpacesBefore=\s", r"SpacesAfter=\n"]
        (sentence,) = parse_conllu(process(data=" Why?\n", tokenizer="normalized_spaces"))
        assert sentence.column(MISC) == ["SpaceAfter=No", "_"]
        (sentence,) = parse_conllu(process(data=" Why?\n", tokenizer="normalized_spaces;ranges"))
        assert sentence.column(MISC) == ["SpaceAfter=No|TokenRange=1:4", "TokenRange=4:5"]


class TestClients:
    """What programs send that were written for UDPipe."""

    def test_udpipes_own(self, served, process):
        fields = {"input": "conllu", "output": "conllu", "data": TEXT, "tokenizer": "", "tagger": "", "parser": ""}
        content_type, body = mime_form(fields)
        answer = served.client.post("/process", content=body, headers={"Content-Type": content_type})
        assert answer.json()["result"] == process(**fields)

    def test_a_file(self, served, process):
        fields = {"tokenizer": "", "parser": ""}
        answer = served.client.post("/process", data=fields, files={"data": ("in.txt", TEXT.encode())})
        assert answer.json()["result"] == process(data=TEXT, **fields)

    def test_a_query(self, served, process):
        fields = {"data": TEXT, "tokenizer": "", "parser": ""}
        wanted = process(**fields)
        assert served.client.get("/process", params=fields).json()["result"] == wanted
        assert served.client.post("/process", params=fields).json()["result"] == wanted
        assert served.client.get(f"/process?parser&tokenizer&data={quote(TEXT)}").json()["result"] == wanted

    def test_the_body_wins_over_the_query(self, served):
        answer = served.client.post("/process?data=a&input=horizontal&output=horizontal", data={"data": "b"})
        assert answer.json()["result"] == "b\n"


class TestRefusals:
    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({}, "data: "),
            ({"data": "a", "model": "klingon"}, "unknown model 'klingon' (known: en)\n"),
            ({"data": "a", "input": "epe"}, "unknown input format 'epe'"),
            ({"data": "a", "output": "matxin"}, "unknown output format 'matxin'"),
            ({"data": "a"}, "data:1: expected 10 columns, found 1\n"),
            (
                {"data": "a " * 1001, "input": "horizontal"},
                "a sentence has 1001 words",
            ),
        ],
    )
    def test_as_text(self, served, fields, message):
        answer = served.client.post("/process", data=fields)
        assert answer.status_code == 400
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.text.startswith(message)

    def test_other_bodies(self, served):
        assert served.client.post("/process", json={"data": "a"}).status_code == 415
        assert served.client.put("/process").status_code == 405

    @pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-32", "cp1250"])
    def test_files_in_other_encodings(self, served, encoding):
        files = {"data": ("a.txt", "Příliš žluťoučký kůň".encode(encoding, errors="replace"))}
        answer = served.client.post("/process", data={"tokenizer": "", "parser": ""}, files=files)
        assert answer.status_code in (200, 400)
        if encoding in ("utf-16", "latin-1", "cp1250"):
            assert answer.status_code == 400
            assert answer.text.startswith("data: not UTF-8")


# Words of the tiny treebank, with a multiword token, other tags than the model's, and a tree that it would not find.
GIVEN = """\
# sent_id = x
1\tThe\tLemma\tX\tx\tOdd=Yes\t3\tdep\t_\tHeadProb=0.5
2-3\tcat-sleeps\t_\t_\t_\t_\t_\t_\t_\t_
2\tcat\t_\t_\t_\t_\t1\tdep\t_\tNote=y
3\tsleeps\tLemma\tX\tx\tOdd=Yes\t0\troot\t_\t_

"""
TAG_COLUMNS = (LEMMA, UPOS, XPOS, FEATS)
PREDICTED = [
    ("the", "DET", "de", "_"),
    ("cat", "NOUN", "no", "Number=Sing"),
    ("sleep", "VERB", "ve", "Mood=Ind|VerbForm=Fin"),
]


def tags_of(sentence: Sentence) -> list[tuple[str, ...]]:
    return list(zip(*(sentence.column(number) for number in TAG_COLUMNS), strict=True))


def processed(server: Served, **fields: str) -> list[Sentence]:
    answer = server.client.post("/process", data=fields)
    assert answer.status_code == 200, answer.text
    return parse_conllu(answer.json()["result"])


class TestTagger:
    """The network's output columns, as the tagger that clients of UDPipe know."""

    def test_it_is_listed(self, tagging):
        assert tagging.client.get("/models").json()["models"] == {"columns": ["tokenizer", "tagger", "parser"]}

    def test_raw_text(self, tagging, tagging_models):
        text = "The cat sleeps.\n\nA letter arrived."
        answer = tagging.client.post("/process", data={"data": text, "tokenizer": "", "tagger": "", "parser": ""})
        wanted = tagging_models.default.parser(text).to_conllu()
        assert answer.json()["result"].endswith(wanted)
        assert all(value != "_" for sentence in parse_conllu(wanted) for value in sentence.upos)

    def test_tags_and_trees(self, tagging, tagging_models):
        (sentence,) = processed(tagging, data=GIVEN, tagger="", parser="")
        assert tags_of(sentence) == PREDICTED
        (wanted,) = tagging_models.default.parser.pipe(parse_conllu(GIVEN), retag=True)
        assert sentence.raw.endswith(wanted.raw)

    def test_trees_alone(self, tagging, tagging_models):
        given = parse_conllu(GIVEN)[0]
        (sentence,) = processed(tagging, data=GIVEN, parser="")
        assert tags_of(sentence) == tags_of(given)
        (wanted,) = tagging_models.default.parser.pipe([given], tags=False)
        assert sentence.tree == wanted.tree != given.tree
        (bare,) = processed(tagging, data="The cat sleeps", input="horizontal", parser="")
        assert bare.is_parsed
        assert set(tags_of(bare)) == {("_",) * 4}

    def test_tags_alone(self, tagging):
        given = parse_conllu(GIVEN)[0]
        (sentence,) = processed(tagging, data=GIVEN, tagger="")
        assert sentence.raw.endswith(
            given.with_columns(dict(zip(TAG_COLUMNS, zip(*PREDICTED, strict=True), strict=True))).raw
        )
        (bare,) = processed(tagging, data="The cat sleeps", input="horizontal", tagger="", parser="none")
        assert tags_of(bare) == PREDICTED
        assert not bare.is_parsed

    @pytest.mark.parametrize("fields", [{}, {"tagger": "none"}])
    def test_neither(self, tagging, fields):
        assert processed(tagging, data=GIVEN, **fields)[0].raw.endswith(GIVEN)

    @pytest.mark.parametrize("output", ["horizontal", "vertical", "plaintext"])
    def test_other_outputs_have_no_tags(self, tagging, output):
        fields = {"data": "The cat sleeps.", "tokenizer": "", "output": output}
        answers = [tagging.client.post("/process", data={**fields, **more}) for more in ({}, {"tagger": ""})]
        assert answers[0].json() == answers[1].json()

    def test_words_without_tags_are_parsed_with_those_of_the_other_interface(self, tagging_models):
        body = json.dumps({"words": [["a"]]}).encode()
        other = ParseAnswer(body, tagging_models, ServerConfig()).plan().parsing
        words = {"data": "a", "input": "horizontal", "parser": ""}
        assert process_plan({**words, "tagger": ""}, tagging_models).parsing == other
        assert process_plan(words, tagging_models).parsing != other

    def test_a_model_of_trees_alone_parses_all_together(self, borrowing_models):
        model = borrowing_models.default
        every = [
            model.parsing(ParseOptions(tags=tags, retag=retag)) for tags in (True, False) for retag in (True, False)
        ]
        assert set(every) == {Parsing(model.parser, ParseOptions())}


@pytest.fixture(scope="module")
def borrowing_models(tmp_path_factory) -> Models:
    """A model that needs tags and has UDPipe's tagger for them, if one that has seen little."""
    folder = tmp_path_factory.mktemp("models") / "borrowing"
    return Models.load([str(train_tiny(folder, columns="", encoding="rel-pos", udpipe_tagger=True))])


class TestUdpipesTagger:
    def test_it_is_listed_and_used(self, borrowing_models):
        with serving(borrowing_models) as server:
            assert server.client.get("/models").json()["models"] == {"borrowing": ["tokenizer", "tagger", "parser"]}
            for fields in ({"tagger": ""}, {"tagger": "", "parser": ""}, {"parser": ""}, {"tagger": "none"}):
                (sentence,) = processed(server, data=CONLLU, **fields)
                assert ("_" not in sentence.upos) == (fields.get("tagger") == "")
                assert sentence.is_parsed == ("parser" in fields)

    def test_its_tags_are_those_of_the_parser(self, borrowing_models):
        parser = borrowing_models.default.parser
        with serving(borrowing_models) as server:
            (sentence,) = processed(server, data=GIVEN, tagger="", parser="")
            (wanted,) = parser.pipe(parser.segmenter.tag(parse_conllu(GIVEN)))
            assert sentence.raw.endswith(wanted.raw)


def test_a_model_that_needs_tags_and_predicts_them(tmp_path):
    models = Models.load([str(train_tiny(tmp_path / "positions", columns="upos", encoding="rel-pos"))])
    (wanted,) = models.default.parser([["The", "cat", "sleeps"]])
    with serving(models) as server:
        assert server.client.get("/models").json()["models"] == {"positions": ["tokenizer", "tagger", "parser"]}
        words = {"data": "The cat sleeps", "input": "horizontal"}
        for fields in ({"tagger": "", "parser": ""}, {"parser": ""}):
            (sentence,) = processed(server, **words, **fields)
            assert sentence.tree == wanted.tree
            assert ("_" not in sentence.upos) == ("tagger" in fields)
        (tree,) = server.client.post("/api/parse", json={"words": [wanted.forms]}).json()["sentences"][0]["trees"]
        assert tree["labels"] == [[label] for label, _ in encode(wanted.tree, "rel-pos", upos=wanted.upos)]


FORMATS = st.sampled_from(
    ["conllu", "horizontal", "vertical", "tokenizer", "generic_tokenizer", "plaintext"]
) | st.text(max_size=5)
ROWS = st.lists(
    st.sampled_from(
        ["1", "2", "3", "1-2", "2.1", "a", "_", "\t", "\n", "\n\n", "# x", " ", "\r", "\r\n", "\x00", "é", "\ufeff"]
    )
).map("".join)
ROW = "{}\ta\t_\t_\t_\t_\t{}\t_\t_\t_\n".format
BLOCKS = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 4)).map(lambda pair: ROW(*pair)) | st.just("\n")).map(
    "".join
)
DATA = st.text(max_size=60) | ROWS | BLOCKS | st.text(max_size=5).map(lambda text: text * 400)


class TestFuzz:
    """Whatever is sent, the answer is a result or a refusal, and the server goes on."""

    @settings(max_examples=150)
    @given(
        data=DATA,
        others=st.fixed_dictionaries(
            {},
            optional={
                "input": FORMATS,
                "output": FORMATS,
                "tokenizer": st.sampled_from(["", "presegmented", "ranges", "presegmented;ranges"])
                | st.text(max_size=5),
                "tagger": st.text(max_size=3),
                "parser": st.text(max_size=3),
                "model": st.sampled_from(["", "en", "english"]) | st.text(max_size=3),
            },
        ),
        way=st.sampled_from(["urlencoded", "multipart", "query"]),
    )
    def test_forms(self, served: Served, data: str, others: dict[str, str], way: str):
        if way == "query":
            answer = served.client.get("/process", params={"data": data, **others})
        elif way == "urlencoded":
            answer = served.client.post("/process", data={"data": data, **others})
        else:
            answer = served.client.post("/process", data=others, files={"data": ("x", data.encode())})
        self.check(answer)

    @settings(max_examples=100)
    @given(
        body=st.binary(max_size=200),
        content_type=st.sampled_from(
            [
                "multipart/form-data; boundary=b",
                "application/x-www-form-urlencoded",
                "text/plain",
                "multipart/form-data",
            ]
        )
        | st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=20).map(str.strip),
        fitted=st.booleans(),
    )
    def test_bodies(self, served: Served, body: bytes, content_type: str, fitted: bool):
        if fitted:  # random bytes as the data of a good form
            head = b"--b\r\nContent-Disposition: form-data; name=%s\r\n\r\n"
            body = head % b"tokenizer" + b"\r\n" + head % b"parser" + b"\r\n" + head % b"data" + body + b"\r\n--b--"
            content_type = "multipart/form-data; boundary=b"
        self.check(served.client.post("/process", content=body, headers={"Content-Type": content_type}))

    @settings(max_examples=30)
    @given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
    def test_raw_text_of_any_script(self, served: Served, text: str):
        answer = served.client.post("/process", data={"data": text, "tokenizer": "ranges", "parser": ""})
        assert answer.status_code == 200, answer.text
        self.check(answer)

    def check(self, answer: httpx.Response) -> None:
        assert answer.status_code in (200, 400, 413, 415), answer.text
        if answer.status_code == 200:
            result = answer.json()["result"]
            if result.startswith(ORIGIN):
                assert all(len(sentence) for sentence in parse_conllu(result))

    def test_nothing_went_wrong(self, served: Served):
        assert served.metric("biplanar_errors_total") == 0
