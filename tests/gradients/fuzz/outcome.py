"""Differentiates a program on Weft and by differences, and says how they differ."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradients.fuzz import programs
from gradients.fuzz.oracle import Difference, OnWeft, along, double
from gradients.fuzz.programs import OnOracle, Program
from gradients.fuzz.ways import WAYS, Ways, directions, loss_of, moved

NEAR = {"double": (1e-9, 1e-5), "single": (2e-4, 4e-3), "half": (0.05, 0.15)}
"""How near values and derivatives are to the oracle's, relative to the largest and to 1."""

STEP = {"double": 2e-3, "single": 2e-3, "half": 0.03}
"""The largest change of an input: what is not smooth so near is not compared."""


@dataclass
class Outcome:
    """`same`, `differs`, `refused`, or `outside` if too little of it is smooth; and why."""

    what: str
    told: str = ""


def way_of(program: Program) -> str:
    """How a program is differentiated."""
    turn = program.seed % 16
    # What no gradient goes through changes between two gradients.
    if program.precision == "double" and turn in (3, 7, 11) and not any("t.stop" in line for line in program.lines):
        return "second"
    way = "batch" if turn in (5, 13) else WAYS[program.seed % len(WAYS)]
    # Inside of `vmap` and `compile` nobody can look at elements.
    return "grad" if way in ("batch", "compiled") and program.decides else way


def run(program: Program, module: Any, way: str | None = None) -> Outcome:
    """What becomes of a program."""
    if core := getattr(module, "_weft", None):
        core._few_at_once(not program.few_wait)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = OnOracle(program)
        function = programs.compiled(program, module, OnWeft(module))
        ways = Ways(module, function, program.arguments())
        before = [np.array(each) for each in ways.arguments]
        try:
            return _compared(program, way or way_of(program), ways, oracle, before)
        except Exception as error:
            if _refuses(error):
                return Outcome("refused", f"{type(error).__name__}: {error}")
            return Outcome("differs", f"{type(error).__name__}: {error}")


def _refuses(error: BaseException) -> bool:
    """Whether Weft says that it does not have this."""
    names = [kind.__name__ for kind in type(error).__mro__]
    return "InternalError" not in names and ("WeftError" in names or isinstance(error, AttributeError))


def _compared(program: Program, way: str, ways: Ways, oracle: OnOracle, before: list[np.ndarray]) -> Outcome:
    if way == "second":
        return _second(program, ways, program.arguments())
    if way == "batch":
        return _batch(program, ways)
    found = getattr(ways, way)()
    near_values, near = NEAR[program.precision]
    told = None
    if found.values is not None:
        told = _of_values(found.values, oracle.first, near_values)
    if told is None and way not in ("backward", "watched"):
        # A function that writes to its arguments writes to what is followed in their stead.
        for at, (kept, argument) in enumerate(zip(before, ways.arguments)):
            if not np.array_equal(kept, np.asarray(argument)):
                told = f"argument {at} was written to"
    known = 0
    for name, want, got in [] if told else _pairs(program, found, oracle, ways):
        known += int(want.known.sum())
        told = told or _of_derivatives(name, want, np.asarray(got), near)
    if told is not None:
        return Outcome("differs", f"{way}: {told}")
    return Outcome("same" if known else "outside")


def _pairs(program: Program, found: Any, oracle: OnOracle, ways: Ways) -> Iterator[tuple[str, Difference, Any]]:
    """Derivatives by differences, and those found."""
    step = STEP[program.precision]
    if found.changes is not None:
        tangents = directions(ways.arguments)
        for name in oracle.first:
            with np.errstate(all="ignore"):

                def of(by: float, name: str = name) -> np.ndarray:
                    return np.asarray(oracle(moved(program.arguments(), tangents, by))[name])

                yield name, along(of, step), found.changes[name]
        return
    for at, (argument, gradient) in enumerate(zip(oracle.arguments, found.gradients)):
        yield f"x{at}", _gradient(oracle, at, argument, step), gradient


def _gradient(oracle: OnOracle, at: int, argument: np.ndarray, step: float) -> Difference:
    """The gradient of an input, by elements: of a complex number what its real part changes, less i times what its imaginary does."""
    value, known = np.zeros(argument.shape, argument.dtype), np.zeros(argument.shape, bool)
    for place in np.ndindex(argument.shape):
        slopes = []
        for unit in [1.0, 1j] if argument.dtype.kind == "c" else [1.0]:

            def of(by: float, place: tuple[int, ...] = place, unit: complex = unit) -> np.ndarray:
                other = argument.copy("K")
                other[place] += by * unit
                given = [*oracle.arguments]
                given[at] = other
                return np.asarray(loss_of(oracle(given)))

            slopes.append(along(of, step))
        known[place] = all(each.known for each in slopes)
        value[place] = slopes[0].value if len(slopes) == 1 else slopes[0].value - 1j * slopes[1].value
    return Difference(value, known)


def _of_values(got: dict[str, Any], want: dict[str, np.ndarray], near: float) -> str | None:
    if list(got) != list(want):
        return f"the arrays are {list(got)}, expected {list(want)}"
    for name, value in want.items():
        found = np.asarray(got[name])
        if found.shape != value.shape:
            return f"{name} has the shape {found.shape}, expected {value.shape}"
        if not np.allclose(found, value, near, near, equal_nan=True):
            return f"{name} is {found.tolist()}, expected {value.tolist()}"
    return None


def _of_derivatives(name: str, want: Difference, got: np.ndarray, near: float) -> str | None:
    if got.shape != want.value.shape:
        return f"the derivative of {name} has the shape {got.shape}, expected {want.value.shape}"
    scale = 1 + (np.max(np.abs(want.value[want.known])) if want.known.any() else 0)
    off = ~(np.abs(got - want.value) <= near * scale) & want.known
    if not off.any():
        return None
    place = tuple(int(each) for each in np.argwhere(off)[0])
    return f"the derivative of {name}{list(place)} is {got[place]!r}, expected {want.value[place]!r}; of all {got.tolist()}"


def _second(program: Program, ways: Ways, before: list[np.ndarray]) -> Outcome:
    """The product of second derivatives with a direction: forward over backward, and backward over backward, against differences."""
    weft, tangents = ways.weft, directions(ways.arguments)
    gradient = weft.grad(ways.number, ways.numbers)
    _, products = weft.jvp(lambda *args: gradient(*args), ways.arguments, tangents)
    numbers = [np.asarray(each) for each in products]
    is_real = all(each.dtype.kind == "f" for each in before)
    if is_real:

        def along_direction(*args: Any) -> Any:
            return sum((each * change).sum() for each, change in zip(gradient(*args), tangents))

        again = [np.asarray(each) for each in weft.grad(along_direction, ways.numbers)(*ways.arguments)]
        for at, (one, other) in enumerate(zip(numbers, again)):
            if not np.allclose(one, other, 1e-7, 1e-7 * (1 + np.max(np.abs(one), initial=0)), equal_nan=True):
                return Outcome("differs", f"second: of x{at} forward {one.tolist()}, backward {other.tolist()}")

    def of(by: float, at: int) -> np.ndarray:
        return np.asarray(gradient(*[weft.asarray(each) for each in moved(before, tangents, by)])[at])

    known = 0
    for at, product in enumerate(numbers):
        want = along(lambda by, at=at: of(by, at), 2e-3)
        known += int(want.known.sum())
        told = _of_derivatives(f"the gradient of x{at}", want, product, 2e-5)
        if told is not None:
            return Outcome("differs", f"second: {told}")
    return Outcome("same" if known else "outside")


def _batch(program: Program, ways: Ways) -> Outcome:
    """Gradients of several inputs at once, against those of one after the other."""
    weft = ways.weft
    gradient = weft.grad(ways.number, ways.numbers)
    other = [double(each) * 0.75 for each in program.arguments()]
    # One after the other they lie as they do at once: which reshapes are views depends on it.
    first = [np.array(each, order="C") for each in ways.arguments]
    rows = [first, [np.array(part, each.dtype, order="C") for part, each in zip(other, first)]]
    stacked = [weft.asarray(np.stack(column)) for column in zip(*rows)]
    together = [np.asarray(each) for each in weft.vmap(gradient)(*stacked)]
    near = {"double": 1e-9, "single": 2e-4, "half": 0.05}[program.precision]
    for number, row in enumerate(rows):
        alone = [np.asarray(each) for each in gradient(*[weft.asarray(each) for each in row])]
        for at, (one, both) in enumerate(zip(alone, together)):
            scale = near * (1 + np.max(np.abs(one[np.isfinite(one)]), initial=0))
            if not np.allclose(both[number], one, near, scale, equal_nan=True):
                return Outcome("differs", f"batch: of x{at} {both[number].tolist()}, alone {one.tolist()}")
    return Outcome("same")
