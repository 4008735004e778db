"""How functions that launch kernels are called: at once, and in captured graphs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft._weft import ndarray
from weft.arrays._compiled import recorded
from weft.errors import CaptureError

__all__ = ["launched", "on_a_device"]


def on_a_device(a: ndarray) -> bool:
    """Whether these kernels are for it: arrays on the CPU have compiled code of their own."""
    return a.device.kind != "cpu"


def launched(function: Callable[..., Any], *values: Any, keeps_shape: bool = True, like: Callable[..., Any] | None = None) -> Any:
    """What a function of arrays gives that makes arrays, launches kernels and gives one array or a tuple of them.

    A captured graph calls it again whenever it runs, if the shapes of what it gives depend on nothing but shapes. What these are is found
    by a call with zeros, or by `like`, which gives arrays of these shapes and dtypes: needed where the function also reads arrays that it
    keeps, whose elements nobody can look at while a graph is captured.
    """
    try:
        return function(*values)
    except CaptureError:
        if not keeps_shape:
            raise
        shaped = None if like is None else functools.partial(_of_list, like)
        return recorded(functools.partial(_of_list, function), list(values), shaped)


def _of_list(function: Callable[..., Any], values: list[Any]) -> Any:
    return function(*values)
