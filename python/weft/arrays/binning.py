"""Histograms of points in several dimensions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._weft import _cast, _fold, _to_numpy, ndarray

from ._common import array_of, place_of, result_dtype, select, u
from .cumulative import diff
from .gathering import ravel_multi_index
from .ranges import linspace
from .searching import searchsorted
from .shapes import atleast_2d
from .statistics import bincount


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[ndarray, list[ndarray]]:
    """How many points lie in each box of a grid, and the edges of the boxes along each axis. Computed at once.

    `sample` is an array of a row for each point, or a sequence of an array for each axis. `bins` is a number of boxes or a row of edges,
    for all axes, or a sequence of one for each; `range` has the ends of each axis. The last edge belongs to the last box. With `weights`
    their sums are counted, with `density=True` the volume is 1.

    >>> counts, edges = weft.histogramdd(weft.asarray([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]), bins=2)
    >>> counts
    array([[1., 0.],
           [1., 1.]])
    """
    place = place_of(sample, weights, bins)
    is_array = isinstance(sample, (ndarray, np.ndarray))
    sample = array_of(sample, device=place)
    sample = sample if is_array else atleast_2d(sample).T
    if sample.ndim != 2:
        sample = atleast_2d(sample).T
        if sample.ndim != 2:
            raise ValueError("too many values to unpack (expected 2)")
    rank = sample.shape[1]
    if not rank:
        raise ValueError("object of too small depth for desired array")
    every_bins = _of_each_axis(bins, rank)
    ends = (None,) * rank if range is None else tuple(range)
    if len(ends) != rank:
        raise ValueError("range argument must have one entry per dimension")
    edges = [_edges(i, sample[:, i], each, end) for i, (each, end) in enumerate(zip(every_bins, ends))]
    shape = tuple(each.shape[0] + 1 for each in edges)
    places = tuple(_places(sample[:, i], each) for i, each in enumerate(edges))
    # On the CPU it costs little to look whether they are inside.
    mode = "clip" if sample.device.kind != "cpu" else "raise"
    counted = bincount(ravel_multi_index(places, shape, mode), weights, int(np.prod(shape)))
    counts = _cast(counted, np.dtype(np.float64)).reshape(shape)[(slice(1, -1),) * rank]
    if density:
        total = _fold("add", counts, tuple(_axes(rank)))
        for i, each in enumerate(edges):
            widths = diff(each)
            counts = u("true_divide", counts, widths.reshape(tuple(widths.size if j == i else 1 for j in _axes(rank))))
        counts = u("true_divide", counts, total)
    return counts, edges


_axes = range


def _of_each_axis(bins: Any, rank: int) -> list[Any]:
    """What says the boxes of each axis."""
    try:
        count = len(bins)
    except TypeError:
        return [bins] * rank
    if count != rank:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    return list(bins)


def _edges(i: int, along: ndarray, bins: Any, ends: Any) -> ndarray:
    """The edges of an axis: those given, or so many between its ends."""
    rank = np.ndim(bins)
    if rank == 1:
        edges = array_of(bins, device=along.device)
        host = _to_numpy(edges)
        if np.any(host[:-1] > host[1:]):
            raise ValueError(f"`bins[{i}]` must be monotonically increasing, when an array")
        return edges
    if rank != 0:
        raise ValueError(f"`bins[{i}]` must be a scalar or 1d array")
    number = _to_numpy(bins)[()] if isinstance(bins, ndarray) else bins
    if number < 1:
        raise ValueError(f"`bins[{i}]` must be positive, when an integer")
    first, last = _outer(along, ends)
    try:
        count = operator.index(number)
    except TypeError as error:
        raise TypeError(f"`bins[{i}]` must be an integer, when a scalar") from error
    return linspace(first, last, count + 1, device=along.device)


def _outer(along: ndarray, ends: Any) -> tuple[Any, Any]:
    """The first and the last edge of an axis, apart from each other."""
    if ends is not None:
        first, last = (_to_numpy(each)[()] if isinstance(each, ndarray) else each for each in ends)
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif along.size == 0:
        first, last = 0, 1
    else:
        first, last = (_to_numpy(_fold(name, along, (0,)))[()] for name in ("minimum", "maximum"))
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _places(along: ndarray, edges: ndarray) -> ndarray:
    """The number of the box of each point, one more than within the edges; the last edge belongs to the last box."""
    found = searchsorted(edges, along, "right")
    if not edges.shape[0]:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    kind = result_dtype(along, edges)
    on_last = u("equal", _cast(along, kind), _cast(edges[-1], kind))
    return select(on_last, u("subtract", found, 1), found)


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[ndarray, ndarray, ndarray]:
    """How many points lie in each box of a plane, and the edges along x and y: `histogramdd` of two axes. Computed at once.

    `bins` is a number or a row of edges for both, or two of them.

    >>> weft.histogram2d([0.0, 1.0, 1.0], [0.0, 1.0, 0.0], bins=2)[0]
    array([[1., 0.],
           [1., 1.]])
    """
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    try:
        count = len(bins)
    except TypeError:
        count = 1
    if count not in (1, 2):
        bins = [array_of(bins)] * 2
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
