"""`biplanar serve`."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from biplanar.cli.common import limit_option, speed_option
from biplanar.errors import needing
from biplanar.serve import ServerConfig

DEFAULTS = ServerConfig()


def serve(
    models: Annotated[list[str] | None, typer.Argument(help="Names or folders, or NAME=FOLDER. Default: en.")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 is all of them.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 is any free one.", min=0, max=65535)] = 8001,
    allow_host: Annotated[list[str] | None, typer.Option(help="A host name to accept besides localhost.")] = None,
    max_bytes: Annotated[int, limit_option(help="Bytes of a request.", min=1)] = DEFAULTS.body_bytes,
    max_words: Annotated[int, limit_option(help="Words of a request.", min=1)] = DEFAULTS.words,
    max_sentence: Annotated[int, limit_option(help="Words of a sentence.", min=1)] = DEFAULTS.sentence_words,
    max_seconds: Annotated[float, limit_option(help="Seconds until an answer.", min=0.1)] = DEFAULTS.seconds,
    queue: Annotated[int, limit_option(help="Requests that may wait.", min=1)] = DEFAULTS.queue,
    batch_words: Annotated[int, speed_option(help="Words in a batch.", min=1)] = DEFAULTS.batch_words,
    device: Annotated[str, speed_option(help="cpu, auto, cuda:N or mps.")] = "cpu",
    threads: Annotated[int, speed_option(help="CPU threads.", min=1)] = 1,
) -> None:
    """Serve a web page, a JSON interface and UDPipe's REST interface.

    biplanar serve
    biplanar serve my-model lt=models/lithuanian --port 8080
    """
    with needing("serve", "serving"):
        from biplanar.serve.models import Models
        from biplanar.serve.server import address_of, listen, run
    logging.getLogger("biplanar").handlers.clear()  # a server's log has the time in it
    logging.basicConfig(level=logging.ERROR, format="%(asctime)s %(name)s: %(message)s")
    config = ServerConfig(
        body_bytes=max_bytes,
        words=max_words,
        sentence_words=max_sentence,
        seconds=max_seconds,
        queue=queue,
        batch_words=batch_words,
        allowed_hosts=tuple(allow_host or ()),
    )
    with listen(host, port) as sock:
        served = Models.load(models or [], device=device, threads=threads)
        names = ", ".join(model.name for model in served.all)
        typer.echo(f"Biplanar serves {names} at {address_of(sock)}", err=True)
        run(served, sock, config)
