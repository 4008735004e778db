"""What the functions of `weft.nn` share: floats, half precision computed in single precision, reductions of losses, numbers per axis."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.arrays._common import array_of, axis_of, beside, is_half

__all__ = ["floats", "narrow", "numbers", "of_floats", "parameter", "reduced", "refuse_unknown", "stored", "where_axes", "wide"]

Shape = tuple[int, ...]


def floats(name: str, x: Any, *others: Any) -> ndarray:
    """An argument as an array of real floats, on the device of the others if it is none yet; TypeError of any other."""
    found = beside(x, *others)
    if found.dtype.kind != "f" and not is_half(found.dtype):
        raise TypeError(f"{name} takes floats, not {found.dtype}")
    return found


def wide(x: ndarray) -> ndarray:
    """Floats of 16 bits as float32, in which they are computed; others as they are."""
    return x.astype(np.float32) if is_half(x.dtype) else x


def narrow(found: ndarray, dtype: np.dtype) -> ndarray:
    """A result in the dtype that it is asked in, rounded once."""
    return found if found.dtype == dtype else found.astype(dtype)


def of_floats(function: Callable[..., ndarray]) -> Callable[..., ndarray]:
    """A function of one array of floats, that computes those of 16 bits in single precision and rounds once."""

    @functools.wraps(function)
    def checked(x: Any, *args: Any, **keywords: Any) -> ndarray:
        x = floats(function.__name__, x)
        if is_half(x.dtype):
            return function(x.astype(np.float32), *args, **keywords).astype(x.dtype)
        return function(x, *args, **keywords)

    return checked


def stored(x: ndarray) -> ndarray:
    """An array that several kernels read: what is elementwise would be computed anew for the first two of them.

    What is written to a part of memory is stored, and read from there.
    """
    made = weft.empty((1, *x.shape), dtype=x.dtype, device=x.device)
    made[0] = x
    return made[0]


def reduced(each: ndarray, reduction: str) -> ndarray:
    """The losses of all elements ("none"), their sum, or their mean."""
    if reduction == "mean":
        return weft.mean(each)
    if reduction == "sum":
        return weft.sum(each)
    if reduction == "none":
        return each
    raise ValueError(f"reduction is 'none', 'mean' or 'sum', not {reduction!r}")


def numbers(given: Any, count: int, name: str, least: int = 0) -> Shape:
    """A whole number for each of so many axes, from one for all or a sequence."""
    found = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else (given,) * count
    if len(found) != count:
        raise ValueError(f"{name} has {len(found)} numbers for {count} axes")
    found = tuple(operator.index(n) for n in found)
    if min(found) < least:
        raise ValueError(f"{name} is at least {least}, not {given}")
    return found


def parameter(params: Mapping[str, Any], name: str, of: str) -> ndarray:
    """A parameter that a layer needs, by its name."""
    if not isinstance(params, Mapping):
        raise TypeError(f"the parameters of {of} are a dict, not {type(params).__name__}")
    if name not in params:
        raise KeyError(f"{of} needs params[{name!r}]; there are {sorted(params)}")
    return array_of(params[name])


def refuse_unknown(params: Mapping[str, Any], known: Sequence[str], of: str) -> None:
    """A parameter that nobody uses is a mistake."""
    if not isinstance(params, Mapping):
        raise TypeError(f"the parameters of {of} are a dict, not {type(params).__name__}")
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise KeyError(f"{of} has no parameters {unknown}: it takes {', '.join(known)}")


def where_axes(axis: Any, ndim: int) -> int | tuple[int, ...] | None:
    """Axes from the front: None, a number or several."""
    if axis is None:
        return None
    if isinstance(axis, Sequence):
        return tuple(axis_of(each, ndim) for each in axis)
    return axis_of(axis, ndim)
