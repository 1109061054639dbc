"""Shards: files in ranges, and a folder that gets one file for each."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from biplanar.bulk import EngineConfig, Plan, Source, ThisProcess, make_engine, parse_files
from biplanar.bulk.ranges import cut_file
from biplanar.bulk.shards import named_files
from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.formats import INPUTS
from biplanar.errors import BiplanarError, FileError, FormatError
from biplanar.pipeline.model_folder import ModelFolder
from tests.bulk.corpus import CONLLU, CONTENT, RICH, SENTENCES, TEXT, task_of
from tests.commands import check_refused_with

UNUSUAL = {
    "conllu": "\n\n\ufeff" + CONLLU.replace("\n", "\r\n") + "\r\n \r\n" + RICH,
    "text": "\ufeff \n\tNobody  came.\r\n \r\nWhy?\u2028Yes.\x0c\n\n\n" * 30
    + "It\xa0rained.\t\n \n\u2009No\n\n한국어.\n\n" * 9,
    "lines": "\ufeff \nNobody  came.\r\n \r\nWhy?\x0c\n\n\n" * 30 + "It\xa0rained.\n \n\u2009No\n\n한국어.\n" * 9,
}
TASK = task_of(decoder="greedy")

WORDS = [words[:6] for words in SENTENCES[:12]]
SMALL = {
    "conllu": "".join(Sentence.from_words(words).raw for words in WORDS),
    "text": "\n\n".join(" ".join(words) for words in WORDS),
    "lines": "\n".join(" ".join(words) for words in WORDS),
    "horizontal": "\n".join(" ".join(words) for words in WORDS),
    "vertical": "\n\n".join("\n".join(words) for words in WORDS),
    "jsonl": "".join(f"{json.dumps({'text': ' '.join(words)})}\n" for words in WORDS),
}


def in_one(source: Source, **settings: object) -> bytes:
    stream = io.BytesIO()
    parse_files(source, stream, task_of(**{"decoder": "greedy"} | settings))
    return stream.getvalue()


def shards_in(folder) -> list:
    """All files but hidden ones and those in hidden folders."""
    paths = [path for path in folder.rglob("*") if not any(part[0] == "." for part in path.relative_to(folder).parts)]
    return sorted(path for path in paths if path.is_file())


def joined(folder) -> bytes:
    return b"".join(path.read_bytes() for path in shards_in(folder))


class TestRanges:
    @pytest.mark.parametrize("kind", [*INPUTS, "jsonl"])
    def test_they_are_the_file_and_of_bounded_size(self, tmp_path, kind):
        (tmp_path / "x").write_text(CONTENT.get(kind, "{}\n" * 2000) * 3)
        ranges = cut_file(str(tmp_path / "x"), kind, 1000)
        assert b"".join(b"".join(part.buffers()) for part in ranges) == (tmp_path / "x").read_bytes()
        assert len(ranges) > 4
        assert max(part.size for part in ranges) < 2000

    def test_no_piece_begins_within_a_sentence(self, tmp_path):
        (tmp_path / "x").write_text(CONLLU)
        for part in cut_file(str(tmp_path / "x"), "conllu", 100):
            assert b"".join(part.buffers()).startswith(b"# x = ")

    @pytest.mark.parametrize("text", ["", "\n \n", "one line", "\n\n\n\n\n\nA b c.\n\n\n\n\n\n\n"])
    def test_what_cannot_be_cut_is_one_range(self, tmp_path, text):
        (tmp_path / "x").write_text(text)
        assert b"".join(b"".join(part.buffers()) for part in cut_file(str(tmp_path / "x"), "text", 2)) == text.encode()
        assert len(cut_file(str(tmp_path / "x"), "text", 2)) == 1

    def test_compressed_files_and_other_encodings_stay_whole(self, tmp_path):
        for name, encoding in (("x.gz", "utf-8"), ("x", "utf-16")):
            (tmp_path / name).write_bytes(TEXT.encode(encoding))
            assert len(cut_file(str(tmp_path / name), "text", 100, text_encoding=encoding)) == 1

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(FileError, match=r"x: No such file"):
            cut_file(str(tmp_path / "x"), "text", 100)


class TestShards:
    @pytest.mark.parametrize(
        ("kind", "content", "ranges"),
        [
            *((kind, CONTENT[kind], False) for kind in INPUTS),
            *((kind, text, kind != "conllu") for kind, text in UNUSUAL.items()),
        ],
    )
    def test_one_after_the_other_they_are_what_one_process_writes(self, tmp_path, kind, content, ranges):
        (tmp_path / "x.txt").write_bytes(content.encode())
        source = Source((tmp_path / "x.txt",), kind, ranges=ranges)
        plan = Plan.of(source, tmp_path / "out", TASK, size=len(content.encode()) // 5)
        assert sum(result.sentences for result in plan.run(ThisProcess())) > 20
        assert len(shards_in(tmp_path / "out")) >= 3
        assert joined(tmp_path / "out") == in_one(source)
        assert [path.name for path in (tmp_path / "out").glob(".*")] == [".plan.json"]

    @pytest.mark.parametrize(
        ("file_format", "line_end"),
        [
            (file_format, line_end)
            for file_format in (*INPUTS, "jsonl")
            for line_end in ("\n", "\r\n", "\r")
            if line_end != "\r" or file_format not in ("conllu", "jsonl")  # of which it would make one line
        ],
    )
    @pytest.mark.usefixtures("loaded_once")
    def test_every_format_line_end_and_size_gives_the_same_bytes(self, tmp_path, file_format, line_end):
        text = SMALL[file_format]
        (tmp_path / "x").write_bytes(text.replace("\n", line_end).encode())
        source = Source((tmp_path / "x",), file_format)
        whole = in_one(source)
        for size in (60, 150, 10**6):
            plan = Plan.of(source, tmp_path / f"out{size}", TASK, size=size)
            list(plan.run(ThisProcess()))
            assert (len(plan.shards) > 1) == (size < 10**6 and line_end != "\r")
            assert joined(plan.folder) == whole
        if file_format in ("horizontal", "vertical", "jsonl") and line_end != "\r":  # the others keep their line ends
            (tmp_path / "x").write_text(text)
            assert in_one(source) == whole

    def test_names_sort_and_say_of_how_many(self, tmp_path):
        (tmp_path / "a.conllu").write_text(CONLLU)
        (tmp_path / "b.txt").write_text("Nobody came.\n")
        source = Source((tmp_path / "a.conllu", tmp_path / "b.txt"))
        plan = Plan.of(source, tmp_path / "out", TASK, size=1 + len(CONLLU.encode()) // 2)
        names = ["a-00000-of-00002.conllu", "a-00001-of-00002.conllu", "b.conllu"]
        assert [Path(shard.path).name for shard in plan.shards] == names
        list(plan.run(ThisProcess()))
        assert [path.name for path in shards_in(tmp_path / "out")] == names

    def test_workers_write_the_same(self, tmp_path):
        (tmp_path / "x.txt").write_text(TEXT)
        for name, engine in (("one", ThisProcess()), ("two", make_engine(EngineConfig(2)))):
            list(Plan.of(Source((tmp_path / "x.txt",)), tmp_path / name, TASK, size=1 + len(TEXT) // 4).run(engine))
        assert joined(tmp_path / "one") == joined(tmp_path / "two") == in_one(Source((tmp_path / "x.txt",)))
        names = [[path.name for path in shards_in(tmp_path / name)] for name in ("one", "two")]
        assert names[0] == names[1]
        assert len(names[0]) == 4

    @pytest.mark.parametrize("kind", ["conllu", "text"])
    def test_only_what_is_not_there_is_done_again(self, tmp_path, kind):
        (tmp_path / "x").write_text(CONTENT[kind])
        source, size = Source((tmp_path / "x",), kind), len(CONTENT[kind].encode()) // 6

        def plan() -> Plan:
            return Plan.of(source, tmp_path / "out", TASK, size=size)

        halfway = plan().run(ThisProcess())
        first = [next(halfway).shard.range for _ in range(2)]
        halfway.close()
        assert bool(shards_in(tmp_path / "out")) == (kind == "conllu")  # numbers are known when all is parsed
        again = [result.shard.range for result in plan().run(ThisProcess())]
        assert sorted(map(str, first + again)) == sorted(str(shard.range) for shard in plan().shards)
        assert joined(tmp_path / "out") == in_one(source)
        assert list(plan().run(ThisProcess())) == []

    def test_numbering_goes_on_where_it_ended(self, tmp_path, monkeypatch):
        (tmp_path / "x.txt").write_text(TEXT)
        plan = Plan.of(Source((tmp_path / "x.txt",)), tmp_path / "out", TASK, size=1 + len(TEXT) // 4)
        calls = count(1)
        monkeypatch.setattr(
            "biplanar.bulk.shards.with_ids", lambda data, _: (data, 0) if next(calls) < 3 else no_more()
        )
        with pytest.raises(FileError, match="no more"):
            list(plan.run(ThisProcess()))
        monkeypatch.undo()
        finished = shards_in(tmp_path / "out")
        assert 0 < len(finished) < 4
        finished[0].write_bytes(b"as it was\n")
        list(plan.run(ThisProcess()))
        assert len(shards_in(tmp_path / "out")) == 4
        assert finished[0].read_bytes() == b"as it was\n"

    def test_another_way_to_make_them_is_refused(self, tmp_path):
        (tmp_path / "x.conllu").write_text(CONLLU)
        source = Source((tmp_path / "x.conllu",))
        list(Plan.of(source, tmp_path / "out", TASK).run(ThisProcess()))
        with pytest.raises(BiplanarError, match="an option was changed"):
            Plan.of(source, tmp_path / "out", task_of(decoder="paper"))
        with pytest.raises(BiplanarError, match="--shard-size was changed"):
            Plan.of(source, tmp_path / "out", TASK, size=5)

    def test_changed_inputs_and_foreign_files_are_refused_or_replaced(self, tmp_path):
        (tmp_path / "x.txt").write_text(TEXT)
        source, out = Source((tmp_path / "x.txt",)), tmp_path / "out"

        def plan(size: int = 10**6, **options: object) -> Plan:
            return Plan.of(source, out, TASK, size=size, **options)

        out.mkdir()
        (out / "x.conllu").write_text("mine")
        with pytest.raises(FileError, match=r"x.conllu exists already.*--overwrite"):
            plan()
        assert [path.name for path in out.iterdir()] == ["x.conllu"]
        list(plan(1 + len(TEXT) // 3, overwrite=True).run(ThisProcess()))
        assert len(shards_in(out)) == 4
        list(plan(overwrite=True).run(ThisProcess()))
        list(plan(1 + len(TEXT) // 3, overwrite=True).run(ThisProcess()))
        (out / "x.conllu").unlink(missing_ok=True)
        assert [path.name for path in shards_in(out)] == [f"x-0000{i}-of-00003.conllu" for i in range(3)]
        (tmp_path / "x.txt").write_text(TEXT + "More.\n")
        with pytest.raises(BiplanarError, match=r"x.txt was changed.*--overwrite"):
            plan(1 + len(TEXT) // 3)

    def test_a_changed_model_is_noticed(self, tmp_path):
        (tmp_path / "x.conllu").write_text(CONLLU)
        model = shutil.copytree(ModelFolder.find(None).path, tmp_path / "model")
        source, task = Source((tmp_path / "x.conllu",)), replace(TASK, model=model)
        Plan.of(source, tmp_path / "out", task)
        Plan.of(source, tmp_path / "out", task)
        (model / "config.toml").write_text((model / "config.toml").read_text() + "\n")
        with pytest.raises(BiplanarError, match="the model was changed"):
            Plan.of(source, tmp_path / "out", task)

    @pytest.mark.parametrize("plan", ["", "[]", "{", '{"settings": 1}', '{"settings": {}, "inputs": {}}', "[" * 10**5])
    def test_a_damaged_plan(self, tmp_path, plan):
        (tmp_path / "x.conllu").write_text(CONLLU)
        (tmp_path / ".plan.json").write_text(plan)
        source = Source((tmp_path / "x.conllu",))
        with pytest.raises(FileError, match=r".plan.json: damaged"):
            Plan.of(source, tmp_path, TASK, ending="parquet")
        assert Plan.of(source, tmp_path, TASK, ending="parquet", overwrite=True).unfinished()

    def test_the_folder_of_the_input(self, tmp_path):
        (tmp_path / "x.conllu").write_text(CONLLU)
        for overwrite in (False, True):
            with pytest.raises(BiplanarError, match=r"x.conllu is an input"):
                Plan.of(Source((tmp_path / "x.conllu",)), tmp_path, TASK, overwrite=overwrite)
        assert (tmp_path / "x.conllu").read_text() == CONLLU

    def test_a_file_in_place_of_the_folder(self, tmp_path, run):
        (tmp_path / "x.txt").write_text(TEXT)
        (tmp_path / "out").touch()
        for folder in (tmp_path / "out", tmp_path / "out" / "more"):
            check_refused_with(run("parse", tmp_path / "x.txt", "--output-dir", folder), f"{tmp_path / 'out'}")

    def test_errors_name_the_line_of_the_file(self, tmp_path):
        for bad in (b"1\tx\n\n", b"# \xff\n1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"):
            (tmp_path / "x.conllu").write_bytes(CONLLU.encode() + bad + CONLLU.encode())
            source = Source((tmp_path / "x.conllu",))
            with pytest.raises(BiplanarError) as whole:
                in_one(source)
            plan = Plan.of(source, tmp_path / "out", TASK, size=len(CONLLU.encode()) // 2, overwrite=True)
            with pytest.raises(BiplanarError) as cut:
                list(plan.run(ThisProcess()))
            assert str(cut.value) == str(whole.value)
            assert f"x.conllu:{CONLLU.count(chr(10)) + 1}: " in str(cut.value)
        assert 0 < len(shards_in(tmp_path / "out")) < len(plan.shards)

    def test_bad_requests(self, tmp_path):
        (tmp_path / "x.conllu").write_text(CONLLU)
        (tmp_path / "x.txt").write_text(TEXT)
        both = Source((tmp_path / "x.conllu", tmp_path / "x.txt"))
        with pytest.raises(BiplanarError, match=r"for both .*x.conllu and .*x.txt"):
            Plan.of(both, tmp_path / "out", TASK)
        with pytest.raises(BiplanarError, match="cannot write json"):
            Plan.of(both, tmp_path / "out", TASK, ending="json")
        for source in (Source(), Source(text="Yes.")):
            with pytest.raises(BiplanarError, match="--text or standard input"):
                Plan.of(source, tmp_path / "out", TASK)
        assert not (tmp_path / "out").exists()


def no_more() -> bytes:
    raise OSError("no more")


class TestFolders:
    def test_all_files_but_hidden_ones_and_those_of_the_output(self, tmp_path):
        for name in ("b.txt", "a/c.txt", ".hidden", "a/.git/x", "out/a.conllu"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("Nobody came.\n")
        assert [name for name, _ in named_files([tmp_path], outside=tmp_path / "out")] == ["a/c.txt", "b.txt"]
        plan = Plan.of(Source((tmp_path,)), tmp_path / "out", TASK)
        list(plan.run(ThisProcess()))
        found = {str(path.relative_to(tmp_path)) for path in shards_in(tmp_path / "out")}
        assert found == {"out/a/c.conllu", "out/b.conllu", "out/a.conllu"}

    def test_an_empty_one(self, tmp_path):
        with pytest.raises(FileError, match="no files"):
            list(named_files([tmp_path]))


class TestRecords:
    DOCUMENTS = ("Nobody came. Why?\n\nYes.", "It rained.", "", "한국어 — a language.")

    def write(self, tmp_path, kind: str, rows: list[dict[str, object]]) -> str:
        path = tmp_path / f"x.{kind}"
        if kind == "jsonl":
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=3)
        return str(path)

    @pytest.mark.parametrize("kind", ["jsonl", "parquet"])
    @pytest.mark.usefixtures("loaded_once")
    def test_each_is_a_document(self, tmp_path, kind):
        path = self.write(tmp_path, kind, [{"text": text, "id": f"d{i}"} for i, text in enumerate(self.DOCUMENTS * 4)])
        whole = in_one(Source((path,)))
        (tmp_path / "y.conllu").write_bytes(whole)
        ids = [sentence.comment("sent_id") for sentence in read_conllu(tmp_path / "y.conllu")]
        assert ids[:6] == ["d0-1", "d0-2", "d0-3", "d1-1", "d3-1", "d4-1"]
        assert whole.count(b"# newdoc id = d") == 12
        for size in (60, 200, 10**6):
            plan = Plan.of(Source((path,)), tmp_path / f"out{size}", TASK, size=size)
            list(plan.run(ThisProcess()))
            assert len(plan.shards) == 1 if size == 10**6 else len(plan.shards) > 3
            assert joined(plan.folder) == whole

    @pytest.mark.parametrize("kind", ["jsonl", "parquet"])
    def test_those_without_an_id_are_called_by_their_number(self, tmp_path, kind):
        path = self.write(tmp_path, kind, [{"body": text} for text in self.DOCUMENTS * 4])
        whole = in_one(Source((path,), column="body"))
        assert b"# sent_id = 14-1\n# text = It rained." in whole
        plan = Plan.of(Source((path,), column="body"), tmp_path / "out", TASK, size=100)
        list(plan.run(ThisProcess()))
        assert joined(tmp_path / "out") == whole

    @pytest.mark.parametrize("kind", ["jsonl", "parquet"])
    def test_conllu_in_them(self, tmp_path, kind):
        sentences = CONLLU.removesuffix("\n\n").split("\n\n")
        path = self.write(tmp_path, kind, [{"text": "not this", "conllu": one} for one in sentences])
        (tmp_path / "y.conllu").write_text(CONLLU)
        assert in_one(Source((path,))) == in_one(Source((tmp_path / "y.conllu",)))

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("{", "not a JSON object: Expecting"),
            ("[1]", "not a JSON object but list"),
            ("{}", "the field 'text' is missing"),
            ('{"text": 1}', "the field 'text' is int"),
        ],
    )
    def test_bad_lines(self, tmp_path, line, message):
        (tmp_path / "x.jsonl").write_text(f'{{"text": "Yes."}}\n\n{line}\n')
        with pytest.raises(FormatError, match=rf"x.jsonl:3: {message}"):
            in_one(Source((tmp_path / "x.jsonl",)))

    BAD = (
        (b"[" * 10**5, "not a JSON object"),
        (b'{"text": "a", "id": ' + b"1" * 5000 + b"}", "not a JSON object"),
        (b'{"text": "a", "id": "\\ud800"}', "the field 'id' has a lone surrogate"),
        (b'{"text": "\xff"}', "not UTF-8 text"),
        (b'{"conllu": "1\\tx"}', "line 1 of its CoNLL-U: expected 10 columns"),
        (b"{}", "the field 'text' is missing"),
    )

    @pytest.mark.parametrize(("bad", "message"), BAD, ids=range(len(BAD)))
    @pytest.mark.usefixtures("loaded_once")
    def test_bad_records_stop_or_are_skipped(self, tmp_path, bad, message):
        (tmp_path / "x.jsonl").write_bytes(b'{"text": "Yes."}\n' * 20 + bad + b'\n{"text": "No."}\n')
        source = Source((tmp_path / "x.jsonl",))
        for size in (100, 10**6):
            plan = Plan.of(source, tmp_path / f"stop{size}", TASK, size=size)
            with pytest.raises(FormatError, match=r"x.jsonl:21:"):
                list(plan.run(ThisProcess()))
            plan = Plan.of(replace(source, on_error="skip"), tmp_path / f"skip{size}", TASK, size=size)
            (skipped,) = [one for result in plan.run(ThisProcess()) for one in result.skipped]
            assert f"x.jsonl:21: {message}" in skipped
            assert joined(plan.folder).count(b"# text = ") == 21

    def test_the_command_reports_what_it_skips(self, tmp_path, run):
        (tmp_path / "x.jsonl").write_text('{"text": "Yes."}\n{}\n')
        result = run("parse", tmp_path / "x.jsonl", "--on-error", "skip", "-o", tmp_path / "y.conllu")
        assert result.code == 0
        assert f"skipped {tmp_path / 'x.jsonl'}:2: " in result.err
        check_refused_with(run("parse", tmp_path / "x.jsonl", "--on-error", "sikp"), "did you mean 'skip'")

    def test_damaged_parquet(self, tmp_path):
        import pyarrow as pa
        import pyarrow.parquet as pq

        source, path = Source((tmp_path / "x.parquet",)), tmp_path / "x.parquet"
        texts = pa.Array.from_buffers(pa.string(), 2, [*pa.array(["a", "b"]).buffers()[:2], pa.py_buffer(b"\xffb")])
        pq.write_table(pa.table({"text": texts}), path)
        with pytest.raises(FormatError, match=r"x.parquet:1: not UTF-8"):
            in_one(source)
        assert in_one(replace(source, on_error="skip")).count(b"# text = ") == 1
        pq.write_table(pa.table({"text": ["Nobody came."] * 1000}), path, compression="snappy")
        data = bytearray(path.read_bytes())
        data[4:60] = b"\xff" * 56
        path.write_bytes(data)
        with pytest.raises(FileError, match=r"x.parquet: no Parquet file, or a damaged one"):
            parse_files(source, tmp_path / "y.conllu", TASK)
        assert not (tmp_path / "y.conllu").exists()

    def test_no_parquet(self, tmp_path):
        (tmp_path / "x.parquet").write_text("no\n")
        with pytest.raises(FileError, match=r"x.parquet: no Parquet file"):
            Plan.of(Source((tmp_path / "x.parquet",)), tmp_path / "out", TASK)


class TestParquetOutput:
    @pytest.mark.parametrize("kind", ["conllu", "text"])
    def test_a_row_a_sentence(self, tmp_path, kind):
        import pyarrow.parquet as pq

        (tmp_path / "x").write_text((RICH + "\n" + CONLLU) if kind == "conllu" else TEXT)
        source = Source((tmp_path / "x",), kind)
        list(Plan.of(source, tmp_path / "out", TASK, ending="parquet", size=500).run(ThisProcess()))
        assert len(shards_in(tmp_path / "out")) > 2
        rows = pq.read_table(tmp_path / "out").to_pylist()
        whole = in_one(source)
        assert "".join(row["conllu"] for row in rows).encode() == whole
        (tmp_path / "y.conllu").write_bytes(whole)
        for row, sentence in zip(rows, read_conllu(tmp_path / "y.conllu"), strict=True):
            assert (row["sent_id"], row["text"]) == (sentence.comment("sent_id"), sentence.comment("text"))
            assert [row["form"], row["head"], row["upos"]] == [sentence.forms, sentence.heads, sentence.upos]

    def test_documents_have_their_ids(self, tmp_path, monkeypatch):
        import pyarrow.parquet as pq

        monkeypatch.setattr("biplanar.bulk.tables.ROW_GROUP", 1)
        rows = [{"id": "a", "text": "Yes. No."}, {"id": "b", "conllu": CONLLU}, {"text": "Yes."}]
        (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        parse_files(Source((tmp_path / "x.jsonl",)), tmp_path / "y.parquet", replace(TASK, format="parquet"))
        found = pq.read_table(tmp_path / "y.parquet").column("doc_id").to_pylist()
        assert found == ["a"] * 2 + ["b"] * len(SENTENCES) + ["3"]
