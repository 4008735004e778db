"""Compiled loops of one ufunc over rows, one element after the other in NumPy's order: what `reduce` of operations that are no native
fold, `accumulate`, `reduceat` and `at` run.

Arrays are given as (before, along, behind): the axes in front of the one that is gone along, that one, and those after it.
"""

from __future__ import annotations

import functools
import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np

_TEXTS = {
    "fold": """
def fold(x, out):
    for p in range(x.shape[0]):
        for i in range(x.shape[1]):
            for q in range(x.shape[2]):
                out[p, q] = np.NAME(out[p, q], x[p, i, q])
""",
    "fold_where": """
def fold_where(x, mask, out):
    for p in range(x.shape[0]):
        for i in range(x.shape[1]):
            for q in range(x.shape[2]):
                if mask[p, i, q]:
                    out[p, q] = np.NAME(out[p, q], x[p, i, q])
""",
    "accumulate": """
def accumulate(x, out):
    for p in range(x.shape[0]):
        for q in range(x.shape[2]):
            out[p, 0, q] = x[p, 0, q]
        for i in range(1, x.shape[1]):
            for q in range(x.shape[2]):
                out[p, i, q] = np.NAME(out[p, i - 1, q], x[p, i, q])
""",
    "reduceat": """
def reduceat(x, starts, out):
    for p in range(x.shape[0]):
        for j in range(starts.size):
            end = starts[j + 1] if j + 1 < starts.size else x.shape[1]
            for q in range(x.shape[2]):
                out[p, j, q] = x[p, starts[j], q]
            for i in range(starts[j] + 1, end):
                for q in range(x.shape[2]):
                    out[p, j, q] = np.NAME(out[p, j, q], x[p, i, q])
""",
    "at": """
def at(x, places, values, stride):
    for j in range(places.size):
        old = x[places[j]]
        new = np.NAME(READ, values[j * stride])
        x[places[j]] = PUT
""",
    "at_alone": """
def at_alone(x, places):
    for j in range(places.size):
        old = x[places[j]]
        new = np.NAME(READ)
        x[places[j]] = PUT
""",
}


@functools.cache
def loop_of(kind: str, name: str, read: str = "", put: str = "") -> Callable[..., Any]:
    """The compiled loop of a kind for the ufunc of a name; `at` reads and puts expressions of `old` and `new`."""
    from weft import bfloat16
    from weft._decorators import njit

    text = _TEXTS[kind].lstrip().replace("NAME", name).replace("READ", read).replace("PUT", put)
    file = f"<weft.arrays: {kind} of {name} {read} {put}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {"np": np, "bfloat16": bfloat16}
    exec(compile(text, file, "exec"), scope)
    return njit(scope[kind])


def converted(name: str, source: np.dtype, to: np.dtype) -> str:
    """An expression that converts a number of one type to another as NumPy's casts do: of a complex number the real part is left, or
    whether it is true."""
    if source.kind == "c" and to.kind == "b":
        return f"{name} != 0"
    word = {"b": "np.bool_", "V": "bfloat16"}.get(to.kind, f"np.{to.name}")
    return f"{word}({name}.real)" if source.kind == "c" and to.kind != "c" else f"{word}({name})"


def in_three(array: np.ndarray, axis: int) -> np.ndarray:
    """An array as (before, along, behind) of an axis."""
    shape = array.shape
    return array.reshape(math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
