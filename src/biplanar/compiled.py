"""Compiled loops: numba with a cache that notices a change in any compiled module, and that needs no writable install.

Numba keeps machine code beside the source and looks only at the file of the function itself. Here the cache's folder is
named after all modules that may hold compiled code, so that compiled functions may call those of other modules.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import caching, event, runtime, types

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent

# The rooms whose modules may hold compiled code.
ROOMS = ("data", "planes", "encodings", "decoding")

# Seconds of compilation after which a log record says what is going on.
PATIENCE = 1.0

# The environment variable of numba's cache folder.
CACHE_VARIABLE = "NUMBA_CACHE_DIR"

# The names of the cache folder, and of its temporary parent where nothing else is writable, begin with these.
PREFIX, TEMPORARY = "compiled-", "biplanar-cache-"

logger = logging.getLogger(__name__)


def compiled(*, fastmath: bool | set[str] = False, inline: bool = False) -> Callable[[F], F]:
    """Compile a function when it is first called, without the interpreter's lock, and keep the machine code.

    The compiler does not see into functions of other modules on its own: small ones in hot loops say `inline`.
    """
    options = {"fastmath": fastmath, "inline": "always" if inline else "never"}

    def decorate(function: F) -> F:
        result: Any = numba.njit(nogil=True, **options)(function)
        result._cache = _Cache(function)
        return cast(F, result)

    return decorate


@cache
def compiled_function(function: Callable[..., Any]) -> Any:
    """A function that another one takes as an argument: compiled code is made for each such function, as if it were
    written there. A function without a file, as of a notebook, has no cache.
    """
    if hasattr(function, "py_func"):
        return function
    has_file = Path(function.__code__.co_filename).is_file()
    return compiled()(function) if has_file else numba.njit(nogil=True)(function)


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    """Loads machine code without all that numba needs to compile some, which takes longer to load than the code.

    Numba tells functions among the arguments by their place in memory; here they are told by their code and file.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self._has_place = function, False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not self._has_place:  # found here, as numba tries to write a file there, and few functions are called
            with _cache_at(cache_folder()):
                super().__init__(self._function)
            self._has_place = True
        runtime.rtsys.initialize(target_context)
        with suppress(_NotKeptError):
            found = self._load_overload(sig, target_context)
            if found:  # what calls it is compiled for the functions of this process, not for those that were kept
                found.fndesc.argtypes = tuple(sig)
                return found._replace(signature=found.signature.replace(args=sig))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(_NotKeptError):
            super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (tuple(map(_described, sig)), *super()._index_key(sig, codegen)[1:])


class _NotKeptError(Exception):
    """Machine code for a function that cannot be told from others in another process."""


def _described(kind: Any) -> Any:
    """A type of arguments, as another process would see it."""
    if isinstance(kind, types.BaseTuple):
        return (str(getattr(kind, "instance_class", "")), *map(_described, kind.types))
    if not isinstance(kind, types.Dispatcher):
        return kind
    function = kind.dispatcher.py_func
    code, path = function.__code__, Path(function.__code__.co_filename)
    if function.__closure__ or not path.is_file():
        raise _NotKeptError
    return (str(path), path.stat().st_mtime_ns, code.co_firstlineno, code.co_code)


@contextmanager
def _cache_at(folder: Path) -> Iterator[None]:
    """Numba chooses a function's cache when the function is decorated; other users' functions keep their own."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


@cache
def cache_folder() -> Path:
    """Where machine code is kept: beside the package, in the user's cache, or else in a folder of this process."""
    name = PREFIX + sources_digest()
    for parent in _places():
        folder = parent / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            continue
        _remove_outdated(folder)
        return folder
    folder = Path(tempfile.mkdtemp(prefix=TEMPORARY))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[CACHE_VARIABLE] = str(folder)  # worker processes share it
    return folder / name


def sources_digest() -> str:
    """A digest of all modules that may hold compiled code: their names, sizes and times of change."""
    files = sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py"))
    stats = [(str(path.relative_to(PACKAGE)), (stat := path.stat()).st_size, stat.st_mtime_ns) for path in files]
    return hashlib.sha256(repr(stats).encode()).hexdigest()[:16]


def _places() -> Iterator[Path]:
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR)
        return
    yield PACKAGE / "__pycache__"
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # there is no home
        return
    yield caches / "biplanar" / hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:16]


def _remove_outdated(folder: Path) -> None:
    """Machine code of sources that have changed since."""
    for other in folder.parent.glob(PREFIX + "*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


class _Notice(event.Listener):  # type: ignore[misc]
    """Logs once that functions are being compiled, when that takes longer than a moment."""

    def __init__(self) -> None:
        self._depth, self._start, self._seconds, self._told = 0, 0.0, 0.0, False

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if not self._depth:
            self._start = time.monotonic()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self._depth -= 1
        if not self._depth:
            self._seconds += time.monotonic() - self._start
        if self._seconds > PATIENCE and not self._told:
            self._told = True
            hint = f" if {CACHE_VARIABLE} names a folder that can be written to"
            is_kept = not cache_folder().parent.name.startswith(TEMPORARY)
            logger.info("compiling for this machine; the next start will be quicker%s", "" if is_kept else hint)


event.register("numba:compile", _Notice())
