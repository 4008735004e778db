"""Pools: the largest element or the mean of each window, as torch.nn.functional has them.

Of small windows the elements are compared place by place, which fuses to one kernel; larger ones are taken along one axis after the other.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.arrays._common import array_of, is_half

from ._common import Shape, floats, narrow, stored, wide
from ._rules import with_rule
from ._windows import Windows, added_back, bordered, pooling, tap, taps

__all__ = ["avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d"]

# The most elements of a window that are taken together.
_TOGETHER = 16


def max_pool1d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False) -> ndarray:
    """The largest element of each window along the last axis of (batch, channels, length), or of one example of it.

    `stride` is the window's size if nothing is said. The border counts as less than all; with `ceil_mode` a last window may reach over
    the end. NaN is larger than all. The gradient goes to the first of the largest elements.

    >>> weft.nn.max_pool1d(weft.asarray([[1.0, 4.0, 2.0, 3.0]]), 2)
    array([[4., 3.]])
    """
    return _max_pool("max_pool1d", 1, x, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False) -> ndarray:
    """The largest element of each window over the last two axes of (batch, channels, height, width); as `max_pool1d` otherwise.

    >>> weft.nn.max_pool2d(weft.arange(16.0).reshape(1, 4, 4), 2)
    array([[[ 5.,  7.],
            [13., 15.]]])
    """
    return _max_pool("max_pool2d", 2, x, kernel_size, stride, padding, dilation, ceil_mode)


def _max_pool(name: str, rank: int, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> ndarray:
    x = array_of(x)
    if x.dtype.kind not in "fiu" and not is_half(x.dtype):
        raise TypeError(f"{name} takes real numbers, not {x.dtype}")
    windows = pooling(name, x, rank, kernel_size, stride, padding, dilation, ceil_mode)
    windows.counts(x.shape[-rank:], name)
    for part in _one_by_one(windows) if math.prod(windows.size) > _TOGETHER else [windows]:
        x = largest(part)(x)
    return x


def _one_by_one(windows: Windows) -> Iterator[Windows]:
    """Windows along the last axis, and then along those before it: the first of the largest elements is the same one."""
    for axis in reversed(range(len(windows.size))):
        yield Windows(*(tuple(n if at == axis else rest for at, n in enumerate(each)) for each, rest in zip(windows, (1, 1, 1, 0, 0))))


@functools.lru_cache(256)
def largest(windows: Windows) -> Callable[[ndarray], ndarray]:
    """The largest elements of windows, with its rule for gradients."""

    rank = len(windows.size)

    def each_tap(x: ndarray) -> list[ndarray]:
        counts = windows.counts(x.shape[x.ndim - rank :], "max_pool")
        padded = bordered(x, windows, np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf)
        return [tap(padded, windows, at, counts) for at in taps(windows)]

    def max_pool(x: ndarray) -> ndarray:
        return functools.reduce(weft.maximum, each_tap(x))

    def forward(x: ndarray) -> tuple[ndarray, Any]:
        found = stored(max_pool(x))
        return found, (x, stored(_places(each_tap(x), found)))

    def backward(kept: Any, given: ndarray) -> tuple[ndarray]:
        x, place = kept
        parts = (weft.where(place == n, given, 0) for n in range(math.prod(windows.size)))
        front, extents = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
        return (added_back(zip(taps(windows), parts), windows, front, extents, given),)

    return with_rule(max_pool, forward, backward)


def _is(each: ndarray, found: ndarray) -> ndarray:
    """Whether an element is the largest one, NaN if that is NaN."""
    return (each == found) | (each != each)


def _places(each: list[ndarray], found: ndarray) -> ndarray:
    """At which place of the windows the first of the largest elements is."""
    place = weft.full(found.shape, len(each) - 1, dtype=np.int32, device=found.device)
    for n in reversed(range(len(each) - 1)):
        place = weft.where(_is(each[n], found), n, place)
    return place


def avg_pool1d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> ndarray:
    """The mean of each window along the last axis of (batch, channels, length), or of one example of it.

    `stride` is the window's size if nothing is said. The border counts as zeros, or with `count_include_pad=False` as nothing.

    >>> weft.nn.avg_pool1d(weft.asarray([[1.0, 4.0, 2.0, 3.0]]), 2)
    array([[2.5, 2.5]])
    """
    return _avg_pool("avg_pool1d", 1, x, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> ndarray:
    """The mean of each window over the last two axes of (batch, channels, height, width), or its sum over `divisor_override`; as
    `avg_pool1d` otherwise.

    >>> weft.nn.avg_pool2d(weft.arange(16.0).reshape(1, 4, 4), 2)
    array([[[ 2.5,  4.5],
            [10.5, 12.5]]])
    """
    return _avg_pool("avg_pool2d", 2, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _avg_pool(
    name: str,
    rank: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> ndarray:
    x = floats(name, x)
    if divisor_override == 0:
        raise ValueError("divisor must be not zero")
    windows = pooling(name, x, rank, kernel_size, stride, padding, 1, ceil_mode)
    extents = x.shape[-rank:]
    counts = windows.counts(extents, name)
    found = wide(x)
    for part in _one_by_one(windows) if math.prod(windows.size) > _TOGETHER else [windows]:
        found = summed(part)(found)
    divisor = divisor_override or _divisor(windows, extents, counts, numbers_of(padding, rank), count_include_pad)
    if isinstance(divisor, np.ndarray):
        divisor = weft.asarray(divisor.astype(found.dtype), device=x.device)
    return narrow(found / divisor, x.dtype)


def numbers_of(padding: Any, rank: int) -> Shape:
    """The border as asked for, at both ends."""
    return tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * rank


def _divisor(windows: Windows, extents: Shape, counts: Shape, border: Shape, with_border: bool) -> Any:
    """How many elements each window has, a number if all have as many: what `ceil_mode` adds at the end never counts."""
    rows = []
    for n, size, stride, low, count in zip(extents, windows.size, windows.stride, border, counts):
        start = np.arange(count) * stride - low
        end = np.minimum(start + size, n + low)
        rows.append(end - start if with_border else np.minimum(end, n) - np.maximum(start, 0))
    found = functools.reduce(np.multiply.outer, rows)
    return int(found.flat[0]) if found.size and (found == found.flat[0]).all() else found


@functools.lru_cache(256)
def summed(windows: Windows) -> Callable[[ndarray], ndarray]:
    """The sums of windows, with its rule for gradients."""

    def sum_pool(x: ndarray) -> ndarray:
        rank = len(windows.size)
        counts = windows.counts(x.shape[x.ndim - rank :], "avg_pool")
        padded = bordered(x, windows, 0)
        return functools.reduce(lambda a, b: a + b, (tap(padded, windows, at, counts) for at in taps(windows)))

    def forward(x: ndarray) -> tuple[ndarray, Any]:
        return sum_pool(x), x.shape

    def backward(shape: Any, given: ndarray) -> tuple[ndarray]:
        front, extents = shape[: len(shape) - len(windows.size)], shape[len(shape) - len(windows.size) :]
        return (added_back(((at, given) for at in taps(windows)), windows, front, extents, given),)

    return with_rule(sum_pool, forward, backward)
