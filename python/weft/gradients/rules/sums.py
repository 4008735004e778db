"""Cotangents of rows that slide along each other, and of powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _cast, _full, _iota, _reshape, _ufunc, ndarray
from weft.arrays.polynomials import values_of_long
from weft.arrays.products import matrices, powers, slid
from weft.arrays.shapes import flip
from weft.gradients.primitives import through

__all__: list[str] = []


@slid.defvjp
def _(cotangent: ndarray, result: ndarray, function: str, a: ndarray, v: ndarray, mode: str) -> tuple[Any, ...]:
    if function == "convolve":
        return None, *_of_convolution(cotangent, a, v, mode), None
    # As a convolution with what is turned around and conjugated: of two rows NumPy slides the shorter one.
    other = flip(_conjugate(v))
    if a.shape[0] >= v.shape[0]:
        to_a, to_other = _of_convolution(cotangent, a, other, mode)
    else:
        turned, to_b = _of_convolution(flip(cotangent), v, flip(_conjugate(a)), mode, conjugated=True)
        return None, _conjugate(flip(to_b)), turned, None
    return None, to_a, _conjugate(flip(to_other)), None


def _of_convolution(cotangent: ndarray, a: ndarray, v: ndarray, mode: str, conjugated: bool = False) -> tuple[ndarray, ndarray]:
    """The cotangents of two rows from that of their convolution, or of its conjugate."""
    cotangent = _conjugate(cotangent) if conjugated else cotangent
    n, m = a.shape[0], v.shape[0]
    least = min(n, m)
    first = {"full": 0, "same": (least - 1) // 2, "valid": least - 1}[mode]
    whole = cotangent
    if mode != "full":
        whole = _full((n + m - 1,), 0, cotangent.dtype, cotangent.device)
        whole[first : first + cotangent.shape[0]] = cotangent
    # The whole is at least as long as either row.
    to_a, to_v = slid("convolve", whole, flip(v), "valid"), slid("convolve", whole, flip(a), "valid")
    return to_a, to_v


def _conjugate(x: ndarray) -> ndarray:
    return _ufunc("conjugate", (x,), None) if x.dtype.kind == "c" else x


def _powers(x: ndarray, n: int, increasing: bool) -> ndarray:
    exponents = _iota(n, 0 if increasing else n - 1, 1 if increasing else -1, np.dtype(np.float64), x.device)
    return _ufunc("power", (x[:, None], _cast(exponents, x.dtype)), None)


powers.defvjp(through(_powers))


def _values(p: ndarray, x: ndarray) -> ndarray:
    row = _reshape(x, (x.size,))
    return _reshape(matrices(powers(row, p.shape[0], False), p[:, None])[:, 0], x.shape)


values_of_long.defvjp(through(_values))
