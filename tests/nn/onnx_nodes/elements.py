"""ONNX's operators of elements, reductions and products, by weft arrays and `weft.nn`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import weft
from weft import nn
from weft.scipy import special

from .graphs import Node, Uncovered, dtype_of, operator


def _plain(name: str, function: Any) -> None:
    operator(name)(lambda node, *inputs: function(*inputs))


for _name, _function in {
    "Abs": weft.abs, "Acos": weft.arccos, "Acosh": weft.arccosh, "Add": weft.add, "And": weft.logical_and, "Asin": weft.arcsin,
    "Asinh": weft.arcsinh, "Atan": weft.arctan, "Atanh": weft.arctanh, "BitwiseAnd": weft.bitwise_and, "BitwiseNot": weft.invert,
    "BitwiseOr": weft.bitwise_or, "BitwiseXor": weft.bitwise_xor, "Ceil": weft.ceil, "Cos": weft.cos, "Cosh": weft.cosh,
    "Equal": weft.equal, "Erf": special.erf, "Exp": weft.exp, "Floor": weft.floor, "Greater": weft.greater,
    "GreaterOrEqual": weft.greater_equal, "Identity": weft.positive, "IsNaN": weft.isnan, "Less": weft.less, "LessOrEqual": weft.less_equal,
    "Log": weft.log, "MatMul": weft.matmul, "Mul": weft.multiply, "Neg": weft.negative, "Not": weft.logical_not, "Or": weft.logical_or,
    "Reciprocal": lambda x: 1 / x, "Relu": nn.relu, "Round": weft.rint, "Sigmoid": nn.sigmoid, "Sign": weft.sign, "Sin": weft.sin,
    "Sinh": weft.sinh, "Softplus": nn.softplus, "Softsign": nn.softsign, "Sqrt": weft.sqrt, "Sub": weft.subtract, "Tan": weft.tan,
    "Tanh": weft.tanh, "Where": weft.where, "Xor": weft.logical_xor, "HardSwish": nn.hard_swish, "Mish": nn.mish, "Det": weft.linalg.det,
}.items():  # fmt: skip
    _plain(_name, _function)


@operator("Identity")
def _identity(node: Node, x: Any) -> Any:
    return x


@operator("Div")
def _div(node: Node, x: Any, y: Any) -> Any:
    # Integers are divided towards zero.
    if x.dtype.kind in "iu":
        found = weft.abs(x) // weft.abs(y)
        return weft.where((x < 0) != (y < 0), -found, found) if x.dtype.kind == "i" else found
    return x / y


@operator("Mod")
def _mod(node: Node, x: Any, y: Any) -> Any:
    return weft.fmod(x, y) if node.get("fmod", 0) else weft.remainder(x, y)


@operator("Pow")
def _pow(node: Node, x: Any, y: Any) -> Any:
    if x.dtype == y.dtype:
        return weft.power(x, y)
    wide = np.result_type(x.dtype, y.dtype)
    return weft.power(x.astype(wide), y.astype(wide)).astype(x.dtype)


@operator("BitShift")
def _shift(node: Node, x: Any, y: Any) -> Any:
    return weft.left_shift(x, y) if node["direction"] == "LEFT" else weft.right_shift(x, y)


@operator("IsInf")
def _isinf(node: Node, x: Any) -> Any:
    found = weft.zeros(x.shape, dtype=bool)
    if node.get("detect_positive", 1):
        found = found | (x == np.inf)
    return found | (x == -np.inf) if node.get("detect_negative", 1) else found


for _name, _function in {"Max": weft.maximum, "Min": weft.minimum, "Sum": weft.add}.items():

    @operator(_name)
    def _of_all(node: Node, *inputs: Any, function: Any = _function) -> Any:
        found = inputs[0]
        for each in inputs[1:]:
            found = function(found, each)
        return found


@operator("Mean")
def _mean(node: Node, *inputs: Any) -> Any:
    return sum(inputs[1:], inputs[0]) / len(inputs)


@operator("Clip")
def _clip(node: Node, x: Any, low: Any = None, high: Any = None) -> Any:
    low, high = node.get("min", low), node.get("max", high)
    x = x if low is None else weft.maximum(x, low)
    return x if high is None else weft.minimum(x, high)


@operator("Cast", "CastLike")
def _cast(node: Node, x: Any, like: Any = None) -> Any:
    return x.astype(dtype_of(node["to"]) if like is None else like.dtype)


@operator("BitCast")
def _bitcast(node: Node, x: Any) -> Any:
    return x.view(dtype_of(node["to"]))


@operator("Elu", "Celu", "LeakyRelu")
def _with_alpha(node: Node, x: Any) -> Any:
    function, alpha = {"Elu": (nn.elu, 1.0), "Celu": (nn.celu, 1.0), "LeakyRelu": (nn.leaky_relu, 0.01)}[node.type]
    return function(x, node.get("alpha", alpha))


@operator("Selu")
def _selu(node: Node, x: Any) -> Any:
    if set(node.attributes):
        alpha, gamma = node.get("alpha", 1.67326319217681884765625), node.get("gamma", 1.05070102214813232421875)
        return gamma * nn.elu(x, alpha)
    return nn.selu(x)


@operator("HardSigmoid")
def _hard_sigmoid(node: Node, x: Any) -> Any:
    return nn.hard_tanh(node.get("alpha", 0.2) * x + node.get("beta", 0.5), 0.0, 1.0)


@operator("ThresholdedRelu")
def _thresholded(node: Node, x: Any) -> Any:
    return weft.where(x > node.get("alpha", 1.0), x, 0)


@operator("Shrink")
def _shrink(node: Node, x: Any) -> Any:
    limit, bias = node.get("lambd", 0.5), node.get("bias", 0.0)
    return weft.where(x < -limit, x + bias, weft.where(x > limit, x - bias, 0)).astype(x.dtype)


@operator("PRelu")
def _prelu(node: Node, x: Any, slope: Any) -> Any:
    return weft.where(x > 0, x, slope * x)


@operator("Gelu")
def _gelu(node: Node, x: Any) -> Any:
    return nn.gelu(x, node.get("approximate", "none"))


@operator("Swish")
def _swish(node: Node, x: Any) -> Any:
    return x * nn.sigmoid(node.get("alpha", 1.0) * x)


@operator("Softmax", "LogSoftmax", "Hardmax")
def _along(node: Node, x: Any) -> Any:
    axis = node.get("axis", -1 if node.version >= 13 else 1)
    rows = x
    if node.version < 13:
        # Before version 13 all axes from the given one on are one.
        axis %= x.ndim
        rows, axis = x.reshape((math.prod(x.shape[:axis]), -1)), 1
    if node.type == "Hardmax":
        found = nn.one_hot(weft.argmax(rows, axis=axis), rows.shape[axis], x.dtype, axis % rows.ndim)
    else:
        found = (nn.softmax if node.type == "Softmax" else nn.log_softmax)(rows, axis)
    return found.reshape(x.shape)


def _axes(node: Node, x: Any, axes: Any) -> tuple[int, ...] | None:
    given = node.get("axes", None if axes is None else weft.asnumpy(axes).tolist())
    if given is None or not len(given):
        return () if node.get("noop_with_empty_axes", 0) else None
    return tuple(given)


REDUCTIONS = {
    "ReduceSum": weft.sum,
    "ReduceMean": weft.mean,
    "ReduceProd": weft.prod,
    "ReduceMax": weft.max,
    "ReduceMin": weft.min,
    "ReduceL1": lambda x, **how: weft.sum(weft.abs(x), **how),
    "ReduceL2": lambda x, **how: weft.sqrt(weft.sum(x * x, **how)),
    "ReduceSumSquare": lambda x, **how: weft.sum(x * x, **how),
    "ReduceLogSum": lambda x, **how: weft.log(weft.sum(x, **how)),
    "ReduceLogSumExp": lambda x, **how: nn.logsumexp(x, how["axis"], how["keepdims"]),
}


@operator(*REDUCTIONS)
def _reduce(node: Node, x: Any, axes: Any = None) -> Any:
    how = {"axis": _axes(node, x, axes), "keepdims": bool(node.get("keepdims", 1))}
    if node.type in ("ReduceMax", "ReduceMin") and x.size == 0:
        whole = x.dtype.kind in "iu" and np.iinfo(x.dtype)
        end = (-np.inf, np.inf) if x.dtype.kind == "f" else (whole.min, whole.max) if whole else (False, True)
        how["initial"] = end[node.type == "ReduceMin"]
    return REDUCTIONS[node.type](x, **how).astype(x.dtype)


@operator("ArgMax", "ArgMin")
def _arg(node: Node, x: Any) -> Any:
    axis, find = node.get("axis", 0), weft.argmax if node.type == "ArgMax" else weft.argmin
    if node.get("select_last_index", 0):
        found = x.shape[axis] - 1 - find(weft.flip(x, axis), axis=axis)
    else:
        found = find(x, axis=axis)
    return weft.expand_dims(found, axis) if node.get("keepdims", 1) else found


@operator("CumSum", "CumProd")
def _cumulative(node: Node, x: Any, axis: Any) -> Any:
    at, first = int(axis.item()), 0 if node.type == "CumSum" else 1
    x = weft.flip(x, at) if node.get("reverse", 0) else x
    found = (weft.cumsum if node.type == "CumSum" else weft.cumprod)(x, axis=at, dtype=x.dtype)
    if node.get("exclusive", 0):
        front = [(0, 0)] * x.ndim
        front[at] = (1, 0)
        found = weft.pad(found, front, constant_values=first)[(slice(None),) * (at % x.ndim) + (slice(-1),)]
    return weft.flip(found, at) if node.get("reverse", 0) else found


@operator("Gemm")
def _gemm(node: Node, a: Any, b: Any, c: Any = None) -> Any:
    a, b = (a.T if node.get("transA", 0) else a), (b.T if node.get("transB", 0) else b)
    found = node.get("alpha", 1.0) * (a @ b)
    return found if c is None else found + node.get("beta", 1.0) * c


@operator("Einsum")
def _einsum(node: Node, *inputs: Any) -> Any:
    return weft.einsum(node["equation"], *inputs)


@operator("MatMulInteger")
def _matmul_integer(node: Node, a: Any, b: Any, za: Any = None, zb: Any = None) -> Any:
    a, b = a.astype("int32"), b.astype("int32")
    if za is not None:
        za = za.astype("int32")
        a = a - (za[:, None] if za.ndim == 1 and za.size > 1 else za)
    return a @ (b if zb is None else b - zb.astype("int32"))


@operator("QuantizeLinear")
def _quantize(node: Node, x: Any, scale: Any, zero: Any = None) -> Any:
    if node.get("block_size", 0):
        raise Uncovered("quantised by blocks")
    dtype = zero.dtype if zero is not None else dtype_of(node.get("output_dtype", 2))
    if dtype.kind not in "iu":
        raise Uncovered("dtypes that Weft does not have")
    found = weft.rint(x / _beside(node, x, scale)) + (0 if zero is None else _beside(node, x, zero).astype("int32"))
    ends = np.iinfo(dtype)
    return weft.clip(found, ends.min, ends.max).astype(dtype)


@operator("DequantizeLinear")
def _dequantize(node: Node, x: Any, scale: Any, zero: Any = None) -> Any:
    if node.get("block_size", 0):
        raise Uncovered("quantised by blocks")
    found = x.astype("float32") if zero is None else x.astype("float32") - _beside(node, x, zero).astype("float32")
    return (found * _beside(node, x, scale)).astype(scale.dtype)


def _beside(node: Node, x: Any, each: Any) -> Any:
    """A number for all, or one for each place along an axis."""
    if each.ndim != 1:
        return each
    axis = node.get("axis", 1) % x.ndim
    return each.reshape((each.size,) + (1,) * (x.ndim - axis - 1))


@operator("DynamicQuantizeLinear")
def _dynamic(node: Node, x: Any) -> Any:
    low, high = weft.minimum(x.min(), 0), weft.maximum(x.max(), 0)
    scale = (high - low) / 255
    zero = weft.clip(weft.rint(-low / scale), 0, 255)
    return weft.clip(weft.rint(x / scale) + zero, 0, 255).astype("uint8"), scale, zero.astype("uint8")


@operator("Dropout")
def _dropout(node: Node, x: Any, ratio: Any = None, training: Any = None) -> Any:
    if training is not None and bool(training) and (ratio is None or float(ratio) > 0):
        raise Uncovered("random numbers of another generator")
    found = nn.dropout(None, x, node.get("ratio", 0.5) if ratio is None else float(ratio), training=False)
    return (found, weft.ones(x.shape, dtype=bool))[: node.outputs]


@operator("LpNormalization")
def _lp(node: Node, x: Any) -> Any:
    axis = node.get("axis", -1)
    sums = weft.sum(weft.abs(x) if node.get("p", 2) == 1 else x * x, axis=axis, keepdims=True)
    norm = sums if node.get("p", 2) == 1 else weft.sqrt(sums)
    return weft.where(norm == 0, 0, x / weft.where(norm == 0, 1, norm))


@operator("MeanVarianceNormalization")
def _mean_variance(node: Node, x: Any) -> Any:
    axes = tuple(node.get("axes", [0, 2, 3]))
    away = x - weft.mean(x, axis=axes, keepdims=True)
    return away / (weft.sqrt(weft.mean(away * away, axis=axes, keepdims=True)) + 1e-9)
