"""Signals by SciPy's names: convolutions of any number of axes, and filters with feedback. Computed at once, by compiled loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.arrays import _compiled
from weft.arrays._common import axis_of
from weft.arrays.creation import asarrays
from weft.errors import UnsupportedError
from weft.gradients.primitives import primitive, unseen

__all__ = ["convolve", "correlate", "fftconvolve", "lfilter"]

_MODES = ("full", "same", "valid")
# A direct convolution of floats takes as many products as both have elements; beyond so many times those of an FFT it is one.
_WORTH_AN_FFT = 100


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> ndarray:
    """The convolution of two arrays of as many axes: all of it, the middle of the shape of the first ("same"), or what needs nothing from
    outside ("valid").

    `method` is "direct", "fft" (see `fftconvolve`), or "auto": FFTs for large floats. The dtype is that of a product.
    ValueError for different numbers of axes, and for "valid" if neither array holds the other.

    >>> weft.scipy.signal.convolve(weft.asarray([[1, 2]]), weft.asarray([[1], [10]]))
    array([[ 1,  2],
           [10, 20]])
    """
    x, y = asarrays(in1, in2)
    _check(x, y, mode)
    if method not in ("auto", "direct", "fft"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    if x.ndim == 0:
        return x * y
    if mode == "valid" and _is_swapped(x.shape, y.shape):
        x, y = y, x
    kind = np.result_type(x.dtype, y.dtype)
    if method == "fft" or (method == "auto" and kind.kind in "fc" and _is_worth_an_fft(x, y)):
        found = fftconvolve(x, y, mode)
        return (weft.round(found) if kind.kind in "iu" else found).astype(kind, copy=False)
    if x.size == 0 or y.size == 0:
        raise ValueError("a convolution needs elements: one of the arrays is empty")
    return _part(_direct(x.astype(kind, copy=False), y.astype(kind, copy=False)), x.shape, y.shape, mode)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> ndarray:
    """The sums of products of one array and the conjugate of another, at all places of the other; modes and methods as `convolve`.

    >>> weft.scipy.signal.correlate(weft.asarray([1, 2, 3]), weft.asarray([0, 1, 0]), "same")
    array([1, 2, 3])
    """
    x, y = asarrays(in1, in2)
    _check(x, y, mode)
    if mode == "valid" and x.ndim and _is_swapped(x.shape, y.shape):
        turned = convolve(y, _reversed(x), mode, method)
        return _reversed(turned)
    return convolve(x, _reversed(y), mode, method)


def _reversed(x: ndarray) -> ndarray:
    return weft.conj(x[(slice(None, None, -1),) * x.ndim])


def _check(x: ndarray, y: ndarray, mode: str) -> None:
    if x.ndim != y.ndim:
        raise ValueError("in1 and in2 should have the same dimensionality")
    if mode not in _MODES:
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")


def _is_swapped(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether it is the second array that holds the first, for "valid"."""
    if all(n >= m for n, m in zip(first, second)):
        return False
    if all(n <= m for n, m in zip(first, second)):
        return True
    raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")


def _part(full: ndarray, first: tuple[int, ...], second: tuple[int, ...], mode: str) -> ndarray:
    """Of a whole convolution, what a mode asks for: its middle."""
    if mode == "full":
        return full
    shape = first if mode == "same" else tuple(n - m + 1 for n, m in zip(first, second))
    starts = [(whole - n) // 2 for whole, n in zip(full.shape, shape)]
    return weft.copy(full[tuple(slice(start, start + n) for start, n in zip(starts, shape))])


def _direct(x: ndarray, y: ndarray) -> ndarray:
    """The whole convolution of two arrays of one dtype, without FFTs."""
    if x.ndim == 1:
        return weft.convolve(x, y)
    if x.ndim > 3:
        raise UnsupportedError(f"weft.scipy.signal: direct convolutions have up to 3 axes, not {x.ndim}: method='fft' has any number")
    kind = x.dtype
    # Sums of bools are ors, and of 16-bit floats exact enough.
    worked = np.dtype(np.int64) if kind.kind == "b" else np.dtype(np.float32) if kind.itemsize == 2 and kind.kind in "fV" else kind
    large, small = (x, y) if x.size >= y.size else (y, x)
    solid = [weft.reshape(each.astype(worked, copy=False), (1,) * (3 - each.ndim) + each.shape) for each in (large, small)]
    found = whole(*solid)
    found = weft.reshape(found, found.shape[3 - x.ndim :])
    return found != 0 if kind.kind == "b" else found.astype(kind, copy=False)


@primitive(rules="signals")
def whole(x: ndarray, y: ndarray) -> ndarray:
    """The whole convolution of two arrays of three axes and one dtype, of which the second is the smaller one."""
    return _compiled.on_hosts(_compiled.function_of(_CONVOLUTION, "x, y"), weft.ascontiguousarray(x), weft.ascontiguousarray(y))


# Each element of the smaller array adds a multiple of the larger one.
_CONVOLUTION = """
    a, b, c = x.shape
    d, e, f = y.shape
    found = np.zeros((a + d - 1, b + e - 1, c + f - 1), x.dtype)
    for i in range(d):
        for j in range(e):
            for k in range(f):
                weight = y[i, j, k]
                for p in range(a):
                    for q in range(b):
                        row = found[p + i, q + j, k : k + c]
                        source = x[p, q]
                        for r in range(c):
                            row[r] += weight * source[r]
    return found
"""


def _is_worth_an_fft(x: ndarray, y: ndarray) -> bool:
    size = math.prod(n + m - 1 for n, m in zip(x.shape, y.shape))
    return x.size * y.size > _WORTH_AN_FFT * size * math.log2(size + 1)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> ndarray:
    """The convolution of two arrays along axes, by FFTs: faster for large arrays, exact to their rounding. Integers become floats.

    UnsupportedError where Weft has no FFTs; ValueError for shapes that do not fit.
    """
    x, y = asarrays(in1, in2)
    _check(x, y, mode)
    if x.ndim == 0:
        return x * y
    if x.size == 0 or y.size == 0:
        return weft.asarray([], device=x.device)
    given = range(x.ndim) if axes is None else axes if hasattr(axes, "__len__") else (axes,)
    along = [axis_of(axis, x.ndim) for axis in given]
    if not along:
        raise ValueError("when provided, axes cannot be empty")
    along = [axis for axis in along if x.shape[axis] != 1 and y.shape[axis] != 1]
    if any(n != m and 1 not in (n, m) for axis, (n, m) in enumerate(zip(x.shape, y.shape)) if axis not in along):
        raise ValueError(f"incompatible shapes for in1 and in2: {x.shape} and {y.shape}")
    if mode == "valid" and _is_swapped(tuple(x.shape[axis] for axis in along), tuple(y.shape[axis] for axis in along)):
        x, y = y, x
    return _modes_along(_product(x, y, along), x.shape, y.shape, mode, along)


def _product(x: ndarray, y: ndarray, along: list[int]) -> ndarray:
    """The whole convolution along axes."""
    if not along:
        return x * y
    kind = np.result_type(x.dtype, y.dtype, np.float32 if x.dtype.kind in "fc" and y.dtype.kind in "fc" else np.float64)
    x, y = x.astype(kind, copy=False), y.astype(kind, copy=False)
    fft, lengths = weft.fft, [x.shape[axis] + y.shape[axis] - 1 for axis in along]
    fast = [_fast_length(n) for n in lengths]
    there, back = (fft.fftn, fft.ifftn) if kind.kind == "c" else (fft.rfftn, fft.irfftn)
    found = back(there(x, fast, axes=along) * there(y, fast, axes=along), fast, axes=along)
    cut: list[Any] = [slice(None)] * found.ndim
    for axis, n in zip(along, lengths):
        cut[axis] = slice(n)
    return weft.copy(found[tuple(cut)]).astype(kind, copy=False)


def _fast_length(n: int) -> int:
    """The least length from n on without prime factors above 5."""
    found = 1 << (n - 1).bit_length()
    fives = 1
    while fives < found:
        odd = fives
        while odd < found:
            # The least power of two that makes it long enough.
            found = min(found, odd << max(0, (-(-n // odd) - 1).bit_length()))
            odd *= 3
        fives *= 5
    return found


def _modes_along(full: ndarray, first: tuple[int, ...], second: tuple[int, ...], mode: str, along: list[int]) -> ndarray:
    if mode == "full":
        return full
    shape = first
    if mode == "valid":
        shape = tuple(first[axis] - second[axis] + 1 if axis in along else full.shape[axis] for axis in range(full.ndim))
    starts = [(whole - n) // 2 for whole, n in zip(full.shape, shape)]
    return weft.copy(full[tuple(slice(start, start + n) for start, n in zip(starts, shape))])


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A signal through a filter whose transfer function has the coefficients `b` above and `a` below, along an axis.

    With `zi`, what is in the filter's delays before the first element, the result is the output and what is in them behind the last one.
    Coefficients and signal are floats or complex, at least one of them: others are a NotImplementedError. ValueError for coefficients that
    are no row, for a zero at their front, and for delays whose shape does not fit.

    >>> weft.scipy.signal.lfilter([1.0], [1.0, -0.5], weft.asarray([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """
    above, below, signal, *delays = asarrays(b, a, x, *(() if zi is None else (zi,)))
    above, below, signal = (weft.atleast_1d(each) for each in (above, below, signal))
    for name, each in (("b", above), ("a", below)):
        if each.ndim != 1 or each.size == 0:
            raise ValueError(f"Parameter {name} is not a non-empty 1d array, since {name}.shape={each.shape}!")
    state = delays[0] if delays else None
    kind = np.result_type(*(each.dtype for each in (above, below, signal, state) if each is not None))
    if kind.char not in "fdFD":
        raise UnsupportedError(f"Parameter's dtypes produced result type '{kind}', which is not supported!")
    at = axis_of(axis, signal.ndim)
    if unseen(weft.asnumpy, below)[0] == 0:
        raise ValueError("the first coefficient of a is zero")
    order = max(above.size, below.size) - 1
    delays = _delays(state, signal, at, order, kind)
    size = order + 1
    above, below = (weft.pad(each.astype(kind) / below.astype(kind)[0], (0, size - each.size)) for each in (above, below))
    lines = weft.ascontiguousarray(weft.moveaxis(signal.astype(kind, copy=False), at, -1))
    count = math.prod(lines.shape[:-1])
    rows, held = (weft.reshape(weft.ascontiguousarray(each), (count, each.shape[-1])) for each in (lines, delays))
    found, left = filtered(above, below, rows, held)
    output = weft.moveaxis(weft.reshape(found, lines.shape), -1, at)
    return output if zi is None else (output, weft.moveaxis(weft.reshape(left, delays.shape), -1, at))


@primitive(rules="signals")
def filtered(above: ndarray, below: ndarray, rows: ndarray, held: ndarray) -> tuple[ndarray, ndarray]:
    """What `lfilter` gives of rows of one dtype: as many coefficients above as below, which begin with 1, and what is in the delays."""
    return _compiled.on_hosts(_compiled.function_of(_FILTER, "b, a, x, z"), above, below, rows, held)


def _delays(state: ndarray | None, signal: ndarray, axis: int, order: int, kind: np.dtype) -> ndarray:
    """What is in the delays of each line, along the last axis."""
    shape = tuple(order if at == axis else n for at, n in enumerate(signal.shape))
    if state is None:
        return weft.moveaxis(weft.zeros(shape, kind, device=signal.device), axis, -1)
    fits = state.ndim == signal.ndim and all(n == m or (n == 1 and at != axis) for at, (n, m) in enumerate(zip(state.shape, shape)))
    if not fits:
        raise ValueError(f"Unexpected shape for parameter zi: expected {shape}, found {state.shape}.")
    return weft.moveaxis(weft.broadcast_to(state.astype(kind), shape), axis, -1)


# The transposed direct form II (A. V. Oppenheim, R. W. Schafer, "Discrete-Time Signal Processing", 6.3): one delay for each coefficient.
_FILTER = """
    found = np.empty(x.shape, x.dtype)
    left = np.empty(z.shape, z.dtype)
    order = z.shape[1]
    for row in range(x.shape[0]):
        held = left[row]
        for k in range(order):
            held[k] = z[row, k]
        for i in range(x.shape[1]):
            value = x[row, i]
            if order == 0:
                found[row, i] = b[0] * value
                continue
            output = b[0] * value + held[0]
            for k in range(order - 1):
                held[k] = b[k + 1] * value + held[k + 1] - a[k + 1] * output
            held[order - 1] = b[order] * value - a[order] * output
            found[row, i] = output
    return found, left
"""
