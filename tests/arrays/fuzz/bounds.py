"""How far a result may be from NumPy's: nothing where an operation is correctly rounded and its operands are exact, else a bound.

A bound is an array of the shape of the result with one number per element, or per part of a complex one, in the result's own units. Where
it is infinite nothing is promised. Bounds are first-order ones, doubled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

ULPS = {"f2": 2, "f4": 8, "f8": 8, "c8": 64, "c16": 64}
"""NumPy's elementary functions are right to 4 units in the last place, Weft's to fewer than that. Complex ones are made of several."""

INEXACT = {
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
    "arcsinh", "arccosh", "arctanh", "cbrt", "hypot", "arctan2", "logaddexp", "logaddexp2", "power", "float_power", "deg2rad", "rad2deg",
    "degrees", "radians", "sinc",
}  # fmt: skip
"""Functions of elements that are not correctly rounded."""


class Undetermined(Exception):
    """What a statement means depends on rounding, or on what NumPy leaves open: it is left out of the program."""


def empty(values: np.ndarray) -> np.ndarray:
    """Bounds of exact values."""
    return np.zeros(values.shape, np.complex128 if values.dtype.kind == "c" else np.float64)


def eps(dtype: np.dtype) -> float:
    """The distance of 1 to the next number."""
    return float(np.finfo(dtype).eps)


def ulps(values: np.ndarray, count: float) -> np.ndarray:
    """So many units in the last place of each element; of the larger part of a complex one."""
    wide = np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64))
    least = float(np.finfo(values.dtype).smallest_subnormal)
    bound = count * np.maximum(wide * eps(values.dtype), least)
    bound = np.where(np.isfinite(wide), bound, 0.0)
    return both(bound, values)


def both(bound: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The same bound for both parts of complex values."""
    if values.dtype.kind != "c":
        return bound
    # Not bound + 1j * bound, which is NaN for an infinite one.
    result = np.empty(np.shape(bound), np.complex128)
    result.real = result.imag = np.real(bound)
    return result


def worst(bound: np.ndarray) -> np.ndarray:
    """One real number for both parts."""
    return np.hypot(bound.real, bound.imag) if bound.dtype.kind == "c" else bound


def near_overflow(values: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Where rounding decides whether a result is infinite, nothing is promised; nor where a bound is no number."""
    size = np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64))
    limit = float(np.finfo(values.dtype).max) * 0.99
    flat = worst(bound)
    with np.errstate(all="ignore"):
        lost = np.isnan(flat) | ((flat > 0) & ~np.isnan(size) & ~(size + flat < limit))
    return np.where(lost, both(np.full(values.shape, np.inf), values), bound)


def arithmetic(name: str, result: np.ndarray, values: list[np.ndarray], given: list[np.ndarray]) -> np.ndarray:
    """The bound of a sum, product or quotient of values with bounds."""
    sizes = [np.abs(value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)) for value in values]
    errors = [worst(bound) for bound in given]
    exact = np.broadcast_to(np.logical_and.reduce(np.broadcast_arrays(*[error == 0 for error in errors])), result.shape)
    size = np.abs(result.astype(np.complex128 if result.dtype.kind == "c" else np.float64))
    rounding = size * eps(result.dtype) + float(np.finfo(result.dtype).smallest_subnormal)
    with np.errstate(all="ignore"):
        bound = _PROPAGATED[name](size, sizes, errors)
        if result.dtype.kind == "c" and name in _OF_COMPLEX:
            bound = _OF_COMPLEX[name](values[0], bound, errors[0])
    bound = np.broadcast_to(2 * bound + 2 * rounding, result.shape)
    own = np.zeros(result.shape)
    if result.dtype.kind == "c" and name in ("multiply", "true_divide", "divide", "square", "reciprocal"):
        # NumPy's vector code contracts the products of complex numbers; what is left of a cancelled part is rounding.
        with np.errstate(all="ignore"):
            product = sizes[0] * sizes[-1] if name == "multiply" else sizes[0] ** 2 if name == "square" else size
            own = np.where(np.isfinite(product), 16 * eps(result.dtype) * product, np.inf)
            own = np.broadcast_to(own + float(np.finfo(result.dtype).tiny), result.shape)
    return near_overflow(result, both(np.where(exact, own, bound + own), result))


def _product(_size: Any, sizes: list[np.ndarray], errors: list[np.ndarray]) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return sizes[0] * errors[1] + sizes[1] * errors[0] + errors[0] * errors[1]


def _quotient(size: np.ndarray, sizes: list[np.ndarray], errors: list[np.ndarray]) -> np.ndarray:
    left = sizes[1] - errors[1]
    return np.where(left > 0, (errors[0] + size * errors[1]) / np.where(left > 0, left, 1.0), np.inf)


_PROPAGATED: dict[str, Callable[[np.ndarray, list[np.ndarray], list[np.ndarray]], np.ndarray]] = {
    "add": lambda size, sizes, errors: errors[0] + errors[1],
    "subtract": lambda size, sizes, errors: errors[0] + errors[1],
    "multiply": _product,
    "true_divide": _quotient,
    "divide": _quotient,
    "square": lambda size, sizes, errors: 2 * sizes[0] * errors[0] + errors[0] ** 2,
    "reciprocal": lambda size, sizes, errors: _quotient(size, [np.ones(()), sizes[0]], [np.zeros(()), errors[0]]),
    "sqrt": lambda size, sizes, errors: np.where(sizes[0] > errors[0], errors[0] / np.sqrt(np.abs(sizes[0] - errors[0])), np.inf),
    "exp": lambda size, sizes, errors: size * np.expm1(errors[0]) + 8 * size * 2.0**-52,
    "sin": lambda size, sizes, errors: errors[0] * 1.0,
    "cos": lambda size, sizes, errors: errors[0] * 1.0,
    "tanh": lambda size, sizes, errors: errors[0] * 1.0,
    "arctan": lambda size, sizes, errors: errors[0] * 1.0,
}
PROPAGATED = frozenset(_PROPAGATED)


def _beside_cut(z: np.ndarray, bound: np.ndarray, error: np.ndarray) -> np.ndarray:
    """On which side of the negative axis a number lies decides the sign of its root."""
    return np.where((error > 0) & (z.real < error) & (np.abs(z.imag) <= error), np.inf, bound)


def _growing(z: np.ndarray, _bound: np.ndarray, error: np.ndarray) -> np.ndarray:
    return np.where(error > 0, error * np.cosh(np.abs(z.imag) + error), 0.0)


def _with_poles(_z: np.ndarray, _bound: np.ndarray, error: np.ndarray) -> np.ndarray:
    return np.where(error > 0, np.inf, 0.0)


_OF_COMPLEX = {"sqrt": _beside_cut, "sin": _growing, "cos": _growing, "tanh": _with_poles, "arctan": _with_poles}
"""What is different where numbers are complex."""


def of_sum(values: np.ndarray, given: np.ndarray, axis: Any, dtype: np.dtype, keepdims: bool, where: Any = True) -> np.ndarray:
    """n·eps·Σ|x| and what the elements have: any order of summation."""
    wide = np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64))
    # One part of a complex number is summed whatever the other one is.
    parts = [values.real, values.imag] if values.dtype.kind == "c" else [wide]
    finite = sum(np.where(np.isfinite(part), np.abs(part.astype(np.float64)), 0.0) for part in parts)
    how: dict[str, Any] = {"axis": axis, "keepdims": keepdims, "where": where}
    count = np.sum(np.ones(values.shape), **how)
    total = np.sum(finite, **how)
    bound = np.maximum(count - 1, 0) * eps(dtype) * total + 2 * np.sum(worst(given), **how)
    # With an infinity or NaN in it the sum is one of these, whatever the order.
    settled = np.any(~np.isfinite(wide), **how) & (values.dtype.kind != "c") & (np.sum(worst(given), **how) == 0)
    with np.errstate(all="ignore"):
        return np.where(total * (1 + eps(dtype) * count) < float(np.finfo(dtype).max), np.where(settled, 0.0, bound), np.inf)


def of_product(values: np.ndarray, given: np.ndarray, axis: Any, dtype: np.dtype, keepdims: bool) -> np.ndarray:
    """n·eps of a product; nothing where some order of it leaves the range."""
    wide = np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64))
    how: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    with np.errstate(all="ignore"):
        logs = np.log2(np.where((wide > 0) & np.isfinite(wide), wide, 1.0))
        top, low = np.sum(np.maximum(logs, 0), **how), np.sum(np.minimum(logs, 0), **how)
        count = np.sum(np.ones(values.shape), **how)
        bound = 8 * count * eps(dtype) * np.exp2(top + low)
    info = np.finfo(dtype)
    safe = (top < np.log2(float(info.max)) - 1) & (low > np.log2(float(info.tiny)) + 1) & (np.sum(worst(given), **how) == 0)
    special = np.any(~np.isfinite(wide) | (wide == 0), **how)
    # One factor is the result itself. With zeros and infinities the result is one of these or NaN, whatever the order.
    settled = (np.sum(worst(given), **how) == 0) & ((count <= 1) | (special & safe))
    return np.where(settled & (values.dtype.kind != "c"), 0.0, np.where(safe & ~(special & (values.dtype.kind == "c")), bound, np.inf))


def rounded(bound: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The bound of values that have been cast to their dtype."""
    flat = worst(bound)
    more = np.where(flat > 0, np.where(np.isfinite(values), np.abs(values), 0).astype(np.float64) * eps(values.dtype), 0)
    more = more + np.where(flat > 0, float(np.finfo(values.dtype).smallest_subnormal), 0)
    base = bound.real if bound.dtype.kind == "c" and values.dtype.kind != "c" else bound
    return near_overflow(values, base + both(more, values))
