"""A model's card: data, licence, scores and settings for people, and before them metadata for the Hugging Face hub."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biplanar import __version__
from biplanar.data.files import writing

if TYPE_CHECKING:
    from biplanar.pipeline.model_folder import ModelFolder
    from biplanar.tagger.config import Config

# In percent: by split (dev, test), source (gold words, raw text) and metric.
Scores = Mapping[str, Mapping[str, Mapping[str, float]]]

NOT_STATED = "not stated"

# Licences of treebanks that the hub has a name for; any other is `other`, with a name of its own.
HUB_LICENCES = (
    *("apache-2.0", "cc0-1.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
    *("cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
    *("cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "gpl-2.0", "gpl-3.0", "lgpl-3.0", "lgpl-lr", "mit"),
)

# What the hub calls the tasks that metrics judge.
HUB_TASKS = {
    "UPOS": "POS",
    "XPOS": "TAG",
    "UFeats": "MORPH",
    "Lemmas": "LEMMA",
    "UAS": "UNLABELED_DEPENDENCIES",
    "LAS": "LABELED_DEPENDENCIES",
}

UNIVERSAL_DEPENDENCIES = "universal_dependencies"

# As Universal Dependencies call their files: en_ewt-ud-train.conllu.
UD_FILE = re.compile(r"([a-z]{2,3})_\w+-ud-")

# A row of the table at the top of a card.
_FACT = re.compile(r"^\| ([^|\n]+) \| ([^|\n]+) \|$", re.MULTILINE)

CARD = """\
---
{metadata}
---

# {title}

{about}| | |
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
    scores: Scores,
    teachers: Sequence[str] = (),
    raw: Sequence[str] = (),
    *,
    title: str = "A Biplanar model",
    about: str = "",
) -> None:
    """Write the card of a trained model, with its teachers; `about` is a paragraph below the title."""
    taught = f"| taught by | {_names(teachers)} |\n" if teachers else ""
    taught += f"| on the text of | {_names(raw)} |\n" if raw else ""
    metadata = general_metadata() | _treebank_metadata(train, scores) | licence_metadata(licence)
    text = CARD.format(
        metadata="\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in metadata.items()),
        title=title,
        about=f"{about}\n\n" if about else "",
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


def read_card(folder: ModelFolder) -> dict[str, str]:
    """What the table at the top of a card says; nothing where there is no card."""
    try:
        return dict(_FACT.findall(folder.card.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        return {}


def licence_of(card: Mapping[str, str]) -> str:
    """The licence that a card names."""
    return next((value for fact, value in card.items() if fact.startswith("licence")), "unknown")


def general_metadata() -> dict[str, Any]:
    """What the hub is told of every model."""
    return {"library_name": "biplanar", "pipeline_tag": "token-classification", "tags": ["dependency-parsing"]}


def licence_metadata(licence: str) -> dict[str, str]:
    """A licence as the hub calls it: `CC BY-SA 4.0` is `cc-by-sa-4.0`."""
    if licence == NOT_STATED:
        return {}
    name = re.sub(r"[\s_]+", "-", licence.strip().lower()).removeprefix("gnu-")
    return {"license": name} if name in HUB_LICENCES else {"license": "other", "license_name": name}


def _treebank_metadata(train: Sequence[str], scores: Scores) -> dict[str, Any]:
    """Languages and results; treebanks are known by the names of their files."""
    names = [Path(path).name for path in train]
    found = [match for name in names if (match := UD_FILE.match(name))]
    metadata: dict[str, Any] = {}
    if found:
        metadata["language"] = sorted({match[1] for match in found})
        metadata["datasets"] = [UNIVERSAL_DEPENDENCIES]
    split, sources = list(scores.items())[-1]
    dataset = {"type": UNIVERSAL_DEPENDENCIES if found else "treebank", "name": ", ".join(names), "split": split}
    results = [
        {
            "task": {"type": "token-classification", "name": HUB_TASKS[metric]},
            "dataset": dataset,
            "metrics": [{"type": "accuracy", "name": f"{metric}, {source}", "value": round(value / 100, 4)}],
        }
        for source, values in sources.items()
        for metric, value in values.items()
        if metric in HUB_TASKS
    ]
    return metadata | {"model-index": [{"name": "biplanar", "results": results}]}


def _names(paths: Sequence[str]) -> str:
    return ", ".join(Path(path).name for path in paths)


def _table(scores: Scores) -> str:
    names = list(next(iter(next(iter(scores.values())).values())))
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for split, sources in scores.items():
        for source, values in sources.items():
            lines.append(f"| {split}, {source} | " + " | ".join(f"{values[name]:.2f}" for name in names) + " |")
    return "\n".join(lines)
