"""The routes, and how requests are read and answered."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from biplanar.decoding import DECODERS
from biplanar.encodings import ENCODINGS
from biplanar.serve import documents, udpipe
from biplanar.serve.batching import Batcher
from biplanar.serve.budget import ByteBudget, Lease
from biplanar.serve.config import ServerConfig
from biplanar.serve.forms import body_fields, media_type, query_fields
from biplanar.serve.guard import ANSWER, BODY, CLIENT_LEFT, Guard
from biplanar.serve.headers import CROSS_ORIGIN_HEADERS
from biplanar.serve.jobs import RequestPlan
from biplanar.serve.metrics import Metrics
from biplanar.serve.models import Models
from biplanar.serve.openapi import describe
from biplanar.serve.refusals import refusal, refused

JSON = "application/json"

SHOWN_LIMITS = ("words", "sentence_words", "word_characters", "drawn_words", "best", "seconds")

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
}


@dataclass
class Service:
    """What the routes share."""

    models: Models
    config: ServerConfig = field(default_factory=ServerConfig)
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        self.batcher = Batcher(self.config, self.metrics)
        self.bodies, self.answers = ByteBudget(self.config.held_bytes), ByteBudget(self.config.unread_bytes)

    # Reading

    async def read(self, request: Request) -> bytes:
        """The body of a request, which is refused if it is too large, too slow or too much for now."""
        self.batcher.check_room()
        most, chunks, size = self.config.body_bytes, [], 0
        lease: Lease = getattr(request.state, BODY)
        try:
            async with asyncio.timeout(self.config.seconds):
                async for chunk in request.stream():
                    size += len(chunk)
                    # Too large a body is read on for a while, as many clients read no answer before they have sent it.
                    if size > 16 * most:
                        break
                    if size <= most:
                        if not lease.take(len(chunk)):
                            raise self.batcher.refusal_for_now("other requests are too large together")
                        chunks.append(chunk)
        except TimeoutError:
            message = f"the request did not arrive within {self.config.seconds:g} seconds"
            raise refusal(message, HTTPStatus.REQUEST_TIMEOUT, Connection="close") from None
        if size > most:
            message = f"expected a body of at most {most} bytes, found more"
            raise refusal(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, Connection="close")
        return b"".join(chunks)

    # Answering

    async def answer(self, request: Request, prepare: Callable[[], RequestPlan], size: int) -> bytes:
        """What the workers make of a request; if the client leaves before, they drop it."""
        lease: Lease = getattr(request.state, ANSWER)
        work = asyncio.ensure_future(self.batcher.submit(prepare, size, lease))
        gone = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ClientDisconnect
            return work.result()
        finally:
            for task in (work, gone):
                task.cancel()
            getattr(request.state, BODY).close()  # it is not needed while the answer is sent

    # Routes of the JSON interface

    async def list_models(self, _: Request) -> Response:
        """The models, decoders, encodings and limits."""
        models = [
            {
                "name": model.name,
                "encoding": model.encoding,
                "raw_text": model.takes_raw_text,
                "columns": model.columns,
                "description": model.description,
            }
            for model in self.models.all
        ]
        shown = {name: getattr(self.config, name) for name in SHOWN_LIMITS}
        return JSONResponse(
            {
                "default": self.models.default.name,
                "models": models,
                "decoders": list(DECODERS),
                "encodings": list(ENCODINGS),
                "limits": {"bytes": self.config.body_bytes, **shown},
            }
        )

    async def parse(self, request: Request) -> Response:
        """Trees as JSON."""
        body = await self._json_body(request)

        def prepare() -> RequestPlan:
            return documents.ParseRequest.read(body, self.models, self.config).plan(self.config)

        return Response(await self.answer(request, prepare, len(body)), media_type=JSON)

    async def compare(self, request: Request) -> Response:
        """Two versions of the same sentences."""
        body = await self._json_body(request)
        prepare = partial(documents.compare_plan, body, self.config)
        return Response(await self.answer(request, prepare, len(body)), media_type=JSON)

    async def _json_body(self, request: Request) -> bytes:
        found = media_type(request.headers.get("content-type", ""))
        if found != JSON:
            raise refusal(f"expected a body of {JSON}, found {found or 'nothing'}", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        return await self.read(request)

    # Routes of UDPipe's interface

    async def udpipe_models(self, _: Request) -> Response:
        """`/models`."""
        return Response(udpipe.models_answer(self.models), media_type=JSON, headers=CROSS_ORIGIN_HEADERS)

    async def udpipe_process(self, request: Request) -> Response:
        """`/process`."""
        query, body = request.scope["query_string"], b""
        if request.method == "POST":
            body = await self.read(request)
        content_type = request.headers.get("content-type", "")

        def prepare() -> RequestPlan:
            return udpipe.process_plan(query_fields(query) | body_fields(content_type, body), self.models)

        answer = await self.answer(request, prepare, len(query) + len(body))
        return Response(answer, media_type=JSON, headers=CROSS_ORIGIN_HEADERS)

    # Routes for operators

    async def health(self, _: Request) -> Response:
        """Whether requests can be answered."""
        well = self.batcher.is_well
        status = HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse({"status": "ok" if well else "stuck", "waiting": len(self.batcher.waiting)}, status)

    async def show_metrics(self, _: Request) -> Response:
        """Counters for Prometheus."""
        gauges = {
            "biplanar_queue_requests": len(self.batcher.waiting),
            "biplanar_held_bytes": self.bodies.held,
            "biplanar_unread_bytes": self.answers.held,
        }
        return Response(self.metrics.text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")

    @asynccontextmanager
    async def running(self, _: Starlette) -> AsyncIterator[None]:
        """While the server runs, the workers do."""
        self.batcher.start()
        yield
        await asyncio.to_thread(self.batcher.stop)
        for model in self.models.all:
            model.close()


async def _left(request: Request) -> None:
    """Wait until the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# Files of the page


@dataclass(frozen=True)
class Static:
    """The files of the page, read once: requests lead to these and to no other files."""

    contents: dict[str, bytes]

    @classmethod
    def load(cls) -> Static:
        """Read them from the package."""
        folder = files("biplanar.serve") / "static"
        found = folder.iterdir() if folder.is_dir() else ()
        return cls({file.name: file.read_bytes() for file in found if file.name.rpartition(".")[2] in TYPES})

    async def index(self, request: Request) -> Response:
        """The page."""
        return self._serve("index.html", request)

    async def file(self, request: Request) -> Response:
        """A file that the page needs."""
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


def create_app(models: Models, config: ServerConfig | None = None) -> ASGIApp:
    """The server's application, for uvicorn or another ASGI server."""
    service, static = Service(models, config or ServerConfig()), Static.load()
    description = JSONResponse(describe(service.config))

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
    paths, budgets = frozenset(endpoints), (service.bodies, service.answers)
    return Guard(starlette, paths, service.config, service.metrics, *budgets)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refused(request.scope["path"], error)


async def _client_left(_: Request, __: Exception) -> Response:
    return Response(status_code=CLIENT_LEFT)


async def _failed(request: Request, _: Exception) -> Response:
    error = HTTPException(HTTPStatus.INTERNAL_SERVER_ERROR, "the server failed at this request")
    return refused(request.scope["path"], error)
