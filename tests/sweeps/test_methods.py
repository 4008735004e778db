"""Every method of arrays and every function of NumPy that Weft has, over every type: NumPy's types and values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from agreement import EXACT, Measure
from ledger import Known, Ledger, check
from operands import COMPLEX, DTYPES, EVERYTHING, PYTHON, crossed, few, pairs, taken, values
from runs import of_arrays, of_numbers, of_rows

LEDGER = Ledger(
    [
        Known(r"(min|max)\(.*complex.* have no order", "refused: extremes of complex arrays"),
        Known(r"(var|std)\(.*the variance of complex arrays cannot be compiled", "refused"),
        Known(r"nan_to_num.*complex", "refused"),
        Known(r"np\.round\(a\) of numbers, bool", "NumPy's is a float16"),
        Known(r"arg(min|max)\(.* of complex arrays cannot be compiled", "refused"),
    ]
)
REDUCTIONS = ["sum", "prod", "mean", "var", "std", "min", "max", "argmin", "argmax", "any", "all"]
TYPES = [d.name.replace("bool", "bool_") for d in DTYPES]
# Means and variances of numbers that are added up in another order.
INEXACT = {"mean", "var", "std", "dot", "matmul", "sum", "prod"}


def measure(name: str, args: tuple, want: object) -> Measure:
    return Measure(3.0) if name.split()[0] in INEXACT else EXACT


def arrays(texts: dict[str, str], args: tuple, title: str, parameters: str = "a") -> list[str]:
    return of_arrays(LEDGER, texts, parameters, args, title, measure)


def small(dtype: np.dtype) -> np.ndarray:
    """Numbers whose sums and products are exact."""
    return np.array([1, 0, 1, 1, 0, 1] if dtype.kind == "b" else [3, 1, 2, 2, 5, 1], dtype)


def reductions(dtype: np.dtype, suffix: str = "") -> dict[str, str]:
    return {f"{name}{suffix}": f"a.{name}({suffix.strip()})" for name in REDUCTIONS}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions(dtype):
    lines = arrays(reductions(dtype), (small(dtype),), f"small numbers of {dtype}")
    lines += arrays({name: f"np.{name}(a)" for name in REDUCTIONS}, (small(dtype)[::2],), f"small numbers of {dtype}")
    edges = {name: text for name, text in reductions(dtype).items() if dtype.kind not in "fc" or name not in INEXACT}
    lines += arrays(edges, (values(dtype),), str(dtype))
    numbers = values(dtype)[~np.isnan(values(dtype))]
    lines += arrays({name: f"a.{name}()" for name in ("min", "max", "argmin", "argmax")}, (numbers,), f"{dtype} without NaN")
    check(lines)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_along_an_axis(dtype):
    a = small(dtype).reshape(2, 3)
    lines = arrays(reductions(dtype, " axis=0"), (a,), str(dtype))
    lines += arrays(reductions(dtype, " axis=1"), (a,), str(dtype))
    check(lines)


@pytest.mark.parametrize("dtype", taken(DTYPES, 2), ids=str)
def test_reductions_of_one_number(dtype):
    """Of a 0-d array and of a NumPy number."""
    names = ["sum", "prod", "mean", "min", "max", "any", "all"]
    texts = {name: f"a.{name}()" for name in names}
    lines = arrays(texts, (np.array(small(dtype)[0]),), f"a 0-d array of {dtype}")
    lines += arrays(texts, (small(dtype)[0],), f"a number of {dtype}")
    check(lines)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_conversions(dtype):
    """`astype` and the types' own names, of values that the types have. C leaves open what becomes of others."""
    lines = []
    for name, to in zip(TYPES, DTYPES):
        if dtype in COMPLEX and to not in COMPLEX:
            continue
        a = fitting(values(dtype), to)
        lines += of_numbers(LEDGER, {name: f"a.astype(np.{name})", "call": f"np.{name}(a)"}, "a", (a,), f"{dtype} to {to}")
    for name, to in taken(zip(TYPES, DTYPES), 4):
        if dtype not in COMPLEX or to in COMPLEX:
            lines += arrays({name: f"a.astype(np.{name})"}, (fitting(values(dtype), to),), f"{dtype} to {to}")
    check(lines)


def fitting(x: np.ndarray, to: np.dtype) -> np.ndarray:
    """Those that lie in the range of a type."""
    if to.kind not in "iu" or x.dtype.kind != "f":
        return x
    info = np.iinfo(to)
    with np.errstate(all="ignore"):
        return x[np.isfinite(x) & (x.astype(float) >= float(info.min)) & (x.astype(float) < float(info.max))]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_parts(dtype):
    texts = {f"a.{name}": f"a.{name}" for name in ("real", "imag", "T")}
    texts |= {f"a.{name}()": f"a.{name}()" for name in ("conj", "conjugate", "copy", "flatten", "ravel")}
    texts |= {name: f"np.{name}(a)" for name in ("real", "imag", "conj", "copy", "ravel", "array", "asarray", "ascontiguousarray")}
    lines = arrays(texts, (values(dtype),), str(dtype))
    texts = {name: f"np.{name}(a)" for name in ("real", "imag")} | {f"a.{name}": f"a.{name}" for name in ("real", "imag")}
    lines += of_numbers(LEDGER, texts | {"conj": "a.conj()"}, "a", (values(dtype),), str(dtype))
    lines += arrays({"item": "a.item()"}, (values(dtype)[:1],), f"one {dtype}")
    lines += arrays({"ascontiguousarray": "np.ascontiguousarray(a)"}, (np.array(values(dtype)[1]),), f"a 0-d array of {dtype}")
    lines += arrays({"item": "a.item()"}, (values(dtype)[1],), f"a number of {dtype}")
    check(lines)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_functions_of_one_number(dtype):
    names = ["angle", "nan_to_num", "isposinf", "isneginf", "round", "fix"]
    texts = {name: f"np.{name}(a)" for name in names}
    lines = of_numbers(LEDGER, texts, "a", (values(dtype),), str(dtype), angles)
    if dtype.kind != "c":
        # NumPy's own sinc and i0 are some units off; tests/math holds Weft's to what they promise.
        tame = values(dtype)[:3]
        lines += of_numbers(LEDGER, {name: f"np.{name}(a) + 1" for name in ("sinc", "i0")}, "a", (tame,), str(dtype), angles)
    check(lines)


def angles(name: str, args: tuple, want: object) -> Measure:
    return EXACT if isinstance(want, Exception) else Measure(2.0)


@pytest.mark.parametrize("kind", PYTHON)
def test_parts_of_python_numbers(kind):
    texts = {name: f"np.{name}(a)" for name in ("real", "imag", "conj", "angle")} | {f"a.{name}": f"a.{name}" for name in ("real", "imag")}
    rows = [(n,) for n in PYTHON[kind]]
    check(of_rows(LEDGER, texts, "a", rows, kind, angles))


@pytest.mark.parametrize(("left", "right"), pairs(), ids=lambda d: str(d))
def test_functions_of_two(left, right):
    a, b = crossed(few(left), few(right))
    texts = {"where": "np.where(a == a, a, b)", "isclose": "np.isclose(a, b)"}
    lines = of_numbers(LEDGER, texts, "a, b", (a, b), f"{left}, {right}")
    if left.kind != "c" and right.kind != "c":
        texts = {"low": "np.clip(a, b, None)", "high": "np.clip(a, None, b)"}
        lines += of_numbers(LEDGER, texts, "a, b", (a, b), f"{left}, {right}")
        # Of whole columns NumPy's zeros have other signs.
        lines += of_rows(LEDGER, {"clip": "np.clip(a, b, b)"}, "a, b", list(zip(a, b)), f"{left}, {right}")
    check(lines)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind in "fc"], ids=str)
def test_clips(dtype):
    """Between numbers what equals a bound stays, between arrays it becomes the bound: zeros have signs. NaN may be in a part."""
    a = few(dtype)
    if dtype.kind == "c":
        parts = [-0.0, 0.0, np.nan, 1.0]
        a = np.array([complex(x, y) for x in parts for y in parts[:3]], dtype)
    for low, high in itertools.product(a, a):
        bounds = [(low, high), (np.full_like(a, low), high), (low, np.full_like(a, high)), (np.full_like(a, low), np.full_like(a, high))]
        for pair in bounds:
            with np.errstate(all="ignore"):
                check(of_arrays(LEDGER, {"clip": "np.clip(a, b, c)"}, "a, b, c", (a, *pair), f"{dtype}: {low}, {high}"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_clips_of_python_numbers(dtype):
    """A number of Python's that is clipped has a type that counts."""
    rows = [(n, low) for kind in PYTHON for n in taken(PYTHON[kind], 2) for low in few(dtype)]
    if dtype.kind != "c":
        rows = [row for row in rows if not isinstance(row[0], complex)]
    for kind in PYTHON:
        mine = [row for row in rows if type(row[0]).__name__ == kind]
        if mine:
            check(of_rows(LEDGER, {"clip": "np.clip(a, b, b)", "low": "np.clip(a, b, None)"}, "a, b", mine, f"{kind}, {dtype}"))


@pytest.mark.parametrize(("left", "right"), taken(pairs(), 3), ids=lambda d: str(d))
def test_products(left, right):
    a, b = small(left), small(right)
    texts = {"dot": "np.dot(a, b)", "a.dot": "a.dot(b)", "@": "a @ b", "vecdot": "np.vecdot(a, b)"}
    lines = arrays(texts, (a, b), f"{left}, {right}", "a, b")
    wrapping = {"dot": "np.dot(a, a)", "@": "a @ a"}
    lines += arrays(wrapping, (np.full(40, 11 if left.kind != "b" else 1, left),), f"many of {left}")
    a, b = a.reshape(2, 3), b.reshape(3, 2)
    lines += arrays(
        {"matmul": "a @ b", "matvec": "np.matvec(a, b[:, 0])", "vecmat": "np.vecmat(a[0], b)"}, (a, b), f"{left}, {right}", "a, b"
    )
    check(lines)


@pytest.mark.skipif(not EVERYTHING, reason="some deviations show only when everything is swept")
def test_known_deviations_still_show():
    assert not LEDGER.stale()
