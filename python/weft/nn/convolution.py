"""Convolutions in one and two dimensions, as torch.nn.functional has them: channels in front, no flipping.

Three ways, chosen by shapes alone. Where a window is one element the channels are multiplied by the weight as they lie. Where each channel
is convolved with windows of its own (depthwise) the products are added place by place, which fuses to one kernel (direct). Otherwise the
windows of some examples at a time are laid out as the columns of a matrix, which the weight is multiplied by (im2col; Chellapilla and
others, 2006), and results lie with the channels in front, as the next convolution reads them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import weft
from weft._weft import _strided, ndarray
from weft.arrays._common import is_half

from ._common import Shape, floats, narrow, numbers, parameter, refuse_unknown, wide
from ._rules import with_rule
from ._windows import Windows, added_back, bordered, tap, taps

__all__ = ["conv1d", "conv2d"]

# The most places of a window that are added place by place.
_DIRECT = 49
# How many bytes of columns are laid out at a time.
_PART = 16 << 20


def conv1d(params: Mapping[str, Any], x: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> ndarray:
    """Windows along the last axis of (batch, channels, length), or of one example without the batch, times `weight`, (out, in/groups,
    size), plus `bias`, (out,), if there is one.

    `padding` is a border of zeros, a number or "same" or "valid". ValueError if shapes do not fit.

    >>> params = {"weight": weft.asarray([[[1.0, -1.0]]])}
    >>> weft.nn.conv1d(params, weft.asarray([[[1.0, 4.0, 9.0]]]))
    array([[[-3., -5.]]])
    """
    return _convolution("conv1d", 1, params, x, stride, padding, dilation, groups)


def conv2d(params: Mapping[str, Any], x: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> ndarray:
    """Windows over the last two axes of (batch, channels, height, width), or of one example without the batch, times `weight`, (out,
    in/groups, height, width), plus `bias`, (out,), if there is one.

    `stride`, `padding` and `dilation` are numbers or pairs; `padding`, a border of zeros, also "same" (as many windows as elements; stride
    1 only) or "valid" (none). Channels in so many `groups` do not mix. ValueError if shapes do not fit.

    >>> params = weft.nn.init.conv2d(weft.random.default_rng(0), 3, 8, 3)
    >>> weft.nn.conv2d(params, weft.zeros((4, 3, 28, 28), dtype="float32"), padding=1).shape
    (4, 8, 28, 28)
    """
    return _convolution("conv2d", 2, params, x, stride, padding, dilation, groups)


def _convolution(name: str, rank: int, params: Mapping[str, Any], x: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> ndarray:
    refuse_unknown(params, ("weight", "bias"), name)
    x, weight = floats(name, x), parameter(params, "weight", name)
    _check(name, rank, x, weight, groups)
    dtype = weft.result_type(x, weight)
    size = weight.shape[2:]
    step, spread = numbers(stride, rank, "stride", 1), numbers(dilation, rank, "dilation", 1)
    before, behind = _border(name, padding, size, step, spread)
    windows = Windows(size, step, spread, before, behind)
    single = x.ndim == rank + 1
    a, w = (wide(each).astype(_computed(dtype), copy=False) for each in (x, weight))
    if single:
        a = a[None]
    if rank == 1:
        # A row is a picture of height 1.
        a, w = a[:, :, None, :], w[:, :, None, :]
        windows = Windows((1, *size), (1, *step), (1, *spread), (0, *before), (0, *behind))
    windows.counts(a.shape[2:], name)
    arguments = [a, w]
    if "bias" in params:
        bias = parameter(params, "bias", name)
        if bias.shape != (weight.shape[0],):
            raise ValueError(f"the bias of {name} has one number for each of {weight.shape[0]} channels, not {bias.shape}")
        arguments.append(wide(bias).astype(_computed(dtype), copy=False))
    found = convolved(windows, groups)(*arguments)
    if rank == 1:
        found = found[:, :, 0]
    return narrow(found[0] if single else found, dtype)


def _computed(dtype: np.dtype) -> np.dtype:
    return np.dtype(np.float32) if is_half(dtype) else dtype


def _check(name: str, rank: int, x: ndarray, weight: ndarray, groups: int) -> None:
    if weight.ndim != rank + 2 or 0 in weight.shape[2:]:
        raise ValueError(f"the weight of {name} has {rank + 2} axes, none of a window without elements, not the shape {weight.shape}")
    if x.ndim not in (rank + 1, rank + 2):
        raise ValueError(f"{name} takes an input of {rank + 2} axes, or of {rank + 1} without a batch, not {x.shape}")
    outs, per = weight.shape[:2]
    if not isinstance(groups, int) or groups < 1 or outs % groups:
        raise ValueError(f"{outs} channels out are not {groups} equal groups")
    if x.shape[-rank - 1] != per * groups:
        raise ValueError(f"{name} by a weight {weight.shape} and {groups} groups takes {per * groups} channels, not {x.shape[-rank - 1]}")


def _border(name: str, padding: Any, size: Shape, stride: Shape, dilation: Shape) -> tuple[Shape, Shape]:
    """The widths of the border in front of each axis and behind it."""
    if padding == "valid":
        return (0,) * len(size), (0,) * len(size)
    if padding == "same":
        if any(each != 1 for each in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
        both = tuple(d * (n - 1) for n, d in zip(size, dilation))
        return tuple(n // 2 for n in both), tuple(n - n // 2 for n in both)
    if isinstance(padding, str):
        raise ValueError(f"padding of {name} is 'same', 'valid' or numbers, not {padding!r}")
    found = numbers(padding, len(size), "padding")
    return found, found


@functools.lru_cache(256)
def convolved(windows: Windows, groups: int) -> Callable[..., ndarray]:
    """The convolution of (n, c, h, w) and (o, c/groups, kh, kw) plus a bias (o,), if one is given, for windows, with its rule for
    gradients."""

    def convolution(x: ndarray, weight: ndarray, *bias: ndarray) -> ndarray:
        return forward(x, weight, *bias)[0]

    def forward(x: ndarray, weight: ndarray, *bias: ndarray) -> tuple[ndarray, Any]:
        found, columns = _forward(windows, groups, x, weight)
        return found + bias[0][:, None, None] if bias else found, (x, weight, columns, bool(bias))

    def backward(kept: Any, given: ndarray) -> tuple[ndarray, ...]:
        x, weight, columns, biased = kept
        # What all of them read, and is stored when the first of them does.
        rows = _grouped(groups, given.transpose(1, 0, 2, 3))
        found = _of_input(windows, groups, x.shape, weight, given, rows), _of_weight(windows, groups, x, weight.shape, given, rows, columns)
        return (*found, weft.sum(rows, axis=-1).reshape(-1)) if biased else found

    return with_rule(convolution, forward, backward)


def _is_direct(windows: Windows, groups: int, weight_shape: Shape) -> bool:
    return weight_shape[1] == 1 and groups > 1 and math.prod(windows.size) <= _DIRECT


def _forward(windows: Windows, groups: int, x: ndarray, weight: ndarray) -> tuple[ndarray, ndarray | None]:
    """The convolution without a bias, and the windows' elements as columns if they were made of all examples at once."""
    counts = windows.counts(x.shape[2:], "convolution")
    outs = weight.shape[0]
    if x.size == 0 or weight.size == 0 or 0 in counts:
        return weft.zeros((x.shape[0], outs, *counts), dtype=x.dtype, device=x.device), None
    if _is_direct(windows, groups, weight.shape):
        return _direct(windows, x, weight, counts), None
    rows, parts, columns = _grouped(groups, weight), [], None
    for columns in _columns(windows, groups, x, counts):
        parts.append(weft.matmul(rows, columns))
    found = parts[0] if len(parts) == 1 else weft.concatenate(parts, axis=-1)
    return found.reshape((outs, x.shape[0], *counts)).transpose(1, 0, 2, 3), columns if len(parts) == 1 else None


def _direct(windows: Windows, x: ndarray, weight: ndarray, counts: Shape) -> ndarray:
    """Channels on their own, each with as many windows as there are channels out for it."""
    channels, each = x.shape[1], weight.shape[0] // x.shape[1]
    padded = bordered(x, windows, 0)[:, :, None]
    factors = weight.reshape((channels, each, *windows.size))
    products = (tap(padded, windows, (i, j), counts) * factors[:, :, i, j, None, None] for i, j in taps(windows))
    return functools.reduce(lambda a, b: a + b, products).reshape((x.shape[0], channels * each, *counts))


def _grouped(groups: int, x: ndarray) -> ndarray:
    """An array with channels in front as a matrix of rows, or as a stack of one for each group."""
    return x.reshape((groups, x.shape[0] // groups, -1) if groups > 1 else (x.shape[0], -1))


def _columns(windows: Windows, groups: int, x: ndarray, counts: Shape) -> Iterator[ndarray]:
    """(c·kh·kw, n·oh·ow), or (groups, c/groups·kh·kw, n·oh·ow), of as many examples at a time as make a part."""
    n, channels = x.shape[:2]
    if windows == Windows((1, 1), (1, 1), (1, 1), (0, 0), (0, 0)):
        yield _grouped(groups, x.transpose(1, 0, 2, 3))
        return
    turned = x.transpose(1, 0, 2, 3)
    depth = channels * math.prod(windows.size)
    together = max(_PART // (depth * math.prod(counts) * x.dtype.itemsize), 1)
    for start in range(0, n, together):
        padded = bordered(turned[:, start : start + together], windows, 0)
        laid = _laid_out(windows, padded, counts)
        yield laid.reshape((groups, depth // groups, -1) if groups > 1 else (depth, -1))


def _laid_out(windows: Windows, padded: ndarray, counts: Shape) -> ndarray:
    """A view (c, kh, kw, n, oh, ow) of (c, n, h, w): the elements of all windows."""
    c, n, h, w = padded.strides
    (dh, dw), (sh, sw) = windows.dilation, windows.stride
    strides = [c, h * dh, w * dw, n, h * sh, w * sw]
    return _strided(padded, (padded.shape[0], *windows.size, padded.shape[1], *counts), strides, 0)


def _of_weight(
    windows: Windows, groups: int, x: ndarray, weight_shape: Shape, given: ndarray, rows: ndarray, columns: ndarray | None
) -> ndarray:
    """The gradient of the weight: what is asked of the outputs, `rows` of it for each channel, times the windows' elements."""
    counts = given.shape[2:]
    if x.size == 0 or given.size == 0:
        return weft.zeros(weight_shape, dtype=x.dtype, device=x.device)
    if _is_direct(windows, groups, weight_shape):
        channels, each = x.shape[1], weight_shape[0] // x.shape[1]
        padded = bordered(x, windows, 0)[:, :, None]
        asked = given.reshape((x.shape[0], channels, each, *counts))
        sums = [weft.sum(tap(padded, windows, place, counts) * asked, axis=(0, 3, 4)) for place in taps(windows)]
        return weft.stack(sums, axis=-1).reshape(weight_shape)
    found, start = None, 0
    for each in _columns(windows, groups, x, counts) if columns is None else [columns]:
        part = rows if each.shape[-1] == rows.shape[-1] else rows[..., start : start + each.shape[-1]]
        product = weft.matmul(part, each.swapaxes(-1, -2))
        found, start = product if found is None else found + product, start + each.shape[-1]
    assert found is not None
    return found.reshape(weight_shape)


def _of_input(windows: Windows, groups: int, shape: Shape, weight: ndarray, given: ndarray, rows: ndarray) -> ndarray:
    """The gradient of the input: the weight times what is asked of the outputs, added back to the windows' places."""
    n, channels, *extents = shape
    counts = given.shape[2:]
    if math.prod(shape) == 0 or given.size == 0:
        return weft.zeros(shape, dtype=given.dtype, device=given.device)
    if _is_direct(windows, groups, weight.shape):
        each = weight.shape[0] // channels
        factors = weight.reshape((channels, each, *windows.size))
        asked = given.reshape((n, channels, each, *counts))
        parts = (((i, j), weft.sum(asked * factors[:, :, i, j, None, None], axis=2)) for i, j in taps(windows))
        return added_back(parts, windows, (n, channels), tuple(extents), given)
    columns = weft.matmul(_grouped(groups, weight).swapaxes(-1, -2), rows)
    if windows == Windows((1, 1), (1, 1), (1, 1), (0, 0), (0, 0)):
        return columns.reshape((channels, n, *extents)).transpose(1, 0, 2, 3)
    laid = columns.reshape((channels, *windows.size, n, *counts))
    parts = ((place, laid[:, place[0], place[1]]) for place in taps(windows))
    return added_back(parts, windows, (channels, n), tuple(extents), given).transpose(1, 0, 2, 3)
