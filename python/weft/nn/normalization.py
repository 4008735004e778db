"""Normalisation to mean 0 and variance 1: of layers, of groups of channels, of batches, and by the root of the mean square alone.

Means and variances are taken in two passes, of float16 and bfloat16 in single precision.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray

from ._common import floats, narrow, parameter, refuse_unknown, wide

__all__ = ["batch_norm", "group_norm", "layer_norm", "rms_norm"]


def layer_norm(params: Mapping[str, Any], x: Any, eps: float = 1e-5) -> ndarray:
    """(x - mean)/sqrt(variance + eps)·weight + bias over the last axes: those that `weight` has, or the last one without it.

    `weight` and `bias` may be missing (Ba and others, 2016).

    >>> weft.nn.layer_norm({}, weft.asarray([1.0, 3.0]), eps=0.0)
    array([-1.,  1.])
    """
    refuse_unknown(params, ("weight", "bias"), "layer_norm")
    x = floats("layer_norm", x)
    axes = _last_axes(params, x, "layer_norm")
    values = wide(x)
    return narrow(_scaled(params, _normal(values, axes, eps), "layer_norm", ()), x.dtype)


def rms_norm(params: Mapping[str, Any], x: Any, eps: float | None = None) -> ndarray:
    """x/sqrt(mean(x²) + eps)·weight over the last axes: those that `weight` has, or the last one without it.

    `eps` is the dtype's distance of 1 from the next number if nothing is said, as PyTorch's (Zhang and Sennrich, 2019).

    >>> weft.nn.rms_norm({}, weft.asarray([3.0, 4.0]), eps=0.0) * 12.5**0.5
    array([3., 4.])
    """
    refuse_unknown(params, ("weight",), "rms_norm")
    x = floats("rms_norm", x)
    axes = _last_axes(params, x, "rms_norm")
    values = wide(x)
    small = float(np.finfo(values.dtype).eps) if eps is None else eps
    found = values / weft.sqrt(weft.mean(values * values, axis=axes, keepdims=True) + small)
    return narrow(_scaled(params, found, "rms_norm", ()), x.dtype)


def group_norm(params: Mapping[str, Any], x: Any, num_groups: int, eps: float = 1e-5) -> ndarray:
    """Channels (axis 1) in so many groups, each of which is normalised in each element of the batch (axis 0), times `weight` plus `bias`
    of each channel (Wu and He, 2018). ValueError if the groups are not equal.

    >>> weft.nn.group_norm({}, weft.asarray([[1.0, 3.0, 2.0, 6.0]]), 2, eps=0.0)
    array([[-1.,  1., -1.,  1.]])
    """
    refuse_unknown(params, ("weight", "bias"), "group_norm")
    x = floats("group_norm", x)
    if x.ndim < 2:
        raise ValueError(f"group_norm takes (batch, channels, ...), not {x.shape}")
    if num_groups < 1 or x.shape[1] % num_groups:
        raise ValueError(f"{x.shape[1]} channels are not {num_groups} equal groups")
    # The channels of a group, and all behind them, side by side.
    rows = wide(x).reshape((x.shape[0], num_groups, (x.shape[1] // num_groups) * math.prod(x.shape[2:])))
    found = _normal(rows, (2,), eps).reshape(x.shape)
    return narrow(_scaled(params, found, "group_norm", (1,) * (x.ndim - 2)), x.dtype)


def batch_norm(
    params: Mapping[str, Any], state: Mapping[str, Any], x: Any, training: bool = False, momentum: float = 0.1, eps: float = 1e-5
) -> tuple[ndarray, dict[str, Any]]:
    """Each channel (axis 1) normalised over the batch and all that is behind it, and the state that comes next (Ioffe and Szegedy, 2015).

    `state` has `running_mean` and `running_var`. With `training` the batch's own mean and variance are used, and the state moves towards
    them by `momentum` (towards the variance with one degree of freedom less, as PyTorch's); without, the state is used and given back.

    >>> state = {"running_mean": weft.zeros(1), "running_var": weft.ones(1)}
    >>> y, state = weft.nn.batch_norm({}, state, weft.asarray([[1.0], [3.0]]), training=True, eps=0.0)
    >>> y.tolist(), state["running_mean"].tolist(), state["running_var"].tolist()
    ([[-1.0], [1.0]], [0.2], [1.1])
    """
    refuse_unknown(params, ("weight", "bias"), "batch_norm")
    refuse_unknown(state, ("running_mean", "running_var"), "the state of batch_norm")
    x = floats("batch_norm", x)
    if x.ndim < 2:
        raise ValueError(f"batch_norm takes (batch, channels, ...), not {x.shape}")
    running = [parameter(state, name, "the state of batch_norm") for name in ("running_mean", "running_var")]
    behind = (1,) * (x.ndim - 2)
    values = wide(x)
    if training:
        axes = (0, *range(2, x.ndim))
        count = math.prod(x.shape) // max(x.shape[1], 1)
        if count < 2:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {x.shape}")
        mean = weft.mean(values, axis=axes, keepdims=True)
        away = values - mean
        var = weft.mean(away * away, axis=axes, keepdims=True)
        found = away / weft.sqrt(var + eps)
        batch = (mean.reshape(-1), var.reshape(-1) * (count / (count - 1)))
        after = [narrow(old * (1 - momentum) + momentum * new, old.dtype) for old, new in zip(running, batch)]
    else:
        mean, var = (_over_channels(each, x, behind).astype(values.dtype, copy=False) for each in running)
        found = (values - mean) / weft.sqrt(var + eps)
        after = running
    made = narrow(_scaled(params, found, "batch_norm", behind), x.dtype)
    return made, {"running_mean": after[0], "running_var": after[1]}


def _over_channels(each: ndarray, x: ndarray, behind: tuple[int, ...]) -> ndarray:
    if each.shape != (x.shape[1],):
        raise ValueError(f"there is one number for each of {x.shape[1]} channels, not {each.shape}")
    return wide(each).reshape((x.shape[1], *behind))


def _last_axes(params: Mapping[str, Any], x: ndarray, of: str) -> tuple[int, ...]:
    """The axes that a weight or bias has, which are the last ones."""
    shapes = {parameter(params, name, of).shape for name in params}
    if len(shapes) > 1:
        raise ValueError(f"weight and bias of {of} have one shape, not {' and '.join(map(str, sorted(shapes)))}")
    shape = shapes.pop() if shapes else x.shape[-1:]
    if not shape or x.shape[x.ndim - len(shape) :] != shape or len(shape) > x.ndim:
        raise ValueError(f"{of} over {shape} takes an array whose last axes these are, not {x.shape}")
    return tuple(range(x.ndim - len(shape), x.ndim))


def _normal(x: ndarray, axes: tuple[int, ...], eps: float) -> ndarray:
    away = x - weft.mean(x, axis=axes, keepdims=True)
    return away / weft.sqrt(weft.mean(away * away, axis=axes, keepdims=True) + eps)


def _scaled(params: Mapping[str, Any], x: ndarray, of: str, behind: tuple[int, ...]) -> ndarray:
    """An array times the weight plus the bias, where there are these."""
    for name in ("weight", "bias"):
        if name in params:
            each = wide(parameter(params, name, of))
            if of in ("group_norm", "batch_norm"):
                if each.shape != (x.shape[1],):
                    raise ValueError(f"the {name} of {of} has one number for each of {x.shape[1]} channels, not {each.shape}")
                each = each.reshape((*each.shape, *behind))
            x = x * each if name == "weight" else x + each
    return x
