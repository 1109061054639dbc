"""Starting from the weights of another model, whose words and labels may be others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from biplanar.decoding.scores import DEPREL
from biplanar.errors import BiplanarError
from biplanar.tagger.features import RESERVED, Vocabulary
from biplanar.tagger.network import SharedParts, Tagger, module_name

Rows = tuple[list[int], list[int]]  # numbers of what both have, here and there


@torch.no_grad()
def start_from(network: Tagger, vocabulary: Vocabulary, source: Tagger, known: Vocabulary) -> None:
    """Copy all weights that fit: those of forms, characters and labels by their names, others if they are as large.

    Whatever the other network lacks stays as it is.
    """
    own, others, copied = network.state_dict(), source.state_dict(), 0
    rows = dict(_rows(network, vocabulary, source, known))
    for name, tensor in own.items():
        other = others.get(name)
        if other is None or other.shape[1:] != tensor.shape[1:]:
            continue
        if name in rows:
            here, there = rows[name]
            if not here:
                continue
            tensor[here] = other[there].to(tensor)
        elif other.shape == tensor.shape:
            tensor.copy_(other)
        else:
            continue
        copied += 1
    if not copied:
        raise BiplanarError("cannot start from this model: no layer has the same size")


def _rows(network: Tagger, vocabulary: Vocabulary, source: Tagger, known: Vocabulary) -> Iterator[tuple[str, Rows]]:
    """Which rows of which weights belong to the same form, character, label or part of a label."""
    yield "encoder.word_embedding.weight", _shared(vocabulary.forms, known.forms, reserved=RESERVED)
    yield "encoder.char_embedding.weight", _shared(vocabulary.chars, known.chars, reserved=RESERVED)
    for task, names in vocabulary.tasks.items():
        labels = _shared(names, known.tasks.get(task, ()))
        layers = [f"outputs.{module_name(task)}", f"outputs.{module_name(task)}.3", f"columns.outputs.{task}.own"]
        layers += ["relations.output"] if task == DEPREL else []
        for layer in layers:
            yield f"{layer}.weight", labels
            yield f"{layer}.bias", labels
    for task, output in network.columns.named_outputs() if network.columns else ():
        yield f"columns.outputs.{task}.shared.weight", _shared(output.parts, _parts(source, task))


def _parts(source: Tagger, task: str) -> Sequence[str]:
    outputs: dict[str, SharedParts] = dict(source.columns.named_outputs()) if source.columns else {}
    return outputs[task].parts if task in outputs else ()


def _shared(here: Sequence[str], there: Sequence[str], *, reserved: int = 0) -> Rows:
    numbers = {name: number for number, name in enumerate(there, reserved)}
    both = [(number, numbers[name]) for number, name in enumerate(here, reserved) if name in numbers]
    first = list(range(reserved))
    return first + [one for one, _ in both], first + [other for _, other in both]
