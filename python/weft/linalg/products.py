"""Products, diagonals and turns, in the forms that the Array API standard gives them; most are the functions of the namespace."""

from __future__ import annotations

from typing import Any

from weft._weft import ndarray
from weft.arrays import products, shapes
from weft.arrays._common import together

matrix_transpose = shapes.matrix_transpose


def matmul(x1: Any, x2: Any, /) -> ndarray:
    """The product of matrices in the last two axes; a vector is a row in front and a column behind. Computed at once.

    >>> weft.linalg.matmul(weft.asarray([[1, 2], [3, 4]]), weft.asarray([1, 1]))
    array([3, 7])
    """
    return products.matmul(x1, x2)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> ndarray:
    """The sums of products along axes of two arrays, as `weft.tensordot`.

    >>> weft.linalg.tensordot(weft.asarray([[1, 2], [3, 4]]), weft.asarray([1, 1]), axes=1)
    array([3, 7])
    """
    return products.tensordot(x1, x2, axes=axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> ndarray:
    """The sums of the products along an axis, the first array conjugated.

    >>> weft.linalg.vecdot(weft.asarray([1, 2]), weft.asarray([3, 4]))
    array(11)
    """
    return products.vecdot(x1, x2, axis=axis)


def outer(x1: Any, x2: Any, /) -> ndarray:
    """The products of every element of one vector with every element of another.

    >>> weft.linalg.outer(weft.asarray([1, 2]), weft.asarray([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    x1, x2 = together(x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}.")
    return products.outer(x1, x2)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> ndarray:
    """The vectors at right angles to pairs of vectors of three elements along an axis.

    >>> weft.linalg.cross(weft.asarray([1, 0, 0]), weft.asarray([0, 1, 0]))
    array([0, 0, 1])
    """
    x1, x2 = together(x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    return products.cross(x1, x2, axis=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> ndarray:
    """The diagonals of the matrices in the last two axes.

    >>> weft.linalg.diagonal(weft.asarray([[1, 2], [3, 4]]))
    array([1, 4])
    """
    return shapes.diagonal(x, offset, axis1=-2, axis2=-1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> ndarray:
    """The sums of the diagonals of the matrices in the last two axes.

    >>> weft.linalg.trace(weft.asarray([[1, 2], [3, 4]]))
    array(5)
    """
    return products.trace(x, offset, axis1=-2, axis2=-1, dtype=dtype)
