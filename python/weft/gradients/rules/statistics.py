"""Rules of functions that are formulas of others: interpolation, quantiles, covariances, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _broadcast, _cast, _fold, _full, _iota, _select, ndarray
from weft.arrays._common import array_of, counting_dtype, select, u
from weft.arrays.cumulative import diff, heights
from weft.arrays.gathering import take, take_along_axis
from weft.arrays.joining import concatenate
from weft.arrays.products import matrices
from weft.arrays.searching import searchsorted
from weft.arrays.shapes import moveaxis
from weft.arrays.sorting import argsort, sort
from weft.arrays.statistics import correlations, counted, covariances, middles, parts, sums_of_numbers
from weft.gradients.primitives import Call, through, unseen
from weft.gradients.rules.products import turned
from weft.gradients.rules.subscripts import sums_in

__all__ = ["edges_of"]

_DOUBLE = np.dtype(np.float64)


def _heights(x: ndarray, xp: ndarray, fp: ndarray, left: Any = None, right: Any = None, period: Any = None) -> ndarray:
    if period is not None:
        x, xp = u("remainder", x, period), u("remainder", xp, period)
        order = argsort(xp)
        xp, fp = take(xp, order), take(fp, order)
        xp = concatenate((u("subtract", xp[-1:], period), xp, u("add", xp[:1], period)))
        fp = concatenate((fp[-1:], fp, fp[:1]))
    n = xp.shape[0]
    first, last = (fp[0] if left is None else left), (fp[-1] if right is None else right)
    if n == 1:
        inside = _broadcast(fp[0], x.shape)
    else:
        at = u("subtract", searchsorted(xp, x, "right"), 1)
        at = u("minimum", u("maximum", at, 0), n - 2)
        start, end = take(xp, at), take(xp, u("add", at, 1))
        low, high = take(fp, at), take(fp, u("add", at, 1))
        width = u("subtract", end, start)
        width = select(u("equal", width, 0), _DOUBLE.type(1), width)
        inside = u("add", low, u("multiply", u("divide", u("subtract", high, low), width), u("subtract", x, start)))
    one = inside.dtype.type
    found = select(u("less", x, xp[0]), first if isinstance(first, ndarray) else one(first), inside)
    return select(u("greater", x, xp[-1]), last if isinstance(last, ndarray) else one(last), found)


heights.defvjp(through(_heights))


def _between(ordered: ndarray, place: ndarray, last: Any) -> ndarray:
    """What lies at a place between the elements of sorted rows, of which the last number is `last`."""
    low = unseen(u, "maximum", u("floor", select(u("isnan", place), _DOUBLE.type(0), place)), 0)
    high = unseen(u, "minimum", u("add", low, 1), last)
    part = u("subtract", place, low)
    values = [_picked(ordered, unseen(u, "maximum", each, 0)) for each in (low, high)]
    return u("add", u("multiply", values[0], u("subtract", 1, part)), u("multiply", values[1], part))


def _picked(ordered: ndarray, place: ndarray) -> ndarray:
    """The elements with numbers of each row: numbers of one row of places, or of one for each row."""
    rest = ordered.shape[:-1]
    place = _cast(place, counting_dtype(ordered.device))
    wide = _broadcast(place, (*place.shape[: max(place.ndim - len(rest), 0)], *rest))
    lines = _broadcast(ordered, (*wide.shape[: wide.ndim - len(rest)], *ordered.shape))
    return take_along_axis(lines, wide[..., None], -1)[..., 0]


def _numbers_of(ordered: ndarray) -> ndarray:
    """How many elements of each row are numbers."""
    return _fold("add", u("logical_not", u("isnan", ordered)), (ordered.ndim - 1,), _DOUBLE)


def _wide(rows: ndarray) -> ndarray:
    return _cast(rows, np.dtype(np.complex128) if rows.dtype.kind == "c" else _DOUBLE)


def _where_known(found: ndarray, rows: ndarray) -> ndarray:
    """NaN, which does not change, of rows that have one."""
    lost = _fold("logical_or", u("isnan", rows), (rows.ndim - 1,))
    return select(lost, found.dtype.type(np.nan), found)


def _middles(function: str, rows: ndarray) -> ndarray:
    ordered = _wide(sort(rows, -1))
    if function.startswith("nan"):
        last = unseen(u, "subtract", unseen(_numbers_of, ordered), 1.0)
        return _between(ordered, u("multiply", last, 0.5), last)
    last = rows.shape[-1] - 1.0
    return _where_known(_between(ordered, _full((), last / 2, _DOUBLE, rows.device), last), rows)


middles.defvjp(through(_middles))


@middles.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    """There are more rows."""
    return [middles(call.args[0], operands[0])]


def _parts(function: str, rows: ndarray, each: Any, method: str, weights: ndarray | None) -> ndarray:
    ordered, skips, n = _wide(sort(rows, -1)), function.startswith("nan"), rows.shape[-1]
    if weights is not None:
        # It is an element: the first that is it.
        found = unseen(parts, function, rows, each, method, weights)
        is_it = u("equal", ordered, _wide(found)[..., None])
        place = unseen(_first_true, is_it)
        return _picked(ordered, place) if skips else _where_known(_picked(ordered, place), rows)
    last = unseen(u, "subtract", unseen(_numbers_of, ordered), 1.0) if skips else n - 1.0
    if method == "linear":
        share = each if isinstance(each, ndarray) else _full((), each, _DOUBLE, rows.device)
        share = u("divide", share, 100.0) if function.endswith("percentile") else share
        share = share if share.device == rows.device else share.to(rows.device)
        share = share[(Ellipsis, *(None,) * (rows.ndim - 1))] if share.ndim and skips else share
        place = u("multiply", _cast(share, _DOUBLE), last)
    else:
        place = unseen(_places_of_parts, function, each, method, rows, last)
    place = _for_rows(place, rows.ndim - 1, skips)
    found = _between(ordered, place, last)
    return found if skips else _where_known(found, rows)


def _for_rows(place: ndarray, rank: int, by_rows: bool) -> ndarray:
    return place if by_rows or place.ndim == 0 else place[(slice(None), *(None,) * rank)]


def _first_true(flags: ndarray) -> ndarray:
    from weft.arrays.reductions import argmax

    return argmax(flags, -1)


def _places_of_parts(function: str, each: Any, method: str, rows: ndarray, last: Any) -> ndarray:
    """Where between sorted elements a method looks: what it finds between the numbers 0, 1, 2, …"""
    numbers = _iota(rows.shape[-1], 0, 1, _DOUBLE, rows.device)
    if not isinstance(last, ndarray):
        return parts(function, numbers, each, method, None)
    lost = _full((), np.nan, _DOUBLE, rows.device)
    return parts(function, _select(u("less_equal", numbers, last[..., None]), numbers, lost), each, method, None)


parts.defvjp(through(_parts))


@parts.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray] | None:
    """There are more rows, if nothing else is another for each value."""
    function, rows, each, method, weights = call.args
    given = {id(array): operand for array, operand in zip(call.arrays, operands)}
    if weights is not None or given.get(id(each)) is not None:
        return None
    found = parts(function, given[id(rows)], each, method, None)
    return [moveaxis(found, 1, 0) if isinstance(each, ndarray) and each.ndim else found]


def _covariances(variables: ndarray, less: int, dtype: Any, fweights: ndarray | None, aweights: ndarray | None) -> ndarray:
    weights = None
    for each in (fweights, aweights):
        if each is not None:
            each = _cast(each, _DOUBLE)
            weights = each if weights is None else u("multiply", weights, each)
    count = variables.shape[1]
    if weights is None:
        total: Any = count
        middle = u("divide", _fold("add", variables, (1,)), count)
        factor: Any = max(count - less, 0)
    else:
        total = _fold("add", weights, (0,))
        middle = u("divide", _fold("add", u("multiply", variables, weights), (1,)), total)
        if less == 0:
            factor = total
        elif aweights is None:
            factor = u("subtract", total, less)
        else:
            squares = _fold("add", u("multiply", weights, _cast(aweights, _DOUBLE)), (0,))
            factor = u("subtract", total, u("divide", u("multiply", less, squares), total))
    off = u("subtract", variables, middle[:, None])
    weighed = off if weights is None else u("multiply", off, weights)
    other = turned(weighed)
    other = u("conjugate", other) if other.dtype.kind == "c" else other
    found = u("divide", matrices(off, other), factor)
    return found if variables.shape[0] > 1 else found[0, 0]


covariances.defvjp(through(_covariances))


def _correlations(variables: ndarray, dtype: Any) -> ndarray:
    found = _covariances(variables, 1, None, None, None)
    if variables.shape[0] == 1:
        return u("divide", found, found)
    places = np.arange(variables.shape[0])
    sizes = found[places, places]
    sizes = u("sqrt", sizes.real if sizes.dtype.kind == "c" else sizes)
    return u("divide", u("divide", found, sizes[:, None]), sizes)


correlations.defvjp(through(_correlations))


@sums_of_numbers.defvjp
def _(cotangent: ndarray, result: ndarray, row: ndarray, weights: ndarray | None, minlength: int) -> tuple[Any, ...]:
    return None, None if weights is None else take(cotangent, row), None


def edges_of(a: ndarray, arguments: dict[str, Any]) -> ndarray:
    """The edges of a histogram's bins: those given, or so many between the least and the greatest element."""
    from weft.arrays.ranges import linspace

    bins = arguments["bins"]
    if isinstance(bins, ndarray):
        return bins
    if "low" in arguments:
        first, last = arguments["low"], arguments["high"]
        if first == last:
            first, last = first - 0.5, last + 0.5
        return array_of(linspace(first, last, bins + 1, device=a.device))
    if a.size == 0:
        return linspace(0.0, 1.0, bins + 1, device=a.device)
    first, last = (_fold(name, a, (0,)) for name in ("minimum", "maximum"))
    apart = select(u("equal", first, last), first.dtype.type(0.5), first.dtype.type(0))
    return linspace(u("subtract", first, apart), u("add", last, apart), bins + 1)


def _counted(a: ndarray, arguments: dict[str, Any], words: str, density: bool) -> tuple[ndarray, ndarray]:
    edges, weights = edges_of(a, arguments), arguments.get("weights")
    is_in, place = unseen(_bins_of, a, edges)
    one = weights if weights is not None else _full(a.shape, 1, _DOUBLE if density else np.dtype(np.int64), a.device)
    one = _cast(one, np.dtype(np.int64)) if one.dtype.kind == "b" else one
    counts = sums_in(_select(is_in, one, _full((), 0, one.dtype, a.device)), (place,), (edges.shape[0] - 1,))
    if density:
        total = _fold("add", counts, (0,))
        counts = u("divide", u("divide", counts, _cast(diff(edges), _DOUBLE)), total)
    return counts, edges


def _bins_of(a: ndarray, edges: ndarray) -> tuple[ndarray, ndarray]:
    """Which elements lie in a bin, and in which."""
    count = edges.shape[0] - 1
    place = u("subtract", searchsorted(edges, a, "right"), 1)
    place = _select(u("equal", a, edges[-1]), _full((), count - 1, place.dtype, a.device), place)
    is_in = u("logical_and", u("greater_equal", a, edges[0]), u("less_equal", a, edges[-1]))
    return is_in, u("minimum", u("maximum", place, 0), max(count - 1, 0))


def _of_counts(cotangents: Any, results: Any, a: ndarray, arguments: dict[str, Any], words: str, density: bool) -> tuple[Any, ...]:
    """The rule of `histogram`, whose arrays are among named arguments."""
    names = [name for name in ("bins", "weights") if isinstance(arguments.get(name), ndarray) and arguments[name].dtype.kind in "fV"]

    def formula(a: ndarray, *given: ndarray) -> tuple[ndarray, ndarray]:
        return _counted(a, {**arguments, **dict(zip(names, given))}, words, density)

    back = through(formula)(cotangents, results, a, *(arguments[name] for name in names))
    named: dict[str, Any] = dict.fromkeys(arguments)
    named.update(zip(names, back[1:]))
    return back[0], named, None, None


counted.defvjp(_of_counts)
