"""A function on a tape, and the way back over it: from cotangents of what was made to those of what it was made of.

Cotangents are as JAX has them: that of a complex number is the number `c` for which the real part of `c * dz` is what changes, so that the
gradient of a real function of complex numbers is the conjugate of the direction of steepest ascent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft._weft import _cast, _fold, _full, _reshape, _tape_begin, _tape_end, _tape_innermost, _to_device, ndarray
from weft.errors import GradientError
from weft.gradients.rules import elementwise, folds, views

__all__ = ["Cotangents", "end_tapes", "sweep", "taken_down", "unstretched"]


def taken_down(arrays: Sequence[ndarray], shapes: bool, call: Callable[[list[ndarray]], Any]) -> tuple[Any, Any]:
    """What a function gives for arrays that a tape follows, and the tape, which has ended. `shapes`: nobody can look at their elements."""
    around = _tape_innermost()
    try:
        given = call(_tape_begin(list(arrays), shapes))
    except BaseException:
        # An interrupt may come as soon as the tape has begun, or before it has.
        end_tapes(around)
        raise
    return given, _tape_end()


def end_tapes(around: int | None) -> None:
    """Ends what tapes there are within one."""
    while _tape_innermost() != around:
        _tape_end()


def unstretched(cotangent: ndarray, shape: tuple[int, ...]) -> ndarray:
    """A cotangent of what was broadcast, summed to the shape that it had before."""
    if cotangent.shape == shape:
        return cotangent
    more = cotangent.ndim - len(shape)
    axes = [*range(more), *(more + axis for axis, n in enumerate(shape) if n == 1 and cotangent.shape[more + axis] != 1)]
    return _reshape(_fold("add", cotangent, axes), shape)


class Cotangents:
    """The cotangents of a tape's places, as far as they are known, each of its value's shape and dtype."""

    def __init__(self) -> None:
        self._of: dict[int, ndarray] = {}
        # Places whose cotangent is an array of this object's alone, which may be added to in place.
        self._own: set[int] = set()

    def take(self, place: int | None) -> ndarray | None:
        """What came to a place, which is then forgotten."""
        return None if place is None else self._of.pop(place, None)

    def get(self, place: int | None) -> ndarray | None:
        """What came to a place."""
        return None if place is None else self._of.get(place)

    def is_own(self, place: int) -> bool:
        """Whether what was taken from a place may be written to."""
        return place in self._own and place not in self._of

    def add(self, place: int, more: ndarray, *, own: bool = False) -> None:
        """Adds to what came to a place. `own`: nobody else has the array."""
        before = self._of.get(place)
        if before is None:
            self._of[place] = more
            if own:
                self._own.add(place)
            else:
                self._own.discard(place)
        elif place in self._own:
            before += more
        else:
            # This sum may lie in another order than its axes, in which nothing can be written through what an entry shows of it.
            self._of[place] = before + more

    def own(self, place: int, value: ndarray) -> ndarray:
        """What came to a place of a value, or zeros, as an array to which may be added."""
        before = self._of.get(place)
        if before is None or place not in self._own:
            made = _full(value.shape, 0, value.dtype, value.device)
            if before is not None:
                made[...] = before
            self._of[place] = made
            self._own.add(place)
        return self._of[place]


def sweep(tape: Any, seeds: Iterable[tuple[int, ndarray]], wanted: Iterable[int]) -> list[ndarray | None]:
    """The cotangents of wanted places that follow from those of others; none where there is no way from one to the other."""
    cotangents = Cotangents()
    for place, cotangent in seeds:
        cotangents.add(place, cotangent)
    wanted = list(wanted)
    kept = set(wanted)
    for at in reversed(range(len(tape))):
        results = tape.results(at)
        given = [cotangents.get(place) if place in kept else cotangents.take(place) for place in results]
        if any(each is not None for each in given):
            _back(tape, at, given, cotangents)
    return [cotangents.get(place) for place in wanted]


def _back(tape: Any, at: int, given: list[ndarray | None], cotangents: Cotangents) -> None:
    """From the cotangents of what an entry made to those of its operands."""
    sort, operands = tape.sort(at), tape.operands(at)
    if sort == "call":
        for place, more in zip(operands, tape.what(at).pull_back(given)):
            if place is not None and more is not None:
                cotangents.add(place, more)
        return
    cotangent = given[0]
    args = tape.args(at)
    if sort == "map":
        _back_of_map(tape, at, cotangent, args, operands, cotangents)
    elif sort == "reshape":
        cotangents.add(operands[0], _reshape(cotangent, args[0].shape))
    elif sort == "moved":
        cotangents.add(operands[0], _to_device(cotangent, args[0].device))
    elif sort == "fold":
        name, axes = tape.what(at)
        cotangents.add(operands[0], folds.pulled_back(name, cotangent, tape.result(at), args[0], axes))
    elif sort in ("view", "strided"):
        views.back_of_view(tape, at, cotangent, args[0], operands[0], cotangents)
    elif sort == "update":
        views.back_of_update(tape, at, cotangent, args, operands, cotangents)
    else:
        raise GradientError(f"there is no gradient of {sort}")


def _back_of_map(tape: Any, at: int, cotangent: ndarray, args: list[ndarray], operands: list[int | None], cotangents: Cotangents) -> None:
    name, part = tape.what(at)
    for number, place in enumerate(operands):
        if place is None:
            continue
        more = elementwise.pulled_back(name, part, number, cotangent, tape.result(at), args)
        if more is not None:
            value = args[number]
            more = unstretched(more, value.shape)
            cotangents.add(place, more if more.dtype == value.dtype else _cast(more, value.dtype))
