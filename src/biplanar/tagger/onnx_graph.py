"""ONNX graphs under construction, in floats or in bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from biplanar.data.arrays import Float32s
from biplanar.data.files import writing
from biplanar.errors import BiplanarError
from biplanar.tagger.runtime import FORMAT_KEY, FORMAT_VERSION, NETWORK_KEY

# Old enough for ONNX Runtime 1.18, and every operator here has meant the same since.
OPSET, IR_VERSION = 17, 8
MICROSOFT = "com.microsoft"  # where ONNX Runtime keeps its operators on bytes

# Processors without VNNI add two products of an unsigned and a signed byte in 16 bits: 2 * 255 * 64 fits, 2 * 255 * 127
# does not. With weights of seven bits no processor overflows.
LARGEST_BYTE = 64

LARGEST_FILE = 2**31 - 1  # protobuf's own limit

Shape = Sequence[str | int]


class Graph:
    """Nodes and weights. A node has one output, named like itself.

    With `int8`, weights are bytes: products with what is known to lie between -1 and 1 are computed in bytes, others in
    floats that ONNX Runtime makes of the bytes once, when it loads.
    """

    def __init__(self, *, int8: bool, key: str) -> None:
        self.int8 = int8
        self.key = key  # the same in all files of a network
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def add(self, operator: str, inputs: Sequence[str], name: str, *, output: int = 0, **attributes: Any) -> str:
        """Append a node; of its outputs, the one numbered `output` gets the name."""
        outputs = [""] * output + [name]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name, **attributes))
        return name

    def split(self, table: str, widths: Sequence[int], names: Sequence[str], name: str) -> None:
        """Append a node that cuts a table of shape (rows, features) into some with fewer features."""
        sizes = self.integers(list(widths), f"{name}.widths")
        self.nodes.append(helper.make_node("Split", [table, sizes], list(names), name, axis=1))

    def constant(self, array: NDArray[Any], name: str) -> str:
        """Append a weight."""
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def integers(self, values: int | list[int], name: str) -> str:
        """Append whole numbers that are part of the graph rather than learned."""
        return self.constant(np.array(values, dtype=np.int64), name)

    def halves(self, array: Float32s, name: str) -> str:
        """Append a weight that takes half the room if the others are bytes."""
        if not self.int8:
            return self.constant(array, name)
        return self.add("Cast", [self.constant(array.astype(np.float16), f"{name}.half")], name, to=TensorProto.FLOAT)

    def rows(self, table: Float32s, places: str, name: str) -> str:
        """Some rows of an embedding, which takes half the room if the other weights are bytes."""
        if not self.int8:
            return self.add("Gather", [self.constant(table, f"{name}.weight"), places], name, axis=0)
        half = self.add("Gather", [self.constant(table.astype(np.float16), f"{name}.weight"), places], f"{name}.half")
        return self.add("Cast", [half], name, to=TensorProto.FLOAT)

    def product(self, weight: Float32s, hidden: str, name: str) -> str:
        """Float32s times a weight of shape (outputs, features)."""
        turned = self.add("Transpose", [self.floats(weight, f"{name}.weight")], f"{name}.turned", perm=[1, 0])
        return self.add("MatMul", [hidden, turned], f"{name}.product")

    def linear(self, weight: Float32s, bias: Float32s, hidden: str, name: str, *, bounded: bool = False) -> str:
        """A layer whose weight is of shape (outputs, features); `bounded` says that -1 and 1 frame what comes in."""
        bias_name = self.constant(bias, f"{name}.bias")
        if self.int8 and bounded:
            inputs = [hidden, *self.bytes(weight, f"{name}.weight"), bias_name]
            return self.add("DynamicQuantizeMatMul", inputs, f"{name}.scores", domain=MICROSOFT)
        return self.add("Add", [self.product(weight, hidden, name), bias_name], f"{name}.scores")

    def floats(self, weight: Float32s, name: str) -> str:
        """A weight to be computed with in floats."""
        if not self.int8:
            return self.constant(weight, name)
        rounded, scale = _round(weight, 127)
        floats = self.add("Cast", [self.constant(rounded, f"{name}.bytes")], f"{name}.floats", to=TensorProto.FLOAT)
        return self.add("Mul", [floats, self.constant(scale[..., None], f"{name}.scale")], name)

    def bytes(self, weight: Float32s, name: str) -> list[str]:
        """A weight as bytes, turned to (..., features, outputs), with a scale and a zero point for each output."""
        rounded, scale = _round(weight, LARGEST_BYTE)
        return [
            self.constant(rounded.swapaxes(-1, -2), name),
            self.constant(scale, f"{name}.scale"),
            self.constant(np.zeros(scale.shape, dtype=np.int8), f"{name}.zero_point"),
        ]

    def slice(self, array: str, start: int, end: int, axis: int, name: str) -> str:
        """A part of an array."""
        ends = {"start": start, "end": end, "axis": axis}
        return self.add("Slice", [array, *(self.integers([at], f"{name}.{what}") for what, at in ends.items())], name)

    def model(self, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape], *floating: str) -> onnx.ModelProto:
        """All of it; what comes in are whole numbers, but for the named tables of floats."""
        graph = helper.make_graph(
            self.nodes,
            "biplanar",
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT if name in floating else TensorProto.INT64, shape)
                for name, shape in inputs.items()
            ],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            self.weights,
        )
        domains = [("", OPSET), (MICROSOFT, 1)] if self.int8 else [("", OPSET)]
        imports = [helper.make_opsetid(domain, version) for domain, version in domains]
        model = helper.make_model(graph, producer_name="biplanar", opset_imports=imports, ir_version=IR_VERSION)
        set_properties(model, self.key)
        return model


def set_properties(model: onnx.ModelProto, key: str) -> None:
    """Say what format a graph has, and of which network it is."""
    helper.set_model_props(model, {FORMAT_KEY: FORMAT_VERSION, NETWORK_KEY: key})


def write_model(model: onnx.ModelProto, path: Path) -> None:
    """Write a graph to a file."""
    size = sum(len(weight.raw_data) for weight in model.graph.initializer)
    if size > LARGEST_FILE:
        raise BiplanarError(f"{path}: too large for ONNX ({size:,} bytes); a lower vocabulary.vectors_limit helps")
    with writing(path) as stream:
        stream.buffer.write(model.SerializeToString(deterministic=True))


def _round(weight: Float32s, largest_byte: int) -> tuple[NDArray[np.int8], Float32s]:
    """Weights of shape (..., outputs, features) as bytes, and a scale for each output."""
    largest = np.abs(weight).max(axis=-1)  # (..., outputs)
    scale: Float32s = (np.where(largest > 0, largest, 1) / largest_byte).astype(np.float32)
    return np.rint(weight / scale[..., None]).astype(np.int8), scale
