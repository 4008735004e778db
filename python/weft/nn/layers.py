"""Layers of numbers: linear maps, embeddings, classes as vectors, dropout, and the rectifier with slopes of its own."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.arrays._common import array_of, as_dtype, axis_of

from ._common import floats, parameter, refuse_unknown

__all__ = ["dropout", "embedding", "linear", "one_hot", "prelu"]


def linear(params: Mapping[str, Any], x: Any) -> ndarray:
    """x·weightᵀ + bias: (..., in) to (..., out). `weight` is (out, in), as PyTorch and MLX keep it; `bias`, (out,), may be missing.

    >>> params = {"weight": weft.asarray([[1.0, 2.0]]), "bias": weft.asarray([0.5])}
    >>> weft.nn.linear(params, weft.asarray([[1.0, 1.0]]))
    array([[3.5]])
    """
    refuse_unknown(params, ("weight", "bias"), "linear")
    x, weight = floats("linear", x), parameter(params, "weight", "linear")
    if weight.ndim != 2 or x.ndim < 1 or x.shape[-1] != weight.shape[1]:
        raise ValueError(f"linear takes (..., {weight.shape[-1] if weight.ndim else 1}) by a weight {weight.shape}, not {x.shape}")
    found = weft.matmul(x, weight.T)
    return found + parameter(params, "bias", "linear") if "bias" in params else found


def embedding(params: Mapping[str, Any], indices: Any) -> ndarray:
    """The rows of `weight`, (count, size), with these indices: an array of theirs and one more axis. IndexError outside.

    >>> weft.nn.embedding({"weight": weft.asarray([[1.0, 2.0], [3.0, 4.0]])}, weft.asarray([1, 0, 1]))
    array([[3., 4.],
           [1., 2.],
           [3., 4.]])
    """
    refuse_unknown(params, ("weight",), "embedding")
    weight, indices = parameter(params, "weight", "embedding"), array_of(indices)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"embedding takes integers, not {indices.dtype}")
    return weft.take(weight, indices, axis=0)


def one_hot(indices: Any, num_classes: int, dtype: Any = "float32", axis: int = -1) -> ndarray:
    """1 at the place of each index along a new axis of so many elements, 0 elsewhere; nothing but 0 for an index outside, as jax.nn's.

    >>> weft.nn.one_hot(weft.asarray([0, 2]), 3)
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    indices, count = array_of(indices), operator.index(num_classes)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"one_hot takes integers, not {indices.dtype}")
    if count < 0:
        raise ValueError(f"num_classes is at least 0, not {count}")
    axis = axis_of(axis, indices.ndim + 1)
    classes = weft.arange(count, dtype=np.int32, device=indices.device)
    places = classes.reshape((count,) + (1,) * (indices.ndim - axis))
    return (weft.expand_dims(indices, axis) == places).astype(as_dtype(dtype))


def dropout(rng: Any, x: Any, p: float = 0.5, training: bool = True) -> ndarray:
    """0 in place of each element with probability `p`, and the others over 1 - p; the elements themselves without `training`.

    `rng` is a generator, `weft.random.default_rng(seed)`: the same seed drops the same elements on every device.

    >>> weft.nn.dropout(weft.random.default_rng(0), weft.ones(3), 0.5, training=False)
    array([1., 1., 1.])
    """
    x = floats("dropout", x)
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return x
    if p == 1:
        return x * 0
    with weft.device(x.device.name):
        kept = rng.random(x.shape, dtype=np.float32) >= p
    return weft.where(kept, x * (1 / (1 - p)), 0)


def prelu(params: Mapping[str, Any], x: Any) -> ndarray:
    """The elements above 0, and `weight` times the others: one number, or one for each channel, which are axis 1.

    >>> weft.nn.prelu({"weight": weft.asarray([0.25])}, weft.asarray([-2.0, 2.0]))
    array([-0.5,  2. ])
    """
    refuse_unknown(params, ("weight",), "prelu")
    x, weight = floats("prelu", x), parameter(params, "weight", "prelu")
    channels = x.shape[1] if x.ndim > 1 else 1
    if weight.ndim > 1 or (weight.size != 1 and weight.size != channels):
        raise ValueError(f"the weight of prelu has one element or one for each of {channels} channels, not {weight.shape}")
    shape = (weight.size,) + (1,) * max(x.ndim - 2, 0) if weight.size > 1 else ()
    return weft.where(x > 0, x, weight.reshape(shape) * x)


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many numbers go into an output of a weight (out, in, ...), and how many outputs an input goes into."""
    if len(shape) < 2:
        raise ValueError(f"a weight with inputs and outputs has two axes at least, not the shape {shape}")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field
