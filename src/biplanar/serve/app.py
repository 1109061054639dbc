"""The routes, and how requests are read and answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from biplanar.decoding import all_decoders
from biplanar.encodings import all_encodings
from biplanar.serve import ServerConfig, schemas
from biplanar.serve.batching import Batcher
from biplanar.serve.documents import ParseAnswer, compare_plan
from biplanar.serve.forms import body_fields, media_type, query_fields
from biplanar.serve.guard import ANSWER, BODY, CLIENT_LEFT, ByteBudget, Guard, Lease, Metrics
from biplanar.serve.jobs import RequestPlan
from biplanar.serve.models import Models
from biplanar.serve.openapi import JSON, Operation, describe
from biplanar.serve.responses import CROSS_ORIGIN_HEADERS, as_refusal, refusal, refused
from biplanar.serve.udpipe import models_answer, process_plan

STATIC = Path(__file__).parent / "static"
SHOWN_LIMITS = ("words", "sentence_words", "word_characters", "drawn_words", "best", "seconds")


class Service:
    """What the routes share."""

    def __init__(self, models: Models, config: ServerConfig) -> None:
        self.models, self.config, self.metrics = models, config, Metrics()
        self.batcher = Batcher(config, self.metrics)
        self.bodies, self.answers = ByteBudget(config.held_bytes), ByteBudget(config.unread_bytes)
        self.metrics.queue.set_function(lambda: len(self.batcher.waiting))
        self.metrics.held_bytes.set_function(lambda: self.bodies.held)
        self.metrics.unread_bytes.set_function(lambda: self.answers.held)

    def operations(self) -> list[Operation]:
        """The routes that the OpenAPI description lists."""
        return [
            Operation(["GET"], "/api/models", self.list_models, schemas.Choices),
            Operation(["POST"], "/api/parse", self.parse, schemas.Parsed, schemas.ParseRequest),
            Operation(["POST"], "/api/compare", self.compare, schemas.Compared, schemas.CompareRequest),
            Operation(["GET", "POST"], "/models", self.udpipe_models, schemas.UDPipeModels),
            Operation(["GET", "POST"], "/process", self.udpipe_process, schemas.UDPipeResult, schemas.ProcessRequest),
            Operation(["GET"], "/healthz", self.health, schemas.Health, statuses=(200, 503)),
            Operation(["GET"], "/metrics", self.show_metrics),
        ]

    # Reading

    async def read(self, request: Request) -> bytes:
        """The body of a request; refused if it is too large or too slow, or if others hold too many bytes."""
        self.batcher.check_room()
        most, chunks, size = self.config.body_bytes, [], 0
        lease: Lease = getattr(request.state, BODY)
        try:
            async with asyncio.timeout(self.config.seconds):
                async for chunk in request.stream():
                    size += len(chunk)
                    # A body that is too large is read further: many clients send it all before they read an answer.
                    if size > 16 * most:
                        break
                    if size <= most:
                        if not lease.take(len(chunk)):
                            raise self.batcher.refusal_for_now("the server holds too many bytes of other requests")
                        chunks.append(chunk)
        except TimeoutError:
            message = f"the request did not arrive within {self.config.seconds:g} seconds"
            raise refusal(message, HTTPStatus.REQUEST_TIMEOUT, Connection="close") from None
        if size > most:
            message = f"the body is larger than {most} bytes"
            raise refusal(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, Connection="close")
        return b"".join(chunks)

    async def _json_body(self, request: Request) -> bytes:
        found = media_type(request.headers.get("content-type", ""))
        if found != JSON:
            message = f"Content-Type: must be {JSON}, but is {found or 'missing'}"
            raise refusal(message, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        return await self.read(request)

    # Answering

    async def answer(
        self, request: Request, prepare: Callable[[], RequestPlan], size: int, headers: dict[str, str] | None = None
    ) -> Response:
        """The answer that the workers make, as JSON; the request is dropped if the client disconnects."""
        lease: Lease = getattr(request.state, ANSWER)
        work = asyncio.ensure_future(self.batcher.submit(prepare, size, lease))
        gone = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ClientDisconnect
            return Response(work.result(), media_type=JSON, headers=headers)
        finally:
            for task in (work, gone):
                task.cancel()
            getattr(request.state, BODY).close()  # no longer needed while the answer is sent

    # Routes of the JSON interface

    async def list_models(self, _: Request) -> Response:
        """The models, decoders, encodings and limits."""
        choices: schemas.Choices = {
            "default": self.models.default.name,
            "models": [model.facts for model in self.models.all],
            "decoders": list(all_decoders()),
            "encodings": list(all_encodings()),
            "limits": {"bytes": self.config.body_bytes, **{name: getattr(self.config, name) for name in SHOWN_LIMITS}},
        }
        return JSONResponse(choices)

    async def parse(self, request: Request) -> Response:
        """Parse text, words or CoNLL-U."""
        body = await self._json_body(request)
        return await self.answer(request, lambda: ParseAnswer(body, self.models, self.config).plan(), len(body))

    async def compare(self, request: Request) -> Response:
        """Compare gold trees with a system's."""
        body = await self._json_body(request)
        return await self.answer(request, lambda: compare_plan(body, self.config), len(body))

    # Routes of UDPipe's interface

    async def udpipe_models(self, _: Request) -> Response:
        """UDPipe: the models."""
        return Response(models_answer(self.models), media_type=JSON, headers=CROSS_ORIGIN_HEADERS)

    async def udpipe_process(self, request: Request) -> Response:
        """UDPipe: tokenize, tag and parse."""
        query, content_type = request.scope["query_string"], request.headers.get("content-type", "")
        body = await self.read(request) if request.method == "POST" else b""

        def prepare() -> RequestPlan:
            return process_plan(query_fields(query) | body_fields(content_type, body), self.models)

        return await self.answer(request, prepare, len(query) + len(body), CROSS_ORIGIN_HEADERS)

    # Routes for operators

    async def health(self, _: Request) -> Response:
        """Whether requests can be answered."""
        well = self.batcher.is_well
        health: schemas.Health = {"status": "ok" if well else "stuck", "waiting": len(self.batcher.waiting)}
        return JSONResponse(health, HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE)

    async def show_metrics(self, _: Request) -> Response:
        """Counters for Prometheus."""
        return Response(self.metrics.text(), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    @asynccontextmanager
    async def running(self, _: Starlette) -> AsyncIterator[None]:
        """Start the workers with the server, and stop them with it."""
        self.batcher.start()
        yield
        await asyncio.to_thread(self.batcher.stop)


class PageFiles(StaticFiles):
    """The files of the page; browsers cache them and revalidate."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """A file, or 304 if it has not changed."""
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


async def _left(request: Request) -> None:
    """Wait until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def create_app(models: Models, config: ServerConfig | None = None) -> ASGIApp:
    """The server's application, for uvicorn or another ASGI server."""
    config = config or ServerConfig()
    service = Service(models, config)
    operations = service.operations()
    files = PageFiles(directory=STATIC)

    async def index(request: Request) -> Response:
        return await files.get_response("index.html", request.scope)

    routes = [
        Route("/", index),
        Mount("/static", files),
        Route("/openapi.json", JSONResponse(describe(operations, config)), methods=["GET"]),
        *(Route(one.path, one.endpoint, methods=one.methods) for one in operations),
    ]
    starlette = Starlette(
        routes=routes,
        lifespan=service.running,
        exception_handlers={ClientDisconnect: _client_left, HTTPException: _failed, Exception: _failed},
    )
    starlette.router.redirect_slashes = False  # a redirection would lead to whatever host the request names
    paths = frozenset({"/", "/openapi.json", *(one.path for one in operations)})
    return Guard(starlette, paths, config, service.metrics, service.bodies, service.answers)


async def _failed(request: Request, error: Exception) -> Response:
    return refused(request.scope["path"], as_refusal(error))


async def _client_left(_: Request, __: Exception) -> Response:
    return Response(status_code=CLIENT_LEFT)
