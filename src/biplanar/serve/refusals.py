"""How a request is refused: with a status and a message that says what was expected and what was found."""

from __future__ import annotations

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response

from biplanar.errors import FormatError, LabelError, TreeError, UnknownNameError
from biplanar.serve.headers import CROSS_ORIGIN_HEADERS

# What the text of a request can cause. Other errors, such as those of files, are the server's own.
ERRORS_OF_REQUESTS = (FormatError, LabelError, TreeError, UnknownNameError)

UDPIPE_PATHS = ("/models", "/process")
LONGEST_SHOWN = 100  # characters of a header in a message


def refusal(message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST, **headers: str) -> HTTPException:
    """What to raise; `headers` are named with underscores."""
    return HTTPException(status, message, {name.replace("_", "-"): value for name, value in headers.items()})


def foreign_host(host: str) -> HTTPException:
    """The refusal of a request that was meant for another host."""
    message = f"expected the Host localhost, or one that --allow-host names, found {host[:LONGEST_SHOWN]!r}"
    return refusal(message, HTTPStatus.MISDIRECTED_REQUEST)


def refused(path: str, error: HTTPException) -> Response:
    """The answer that tells a client of a refusal: JSON, or in UDPipe's interface plain text."""
    if path in UDPIPE_PATHS:
        text = error.detail.encode(errors="replace") + b"\n"
        return PlainTextResponse(text, error.status_code, {**CROSS_ORIGIN_HEADERS, **(error.headers or {})})
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def decoded(name: str, data: bytes) -> str:
    """Text of a request, without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x} at position {error.start}"
        raise refusal(f"{name}: expected UTF-8 text, found {found}") from error
