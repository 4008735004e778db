"""Cotangents of what goes along an axis: sums, products and extremes up to each element, and of runs of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _broadcast, _cast, _full, _iota, _reshape, _select, _to_numpy, _ufunc, ndarray
from weft.arrays import _compiled
from weft.arrays._common import counting_dtype, is_half
from weft.arrays._reducing import runs
from weft.arrays.cumulative import running
from weft.arrays.gathering import take, take_along_axis
from weft.arrays.joining import concatenate
from weft.arrays.shapes import flip, moveaxis
from weft.errors import GradientError
from weft.gradients.primitives import Call, primitive, through, unseen, without_gradient
from weft.gradients.rules.products import fitted
from weft.gradients.rules.subscripts import sums_in

__all__ = ["extremes", "recurred"]


@running.defvjp
def _(cotangent: ndarray, result: ndarray, function: str, a: ndarray, axis: int, kind: np.dtype) -> tuple[Any, ...]:
    if function == "cumsum":
        back = flip(running(function, flip(cotangent, axis), axis, cotangent.dtype), axis)
        return None, fitted(back, a), None, None
    return None, fitted(_of_products(cotangent, a if a.dtype == kind else _cast(a, kind), axis), a), None, None


def _of_products(cotangent: ndarray, a: ndarray, axis: int) -> ndarray:
    """The product of those before an element, times the sum of the cotangents behind it, each times what lies between: zeros are no
    exception."""
    if a.shape[axis] == 0:
        return cotangent
    one, nothing = (_full((*a.shape[:axis], 1, *a.shape[axis + 1 :]), x, a.dtype, a.device) for x in (1, 0))
    start, rest = a[(slice(None),) * axis + (slice(None, -1),)], a[(slice(None),) * axis + (slice(1, None),)]
    before = concatenate((one, running("cumprod", start, axis, a.dtype)), axis)
    factors = flip(concatenate((rest, nothing), axis), axis)
    behind = flip(_along(factors, flip(cotangent, axis), axis), axis)
    return _ufunc("multiply", (before, behind), None)


def _along(factors: ndarray, terms: ndarray, axis: int) -> ndarray:
    """`recurred` along an axis."""
    return moveaxis(recurred(moveaxis(factors, axis, -1), moveaxis(terms, axis, -1)), -1, axis)


@primitive
def recurred(factors: ndarray, terms: ndarray) -> ndarray:
    """Along the last axis the sums s[i] = terms[i] + factors[i] s[i - 1], of which the first is terms[0]."""
    if 0 in terms.shape:
        return _cast(terms, terms.dtype, True)
    dtype = terms.dtype
    wide = np.dtype(np.float32) if is_half(dtype) else dtype
    rows = [_reshape(_cast(each, wide), (terms.size // terms.shape[-1], terms.shape[-1])) for each in (factors, terms)]
    function = _compiled.function_of(_RECURRENCE, "a, b")
    return _cast(_reshape(_compiled.on_hosts(function, *rows), terms.shape), dtype)


_RECURRENCE = """    found = np.empty(b.shape, b.dtype)
    for row in range(b.shape[0]):
        held = b[row, 0]
        found[row, 0] = held
        for i in range(1, b.shape[1]):
            held = b[row, i] + a[row, i] * held
            found[row, i] = held
    return found
"""


@recurred.defvjp
def _(cotangent: ndarray, result: ndarray, factors: ndarray, terms: ndarray) -> tuple[ndarray, ndarray]:
    if 0 in terms.shape:
        return _full(factors.shape, 0, factors.dtype, factors.device), cotangent
    nothing = _full((*terms.shape[:-1], 1), 0, factors.dtype, factors.device)
    later = concatenate((factors[..., 1:], nothing), -1)
    back = flip(recurred(flip(later, -1), flip(cotangent, -1)), -1)
    before = concatenate((nothing, result[..., :-1]), -1)
    return _ufunc("multiply", (back, before), None), back


@running.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    """The new axis is one more in front."""
    function, _, axis, kind = call.args
    return [running(function, operands[0], axis + 1, kind)]


@recurred.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    """The same."""
    given = {id(array): operand for array, operand in zip(call.arrays, operands) if operand is not None}
    return [recurred(*(given.get(id(each), _broadcast(each, (count, *each.shape))) for each in call.args))]


def extremes(name: str, x: ndarray, axis: int) -> ndarray:
    """The greatest or least of the elements up to each, which are elements: the cotangent goes to the first that was it."""
    return take_along_axis(x, _places_of_extremes(name, x, axis), axis) if x.shape[axis] else x


@without_gradient
def _places_of_extremes(name: str, x: ndarray, axis: int) -> ndarray:
    from weft.arrays.ufuncs import UFUNCS

    so_far = moveaxis(UFUNCS[name].accumulate(x, axis), axis, -1)
    now, before = so_far[..., 1:], so_far[..., :-1]
    both_lost = _ufunc("logical_and", (_ufunc("isnan", (now,), None), _ufunc("isnan", (before,), None)), None)
    changes = _ufunc("logical_and", (_ufunc("not_equal", (now, before), None), _ufunc("logical_not", (both_lost,), None)), None)
    counting = counting_dtype(x.device)
    numbers, nothing = _iota(so_far.shape[-1], 0, 1, counting, x.device), _full((), 0, counting, x.device)
    places = concatenate((_full((*now.shape[:-1], 1), 0, counting, x.device), _select(changes, numbers[1:], nothing)), -1)
    return moveaxis(UFUNCS["maximum"].accumulate(places, places.ndim - 1), -1, axis)


def _runs_by_formula(name: str, x: ndarray, axis: int, starts: np.ndarray) -> ndarray:
    """`reduceat` by operations that have gradients: what equals the extreme of its run shares it."""
    starts = _to_numpy(starts) if isinstance(starts, ndarray) else starts
    n = x.shape[axis]
    ends = np.append(starts[1:], n)
    lengths = np.where(ends > starts, ends - starts, 1)
    of_run = np.repeat(np.arange(starts.size), lengths)
    places = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(starts, lengths)
    parts = moveaxis(take(x, places, axis), axis, 0)
    if name != "add":
        if name not in ("maximum", "minimum", "fmax", "fmin"):
            raise GradientError(f"{name}.reduceat has no gradient here")
        parts = _ufunc("multiply", (parts, unseen(_shares, name, x, axis, starts, parts, of_run)), None)
    return moveaxis(sums_in(parts, (of_run,), (starts.size, *parts.shape[1:])), 0, axis)


def _shares(name: str, x: ndarray, axis: int, starts: np.ndarray, parts: ndarray, of_run: np.ndarray) -> ndarray:
    found = moveaxis(runs(name, x, axis, starts), axis, 0)
    is_it = _cast(_ufunc("equal", (parts, take(found, of_run, 0)), None), parts.dtype)
    counts = sums_in(is_it, (of_run,), found.shape)
    return _ufunc("divide", (is_it, take(counts, of_run, 0)), None)


runs.defvjp(through(_runs_by_formula))
