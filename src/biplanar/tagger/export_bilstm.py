"""The encoder `bilstm` as parts of ONNX graphs, exactly in floats, or small and fast in int8.

An int8 number has a range. ONNX Runtime takes it from the numbers at hand, so that the range, and with it a sentence's
scores, would depend on the sentences beside it. Here everything that is quantised is framed: each vector has two more
features, always 1 and -1, which no weight looks at, and no feature is beyond them. So the range is always the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto
from torch import Tensor, nn

from biplanar.data.arrays import Float32s
from biplanar.tagger.encoders.bilstm import BiLstm
from biplanar.tagger.onnx_graph import MICROSOFT, Graph, Shape

FRAME = np.array([1, -1], dtype=np.float32)

# What keeps an LSTM's gates open and its cell full, so that its state is exactly 1 or -1 from the first word on.
OPEN, FULL = 20.0, 30.0


class BiLstmExport:
    """How graphs compute what the encoder does; exports of other encoders have the same methods."""

    def __init__(self, encoder: BiLstm, graph: Graph) -> None:
        self.encoder, self.graph = encoder, graph
        self.form_inputs: dict[str, Shape] = {"ids": ["forms"], "chars": ["forms", "characters"], "lengths": ["forms"]}

    @property
    def form_scale(self) -> Float32s:
        """What the features of forms were divided by."""
        encoder = self.encoder
        if encoder.form is not None:
            return np.ones(encoder.form.out_features, dtype=np.float32)
        assert encoder.word_embedding is not None
        assert encoder.char_lstm is not None
        spelled = np.ones(2 * encoder.char_lstm.hidden_size, dtype=np.float32)
        return np.concatenate([_scale(encoder.word_embedding), spelled])

    @property
    def represented(self) -> int:
        """The width of what `represent` gives; 0 where forms have no vectors."""
        return self.form_width

    @property
    def form_width(self) -> int:
        """Of what `encode` takes for a form."""
        first, treebank = self.encoder.layers[0], self.encoder.treebank_embedding
        assert isinstance(first, nn.LSTM)
        frame = len(FRAME) if self.graph.int8 else 0
        return first.input_size - (treebank.embedding_dim if treebank else 0) + frame

    @property
    def width(self) -> int:
        """Of an encoded word, which has a frame for each direction if there is one."""
        return self.encoder.width + (2 * len(FRAME) if self.graph.int8 else 0)

    def for_states(self, weight: Float32s) -> Float32s:
        """The weight of a layer on encoded words, as they come out of `encode`."""
        return _with_frames(weight) if self.graph.int8 else weight

    def for_forms(self, weight: Float32s) -> Float32s:
        """The weight of a layer on vectors of forms, as they come in."""
        return _behind_frame(weight * self.form_scale) if self.graph.int8 else weight

    def contexts(self) -> onnx.ModelProto | None:
        """A graph that makes what `encode` takes of sub-words and forms, if there is one."""
        return None

    def represent(self) -> None:
        """Like `BiLstm.represent`: add what gives `vectors` of forms, (forms, represented)."""
        encoder, graph = self.encoder, self.graph
        assert encoder.word_embedding is not None
        scale = _scale(encoder.word_embedding) if graph.int8 else np.float32(1)
        table = array_of(encoder.word_embedding.weight) / scale
        words = graph.rows(table, "ids", "word_embedding")  # (forms, word_dim)
        spelled = spell(graph, encoder)
        if encoder.form is not None:
            weight = array_of(encoder.form.weight).copy()
            weight[:, : table.shape[1]] *= scale
            joined = graph.add("Concat", [words, spelled], "joined", axis=1)
            sums = graph.linear(weight, bias_of(encoder.form), joined, "form")
            parts = [_bounded(graph, graph.add("Tanh", [sums], "form.activated"), "form.bounded")]
        else:
            parts = [words, spelled]
        if graph.int8:
            ends = [graph.add("Shape", ["ids"], "frame.count"), graph.integers([1], "frame.once")]
            count = graph.add("Concat", ends, "frame.repeats", axis=0)
            parts.append(graph.add("Tile", [graph.constant(FRAME[None], "frame.row"), count], "frame"))  # (forms, 2)
        graph.add("Concat", parts, "vectors", axis=1)

    def encode(self) -> str:
        """Like `BiLstm.forward`: every word in its context, with the time first, (words, sentences, width)."""
        encoder, graph = self.encoder, self.graph
        places = graph.add("Transpose", ["words"], "words.transposed", perm=[1, 0])  # (words, sentences)
        hidden = graph.add("Gather", ["forms", places], "word_vectors", axis=0)
        for number, layer in enumerate(encoder.layers):
            name, scale, always = f"layers.{number}", None, None
            if not number:
                treebank, scale = encoder.treebank_embedding, self.form_scale
                always = None if treebank is None else array_of(treebank.weight[0])  # all words are of the first one
            states = _lstm(graph, layer, hidden, name, scale, always=always)  # (words, 2, sentences, hidden)
            states = graph.add("Transpose", [states], f"{name}.joined", perm=[0, 2, 1, 3])
            shape = graph.integers([0, 0, -1], f"{name}.shape")  # 0: as it is
            hidden = graph.add("Reshape", [states, shape], f"{name}.hidden")
        return hidden


def _bounded(graph: Graph, activated: str, name: str) -> str:
    """ONNX Runtime's tanh can slightly exceed 1; clipped to the quantisation range."""
    if not graph.int8:
        return activated
    least, most = (graph.constant(np.array(bound), f"{name}.{bound:+.0f}") for bound in FRAME[::-1])
    return graph.add("Clip", [activated, least, most], name)


def _scale(embedding: nn.Embedding) -> Float32s:
    """How far each feature of an embedding goes; divided by it, all lie between -1 and 1."""
    largest: Float32s = np.abs(array_of(embedding.weight)).max(axis=0)
    return np.where(largest > 0, largest, 1).astype(np.float32)


def spell(graph: Graph, encoder: BiLstm) -> str:
    """The character LSTM's last states for every form: (forms, 2 char_hidden)."""
    assert encoder.char_embedding is not None
    assert encoder.char_lstm is not None
    table, scale = array_of(encoder.char_embedding.weight), _scale(encoder.char_embedding)
    if graph.int8:
        table = np.concatenate([table / scale, np.tile(FRAME, (len(table), 1))], axis=1)
    by_time = graph.add("Transpose", ["chars"], "chars.by_time", perm=[1, 0])  # (characters, forms)
    letters = graph.add("Gather", [graph.halves(table, "char_embedding"), by_time], "letters", axis=0)
    last = _lstm(graph, encoder.char_lstm, letters, "char_lstm", scale, output=1)  # (2, forms, char_hidden)
    last = graph.add("Transpose", [last], "spelling.by_form", perm=[1, 0, 2])
    last = graph.slice(last, 0, encoder.char_lstm.hidden_size, 2, "spelling.unframed")
    return graph.add("Flatten", [last], "spelling", axis=1)


def _weights(module: nn.LSTM, always: Float32s | None) -> tuple[Float32s, Float32s, Float32s]:
    """Weights for inputs (2, 4 hidden, features) and states (2, 4 hidden, hidden), and the bias (2, 4 hidden).

    `always` are the last features of the inputs, where they are the same for all words: they become part of the bias.
    """
    parameters = dict(module.named_parameters())

    def both(kind: str) -> Float32s:
        return np.stack([_gates(array_of(parameters[f"{kind}_l0{direction}"])) for direction in ("", "_reverse")])

    inputs, bias = both("weight_ih"), both("bias_ih") + both("bias_hh")
    if always is not None:
        inputs, constant = np.split(inputs, [-len(always)], axis=2)
        bias = bias + constant @ always
    return inputs, both("weight_hh"), bias


def _gates(parameter: Float32s) -> Float32s:
    """From PyTorch's order of gates (input, forget, cell, output) to ONNX's (input, output, forget, cell)."""
    inward, forget, cell, outward = np.split(parameter, 4)
    return np.concatenate([inward, outward, forget, cell])


def _lstm(
    graph: Graph,
    module: nn.Module,
    sequence: str,
    name: str,
    scale: Float32s | None,
    *,
    always: Float32s | None = None,
    output: int = 0,
) -> str:
    """The states of a bidirectional LSTM at all times (output 0) or the last ones (output 1).

    In int8, inputs have been divided by `scale` and framed; without a scale they are another LSTM's states. Two more
    states in each direction are always 1 and -1.
    """
    assert isinstance(module, nn.LSTM)
    inputs, recurrent, bias = _weights(module, always)
    how: dict[str, Any] = {"output": output, "direction": "bidirectional", "hidden_size": module.hidden_size}
    if graph.int8:
        how["hidden_size"] += len(FRAME)
        inputs = _more_units(_with_frames(inputs) if scale is None else _behind_frame(inputs * scale))
        recurrent = _behind_frame(_more_units(recurrent))  # (2, 4 hidden, hidden)
        gates = OPEN * np.stack([np.ones(2), np.ones(2), np.ones(2), FRAME])[..., None]  # (4, 2, 1)
        bias = _more_units(bias[..., None], gates)[..., 0]  # (2, 4 hidden)
    bias_name = graph.constant(np.pad(bias, [(0, 0), (0, bias.shape[1])]), f"{name}.bias")  # (2, 8 hidden)
    times = graph.add("Cast", ["lengths"], f"{name}.lengths", to=TensorProto.INT32)
    if not graph.int8:
        weights = [graph.constant(inputs, f"{name}.weight_ih"), graph.constant(recurrent, f"{name}.weight_hh")]
        return graph.add("LSTM", [sequence, *weights, bias_name, times], f"{name}.states", **how)
    sequences = graph.add("Shape", ["lengths"], f"{name}.sequences")
    ends = [graph.integers([2], f"{name}.directions"), sequences, graph.integers([1], f"{name}.one")]
    shape = graph.add("Concat", ends, f"{name}.cells.shape", axis=0)
    cell = np.pad(FULL * FRAME, (module.hidden_size, 0))  # (hidden,)
    cells = graph.add("Expand", [graph.constant(cell, f"{name}.cell"), shape], f"{name}.cells")
    of_inputs, of_states = graph.bytes(inputs, f"{name}.weight_ih"), graph.bytes(recurrent, f"{name}.weight_hh")
    # No first states, and no peepholes.
    weights = [of_inputs[0], of_states[0], bias_name, times, "", cells, "", *of_inputs[1:], *of_states[1:]]
    return graph.add("DynamicQuantizeLSTM", [sequence, *weights], f"{name}.states", domain=MICROSOFT, **how)


def _more_units(parameter: Float32s, of_frame: NDArray[np.float64] | float = 0.0) -> Float32s:
    """From (2, 4 hidden, features) to the same with a frame's units behind those of each gate."""
    gates = parameter.reshape(2, 4, -1, parameter.shape[2])
    more = np.broadcast_to(of_frame, (2, 4, len(FRAME), parameter.shape[2]))
    return np.concatenate([gates, more], axis=2).reshape(2, -1, parameter.shape[2]).astype(np.float32)


def _behind_frame(weight: Float32s) -> Float32s:
    """From (..., features) to the same with no weight for the frame behind them."""
    return np.pad(weight, [*[(0, 0)] * (weight.ndim - 1), (0, len(FRAME))])


def _with_frames(weight: Float32s) -> Float32s:
    """From (..., 2 hidden) to the same with no weight for the frame of each direction."""
    sides = np.split(weight, 2, axis=-1)
    nothing = np.zeros((*weight.shape[:-1], len(FRAME)), dtype=np.float32)
    return np.concatenate([sides[0], nothing, sides[1], nothing], axis=-1)


def array_of(tensor: Tensor) -> Float32s:
    """A parameter as an array."""
    array: Float32s = tensor.detach().float().cpu().numpy()
    return array


def bias_of(layer: nn.Linear) -> Float32s:
    """The bias of a layer, zero where it has none."""
    return np.zeros(layer.out_features, dtype=np.float32) if layer.bias is None else array_of(layer.bias)
