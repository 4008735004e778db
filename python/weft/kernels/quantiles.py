"""Medians and quantiles of rows: the rows are sorted, and two elements of each are taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _cast, _fold, _from_numpy, _full, _iota, _reshape, _select, _to_numpy, ndarray
from weft.arrays._common import float_dtype, is_half, result_dtype, select, u
from weft.kernels.moving import INDEX, taken
from weft.kernels.radix import sorted_rows

__all__ = ["DISCRETE", "medians", "nanmedians", "nanquantiles", "quantiles"]

DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
"""Methods that give one of the elements."""

_CONSTANTS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


def medians(rows: ndarray) -> ndarray:
    """The middle of the rows along the last axis, real numbers; NaN where there is one, and of no elements."""
    kind, n = float_dtype(rows.dtype), rows.shape[-1]
    if not rows.size:
        return _full(rows.shape[:-1], np.nan, kind, rows.device)
    ordered = sorted_rows(rows)
    return _or_nan(_middle(ordered[..., (n - 1) // 2], ordered[..., n // 2], kind), ordered[..., -1])


def nanmedians(rows: ndarray) -> ndarray:
    """The middle of what is not NaN in rows of floats; NaN where all are."""
    n = rows.shape[-1]
    if not rows.size:
        return _full(rows.shape[:-1], np.nan, rows.dtype, rows.device)
    ordered = sorted_rows(rows)
    count = _fold("add", u("equal", ordered, ordered), (rows.ndim - 1,), INDEX)
    first = u("floor_divide", u("maximum", u("subtract", count, 1), 0), 2)
    second = u("minimum", u("floor_divide", count, 2), n - 1)
    x, y = (taken(ordered, _reshape(at, (*at.shape, 1)), True)[..., 0] for at in (first, second))
    # Where all are NaN the first one is.
    return _or_nan(_middle(x, y, rows.dtype), x)


def _middle(x: ndarray, y: ndarray, kind: np.dtype) -> ndarray:
    """The means of two numbers, or the number that they both are."""
    wide = np.dtype(np.float32) if is_half(kind) else kind
    p, q = _cast(x, wide), _cast(y, wide)
    mean = select(u("equal", p, q), p, u("true_divide", u("add", p, q), 2))
    return mean if wide == kind else _cast(mean, kind)


def _or_nan(found: ndarray, last: ndarray) -> ndarray:
    """What was found, or NaN where the element that is sorted behind all others is."""
    if last.dtype.kind in "biu":
        return found
    return _select(u("not_equal", last, last), _full((), np.nan, found.dtype, found.device), found)


def quantiles(rows: ndarray, q: Any, method: str, per: int) -> ndarray:
    """The quantiles of rows of real numbers along the last axis, by a number or by a row of them, whose axis comes first; `per` is what
    the whole is: 1 or 100. Quantiles that are given by an array are read."""
    parts, every = _parts(q, per)
    n = rows.shape[-1]
    weak = isinstance(parts, float)
    kind = _dtype(rows, parts, method)
    places = [_place(n, float(part) if weak else part, method) for part in every]
    ordered = sorted_rows(rows)
    first = _columns(ordered, [i for i, _, _ in places])
    if method in DISCRETE or kind.kind not in "fV":
        found = first
    else:
        second = _columns(ordered, [j for _, j, _ in places])
        found = _between(first, second, [part for _, _, part in places], None if weak else every.dtype)
    found = found if found.dtype == kind else _cast(found, kind)
    if found.dtype.kind in "fV":
        found = _or_nan(found, ordered[..., -1])
    return found[0] if np.ndim(parts) == 0 else found


def nanquantiles(rows: ndarray, q: Any, method: str, per: int) -> ndarray:
    """The same of what is not NaN in rows of floats, each of which has its own number of elements; NaN where all are."""
    parts, every = _parts(q, per)
    weak = isinstance(parts, float)
    kind = _dtype(rows, parts, method)
    ordered = sorted_rows(rows)
    count = _fold("add", u("equal", ordered, ordered), (rows.ndim - 1,), INDEX)
    count = _cast(u("maximum", count, 1), np.dtype(np.float64) if weak else every.dtype)
    found = _full((every.size, *rows.shape[:-1]), 0, kind, rows.device)
    for number, q_ in enumerate(every):
        i, j, part = _places_of_rows(count, float(q_) if weak else q_, method)
        x = _element(ordered, i)
        if method not in DISCRETE:
            y = _element(ordered, j)
            part, rest = part, u("subtract", 1, part)
            part, rest = (_cast(each, rows.dtype) if weak else each for each in (part, rest))
            step = u("subtract", y, x)
            from_first, from_second = u("add", x, u("multiply", step, part)), u("subtract", y, u("multiply", step, rest))
            x = select(u("less", part, 0.5), from_first, from_second)
        found[number] = x
    return found[0] if np.ndim(parts) == 0 else found


def _element(ordered: ndarray, at: ndarray) -> ndarray:
    """An element of each row."""
    return taken(ordered, _reshape(at, (*at.shape, 1)), True)[..., 0]


def _places_of_rows(n: ndarray, q: Any, method: str) -> tuple[ndarray, ndarray, Any]:
    """What `_place` says, for rows of so many elements each."""
    last = n - 1
    if method == "linear":
        return _parted_rows(last, last * q)
    if method in ("lower", "higher", "nearest"):
        i = _cast(u({"lower": "floor", "higher": "ceil", "nearest": "rint"}[method], last * q), INDEX)
        return i, i, 0.0
    if method in ("inverted_cdf", "closest_observation"):
        at = n * q - 1 - (0 if method == "inverted_cdf" else 0.5)
        i = u("floor", at)
        up = u("not_equal", i, at)
        if method == "closest_observation":
            up = u("logical_or", up, u("equal", u("remainder", i, 2), 0))
        i = _cast(u("maximum", select(up, i + 1, i), 0), INDEX)
        return i, i, 0.0
    if method == "averaged_inverted_cdf":
        i, j, part = _parted_rows(last, n * q - 1)
        return i, j, select(u("equal", part, 0), part * 0 + 0.5, part * 0 + 1)
    if method == "midpoint":
        at = 0.5 * (u("floor", last * q) + u("ceil", last * q))
        i, j, _ = _parted_rows(last, at)
        return i, j, select(u("equal", u("remainder", at, 1), 0), at * 0, at * 0 + 0.5)
    alpha, beta = _CONSTANTS[method]
    return _parted_rows(last, n * q + (alpha + q * (1 - alpha - beta)) - 1)


def _parted_rows(last: ndarray, at: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    i = u("floor", at)
    first = u("maximum", u("minimum", i, last), 0)
    under, over = u("less", at, 0), u("greater_equal", at, last)
    second = select(under, first, u("minimum", first + 1, last))
    return _cast(first, INDEX), _cast(second, INDEX), select(over, at + 1, select(under, at, at - i))


def _parts(q: Any, per: int) -> tuple[Any, np.ndarray]:
    """Quantiles as parts of one, and as a row."""
    parts = _to_numpy(q) if isinstance(q, ndarray) else q
    parts = parts / per if per != 1 else parts
    every = np.atleast_1d(parts)
    if not np.all((every >= 0) & (every <= 1)):
        raise ValueError("quantiles must be in the range [0, 1], percentiles in [0, 100]")
    return parts, every


def _dtype(rows: ndarray, parts: Any, method: str) -> np.dtype:
    if method in DISCRETE:
        return rows.dtype
    if isinstance(parts, float):
        return result_dtype(rows, parts)
    return result_dtype(rows, parts.dtype, *([np.dtype(np.float32)] if parts.ndim else []))


def _columns(ordered: ndarray, places: list[int]) -> ndarray:
    """Elements at the same places of all rows, the places along the first axis."""
    if len(places) == 1:
        return _reshape(ordered[..., places[0]], (1, *ordered.shape[:-1]))
    n = ordered.shape[-1]
    at = _reshape(_from_numpy(np.asarray(places, np.int32), ordered.device), (len(places), 1))
    at = u("add", at, _iota(ordered.size // n, 0, n, INDEX, ordered.device))
    return _reshape(taken(ordered, at), (len(places), *ordered.shape[:-1]))


def _between(x: ndarray, y: ndarray, parts: list[Any], kind: np.dtype | None) -> ndarray:
    """Points on the way from one to the other, counted from the nearer end. Parts without a dtype are as weak as Python's numbers."""
    step = u("subtract", y, x)
    if len(parts) == 1 and kind is None:
        part = float(parts[0])
        return u("subtract", y, u("multiply", step, 1 - part)) if part >= 0.5 else u("add", x, u("multiply", step, part))
    host = np.asarray(parts, kind)
    shape = (len(parts), *(1,) * (x.ndim - 1))
    part, rest = (_reshape(_from_numpy(each, x.device), shape) for each in (host, 1 - host))
    near = _reshape(_from_numpy(host < 0.5, x.device), shape)
    return select(near, u("add", x, u("multiply", step, part)), u("subtract", y, u("multiply", step, rest)))


def _place(n: int, q: Any, method: str) -> tuple[int, int, Any]:
    """The numbers of the two elements that a quantile lies between, and how far from the first it does: R. Hyndman and Y. Fan, "Sample
    quantiles in statistical packages" (1996), as NumPy has it."""
    if method == "linear":
        return _parted(n, (n - 1) * q)
    if method in ("lower", "higher", "nearest"):
        i = int({"lower": np.floor, "higher": np.ceil, "nearest": np.rint}[method]((n - 1) * q))
        return i, i, 0.0
    if method in ("inverted_cdf", "closest_observation"):
        at = n * q - 1 - (0 if method == "inverted_cdf" else 0.5)
        i = int(np.floor(at))
        if at != i or (method == "closest_observation" and i % 2 == 0):
            i += 1
        return max(i, 0), max(i, 0), 0.0
    if method == "averaged_inverted_cdf":
        i, j, part = _parted(n, n * q - 1)
        return i, j, 0.5 if part == 0 else 1.0
    if method == "midpoint":
        at = 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
        i, j, _ = _parted(n, at)
        return i, j, 0.0 if at % 1 == 0 else 0.5
    alpha, beta = _CONSTANTS[method]
    return _parted(n, n * q + (alpha + q * (1 - alpha - beta)) - 1)


def _parted(n: int, at: Any) -> tuple[int, int, Any]:
    if at >= n - 1:
        return n - 1, n - 1, at + 1
    if at < 0:
        return 0, 0, at
    i = int(np.floor(at))
    return i, i + 1, at - i
