"""The network as an ONNX file, which parses without PyTorch: exactly, or small and fast with weights of one byte."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
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
from biplanar.tagger.network import ATTENTION, NEVER, Attention, BiaffineArcs, Relations, SharedDropout, Tagger
from biplanar.tagger.predict import DEPENDENT, GOVERNOR, Floats
from biplanar.tagger.runtime import FORMAT_KEY, FORMAT_VERSION, NETWORK_KEY, relations_beside
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

Shape = Sequence[str | int]

SHAPES: dict[str, Shape] = {
    "forms": ["forms"],
    "chars": ["forms", "characters"],
    "spelling_lengths": ["forms"],
    "words": ["sentences", "words"],
    "lengths": ["sentences"],
}
FLOATING = {"dependents", "heads"}  # inputs that are no whole numbers


def export_onnx(network: Tagger, path: str | Path, *, int8: bool = False, compact: bool = False) -> None:
    """Write the network; what relates words to their heads goes to a file of its own beside it, `relations.onnx`.

    `compact`: weights are stored in one byte and embeddings in two, instead of four each, but computed with as floats.
    `int8`: the same size, and computed with as bytes, which is faster; but then a sentence's scores depend a little on
    the sentences beside it, as the range of the bytes is taken from the whole batch.
    """
    path = Path(path)
    graph = _Graph(int8=int8, compact=compact)
    hidden, attention = _encode(graph, network), None  # (sentences, words, width)
    if network.arcs is not None and network.attention is not None:
        attention = _attend(graph, network.arcs, network.attention, hidden)
    outputs: dict[str, Shape] = {}
    for task, output in network.named_outputs():
        scores = _score(graph, output, hidden, attention, f"outputs.{task}")  # (sentences, words, labels)
        outputs[graph.add("Identity", [scores], task)] = ["sentences", "words", _labels(output)]
    if network.relations is not None:
        for name, layer in ((DEPENDENT, network.relations.dependent), (GOVERNOR, network.relations.head)):
            table = _apply(graph, layer, hidden, f"relations.{name}")  # (sentences, words, relation_hidden)
            outputs[graph.add("Identity", [table], name)] = ["sentences", "words", _labels(layer)]
        graph.key = _key(network.relations)
        _write(relations_beside(path), _relations(network.relations, compact=compact or int8))
    _write(path, graph.model(SHAPES, outputs))


def _key(relations: Relations) -> str:
    digest = hashlib.sha256()
    for tensor in relations.state_dict().values():
        digest.update(_array(tensor).tobytes())
    return digest.hexdigest()


def _relations(relations: Relations, *, compact: bool) -> onnx.ModelProto:
    """Like `Relations.relate`; so small that bytes would save little, so compact weights have two each."""
    graph = _Graph(int8=False, compact=False)
    graph.key = _key(relations)

    def weight(array: Floats, name: str) -> str:
        if not compact:
            return graph.constant(array, name)
        return graph.add("Cast", [graph.constant(array.astype(np.float16), f"{name}.half")], name, to=TensorProto.FLOAT)

    root = weight(_array(relations.root)[None], "root")  # (1, relation_hidden)
    rows = graph.add("Concat", [root, "heads"], "root_and_heads", axis=0)
    chosen = graph.add("Gather", [rows, "governors"], "chosen", axis=0)  # (words, relation_hidden)
    joined = graph.add("LeakyRelu", [graph.add("Add", ["dependents", chosen], "sums")], "joined", alpha=0.1)
    product = graph.add("MatMul", [joined, weight(_array(relations.output.weight).T, "weight")], "product")
    graph.add("Add", [product, graph.constant(_array(relations.output.bias), "bias")], "relations")
    shape: Shape = ["words", relations.output.in_features]
    inputs: dict[str, Shape] = {"dependents": shape, "heads": shape, "governors": ["words"]}
    return graph.model(inputs, {"relations": ["words", relations.output.out_features]})


class _Graph:
    """Nodes and weights under construction. A node has one output, named like itself."""

    def __init__(self, *, int8: bool, compact: bool) -> None:
        self.int8, self.compact = int8, compact
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.key = ""  # the same in all files of a network

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

    def model(self, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> onnx.ModelProto:
        """All of it; what comes in are whole numbers, but for some tables."""
        graph = helper.make_graph(
            self.nodes,
            "biplanar",
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT if name in FLOATING else TensorProto.INT64, shape)
                for name, shape in inputs.items()
            ],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            self.weights,
        )
        domains = [("", OPSET), (MICROSOFT, 1)] if self.int8 else [("", OPSET)]
        imports = [helper.make_opsetid(domain, version) for domain, version in domains]
        model = helper.make_model(graph, producer_name="biplanar", opset_imports=imports, ir_version=IR_VERSION)
        helper.set_model_props(model, {FORMAT_KEY: FORMAT_VERSION} | ({NETWORK_KEY: self.key} if self.key else {}))
        return model


def _encode(graph: _Graph, network: Tagger) -> str:
    """Like `Tagger.encode`, but the LSTMs want the time first: (words, sentences, ...) up to the last layer."""
    forms = _represent(graph, network)  # (forms, word_dim + 2 char_hidden)
    places = graph.add("Transpose", ["words"], "words.transposed", perm=[1, 0])  # (words, sentences)
    hidden = graph.add("Gather", [forms, places], "word_vectors", axis=0)
    for number, layer in enumerate(network.layers):
        name, last = f"layers.{number}", number == len(network.layers) - 1
        lstm = _Lstm(graph, layer, name, always=None if number else _treebank(network))
        states = lstm.run(hidden, "lengths", f"{name}.states")  # (words, 2, sentences, hidden)
        states = graph.add("Transpose", [states], f"{name}.joined", perm=[2, 0, 1, 3] if last else [0, 2, 1, 3])
        shape = graph.integers([0, 0, -1], f"{name}.shape")  # 0: as it is
        hidden = graph.add("Reshape", [states, shape], f"{name}.hidden")
    return hidden


def _treebank(network: Tagger) -> Floats | None:
    """The vector that every word has for being of the first treebank."""
    return None if network.treebank_embedding is None else _array(network.treebank_embedding.weight[0])


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


def _slice(graph: _Graph, array: str, end: str, axis: int, name: str, *, start: int = 0) -> str:
    first, along = graph.integers([start], f"{name}.start"), graph.integers([axis], f"{name}.axis")
    return graph.add("Slice", [array, first, end, along], name)


def _table(graph: _Graph, embedding: nn.Embedding, name: str) -> str:
    weight = _array(embedding.weight)
    return graph.constant(weight.astype(np.float16) if graph.int8 or graph.compact else weight, f"{name}.weight")


def _embed(graph: _Graph, table: str, places: str, name: str) -> str:
    if not graph.int8 and not graph.compact:
        return graph.add("Gather", [table, places], name, axis=0)
    rows = graph.add("Gather", [table, places], f"{name}.float16", axis=0)
    return graph.add("Cast", [rows], name, to=TensorProto.FLOAT)


class _Lstm:
    """The weights of a bidirectional LSTM, which may run at several places of the graph.

    `always` are its last features, where they are the same for all words: they become part of the bias.
    """

    def __init__(self, graph: _Graph, module: nn.Module, name: str, *, always: Floats | None = None) -> None:
        assert isinstance(module, nn.LSTM)
        self.graph, self.hidden = graph, module.hidden_size
        weights = dict(module.named_parameters())

        def both(kind: str) -> Floats:
            return np.stack([_gates(_array(weights[f"{kind}_l0{direction}"])) for direction in ("", "_reverse")])

        inputs, bias = both("weight_ih"), np.concatenate([both("bias_ih"), both("bias_hh")], axis=1)
        if always is not None:
            inputs, constant = np.split(inputs, [-len(always)], axis=2)
            bias[:, : 4 * self.hidden] += constant @ always
        self.bias = graph.constant(bias, f"{name}.bias")  # (2, 8 hidden)
        store = _quantise if graph.int8 else _store
        self.inputs = store(graph, inputs, f"{name}.weight_ih")  # (2, 4 hidden, features)
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


def _attend(graph: _Graph, arcs: BiaffineArcs, attention: Attention, hidden: str) -> str:
    """Like `BiaffineArcs` and then `Attention`: (sentences, words, ATTENTION)."""
    mask = _mask(graph, hidden)  # (sentences, words)
    root, heads = _chances(graph, arcs, hidden, mask)  # (sentences, words, 1) and (sentences, words, words)
    dependents = graph.add("Transpose", [heads], "chances.dependents", perm=[0, 2, 1])
    values = _apply(graph, attention.value, hidden, "attention.value")  # (sentences, words, CONTEXT)
    of_root = graph.add("Mul", [root, graph.constant(_array(attention.root_value), "root_value")], "context.root")
    of_heads = graph.add("Add", [graph.add("MatMul", [heads, values], "context.words"), of_root], "context.heads")
    of_dependents = graph.add("MatMul", [dependents, values], "context.dependents")
    sides = [*_both_sides(graph, heads, "head"), root, *_both_sides(graph, dependents, "dependents")]
    counts = graph.add("Concat", sides, "counts", axis=2)  # (sentences, words, COUNTS)
    amounts = graph.integers([0, 1, 0, 0, -1, 0], "counts.amounts")  # one word in, one word out
    before = graph.add("Pad", [counts, amounts], "counts.before")
    return graph.add("Concat", [of_heads, of_dependents, counts, before], "attention", axis=2)


def _mask(graph: _Graph, hidden: str) -> str:
    """Where there is a word: (sentences, words)."""
    size = graph.add("Gather", [graph.add("Shape", [hidden], "sizes"), graph.integers(1, "mask.axis")], "mask.size")
    steps = [graph.integers(0, "mask.zero"), size, graph.integers(1, "mask.one")]
    positions = graph.add("Range", steps, "mask.positions")  # (words,)
    lengths = graph.add("Unsqueeze", ["lengths", graph.integers([1], "mask.last")], "mask.lengths")  # (sentences, 1)
    return graph.add("Less", [positions, lengths], "mask")


def _chances(graph: _Graph, arcs: BiaffineArcs, hidden: str, mask: str) -> tuple[str, str]:
    """How likely the root and each word are the head of each word; nothing is for padding."""
    leaky = nn.LeakyReLU(0.1)
    dependents = _apply(graph, nn.Sequential(arcs.arc_dependent, leaky), hidden, "arc_dependent")
    heads = _apply(graph, nn.Sequential(arcs.arc_head, leaky), hidden, "arc_head")  # (sentences, words, arc_dim)
    weight = _array(arcs.arc_weight)  # (arc_dim + 1, arc_dim), its last row for the one beside each dependent
    product = _product(graph, weight[:-1].T, dependents, "arc_weight")  # (sentences, words, arc_dim)
    wanted = graph.add("Add", [product, graph.constant(weight[-1], "arc_bias")], "arc_wanted")
    head_of_root = graph.constant(_array(leaky(arcs.arc_head(arcs.root)))[:, None], "arc_root")  # (arc_dim, 1)
    root_scores = graph.add("MatMul", [wanted, head_of_root], "arcs.root")  # (sentences, words, 1)
    turned = graph.add("Transpose", [heads], "arc_head.turned", perm=[0, 2, 1])
    scores = graph.add("MatMul", [wanted, turned], "arcs.words")  # (sentences, words, words)
    columns = graph.add("Unsqueeze", [mask, graph.integers([1], "mask.columns.axis")], "mask.columns")
    never = graph.constant(np.array(NEVER, dtype=np.float32), "never")
    scores = graph.add("Where", [columns, scores, never], "arcs.masked")
    scores = graph.add("Concat", [root_scores, scores], "arcs", axis=2)  # (sentences, words, 1 + words)
    chances = graph.add("Softmax", [scores], "arcs.chances", axis=2)
    rows = graph.add("Unsqueeze", [mask, graph.integers([2], "mask.rows.axis")], "mask.rows")
    chances = graph.add("Where", [rows, chances, graph.constant(np.array(0, dtype=np.float32), "nothing")], "chances")
    root = _slice(graph, chances, graph.integers([1], "chances.one"), 2, "chances.root")
    end = graph.integers([LONGEST], "chances.end")
    return root, _slice(graph, chances, end, 2, "chances.heads", start=1)


def _both_sides(graph: _Graph, chances: str, name: str) -> tuple[str, str]:
    """How much of each row lies left of the diagonal, and how much right of it: (sentences, words, 1) each."""

    def side(which: str, upper: int, diagonal: int) -> str:
        part = [chances, graph.integers(diagonal, f"counts.{name}.{which}.diagonal")]
        part = [graph.add("Trilu", part, f"counts.{name}.{which}.part", upper=upper)]
        return graph.add("ReduceSum", [*part, graph.integers([2], f"counts.{name}.{which}.axis")], f"{name}.{which}")

    return side("left", 0, -1), side("right", 1, 1)


def _score(graph: _Graph, output: nn.Module, hidden: str, attention: str | None, name: str) -> str:
    """A task's layers, on the words' hidden states and on what attention adds to them.

    The two have ranges of their own, so their products are apart: as bytes they would share one.
    """
    if attention is None:
        return _apply(graph, output, hidden, name)
    first, *others = output if isinstance(output, nn.Sequential) else [output]
    assert isinstance(first, nn.Linear)
    near, far = np.split(_array(first.weight), [first.in_features - ATTENTION], axis=1)
    scores = _linear(graph, near, _bias(first), hidden, f"{name}.near")
    scores = graph.add("Add", [scores, _product(graph, far, attention, f"{name}.far")], f"{name}.both")
    return _apply(graph, nn.Sequential(*others), scores, f"{name}.others")


def _apply(graph: _Graph, module: nn.Module, hidden: str, name: str) -> str:
    """Feed-forward layers, whichever they are."""
    match module:
        case nn.Sequential():
            for number, part in enumerate(module):
                hidden = _apply(graph, part, hidden, f"{name}.{number}")
            return hidden
        case nn.Linear():
            return _linear(graph, _array(module.weight), _bias(module), hidden, name)
        case nn.LeakyReLU():
            return graph.add("LeakyRelu", [hidden], f"{name}.activation", alpha=module.negative_slope)
        case nn.Dropout() | SharedDropout() | nn.Identity():
            return hidden
    raise BiplanarError(f"{name}: a layer of type {type(module).__name__} cannot be exported")


def _bias(layer: nn.Linear) -> Floats:
    return np.zeros(layer.out_features, dtype=np.float32) if layer.bias is None else _array(layer.bias)


def _linear(graph: _Graph, weight: Floats, bias: Floats, hidden: str, name: str) -> str:
    """A layer whose weight is of shape (labels, features)."""
    bias_name = graph.constant(bias, f"{name}.bias")
    if graph.int8:
        quantised = _quantise(graph, weight, f"{name}.weight")
        return graph.add("DynamicQuantizeMatMul", [hidden, *quantised, bias_name], f"{name}.scores", domain=MICROSOFT)
    return graph.add("Add", [_product(graph, weight, hidden, name), bias_name], f"{name}.scores")


def _product(graph: _Graph, weight: Floats, hidden: str, name: str) -> str:
    """Floats times a weight of shape (labels, features)."""
    turned = graph.add("Transpose", _store(graph, weight, f"{name}.weight"), f"{name}.turned", perm=[1, 0])
    return graph.add("MatMul", [hidden, turned], f"{name}.product")


def _store(graph: _Graph, weight: Floats, name: str) -> list[str]:
    """Weights as floats: as they are, or made from bytes by nodes that ONNX Runtime works out once, when it loads."""
    if not graph.compact and not graph.int8:
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
