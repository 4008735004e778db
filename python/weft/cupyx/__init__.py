"""CuPy's companion `cupyx`: additions at indices, pinned arrays, and the packages `jit`, `profiler` and `scipy`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

import weft
from weft import cuda
from weft._weft import ndarray

__all__ = [
    "empty_like_pinned",
    "empty_pinned",
    "jit",
    "profiler",
    "rsqrt",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scipy",
    "zeros_like_pinned",
    "zeros_pinned",
]


def scatter_add(a: ndarray, slices: Any, value: Any) -> None:
    """Adds values to the elements at an index; an element that stands there twice is added to twice.

    >>> x = cupy.zeros(3)
    >>> cupyx.scatter_add(x, cupy.asarray([0, 0, 2]), 1)
    >>> x
    array([2., 0., 1.])
    """
    weft.add.at(a, slices, value)


def scatter_max(a: ndarray, slices: Any, value: Any) -> None:
    """Makes the elements at an index the larger of themselves and of values.

    >>> x = cupy.zeros(2)
    >>> cupyx.scatter_max(x, cupy.asarray([0, 0]), cupy.asarray([2.0, 1.0]))
    >>> x
    array([2., 0.])
    """
    weft.maximum.at(a, slices, value)


def scatter_min(a: ndarray, slices: Any, value: Any) -> None:
    """Makes the elements at an index the smaller of themselves and of values.

    >>> x = cupy.zeros(2)
    >>> cupyx.scatter_min(x, cupy.asarray([0, 0]), cupy.asarray([-2.0, -1.0]))
    >>> x
    array([-2.,  0.])
    """
    weft.minimum.at(a, slices, value)


def rsqrt(x: Any) -> ndarray:
    """1 / sqrt(x).

    >>> cupyx.rsqrt(cupy.asarray([4.0]))
    array([0.5])
    """
    from weft.math import rsqrt as of_numbers

    return weft.asarray(of_numbers(x))


def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> np.ndarray:
    """A NumPy array in pinned memory of the host.

    >>> cupyx.empty_pinned(3).shape
    (3,)
    """
    return cuda.pinned_array(shape, dtype, order=order)


def zeros_pinned(shape: Any, dtype: Any = float, order: str = "C") -> np.ndarray:
    """A NumPy array of zeros in pinned memory of the host.

    >>> cupyx.zeros_pinned(2)
    array([0., 0.])
    """
    made = empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


def empty_like_pinned(a: Any, dtype: Any = None) -> np.ndarray:
    """A NumPy array of the shape and dtype of another, in pinned memory of the host.

    >>> cupyx.empty_like_pinned(cupy.ones(2)).shape
    (2,)
    """
    return empty_pinned(a.shape, a.dtype if dtype is None else dtype)


def zeros_like_pinned(a: Any, dtype: Any = None) -> np.ndarray:
    """A NumPy array of zeros of the shape and dtype of another, in pinned memory of the host.

    >>> cupyx.zeros_like_pinned(cupy.ones(2))
    array([0., 0.])
    """
    return zeros_pinned(a.shape, a.dtype if dtype is None else dtype)


def __getattr__(name: str) -> Any:
    """The packages, when they are first used."""
    if name in ("jit", "profiler", "scipy"):
        return import_module(f"weft.cupyx.{name}")
    raise AttributeError(f"module 'weft.cupyx' has no attribute {name!r}")
