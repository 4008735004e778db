"""Pictures between their elements: splines of order 0, 1 and 3, at coordinates, shifted or zoomed.

Zooms and shifts go axis by axis: each is a weighted sum of elements that are taken by index. Coordinates are gone through by one compiled
loop, and so are the recursions that give a spline's coefficients (M. Unser, A. Aldroubi, M. Eden, "B-spline signal processing", 1993).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.arrays import _compiled
from weft.arrays.creation import asarrays
from weft.errors import UnsupportedError
from weft.gradients.primitives import primitive
from weft.scipy.ndimage._common import Output, axis_of, double, extended, for_axes

_MODES = {"nearest": 0, "wrap": 1, "reflect": 2, "grid-mirror": 2, "mirror": 3, "constant": 4, "grid-wrap": 5, "grid-constant": 6}
# A spline's coefficients reach so far: as many elements are added where no recursion is known for an edge.
_PADDED = 12
_POLE = np.sqrt(3.0) - 2.0


def _order(order: int) -> int:
    if not 0 <= order <= 5:
        raise RuntimeError("spline order not supported")
    if order not in (0, 1, 3):
        raise UnsupportedError(f"weft.scipy.ndimage has splines of order 0, 1 and 3, not {order}")
    return order


def _mode(mode: Any) -> int:
    if mode not in _MODES:
        raise RuntimeError("boundary mode not supported")
    return _MODES[mode]


def spline_filter1d(input: Any, order: int = 3, axis: int = -1, output: Any = np.float64, mode: str = "mirror") -> ndarray:
    """The coefficients of the spline through elements along an axis. Orders 0 and 1 have the elements themselves. Computed at once.

    >>> weft.scipy.ndimage.spline_filter1d(weft.asarray([1.0, 1.0, 1.0]))
    array([1., 1., 1.])
    """
    x = weft.asarray(input)
    made = Output(output, x, complex_output=x.dtype.kind == "c")
    code, at = _mode(mode), axis_of(axis, x.ndim)
    if _order(order) < 2 or x.size == 0 or x.shape[at] == 1:
        return made.put(x)
    rows = weft.ascontiguousarray(weft.moveaxis(double(x), at, -1))
    edge = 1 if code in (0, 2) else 2 if code == 5 else 0
    flat = weft.reshape(rows, (-1, x.shape[at]))
    if x.dtype.kind == "c":
        found = weft.empty_like(flat)
        found.real, found.imag = (coefficients(part, edge) for part in (flat.real, flat.imag))
    else:
        found = coefficients(flat, edge)
    return made.put(weft.moveaxis(weft.reshape(found, rows.shape), -1, at))


def spline_filter(input: Any, order: int = 3, output: Any = np.float64, mode: str = "mirror") -> ndarray:
    """The coefficients of the spline through elements along all axes. Order 3 is there. Computed at once.

    >>> weft.scipy.ndimage.spline_filter(weft.ones((2, 2)))
    array([[1., 1.],
           [1., 1.]])
    """
    if not 2 <= order <= 5:
        raise RuntimeError("spline order not supported")
    x = weft.asarray(input)
    made = Output(output, x, complex_output=x.dtype.kind == "c")
    for axis in range(x.ndim):
        x = spline_filter1d(x, order, axis, made.dtype, mode)
    return made.put(x)


@primitive(rules="splines")
def coefficients(rows: ndarray, edge: int) -> ndarray:
    """The coefficients of cubic splines through rows of float64."""
    return _compiled.on_hosts(_coefficients(), rows, edge)


def _coefficients() -> Any:
    """The compiled recursions: of rows, with an edge that mirrors (0), reflects (1) or wraps (2)."""
    return _compiled.function_of(_RECURSION, "x, edge")


_RECURSION = f"""
    found = np.empty((x.shape[0], x.shape[1]))
    z = {float(_POLE)!r}
    n = x.shape[1]
    for row in range(x.shape[0]):
        c = found[row]
        for i in range(n):
            c[i] = x[row, i] * 6.0
        power = z
        if edge == 0:
            last = z ** np.float64(n - 1)
            total = c[0] + last * c[n - 1]
            for i in range(1, n - 1):
                total += power * (c[i] + last * c[n - 1 - i])
                power *= z
            c[0] = total / (1.0 - last * last)
        elif edge == 1:
            whole = z ** np.float64(n)
            first = c[0]
            total = c[0] + whole * c[n - 1]
            for i in range(1, n):
                total += power * (c[i] + whole * c[n - 1 - i])
                power *= z
            c[0] = total * (z / (1.0 - whole * whole)) + first
        else:
            total = c[0]
            for i in range(1, n):
                total += power * c[n - i]
                power *= z
            c[0] = total / (1.0 - power)
        for i in range(1, n):
            c[i] += z * c[i - 1]
        if edge == 0:
            c[n - 1] = (z * c[n - 2] + c[n - 1]) * z / (z * z - 1.0)
        elif edge == 1:
            c[n - 1] *= z / (z - 1.0)
        else:
            power = z
            total = c[n - 1]
            for i in range(n - 1):
                total += power * c[i]
                power *= z
            c[n - 1] = total * (z / (power - 1.0))
        for k in range(n - 1):
            i = n - 2 - k
            c[i] = z * (c[i + 1] - c[i])
    return found
"""


def _filtered(x: ndarray, order: int, mode: str, cval: Any, prefilter: bool) -> tuple[ndarray, int]:
    """The coefficients that are interpolated with, and how many elements were added in front of each axis."""
    if order < 2 or not prefilter:
        return double(x), 0
    added = _PADDED if mode in ("nearest", "grid-constant") else 0
    wide = extended(double(x), [added] * x.ndim, [added] * x.ndim, [mode] * x.ndim, cval) if added else x
    return spline_filter(wide, order, np.complex128 if x.dtype.kind == "c" else np.float64, mode), added


def map_coordinates(
    input: Any, coordinates: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True
) -> ndarray:
    """The values at coordinates, of which there is one row for each axis of the input. Computed at once.

    Order 0 takes the nearest element, 1 a line between two, 3 a cubic spline; `prefilter=False` takes the input for its coefficients.
    RuntimeError for shapes that do not fit and unknown modes.

    >>> weft.scipy.ndimage.map_coordinates(weft.asarray([0.0, 10.0, 20.0]), [[0.5, 1.25]], order=1)
    array([ 5. , 12.5])
    """
    _order(order)
    x, places = asarrays(input, coordinates)
    if places.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    if x.ndim < 1 or places.ndim < 2:
        raise RuntimeError("input and output rank must be > 0")
    if places.shape[0] != x.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    made = Output(output, x, places.shape[1:], x.dtype.kind == "c")
    code = _mode(mode)
    found, added = _filtered(x, order, mode, cval, prefilter)
    rows = weft.reshape(double(places), (x.ndim, -1))
    if x.dtype.kind == "c":
        parts = [at_points(part, rows, order, code, of(cval), added) for part, of in ((found.real, np.real), (found.imag, np.imag))]
        values = parts[0] + 1j * parts[1]
    else:
        values = at_points(found, rows, order, code, float(cval), added)
    return made.put(weft.reshape(values, made.shape), rounded=True)


@primitive(rules="splines")
def at_points(x: ndarray, rows: ndarray, order: int, mode: int, cval: float, added: int) -> ndarray:
    """The values at points, in float64."""
    if x.size == 0:
        return weft.full((rows.shape[1],), cval)
    shape = weft.asarray(np.asarray(x.shape, np.int64))
    flat = weft.reshape(weft.ascontiguousarray(x), (-1,))
    return _compiled.on_hosts(_points(order, x.ndim), flat, shape, weft.ascontiguousarray(rows), mode, float(cval), added)


def _points(order: int, rank: int) -> Any:
    """The compiled loop over points: for each the taps of every axis, then the sum over all combinations of them."""
    text = _AT_POINTS.replace("ORDER", str(order)).replace("TAPS", str(order + 1)).replace("RANK", str(rank))
    return with_mapped(text, "x, shape, rows, mode, cval, added")


def with_mapped(text: str, parameters: str) -> Any:
    """The compiled function of a text that asks where places are."""
    made = _compiled.function_of(text, parameters)
    made.py_func.__globals__.setdefault("mapped", _mapped)
    return made


def _mapped(at, n, mode):
    """Where in an axis a place is: inside of it, or -1 for what is constant. Modes by SciPy's numbers."""
    if mode == 4:
        return -1.0 if at < 0 or at > n - 1 else at
    if mode == 6:
        return at
    if at < 0:
        if mode == 0 or n <= 1:
            return 0.0
        if mode == 1:
            return at + (n - 1) * (np.floor(-at / (n - 1)) + 1.0)
        if mode == 5:
            return at + n * (np.floor((-1.0 - at) / n) + 1.0)
        if mode == 2:
            if at < -2 * n:
                at = 2 * n * np.floor(-at / (2 * n)) + at
            return at + 2 * n if at < -n else (1e-15 if at > -1e-15 else -at) - 1.0
        period = 2 * n - 2
        at = period * np.floor(-at / period) + at
        return at + period if at <= 1 - n else -at
    if at > n - 1:
        if mode == 0:
            return n - 1.0
        if n <= 1:
            return 0.0
        if mode == 1:
            return at - (n - 1) * np.floor(at / (n - 1))
        if mode == 5:
            return at - n * np.floor(at / n)
        if mode == 2:
            at = at - 2 * n * np.floor(at / (2 * n))
            return 2 * n - at - 1.0 if at >= n else at
        period = 2 * n - 2
        at = at - period * np.floor(at / period)
        return period - at if at >= n else at
    return at


_AT_POINTS = """
    found = np.empty(rows.shape[1])
    weights = np.empty((RANK, TAPS))
    places = np.empty((RANK, TAPS), np.int64)
    inner = 4 - 1 if mode == 4 or mode == 1 else mode
    for point in range(rows.shape[1]):
        outside = False
        broken = False
        for axis in range(RANK):
            n = shape[axis]
            at = rows[axis, point] + added
            if mode != 0:
                at = mapped(at, float(n), mode)
            if at <= -1.0 and mode == 4:
                outside = True
            first = np.floor(at + (0.0 if ORDER % 2 == 1 else 0.5)) - ORDER // 2
            t = at - np.floor(at)
            if ORDER == 0:
                weights[axis, 0] = 1.0
            elif ORDER == 1:
                weights[axis, 0] = 1.0 - t
                weights[axis, TAPS - 1] = t
            else:
                s = 1.0 - t
                weights[axis, 1] = (t * t * (t - 2.0) * 3.0 + 4.0) / 6.0
                weights[axis, 2 % TAPS] = (s * s * (s - 2.0) * 3.0 + 4.0) / 6.0
                weights[axis, 0] = s * s * s / 6.0
                weights[axis, TAPS - 1] = 1.0 - weights[axis, 0] - weights[axis, 1] - weights[axis, 2 % TAPS]
            for tap in range(TAPS):
                place = first + tap
                if place < 0.0 or place > n - 1.0:
                    place = -1.0 if mode == 6 else mapped(place, float(n), inner)
                # A coordinate that is no number, or so large that it has lost its place, leads nowhere.
                if not (place >= (-1.0 if mode == 6 else 0.0) and place <= n - 1.0):
                    broken = True
                    place = 0.0
                places[axis, tap] = int(place)
            broken = broken or t != t
        if outside or broken:
            found[point] = cval if outside else np.nan
            continue
        total = 0.0
        for combination in range(TAPS ** RANK):
            rest, weight, index, constant = combination, 1.0, 0, False
            stride = 1
            for back in range(RANK):
                axis = RANK - 1 - back
                tap = rest % TAPS
                rest //= TAPS
                weight *= weights[axis, tap]
                if places[axis, tap] < 0:
                    constant = True
                index += stride * places[axis, tap]
                stride *= shape[axis]
            total += weight * (cval if constant else x[max(index, 0)])
        found[point] = total
    return found
"""


def shift(
    input: Any, shift: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True
) -> ndarray:
    """The picture moved by so many elements along each axis. Computed at once.

    >>> weft.scipy.ndimage.shift(weft.asarray([1.0, 2.0, 3.0]), 1, order=1)
    array([0., 1., 2.])
    """
    x = weft.asarray(input)
    _check_rank(x)
    moves = for_axes(shift, x.ndim)
    lines = [np.arange(n) - float(move) for n, move in zip(x.shape, moves)]
    return _on_lines(x, lines, x.shape, output, order, mode, cval, prefilter)


def zoom(
    input: Any, zoom: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True, *,
    grid_mode: bool = False,
) -> ndarray:  # fmt: skip
    """The picture in another size: so many times as many elements along each axis. Computed at once.

    The middles of the elements at both ends stay where they are, with `grid_mode` the edges of the picture.

    >>> weft.scipy.ndimage.zoom(weft.asarray([0.0, 10.0]), 1.5, order=1)
    array([ 0.,  5., 10.])
    """
    x = weft.asarray(input)
    _check_rank(x)
    factors = for_axes(zoom, x.ndim)
    shape = tuple(round(float(n * factor)) for n, factor in zip(x.shape, factors))
    if all(factor == 1 for factor in factors) and prefilter:
        _order(order), _mode(mode)
        return Output(output, x, shape, x.dtype.kind == "c").put(weft.copy(x))
    if grid_mode and mode in ("constant", "wrap"):
        message = f"It is recommended to use mode = grid-{mode} instead of {mode} when grid_mode is True."
        warnings.warn(message, stacklevel=2)
    lines = []
    for n, wanted in zip(x.shape, shape):
        whole, parts = (n, wanted) if grid_mode else (n - 1, wanted - 1)
        step = whole / parts if parts else 1.0
        lines.append((np.arange(wanted) + 0.5) * step - 0.5 if grid_mode else np.arange(wanted) * step)
    return _on_lines(x, lines, shape, output, order, mode, cval, prefilter)


def _check_rank(x: ndarray) -> None:
    if x.ndim < 1:
        raise RuntimeError("input and output rank must be > 0")


def _on_lines(
    x: ndarray, lines: list[np.ndarray], shape: tuple[int, ...], output: Any, order: int, mode: str, cval: Any, prefilter: bool
) -> ndarray:
    """The values at all combinations of the coordinates of each axis: axis by axis, a weighted sum of elements taken by index."""
    _order(order)
    code = _mode(mode)
    made = Output(output, x, shape, x.dtype.kind == "c")
    if 0 in (*shape, *x.shape):
        return made.put(weft.zeros(shape))
    if code == _MODES["grid-constant"]:
        # There a tap beyond an edge is the constant: by axes that would be weighted twice.
        points = weft.asarray(np.stack(np.meshgrid(*lines, indexing="ij")))
        return made.put(map_coordinates(x, points, made.dtype, order, mode, cval, prefilter))
    found, added = _filtered(x, order, mode, cval, prefilter)
    inside: Any = None
    for axis, line in enumerate(lines):
        n = found.shape[axis]
        weights, places, kept = _taps(line + added, n, order, code)
        along = [None] * axis + [slice(None)] + [None] * (x.ndim - axis - 1)
        total = None
        for tap in range(order + 1):
            part = weft.take(found, weft.asarray(places[tap], device=x.device), axis=axis)
            part = part * weft.asarray(weights[tap], device=x.device)[tuple(along)]
            total = part if total is None else total + part
        found = total
        if not kept.all():
            mask = weft.asarray(kept, device=x.device)[tuple(along)]
            inside = mask if inside is None else inside & mask
    return made.put(found if inside is None else weft.where(inside, found, cval), rounded=True)


def _taps(line: np.ndarray, n: int, order: int, mode: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of coordinates along an axis: the weights and the places of their taps, and whether they are inside."""
    # With the nearest elements beyond, only what taps take is moved to the edge.
    at = line if mode == _MODES["nearest"] else np.asarray([_mapped(float(each), float(n), mode) for each in line])
    first = np.floor(at + (0.0 if order % 2 else 0.5)) - order // 2
    t = at - np.floor(at)
    s = 1 - t
    if order == 0:
        weights = np.ones((1, len(line)))
    elif order == 1:
        weights = np.stack([s, t])
    else:
        middle = [(each * each * (each - 2) * 3 + 4) / 6 for each in (t, s)]
        outer = s * s * s / 6
        weights = np.stack([outer, *middle, 1 - outer - middle[0] - middle[1]])
    inner = _MODES["mirror"] if mode in (_MODES["constant"], _MODES["wrap"]) else mode
    places = np.asarray([[int(_mapped(float(each), float(n), inner)) for each in first + tap] for tap in range(order + 1)])
    return weights, places.reshape(order + 1, len(line)), (at > -1.0) | (mode != _MODES["constant"])
