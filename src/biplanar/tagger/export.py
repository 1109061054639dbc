"""The network as an ONNX file, which parses without PyTorch: exactly, or small and fast with weights of one byte."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from biplanar.errors import BiplanarError
from biplanar.tagger.features import PAD
from biplanar.tagger.network import SharedDropout, Tagger
from biplanar.tagger.runtime import FORMAT_KEY, FORMAT_VERSION
from biplanar.text import writing

# Old enough for ONNX Runtime 1.18, and every operator here has meant the same since.
OPSET, IR_VERSION = 17, 8
MICROSOFT = "com.microsoft"  # where ONNX Runtime keeps its operators on bytes

# Processors without VNNI add two products of an unsigned and a signed byte in 16 bits: 2 * 255 * 64 fits, 2 * 255 * 127
# does not. With weights of seven bits no processor overflows.
LARGEST_BYTE = 64

# Forms are spelled in groups of up to so many characters: four groups take 1.2 to 1.8 times the least possible work in
# eleven treebanks, one group would take 2 to 5 times.
SPELLING_GROUPS = (4, 7, 11)
LONGEST = 2**31 - 1

LARGEST_FILE = 2**31 - 1  # protobuf's own limit

SHAPES = {
    "forms": ["forms"],
    "chars": ["forms", "characters"],
    "spelling_lengths": ["forms"],
    "words": ["sentences", "words"],
    "lengths": ["sentences"],
}

Floats = NDArray[np.float32]


def export_onnx(network: Tagger, path: str | Path, *, int8: bool = False, compact: bool = False) -> None:
    """Write the network.

    `compact`: weights are stored in one byte and embeddings in two, instead of four each, but computed with as floats.
    `int8`: the same size, and computed with as bytes, which is faster; but then a sentence's scores depend a little on
    the sentences beside it, as the range of the bytes is taken from the whole batch.
    """
    graph = _Graph(int8=int8, compact=compact)
    hidden = _encode(graph, network)  # (sentences, words, width)
    outputs = {}
    for task, output in network.outputs.items():
        scores = _apply(graph, output, hidden, f"outputs.{task}")  # (sentences, words, labels)
        outputs[graph.add("Identity", [scores], task)] = _labels(output)
    _write(Path(path), graph.model(outputs))


class _Graph:
    """Nodes and weights under construction. A node has one output, named like itself."""

    def __init__(self, *, int8: bool, compact: bool) -> None:
        self.int8, self.compact = int8, compact
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def add(self, operator: str, inputs: Sequence[str], name: str, *, output: int = 0, **attributes: Any) -> str:
        """Append a node; of its outputs, the one numbered `output` gets the name."""
        outputs = [""] * output + [name]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name, **attributes))
        return name

    def constant(self, array: NDArray[Any], name: str) -> str:
        """Append a weight."""
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def integers(self, values: int | list[int], name: str) -> str:
        """Append whole numbers that are part of the graph rather than learned."""
        return self.constant(np.array(values, dtype=np.int64), name)

    def model(self, outputs: dict[str, int]) -> onnx.ModelProto:
        """All of it; `outputs` are names with their numbers of labels."""
        graph = helper.make_graph(
            self.nodes,
            "biplanar",
            [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, shape in SHAPES.items()],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, ["sentences", "words", size])
                for name, size in outputs.items()
            ],
            self.weights,
        )
        domains = [("", OPSET), (MICROSOFT, 1)] if self.int8 else [("", OPSET)]
        imports = [helper.make_opsetid(domain, version) for domain, version in domains]
        model = helper.make_model(graph, producer_name="biplanar", opset_imports=imports, ir_version=IR_VERSION)
        helper.set_model_props(model, {FORMAT_KEY: FORMAT_VERSION})
        return model


def _encode(graph: _Graph, network: Tagger) -> str:
    """Like `Tagger.encode`, but the LSTMs want the time first: (words, sentences, ...) up to the last layer."""
    forms = _represent(graph, network)  # (forms, word_dim + 2 char_hidden)
    places = graph.add("Transpose", ["words"], "words.transposed", perm=[1, 0])  # (words, sentences)
    hidden = graph.add("Gather", [forms, places], "word_vectors", axis=0)
    for number, layer in enumerate(network.layers):
        name, last = f"layers.{number}", number == len(network.layers) - 1
        states = _Lstm(graph, layer, name).run(hidden, "lengths", f"{name}.states")  # (words, 2, sentences, hidden)
        states = graph.add("Transpose", [states], f"{name}.joined", perm=[2, 0, 1, 3] if last else [0, 2, 1, 3])
        shape = graph.integers([0, 0, -1], f"{name}.shape")  # 0: as it is
        hidden = graph.add("Reshape", [states, shape], f"{name}.hidden")
    return hidden


def _represent(graph: _Graph, network: Tagger) -> str:
    """Like `Tagger.represent`."""
    table = _table(graph, network.word_embedding, "word_embedding")
    words = _embed(graph, table, "forms", "form_embeddings")  # (forms, word_dim)
    return graph.add("Concat", [words, _spell(graph, network)], "form_vectors", axis=1)


def _spell(graph: _Graph, network: Tagger) -> str:
    """The character LSTM's last states for every form: (forms, 2 char_hidden).

    ONNX's LSTM spends on every form what the longest one takes, so forms of different lengths go separately. As it dies
    of having nothing to do, one more form, of one character, stands behind the others and goes with every group.
    """
    one_more = graph.add("Shape", ["forms"], "one_more")  # (1,): its number
    lengths = _pad(graph, "spelling_lengths", [0, 1], 1, "padded_lengths")  # (forms + 1,)
    chars = _pad(graph, "chars", [0, 0, 1, 0], PAD, "padded_chars")  # (forms + 1, characters)
    table = _table(graph, network.char_embedding, "char_embedding")
    lstm = _Lstm(graph, network.char_lstm, "char_lstm")
    groups, states = [], []
    for shorter, longest in pairwise((0, *SPELLING_GROUPS, LONGEST)):
        name = f"spelling.{shorter}"
        places = _places(graph, "spelling_lengths", shorter, longest, f"{name}.places")
        places = graph.add("Concat", [places, one_more], f"{name}.forms", axis=0)  # (some,)
        letters = _embed(graph, table, _spellings(graph, chars, places, longest, name), f"{name}.letters")
        times = graph.add("Gather", [lengths, places], f"{name}.lengths", axis=0)
        groups.append(places)
        states.append(lstm.run(letters, times, f"{name}.states", output=1))  # (2, some, char_hidden)
    last = graph.add("Concat", states, "spelling.states", axis=1)
    last = graph.add("Transpose", [last], "spelling.transposed", perm=[1, 0, 2])
    last = graph.add("Flatten", [last], "spelling.hidden", axis=1)  # (forms + groups, 2 char_hidden)
    return _put_back(graph, last, groups, one_more)


def _places(graph: _Graph, lengths: str, shorter: int, longest: int, name: str) -> str:
    """Where lengths are in a range, its end included."""
    over = graph.add("Greater", [lengths, graph.integers(shorter, f"{name}.lower")], f"{name}.over")
    within = graph.add("LessOrEqual", [lengths, graph.integers(longest, f"{name}.upper")], f"{name}.within")
    both = graph.add("And", [over, within], f"{name}.both")
    rows = graph.add("NonZero", [both], f"{name}.rows")  # (1, some)
    return graph.add("Reshape", [rows, graph.integers([-1], f"{name}.shape")], name)


def _spellings(graph: _Graph, chars: str, places: str, longest: int, name: str) -> str:
    """The characters of some forms, no more than the longest has: (characters, some)."""
    chosen = graph.add("Gather", [chars, places], f"{name}.padded_chars", axis=0)
    chosen = _slice(graph, chosen, graph.integers([longest], f"{name}.longest"), 1, f"{name}.chars")
    return graph.add("Transpose", [chosen], f"{name}.transposed", perm=[1, 0])


def _put_back(graph: _Graph, rows: str, groups: list[str], count: str) -> str:
    """Rows that stand group by group, in the order of the numbers in the groups, up to a count."""
    numbers = graph.add("Concat", groups, "spelling.numbers", axis=0)
    size = graph.add("Size", [numbers], "spelling.size")
    steps = [graph.integers(0, "spelling.zero"), size, graph.integers(1, "spelling.one")]
    positions = graph.add("Range", steps, "spelling.positions")
    inverse = graph.add("ScatterElements", [numbers, numbers, positions], "spelling.inverse", axis=0)
    return graph.add("Gather", [rows, _slice(graph, inverse, count, 0, "spelling.order")], "spellings", axis=0)


def _pad(graph: _Graph, array: str, amounts: list[int], value: int, name: str) -> str:
    how = [graph.integers(amounts, f"{name}.amounts"), graph.integers(value, f"{name}.value")]
    return graph.add("Pad", [array, *how], name)


def _slice(graph: _Graph, array: str, end: str, axis: int, name: str) -> str:
    start, along = graph.integers([0], f"{name}.start"), graph.integers([axis], f"{name}.axis")
    return graph.add("Slice", [array, start, end, along], name)


def _table(graph: _Graph, embedding: nn.Embedding, name: str) -> str:
    weight = _array(embedding.weight)
    return graph.constant(weight.astype(np.float16) if graph.int8 or graph.compact else weight, f"{name}.weight")


def _embed(graph: _Graph, table: str, places: str, name: str) -> str:
    if not graph.int8 and not graph.compact:
        return graph.add("Gather", [table, places], name, axis=0)
    rows = graph.add("Gather", [table, places], f"{name}.float16", axis=0)
    return graph.add("Cast", [rows], name, to=TensorProto.FLOAT)


class _Lstm:
    """The weights of a bidirectional LSTM, which may run at several places of the graph."""

    def __init__(self, graph: _Graph, module: nn.Module, name: str) -> None:
        assert isinstance(module, nn.LSTM)
        self.graph, self.hidden = graph, module.hidden_size
        weights = dict(module.named_parameters())

        def both(kind: str) -> Floats:
            return np.stack([_gates(_array(weights[f"{kind}_l0{direction}"])) for direction in ("", "_reverse")])

        bias = np.concatenate([both("bias_ih"), both("bias_hh")], axis=1)
        self.bias = graph.constant(bias, f"{name}.bias")  # (2, 8 hidden)
        store = _quantise if graph.int8 else _store
        self.inputs = store(graph, both("weight_ih"), f"{name}.weight_ih")  # (2, 4 hidden, features)
        self.recurrent = store(graph, both("weight_hh"), f"{name}.weight_hh")  # (2, 4 hidden, hidden)

    def run(self, sequence: str, lengths: str, name: str, *, output: int = 0) -> str:
        """The states at all times (output 0) or the last ones (output 1)."""
        times = self.graph.add("Cast", [lengths], f"{name}.lengths", to=TensorProto.INT32)
        weights = [self.inputs[0], self.recurrent[0], self.bias, times]
        how: dict[str, Any] = {"output": output, "direction": "bidirectional", "hidden_size": self.hidden}
        if not self.graph.int8:
            return self.graph.add("LSTM", [sequence, *weights], name, **how)
        absent = ["", "", ""]  # first states and peepholes
        scales = [*self.inputs[1:], *self.recurrent[1:]]
        inputs = [sequence, *weights, *absent, *scales]
        return self.graph.add("DynamicQuantizeLSTM", inputs, name, domain=MICROSOFT, **how)


def _gates(parameter: Floats) -> Floats:
    """From PyTorch's order of gates (input, forget, cell, output) to ONNX's (input, output, forget, cell)."""
    inward, forget, cell, outward = np.split(parameter, 4)
    return np.concatenate([inward, outward, forget, cell])


def _apply(graph: _Graph, module: nn.Module, hidden: str, name: str) -> str:
    """Feed-forward layers, whichever they are."""
    match module:
        case nn.Sequential():
            for number, part in enumerate(module):
                hidden = _apply(graph, part, hidden, f"{name}.{number}")
            return hidden
        case nn.Linear():
            return _linear(graph, module, hidden, name)
        case nn.LeakyReLU():
            return graph.add("LeakyRelu", [hidden], f"{name}.activation", alpha=module.negative_slope)
        case nn.Dropout() | SharedDropout() | nn.Identity():
            return hidden
    raise BiplanarError(f"{name}: a layer of type {type(module).__name__} cannot be exported")


def _linear(graph: _Graph, layer: nn.Linear, hidden: str, name: str) -> str:
    weight = _array(layer.weight)  # (labels, features)
    bias = _array(layer.bias) if layer.bias is not None else np.zeros(len(weight), dtype=np.float32)
    bias_name = graph.constant(bias, f"{name}.bias")
    if graph.int8:
        quantised = _quantise(graph, weight, f"{name}.weight")
        return graph.add("DynamicQuantizeMatMul", [hidden, *quantised, bias_name], f"{name}.scores", domain=MICROSOFT)
    turned = graph.add("Transpose", _store(graph, weight, f"{name}.weight"), f"{name}.turned", perm=[1, 0])
    product = graph.add("MatMul", [hidden, turned], f"{name}.product")
    return graph.add("Add", [product, bias_name], f"{name}.scores")


def _store(graph: _Graph, weight: Floats, name: str) -> list[str]:
    """Weights as floats: as they are, or made from bytes by nodes that ONNX Runtime works out once, when it loads."""
    if not graph.compact:
        return [graph.constant(weight, name)]
    rounded, scale = _bytes(weight, 127)
    floats = graph.add("Cast", [graph.constant(rounded, f"{name}.bytes")], f"{name}.floats", to=TensorProto.FLOAT)
    return [graph.add("Mul", [floats, graph.constant(scale[..., None], f"{name}.scale")], name)]


def _bytes(weight: Floats, largest_byte: int) -> tuple[NDArray[np.int8], Floats]:
    """Weights of shape (..., outputs, features) as bytes, and a scale for each output."""
    largest = np.abs(weight).max(axis=-1)  # (..., outputs)
    scale: Floats = (np.where(largest > 0, largest, 1) / largest_byte).astype(np.float32)
    return np.rint(weight / scale[..., None]).astype(np.int8), scale


def _quantise(graph: _Graph, weight: Floats, name: str) -> list[str]:
    """Weights as bytes, turned to (..., features, outputs), with a scale and a zero point for each output."""
    rounded, scale = _bytes(weight, LARGEST_BYTE)
    return [
        graph.constant(rounded.swapaxes(-1, -2), name),
        graph.constant(scale, f"{name}.scale"),
        graph.constant(np.zeros(scale.shape, dtype=np.int8), f"{name}.zero_point"),
    ]


def _array(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().float().cpu().numpy()
    return array


def _labels(module: nn.Module) -> int:
    """The width of what a stack of layers gives."""
    linear = [part for part in module.modules() if isinstance(part, nn.Linear)]
    return linear[-1].out_features


def _write(path: Path, model: onnx.ModelProto) -> None:
    size = sum(len(weight.raw_data) for weight in model.graph.initializer)
    if size > LARGEST_FILE:
        raise BiplanarError(f"{path}: expected at most {LARGEST_FILE} bytes, found {size}; leave out some word vectors")
    with writing(path) as stream:
        stream.buffer.write(model.SerializeToString(deterministic=True))
