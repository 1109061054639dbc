"""The fields of HTML forms, from a query or a body that is all in memory: nothing is ever put into files."""

from __future__ import annotations

from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import collapse_rfc2231_value
from http import HTTPStatus
from urllib.parse import parse_qsl

from biplanar.serve.refusals import decoded, refusal

MOST_FIELDS = 64
LONGEST_HEAD = 4096  # bytes of the headers of one part
LONGEST_CONTENT_TYPE = 1000  # characters; the time to read one grows with the square of its length

# What comes of an encoding that a parameter names (`boundary*=idna''x`) and that does not exist or fit.
ENCODING_ERRORS = (LookupError, ValueError)

MULTIPART, URLENCODED = "multipart/form-data", "application/x-www-form-urlencoded"

Fields = dict[str, str]


def query_fields(query: bytes) -> Fields:
    """The fields behind the question mark of an address; one without a value is an empty string."""
    return _urlencoded("query", query)


def body_fields(content_type: str, body: bytes) -> Fields:
    """The fields of a body, of which there may be none."""
    if not body:
        return {}
    header = _header(content_type)
    kind = header.get_content_type() if content_type else "nothing"
    if kind == URLENCODED:
        return _urlencoded("body", body)
    if kind == MULTIPART:
        return _multipart(header, body)
    raise refusal(f"expected a body of {MULTIPART} or {URLENCODED}, found {kind}", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)


def media_type(content_type: str) -> str:
    """A Content-Type without its parameters."""
    return _header(content_type).get_content_type() if content_type else ""


def _header(content_type: str) -> Message:
    if len(content_type) > LONGEST_CONTENT_TYPE:
        found = len(content_type)
        raise refusal(f"Content-Type: expected at most {LONGEST_CONTENT_TYPE} characters, found {found}")
    header = Message()
    header["Content-Type"] = content_type
    return header


def _urlencoded(name: str, data: bytes) -> Fields:
    text = decoded(name, data)
    try:
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except UnicodeDecodeError:
        raise refusal(f"{name}: expected UTF-8 text behind its percent signs, found other bytes") from None
    except ValueError:
        raise refusal(f"{name}: expected at most {MOST_FIELDS} fields, found more") from None


def _multipart(header: Message, body: bytes) -> Fields:
    try:
        boundary = (header.get_boundary() or "").encode(errors="replace")
    except ENCODING_ERRORS:
        raise refusal("body: expected a boundary in a known encoding, found another in the Content-Type") from None
    if not boundary:
        raise refusal("body: expected a boundary between its parts, found none in the Content-Type")
    # A boundary stands on a line of its own, also if that is the first.
    between = b"\r\n--" + boundary
    _, *parts = (b"\r\n" + body).split(between, MOST_FIELDS + 1)
    if len(parts) > MOST_FIELDS:
        raise refusal(f"body: expected at most {MOST_FIELDS} parts, found more")
    if not parts or not parts[-1].startswith(b"--"):
        raise refusal("body: expected parts up to a last boundary, found an end before it")
    return dict(_part(part) for part in parts[:-1])


def _part(part: bytes) -> tuple[str, str]:
    head, blank, content = part.partition(b"\r\n\r\n")
    if not blank or len(head) > LONGEST_HEAD:
        raise refusal("body: expected a part with a short head, a blank line and a value, found another")
    headers = BytesHeaderParser().parsebytes(head.lstrip(b" \t").removeprefix(b"\r\n"))
    name = headers.get_param("name", header="content-disposition")
    if name is None:
        raise refusal("body: expected a name in the Content-Disposition of each part, found a part without")
    try:
        field = collapse_rfc2231_value(name)
    except ENCODING_ERRORS:
        raise refusal("body: expected names of parts in a known encoding, found another") from None
    return field, decoded(field, content)
