"""Arrays and numbers as text, by NumPy on the host. `weft.set_printoptions` is NumPy's own, and holds for weft arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .files import on_host


def array2string(a: Any, *args: Any, **keywords: Any) -> str:
    """An array as text. The arguments behind are NumPy's: `max_line_width precision suppress_small separator prefix formatter …`.

    >>> weft.array2string(weft.asarray([1.0, 2.5]), separator="; ")
    '[1. ; 2.5]'
    """
    return np.array2string(np.asarray(on_host(a)), *args, **keywords)


def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """What `repr(x)` says.

    >>> weft.array_repr(weft.asarray([1.0, 2.5]))
    'array([1. , 2.5])'
    """
    return np.array_repr(np.asarray(on_host(arr)), max_line_width, precision, suppress_small)


def array_str(a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """What `str(x)` says.

    >>> weft.array_str(weft.asarray([1.0, 2.5]))
    '[1.  2.5]'
    """
    return np.array_str(np.asarray(on_host(a)), max_line_width, precision, suppress_small)


def _number(x: Any) -> Any:
    host = on_host(x)
    return host[()] if isinstance(host, np.ndarray) else host


def format_float_positional(x: Any, *args: Any, **keywords: Any) -> str:
    """A number without an exponent. The arguments behind are NumPy's: `precision unique fractional trim sign …`.

    >>> weft.format_float_positional(weft.asarray(0.1)[()], precision=3)
    '0.1'
    """
    return np.format_float_positional(_number(x), *args, **keywords)


def format_float_scientific(x: Any, *args: Any, **keywords: Any) -> str:
    """A number with an exponent. The arguments behind are NumPy's.

    >>> weft.format_float_scientific(weft.asarray(1234.5)[()])
    '1.2345e+03'
    """
    return np.format_float_scientific(_number(x), *args, **keywords)
