"""Searching: where elements are that are true or not zero, and where numbers belong among sorted ones."""

import numpy as np
from weft import prange

from weft.language import Static, axes_of, refuse, unrolled

# So many numbers are searched for one after another.
_BLOCK = 1024


def count_nonzero(a, axis: Static = None, *, keepdims: Static = False):
    """How many elements are not zero, of the whole array or along an axis or a tuple of axes.

    >>> np.count_nonzero(np.array([[0, 1], [2, 3]]), axis=0)
    array([1, 2])
    """
    a = np.asarray(a)
    axes = axes_of(axis, a.ndim)
    if len(axes) == a.ndim:
        counts = np.int64(0)
        if a.ndim == 0:
            counts = np.int64(a[()] != 0)
        else:
            counts = np.sum(a != 0)
        if keepdims:
            return np.full((1,) * a.ndim, counts)
        return counts
    if len(axes) == 0:
        return (a != 0).astype(np.int64)
    found = np.sum(a != 0, axes[0])
    dropped = (axes[0],)
    for axis in unrolled(axes[1:]):
        place = axis
        for other in unrolled(dropped):
            if other < axis:
                place = place - 1
        found = np.sum(found, place)
        dropped = dropped + (axis,)
    if keepdims:
        index = ()
        for i in unrolled(range(a.ndim)):
            if i in axes:
                index = index + (None,)
            else:
                index = index + (slice(None),)
        return found[index].copy()
    return found


def nonzero(a):
    """The positions of the elements that are not zero: one array of indices per axis.

    >>> np.nonzero(np.array([3, 0, 4]))
    (array([0, 2]),)
    """
    a = np.asarray(a)
    if a.ndim == 0:
        refuse("nonzero takes arrays of one axis or more")
    n = count_nonzero(a)
    found = ()
    for _ in unrolled(range(a.ndim)):
        found = found + (np.empty(n, np.int64),)
    if a.ndim == 1:
        _write_positions(a, n, found[0])
        return found
    at = 0
    for place in np.ndindex(a.shape):
        if a[place] != 0:
            for i in unrolled(range(a.ndim)):
                found[i][at] = place[i]
            at += 1
    return found


def _write_positions(a, n, row):
    """The positions of the `n` elements of a row that are not zero. Every index is written down, and stays where its element is not zero."""
    at = 0
    index = 0
    while at < n and index < a.size:
        row[at] = index
        at += 1 if a[index] != 0 else 0
        index += 1


def flatnonzero(a):
    """The positions of the elements that are not zero, in the array as one row.

    >>> np.flatnonzero(np.array([[0, 1], [2, 0]]))
    array([1, 2])
    """
    return nonzero(np.asarray(a).ravel())[0]


def argwhere(a):
    """The positions of the elements that are not zero, one row for each.

    >>> np.argwhere(np.array([[0, 1], [2, 0]]))
    array([[0, 1],
           [1, 0]])
    """
    a = np.asarray(a)
    n = count_nonzero(a)
    found = np.empty((n, a.ndim), np.int64)
    if a.ndim == 1:
        _write_positions(a, n, found[:, 0])
        return found
    at = 0
    for place in np.ndindex(a.shape):
        if a[place] != 0:
            for i in unrolled(range(a.ndim)):
                found[at, i] = place[i]
            at += 1
    return found


def _precedes(x, y):
    """Does x come before y in sorted order? NaN come last; complex numbers are ordered by their real parts first."""
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        xr, xi, yr, yi = x.real, x.imag, y.real, y.imag
        if xr < yr:
            return xi == xi or yi != yi
        if xr > yr:
            return yi != yi and xi == xi
        if xr == yr or (xr != xr and yr != yr):
            return xi < yi or (yi != yi and xi == xi)
        return yr != yr
    if x.dtype.kind == "f" or y.dtype.kind == "f":
        return (x < y) | ((y != y) & (x == x))
    return x < y


def _belongs_before(y, x, right: Static):
    """Has x its place before an element y? `right`: behind equal ones."""
    if right:
        return _precedes(x, y)
    return not _precedes(y, x)


def _below(a, x, right: Static):
    """How many elements of a sorted array come before x."""
    kind = np.result_type(a.dtype, x.dtype)
    x = kind.type(x)
    low = 0
    n = len(a)
    while n > 0:
        half = n // 2
        before = _belongs_before(kind.type(a[low + half]), x, right)
        low += 0 if before else half + 1
        n = half if before else n - half - 1
    return low


def _near(a, x, right: Static, guess):
    """The same, found at once where it is a few elements behind a guess, as that of growing numbers is."""
    kind = np.result_type(a.dtype, x.dtype)
    y = kind.type(x)
    end = guess + 4
    if end < len(a) and _belongs_before(kind.type(a[end]), y, right):
        if guess == 0 or not _belongs_before(kind.type(a[guess - 1]), y, right):
            while not _belongs_before(kind.type(a[guess]), y, right):
                guess += 1
            return guess
    return _below(a, x, right)


def _grow(row, start, stop):
    """Is no number of a part of a row smaller than the one before?"""
    for i in range(start + 1, stop):
        if _precedes(row[i], row[i - 1]):
            return False
    return True


def _search(a, v, start, stop, right: Static, found):
    """Looks for a part of a row of numbers, four at a time: their steps do not wait for each other."""
    kind = np.result_type(a.dtype, v.dtype)
    for i in range(start, stop - 3, 4):
        x0, x1, x2, x3 = kind.type(v[i]), kind.type(v[i + 1]), kind.type(v[i + 2]), kind.type(v[i + 3])
        at0, at1, at2, at3 = 0, 0, 0, 0
        n = len(a)
        while n > 1:
            half = n // 2
            at0 += 0 if _belongs_before(kind.type(a[at0 + half - 1]), x0, right) else half
            at1 += 0 if _belongs_before(kind.type(a[at1 + half - 1]), x1, right) else half
            at2 += 0 if _belongs_before(kind.type(a[at2 + half - 1]), x2, right) else half
            at3 += 0 if _belongs_before(kind.type(a[at3 + half - 1]), x3, right) else half
            n -= half
        found[i] = at0 + (0 if _belongs_before(kind.type(a[at0]), x0, right) else 1)
        found[i + 1] = at1 + (0 if _belongs_before(kind.type(a[at1]), x1, right) else 1)
        found[i + 2] = at2 + (0 if _belongs_before(kind.type(a[at2]), x2, right) else 1)
        found[i + 3] = at3 + (0 if _belongs_before(kind.type(a[at3]), x3, right) else 1)
    for i in range(stop - (stop - start) % 4, stop):
        found[i] = _below(a, v[i], right)


def searchsorted(a, v, side: Static = "left", sorter=None):
    """Where numbers would have to be put into a sorted array to keep it sorted: before equal ones, or behind them with `side="right"`.
    `sorter` holds the indices that sort an array that is not.

    >>> np.searchsorted(np.array([1, 2, 2, 3]), np.array([2, 5]))
    array([1, 4])
    """
    a = np.asarray(a)
    if a.ndim != 1:
        refuse("searchsorted looks in arrays of one axis")
    if side != "left" and side != "right":
        refuse("searchsorted's side is 'left' or 'right'")
    if sorter is not None:
        if len(sorter) != len(a):
            raise ValueError("sorter.size must equal len(a)")
        return searchsorted(a[sorter], v, side)
    if np.ndim(v) == 0 and not isinstance(v, np.ndarray):
        return np.int64(_below(a, v, side == "right"))
    v = np.asarray(v)
    if v.ndim == 0:
        return np.int64(_below(a, v[()], side == "right"))
    found = np.empty(v.shape, np.int64)
    if v.ndim == 1:
        blocks = (len(v) + _BLOCK - 1) // _BLOCK
        for block in prange(blocks):
            start = block * _BLOCK
            stop = min(start + _BLOCK, len(v))
            if len(a) == 0:
                found[start:stop] = 0
            elif _grow(v, start, stop):
                near = 0
                for i in range(start, stop):
                    near = _near(a, v[i], side == "right", near)
                    found[i] = near
            else:
                _search(a, v, start, stop, side == "right", found)
    else:
        for at in np.ndindex(v.shape):
            found[at] = _below(a, v[at], side == "right")
    return found


def digitize(x, bins, right: Static = False):
    """The number of the bin that each element lies in: `bins[i - 1] <= x < bins[i]`, or with `right=True` `bins[i - 1] < x <= bins[i]`.
    The edges of the bins grow or fall.

    >>> np.digitize(np.array([0.5, 3.0]), np.array([0.0, 1.0, 2.0]))
    array([1, 3])
    """
    if np.result_type(x).kind == "c":
        refuse("x may not be complex")
    bins = np.asarray(bins)
    if bins.ndim != 1:
        refuse("the bins of digitize are an array of one axis")
    if _falls(bins):
        n = len(bins)
        return n - searchsorted(bins[::-1], x, "left" if right else "right")
    return searchsorted(bins, x, "left" if right else "right")


def _falls(edges):
    """Do they fall, rather than grow? What differs first says it; those that do neither raise."""
    n = len(edges)
    at = 1
    while at < n and edges[at] == edges[0]:
        at += 1
    if at >= n:
        return False
    falls = not (edges[0] < edges[at])
    for i in range(at + 1, n):
        if falls and edges[i - 1] < edges[i] or not falls and edges[i - 1] > edges[i]:
            raise ValueError("bins must be monotonically increasing or decreasing")
    return falls
