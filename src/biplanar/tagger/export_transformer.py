"""The encoder `transformer` as parts of ONNX graphs: PyTorch exports the pre-trained encoder, the rest is a BiLSTM's.

In int8, the rows that the pre-trained encoder multiplies get a range each, so that nothing depends on the rows beside.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from biplanar.data.arrays import Float32s
from biplanar.errors import BiplanarError, needing
from biplanar.tagger.encoders.transformer import EXTRA, Transformer
from biplanar.tagger.export_bilstm import FRAME, BiLstmExport, array_of, spell
from biplanar.tagger.onnx_graph import MICROSOFT, Graph, set_properties
from biplanar.tagger.runtime import FORMS, SUBWORD_INPUTS

OPSET = 18  # the oldest that PyTorch writes

LEAST_SCALE = 1e-11  # of a row that is zero


class ExportError(BiplanarError):
    """An encoder that PyTorch cannot export, so that it runs there only."""


class TransformerExport(BiLstmExport):
    """How graphs compute what the encoder does: to the BiLSTMs, each word in its window is a form."""

    encoder: Transformer

    @property
    def form_scale(self) -> Float32s:
        """Words come in between -1 and 1."""
        return np.ones(self.encoder.word.out_features, dtype=np.float32)

    @property
    def represented(self) -> int:
        """The width of word and character vectors, if there are any."""
        return self.encoder.form_width

    def represent(self) -> None:
        """Like `BiLstm.represent`, as `vectors`."""
        encoder, graph, parts = self.encoder, self.graph, list[str]()
        if encoder.word_embedding is not None:
            parts.append(graph.rows(array_of(encoder.word_embedding.weight), "ids", "word_embedding"))
        if encoder.char_lstm is not None:
            parts.append(spell(graph, encoder))
        graph.add("Concat", parts, "vectors", axis=1)

    def contexts(self) -> onnx.ModelProto:
        """From windows of sub-words, all of one length, and vectors of forms to vectors of words."""
        model = _exported(_Contexts(self.encoder, framed=self.graph.int8))
        if self.graph.int8:
            _quantise(model)
        set_properties(model, self.graph.key)
        return model


class _Contexts(nn.Module):
    """Words in their windows, as the BiLSTMs take them."""

    def __init__(self, encoder: Transformer, *, framed: bool) -> None:
        super().__init__()
        self.encoder, self.framed = encoder.eval(), framed

    def forward(
        self, ids: Tensor, mask: Tensor, places: Tensor, owners: Tensor, counts: Tensor, forms: Tensor | None = None
    ) -> Tensor:
        vectors = self.encoder.in_context(ids, mask, places, owners, counts, forms=forms)
        if not self.framed:
            return vectors
        frame = torch.from_numpy(FRAME).expand(vectors.shape[0], len(FRAME))
        return torch.cat([vectors.clamp(-1, 1), frame], dim=-1)


def _exported(module: _Contexts) -> onnx.ModelProto:
    """The graph, traced with a few windows."""
    with needing(EXTRA, "exporting a pre-trained encoder"):
        import onnxscript  # noqa: F401  # which PyTorch needs
    windows, pieces, words = (torch.export.Dim(name, min=1) for name in ("windows", "pieces", "words"))
    longest = torch.export.Dim("longest", min=2, max=module.encoder.subwords.longest)
    ids, counts = torch.ones(3, 8, dtype=torch.int64), torch.full((10,), 2)
    inputs: list[tuple[Tensor, dict[int, Any]]] = [
        (ids, {0: windows, 1: longest}),
        (torch.ones_like(ids), {0: windows, 1: longest}),
        (torch.arange(20), {0: pieces}),
        (torch.arange(20) // 2, {0: pieces}),
        (counts, {0: words}),
    ]
    names = list(SUBWORD_INPUTS)
    if module.encoder.form_width:
        names.append(FORMS)
        inputs.append((torch.zeros(len(counts), module.encoder.form_width), {0: words}))
    try:
        with _quiet(), torch.no_grad():
            program = torch.onnx.export(
                module,
                tuple(tensor for tensor, _ in inputs),
                dynamo=True,
                input_names=names,
                output_names=["vectors"],
                dynamic_shapes=tuple(shape for _, shape in inputs),
                opset_version=OPSET,
                verbose=False,
            )
    except Exception as error:  # of many kinds
        kind = module.encoder.pretrained.config.model_type
        raise ExportError(f"PyTorch cannot export an encoder of type {kind} to ONNX") from error
    assert program is not None
    model: onnx.ModelProto = program.model_proto
    return model


@contextmanager
def _quiet() -> Iterator[None]:
    """PyTorch warns and logs of what is none of a user's business."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


def _quantise(model: onnx.ModelProto) -> None:
    """Store embeddings in two bytes, and weights of products in one, with which these are computed."""
    weights = {weight.name: weight for weight in model.graph.initializer}
    graph, done = Graph(int8=True, key=""), set[str]()
    for node in model.graph.node:
        weight = weights.get(node.input[0 if node.op_type == "Gather" else 1]) if len(node.input) > 1 else None
        if weight is None or weight.data_type != TensorProto.FLOAT or len(weight.dims) != 2:
            graph.nodes.append(node)
        elif node.op_type == "Gather":
            graph.rows(numpy_helper.to_array(weight), node.input[1], node.output[0])
            done.add(weight.name)
        elif node.op_type == "MatMul":
            _multiply(graph, node.input[0], numpy_helper.to_array(weight).T, node.output[0])
            done.add(weight.name)
        elif node.op_type == "Gemm":  # whose weights may be turned, and which may have a bias
            turned, bias = any(one.name == "transB" and one.i for one in node.attribute), node.input[2:]
            table, name = numpy_helper.to_array(weight), f"{node.output[0]}.product" if bias else node.output[0]
            product = _multiply(graph, node.input[0], table if turned else table.T, name)
            if bias:
                graph.add("Add", [product, *bias], node.output[0])
            done.add(weight.name)
        else:
            graph.nodes.append(node)
    kept = [weight for name, weight in weights.items() if name not in done]
    for field, values in ((model.graph.node, graph.nodes), (model.graph.initializer, [*kept, *graph.weights])):
        del field[:]
        field.extend(values)
    del model.graph.value_info[:]  # types of what is no more
    model.opset_import.append(helper.make_opsetid(MICROSOFT, 1))


def _multiply(graph: Graph, rows: str, weight: Float32s, name: str) -> str:
    """The product of rows and a weight of shape (outputs, features), each row as bytes in a range of its own."""
    middle = np.array(128, dtype=np.uint8)
    scale, numbers = f"{rows}.scale", f"{rows}.bytes"
    if all(node.name != numbers for node in graph.nodes):  # else they have been multiplied with another weight
        size = graph.add("Abs", [rows], f"{rows}.size")
        largest = graph.add("ReduceMax", [size, graph.integers([-1], f"{rows}.axis")], f"{rows}.largest")
        share = graph.constant(np.array(1 / 127, dtype=np.float32), f"{rows}.share")
        least = graph.constant(np.array(LEAST_SCALE, dtype=np.float32), f"{rows}.least")
        graph.add("Max", [graph.add("Mul", [largest, share], f"{rows}.step"), least], scale)
        scaled = graph.add("Div", [rows, scale], f"{rows}.scaled")
        one = graph.constant(np.array(1, dtype=np.float32), f"{rows}.one")
        graph.add("QuantizeLinear", [scaled, one, graph.constant(middle, f"{rows}.middle")], numbers)
    bytes_, scales, zero = graph.bytes(weight, f"{name}.weight")
    inputs = [numbers, bytes_, f"{rows}.one", scales, f"{rows}.middle", zero]
    product = graph.add("MatMulIntegerToFloat", inputs, f"{name}.unscaled", domain=MICROSOFT)
    return graph.add("Mul", [product, scale], name)
