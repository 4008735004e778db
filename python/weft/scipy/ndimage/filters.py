"""Filters that are sums of products: correlations and convolutions, Gaussian and uniform blurs, derivatives.

A filter is a sum of shifted views of the picture with its edges added, one for each weight, recorded as any other expression: what comes
before and behind it fuses. Sums are float64 (complex128) and in SciPy's order, the result is cast as C casts it, after each axis.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.scipy.ndimage._common import Output, axis_of, check_origin, double, extended, for_axes, shifted

_EPSILON = np.finfo(np.float64).eps


def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> ndarray:
    """The sums of products of weights and elements around each element, along an axis.

    `mode` says what is beyond the edges: "reflect" (the edge element twice), "mirror" (once), "nearest", "wrap", or "constant" with `cval`.
    RuntimeError without weights or for an unknown mode, ValueError for an origin outside of the filter.

    >>> weft.scipy.ndimage.correlate1d(weft.asarray([1.0, 2.0, 4.0]), [-1, 0, 1])
    array([1., 3., 2.])
    """
    x, w = weft.asarray(input), _weights(weights)
    if w.ndim != 1 or w.size < 1:
        raise RuntimeError("no filter weights given")
    made = Output(output, x, complex_output=x.dtype.kind == "c" or w.dtype.kind == "c")
    return made.put(_along(x, np.conj(w), axis_of(axis, x.ndim), mode, cval, check_origin(origin, w.size)))


def convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> ndarray:
    """`correlate1d` with the weights in reverse, and not conjugated.

    >>> weft.scipy.ndimage.convolve1d(weft.asarray([1.0, 2.0, 4.0]), [-1, 0, 1])
    array([-1., -3., -2.])
    """
    w = np.conj(_weights(weights)[::-1])
    return correlate1d(input, w, axis, output, mode, cval, -origin - (1 - len(w) % 2))


def _weights(weights: Any) -> np.ndarray:
    """Weights as NumPy's numbers: they are constants of the filter."""
    host = weft.asnumpy(weights) if isinstance(weights, ndarray) else np.asarray(weights)
    return host.astype(np.complex128 if host.dtype.kind == "c" else np.float64)


def _along(x: ndarray, w: np.ndarray, axis: int, mode: str, cval: Any, origin: int) -> ndarray:
    """The sums along an axis, in float64. Symmetric weights have the elements of both sides added first, as in SciPy."""
    if x.size == 0:
        return double(x)
    size, middle = len(w), len(w) // 2
    before, after = [0] * x.ndim, [0] * x.ndim
    before[axis], after[axis] = middle + origin, size - middle - 1 - origin
    modes = ["constant"] * x.ndim
    modes[axis] = mode
    wide = extended(double(x), before, after, modes, cval)

    def part(at: int) -> ndarray:
        start = [0] * x.ndim
        start[axis] = at
        return shifted(wide, start, x.shape)

    sign = _symmetry(w)
    if sign:
        total = part(middle) * w[middle]
        for at in range(middle):
            left, right = part(at), part(size - 1 - at)
            total = total + (left + right if sign > 0 else left - right) * w[at]
        return total
    total = part(size - 1) * w[size - 1]
    for at in range(size - 1):
        total = total + part(at) * w[at]
    return total


def _symmetry(w: np.ndarray) -> int:
    """1 for weights that are the same from both ends, -1 for those of opposite signs, else 0."""
    if len(w) % 2 == 0 or w.dtype.kind == "c":
        return 0
    half, other = w[: len(w) // 2], w[: len(w) // 2 : -1]
    if (np.abs(half - other) <= _EPSILON).all():
        return 1
    return -1 if (np.abs(half + other) <= _EPSILON).all() else 0


def correlate(input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0) -> ndarray:
    """The sums of products of weights and elements around each element. Weights have as many axes as the input.

    >>> weft.scipy.ndimage.correlate(weft.asarray([[1.0, 2.0], [3.0, 4.0]]), [[0, 1], [1, 0]])
    array([[2., 3.],
           [4., 5.]])
    """
    w = _weights(weights)
    return _summed(input, np.conj(w), output, mode, cval, for_axes(origin, weft.asarray(input).ndim))


def convolve(input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0) -> ndarray:
    """`correlate` with the weights in reverse along all axes, and not conjugated.

    >>> weft.scipy.ndimage.convolve(weft.asarray([1.0, 2.0, 4.0]), [1, 0, 0])
    array([2., 4., 4.])
    """
    w, rank = _weights(weights), weft.asarray(input).ndim
    origins = for_axes(origin, rank)
    if w.ndim == rank:
        origins = [-at - (1 - n % 2) for at, n in zip(origins, w.shape)]
    return _summed(input, w[(slice(None, None, -1),) * w.ndim], output, mode, cval, origins)


def _summed(input: Any, w: np.ndarray, output: Any, mode: str, cval: Any, origins: list[int]) -> ndarray:
    x = weft.asarray(input)
    if w.ndim != x.ndim or 0 in w.shape:
        raise RuntimeError(f"weights.ndim ({w.ndim}) must match len(axes) ({x.ndim})")
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported")
    for origin, size in zip(origins, w.shape):
        check_origin(origin, size)
    made = Output(output, x, complex_output=x.dtype.kind == "c" or w.dtype.kind == "c")
    before = [size // 2 + origin for size, origin in zip(w.shape, origins)]
    after = [size - 1 - first for size, first in zip(w.shape, before)]
    if x.size == 0:
        return made.put(double(x))
    wide = extended(double(x), before, after, [mode] * x.ndim, cval)
    total = None
    for at in itertools.product(*map(range, w.shape)):
        if abs(w[at]) > _EPSILON:
            term = shifted(wide, at, x.shape) * w[at]
            total = term if total is None else total + term
    return made.put(weft.zeros_like(double(x)) if total is None else total)


def gaussian_filter1d(
    input: Any,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> ndarray:
    """A blur along an axis by a Gaussian of a standard deviation, or by its derivative of an order.

    The Gaussian ends after `truncate` deviations, or `radius` elements. ValueError for a negative order or radius.

    >>> weft.scipy.ndimage.gaussian_filter1d(weft.asarray([0.0, 0.0, 1.0, 0.0, 0.0]), 0.5)
    array([2.63865083e-04, 1.06450772e-01, 7.86570726e-01, 1.06450772e-01,
           2.63865083e-04])
    """
    reach = int(truncate * float(sigma) + 0.5) if radius is None else radius
    try:
        reach = operator.index(reach)
    except TypeError:
        reach = -1
    if reach < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    return correlate1d(input, _gaussian(float(sigma), order, reach)[::-1], axis, output, mode, cval, 0)


def _gaussian(sigma: float, order: int, reach: int) -> np.ndarray:
    """A Gaussian's weights, whose sum is 1, times the polynomial that its derivative of an order is it times."""
    if order < 0:
        raise ValueError("order must be non-negative")
    x = np.arange(-reach, reach + 1)
    phi = np.exp(-0.5 / (sigma * sigma) * x**2)
    phi = phi / phi.sum()
    if order == 0:
        return phi
    # The derivative of p phi is (p' - p x / sigma²) phi: coefficients by rising powers, multiplied by a matrix that says so.
    powers = np.arange(order + 1)
    derive = np.diag(powers[1:], 1) + np.diag(np.ones(order) / -(sigma * sigma), -1)
    coefficients = np.zeros(order + 1)
    coefficients[0] = 1
    for _ in range(order):
        coefficients = derive.dot(coefficients)
    return (x[:, None] ** powers).dot(coefficients) * phi


def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> ndarray:
    """A Gaussian blur along all axes, or some; `sigma`, `order`, `mode` and `radius` may be one for each.

    >>> weft.scipy.ndimage.gaussian_filter(weft.ones((2, 2)), 1)
    array([[1., 1.],
           [1., 1.]])
    """
    x = weft.asarray(input)
    made = Output(output, x, complex_output=x.dtype.kind == "c")
    chosen = _axes(axes, x.ndim)
    choices = [for_axes(each, len(chosen)) for each in (sigma, order, mode, radius)]
    found = x
    for axis, deviation, degree, edge, reach in zip(chosen, *choices):
        if deviation > 1e-15:
            found = gaussian_filter1d(found, deviation, axis, degree, made.dtype, edge, cval, truncate, radius=reach)
    return made.put(found)


def _axes(axes: Any, rank: int) -> list[int]:
    if axes is None:
        return list(range(rank))
    given = [axes] if not hasattr(axes, "__len__") else list(axes)
    found = [axis_of(axis, rank) for axis in given]
    if len(set(found)) != len(found):
        raise ValueError("axes must be unique")
    return found


def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> ndarray:
    """The means of so many elements around each element, along an axis. RuntimeError for no elements.

    >>> weft.scipy.ndimage.uniform_filter1d(weft.asarray([0.0, 3.0, 6.0]), 3)
    array([1., 3., 5.])
    """
    x = weft.asarray(input)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    made = Output(output, x, complex_output=x.dtype.kind == "c")
    check_origin(origin, size)
    return made.put(_along(x, np.ones(size), axis_of(axis, x.ndim), mode, cval, origin) / size)


def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> ndarray:
    """The means of boxes around each element; `size`, `mode` and `origin` may be one for each axis.

    >>> weft.scipy.ndimage.uniform_filter(weft.asarray([[0.0, 2.0], [4.0, 6.0]]), (1, 2))
    array([[0., 1.],
           [4., 5.]])
    """
    x = weft.asarray(input)
    made = Output(output, x, complex_output=x.dtype.kind == "c")
    chosen = _axes(axes, x.ndim)
    choices = [for_axes(each, len(chosen)) for each in (size, mode, origin)]
    found = x
    for axis, length, edge, at in zip(chosen, *choices):
        if length > 1:
            found = uniform_filter1d(found, int(length), axis, made.dtype, edge, cval, at)
    return made.put(found)


def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> ndarray:
    """A derivative along an axis, blurred along the others, by Sobel's weights.

    >>> weft.scipy.ndimage.sobel(weft.asarray([[0.0, 1.0, 3.0], [0.0, 1.0, 3.0]]))
    array([[ 4., 12.,  8.],
           [ 4., 12.,  8.]])
    """
    return _edges(input, axis, output, mode, cval, [1, 2, 1])


def prewitt(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> ndarray:
    """A derivative along an axis, blurred along the others, by Prewitt's weights.

    >>> weft.scipy.ndimage.prewitt(weft.asarray([[0.0, 1.0, 3.0], [0.0, 1.0, 3.0]]))
    array([[3., 9., 6.],
           [3., 9., 6.]])
    """
    return _edges(input, axis, output, mode, cval, [1, 1, 1])


def _edges(input: Any, axis: int, output: Any, mode: Any, cval: Any, across: list[int]) -> ndarray:
    x = weft.asarray(input)
    along = axis_of(axis, x.ndim)
    made = Output(output, x, complex_output=x.dtype.kind == "c")
    modes = for_axes(mode, x.ndim)
    found = correlate1d(x, [-1, 0, 1], along, made.dtype, modes[along], cval, 0)
    for other in range(x.ndim):
        if other != along:
            found = correlate1d(found, across, other, made.dtype, modes[other], cval, 0)
    return made.put(found)


def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> ndarray:
    """The sum of the second differences along all axes, or some.

    >>> weft.scipy.ndimage.laplace(weft.asarray([0.0, 1.0, 4.0]))
    array([ 1.,  2., -3.])
    """
    x = weft.asarray(input)
    made = Output(output, x, complex_output=x.dtype.kind == "c")
    chosen = _axes(axes, x.ndim)
    total = None
    for axis, edge in zip(chosen, for_axes(mode, len(chosen))):
        part = correlate1d(x, [1, -2, 1], axis, made.dtype, edge, cval, 0)
        total = part if total is None else total + part
    return made.put(x if total is None else total)
