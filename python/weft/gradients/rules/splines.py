"""Cotangents of splines: of their coefficients, which solve equations that are the same with rows and columns exchanged, or nearly, and of
their values at points, which are sums of products of weights.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft._weft import _full, _reshape, _ufunc, ndarray
from weft.arrays import _compiled
from weft.arrays._common import array_of, select, u
from weft.arrays.creation import ascontiguousarray
from weft.arrays.gathering import take
from weft.gradients.primitives import Call, through, without_gradient
from weft.scipy.ndimage.interpolation import at_points, coefficients, with_mapped

__all__: list[str] = []


@coefficients.defvjp
def _(g: ndarray, result: ndarray, rows: ndarray, edge: int) -> tuple[ndarray, None]:
    if edge != 0:
        return coefficients(g, edge), None
    # Mirrors have a neighbour of each end count twice: with half of the ends' equations the system is symmetric.
    ends = _full((rows.shape[1],), 1, rows.dtype, rows.device)
    ends[0] = 2
    ends[-1] = 2
    return _ufunc("divide", (coefficients(_ufunc("multiply", (g, ends), None), edge), ends), None), None


@coefficients.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[Any]:
    """There are more rows."""
    rows: Any = operands[0]
    found = coefficients(_reshape(rows, (count * rows.shape[1], rows.shape[2])), call.args[1])
    return [_reshape(found, rows.shape)]


# Where each point is along each axis, as modes have it, and how it moves as the point does; which elements its taps are, -1 for what is
# constant; and whether it leads outside (1) or nowhere (2).
_LOOKED_UP = """
    places = np.empty((rows.shape[0], TAPS, rows.shape[1]), np.int64)
    found = np.empty(rows.shape)
    slopes = np.ones(rows.shape)
    state = np.zeros(rows.shape[1], np.int64)
    inner = 4 - 1 if mode == 4 or mode == 1 else mode
    for point in range(rows.shape[1]):
        for axis in range(rows.shape[0]):
            n = shape[axis]
            at = rows[axis, point] + added
            if mode != 0:
                if mode != 4 and mode != 6:
                    slopes[axis, point] = np.rint((mapped(at + 1e-6, float(n), mode) - mapped(at - 1e-6, float(n), mode)) / 2e-6)
                at = mapped(at, float(n), mode)
            if at <= -1.0 and mode == 4:
                state[point] = 1
            elif at != at and state[point] == 0:
                state[point] = 2
            found[axis, point] = at
            first = np.floor(at + (0.0 if ORDER % 2 == 1 else 0.5)) - ORDER // 2
            for tap in range(TAPS):
                place = first + tap
                if place < 0.0 or place > n - 1.0:
                    place = -1.0 if mode == 6 else mapped(place, float(n), inner)
                if not (place >= (-1.0 if mode == 6 else 0.0) and place <= n - 1.0):
                    state[point] = max(state[point], 2 - state[point])
                    place = 0.0
                places[axis, tap, point] = int(place)
    return found, slopes, places, state
"""


@without_gradient
def _looked_up(rows: ndarray, shape: tuple[int, ...], order: int, mode: int, added: int) -> tuple[ndarray, ...]:
    text = _LOOKED_UP.replace("ORDER", str(order)).replace("TAPS", str(order + 1))
    sizes = array_of(np.asarray(shape, np.int64), device=rows.device)
    return _compiled.on_hosts(with_mapped(text, "rows, shape, mode, added"), ascontiguousarray(rows), sizes, mode, added)


def _weights(t: ndarray, order: int) -> list[ndarray]:
    """Of the taps around a place, of which it is so far behind the one that it follows."""
    if order == 0:
        return [_full(t.shape, 1, t.dtype, t.device)]
    s = u("subtract", 1, t)
    if order == 1:
        return [s, t]
    middle = [
        u("divide", u("add", u("multiply", u("multiply", each, each), u("multiply", u("subtract", each, 2), 3)), 4), 6) for each in (t, s)
    ]
    outer = u("divide", u("multiply", u("multiply", s, s), s), 6)
    return [outer, *middle, u("subtract", u("subtract", u("subtract", 1, outer), middle[0]), middle[1])]


def _values(x: ndarray, rows: ndarray, order: int, mode: int, cval: float, added: int) -> ndarray:
    found, slopes, places, state = _looked_up(rows, x.shape, order, mode, added)
    flat = _reshape(x, (x.size,))
    by_axis = []
    for axis in range(x.ndim):
        # What the place is and how it moves, less the whole part.
        start = u("subtract", u("subtract", found[axis], u("floor", found[axis])), u("multiply", slopes[axis], _still(rows[axis])))
        by_axis.append(_weights(u("add", u("multiply", slopes[axis], rows[axis]), start), order))
    total: Any = None
    for taps in itertools.product(range(order + 1), repeat=x.ndim):
        weight: Any = None
        index: Any = None
        constant: Any = None
        for axis, tap in enumerate(taps):
            at = places[axis, tap]
            is_outside = u("less", at, 0)
            weight = by_axis[axis][tap] if weight is None else u("multiply", weight, by_axis[axis][tap])
            index = at if index is None else u("add", u("multiply", index, x.shape[axis]), at)
            constant = is_outside if constant is None else u("logical_or", constant, is_outside)
        value = select(constant, x.dtype.type(cval), take(flat, u("maximum", index, 0)))
        part = u("multiply", weight, value)
        total = part if total is None else u("add", total, part)
    total = select(u("equal", state, 2), total.dtype.type(np.nan), total)
    return select(u("equal", state, 1), total.dtype.type(cval), total)


@without_gradient
def _still(rows: ndarray) -> ndarray:
    """The same numbers, which do not move."""
    return _ufunc("positive", (rows,), None)


at_points.defvjp(through(_values))
