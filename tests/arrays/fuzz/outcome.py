"""Runs a program on the reference and on a module, statement by statement, and says how they differ."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from arrays.fuzz import reference
from arrays.fuzz.bounded import Array
from arrays.fuzz.bounds import Undetermined
from arrays.fuzz.programs import CHECK, Program, environment


@dataclass
class Outcome:
    """`same`, `differs` or `refused`, why, and at which statement."""

    what: str
    told: str = ""
    line: int = 0


def run(program: Program, module: Any) -> Outcome:
    """What becomes of a program."""
    if core := getattr(module, "_weft", None):
        core._few_at_once(not program.few_wait)
        core._part_bytes(program.part_bytes)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _run(program, module)


def _run(program: Program, module: Any) -> Outcome:
    want, got = environment(reference.xp), environment(module)
    for number, line in enumerate([*program.lines, CHECK]):
        try:
            expected = _error(line, want)
        except Undetermined:
            continue
        error = _error(line, got)
        if _refuses(error) and not isinstance(error, _public(expected)):
            return Outcome("refused", f"{type(error).__name__}: {error} at {line}", number)
        told = _of_errors(expected, error) or _of_numbers(want, got)
        if told is None and line.startswith("check("):
            told = _of_arrays(want, got, line[7:-2])
        if told is not None:
            return Outcome("differs", f"{told} at {line}", number)
    return Outcome("same")


def _error(line: str, env: dict[str, Any]) -> Exception | None:
    try:
        exec(line, env)
    except Undetermined:
        raise
    except Exception as error:
        return error.with_traceback(None)
    return None


def _refuses(error: Exception | None) -> bool:
    """Whether the module says that it does not have this."""
    if isinstance(error, AttributeError):
        return True
    return error is not None and any(kind.__name__ == "WeftError" for kind in type(error).__mro__)


def _public(error: Exception | None) -> type:
    """The class that users catch: not those that NumPy keeps to itself."""
    if error is None:
        return type(None)
    return next(kind for kind in type(error).__mro__ if not kind.__name__.startswith("_") and "._core." not in kind.__module__)


def _of_errors(want: Exception | None, got: Exception | None) -> str | None:
    if _public(want) is _public(got):
        return None
    said = [f"{type(error).__name__}: {error}" if error is not None else "no error" for error in (got, want)]
    return f"{said[0]}, expected {said[1]}"


def _of_numbers(want: dict[str, Any], got: dict[str, Any]) -> str | None:
    """Numbers of Python's and arrays of NumPy's that a program has read."""
    for name, value in want.items():
        if not isinstance(value, Array) and name[0] in "ns" and name[1:].isdigit():
            if name not in got:
                return f"{name}: not there, expected {value!r}"
            if type(got[name]) is not type(value) or not _same(np.asarray(value), np.asarray(got[name])):
                return f"{name}: {got[name]!r}, expected {value!r}"
    return None


def _of_arrays(want: dict[str, Any], got: dict[str, Any], one: str) -> str | None:
    """One array or all, in an order that has nothing to do with when they were made."""
    for name in sorted(name for name, value in want.items() if isinstance(value, Array) and one in ("", name)):
        if name not in got:
            return f"{name}: not there"
        told = difference(want[name], got[name])
        if told is not None:
            return f"{name}: {told}"
    return None


def difference(want: Array, got: Any) -> str | None:
    """How an array differs from the reference's."""
    if (np.dtype(got.dtype), tuple(got.shape)) != (want.dtype, want.shape):
        return f"{got.dtype}{tuple(got.shape)}, expected {want.dtype}{want.shape}"
    elements = np.asarray(got)
    if (elements.dtype, elements.shape) != (want.dtype, want.shape):
        return f"{elements.dtype}{elements.shape} to NumPy, though {got.dtype}{tuple(got.shape)}"
    close = _close(want.v, elements, want.t)
    if np.all(close):
        return None
    place = tuple(int(each) for each in np.argwhere(~close)[0])
    within = f" within {want.t[place]:.3g}" if want.t is not None and want.t[place] else ""
    return f"{elements[place]!r} in place {place} of {want.dtype}{want.shape}, expected {want.v[place]!r}{within}"


def _same(want: np.ndarray, got: np.ndarray) -> bool:
    return want.dtype == got.dtype and want.shape == got.shape and bool(np.all(_close(want, got, None)))


def _close(want: np.ndarray, got: np.ndarray, bound: np.ndarray | None) -> np.ndarray:
    """Which elements are the same, any NaN as any other; or within their bounds."""
    if want.dtype.kind == "c":
        bounds = (None, None) if bound is None else (bound.real, bound.imag)
        return _close(want.real, got.real, bounds[0]) & _close(want.imag, got.imag, bounds[1])
    if want.dtype.kind != "f":
        return np.asarray(want == got)
    same = (np.isnan(want) & np.isnan(got)) | ((want == got) & (np.signbit(want) == np.signbit(got)))
    if bound is None or not bound.any():
        return np.asarray(same)
    off = np.abs(got.astype(np.float64) - want.astype(np.float64))
    return np.asarray(same | (np.isinf(bound) | ((off <= bound) & (bound > 0))))
