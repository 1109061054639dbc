"""How a request is refused: with a status and a message that says what was wanted and what was found."""

from __future__ import annotations

from http import HTTPStatus

from starlette.exceptions import HTTPException

from biplanar.errors import FormatError, LabelError, TreeError, UnknownNameError

# What the text of a request can cause. Other errors, such as those of files, are the server's own affair.
ERRORS_OF_REQUESTS = (FormatError, LabelError, TreeError, UnknownNameError)


def refusal(message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST, **headers: str) -> HTTPException:
    """What to raise; `headers` are named with underscores."""
    return HTTPException(status, message, {name.replace("_", "-"): value for name, value in headers.items()})


def decoded(name: str, data: bytes) -> str:
    """Text of a request, without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x} at position {error.start}"
        raise refusal(f"{name}: expected UTF-8 text, found {found}") from error
