"""Questions about arrays whose answers are no arrays, and arrays that are as a program needs them, or errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _to_numpy, ndarray

from ._common import array_of, copied, is_inexact, refuse, u
from .creation import asarray
from .elementwise import imag, real

iterable = np.iterable

_FLAGS = {
    "C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F", "FORTRAN": "F", "A": "A", "ALIGNED": "A",
    "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E",
}  # fmt: skip


def isfortran(a: ndarray) -> bool:
    """Whether the elements lie in Fortran's order and not in C's.

    >>> weft.isfortran(weft.ones((2, 3)).T)
    True
    """
    return a.flags.f_contiguous and not a.flags.c_contiguous


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> ndarray:
    """`asarray`, with a ValueError where there are infinities or NaN: it reads the elements.

    >>> weft.asarray_chkfinite([1, 2])
    array([1, 2])
    """
    found = asarray(a, dtype, order)
    if is_inexact(found.dtype) and not bool(u("isfinite", found).all()):
        raise ValueError("array must not contain infs or NaNs")
    return found


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> ndarray:
    """An array of a dtype that is as a list of letters says: "C" or "F" for an order, "W" for writeable, "O" for memory of its own.

    It is the array itself if it is so, and else a copy. Arrays are aligned ("A") and of no subclass ("E") always.

    >>> weft.require(weft.ones((2, 3)).T, requirements=["C", "W"]).flags.c_contiguous
    True
    """
    if like is not None:
        raise refuse("require", "like is not available")
    asked = {_FLAGS[each.upper()] for each in requirements or ()}
    if asked >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "C" if "C" in asked else "F" if "F" in asked else "A"
    found = asarray(a, dtype, None if order == "A" else order)
    if ("W" in asked and not found.flags.writeable) or ("O" in asked and not found.flags.owndata):
        return copied(found, found.dtype, order)
    return found


def real_if_close(a: Any, tol: float = 100) -> ndarray:
    """The real parts of complex numbers if no imaginary part is as large as `tol`, which it reads; else the array itself.

    `tol` above 1 counts the dtype's `eps`.

    >>> weft.real_if_close(weft.asarray([2.1 + 4e-15j]), tol=1000)
    array([2.1])
    """
    a = array_of(a)
    if a.dtype.kind != "c":
        return a
    bound = np.finfo(a.dtype).eps * tol if tol > 1 else tol
    return real(a) if bool(u("less", u("absolute", imag(a)), bound).all()) else a


def common_type(*arrays: Any) -> type:
    """NumPy's type of floats or complex numbers that arrays can be computed in; float64 for integers.

    >>> weft.common_type(weft.ones(2, weft.float32), weft.ones(2, weft.complex64)).__name__
    'complex64'
    """
    return np.common_type(*(np.empty(0, array_of(each).dtype) for each in arrays))


def base_repr(number: Any, base: int = 2, padding: int = 0) -> str:
    """An integer in another base.

    >>> weft.base_repr(10, 3)
    '101'
    """
    return np.base_repr(_integer(number), base, padding)


def binary_repr(num: Any, width: Any = None) -> str:
    """An integer's bits, of a negative one those of its two's complement if a width is given.

    >>> weft.binary_repr(-3, 4)
    '1101'
    """
    return np.binary_repr(_integer(num), width)


def _integer(x: Any) -> Any:
    return _to_numpy(x)[()] if isinstance(x, ndarray) else x
