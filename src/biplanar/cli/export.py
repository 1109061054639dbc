"""`biplanar export`."""

from __future__ import annotations

from typing import Annotated

import typer


def export(model: Annotated[str, typer.Argument(help="A model's folder, with weights for PyTorch.")]) -> None:
    """Write a model's network for ONNX Runtime again, in float32 and in int8; training does so by itself.

    biplanar export my-model
    """
    from pathlib import Path

    from biplanar.errors import needing
    from biplanar.pipeline.model_folder import ModelFolder

    with needing("train", "exporting"):
        from biplanar.pipeline.train import export_model
    folder = ModelFolder(Path(model))
    export_model(folder)
    typer.echo(f"biplanar: the network is in {folder.int8} and {folder.onnx}", err=True)
