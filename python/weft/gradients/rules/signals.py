"""Cotangents of convolutions of several axes, and of filters with feedback."""

from __future__ import annotations

from weft._weft import _cast, _full, _reshape, _ufunc, ndarray
from weft.arrays import _compiled
from weft.arrays.creation import ascontiguousarray
from weft.arrays.joining import concatenate
from weft.arrays.shapes import flip
from weft.gradients.primitives import primitive, through
from weft.scipy.signal import filtered, whole

__all__: list[str] = []


@primitive
def matches(x: ndarray, y: ndarray) -> ndarray:
    """The sums of the products of an array of three axes with the parts of another one that are as large as it."""
    return _compiled.on_hosts(_compiled.function_of(_MATCHES, "x, y"), ascontiguousarray(x), ascontiguousarray(y))


_MATCHES = """    a, b, c = y.shape
    found = np.zeros((x.shape[0] - a + 1, x.shape[1] - b + 1, x.shape[2] - c + 1), x.dtype)
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            for k in range(found.shape[2]):
                total = found[i, j, k]
                for p in range(a):
                    for q in range(b):
                        for r in range(c):
                            total += x[i + p, j + q, k + r] * y[p, q, r]
                found[i, j, k] = total
    return found
"""


@whole.defvjp
def _(g: ndarray, result: ndarray, x: ndarray, y: ndarray) -> tuple[ndarray, ndarray]:
    return matches(g, y), matches(g, x)


@matches.defvjp
def _(g: ndarray, result: ndarray, x: ndarray, y: ndarray) -> tuple[ndarray, ndarray]:
    large, small = (g, y) if g.size >= y.size else (y, g)
    return whole(large, small), matches(x, g)


@primitive
def all_poles(below: ndarray, rows: ndarray) -> ndarray:
    """Along rows what is y[n] = x[n] - below[1] y[n - 1] - below[2] y[n - 2] - …"""
    if 0 in rows.shape:
        return _cast(rows, rows.dtype, True)
    return _compiled.on_hosts(_compiled.function_of(_ALL_POLES, "a, x"), ascontiguousarray(below), ascontiguousarray(rows))


_ALL_POLES = """    found = np.empty(x.shape, x.dtype)
    for row in range(x.shape[0]):
        for i in range(x.shape[1]):
            value = x[row, i]
            for k in range(1, min(a.shape[0], i + 1)):
                value -= a[k] * found[row, i - k]
            found[row, i] = value
    return found
"""


@all_poles.defvjp
def _(g: ndarray, result: ndarray, below: ndarray, rows: ndarray) -> tuple[ndarray, ndarray]:
    back = flip(all_poles(below, flip(g, 1)), 1)
    parts = [_full((1,), 0, below.dtype, below.device)]
    for k in range(1, below.shape[0]):
        products = _ufunc("multiply", (back, _delayed(result, k)), None)
        parts.append(_reshape(_ufunc("negative", (products.sum(),), None), (1,)))
    return concatenate(parts), back


def _delayed(rows: ndarray, k: int) -> ndarray:
    """Rows that come so many places later, behind zeros."""
    n = rows.shape[1]
    if k == 0:
        return rows
    nothing = _full((rows.shape[0], min(k, n)), 0, rows.dtype, rows.device)
    return concatenate((nothing, rows[:, : max(n - k, 0)]), 1)


def _filtered(above: ndarray, below: ndarray, rows: ndarray, held: ndarray) -> tuple[ndarray, ndarray]:
    n, order = rows.shape[1], held.shape[1]
    # What is in the delays is added to what goes into them.
    wide = concatenate((held, _full((held.shape[0], n), 0, held.dtype, held.device)), 1)
    inside = wide[:, :n]
    for k in range(order + 1):
        inside = _ufunc("add", (inside, _ufunc("multiply", (_delayed(rows, k), above[k]), None)), None)
    found = all_poles(below, inside)
    left = []
    for k in range(order):
        value = wide[:, n + k]
        for i in range(k + 1, order + 1):
            at = n - 1 - (i - k - 1)
            if at >= 0:
                value = value + rows[:, at] * above[i] - found[:, at] * below[i]
        left.append(_reshape(value, (rows.shape[0], 1)))
    if not left:
        return found, held
    return found, concatenate(left, 1)


filtered.defvjp(through(_filtered))
