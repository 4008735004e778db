"""Filters that choose an element of those around: the least, the largest, one of a rank.

Elements are compared, so that NaN has no place among them: results beside NaN are open, as they are in SciPy.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.scipy.ndimage._common import Output, axis_of, check_origin, extended, for_axes, shifted
from weft.scipy.ndimage.filters import _axes

# Up to so many elements are put in order by comparisons, which fuse; more are sorted.
_BY_COMPARISONS = 9


def minimum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> ndarray:
    """The least of so many elements around each, along an axis.

    >>> weft.scipy.ndimage.minimum_filter1d(weft.asarray([3, 1, 2, 5]), 3)
    array([1, 1, 1, 2])
    """
    return _extreme_along(input, size, axis, output, mode, cval, origin, weft.minimum)


def maximum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> ndarray:
    """The largest of so many elements around each, along an axis.

    >>> weft.scipy.ndimage.maximum_filter1d(weft.asarray([3, 1, 2, 5]), 3)
    array([3, 3, 5, 5])
    """
    return _extreme_along(input, size, axis, output, mode, cval, origin, weft.maximum)


def _extreme_along(input: Any, size: int, axis: int, output: Any, mode: str, cval: Any, origin: int, choose: Any) -> ndarray:
    x = _real(input)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    at = axis_of(axis, x.ndim)
    made = Output(output, x)
    sizes, origins = [1] * x.ndim, [0] * x.ndim
    sizes[at], origins[at] = size, origin
    parts = _around(x, np.ones(sizes, bool), mode, cval, origins)
    return made.put(_combined(parts, choose) if x.size else x)


def _real(input: Any) -> ndarray:
    x = weft.asarray(input)
    if x.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    return x


def _around(x: ndarray, footprint: np.ndarray, mode: str, cval: Any, origins: Sequence[int]) -> list[ndarray]:
    """Views of the picture with its edges, one for each place of a footprint."""
    for origin, size in zip(origins, footprint.shape):
        check_origin(origin, size)
    if x.size == 0:
        return []
    before = [size // 2 + origin for size, origin in zip(footprint.shape, origins)]
    after = [size - 1 - first for size, first in zip(footprint.shape, before)]
    if mode in ("constant", "grid-constant") and x.dtype.type(cval) != cval:
        x = x.astype(np.float64)
    wide = extended(x, before, after, [mode] * x.ndim, cval)
    return [shifted(wide, at, x.shape) for at in itertools.product(*map(range, footprint.shape)) if footprint[at]]


def _combined(parts: list[ndarray], choose: Any) -> ndarray:
    found = parts[0]
    for part in parts[1:]:
        found = choose(found, part)
    return found


def minimum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> ndarray:  # fmt: skip
    """The least of the elements around each: of a box, or of the places that a footprint marks.

    >>> weft.scipy.ndimage.minimum_filter(weft.asarray([3, 1, 2, 5]), 3)
    array([1, 1, 1, 2])
    """
    return _extreme(input, size, footprint, output, mode, cval, origin, axes, weft.minimum)


def maximum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> ndarray:  # fmt: skip
    """The largest of the elements around each: of a box, or of the places that a footprint marks.

    >>> weft.scipy.ndimage.maximum_filter(weft.asarray([3, 1, 2, 5]), footprint=[1, 0, 1])
    array([3, 3, 5, 5])
    """
    return _extreme(input, size, footprint, output, mode, cval, origin, axes, weft.maximum)


def _extreme(input: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any, choose: Any) -> ndarray:
    x = _real(input)
    made = Output(output, x)
    chosen = _axes(axes, x.ndim)
    if footprint is None:
        if size is None:
            raise RuntimeError("no footprint provided")
        found = x
        choices = [for_axes(each, len(chosen)) for each in (size, mode, origin)]
        for axis, length, edge, at in zip(chosen, *choices):
            if length > 1:
                found = _extreme_along(found, int(length), axis, made.dtype, edge, cval, at, choose)
        return made.put(found)
    marked, origins = _footprint(footprint, chosen, x.ndim, origin)
    _one_mode(mode)
    parts = _around(x, marked, mode, cval, origins)
    return made.put(_combined(parts, choose) if parts else x)


def _one_mode(mode: Any) -> None:
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported for non-separable footprints")


def _footprint(footprint: Any, axes: list[int], rank: int, origin: Any) -> tuple[np.ndarray, list[int]]:
    """A footprint with all axes of the input, and where its middle is."""
    marked = (weft.asnumpy(footprint) if isinstance(footprint, ndarray) else np.asarray(footprint)).astype(bool)
    if not marked.any():
        raise ValueError("All-zero footprint is not supported.")
    if marked.ndim != len(axes):
        raise RuntimeError(f"footprint.ndim ({marked.ndim}) must match len(axes) ({len(axes)})")
    shape, origins = [1] * rank, [0] * rank
    for axis, length, at in zip(axes, marked.shape, for_axes(origin, len(axes))):
        shape[axis], origins[axis] = length, at
    order = sorted(range(len(axes)), key=lambda at: axes[at])
    return marked.transpose(order).reshape(shape), origins


def rank_filter(
    input: Any, rank: int, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> ndarray:  # fmt: skip
    """The element of a rank among those around each, counted from the least, or by a negative number from the largest.

    >>> weft.scipy.ndimage.rank_filter(weft.asarray([3, 1, 2, 5]), 1, 3)
    array([3, 2, 2, 5])
    """
    return _ranked(input, lambda count: int(rank), size, footprint, output, mode, cval, origin, axes)


def median_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> ndarray:  # fmt: skip
    """The median of the elements around each; of an even number of them the larger of the two in the middle.

    >>> weft.scipy.ndimage.median_filter(weft.asarray([3, 1, 2, 5]), 3)
    array([3, 2, 2, 5])
    """
    return _ranked(input, lambda count: count // 2, size, footprint, output, mode, cval, origin, axes)


def percentile_filter(
    input: Any, percentile: float, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> ndarray:  # fmt: skip
    """The element below which a percentage of those around each is.

    >>> weft.scipy.ndimage.percentile_filter(weft.asarray([3, 1, 2, 5]), 100, 3)
    array([3, 3, 5, 5])
    """

    def rank(count: int) -> int:
        part = percentile + 100.0 if percentile < 0 else percentile
        if not 0 <= part <= 100:
            raise RuntimeError("invalid percentile")
        return count - 1 if part == 100.0 else int(float(count) * part / 100.0)

    return _ranked(input, rank, size, footprint, output, mode, cval, origin, axes)


def _ranked(input: Any, rank_of: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> ndarray:
    x = _real(input)
    made = Output(output, x)
    chosen = _axes(axes, x.ndim)
    if footprint is None:
        if size is None:
            raise RuntimeError("no footprint or filter size provided")
        footprint = np.ones(for_axes(size, len(chosen)), bool)
    marked, origins = _footprint(footprint, chosen, x.ndim, origin)
    _one_mode(mode)
    count = int(marked.sum())
    rank = rank_of(count)
    rank += count if rank < 0 else 0
    if not 0 <= rank < count:
        raise RuntimeError("rank not within filter footprint size")
    parts = _around(x, marked, mode, cval, origins)
    return made.put(_of_rank(parts, rank) if parts else x)


def _of_rank(parts: list[ndarray], rank: int) -> ndarray:
    if rank in (0, len(parts) - 1):
        return _combined(parts, weft.maximum if rank else weft.minimum)
    if len(parts) > _BY_COMPARISONS:
        return weft.sort(weft.stack(parts), axis=0)[rank]
    parts = list(parts)
    for low, high in _comparisons(len(parts)):
        parts[low], parts[high] = weft.minimum(parts[low], parts[high]), weft.maximum(parts[low], parts[high])
    return parts[rank]


def _comparisons(n: int) -> list[tuple[int, int]]:
    """Places that are compared and exchanged to sort (K. E. Batcher, 1968; Knuth, volume 3, 5.2.2, algorithm M)."""
    found = []
    top = 1 << max((n - 1).bit_length() - 1, 0)
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while d > 0:
            found += [(i, i + d) for i in range(n - d) if i & p == r]
            d, q, r = q - p, q >> 1, p
        p >>= 1
    return found
