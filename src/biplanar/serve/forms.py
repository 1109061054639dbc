"""The fields of HTML forms, from a query or a body in memory: nothing is written to files."""

from __future__ import annotations

from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import collapse_rfc2231_value
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import parse_qsl

from biplanar.serve.responses import refusal

MOST_FIELDS = 64
LONGEST_HEAD = 4096  # bytes of the headers of one part
LONGEST_CONTENT_TYPE = 1000  # characters; the time to read one grows with the square of its length

# Raised for a parameter in an encoding that is unknown or does not fit (`boundary*=idna''x`).
ENCODING_ERRORS = (LookupError, ValueError)

MULTIPART, URLENCODED = "multipart/form-data", "application/x-www-form-urlencoded"

Fields = dict[str, str]


def query_fields(query: bytes) -> Fields:
    """The fields of a query string; one without a value is empty."""
    return _urlencoded("query", query)


def body_fields(content_type: str, body: bytes) -> Fields:
    """The fields of a body; an empty body has none."""
    if not body:
        return {}
    header = _header(content_type)
    kind = header.get_content_type() if content_type else "missing"
    if kind == URLENCODED:
        return _urlencoded("body", body)
    if kind == MULTIPART:
        return _multipart(header, body)
    message = f"Content-Type: must be {MULTIPART} or {URLENCODED}, but is {kind}"
    raise refusal(message, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)


def media_type(content_type: str) -> str:
    """A Content-Type without its parameters."""
    return _header(content_type).get_content_type() if content_type else ""


def _header(content_type: str) -> Message:
    if len(content_type) > LONGEST_CONTENT_TYPE:
        raise refusal(f"Content-Type: longer than {LONGEST_CONTENT_TYPE} characters")
    header = Message()
    header["Content-Type"] = content_type
    return header


def _urlencoded(name: str, data: bytes) -> Fields:
    text = _decoded(name, data)
    try:
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except UnicodeDecodeError:
        raise refusal(f"{name}: percent-encoded bytes are not UTF-8") from None
    except ValueError:
        raise refusal(f"{name}: more than {MOST_FIELDS} fields") from None


def _decoded(name: str, data: bytes) -> str:
    """Text of a field, without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refusal(f"{name}: not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}") from error


def _multipart(header: Message, body: bytes) -> Fields:
    try:
        boundary = (header.get_boundary() or "").encode(errors="replace")
    except ENCODING_ERRORS:
        raise refusal("body: the boundary is in an unknown encoding") from None
    if not boundary:
        raise refusal("body: the Content-Type names no boundary")
    # A boundary stands on a line of its own, also if that is the first.
    between = b"\r\n--" + boundary
    _, *parts = (b"\r\n" + body).split(between, MOST_FIELDS + 1)
    if len(parts) > MOST_FIELDS:
        raise refusal(f"body: more than {MOST_FIELDS} parts")
    if not parts or not parts[-1].startswith(b"--"):
        raise refusal("body: the closing boundary is missing")
    return dict(_part(part) for part in parts[:-1])


def _part(part: bytes) -> tuple[str, str]:
    head, blank, content = part.partition(b"\r\n\r\n")
    if not blank or len(head) > LONGEST_HEAD:
        raise refusal(f"body: a part has no headers, or more than {LONGEST_HEAD} bytes of them")
    field = _part_name(head)
    return field, _decoded(field, content)


@lru_cache(maxsize=256)
def _part_name(head: bytes) -> str:
    """The name of a field; clients send the same few again and again."""
    headers = BytesHeaderParser().parsebytes(head.lstrip(b" \t").removeprefix(b"\r\n"))
    name = headers.get_param("name", header="content-disposition")
    if name is None:
        raise refusal("body: a part has no name in its Content-Disposition")
    try:
        return collapse_rfc2231_value(name)
    except ENCODING_ERRORS:
        raise refusal("body: a field name is in an unknown encoding") from None
