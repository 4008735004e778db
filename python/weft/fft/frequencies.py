"""What goes with transforms: the frequencies of their elements, and their order."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._weft import _cast, _iota, ndarray
from weft.arrays._common import array_of, as_device, as_dtype, select, u
from weft.arrays.shapes import roll


def fftfreq(n: int, d: Any = 1.0, device: Any = None, dtype: Any = None) -> ndarray:
    """The frequencies of the elements of a transform of n points that are d apart: first those from zero on, then those below zero.

    They are float64 unless the standard's `dtype` says otherwise. ValueError if n is no integer or negative, ZeroDivisionError if it is 0.

    >>> weft.fft.fftfreq(5, 0.1)
    array([ 0.,  2.,  4., -4., -2.])
    """
    unit = _unit(n, d)
    if n < 0:
        raise ValueError("negative dimensions are not allowed")
    places = _places(int(n), device)
    return _times(select(u("less", places, (n - 1) // 2 + 1), places, u("subtract", places, int(n))), unit, dtype)


def rfftfreq(n: int, d: Any = 1.0, device: Any = None, dtype: Any = None) -> ndarray:
    """The frequencies of the elements of the transform of n real points that are d apart: those from zero on, n//2 + 1 of them.

    >>> weft.fft.rfftfreq(5, 0.1)
    array([0., 2., 4.])
    """
    unit = _unit(n, d)
    return _times(_places(max(int(n) // 2 + 1, 0), device), unit, dtype)


def _unit(n: Any, d: Any) -> Any:
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    return 1.0 / (n * d)


def _places(count: int, device: Any) -> ndarray:
    return _iota(count, 0, 1, np.dtype(np.int64), as_device(device))


def _times(places: ndarray, unit: Any, dtype: Any) -> ndarray:
    if dtype is None:
        return u("multiply", places, unit)
    kind = as_dtype(dtype)
    if kind.kind not in "fcV":
        raise TypeError(f"frequencies are floating-point numbers, not {kind}")
    return u("multiply", _cast(places, kind), array_of(unit, kind, places.device))


def fftshift(x: Any, axes: Any = None) -> ndarray:
    """A copy with the element of frequency zero in the middle: of all axes, or of those named. IndexError if there is no such axis.

    >>> weft.fft.fftshift(weft.fft.fftfreq(5, 0.1))
    array([-4., -2.,  0.,  2.,  4.])
    """
    return _shifted(x, axes, lambda n: n // 2)


def ifftshift(x: Any, axes: Any = None) -> ndarray:
    """What undoes `fftshift`.

    >>> weft.fft.ifftshift(weft.asarray([-1, 0, 1]))
    array([ 0,  1, -1])
    """
    return _shifted(x, axes, lambda n: -(n // 2))


def _shifted(x: Any, axes: Any, by: Any) -> ndarray:
    x = array_of(x)
    if axes is None:
        if x.ndim == 0:
            raise ValueError("not enough values to unpack (expected 2, got 0)")
        axes = range(x.ndim)
    found = tuple(axes) if not isinstance(axes, (int, np.integer)) else (axes,)
    shifts = tuple(by(x.shape[axis]) for axis in found)
    return roll(x, shifts, tuple(operator.index(axis) for axis in found)) if found else x.copy()
