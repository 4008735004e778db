"""Every operator over every type and pair of types: NumPy's numbers, arrays and Python's numbers give the types and values of plain Python.

`make test` takes some of the pairs of different types by a fixed rule; ``WEFT_SWEEP=all`` takes all.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from agreement import EXACT, Measure, complex_power
from ledger import Known, Ledger, check
from operands import DTYPES, EVERYTHING, PYTHON, crossed, few, pairs, taken, values
from runs import of_arrays, of_numbers, of_rows

BINARY = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!="]
UNARY = ["-", "+", "~"]
SHIFTS = ("<<", ">>")

LEDGER = Ledger(
    [
        Known(r"ConstantError: division by zero", "refused where it is written out"),
        Known(r"complex.* have no order", "docs/types.md: complex numbers have no order but for np.less and its like"),
    ]
)


def measure(name: str, args: tuple, want: object) -> Measure:
    if isinstance(want, Exception):
        return EXACT
    kind = np.asarray(want).dtype.kind
    if name == "*" and kind == "c":
        # Fused on some processors, which shows in zeros.
        size = abs(np.asarray(want))
        return Measure(1.0, None, size + np.finfo(size.dtype).tiny)
    if name == "abs":
        return Measure(1.0) if np.asarray(args[0]).dtype.kind == "c" else EXACT
    if name == "**" and kind == "c":
        wider = np.complex128 if np.asarray(want).dtype.char == "F" else np.clongdouble
        with np.errstate(all="ignore"):
            exact = np.power(*(np.asarray(a).astype(np.asarray(want).dtype).astype(wider) for a in args)) if len(args) == 2 else None
        return complex_power(args, want, exact)
    return Measure(1.0) if name == "**" and kind == "f" else EXACT


def binary(left: str = "a", right: str = "b", operators: list[str] = BINARY) -> dict[str, str]:
    return {op: f"{left} {op} {right}" for op in operators} | {"divmod": f"divmod({left}, {right})"}


def unary(x: str = "a") -> dict[str, str]:
    return {op: f"{op}{x}" for op in UNARY} | {"abs": f"abs({x})"}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_unary(dtype):
    texts = unary() | {"not": "not a", "bool": "bool(a)"}
    check(of_rows(LEDGER, texts, "a", [(x,) for x in values(dtype)], f"a number of {dtype}", measure))
    check(of_arrays(LEDGER, unary(), "a", (values(dtype),), str(dtype), measure))


@pytest.mark.parametrize(("left", "right"), pairs(), ids=lambda d: str(d))
def test_binary_of_numbers(left, right):
    a, b = values(left), values(right)
    # Integers have no negative powers; shifts by negative counts are nobody's.
    if left.kind in "biu" and right.kind == "i":
        a, b = a[a == a], b[b >= 0]
    if left.kind == "c":
        a, b = a[::3], b[::2]
    check(of_numbers(LEDGER, binary(), "a, b", crossed(a, b), f"{left}, {right}", measure))


@pytest.mark.parametrize(("left", "right"), taken(pairs(), 7), ids=lambda d: str(d))
def test_binary_of_arrays(left, right):
    a, b = few(left), few(right)
    if right.kind == "i":
        b = b[b >= 0]
    check(of_arrays(LEDGER, binary(), "a, b", crossed(a, b), f"{left}, {right}", measure))


@pytest.mark.parametrize(("dtype", "kind"), taken(itertools.product(DTYPES, PYTHON), 3), ids=str)
def test_with_python_numbers(dtype, kind):
    x = few(dtype)
    x = x[x >= 0] if dtype.kind == "i" else x
    rows = [(v, n) for v in x for n in taken(PYTHON[kind], 2) if n not in (63, 100) or dtype.kind != "i"]
    lines = of_rows(LEDGER, binary(), "a, b", rows, f"{dtype}, {kind}", measure)
    lines += of_rows(LEDGER, binary("b", "a"), "a, b", rows, f"{kind}, {dtype}", measure)
    for n in taken(PYTHON[kind], 2):
        written = repr(n).replace("inf", "np.inf")
        lines += of_rows(LEDGER, binary("a", written), "a", [(v,) for v in x], f"{dtype}, {written} written out", measure)
    check(lines)


@pytest.mark.skipif(not EVERYTHING, reason="some deviations show only when everything is swept")
def test_known_deviations_still_show():
    assert not LEDGER.stale()
