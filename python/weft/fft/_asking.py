"""What transforms are asked for, as NumPy understands it: lengths, axes, factors, errors and their words."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._weft import _cast, _fft, _fft_here, _to_numpy, ndarray
from weft.arrays._common import array_of, axis_of, checked_out, given, is_half, length_of
from weft.arrays._compiled import on_hosts
from weft.errors import CaptureError
from weft.gradients.primitives import primitive
from weft.kernels import nvidia

_LONGEST = int(np.iinfo(np.intp).max)
_S_WITHOUT_AXES = (
    "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0). In a future version of NumPy, this will raise an error "
    "and `s[i]` will correspond to the size along the transformed axis specified by `axes[i]`. To retain current behaviour, pass a "
    "sequence [0, ..., k-1] to `axes` for an array of dimension k."
)
_NONE_IN_S = (
    "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0 and will raise an error in a future version of NumPy. "
    "To use the default behaviour of the corresponding 1-D transform, pass the value matching the default for its `n` parameter. To use "
    "the default behaviour for every axis, the `s` argument can be omitted."
)


def along(a: Any, n: Any, axis: Any, norm: Any, out: Any, kind: str, forward: bool) -> ndarray:
    """A transform along one axis: `kind` is "complex", "from real" or "to real", `forward` says that its exponents are negative."""
    a = array_of(a)
    shape = a.shape
    if n is None:
        n = shape[axis] if kind != "to real" else 2 * (shape[axis] - 1)
    strict = kind == "to real" or not forward
    if kind != "complex" and (kind == "to real") == forward:
        # Those of what is conjugated when reversed look at the norm first.
        _factor(1, norm, forward, strict)
    n = _length(n)
    factor = _factor(n, norm, forward, strict)
    axis = axis_of(axis, len(shape))
    if out is not None:
        _check_shape(out, shape, axis, n // 2 + 1 if kind == "from real" else n)
    if kind == "from real":
        _check_real(a, n)
    made = transformed(a, kind, forward, [axis], [n], factor)
    if kind == "to real" and is_half(a.dtype):
        made = _cast(made, a.dtype)
    return made if out is None else _put(made, out, _loop(kind, forward, n))


@primitive(rules="fourier")
def transformed(a: ndarray, kind: str, forward: bool, axes: list[int], lengths: list[int], factor: float) -> ndarray:
    """The transform itself: of the array's own memory, by the way of all functions of NumPy's arrays, or by kernels."""
    if a.device.kind == "cuda":
        found = nvidia.transform(a, kind, forward, axes, lengths, factor)
        if found is not None:
            return found
    if a.device.kind != "cpu":
        # Kernels are read when the first one is needed.
        from weft.kernels import fourier

        return fourier.transformed(a, kind, forward, axes, lengths, factor)
    try:
        return _fft_here(_to_numpy(a), kind, forward, axes, lengths, factor)
    except CaptureError:
        return on_hosts(_fft, a, kind, forward, axes, lengths, factor)


def along_many(a: Any, s: Any, axes: Any, norm: Any, out: Any, kind: str, forward: bool) -> ndarray:
    """A transform along several axes, of which the last one has the real numbers."""
    a = array_of(a)
    s, axes = _lengths_and_axes(a, s, axes, kind == "to real")
    if not axes:
        if kind != "complex":
            raise IndexError("list index out of range")
        return a
    # The order in which NumPy looks at them.
    order = range(len(axes)) if kind == "to real" else range(len(axes) - 1, -1, -1)
    for i in order:
        s[i] = _length(s[i])
        _factor(s[i], norm, forward, strict=not forward)
        axes[i] = axis_of(axes[i], a.ndim)
        if kind == "from real" and i == len(axes) - 1:
            _check_real(a, s[i])
    if len(axes) == 1:
        return along(a, s[0], axes[0], norm, out, kind, forward)
    if len(set(axes)) < len(axes):
        return _one_by_one(a, s, axes, norm, out, kind, forward)
    factor = _factor(math.prod(s), norm, forward, strict=not forward)
    made = transformed(a, kind, forward, axes, s, factor)
    if out is None:
        return made
    _check_shape(out, made.shape, axes[-1], made.shape[axes[-1]])
    return _put(made, out, _loop(kind, forward, s[-1]))


def _one_by_one(a: ndarray, s: list[int], axes: list[int], norm: Any, out: Any, kind: str, forward: bool) -> ndarray:
    """Along axes of which some are named twice: those are transformed again."""
    steps = [("complex", n, axis) for n, axis in zip(s, axes)]
    steps[-1] = (kind, s[-1], axes[-1])
    for step, n, axis in steps if kind == "to real" else reversed(steps):
        a = along(a, n, axis, norm, None, step, forward)
    return a if out is None else _put(a, out, _loop(kind, forward, s[-1]))


def _lengths_and_axes(a: ndarray, s: Any, axes: Any, to_real: bool) -> tuple[list[Any], list[Any]]:
    shape, rank = a.shape, a.ndim
    if s is not None:
        lengths = list(s)
    elif axes is None:
        lengths = list(shape)
    elif type(axes) is tuple and all(type(axis) is int and -rank <= axis < rank for axis in axes):
        lengths = [shape[axis] for axis in axes]
    else:
        lengths = list(np.take(shape, axes))
    if axes is None:
        if s is not None:
            warnings.warn(_S_WITHOUT_AXES, DeprecationWarning, stacklevel=4)
        axes = list(range(-len(lengths), 0))
    if len(lengths) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if to_real and s is None:
        lengths[-1] = 2 * (shape[axes[-1]] - 1)
    if None in lengths:
        warnings.warn(_NONE_IN_S, DeprecationWarning, stacklevel=4)
    for i, (n, axis) in enumerate(zip(lengths, axes)):
        if n == -1:
            lengths[i] = shape[axis]
        elif n is None:
            # What the transform along that axis alone would have.
            lengths[i] = 2 * (shape[axis] - 1) if to_real and i == len(lengths) - 1 else shape[axis]
    return lengths, list(axes)


def _length(n: Any) -> int:
    if type(n) is int and 0 < n <= _LONGEST:
        return n
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    n = length_of(n)
    if n > _LONGEST:
        raise ValueError("Maximum allowed dimension exceeded")
    return n


def _factor(points: int, norm: Any, forward: bool, strict: bool) -> float:
    """What sums of so many points are multiplied by. NumPy's words for a norm that there is not differ in a space."""
    if norm is None or norm == "backward":
        return 1.0 if forward else 1 / points
    if norm == "ortho":
        return 1 / math.sqrt(points)
    if norm == "forward":
        return 1 / points if forward else 1.0
    raise ValueError(f'Invalid norm value {norm}; should be "backward",{" " if strict else ""}"ortho" or "forward".')


def _loop(kind: str, forward: bool, n: int) -> str:
    """NumPy's name of what transforms along an axis."""
    if kind == "complex":
        return "fft" if forward else "ifft"
    return "irfft" if kind == "to real" else "rfft_n_odd" if n % 2 else "rfft_n_even"


def _check_real(a: ndarray, n: int) -> None:
    if a.dtype.kind == "c":
        raise TypeError(
            f"ufunc '{_loop('from real', True, n)}' not supported for the input types, and the inputs could not be safely coerced to any "
            "supported types according to the casting rule ''safe''"
        )


def _check_shape(out: Any, shape: Sequence[int], axis: int, n: int) -> None:
    checked_out(out)
    if out.ndim != len(shape) or out.shape[axis] != n:
        raise ValueError("output array has wrong shape.")


def _put(made: ndarray, out: ndarray, name: str) -> ndarray:
    checked_out(out)
    if out.shape != made.shape:
        raise ValueError(f"operands could not be broadcast together: 'out' has shape {out.shape}, and the result {made.shape}")
    if not np.can_cast(made.dtype, out.dtype, "same_kind"):
        raise TypeError(f"Cannot cast ufunc '{name}' output from {made.dtype!r} to {out.dtype!r} with casting rule 'same_kind'")
    return given(made, out)
