"""The headers of answers, and the refusal of requests."""

from __future__ import annotations

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response

from biplanar.errors import BiplanarError, FileError, FormatError, LabelError, TreeError, UnknownNameError

# Headers of every answer, also of those that are sent before a request could be read.
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

# Headers of UDPipe's interface, which pages of other origins may use.
CROSS_ORIGIN_HEADERS = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
UDPIPE_PATHS = ("/models", "/process")

# Errors that a request can cause. Others, such as those of files, are internal errors.
ERRORS_OF_REQUESTS = (FormatError, LabelError, TreeError, UnknownNameError)


def refusal(message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST, **headers: str) -> HTTPException:
    """The exception that refuses a request; `headers` are named with underscores."""
    return HTTPException(status, message, {name.replace("_", "-"): value for name, value in headers.items()})


def as_refusal(error: Exception) -> HTTPException:
    """The refusal for an exception; internal errors are not disclosed."""
    if isinstance(error, HTTPException):
        return error
    if isinstance(error, ERRORS_OF_REQUESTS):
        return refusal(str(error))
    told = isinstance(error, BiplanarError) and not isinstance(error, FileError)
    return refusal(str(error) if told else "internal server error", HTTPStatus.INTERNAL_SERVER_ERROR)


def refused(path: str, error: HTTPException) -> Response:
    """The answer to a refused request: JSON, or in UDPipe's interface plain text."""
    if path in UDPIPE_PATHS:
        text = error.detail.encode(errors="replace") + b"\n"
        return PlainTextResponse(text, error.status_code, {**CROSS_ORIGIN_HEADERS, **(error.headers or {})})
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)
