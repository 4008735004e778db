"""Counts: of numbers from 0 on, and of elements in the bins of a histogram, whose edges are given or evenly spaced."""

import numpy as np
from weft import prange

from weft.language import Static, float_type, for_numba, refuse

from .searching import searchsorted

# So many elements find their bins together, before they are counted.
_BLOCK = 1024


def bincount(x, /, weights=None, minlength=0):
    """How often each of the numbers 0, 1, 2, ... is there, or the sums of the weights that stand beside them.

    >>> np.bincount(np.array([0, 1, 1, 3]))
    array([1, 2, 0, 1])
    """
    x = np.asarray(x)
    if x.ndim != 1:
        refuse("bincount takes arrays of one axis")
    if x.dtype.kind not in ("b", "i", "u"):
        refuse(f"bincount takes integers, not {x.dtype}")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    n = np.int64(minlength)
    low = np.int64(0)
    for i in range(len(x)):
        n = max(n, np.int64(x[i]) + 1)
        low = min(low, np.int64(x[i]))
    if low < 0:
        raise ValueError("'list' argument must have no negative elements")
    if weights is None:
        counts = np.zeros(n, np.int64)
        for i in range(len(x)):
            counts[np.int64(x[i])] += 1
        return counts
    weights = np.asarray(weights)
    if weights.ndim != 1:
        refuse("the weights of bincount have one axis")
    if weights.dtype.kind == "c":
        refuse("the weights of bincount are real numbers")
    if len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(n, np.float64)
    for i in range(len(x)):
        sums[np.int64(x[i])] += np.float64(weights[i])
    return sums


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of the bins that `np.histogram` counts in.

    >>> np.histogram_bin_edges(np.array([0, 4]), bins=4)
    array([0., 1., 2., 3., 4.])
    """
    a = np.asarray(a)
    if weights is not None:
        if np.ndim(weights) != a.ndim or np.shape(weights) != a.shape:
            raise ValueError("weights should have the same shape as a.")
    return _edges(a, bins, range)


def _edges(a, bins, ends):
    if isinstance(bins, str):
        refuse("how many bins there are is a number in compiled functions, or an array of edges")
    if a.dtype.kind == "c":
        refuse("histograms are made of real numbers")
    if isinstance(bins, (tuple, list, np.ndarray)):
        given = np.asarray(bins)
        if given.ndim != 1:
            refuse("`bins` must be 1d, when an array")
        for i in range(len(given) - 1):
            if given[i] > given[i + 1]:
                raise ValueError("`bins` must increase monotonically, when an array")
        return given
    if bins.dtype.kind != "i" and bins.dtype.kind != "u":
        refuse("`bins` must be an integer or an array in compiled functions")
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    first, last = _ends(a, ends)
    dtype = np.result_type(first, last, a)
    if dtype.kind != "f":
        dtype = np.float64
    if ends is None and a.size == 0:
        edges = np.linspace(0.0, 1.0, bins + 1, dtype=dtype)
    else:
        edges = np.linspace(first, last, bins + 1, dtype=dtype)
    for i in range(bins):
        if edges[i] >= edges[i + 1]:
            raise ValueError("Too many bins for data range. Cannot create finite-sized bins.")
    return edges


def _ends(a, ends):
    """Where the first bin starts and the last one ends."""
    if ends is None:
        dtype = float_type(a.dtype)
        first = dtype.type(0)
        last = dtype.type(1)
        if a.size > 0:
            first = dtype.type(np.min(a))
            last = dtype.type(np.max(a))
        return _apart(first, last)
    if not isinstance(ends, tuple) or len(ends) != 2:
        refuse("the range of a histogram is a tuple of two numbers")
    return _apart(_as_float(ends[0]), _as_float(ends[1]))


def _as_float(x):
    if isinstance(x, int):
        return float(x)
    if x.dtype.kind != "f":
        return np.float64(x)
    return x


def _apart(first, last):
    if first > last:
        raise ValueError("max must be larger than min in range parameter.")
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError("the range of a histogram is not finite")
    if first == last:
        return first - 0.5, last + 0.5
    return first, last


def histogram(a, bins=10, range=None, density: Static = None, weights=None):
    """How many elements lie in each bin, and the edges of the bins: so many of one width, or those given. The last edge belongs to the
    last bin. With weights their sums are counted, with `density=True` the area is 1.

    >>> np.histogram(np.array([1, 2, 1]), bins=np.array([0, 1, 2, 3]))
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    """
    a = np.asarray(a)
    if density is not None and not isinstance(density, (bool, int)):
        refuse("density is True or False")
    if for_numba() and a.dtype.kind == "f":
        a = a.astype(np.float64)
    if weights is None:
        return _histogram(a, bins, range, density, None)
    weights = np.asarray(weights)
    if weights.dtype.kind == "b":
        refuse("the weights of a histogram are numbers")
    if weights.ndim != a.ndim or weights.shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    return _histogram(a, bins, range, density, weights)


def _histogram(a, bins, ends, density: Static, weights):
    edges = _edges(a, bins, ends)
    n = max(len(edges) - 1, 0)
    if weights is None:
        sums = np.zeros(n, np.int64)
    elif weights.dtype.kind == "f":
        sums = np.zeros(n, np.float64)
    elif weights.dtype.kind == "c":
        sums = np.zeros(n, np.complex128)
    else:
        sums = np.zeros(n, weights.dtype)
    each = None if weights is None else weights.ravel()
    if isinstance(bins, (tuple, list, np.ndarray)):
        row = a.ravel()
        places = searchsorted(edges, row, "right")
        for at in range(len(row)):
            i = places[at] - 1
            if i == n and n > 0 and row[at] == edges[n]:
                i -= 1
            if i >= 0 and i < n:
                sums[i] += 1 if weights is None else sums.dtype.type(each[at])
    else:
        first, last = _ends(a, ends)
        width = np.subtract(last, first)
        doubt = _doubt(n, edges, first, last, width)
        row = a.ravel()
        places = np.empty(min(len(row), _BLOCK), np.int64)
        for start in range(0, len(row), _BLOCK):
            stop = min(start + _BLOCK, len(row))
            for at in prange(start, stop):
                places[at - start] = _even_bin(row[at], edges, first, last, width, doubt)
            for at in range(start, stop):
                i = places[at - start]
                if i == -2:
                    raise ValueError("the range of the histogram is too wide for its type of numbers")
                if i >= 0:
                    sums[i] += 1 if weights is None else sums.dtype.type(each[at])
    if density is not None and density:
        widths = (edges[1:] - edges[:-1]).astype(np.float64)
        return np.asarray(sums / widths / np.sum(sums)), edges
    if weights is None:
        return sums, edges
    return sums.astype(weights.dtype), edges


def _doubt(n, edges, first, last, width):
    """How near to a whole number a position among bins may be because of rounding alone: some roundings of it, and of the edges."""
    if edges.dtype.itemsize == 8:
        rounding = 2.0**-52
    elif edges.dtype.itemsize == 4:
        rounding = 2.0**-23
    else:
        rounding = 2.0**-7
    return 8 * rounding * (n + n * (max(abs(first), abs(last)) / width))


def _even_bin(x, edges, first, last, width, doubt):
    """The number of the bin that a number lies in, -1 outside, -2 where differences overflow. It is computed from the bins' width; beside an
    edge, the edges say."""
    if not (x >= first and x <= last):
        return -1
    n = len(edges) - 1
    x = edges.dtype.type(x)
    where = (x - first) / width * n
    # Neither where it is not a number.
    if not (where >= 0 and where < n + 1):
        return -2
    i = int(where)
    rest = where - i
    if rest > doubt and rest < 1 - doubt:
        return i
    if i == n:
        i -= 1
    if x < edges[i]:
        i -= 1
    if x >= edges[i + 1] and i != n - 1:
        i += 1
    return i
