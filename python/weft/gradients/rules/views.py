"""Cotangents of views and of updates: what was looked at gets them where it was looked at, what was written where it was written.

A cotangent of complex numbers that are looked at as pairs of floats, and the other way round, is that of their conjugates: it is
multiplied, not paired, with what changes.
"""

from __future__ import annotations

from typing import Any

from weft._weft import _cast, _fold, _full, _iota, _reshape, _strided, _ufunc, ndarray
from weft.errors import GradientError

__all__ = ["back_of_update", "back_of_view"]


def back_of_view(tape: Any, at: int, cotangent: ndarray, of: ndarray, place: int, cotangents: Any) -> None:
    """Adds the cotangent of a view to that of what it looks at."""
    back = tape.turned_back(at, cotangent)
    if back is not None:
        cotangents.add(place, back)
        return
    repeated = tape.repeated(at)
    if repeated:
        cotangent = _fold("add", cotangent, repeated)
    if cotangent.dtype.kind != of.dtype.kind:
        _add_parts(tape, at, cotangent, of, place, cotangents)
    elif tape.overlaps(at):
        cotangents.add(place, _gathered(tape, at, cotangent, of))
    elif 0 not in cotangent.shape:
        shown = tape.shown(at, cotangents.own(place, of))
        shown += cotangent


def _add_parts(tape: Any, at: int, cotangent: ndarray, of: ndarray, place: int, cotangents: Any) -> None:
    """The same where parts of complex numbers are looked at, or pairs of floats as complex numbers."""
    if tape.overlaps(at):
        raise GradientError("a view of complex numbers' parts that shows some of them twice has no gradient here")
    made = _full(of.shape, 0, of.dtype, of.device)
    if 0 not in cotangent.shape:
        shown = tape.shown(at, made)
        shown[...] = cotangent if cotangent.dtype.kind == "f" else _conjugate(cotangent)
    cotangents.add(place, _conjugate(made) if of.dtype.kind == "c" else made)


def _conjugate(x: ndarray) -> ndarray:
    return _ufunc("conjugate", (x,), None)


def _gathered(tape: Any, at: int, cotangent: ndarray, of: ndarray) -> ndarray:
    """The same where points of the view show the same element: each element gets the sum of its points' cotangents."""
    from weft.gradients.rules.scatter import sums_at

    shape, offset, strides = tape.what(at)
    kept = [(n, stride) for n, stride in zip(shape, strides) if stride != 0]
    item = of.dtype.itemsize
    size = of.size
    numbers = _iota(size, 0, 1, "int64", of.device)
    wide = numbers.dtype.itemsize
    if offset % item or any(stride % item for _, stride in kept):
        raise GradientError("a view of bytes that are no whole elements has no gradient here")
    strides = [stride // item * wide for _, stride in kept]
    places = _strided(numbers, tuple(n for n, _ in kept), strides, offset // item * wide)
    return _reshape(sums_at(_reshape(places, (places.size,)), _reshape(cotangent, (cotangent.size,)), size), of.shape)


def back_of_update(tape: Any, at: int, cotangent: ndarray, args: list[ndarray], operands: list[int | None], cotangents: Any) -> None:
    """The value that was written gets the cotangent where it was written, what was there before gets the rest."""
    value = args[1]
    to_base, to_value = operands
    if tape.overlaps(at):
        raise GradientError("what was written to an array that shows some element twice has no gradient")
    if to_value is not None:
        cotangents.add(to_value, _read(tape, at, cotangent, value))
    if to_base is not None:
        rest = cotangent
        if not cotangents.is_own(tape.results(at)[0]):
            rest = _full(cotangent.shape, 0, cotangent.dtype, cotangent.device)
            rest[...] = cotangent
        if 0 not in value.shape:
            shown = tape.shown(at, rest)
            shown[...] = 0
        cotangents.add(to_base, rest, own=True)


def _read(tape: Any, at: int, cotangent: ndarray, value: ndarray) -> ndarray:
    """What a cotangent is where an update wrote."""
    if 0 in value.shape:
        return _full(value.shape, 0, value.dtype, value.device)
    if value.dtype.kind == cotangent.dtype.kind:
        return _copy(tape.shown(at, cotangent))
    pairs = _conjugate(cotangent) if cotangent.dtype.kind == "c" else cotangent
    if cotangent.dtype.kind not in "fc" or value.dtype.kind not in "fc":
        raise GradientError("bits of integers that are written to floats have no gradient")
    shown = _copy(tape.shown(at, _copy(pairs)))
    return _conjugate(shown) if value.dtype.kind == "c" else shown


def _copy(x: ndarray) -> ndarray:
    return _cast(x, x.dtype)
