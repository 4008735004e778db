"""Parameters to start from: arrays of random numbers by the usual names, and the dicts of parameters of each layer.

`rng` is a generator, `weft.random.default_rng(seed)`, and comes first; arrays are float32 if nothing is said, and lie on the current
device. Layers start as PyTorch's do: with uniform numbers up to 1/sqrt(inputs).

>>> rng = weft.random.default_rng(0)
>>> params = weft.nn.init.linear(rng, 3, 2)
>>> params["weight"].shape, params["bias"].shape
((2, 3), (2,))
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.arrays._common import as_dtype, is_half

from ._common import numbers
from .layers import fans

__all__ = [
    "batch_norm",
    "constant",
    "conv1d",
    "conv2d",
    "embedding",
    "group_norm",
    "kaiming_normal",
    "kaiming_uniform",
    "layer_norm",
    "linear",
    "normal",
    "ones",
    "orthogonal",
    "prelu",
    "rms_norm",
    "truncated_normal",
    "uniform",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

Params = dict[str, ndarray]


def _drawn_dtype(dtype: Any) -> tuple[np.dtype, np.dtype]:
    """The dtype of an array of random numbers, and that of the draw."""
    found = as_dtype(dtype)
    if found.kind != "f" and not is_half(found):
        raise TypeError(f"parameters are drawn as floats, not as {found}")
    return found, np.dtype(np.float64 if found.itemsize == 8 else np.float32)


def uniform(rng: Any, shape: Any, low: float = 0.0, high: float = 1.0, dtype: Any = "float32") -> ndarray:
    """Numbers from `low` to `high`, each as likely.

    >>> x = weft.nn.init.uniform(weft.random.default_rng(0), (2, 3), -1, 1)
    >>> bool((abs(x) <= 1).all())
    True
    """
    dtype, drawn = _drawn_dtype(dtype)
    return (rng.random(shape, dtype=drawn) * (high - low) + low).astype(dtype)


def normal(rng: Any, shape: Any, mean: float = 0.0, std: float = 1.0, dtype: Any = "float32") -> ndarray:
    """Normal numbers.

    >>> weft.nn.init.normal(weft.random.default_rng(0), (2, 3)).shape
    (2, 3)
    """
    dtype, drawn = _drawn_dtype(dtype)
    return (rng.standard_normal(shape, dtype=drawn) * std + mean).astype(dtype)


def truncated_normal(
    rng: Any, shape: Any, mean: float = 0.0, std: float = 1.0, low: float = -2.0, high: float = 2.0, dtype: Any = "float32"
) -> ndarray:
    """Normal numbers that lie between `low` and `high`, by the inverse of their distribution.

    >>> x = weft.nn.init.truncated_normal(weft.random.default_rng(0), 100)
    >>> bool((abs(x) <= 2).all())
    True
    """
    if not low < high or not std > 0:
        raise ValueError(f"low is less than high and std is above 0, not {low}, {high} and {std}")
    dtype, _ = _drawn_dtype(dtype)
    place = weft.current_device()
    if not place.float64:
        # The numbers are the same everywhere.
        with weft.device("cpu"):
            return truncated_normal(rng, shape, mean, std, low, high, dtype).to(place.name)
    below, above = (math.erf((bound - mean) / (std * math.sqrt(2))) for bound in (low, high))
    # Single precision would end at 5.4 deviations.
    place = weft.clip(rng.random(shape) * (above - below) + below, math.nextafter(-1, 0), math.nextafter(1, 0))
    return weft.clip(weft.math.erfinv(place) * (std * math.sqrt(2)) + mean, low, high).astype(dtype)


def constant(shape: Any, value: float, dtype: Any = "float32") -> ndarray:
    """One number everywhere.

    >>> weft.nn.init.constant(2, 0.5)
    array([0.5, 0.5], dtype=float32)
    """
    return weft.full(shape, value, dtype=as_dtype(dtype))


def zeros(shape: Any, dtype: Any = "float32") -> ndarray:
    """Zeros.

    >>> weft.nn.init.zeros(2)
    array([0., 0.], dtype=float32)
    """
    return constant(shape, 0, dtype)


def ones(shape: Any, dtype: Any = "float32") -> ndarray:
    """Ones.

    >>> weft.nn.init.ones(2)
    array([1., 1.], dtype=float32)
    """
    return constant(shape, 1, dtype)


def xavier_uniform(rng: Any, shape: Any, gain: float = 1.0, dtype: Any = "float32") -> ndarray:
    """Uniform numbers up to gain·sqrt(6/(inputs + outputs)), of a weight (out, in, ...) (Glorot and Bengio, 2010).

    >>> bool((abs(weft.nn.init.xavier_uniform(weft.random.default_rng(0), (2, 4))) <= 1).all())
    True
    """
    bound = gain * math.sqrt(6 / sum(fans(_shape(shape))))
    return uniform(rng, shape, -bound, bound, dtype)


def xavier_normal(rng: Any, shape: Any, gain: float = 1.0, dtype: Any = "float32") -> ndarray:
    """Normal numbers of the deviation gain·sqrt(2/(inputs + outputs)), of a weight (out, in, ...) (Glorot and Bengio, 2010).

    >>> weft.nn.init.xavier_normal(weft.random.default_rng(0), (2, 4)).shape
    (2, 4)
    """
    return normal(rng, shape, 0.0, gain * math.sqrt(2 / sum(fans(_shape(shape)))), dtype)


def kaiming_uniform(rng: Any, shape: Any, gain: float = math.sqrt(2), mode: str = "fan_in", dtype: Any = "float32") -> ndarray:
    """Uniform numbers of the deviation gain/sqrt(inputs), of a weight (out, in, ...), with mode "fan_out" of its outputs (He and others,
    2015). A gain of sqrt(2) is for what a rectifier follows.

    >>> weft.nn.init.kaiming_uniform(weft.random.default_rng(0), (2, 4)).shape
    (2, 4)
    """
    bound = math.sqrt(3) * gain / math.sqrt(_fan(shape, mode))
    return uniform(rng, shape, -bound, bound, dtype)


def kaiming_normal(rng: Any, shape: Any, gain: float = math.sqrt(2), mode: str = "fan_in", dtype: Any = "float32") -> ndarray:
    """Normal numbers of the deviation gain/sqrt(inputs), of a weight (out, in, ...), with mode "fan_out" of its outputs (He and others,
    2015).

    >>> weft.nn.init.kaiming_normal(weft.random.default_rng(0), (2, 4)).shape
    (2, 4)
    """
    return normal(rng, shape, 0.0, gain / math.sqrt(_fan(shape, mode)), dtype)


def _fan(shape: Any, mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is 'fan_in' or 'fan_out', not {mode!r}")
    return max(fans(_shape(shape))[mode == "fan_out"], 1)


def _shape(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)


def orthogonal(rng: Any, shape: Any, gain: float = 1.0, dtype: Any = "float32") -> ndarray:
    """gain times a matrix whose rows, or columns where these are fewer, are at right angles; axes behind the second are one with it (Saxe
    and others, 2013).

    >>> q = weft.nn.init.orthogonal(weft.random.default_rng(0), (2, 3))
    >>> weft.round(q @ q.T, 5) + 0.0
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    found, drawn = _drawn_dtype(dtype)
    shape = _shape(shape)
    if len(shape) < 2:
        raise ValueError(f"an orthogonal weight has two axes at least, not the shape {shape}")
    rows, columns = shape[0], math.prod(shape[1:])
    a = rng.standard_normal((max(rows, columns), min(rows, columns)), dtype=drawn)
    q, r = weft.linalg.qr(a)
    # The signs of the diagonal make it as likely to be any of these matrices.
    q = q * weft.where(weft.diagonal(r) < 0, drawn.type(-1), drawn.type(1))
    return (gain * (q if rows >= columns else q.T)).reshape(shape).astype(found)


def linear(rng: Any, in_features: int, out_features: int, bias: bool = True, dtype: Any = "float32") -> Params:
    """The parameters of `weft.nn.linear`: a weight (out, in), and a bias (out,) if there is one.

    >>> sorted(weft.nn.init.linear(weft.random.default_rng(0), 3, 2))
    ['bias', 'weight']
    """
    return _weights(rng, (out_features, in_features), bias, dtype)


def conv1d(
    rng: Any, in_channels: int, out_channels: int, kernel_size: Any, groups: int = 1, bias: bool = True, dtype: Any = "float32"
) -> Params:
    """The parameters of `weft.nn.conv1d`: a weight (out, in/groups, size), and a bias (out,) if there is one.

    >>> weft.nn.init.conv1d(weft.random.default_rng(0), 4, 6, 3)["weight"].shape
    (6, 4, 3)
    """
    return _weights(rng, _of_window(in_channels, out_channels, numbers(kernel_size, 1, "kernel_size", 1), groups), bias, dtype)


def conv2d(
    rng: Any, in_channels: int, out_channels: int, kernel_size: Any, groups: int = 1, bias: bool = True, dtype: Any = "float32"
) -> Params:
    """The parameters of `weft.nn.conv2d`: a weight (out, in/groups, height, width), and a bias (out,) if there is one.

    >>> weft.nn.init.conv2d(weft.random.default_rng(0), 4, 6, (3, 5))["weight"].shape
    (6, 4, 3, 5)
    """
    return _weights(rng, _of_window(in_channels, out_channels, numbers(kernel_size, 2, "kernel_size", 1), groups), bias, dtype)


def _of_window(ins: int, outs: int, size: tuple[int, ...], groups: int) -> tuple[int, ...]:
    if groups < 1 or ins % groups or outs % groups:
        raise ValueError(f"{ins} channels in and {outs} out are not {groups} equal groups")
    return (outs, ins // groups, *size)


def _weights(rng: Any, shape: tuple[int, ...], bias: bool, dtype: Any) -> Params:
    bound = 1 / math.sqrt(max(fans(shape)[0], 1))
    made = {"weight": uniform(rng, shape, -bound, bound, dtype)}
    return made | {"bias": uniform(rng, shape[:1], -bound, bound, dtype)} if bias else made


def embedding(rng: Any, num_embeddings: int, embedding_dim: int, dtype: Any = "float32") -> Params:
    """The parameter of `weft.nn.embedding`: normal numbers, (count, size).

    >>> weft.nn.init.embedding(weft.random.default_rng(0), 10, 4)["weight"].shape
    (10, 4)
    """
    return {"weight": normal(rng, (num_embeddings, embedding_dim), dtype=dtype)}


def layer_norm(shape: Any, bias: bool = True, dtype: Any = "float32") -> Params:
    """The parameters of `weft.nn.layer_norm`: ones for a weight and zeros for a bias, of the shape of the last axes.

    >>> weft.nn.init.layer_norm(2)["weight"]
    array([1., 1.], dtype=float32)
    """
    return {"weight": ones(shape, dtype)} | ({"bias": zeros(shape, dtype)} if bias else {})


def rms_norm(shape: Any, dtype: Any = "float32") -> Params:
    """The parameter of `weft.nn.rms_norm`: ones for a weight.

    >>> weft.nn.init.rms_norm(2)["weight"]
    array([1., 1.], dtype=float32)
    """
    return {"weight": ones(shape, dtype)}


def group_norm(num_channels: int, dtype: Any = "float32") -> Params:
    """The parameters of `weft.nn.group_norm`: ones for a weight and zeros for a bias, one for each channel.

    >>> sorted(weft.nn.init.group_norm(2))
    ['bias', 'weight']
    """
    return layer_norm(num_channels, dtype=dtype)


def batch_norm(num_features: int, dtype: Any = "float32") -> tuple[Params, Params]:
    """The parameters of `weft.nn.batch_norm`, and the state: means of 0 and variances of 1.

    >>> params, state = weft.nn.init.batch_norm(2)
    >>> sorted(params), sorted(state)
    (['bias', 'weight'], ['running_mean', 'running_var'])
    """
    return layer_norm(num_features, dtype=dtype), {"running_mean": zeros(num_features, dtype), "running_var": ones(num_features, dtype)}


def prelu(num_parameters: int = 1, value: float = 0.25, dtype: Any = "float32") -> Params:
    """The parameter of `weft.nn.prelu`.

    >>> weft.nn.init.prelu()["weight"]
    array([0.25], dtype=float32)
    """
    return {"weight": constant(num_parameters, value, dtype)}
