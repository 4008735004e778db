"""Losses, by torch.nn.functional's names and with its meaning: predictions first, then what is true, `reduction` "mean", "sum" or "none".

Floats of 16 bits are computed in single precision, and the loss is rounded once to their dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.arrays._common import beside

from ._common import floats, narrow, reduced, wide
from .activations import log_sigmoid, log_softmax

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
]


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> ndarray:
    """The squares of the differences. ValueError if the shapes are not the same.

    >>> weft.nn.mse_loss(weft.asarray([1.0, 3.0]), weft.asarray([1.0, 1.0]))
    array(2.)
    """
    return _of_differences("mse_loss", input, target, reduction, lambda d: d * d)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> ndarray:
    """The absolute differences. ValueError if the shapes are not the same.

    >>> weft.nn.l1_loss(weft.asarray([1.0, 3.0]), weft.asarray([1.0, 1.0]))
    array(1.)
    """
    return _of_differences("l1_loss", input, target, reduction, weft.abs)


def huber_loss(input: Any, target: Any, delta: float = 1.0, reduction: str = "mean") -> ndarray:
    """d²/2 of differences d up to `delta`, and delta·(|d| - delta/2) of larger ones (Huber, 1964).

    >>> weft.nn.huber_loss(weft.asarray([1.0, 3.0]), weft.asarray([1.0, 1.0]), reduction="none")
    array([0. , 1.5])
    """
    if not delta > 0:
        raise ValueError(f"huber_loss does not support non-positive values for delta: {delta}")

    def each(d: ndarray) -> ndarray:
        far = weft.abs(d)
        return weft.where(far <= delta, 0.5 * d * d, delta * (far - 0.5 * delta))

    return _of_differences("huber_loss", input, target, reduction, each)


def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0, reduction: str = "mean") -> ndarray:
    """d²/(2·beta) of differences d below `beta`, and |d| - beta/2 of larger ones: `huber_loss` over beta. A beta of 0 is `l1_loss`.

    >>> weft.nn.smooth_l1_loss(weft.asarray([1.0, 3.0]), weft.asarray([1.0, 1.0]), beta=2.0, reduction="none")
    array([0., 1.])
    """
    if beta < 0:
        raise ValueError(f"smooth_l1_loss does not support negative values for beta: {beta}")
    if beta == 0:
        return _of_differences("smooth_l1_loss", input, target, reduction, weft.abs)

    def each(d: ndarray) -> ndarray:
        far = weft.abs(d)
        return weft.where(far < beta, (0.5 / beta) * d * d, far - 0.5 * beta)

    return _of_differences("smooth_l1_loss", input, target, reduction, each)


def _of_differences(name: str, input: Any, target: Any, reduction: str, each: Callable[[ndarray], ndarray]) -> ndarray:
    input, target = floats(name, input, target), floats(name, target, input)
    _same_shape(name, input, target)
    dtype = weft.result_type(input, target)
    return narrow(reduced(each(wide(input) - wide(target)), reduction), dtype)


def _same_shape(name: str, input: ndarray, target: ndarray) -> None:
    # Shapes that broadcast are a common mistake: (n, 1) and (n,) have n² differences.
    if input.shape != target.shape:
        raise ValueError(f"{name} of {input.shape} and {target.shape}: the shapes are not the same")


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> ndarray:
    """-(pos_weight·target·log(p) + (1 - target)·log(1 - p))·weight, p the sigmoid of the input; no logarithm of 0 is met.

    `weight` and `pos_weight` broadcast. ValueError if input and target differ in shape.

    >>> weft.nn.binary_cross_entropy_with_logits(weft.asarray([0.0, 200.0]), weft.asarray([1.0, 1.0]), reduction="sum")
    array(0.69314718)
    """
    x, y = (floats("binary_cross_entropy_with_logits", each, input, target) for each in (input, target))
    _same_shape("binary_cross_entropy_with_logits", x, y)
    dtype = weft.result_type(x, y)
    x, y = wide(x), wide(y)
    wrong, right = log_sigmoid(-x), log_sigmoid(x)
    found = -((1 - y) * wrong + (y if pos_weight is None else y * _numbers(pos_weight, x)) * right)
    return narrow(reduced(found if weight is None else found * _numbers(weight, x), reduction), dtype)


def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> ndarray:
    """-(target·log(input) + (1 - target)·log(1 - input))·weight of probabilities; logarithms below -100 are -100, as PyTorch's.

    The derivative by the input is (input - target) / max(input·(1 - input), 1e-12), as PyTorch's.

    >>> weft.nn.binary_cross_entropy(weft.asarray([0.5, 1.0]), weft.asarray([1.0, 1.0]), reduction="sum")
    array(0.69314718)
    """
    x, y = (floats("binary_cross_entropy", each, input, target) for each in (input, target))
    _same_shape("binary_cross_entropy", x, y)
    dtype = weft.result_type(x, y)
    x, y = wide(x), wide(y)
    found = _crossed(x, y)
    return narrow(reduced(found if weight is None else found * _numbers(weight, x), reduction), dtype)


@weft.custom_vjp
def _crossed(x: ndarray, y: ndarray) -> ndarray:
    return -(y * _bounded_log(x) + (1 - y) * _bounded_log(1 - x))


@_crossed.defvjp
def _(cotangent: ndarray, found: ndarray, x: ndarray, y: ndarray) -> tuple[ndarray, ndarray]:
    # A probability of 0 or 1 that is wrong has a slope that is large, and not the zero of a logarithm that is bounded.
    slope = (x - y) / weft.maximum(x * (1 - x), 1e-12)
    return cotangent * slope, cotangent * (_bounded_log(1 - x) - _bounded_log(x))


def _bounded_log(x: ndarray) -> ndarray:
    # e^-100 is below what float32 has of normal numbers: the logarithm is taken of what is above it, so that its derivative is finite.
    small = x < 1e-38
    found = weft.log(weft.where(small, 1, x))
    return weft.where(small, -100, weft.where(found < -100, -100, found))


def cross_entropy(
    input: Any, target: Any, weight: Any = None, ignore_index: int = -100, label_smoothing: float = 0.0, reduction: str = "mean"
) -> ndarray:
    """-log of the softmax of the input at the true class; the classes are axis 1, or axis 0 of one example.

    `target` is the class of each example, integers of the input's shape without the classes, or the probabilities of all classes, floats
    of the input's shape. `weight` has a number for each class, by whose sum over the examples the mean is taken. Examples of the class
    `ignore_index` count for nothing. `label_smoothing` is the part of the truth that is spread over all classes (Szegedy and others, 2016).

    Elements are not looked at: of a class that does not exist the loss is NaN.

    >>> weft.nn.cross_entropy(weft.asarray([[0.0, 0.0], [0.0, 1000.0]]), weft.asarray([1, 1]), reduction="sum")
    array(0.69314718)
    """
    x, target = floats("cross_entropy", input, target), beside(target, input)
    if x.ndim < 1:
        raise ValueError("cross_entropy takes an input with classes, not a number")
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    axis = 0 if x.ndim == 1 else 1
    weights = _class_weights(weight, x, axis)
    logs = log_softmax(wide(x), axis)
    if target.dtype.kind in "iu":
        found = _of_classes("cross_entropy", logs, target, weights, ignore_index, label_smoothing, reduction)
    else:
        found = _of_probabilities(logs, floats("cross_entropy", target), weights, ignore_index, label_smoothing, reduction)
    return narrow(found, x.dtype)


def nll_loss(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> ndarray:
    """Minus the input at the true class: `cross_entropy` of logarithms of probabilities, such as `log_softmax` gives.

    >>> weft.nn.nll_loss(weft.asarray([[-1.0, -2.0], [-3.0, -4.0]]), weft.asarray([0, 1]))
    array(2.5)
    """
    x, target = floats("nll_loss", input, target), beside(target, input)
    if x.ndim < 1:
        raise ValueError("nll_loss takes an input with classes, not a number")
    if target.dtype.kind not in "iu":
        raise TypeError(f"the target of nll_loss are integers, not {target.dtype}")
    weights = _class_weights(weight, x, 0 if x.ndim == 1 else 1)
    return narrow(_of_classes("nll_loss", wide(x), target, weights, ignore_index, 0.0, reduction), x.dtype)


def _class_weights(weight: Any, x: ndarray, axis: int) -> ndarray | None:
    """A number for each class, in the shape that broadcasts with the input."""
    if weight is None:
        return None
    weights = _numbers(weight, x)
    if weights.shape != (x.shape[axis],):
        raise ValueError(f"weight has one number for each of {x.shape[axis]} classes, not {weights.shape}")
    return weights.reshape((x.shape[axis],) + (1,) * max(x.ndim - 2, 0))


def _of_classes(
    name: str, logs: ndarray, target: ndarray, weights: ndarray | None, ignored: int, smoothing: float, reduction: str
) -> ndarray:
    axis = 0 if logs.ndim == 1 else 1
    shape, count = (*logs.shape[:axis], *logs.shape[axis + 1 :]), logs.shape[axis]
    if target.shape != shape:
        raise ValueError(f"the target of {name} has a class for each of {shape} examples, not the shape {target.shape}")
    classes = weft.arange(count, dtype=np.int32, device=logs.device).reshape((count,) + (1,) * (target.ndim - axis))
    # Which class it is is compared in place of taken: that fuses, and so does what it differentiates to.
    here = weft.expand_dims(target, axis) == classes
    left_out = target == ignored
    if count <= ignored or ignored < 0:
        known = left_out | ((target >= 0) & (target < count))
    else:
        known = (target >= 0) & (target < count)
    weighted = logs if weights is None else logs * weights
    each = -weft.sum(weft.where(here, weighted, 0), axis=axis)
    if smoothing:
        spread = -weft.sum(weighted, axis=axis)
        each = (1 - smoothing) * each + (smoothing / count) * spread
    each = weft.where(left_out, 0, weft.where(known, each, np.nan))
    if reduction != "mean":
        return reduced(each, reduction)
    # The weight of each example, by which the mean is taken.
    one = _ones_like(logs) if weights is None else weights
    share = weft.sum(weft.where(here & weft.expand_dims(~left_out, axis), one, 0), axis=axis)
    return weft.sum(each) / weft.sum(share)


def _ones_like(logs: ndarray) -> ndarray:
    return weft.ones((), dtype=logs.dtype, device=logs.device)


def _of_probabilities(logs: ndarray, target: ndarray, weights: ndarray | None, ignored: int, smoothing: float, reduction: str) -> ndarray:
    if target.shape != logs.shape:
        raise ValueError(f"a target of floats has the probabilities of all classes, {logs.shape}, not the shape {target.shape}")
    if ignored >= 0:
        raise ValueError("ignore_index is not supported for floating point target")
    axis = 0 if logs.ndim == 1 else 1
    target = wide(target)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / logs.shape[axis]
    products = logs * target
    each = -weft.sum(products if weights is None else products * weights, axis=axis)
    return reduced(each, reduction)


def _numbers(given: Any, x: ndarray) -> ndarray:
    """Weights as floats."""
    return wide(floats("weight", given, x))


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> ndarray:
    """target·(log(target) - input), of an input of logarithms; with `log_target` the target is of logarithms, too.

    What is 0 in the target adds nothing. `reduction` may also be "batchmean", the sum over the length of axis 0, which is what the
    divergence is (Kullback and Leibler, 1951).

    >>> weft.nn.kl_div(weft.log(weft.asarray([[0.5, 0.5]])), weft.asarray([[1.0, 0.0]]), reduction="batchmean")
    array(0.69314718)
    """
    x, y = floats("kl_div", input, target), floats("kl_div", target, input)
    _same_shape("kl_div", x, y)
    dtype = weft.result_type(x, y)
    x, y = wide(x), wide(y)
    if log_target:
        each = weft.exp(y) * (y - x)
    else:
        there = y > 0
        each = weft.where(there, y * weft.log(weft.where(there, y, 1)), 0) - y * x
    if reduction != "batchmean":
        return narrow(reduced(each, reduction), dtype)
    if x.ndim == 0:
        raise ValueError("batchmean takes arrays with a batch, not numbers")
    return narrow(weft.sum(each) / x.shape[0], dtype)
