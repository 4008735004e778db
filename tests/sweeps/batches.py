"""Many expressions compiled in one function, since each compilation has a cost of its own; those that are refused one by one."""

from __future__ import annotations

import cmath
import functools
import math
import operator
import warnings
from collections.abc import Callable

import numpy as np
from support import texts

import weft
from weft import njit

NAMES = {"np": np, "math": math, "cmath": cmath, "operator": operator, "weft": weft}
COMPILER = njit
# Expressions of one function.
TOGETHER = 16


def function(text: str, parameters: str) -> Callable:
    """A plain function of the parameters that gives the value of an expression."""
    return texts.function_of(f"def f({parameters}):\n    return {text}\n", NAMES)


def evaluated(expressions: list[str], parameters: str, rows: list[tuple], compiler: Callable = COMPILER) -> list[list[object]]:
    """Of each expression its value in compiled code for each row of arguments; the exception, where it is refused."""
    results: list[list[object]] = []
    for start in range(0, len(expressions), TOGETHER):
        results += _together(expressions[start : start + TOGETHER], parameters, rows, compiler)
    return results


def _together(expressions: list[str], parameters: str, rows: list[tuple], compiler: Callable) -> list[list[object]]:
    text = expressions[0] if len(expressions) == 1 else ", ".join(expressions)
    compiled = _compiled(text, parameters, compiler)
    if len(expressions) == 1:
        return [[outcome(compiled, row) for row in rows]]
    try:
        columns = [compiled(*row) for row in rows]
    except Exception:
        # Halves find the one that is refused in few steps.
        half = len(expressions) // 2
        parts = expressions[:half], expressions[half:]
        return [result for part in parts for result in _together(part, parameters, rows, compiler)]
    return [list(column) for column in zip(*columns)]


@functools.lru_cache(maxsize=1000)
def _compiled(text: str, parameters: str, compiler: Callable) -> Callable:
    """One function of a text for arguments of all types, as those of a program are."""
    return compiler(function(text, parameters))


def outcome(f: Callable, row: tuple) -> object:
    """What a function gives for arguments; the exception, where it raises one."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*row)
        except Exception as error:
            return error


def wanted(expression: str, parameters: str, row: tuple) -> object:
    """What plain Python and NumPy give; the exception, where they raise one."""
    return outcome(function(expression, parameters), row)
