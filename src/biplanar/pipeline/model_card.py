"""The model card: data, licence, scores and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from biplanar import __version__
from biplanar.data.files import writing
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.tagger.config import Config

CARD = """\
# A Biplanar model

| | |
|---|---|
| trained on | {data} |
{taught}| licence of the data, and so of this model | {licence} |
| encoding | {encoding} |
| seed | {seed} |
| made with | Biplanar {version} |

## Scores

CoNLL 2018 metric, F1 in percent (`ExactLAS` keeps the subtypes of relations); decoding by search, one training run.

{scores}

## Configuration

```toml
{config}```
"""


def write_card(
    folder: ModelFolder,
    train: Sequence[str],
    licence: str,
    config: Config,
    seed: int,
    scores: Mapping[str, Mapping[str, Mapping[str, float]]],
    teachers: Sequence[str] = (),
    raw: Sequence[str] = (),
) -> None:
    """Write the card of a trained model, with its teachers."""
    taught = f"| taught by | {_names(teachers)} |\n" if teachers else ""
    taught += f"| on the text of | {_names(raw)} |\n" if raw else ""
    text = CARD.format(
        data=_names(train),
        taught=taught,
        licence=licence,
        encoding=config.encoding,
        seed=seed,
        version=__version__,
        scores=_table(scores),
        config=config.to_toml(),
    )
    with writing(folder.card) as stream:
        stream.write(text)


def _names(paths: Sequence[str]) -> str:
    return ", ".join(Path(path).name for path in paths)


def _table(scores: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    names = list(next(iter(next(iter(scores.values())).values())))
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for split, sources in scores.items():
        for source, values in sources.items():
            lines.append(f"| {split}, {source} | " + " | ".join(f"{values[name]:.2f}" for name in names) + " |")
    return "\n".join(lines)
