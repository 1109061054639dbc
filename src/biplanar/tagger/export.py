"""The network as ONNX files, which parse without PyTorch: exactly in floats, or small and fast in int8.

What an encoder's part of the graphs is, `EXPORTS` tells; how int8 keeps to one range, `export_bilstm`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from torch import nn

from biplanar.data.arrays import Float32s
from biplanar.errors import BiplanarError, file_errors
from biplanar.tagger.encoders.bilstm import BiLstm
from biplanar.tagger.encoders.transformer import Transformer
from biplanar.tagger.export_bilstm import BiLstmExport, array_of, bias_of
from biplanar.tagger.export_transformer import TransformerExport
from biplanar.tagger.layers import NEVER, BiaffineArcs, SharedDropout
from biplanar.tagger.network import ATTENTION, ColumnOutputs, Relations, Tagger
from biplanar.tagger.onnx_graph import LARGEST_FILE, Graph, Shape, write_model
from biplanar.tagger.runtime import ARC_DEPENDENT, ARC_HEAD, ARC_ROOT, DEPENDENT, GOVERNOR, OnnxFiles

LONGEST = 2**31 - 1


# To export another encoder is one class with the methods of `BiLstmExport`, and one line here.
EXPORTS: dict[type[nn.Module], Callable[[Any, Graph], BiLstmExport]] = {
    BiLstm: BiLstmExport,
    Transformer: TransformerExport,
}


def can_export(network: Tagger) -> bool:
    """Whether there is an export for the network's encoder; a pre-trained one may be too large for a file."""
    encoder = network.encoder
    size = sum(parameter.nbytes for parameter in encoder.parameters()) if isinstance(encoder, Transformer) else 0
    return type(encoder) in EXPORTS and size < LARGEST_FILE


def export_onnx(network: Tagger, folder: str | Path, *, int8: bool = False) -> None:
    """Write the parts of the network to a folder: vectors of forms, scores of words, relations given the head.

    With `int8`, weights are stored and mostly computed with in one byte, and embeddings stored in two, instead of four.
    """
    kind = type(network.encoder)
    if not can_export(network):
        raise BiplanarError(f"an encoder of type {kind.__name__} cannot be exported to ONNX")
    files, key = OnnxFiles(Path(folder)), _key(network)
    forms, words = (EXPORTS[kind](network.encoder, Graph(int8=int8, key=key)) for _ in range(2))
    models = {files.words: _words(network, words)}
    if forms.represented:
        forms.represent()
        models[files.forms] = forms.graph.model(forms.form_inputs, {"vectors": ["forms", forms.represented]})
    if (contexts := words.contexts()) is not None:
        models[files.subwords] = contexts
    if network.relations is not None:
        models[files.relations] = _relations(network.relations, Graph(int8=int8, key=key))
    with file_errors(files.folder):
        files.folder.mkdir(exist_ok=True)
    files.known.unlink(missing_ok=True)  # they were another network's
    for path, model in models.items():
        write_model(model, path)


def _key(network: Tagger) -> str:
    """What tells that files are parts of one network."""
    digest = hashlib.sha256()
    for tensor in network.state_dict().values():
        digest.update(array_of(tensor).tobytes())
    return digest.hexdigest()


def _words(network: Tagger, encoder: BiLstmExport) -> onnx.ModelProto:
    """Like `Tagger.forward`. `places` are those of the words in an array of shape (words, sentences).

    Attention looks at `windows`, which are numbers of words, where `window_places` are not padding.
    """
    graph = encoder.graph
    by_time = encoder.encode()  # (words, sentences, width)
    flat = graph.add("Reshape", [by_time, graph.integers([-1, encoder.width], "flat.shape")], "flat")
    hidden = graph.add("Gather", [flat, "places"], "hidden", axis=0)  # (all words, width)
    attention = None if network.attention is None else _attend(encoder, network, hidden)
    layers: dict[str, list[Any]] = {
        task: list(output) if isinstance(output, nn.Sequential) else [output]
        for task, output in network.named_outputs()
    }
    if network.relations is not None:
        layers |= {DEPENDENT: [network.relations.dependent], GOVERNOR: [network.relations.head]}
    arcs = network.arcs if network.gives_arcs else None
    if arcs is not None:
        layers |= {ARC_DEPENDENT: [arcs.arc_dependent], ARC_HEAD: [arcs.arc_head]}
    shapes: dict[str, Shape] = {}
    first_layers = _apply_all(encoder, {task: own[0] for task, own in layers.items()}, hidden, network.width)
    if arcs is not None:
        shapes |= _arcs(graph, arcs, first_layers.pop(ARC_DEPENDENT), first_layers.pop(ARC_HEAD))
    for task, scores in first_layers.items():
        first, *others = layers[task]
        if attention is not None and task in network.tasks:
            # What attention adds has a range of its own, so its product is apart.
            far = graph.product(array_of(first.weight)[:, network.width :], attention, f"outputs.{task}.far")
            scores = graph.add("Add", [scores, far], f"outputs.{task}.both")
        scores = _apply(graph, nn.Sequential(*others), scores, f"outputs.{task}")
        shapes[graph.add("Identity", [scores], task)] = ["all words", (others or [first])[-1].out_features]
    if network.columns is not None:
        shapes |= _columns(encoder, network.columns, hidden, network.width)
    inputs: dict[str, Shape] = {
        "forms": ["forms", encoder.form_width],
        "words": ["sentences", "words"],
        "lengths": ["sentences"],
        "places": ["all words"],
    }
    if attention is not None:
        inputs |= {"windows": ["windows", "longest"], "window_lengths": ["windows"], "window_places": ["all words"]}
    return graph.model(inputs, shapes, "forms")


def _apply_all(encoder: BiLstmExport, layers: dict[str, nn.Linear], hidden: str, width: int) -> dict[str, str]:
    """Layers that all look at the first features of the same states, in one product."""
    weight = np.concatenate([array_of(layer.weight)[:, :width] for layer in layers.values()])
    bias = np.concatenate([bias_of(layer) for layer in layers.values()])
    table = _on_states(encoder, weight, bias, hidden, "firsts")
    names = {task: f"firsts.{task}" for task in layers}
    encoder.graph.split(table, [layer.out_features for layer in layers.values()], list(names.values()), "firsts.split")
    return names


def _arcs(graph: Graph, arcs: BiaffineArcs, dependents: str, heads: str) -> dict[str, Shape]:
    """Like `BiaffineArcs.vectors`, from its first layers; gives the shapes of the tables."""
    active = graph.add("LeakyRelu", [dependents], "arc.dependent.activation", alpha=0.1)
    _weigh(graph, arcs, active, ARC_DEPENDENT, ARC_ROOT)
    graph.add("LeakyRelu", [heads], ARC_HEAD, alpha=0.1)
    size = arcs.arc_weight.shape[1]
    return {ARC_DEPENDENT: ["all words", size], ARC_HEAD: ["all words", size], ARC_ROOT: ["all words", 1]}


def _weigh(graph: Graph, arcs: BiaffineArcs, dependents: str, vectors: str, roots: str) -> None:
    """The vectors whose products with those of heads are scores of arcs, and their scores of the root: (..., 1)."""
    weight = array_of(arcs.arc_weight)  # (arc_dim + 1, arc_dim), its last row for the one beside each dependent
    product = graph.product(weight[:-1].T, dependents, f"{vectors}.weighed")
    graph.add("Add", [product, graph.constant(weight[-1], f"{vectors}.bias")], vectors)
    root = nn.functional.leaky_relu(arcs.arc_head(arcs.root), 0.1)
    graph.add("MatMul", [vectors, graph.constant(array_of(root)[:, None], f"{roots}.vector")], roots)


def _columns(encoder: BiLstmExport, columns: ColumnOutputs, hidden: str, width: int) -> dict[str, Shape]:
    """Like `ColumnOutputs`, all labels in one product; gives the shapes of the tables."""
    graph, outputs = encoder.graph, [output for _, output in columns.named_outputs()]
    weight = np.concatenate([array_of(output.weight) for output in outputs])
    bias = np.concatenate([array_of(output.bias) for output in outputs])
    seen = [hidden, _form_of_each_word(graph)] if columns.sees_forms else [hidden]
    seen_name = graph.add("Concat", seen, "columns.seen", axis=1)  # (all words, width and form_width)

    def on_seen(weight: Float32s, bias: Float32s, name: str) -> str:
        parts = np.split(weight, [width], axis=1)
        framed = [encoder.for_states(parts[0]), *([encoder.for_forms(parts[1])] if columns.sees_forms else [])]
        return graph.linear(np.concatenate(framed, axis=1), bias, seen_name, name, bounded=True)

    if isinstance(columns.hidden, nn.Sequential):
        first, *others = columns.hidden
        assert isinstance(first, nn.Linear)
        layer = on_seen(array_of(first.weight), bias_of(first), "columns.hidden")
        layer = _apply(graph, nn.Sequential(*others), layer, "columns.hidden")
        table = graph.linear(weight, bias, layer, "columns")
    else:
        table = on_seen(weight, bias, "columns")
    sizes = {task: len(output.bias) for task, output in columns.named_outputs()}
    graph.split(table, list(sizes.values()), list(sizes), "columns.split")
    return {task: ["all words", size] for task, size in sizes.items()}


def _form_of_each_word(graph: Graph) -> str:
    """Vectors of forms, word by word: (all words, form_width)."""
    by_time = graph.add("Transpose", ["words"], "forms.by_time", perm=[1, 0])  # (words, sentences)
    flat = graph.add("Reshape", [by_time, graph.integers([-1], "forms.flat.shape")], "forms.flat")
    numbers = graph.add("Gather", [flat, "places"], "forms.numbers", axis=0)
    return graph.add("Gather", ["forms", numbers], "forms.of_words", axis=0)


def _on_states(encoder: BiLstmExport, weight: Float32s, bias: Float32s, hidden: str, name: str) -> str:
    """A layer on encoded words."""
    return encoder.graph.linear(encoder.for_states(weight), bias, hidden, name, bounded=True)


def _attend(encoder: BiLstmExport, network: Tagger, words: str) -> str:
    """Like `BiaffineArcs` and then `Attention`, on encoded words in windows: (all words, ATTENTION)."""
    graph, arcs, attention = encoder.graph, network.arcs, network.attention
    assert arcs is not None
    assert attention is not None
    hidden = graph.add("Gather", [words, "windows"], "hidden.by_window", axis=0)  # (sentences, words, width)
    mask = _mask(graph, hidden)  # (sentences, words)
    root, heads = _arc_probabilities(encoder, arcs, hidden, mask)  # (sentences, words, 1) and (sentences, words, words)
    dependents = graph.add("Transpose", [heads], "probabilities.dependents", perm=[0, 2, 1])
    values = _on_states(
        encoder, array_of(attention.value.weight), bias_of(attention.value), hidden, "attention.value"
    )  # (sentences, words, CONTEXT)
    of_root = graph.add("Mul", [root, graph.constant(array_of(attention.root_value), "root_value")], "context.root")
    of_heads = graph.add("Add", [graph.add("MatMul", [heads, values], "context.words"), of_root], "context.heads")
    of_dependents = graph.add("MatMul", [dependents, values], "context.dependents")
    sides = [*_both_sides(graph, heads, "head"), root, *_both_sides(graph, dependents, "dependents")]
    counts = graph.add("Concat", sides, "counts", axis=2)  # (sentences, words, COUNTS)
    amounts = graph.integers([0, 1, 0, 0, -1, 0], "counts.amounts")  # one word in, one word out
    before = graph.add("Pad", [counts, amounts], "counts.before")
    table = graph.add("Concat", [of_heads, of_dependents, counts, before], "attention.by_window", axis=2)
    flat = graph.add("Reshape", [table, graph.integers([-1, ATTENTION], "attention.shape")], "attention.flat")
    return graph.add("Gather", [flat, "window_places"], "attention", axis=0)


def _mask(graph: Graph, hidden: str) -> str:
    """Where there is a word: (sentences, words)."""
    size = graph.add("Gather", [graph.add("Shape", [hidden], "sizes"), graph.integers(1, "mask.axis")], "mask.size")
    steps = [graph.integers(0, "mask.zero"), size, graph.integers(1, "mask.one")]
    positions = graph.add("Range", steps, "mask.positions")  # (words,)
    lengths = graph.add(
        "Unsqueeze", ["window_lengths", graph.integers([1], "mask.last")], "mask.lengths"
    )  # (sentences, 1)
    return graph.add("Less", [positions, lengths], "mask")


def _arc_probabilities(encoder: BiLstmExport, arcs: BiaffineArcs, hidden: str, mask: str) -> tuple[str, str]:
    """How likely the root and each word are the head of each word; nothing is for padding."""
    graph, leaky = encoder.graph, nn.LeakyReLU(0.1)
    dependents, heads = (
        _apply(graph, leaky, _on_states(encoder, array_of(layer.weight), bias_of(layer), hidden, name), name)
        for layer, name in ((arcs.arc_dependent, "arc_dependent"), (arcs.arc_head, "arc_head"))
    )  # (sentences, words, arc_dim)
    _weigh(graph, arcs, dependents, "arc_wanted", "arcs.root")
    turned = graph.add("Transpose", [heads], "arc_head.by_feature", perm=[0, 2, 1])
    scores = graph.add("MatMul", ["arc_wanted", turned], "arcs.words")  # (sentences, words, words)
    columns = graph.add("Unsqueeze", [mask, graph.integers([1], "mask.columns.axis")], "mask.columns")
    never = graph.constant(np.array(NEVER, dtype=np.float32), "never")
    scores = graph.add("Where", [columns, scores, never], "arcs.masked")
    scores = graph.add("Concat", ["arcs.root", scores], "arcs", axis=2)  # (sentences, words, 1 + words)
    probabilities = graph.add("Softmax", [scores], "arcs.probabilities", axis=2)
    rows = graph.add("Unsqueeze", [mask, graph.integers([2], "mask.rows.axis")], "mask.rows")
    probabilities = graph.add(
        "Where", [rows, probabilities, graph.constant(np.array(0, dtype=np.float32), "nothing")], "probabilities"
    )
    root = graph.slice(probabilities, 0, 1, 2, "probabilities.root")
    return root, graph.slice(probabilities, 1, LONGEST, 2, "probabilities.heads")


def _both_sides(graph: Graph, probabilities: str, name: str) -> tuple[str, str]:
    """How much of each row lies left of the diagonal, and how much right of it: (sentences, words, 1) each."""

    def side(which: str, upper: int, diagonal: int) -> str:
        part = [probabilities, graph.integers(diagonal, f"counts.{name}.{which}.diagonal")]
        part = [graph.add("Trilu", part, f"counts.{name}.{which}.part", upper=upper)]
        return graph.add("ReduceSum", [*part, graph.integers([2], f"counts.{name}.{which}.axis")], f"{name}.{which}")

    return side("left", 0, -1), side("right", 1, 1)


def _apply(graph: Graph, module: nn.Module, hidden: str, name: str) -> str:
    """Feed-forward layers, whichever they are."""
    match module:
        case nn.Sequential():
            for number, part in enumerate(module):
                hidden = _apply(graph, part, hidden, f"{name}.{number}")
            return hidden
        case nn.Linear():
            return graph.linear(array_of(module.weight), bias_of(module), hidden, name)
        case nn.LeakyReLU():
            return graph.add("LeakyRelu", [hidden], f"{name}.activation", alpha=module.negative_slope)
        case nn.Dropout() | SharedDropout() | nn.Identity():
            return hidden
    raise BiplanarError(f"{name}: a layer of type {type(module).__name__} cannot be exported")


def _relations(relations: Relations, graph: Graph) -> onnx.ModelProto:
    """Like `Relations.relate`."""
    root = graph.halves(array_of(relations.root)[None], "root")  # (1, relation_hidden)
    rows = graph.add("Concat", [root, "heads"], "root_and_heads", axis=0)
    chosen = graph.add("Gather", [rows, "governors"], "chosen", axis=0)  # (words, relation_hidden)
    joined = graph.add("LeakyRelu", [graph.add("Add", ["dependents", chosen], "sums")], "joined", alpha=0.1)
    product = graph.add("MatMul", [joined, graph.halves(array_of(relations.output.weight).T, "weight")], "product")
    graph.add("Add", [product, graph.constant(array_of(relations.output.bias), "bias")], "relations")
    shape: Shape = ["words", relations.output.in_features]
    inputs: dict[str, Shape] = {"dependents": shape, "heads": shape, "governors": ["words"]}
    return graph.model(inputs, {"relations": ["words", relations.output.out_features]}, "dependents", "heads")
