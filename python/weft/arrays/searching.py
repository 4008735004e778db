"""Where elements are that are true or not zero, and where numbers belong among sorted ones. All are computed at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _cast, _full, _reshape, ndarray
from weft.gradients.primitives import without_gradient
from weft.kernels.launching import fits, launched, on_a_device

from . import _compiled
from ._common import array_of, beside, flat, kind_of, result_dtype, together


@without_gradient(keeps_shape=False)
def nonzero(a: Any) -> tuple[ndarray, ...]:
    """The positions of the elements that are not zero: one row of indices for each axis. ValueError for arrays without axes.

    >>> weft.nonzero(weft.asarray([3, 0, 4]))
    (array([0, 2]),)
    """
    a = array_of(a)
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. "
                         "If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`.")  # fmt: skip
    if on_a_device(a) and fits(a):
        return tuple(_cast(each, np.dtype(np.int64)) for each in _true_places(a))
    return _compiled.call("np.nonzero(a)", a=a)


def _true_places(a: ndarray) -> list[ndarray]:
    """The indices along each axis of what is not zero in an array on another device than the CPU."""
    from weft.kernels.subscripts import true_places

    return launched(true_places, a, keeps_shape=False)


def flatnonzero(a: Any) -> ndarray:
    """The positions of the elements that are not zero, in the array as one row.

    >>> weft.flatnonzero(weft.asarray([[0, 1], [2, 0]]))
    array([1, 2])
    """
    return nonzero(flat(array_of(a)))[0]


@without_gradient(keeps_shape=False)
def argwhere(a: Any) -> ndarray:
    """The positions of the elements that are not zero, one row for each.

    >>> weft.argwhere(weft.asarray([[0, 1], [2, 0]]))
    array([[0, 1],
           [1, 0]])
    """
    a = array_of(a)
    if a.ndim == 0:
        return argwhere(_reshape(a, (1,)))[:, :0]
    # NumPy has the positions along each axis one behind the other.
    if on_a_device(a) and fits(a):
        return _stacked([_cast(each, np.dtype(np.int64)) for each in _true_places(a)]).T
    found = _compiled.call("np.argwhere(a)", a=a).T
    return _cast(found, found.dtype, True).T


def _stacked(rows: list[ndarray]) -> ndarray:
    """Rows one below the other."""
    found = _full((len(rows), rows[0].size), 0, rows[0].dtype, rows[0].device)
    for at, each in enumerate(rows):
        found[at] = each
    return found


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> ndarray:
    """Where numbers would have to be put into a sorted row to keep it sorted: before equal ones, or behind them with `side="right"`.

    `sorter` holds the indices that sort a row that is not.

    >>> weft.searchsorted(weft.asarray([1, 2, 2, 3]), weft.asarray([2, 5]))
    array([1, 4])
    """
    a = beside(a, v, sorter)
    if a.ndim != 1:
        raise ValueError("object of too small depth for desired array" if a.ndim == 0 else "object too deep for desired array")
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    v = beside(v, a)
    if sorter is not None:
        from .gathering import take

        sorter = beside(sorter, a)
        if kind_of(sorter.dtype) not in "iu":
            raise TypeError("sorter must only contain integers")
        if sorter.ndim != 1 or sorter.size != a.size:
            raise ValueError("sorter.size must equal len(a)" if sorter.ndim == 1 else "sorter must be 1-D array")
        a = take(a, sorter)
    kind = result_dtype(a, v)
    a, v = (x if x.dtype == kind else _cast(x, kind) for x in (a, v))
    return places_among(a, v, side)


@without_gradient
def places_among(a: ndarray, v: ndarray, side: str) -> ndarray:
    """What `searchsorted` gives of arrays of one dtype."""
    if on_a_device(a) and fits(a, v):
        from weft.kernels.searching import below

        return launched(below, a, v, side, np.dtype(np.int64))
    found = _compiled.call(f"np.searchsorted(a, v, {side!r})", a=a, v=flat(v))
    return _reshape(found, v.shape)


@places_among.defbatched
def _(call: Any, operands: list[ndarray | None], count: int) -> list[ndarray] | None:
    """Each number is looked for by itself; other rows to look in are other calls."""
    a, v, side = call.args
    others = {id(array): operand for array, operand in zip(call.arrays, operands)}
    return None if others[id(a)] is not None else [places_among(a, others[id(v)], side)]


def digitize(x: Any, bins: Any, right: bool = False) -> ndarray:
    """The number of the bin that each element lies in: `bins[i - 1] <= x < bins[i]`, or with `right=True` `bins[i - 1] < x <= bins[i]`.

    The edges of the bins grow or fall, else ValueError.

    >>> weft.digitize(weft.asarray([0.5, 3.0]), weft.asarray([0.0, 1.0, 2.0]))
    array([1, 3])
    """
    x, bins = together(x, bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if bins.ndim != 1:
        raise ValueError("object of too small depth for desired array" if bins.ndim == 0 else "object too deep for desired array")
    return bins_of(x, bins, bool(right))


@without_gradient
def bins_of(x: ndarray, bins: ndarray, right: bool) -> ndarray:
    """What `digitize` gives."""
    if on_a_device(x) and fits(x):
        from weft.kernels.searching import digitized

        return launched(digitized, x, bins, right)
    return _reshape(_compiled.call(f"np.digitize(x, bins, {right})", x=flat(x), bins=bins), x.shape)


@bins_of.defbatched
def _(call: Any, operands: list[ndarray | None], count: int) -> list[ndarray] | None:
    """As of `places_among`."""
    x, bins, right = call.args
    others = {id(array): operand for array, operand in zip(call.arrays, operands)}
    return None if others[id(bins)] is not None else [bins_of(others[id(x)], bins, right)]
