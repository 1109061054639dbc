"""`biplanar models` and `biplanar download`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from biplanar.cli.common import model_option, new_table, show


def models(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """List the models that can be used offline: the bundled one, those of packages, and those from the hub.

    biplanar models
    """
    from biplanar.pipeline.card import licence_of, read_card
    from biplanar.pipeline.hub import cached_models
    from biplanar.pipeline.model_folder import BUNDLED, ModelFolder

    own = ModelFolder.installed().items()
    found = [(name, "bundled" if name == BUNDLED else "installed", folder) for name, folder in own]
    found += [(name, "cached", ModelFolder(path)) for name, path in cached_models().items()]
    rows = [
        {
            "name": name,
            "kind": kind,
            "megabytes": round(_size(folder.path) / 1e6, 1),
            "data": read_card(folder).get("trained on", "unknown"),
            "licence": licence_of(read_card(folder)),
            "folder": str(folder.path),
        }
        for name, kind, folder in found
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        shown = ([str(value) for name, value in row.items() if name != "folder"] for row in rows)
        show(new_table("Models", ("name", "kind", "MB", "trained on", "licence"), shown))


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def download(
    name: Annotated[str, typer.Argument(help="owner/name on the Hugging Face hub, or owner/name@revision.")],
    revision: Annotated[str | None, model_option(help="A branch, a tag or a commit. Default: main.")] = None,
    force: Annotated[bool, model_option("--force", help="Download again what is in the cache.")] = False,
) -> None:
    """Download a model of the Hugging Face hub to its cache, check it, and print its folder.

    biplanar download owner/name
    biplanar download owner/name --revision v1.0
    """
    from biplanar.pipeline import hub
    from biplanar.pipeline.model_folder import ModelFolder

    folder = ModelFolder(hub.download(name, revision, force_download=force))
    folder.verify_all()
    typer.echo(folder.path)
