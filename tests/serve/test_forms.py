"""Form fields from bytes: what clients send, and what nobody should."""

from __future__ import annotations

from contextlib import suppress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from biplanar.serve.forms import LONGEST_CONTENT_TYPE, MOST_FIELDS, body_fields, media_type, query_fields
from tests.serve.conftest import mime_form

FIELDS = {"data": "Éva came.\nשלום & 100 % =", "parser": "", "tokenizer": "presegmented;ranges"}


def refused(content_type: str, body: bytes) -> str:
    with pytest.raises(HTTPException) as caught:
        body_fields(content_type, body)
    assert caught.value.status_code in (400, 415)
    return caught.value.detail


class TestBodies:
    def test_urlencoded(self):
        request = httpx.Request("POST", "http://x/", data=FIELDS)
        assert body_fields(request.headers["content-type"], request.read()) == FIELDS

    def test_multipart_with_a_file(self):
        files = {"data": ("name.txt", FIELDS["data"].encode(), "text/plain")}
        others = {name: value for name, value in FIELDS.items() if name != "data"}
        request = httpx.Request("POST", "http://x/", data=others, files=files)
        assert body_fields(request.headers["content-type"], request.read()) == FIELDS

    def test_multipart_by_mail(self):
        assert body_fields(*mime_form(FIELDS)) == {**FIELDS, "data": FIELDS["data"].replace("\n", "\r\n")}

    def test_a_byte_order_mark_is_no_part_of_the_text(self):
        request = httpx.Request("POST", "http://x/", files={"data": ("a", b"\xef\xbb\xbfYes")})
        assert body_fields(request.headers["content-type"], request.read()) == {"data": "Yes"}

    def test_a_preamble_an_epilogue_and_a_boundary_within_a_line(self):
        body = b"before\r\n--b \r\nContent-Disposition: form-data; name=x\r\n\r\n1--b\r\n--b--\r\nafter"
        assert body_fields("multipart/form-data; boundary=b", body) == {"x": "1--b"}

    def test_nothing(self):
        assert body_fields("", b"") == {}
        assert body_fields("multipart/form-data; boundary=b", b"--b--\r\n") == {}

    def test_other_types(self):
        assert refused("application/json", b"{}").endswith("is application/json")
        assert refused("", b"x").endswith("is missing")

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            (b"--c--", "closing boundary"),
            (b"--b\r\nContent-Disposition: form-data; name=x\r\n\r\n1", "closing boundary"),
            (b"--b\r\nno head--b--", "closing boundary"),
            (b"--b\r\nno head\r\n--b--", "no headers"),
            (b"--b\r\nX: 1\r\n\r\n1\r\n--b--", "Content-Disposition"),
            (
                b"--b\r\nContent-Disposition: form-data; name=x\r\n\r\n\xe9\r\n--b--",
                "x: not UTF-8: byte 0xe9",
            ),
            (b"\r\n--b" * (MOST_FIELDS + 9) + b"--", "64 parts"),
        ],
    )
    def test_broken_multipart(self, body, message):
        assert message in refused("multipart/form-data; boundary=b", body)

    def test_no_boundary(self):
        assert "boundary" in refused("multipart/form-data", b"x")

    @pytest.mark.parametrize("encoding", ["idna", "undefined", "punycode", "no-such", "utf-16", "a\0b"])
    def test_encodings_that_do_not_exist_or_fit(self, encoding):
        """Fields, if the name can be read all the same, or a refusal."""
        head = b"--b\r\nContent-Disposition: form-data; name*=" + encoding.encode() + b"''d%ffta\r\n\r\n1\r\n--b--"
        with suppress(HTTPException):
            assert list(body_fields("multipart/form-data; boundary=b", head).values()) == ["1"]
        with pytest.raises(HTTPException) as caught:
            body_fields(f"multipart/form-data; boundary*={encoding}''x", head)
        assert caught.value.status_code == 400

    @pytest.mark.parametrize("encoding", ["idna", "undefined"])
    def test_the_refusal_says_what_is_wrong(self, encoding):
        part = b"--b\r\nContent-Disposition: form-data; name*=undefined''data\r\n\r\n1\r\n--b--"
        assert "field name is in an unknown encoding" in refused("multipart/form-data; boundary=b", part)
        assert "boundary is in an unknown encoding" in refused(f"multipart/form-data; boundary*={encoding}''x", part)

    def test_a_long_content_type(self):
        for content_type in (";" * 60_000, "multipart/form-data; boundary=b" + ";" * LONGEST_CONTENT_TYPE):
            assert "Content-Type" in refused(content_type, b"x")
            with pytest.raises(HTTPException, match="Content-Type"):
                media_type(content_type)

    def test_broken_urlencoded(self):
        kind = "application/x-www-form-urlencoded"
        assert "percent-encoded" in refused(kind, b"data=%E9")
        assert "byte 0xe9" in refused(kind, b"data=\xe9")
        assert "64 fields" in refused(kind, b"a=1&" * 65)

    @given(
        st.sampled_from(["multipart/form-data; boundary=b", 'multipart/form-data; boundary="é"', "multipart/form-data"])
        | st.text(st.characters(codec="latin-1"), max_size=40),
        st.lists(
            st.sampled_from(
                [b"--b", b"--", b"\r\n", b"\n", b"Content-Disposition: form-data; name=", b'"x"', b"*=u''%e9"]
            )
            | st.binary(max_size=8)
        ).map(b"".join),
    )
    def test_anything_gives_fields_or_a_refusal(self, content_type, body):
        with suppress(HTTPException):
            fields = body_fields(content_type, body)
            assert all(isinstance(text, str) for pair in fields.items() for text in pair)


def test_queries():
    assert query_fields(b"data=a+b%20c&parser&parser=") == {"data": "a b c", "parser": ""}
    with pytest.raises(HTTPException):
        query_fields(b"data=%ff")


def test_media_types():
    assert media_type("Application/JSON; charset=utf-8") == "application/json"
    assert media_type("") == ""
