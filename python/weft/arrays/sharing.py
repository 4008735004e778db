"""Whether arrays have memory in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _to_numpy, ndarray

from ._common import as_dtype


class _Likeness:
    """Where an array's elements are, for NumPy to compare: there is nothing at these addresses, and nothing is read."""

    def __init__(self, array: ndarray) -> None:
        dtype = np.dtype(f"V{array.itemsize}") if as_dtype(array.dtype).kind == "V" else array.dtype
        # Far from 0, for views may begin at a place before others.
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "typestr": dtype.str,
            "data": ((1 << 40) + array._place[1], True),
            "strides": array.strides,
        }


def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Whether an element of one array lies in the memory of an element of the other; whether they have any in common.

    Of two weft arrays it says whether writing to one may be seen in the other. `max_work` is NumPy's: -1 solves the problem exactly, 0
    only looks at the bounds; where it takes more, `numpy.exceptions.TooHardError` is raised.

    >>> x = weft.arange(6)
    >>> weft.shares_memory(x[::2], x[1::2])
    False
    """
    pair = _comparable(a, b)
    return bool(pair) and np.shares_memory(*pair, max_work)


def may_share_memory(a: Any, b: Any, /, max_work: int = 0) -> bool:
    """Whether two arrays might have memory in common, by their bounds: quick, and true now and then where they have none.

    >>> x = weft.arange(6)
    >>> weft.may_share_memory(x[::2], x[1::2]), weft.may_share_memory(x, x + 0)
    (True, False)
    """
    pair = _comparable(a, b)
    return bool(pair) and np.may_share_memory(*pair, max_work)


def _comparable(a: Any, b: Any) -> tuple[Any, Any] | None:
    """What NumPy compares in place of two arrays; None where they have separate memory."""
    if isinstance(a, ndarray) and isinstance(b, ndarray):
        if a._place[0] != b._place[0]:
            return None
        return np.asarray(_Likeness(a)), np.asarray(_Likeness(b))
    # NumPy's arrays may look at what an array's elements are in now.
    return _seen(a), _seen(b)


def _seen(x: Any) -> Any:
    return _to_numpy(x) if isinstance(x, ndarray) else x
