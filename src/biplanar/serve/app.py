"""The routes: what a path leads to, and how requests are read, refused and answered."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from http import HTTPStatus
from importlib.resources import files

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biplanar.decoding import DECODERS
from biplanar.encodings import ENCODINGS
from biplanar.serve import documents, udpipe
from biplanar.serve.batching import Batcher, Work
from biplanar.serve.forms import body_fields, media_type, query_fields
from biplanar.serve.limits import Limits
from biplanar.serve.metrics import Metrics
from biplanar.serve.models import Models
from biplanar.serve.openapi import describe
from biplanar.serve.refusals import refusal

JSON = "application/json"

# What answers of UDPipe's interface have, so that pages from elsewhere may use it, as they may use UDPipe's.
FOR_ALL = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
UDPIPE_PATHS = ("/models", "/process")

SECURITY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
}

CLIENT_LEFT = 499  # no status of HTTP's, but what other servers note for it


@dataclass
class Service:
    """What the routes share."""

    models: Models
    limits: Limits = field(default_factory=Limits)
    metrics: Metrics = field(default_factory=Metrics)
    held_bytes: int = 0

    def __post_init__(self) -> None:
        self.batcher = Batcher(self.limits, self.metrics)

    # Reading

    async def read(self, request: Request) -> bytes:
        """The body of a request, which is refused if it is too large, too slow or too much for now."""
        self.batcher.check_room()
        most, chunks, size = self.limits.body_bytes, [], 0
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for chunk in request.stream():
                    size += len(chunk)
                    # What is too large is read on for a while, as many clients hear no answer before they have spoken.
                    if size > 16 * most:
                        break
                    if size <= most:
                        self._hold(request, len(chunk))
                        chunks.append(chunk)
        except TimeoutError:
            message = f"the request did not arrive within {self.limits.seconds:g} seconds"
            raise refusal(message, HTTPStatus.REQUEST_TIMEOUT, Connection="close") from None
        if size > most:
            message = f"expected a body of at most {most} bytes, found more"
            raise refusal(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, Connection="close")
        return b"".join(chunks)

    def _hold(self, request: Request, size: int) -> None:
        """Note that bytes are held for a request, until it is answered."""
        if self.held_bytes + size > self.limits.held_bytes:
            raise self.batcher.refusal_for_now("other requests are too large together")
        self.held_bytes += size
        request.state.held_bytes += size

    # Answering

    async def answer(self, request: Request, prepare: Callable[[], Work], size: int) -> bytes:
        """What the worker makes of a request; if the client leaves before, the work is left too."""
        work = asyncio.ensure_future(self.batcher.submit(prepare, size))
        gone = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ClientDisconnect
            return work.result()
        finally:
            for task in (work, gone):
                task.cancel()

    # Routes of our own

    async def list_models(self, _: Request) -> Response:
        """What there is to choose from."""
        models = [
            {
                "name": model.name,
                "encoding": model.encoding,
                "raw_text": model.takes_raw_text,
                "description": model.description,
            }
            for model in self.models.all
        ]
        limits = asdict(self.limits)
        shown = {name: limits[name] for name in ("words", "sentence_words", "drawn_words", "best", "seconds")}
        return JSONResponse(
            {
                "default": self.models.default.name,
                "models": models,
                "decoders": list(DECODERS),
                "encodings": list(ENCODINGS),
                "limits": {"bytes": self.limits.body_bytes, **shown},
            }
        )

    async def parse(self, request: Request) -> Response:
        """Trees as JSON."""
        body = await self._json_body(request)

        def prepare() -> Work:
            return documents.ParseRequest.read(body, self.models, self.limits).work(self.limits)

        return Response(await self.answer(request, prepare, len(body)), media_type=JSON)

    async def compare(self, request: Request) -> Response:
        """Two versions of the same sentences."""
        body = await self._json_body(request)
        prepare = partial(documents.compare_work, body, self.limits)
        return Response(await self.answer(request, prepare, len(body)), media_type=JSON)

    async def _json_body(self, request: Request) -> bytes:
        found = media_type(request.headers.get("content-type", ""))
        if found != JSON:
            raise refusal(f"expected a body of {JSON}, found {found or 'nothing'}", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        return await self.read(request)

    # Routes of UDPipe's interface

    async def udpipe_models(self, _: Request) -> Response:
        """`/models`."""
        return Response(udpipe.models_answer(self.models), media_type=JSON, headers=FOR_ALL)

    async def udpipe_process(self, request: Request) -> Response:
        """`/process`."""
        query, body = request.scope["query_string"], b""
        if request.method == "POST":
            body = await self.read(request)
        content_type = request.headers.get("content-type", "")

        def prepare() -> Work:
            return udpipe.process_work(query_fields(query) | body_fields(content_type, body), self.models)

        answer = await self.answer(request, prepare, len(query) + len(body))
        return Response(answer, media_type=JSON, headers=FOR_ALL)

    # Routes for those who run it

    async def health(self, _: Request) -> Response:
        """Whether requests can be answered."""
        well = self.batcher.is_well
        status = HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse({"status": "ok" if well else "stuck", "waiting": len(self.batcher.waiting)}, status)

    async def show_metrics(self, _: Request) -> Response:
        """Counters for Prometheus."""
        gauges = {"biplanar_queue_requests": len(self.batcher.waiting), "biplanar_held_bytes": self.held_bytes}
        return Response(self.metrics.text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")

    @asynccontextmanager
    async def running(self, _: Starlette) -> AsyncIterator[None]:
        """While the server runs, the worker does."""
        self.batcher.start()
        yield
        await asyncio.to_thread(self.batcher.stop)


async def _left(request: Request) -> None:
    """Wait until the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# What lies ready


@dataclass(frozen=True)
class Static:
    """The files of the page, read once: what a request names is looked up among these and nowhere else."""

    contents: dict[str, bytes]

    @classmethod
    def load(cls) -> Static:
        """From within the package."""
        folder = files("biplanar.serve") / "static"
        found = folder.iterdir() if folder.is_dir() else ()
        return cls({file.name: file.read_bytes() for file in found if file.name.rpartition(".")[2] in TYPES})

    async def index(self, request: Request) -> Response:
        """The page."""
        return self._serve("index.html", request)

    async def file(self, request: Request) -> Response:
        """What the page needs."""
        return self._serve(request.path_params["name"], request)

    def _serve(self, name: str, request: Request) -> Response:
        if name not in self.contents:
            raise refusal("there is no such page", HTTPStatus.NOT_FOUND)
        content = self.contents[name]
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        return Response(content, media_type=TYPES[name.rpartition(".")[2]], headers=headers)


# Putting it together


def create_app(models: Models, limits: Limits | None = None) -> ASGIApp:
    """The server's application, for uvicorn or any other server that speaks ASGI."""
    service, static = Service(models, limits or Limits()), Static.load()
    description = JSONResponse(describe(service.limits))

    async def openapi(_: Request) -> Response:
        return description

    endpoints: dict[str, tuple[Callable[[Request], Awaitable[Response]], list[str]]] = {
        "/": (static.index, ["GET"]),
        "/static/{name}": (static.file, ["GET"]),
        "/api/models": (service.list_models, ["GET"]),
        "/api/parse": (service.parse, ["POST"]),
        "/api/compare": (service.compare, ["POST"]),
        "/models": (service.udpipe_models, ["GET", "POST"]),
        "/process": (service.udpipe_process, ["GET", "POST"]),
        "/openapi.json": (openapi, ["GET"]),
        "/healthz": (service.health, ["GET"]),
        "/metrics": (service.show_metrics, ["GET"]),
    }
    routes = [Route(path, endpoint, methods=methods) for path, (endpoint, methods) in endpoints.items()]
    starlette = Starlette(
        routes=routes,
        lifespan=service.running,
        exception_handlers={HTTPException: _refused, ClientDisconnect: _client_left, Exception: _failed},
    )
    starlette.router.redirect_slashes = False  # a redirection would lead to whatever host the request names
    return Guard(starlette, service, frozenset(endpoints))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.scope["path"] in UDPIPE_PATHS:
        text = error.detail.encode(errors="replace") + b"\n"
        return PlainTextResponse(text, error.status_code, {**FOR_ALL, **(error.headers or {})})
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _client_left(_: Request, __: Exception) -> Response:
    return Response(status_code=CLIENT_LEFT)


async def _failed(request: Request, _: Exception) -> Response:
    return await _refused(request, HTTPException(HTTPStatus.INTERNAL_SERVER_ERROR, "the server failed at this request"))


@dataclass(frozen=True)
class Guard:
    """Around everything: headers that every answer has, what is held for a request, and what is counted."""

    app: ASGIApp
    service: Service
    paths: frozenset[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), CLIENT_LEFT
        state = scope.setdefault("state", {})
        state["held_bytes"] = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, receive, send_guarded)
        finally:
            self.service.held_bytes -= state["held_bytes"]
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.service.metrics.add("biplanar_requests_total", path=path, status=str(status))
            self.service.metrics.observe("biplanar_request_seconds", time.perf_counter() - start, path=path)
