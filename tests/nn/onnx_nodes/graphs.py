"""Running ONNX's models by weft arrays: values of a graph by name, and one function for each operator."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

import weft
from weft.arrays._common import as_dtype


class Uncovered(Exception):
    """Why a case is not run."""


class Node:
    """An operator in a graph, with its attributes."""

    def __init__(self, proto: Any, version: int, run: Callable[[Any, list[Any]], list[Any]]) -> None:
        self.type, self.version, self.run = proto.op_type, version, run
        self.outputs = len(proto.output)
        self.attributes = {each.name: _attribute(each) for each in proto.attribute}

    def __getitem__(self, name: str) -> Any:
        return self.attributes[name]

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute, or what it is if nothing is said."""
        return self.attributes.get(name, default)


def _attribute(proto: Any) -> Any:
    value = onnx.helper.get_attribute_value(proto)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, onnx.TensorProto):
        return array_of(numpy_helper.to_array(value))
    if isinstance(value, onnx.GraphProto):
        return value
    if proto.type in (onnx.AttributeProto.STRINGS, onnx.AttributeProto.GRAPHS, onnx.AttributeProto.TENSORS):
        raise Uncovered("texts, sequences and optional values")
    return value if isinstance(value, (int, float, str)) else list(value)


OPERATORS: dict[str, Callable[..., Any]] = {}


def operator(*names: str) -> Callable[[Any], Any]:
    """Says which operators a function does: of a node and its inputs, None for those left out."""

    def add(function: Any) -> Any:
        OPERATORS.update(dict.fromkeys(names, function))
        return function

    return add


def dtype_of(code: int) -> np.dtype:
    """The dtype of a number of ONNX's."""
    if code == onnx.TensorProto.STRING:
        raise Uncovered("texts, sequences and optional values")
    try:
        return as_dtype(onnx.helper.tensor_dtype_to_np_dtype(code))
    except TypeError:
        raise Uncovered("dtypes that Weft does not have") from None


def array_of(value: Any) -> Any:
    """A value of a case as a weft array."""
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    if not isinstance(value, (np.ndarray, np.generic)):
        raise Uncovered("texts, sequences and optional values")
    value = np.asarray(value)
    if value.dtype.kind in "OUS":
        raise Uncovered("texts, sequences and optional values")
    try:
        return weft.asarray(value)
    except TypeError:
        raise Uncovered("dtypes that Weft does not have") from None


def run(model: Any, inputs: list[Any]) -> list[Any]:
    """What a model gives for inputs, as weft arrays. Uncovered says why it does not."""
    versions = {each.domain: each.version for each in model.opset_import}
    for each in model.graph.input:
        if not each.type.HasField("tensor_type"):
            raise Uncovered("texts, sequences and optional values")
    return run_graph(model.graph, versions, [array_of(each) for each in inputs], {})


def run_graph(graph: Any, versions: dict[str, int], inputs: list[Any], outer: dict[str, Any]) -> list[Any]:
    """A graph's outputs; `outer` are values of graphs around it."""
    values = outer | {each.name: array_of(numpy_helper.to_array(each)) for each in graph.initializer}
    values |= dict(zip((each.name for each in graph.input), inputs))
    for proto in graph.node:
        if proto.domain not in ("", "ai.onnx") or proto.op_type not in OPERATORS:
            name = proto.op_type + (f" of {proto.domain}" if proto.domain not in ("", "ai.onnx") else "")
            raise Uncovered(f"no operator {name}")
        node = Node(proto, versions.get("", 1), functools.partial(_run_within, versions, values))
        given = [values[name] if name else None for name in proto.input]
        while given and given[-1] is None:
            given.pop()
        made = OPERATORS[proto.op_type](node, *given)
        made = made if isinstance(made, (tuple, list)) else (made,)
        values |= {name: each for name, each in zip(proto.output, made) if name}
    return [values[each.name] for each in graph.output]


def _run_within(versions: dict[str, int], outer: dict[str, Any], graph: Any, inputs: list[Any]) -> list[Any]:
    """The outputs of a graph within a graph, whose values it sees."""
    return run_graph(graph, versions, inputs, outer)
