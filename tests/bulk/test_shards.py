"""Shards: files in pieces, and a folder that gets one file for each."""

from __future__ import annotations

import io
import json
from itertools import count
from pathlib import Path

import pytest

from biplanar.bulk import EngineConfig, Plan, Source, ThisProcess, make_engine, parse_files
from biplanar.bulk.pieces import cut_file
from biplanar.bulk.shards import named_files
from biplanar.data.conllu import read_conllu
from biplanar.data.files import INPUTS
from biplanar.errors import BiplanarError, FileError, FormatError
from tests.bulk.corpus import CONLLU, CONTENT, RICH, TEXT, task_of

UNUSUAL = {
    "conllu": "\n\n\ufeff" + CONLLU.replace("\n", "\r\n") + "\r\n \r\n" + RICH,
    "text": "\ufeff \n\tNobody  came.\r\n \r\nWhy?\u2028Yes.\x0c\n\n\n" * 30
    + "It\xa0rained.\t\n \n\u2009No\n\n한국어.\n\n" * 9,
    "lines": "\ufeff \nNobody  came.\r\n \r\nWhy?\x0c\n\n\n" * 30 + "It\xa0rained.\n \n\u2009No\n\n한국어.\n" * 9,
}
TASK = task_of(decoder="greedy")


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


class TestPieces:
    @pytest.mark.parametrize("kind", [*INPUTS, "jsonl"])
    def test_they_are_the_file_and_of_bounded_size(self, tmp_path, kind):
        (tmp_path / "x").write_text(CONTENT.get(kind, "{}\n" * 2000) * 3)
        pieces = cut_file(str(tmp_path / "x"), kind, 1000)
        assert b"".join(piece.read() for piece in pieces) == (tmp_path / "x").read_bytes()
        assert len(pieces) > 4
        assert max(piece.size for piece in pieces) < 2000

    def test_no_piece_begins_within_a_sentence(self, tmp_path):
        (tmp_path / "x").write_text(CONLLU)
        for piece in cut_file(str(tmp_path / "x"), "conllu", 100):
            assert piece.read().startswith(b"# x = ")

    @pytest.mark.parametrize("text", ["", "\n \n", "one line", "\n\n\n\n\n\nA b c.\n\n\n\n\n\n\n"])
    def test_what_cannot_be_cut_is_one_piece(self, tmp_path, text):
        (tmp_path / "x").write_text(text)
        assert b"".join(piece.read() for piece in cut_file(str(tmp_path / "x"), "text", 2)) == text.encode()
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
        first = [next(halfway).shard.piece for _ in range(2)]
        halfway.close()
        assert bool(shards_in(tmp_path / "out")) == (kind == "conllu")  # numbers are known when all is parsed
        again = [result.shard.piece for result in plan().run(ThisProcess())]
        assert sorted(map(str, first + again)) == sorted(str(shard.piece) for shard in plan().shards)
        assert joined(tmp_path / "out") == in_one(source)
        assert list(plan().run(ThisProcess())) == []

    def test_numbering_goes_on_where_it_ended(self, tmp_path, monkeypatch):
        (tmp_path / "x.txt").write_text(TEXT)
        plan = Plan.of(Source((tmp_path / "x.txt",)), tmp_path / "out", TASK, size=1 + len(TEXT) // 4)
        calls = count(1)
        monkeypatch.setattr(
            "biplanar.bulk.shards.shift_numbers", lambda data, _: data if next(calls) < 3 else no_more()
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
        with pytest.raises(BiplanarError, match=r"expected the options of the shards in this folder, .*greedy"):
            Plan.of(source, tmp_path / "out", task_of(decoder="paper"))
        with pytest.raises(BiplanarError, match=r"expected the shard_size of the shards in this folder, \d+, found 5;"):
            Plan.of(source, tmp_path / "out", TASK, size=5)

    def test_errors_name_the_line_of_the_file(self, tmp_path):
        for bad in (b"1\tx\n\n", b"# \xff\n1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"):
            (tmp_path / "x.conllu").write_bytes(CONLLU.encode() + bad + CONLLU.encode())
            source = Source((tmp_path / "x.conllu",))
            with pytest.raises(BiplanarError) as whole:
                in_one(source)
            plan = Plan.of(source, tmp_path / "out", TASK, size=len(CONLLU.encode()) // 2)
            with pytest.raises(BiplanarError) as cut:
                list(plan.run(ThisProcess()))
            assert str(cut.value) == str(whole.value)
            assert f"x.conllu:{CONLLU.count(chr(10)) + 1}: " in str(cut.value)
        assert 0 < len(shards_in(tmp_path / "out")) < len(plan.shards)

    def test_bad_requests(self, tmp_path):
        (tmp_path / "x.conllu").write_text(CONLLU)
        (tmp_path / "x.txt").write_text(TEXT)
        both = Source((tmp_path / "x.conllu", tmp_path / "x.txt"))
        with pytest.raises(BiplanarError, match=r"x.conllu: expected one input for it, found .*x.conllu and .*x.txt"):
            Plan.of(both, tmp_path / "out", TASK)
        with pytest.raises(BiplanarError, match=r"expected conllu, .*found json"):
            Plan.of(both, tmp_path / "out", TASK, ending="json")
        for source in (Source(), Source(text="Yes.")):
            with pytest.raises(BiplanarError, match="expected files, found a text or standard input"):
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
        with pytest.raises(FileError, match="expected files to parse, found none in this folder"):
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
    def test_each_is_a_document(self, tmp_path, kind):
        path = self.write(tmp_path, kind, [{"text": text, "id": f"d{i}"} for i, text in enumerate(self.DOCUMENTS * 4)])
        whole = in_one(Source((path,)))
        (tmp_path / "y.conllu").write_bytes(whole)
        ids = [sentence.comment("sent_id") for sentence in read_conllu(tmp_path / "y.conllu")]
        assert ids[:6] == ["d0-1", "d0-2", "d0-3", "d1-1", "d3-1", "d4-1"]
        assert whole.count(b"# newdoc id = d") == 12
        plan = Plan.of(Source((path,)), tmp_path / "out", TASK, size=200)
        list(plan.run(ThisProcess()))
        assert len(plan.shards) > 3
        assert joined(tmp_path / "out") == whole

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
            ("{", "expected a JSON object, found Expecting"),
            ("[1]", "expected a JSON object, found list"),
            ("{}", "expected a text as 'text', found none"),
            ('{"text": 1}', "expected a text as 'text', found int"),
        ],
    )
    def test_bad_lines(self, tmp_path, line, message):
        (tmp_path / "x.jsonl").write_text(f'{{"text": "Yes."}}\n\n{line}\n')
        with pytest.raises(FormatError, match=rf"x.jsonl:3: {message}"):
            in_one(Source((tmp_path / "x.jsonl",)))

    def test_no_parquet(self, tmp_path):
        (tmp_path / "x.parquet").write_text("no\n")
        with pytest.raises(FileError, match=r"x.parquet: expected a Parquet file, found "):
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
