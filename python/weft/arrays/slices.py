"""Functions of users applied to slices of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _full, ndarray

from ._common import array_of, axis_of
from .shapes import expand_dims, transpose


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> ndarray:
    """What a function gives for each row along an axis, in the place of that axis. Its further arguments come behind.

    The function is called for one row after the other; `weft.vectorize` and array expressions are much faster.

    >>> weft.apply_along_axis(lambda row: row[0] + row[-1], 1, weft.asarray([[1, 2, 3], [4, 5, 6]]))
    array([ 4, 10])
    """
    a = array_of(arr)
    axis = axis_of(axis, a.ndim)
    rows = transpose(a, (*(i for i in range(a.ndim) if i != axis), axis))
    outer = rows.shape[:-1]
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    made: Any = None
    shape: tuple[int, ...] = ()
    for index in np.ndindex(outer):
        found = array_of(func1d(rows[(*index, Ellipsis)], *args, **kwargs))
        if made is None:
            shape = found.shape
            made = _full((*outer, *shape), 0, found.dtype, found.device)
        made[index] = found
    rank = len(outer) + len(shape)
    return transpose(made, (*range(axis), *range(len(outer), rank), *range(axis, len(outer))))


def apply_over_axes(func: Any, a: Any, axes: Any) -> ndarray:
    """A function of an array and an axis, applied along one axis after the other. The axes that it leaves out stay with length one.

    >>> weft.apply_over_axes(weft.sum, weft.ones((2, 3)), (0, 1))
    array([[6.]])
    """
    found = array_of(a)
    rank = found.ndim
    given = [axes] if np.ndim(axes) == 0 else list(axes)
    for axis in given:
        place = axis + rank if axis < 0 else axis
        result = func(found, place)
        if result.ndim != found.ndim:
            result = expand_dims(result, place)
            if result.ndim != found.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        found = result
    return found
