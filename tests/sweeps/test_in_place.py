"""Every operator in place, over every type and pair of types, on arrays and views that overlap what is added: NumPy's values and refusals.

`make test` takes some of the pairs of different types by a fixed rule; ``WEFT_SWEEP=all`` takes all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from agreement import differences
from batches import outcome
from operands import DTYPES, PYTHON, few, pairs, taken
from support import texts
from test_operators import measure

from weft import njit
from weft.errors import WeftError

OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"]
# What stands left and right of the operator.
PLACES = {
    "whole": ("c", "b"),
    "row": ("c[1]", "b[0]"),
    "backwards": ("c[::-1]", "b"),
    "itself backwards": ("c", "c[::-1]"),
    "its neighbours": ("c[1:]", "c[:-1]"),
    "its columns": ("c[:, 1:]", "c[:, :-1]"),
    "its row": ("c", "c[0]"),
    "transposed": ("c.T[:]", "b[0, 0]"),
}


def function(place: tuple[str, str], op: str) -> Callable:
    """Changes a copy of `a` and gives it."""
    return texts.function_of(f"def f(a, b):\n    c = a.copy()\n    {place[0]} {op}= {place[1]}\n    return c\n", {"np": np})


def deviation(place: tuple[str, str], op: str, args: tuple) -> str | None:
    f = function(place, op)
    want = outcome(f, args)
    got = outcome(njit(f), args)
    if isinstance(want, TypeError):
        return None if isinstance(got, (TypeError, WeftError)) else f"gives {got!r} where NumPy refuses: {want}"
    return differences(got, want, measure(op, args, want))


def table(dtype: np.dtype, op: str, counts: bool = False) -> np.ndarray:
    """Three rows of three; of numbers that may be counts of bits or exponents, where they are to be."""
    numbers = few(dtype)
    if counts and dtype.kind in "iu":
        numbers = np.array([0, 1, 3], dtype)
    return np.resize(numbers, (3, 3))


@pytest.mark.parametrize(("left", "right"), taken(pairs(), 9), ids=lambda d: str(d))
def test_arrays(left, right):
    wrong = []
    for n, (name, place) in enumerate(PLACES.items()):
        for op in OPERATORS[n % 3 :: 3] if left != right else OPERATORS:
            counts = op in ("<<", ">>", "**")
            itself = "c" in place[1]
            args = table(left, op, counts and itself), table(right, op, counts)
            told = deviation(place, op, args)
            if told:
                wrong.append(f"{name}: {place[0]} {op}= {place[1]} of {left}, {right}: {told}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", PYTHON)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_python_numbers(dtype, kind):
    wrong = []
    n = {"bool": True, "int": 3, "float": 2.5, "complex": 1 - 2j}[kind]
    for op in OPERATORS:
        for place in (("c", "b"), ("c[1:, ::-1]", "b")):
            told = deviation(place, op, (table(dtype, op), n))
            if told:
                wrong.append(f"{place[0]} {op}= {n!r} of {dtype}: {told}")
    assert not wrong, "\n".join(wrong)
