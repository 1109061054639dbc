"""The network as ONNX files, which parse without PyTorch: exactly in floats, or small and fast in bytes.

A byte has a range. ONNX Runtime takes it from the numbers at hand, so that the range, and with it a sentence's scores,
would depend on the sentences beside it. Here everything that goes through bytes is framed: each vector has two features
more, always 1 and -1, which no weight looks at, and no feature is beyond them. So the range is always the same.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto
from torch import Tensor, nn

from biplanar.data.arrays import Float32s
from biplanar.errors import BiplanarError, FileError
from biplanar.tagger.network import ATTENTION, NEVER, BiaffineArcs, Relations, SharedDropout, Tagger
from biplanar.tagger.onnx_graph import MICROSOFT, Graph, Shape, write_model
from biplanar.tagger.predict import DEPENDENT, GOVERNOR
from biplanar.tagger.runtime import OnnxFiles

LONGEST = 2**31 - 1

FRAME = np.array([1, -1], dtype=np.float32)

# What keeps an LSTM's gates open and its cell full, so that its state is exactly 1 or -1 from the first word on.
OPEN, FULL = 20.0, 30.0


def export_onnx(network: Tagger, folder: str | Path, *, int8: bool = False) -> None:
    """Write the parts of the network to a folder: vectors of forms, scores of words, relations given the head.

    With `int8`, weights are stored and mostly computed with in one byte, and embeddings stored in two, instead of four.
    """
    files, key = OnnxFiles(Path(folder)), _key(network)
    models = {
        files.forms: _forms(network, Graph(int8=int8, key=key)),
        files.words: _words(network, Graph(int8=int8, key=key)),
    }
    if network.relations is not None:
        models[files.relations] = _relations(network.relations, Graph(int8=int8, key=key))
    try:
        files.folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{files.folder}: {error.strerror or error}") from error
    files.known.unlink(missing_ok=True)  # they were another network's
    for path, model in models.items():
        write_model(model, path)


def _key(network: Tagger) -> str:
    """What tells that files are parts of one network."""
    digest = hashlib.sha256()
    for tensor in network.state_dict().values():
        digest.update(_array(tensor).tobytes())
    return digest.hexdigest()


def _forms(network: Tagger, graph: Graph) -> onnx.ModelProto:
    """Like `Tagger.represent`."""
    scale = _scale(network.word_embedding) if graph.int8 else np.float32(1)
    table = _array(network.word_embedding.weight) / scale
    words = graph.rows(table, "ids", "word_embedding")  # (forms, word_dim)
    spelled = _spell(graph, network)
    if network.form is not None:
        weight = _array(network.form.weight).copy()
        weight[:, : table.shape[1]] *= scale
        joined = graph.add("Concat", [words, spelled], "joined", axis=1)
        sums = graph.linear(weight, _bias(network.form), joined, "form")
        parts = [_bounded(graph, graph.add("Tanh", [sums], "form.activated"), "form.bounded")]
    else:
        parts = [words, spelled]
    if graph.int8:
        ends = [graph.add("Shape", ["ids"], "frame.count"), graph.integers([1], "frame.once")]
        count = graph.add("Concat", ends, "frame.repeats", axis=0)
        parts.append(graph.add("Tile", [graph.constant(FRAME[None], "frame.row"), count], "frame"))  # (forms, 2)
    graph.add("Concat", parts, "vectors", axis=1)
    inputs: dict[str, Shape] = {"ids": ["forms"], "chars": ["forms", "characters"], "lengths": ["forms"]}
    return graph.model(inputs, {"vectors": ["forms", _form_width(network, graph)]})


def _bounded(graph: Graph, activated: str, name: str) -> str:
    """What ONNX Runtime takes for the hyperbolic tangent goes beyond 1 by a hair, but nothing may leave its frame."""
    if not graph.int8:
        return activated
    least, most = (graph.constant(np.array(bound), f"{name}.{bound:+.0f}") for bound in FRAME[::-1])
    return graph.add("Clip", [activated, least, most], name)


def _form_width(network: Tagger, graph: Graph) -> int:
    first, treebank = network.layers[0], network.treebank_embedding
    assert isinstance(first, nn.LSTM)
    return first.input_size - (treebank.embedding_dim if treebank else 0) + (len(FRAME) if graph.int8 else 0)


def _scale(embedding: nn.Embedding) -> Float32s:
    """How far each feature of an embedding goes; divided by it, all lie between -1 and 1."""
    largest: Float32s = np.abs(_array(embedding.weight)).max(axis=0)
    return np.where(largest > 0, largest, 1).astype(np.float32)


def _spell(graph: Graph, network: Tagger) -> str:
    """The character LSTM's last states for every form: (forms, 2 char_hidden)."""
    table, lstm = _letters(graph, network)
    by_time = graph.add("Transpose", ["chars"], "chars.by_time", perm=[1, 0])  # (characters, forms)
    letters = graph.add("Gather", [table, by_time], "letters", axis=0)
    last = lstm.run(letters, "lengths", "spelling.states", output=1)  # (2, forms, char_hidden)
    last = graph.add("Transpose", [last], "spelling.by_form", perm=[1, 0, 2])
    last = graph.slice(last, graph.integers([network.char_lstm.hidden_size], "spelling.width"), 2, "spelling.unframed")
    return graph.add("Flatten", [last], "spelling", axis=1)


def _letters(graph: Graph, network: Tagger) -> tuple[str, _Lstm | _FramedLstm]:
    """The embedding of characters, and the LSTM that reads it."""
    table = _array(network.char_embedding.weight)
    if not graph.int8:
        return graph.constant(table, "char_embedding"), _Lstm(graph, network.char_lstm, "char_lstm")
    scale = _scale(network.char_embedding)
    framed = np.concatenate([table / scale, np.tile(FRAME, (len(table), 1))], axis=1)
    return graph.halves(framed, "char_embedding"), _FramedLstm(graph, network.char_lstm, "char_lstm", scale)


def _words(network: Tagger, graph: Graph) -> onnx.ModelProto:
    """Like `Tagger.forward`. `places` are those of the words in an array of shape (words, sentences)."""
    by_time = _encode(graph, network)  # (words, sentences, width)
    flat = graph.add("Reshape", [by_time, graph.integers([-1, _width(network, graph)], "flat.shape")], "flat")
    hidden = graph.add("Gather", [flat, "places"], "hidden", axis=0)  # (all words, width)
    attention = None if network.attention is None else _attend(graph, network, by_time)
    outputs = dict(network.named_outputs())
    firsts: dict[str, nn.Linear] = {}
    others: dict[str, list[nn.Module]] = {}
    for task, output in outputs.items():
        first, *others[task] = output if isinstance(output, nn.Sequential) else [output]
        assert isinstance(first, nn.Linear)
        firsts[task] = first
    if network.relations is not None:
        firsts |= {DEPENDENT: network.relations.dependent, GOVERNOR: network.relations.head}
    shapes: dict[str, Shape] = {}
    for task, scores in _apply_all(graph, firsts, hidden, network.width).items():
        if attention is not None and task in outputs:
            # What attention adds has a range of its own, so its product is apart.
            weight = _array(firsts[task].weight)[:, network.width :]
            far = graph.product(weight, attention, f"outputs.{task}.far")
            scores = graph.add("Add", [scores, far], f"outputs.{task}.both")
        layers = [firsts[task], *others.get(task, [])]
        scores = _apply(graph, nn.Sequential(*layers[1:]), scores, f"outputs.{task}")
        shapes[graph.add("Identity", [scores], task)] = ["all words", _labels(layers)]
    inputs: dict[str, Shape] = {
        "forms": ["forms", _form_width(network, graph)],
        "words": ["sentences", "words"],
        "lengths": ["sentences"],
        "places": ["all words"],
    }
    return graph.model(inputs, shapes, "forms")


def _width(network: Tagger, graph: Graph) -> int:
    """Of what the last LSTM gives, which has a frame for each direction if there is one."""
    return network.width + (2 * len(FRAME) if graph.int8 else 0)


def _encode(graph: Graph, network: Tagger) -> str:
    """Like `Tagger.encode`, but the LSTMs want the time first: (words, sentences, width)."""
    places = graph.add("Transpose", ["words"], "words.transposed", perm=[1, 0])  # (words, sentences)
    hidden = graph.add("Gather", ["forms", places], "word_vectors", axis=0)
    for number, layer in enumerate(network.layers):
        name = f"layers.{number}"
        always = None if number else _treebank(network)
        lstm: _Lstm | _FramedLstm
        if graph.int8:
            lstm = _FramedLstm(graph, layer, name, None if number else _form_scale(network), always=always)
        else:
            lstm = _Lstm(graph, layer, name, always=always)
        states = lstm.run(hidden, "lengths", f"{name}.states")  # (words, 2, sentences, hidden)
        states = graph.add("Transpose", [states], f"{name}.joined", perm=[0, 2, 1, 3])
        shape = graph.integers([0, 0, -1], f"{name}.shape")  # 0: as it is
        hidden = graph.add("Reshape", [states, shape], f"{name}.hidden")
    return hidden


def _form_scale(network: Tagger) -> Float32s:
    """What the features of forms were divided by."""
    if network.form is not None:
        return np.ones(network.form.out_features, dtype=np.float32)
    return np.concatenate(
        [_scale(network.word_embedding), np.ones(2 * network.char_lstm.hidden_size, dtype=np.float32)]
    )


def _treebank(network: Tagger) -> Float32s | None:
    """The vector that every word has for being of the first treebank."""
    return None if network.treebank_embedding is None else _array(network.treebank_embedding.weight[0])


def _weights(module: nn.LSTM, always: Float32s | None) -> tuple[Float32s, Float32s, Float32s]:
    """Weights for inputs (2, 4 hidden, features) and states (2, 4 hidden, hidden), and the bias (2, 4 hidden).

    `always` are the last features of the inputs, where they are the same for all words: they become part of the bias.
    """
    parameters = dict(module.named_parameters())

    def both(kind: str) -> Float32s:
        return np.stack([_gates(_array(parameters[f"{kind}_l0{direction}"])) for direction in ("", "_reverse")])

    inputs, bias = both("weight_ih"), both("bias_ih") + both("bias_hh")
    if always is not None:
        inputs, constant = np.split(inputs, [-len(always)], axis=2)
        bias = bias + constant @ always
    return inputs, both("weight_hh"), bias


def _gates(parameter: Float32s) -> Float32s:
    """From PyTorch's order of gates (input, forget, cell, output) to ONNX's (input, output, forget, cell)."""
    inward, forget, cell, outward = np.split(parameter, 4)
    return np.concatenate([inward, outward, forget, cell])


class _Lstm:
    """A bidirectional LSTM in floats, which may run at several places of the graph."""

    def __init__(self, graph: Graph, module: nn.Module, name: str, *, always: Float32s | None = None) -> None:
        assert isinstance(module, nn.LSTM)
        self.graph, self.hidden = graph, module.hidden_size
        inputs, recurrent, bias = _weights(module, always)
        self.inputs, self.recurrent = (
            graph.floats(inputs, f"{name}.weight_ih"),
            graph.floats(recurrent, f"{name}.weight_hh"),
        )
        self.bias = graph.constant(np.concatenate([bias, np.zeros_like(bias)], axis=1), f"{name}.bias")  # (2, 8 hidden)

    def run(self, sequence: str, lengths: str, name: str, *, output: int = 0) -> str:
        """The states at all times (output 0) or the last ones (output 1)."""
        times = self.graph.add("Cast", [lengths], f"{name}.lengths", to=TensorProto.INT32)
        inputs = [sequence, self.inputs, self.recurrent, self.bias, times]
        how: dict[str, Any] = {"output": output, "direction": "bidirectional", "hidden_size": self.hidden}
        return self.graph.add("LSTM", inputs, name, **how)


class _FramedLstm:
    """A bidirectional LSTM in bytes. In each direction, two more states are always 1 and -1."""

    def __init__(
        self, graph: Graph, module: nn.Module, name: str, scale: Float32s | None, *, always: Float32s | None = None
    ) -> None:
        """What comes in has been divided by `scale` and framed; without a scale it is another LSTM's states."""
        assert isinstance(module, nn.LSTM)
        self.graph, self.hidden = graph, module.hidden_size + len(FRAME)
        inputs, recurrent, bias = _weights(module, always)
        behind = ((0, 0), (0, 0), (0, len(FRAME)))
        inputs = _with_frames(inputs) if scale is None else np.pad(inputs * scale, behind)
        inputs = _more_units(inputs)  # (2, 4 hidden, features)
        recurrent = np.pad(_more_units(recurrent), behind)  # (2, 4 hidden, hidden)
        gates = np.stack([np.full(2, OPEN), np.full(2, OPEN), np.full(2, OPEN), OPEN * FRAME])  # (4, 2)
        bias = _more_units(bias[..., None], gates)[..., 0]  # (2, 4 hidden)
        cells = np.zeros((2, 1, self.hidden), dtype=np.float32)
        cells[..., -len(FRAME) :] = FULL * FRAME
        self.cells = graph.constant(cells, f"{name}.cells")
        self.inputs, self.recurrent = (
            graph.bytes(inputs, f"{name}.weight_ih"),
            graph.bytes(recurrent, f"{name}.weight_hh"),
        )
        self.bias = graph.constant(np.concatenate([bias, np.zeros_like(bias)], axis=1), f"{name}.bias")  # (2, 8 hidden)

    def run(self, sequence: str, lengths: str, name: str, *, output: int = 0) -> str:
        """The states at all times (output 0) or the last ones (output 1)."""
        times = self.graph.add("Cast", [lengths], f"{name}.lengths", to=TensorProto.INT32)
        sentences = self.graph.add("Shape", [lengths], f"{name}.sentences")
        ends = [self.graph.integers([2], f"{name}.directions"), sentences, self.graph.integers([1], f"{name}.one")]
        shape = self.graph.add("Concat", ends, f"{name}.cells.shape", axis=0)
        cells = self.graph.add("Expand", [self.cells, shape], f"{name}.cells")  # (2, sentences, hidden)
        weights = [self.inputs[0], self.recurrent[0], self.bias, times, "", cells, ""]  # no first states, no peepholes
        inputs = [sequence, *weights, *self.inputs[1:], *self.recurrent[1:]]
        how: dict[str, Any] = {"output": output, "direction": "bidirectional", "hidden_size": self.hidden}
        return self.graph.add("DynamicQuantizeLSTM", inputs, name, domain=MICROSOFT, **how)


def _more_units(parameter: Float32s, of_frame: Float32s | None = None) -> Float32s:
    """From (2, 4 hidden, features) to the same with a frame's units behind those of each gate."""
    directions, units, features = parameter.shape
    gates = parameter.reshape(directions, 4, units // 4, features)
    more = np.zeros((directions, 4, len(FRAME), features), dtype=np.float32)
    if of_frame is not None:
        more += of_frame[None, :, :, None]
    return np.concatenate([gates, more], axis=2).reshape(directions, -1, features).astype(np.float32)


def _with_frames(weight: Float32s) -> Float32s:
    """From (..., 2 hidden) to the same with no weight for the frame of each direction."""
    sides = np.split(weight, 2, axis=-1)
    nothing = np.zeros((*weight.shape[:-1], len(FRAME)), dtype=np.float32)
    return np.concatenate([sides[0], nothing, sides[1], nothing], axis=-1)


def _apply_all(graph: Graph, layers: dict[str, nn.Linear], hidden: str, width: int) -> dict[str, str]:
    """Layers that all look at the first features of the same states, in one product."""
    weight = np.concatenate([_array(layer.weight)[:, :width] for layer in layers.values()])
    bias = np.concatenate([_bias(layer) for layer in layers.values()])
    table = _on_states(graph, weight, bias, hidden, "firsts")
    names = {task: f"firsts.{task}" for task in layers}
    graph.split(table, [layer.out_features for layer in layers.values()], list(names.values()), "firsts.split")
    return names


def _on_states(graph: Graph, weight: Float32s, bias: Float32s, hidden: str, name: str) -> str:
    """A layer on what the last LSTM gives."""
    return graph.linear(_with_frames(weight) if graph.int8 else weight, bias, hidden, name, bounded=True)


def _attend(graph: Graph, network: Tagger, by_time: str) -> str:
    """Like `BiaffineArcs` and then `Attention`, on states with the time first: (all words, ATTENTION)."""
    arcs, attention = network.arcs, network.attention
    assert arcs is not None
    assert attention is not None
    hidden = graph.add("Transpose", [by_time], "hidden.by_sentence", perm=[1, 0, 2])  # (sentences, words, width)
    mask = _mask(graph, hidden)  # (sentences, words)
    root, heads = _chances(graph, arcs, hidden, mask)  # (sentences, words, 1) and (sentences, words, words)
    dependents = graph.add("Transpose", [heads], "chances.dependents", perm=[0, 2, 1])
    values = _on_states(
        graph, _array(attention.value.weight), _bias(attention.value), hidden, "attention.value"
    )  # (sentences, words, CONTEXT)
    of_root = graph.add("Mul", [root, graph.constant(_array(attention.root_value), "root_value")], "context.root")
    of_heads = graph.add("Add", [graph.add("MatMul", [heads, values], "context.words"), of_root], "context.heads")
    of_dependents = graph.add("MatMul", [dependents, values], "context.dependents")
    sides = [*_both_sides(graph, heads, "head"), root, *_both_sides(graph, dependents, "dependents")]
    counts = graph.add("Concat", sides, "counts", axis=2)  # (sentences, words, COUNTS)
    amounts = graph.integers([0, 1, 0, 0, -1, 0], "counts.amounts")  # one word in, one word out
    before = graph.add("Pad", [counts, amounts], "counts.before")
    table = graph.add("Concat", [of_heads, of_dependents, counts, before], "attention.by_sentence", axis=2)
    table = graph.add("Transpose", [table], "attention.by_time", perm=[1, 0, 2])
    flat = graph.add("Reshape", [table, graph.integers([-1, ATTENTION], "attention.shape")], "attention.flat")
    return graph.add("Gather", [flat, "places"], "attention", axis=0)


def _mask(graph: Graph, hidden: str) -> str:
    """Where there is a word: (sentences, words)."""
    size = graph.add("Gather", [graph.add("Shape", [hidden], "sizes"), graph.integers(1, "mask.axis")], "mask.size")
    steps = [graph.integers(0, "mask.zero"), size, graph.integers(1, "mask.one")]
    positions = graph.add("Range", steps, "mask.positions")  # (words,)
    lengths = graph.add("Unsqueeze", ["lengths", graph.integers([1], "mask.last")], "mask.lengths")  # (sentences, 1)
    return graph.add("Less", [positions, lengths], "mask")


def _chances(graph: Graph, arcs: BiaffineArcs, hidden: str, mask: str) -> tuple[str, str]:
    """How likely the root and each word are the head of each word; nothing is for padding."""
    leaky = nn.LeakyReLU(0.1)
    dependents, heads = (
        _apply(graph, leaky, _on_states(graph, _array(layer.weight), _bias(layer), hidden, name), name)
        for layer, name in ((arcs.arc_dependent, "arc_dependent"), (arcs.arc_head, "arc_head"))
    )  # (sentences, words, arc_dim)
    weight = _array(arcs.arc_weight)  # (arc_dim + 1, arc_dim), its last row for the one beside each dependent
    product = graph.product(weight[:-1].T, dependents, "arc_weight")  # (sentences, words, arc_dim)
    wanted = graph.add("Add", [product, graph.constant(weight[-1], "arc_bias")], "arc_wanted")
    head_of_root = graph.constant(_array(leaky(arcs.arc_head(arcs.root)))[:, None], "arc_root")  # (arc_dim, 1)
    root_scores = graph.add("MatMul", [wanted, head_of_root], "arcs.root")  # (sentences, words, 1)
    turned = graph.add("Transpose", [heads], "arc_head.by_feature", perm=[0, 2, 1])
    scores = graph.add("MatMul", [wanted, turned], "arcs.words")  # (sentences, words, words)
    columns = graph.add("Unsqueeze", [mask, graph.integers([1], "mask.columns.axis")], "mask.columns")
    never = graph.constant(np.array(NEVER, dtype=np.float32), "never")
    scores = graph.add("Where", [columns, scores, never], "arcs.masked")
    scores = graph.add("Concat", [root_scores, scores], "arcs", axis=2)  # (sentences, words, 1 + words)
    chances = graph.add("Softmax", [scores], "arcs.chances", axis=2)
    rows = graph.add("Unsqueeze", [mask, graph.integers([2], "mask.rows.axis")], "mask.rows")
    chances = graph.add("Where", [rows, chances, graph.constant(np.array(0, dtype=np.float32), "nothing")], "chances")
    root = graph.slice(chances, graph.integers([1], "chances.one"), 2, "chances.root")
    end = graph.integers([LONGEST], "chances.end")
    return root, graph.slice(chances, end, 2, "chances.heads", start=1)


def _both_sides(graph: Graph, chances: str, name: str) -> tuple[str, str]:
    """How much of each row lies left of the diagonal, and how much right of it: (sentences, words, 1) each."""

    def side(which: str, upper: int, diagonal: int) -> str:
        part = [chances, graph.integers(diagonal, f"counts.{name}.{which}.diagonal")]
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
            return graph.linear(_array(module.weight), _bias(module), hidden, name)
        case nn.LeakyReLU():
            return graph.add("LeakyRelu", [hidden], f"{name}.activation", alpha=module.negative_slope)
        case nn.Dropout() | SharedDropout() | nn.Identity():
            return hidden
    raise BiplanarError(f"{name}: a layer of type {type(module).__name__} cannot be exported")


def _bias(layer: nn.Linear) -> Float32s:
    return np.zeros(layer.out_features, dtype=np.float32) if layer.bias is None else _array(layer.bias)


def _labels(layers: list[nn.Module]) -> int:
    """The width of what some layers give."""
    return next(layer.out_features for layer in reversed(layers) if isinstance(layer, nn.Linear))


def _relations(relations: Relations, graph: Graph) -> onnx.ModelProto:
    """Like `Relations.relate`."""
    root = graph.halves(_array(relations.root)[None], "root")  # (1, relation_hidden)
    rows = graph.add("Concat", [root, "heads"], "root_and_heads", axis=0)
    chosen = graph.add("Gather", [rows, "governors"], "chosen", axis=0)  # (words, relation_hidden)
    joined = graph.add("LeakyRelu", [graph.add("Add", ["dependents", chosen], "sums")], "joined", alpha=0.1)
    product = graph.add("MatMul", [joined, graph.halves(_array(relations.output.weight).T, "weight")], "product")
    graph.add("Add", [product, graph.constant(_array(relations.output.bias), "bias")], "relations")
    shape: Shape = ["words", relations.output.in_features]
    inputs: dict[str, Shape] = {"dependents": shape, "heads": shape, "governors": ["words"]}
    return graph.model(inputs, {"relations": ["words", relations.output.out_features]}, "dependents", "heads")


def _array(tensor: Tensor) -> Float32s:
    array: Float32s = tensor.detach().float().cpu().numpy()
    return array
