"""Python's builtin functions over arrays of every type and rank: the undecorated function's types and values, or a refusal.

NaN goes through `min` and `max` by Python's comparisons, sums stay in the type of the elements, rows are added to rows.
"""

from __future__ import annotations

import numpy as np
import pytest
from agreement import EXACT, Measure, complex_power
from ledger import Known, Ledger, check
from operands import BFLOAT16, DTYPES, EVERYTHING, few, taken, values
from runs import of_arrays
from support import texts

import weft
from weft import njit

UNKNOWN = "refused: lists and iterators of numbers that are counted at run time"
LEDGER = Ledger(
    [
        Known(r"^(list|tuple)\(a\) of", UNKNOWN),
        Known(r"^sum\(a, 1j\) of 1-d.*type complex128 instead of complex", "Python's complex takes NumPy's float64 for a float"),
        Known(r"^(any|all)\(a\[:0\]\) of .-d.* whose truth is not one value", "refused: no rows have no truth to be looked at"),
        Known(r"^(sorted|reversed)\(a\)", UNKNOWN),
        Known(r"complex numbers have no order|of complex arrays cannot be compiled", "refused: order of complex numbers"),
        Known(r"^(int|float|bool|complex)\(a\) of (a 0-d|1-d)", "refused: an array of one element for a number"),
        Known(r"^sum\(a.*\) of .-d.*which cannot be compiled", "refused: sums of rows with a start, and of 16-bit floats"),
        Known(r"^math\.prod\(a.*\) of .-d.*which cannot be compiled", "refused: products of rows"),
        Known(
            r"^(max|min|any|all)\((a|a\[1:\]|a\[::-1\]|a \+ a|a != a)\) of .-d.* whose truth is not one value",
            "refused: one row could be compared",
        ),
    ]
)
SUMS = {
    f"sum{i}": f"sum(a{start})"
    for i, start in enumerate(["", ", 3", ", 2.5", ", True", ", 1j", ", np.int16(4)", ", np.float32(0.5)", ", a[0]"])
}
OTHERS = [
    f"{name}({of})"
    for name in ("max", "min")
    for of in ("a", "a + a", "a[::-1]", "a[1:]", "a[0], a[1]", "(a[0], a[1], a[-1])", "a[0], a[-1], a[1]")
]
OTHERS += [f"{name}({of})" for name in ("any", "all") for of in ("a", "a[:0]", "(a[0], a[1])", "a != a", "()")]
OTHERS += [
    f"{name}(a)" for name in ("len", "abs", "round", "sorted", "reversed", "list", "tuple", "int", "float", "bool", "complex", "math.prod")
]
OTHERS += [
    "divmod(a, a)",
    "pow(a, a)",
    "sum((a, a))",
    "sum((a[0], a[1]))",
    "max(a, a)",
    "min((a, a))",
    "sum(a[:1] + a[1:2])",
    "len(a[1:])",
    "abs(a[1:])",
]
OTHERS += ["math.prod(a, start=2)", "math.prod((a[0], a[1]))"]


def near(name: str, args: tuple, want: object) -> Measure:
    """Powers and magnitudes of complex numbers are as near as the sweeps of operators have them."""
    if isinstance(want, Exception):
        return EXACT
    if name.startswith("pow") and np.asarray(want).dtype.kind == "c":
        return complex_power((args[0], args[0]), want)
    inexact = name.startswith(("pow", "abs")) and np.asarray(want).dtype.kind in "fc"
    return Measure(2.0) if inexact else EXACT


def arrays_of(dtype: np.dtype) -> dict[str, np.ndarray]:
    small = np.array([1, 0, 1, 1, 0, 1] if dtype.kind == "b" else [3, 1, 2, 2, 5, 1], dtype)
    return {
        "1-d of edges": few(dtype) if dtype.kind == "c" else values(dtype),
        "1-d, many": np.full(40, 1 if dtype.kind == "b" else 11, dtype),
        "1-d, backwards": small[::-2],
        "2-d": small.reshape(2, 3),
        "2-d transposed": small.reshape(2, 3).T,
        "3-d": small.reshape(3, 2, 1),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", list(arrays_of(np.dtype(bool))))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_over_arrays(dtype, kind):
    array = arrays_of(dtype)[kind]
    if kind.endswith("edges") or kind.startswith("2-d") or EVERYTHING:
        texts_of = SUMS | {text: text for text in OTHERS}
    else:
        texts_of = dict(list(SUMS.items())[:3]) | {text: text for text in taken(OTHERS, 3)}
    check(of_arrays(LEDGER, texts_of, "a", (array,), f"{kind}, {dtype}", near))


LOOPS = {
    "reversed": "for x in reversed(a):\n        out.append(x)",
    "enumerate": "for i, x in enumerate(a):\n        out.append((i, x))",
    "enumerate from": "for i, x in enumerate(a, 7):\n        out.append((i, x))",
    "zip": "for x, y in zip(a, a[::-1]):\n        out.append((x, y))",
    "zip of uneven": "for x, y, z in zip(a, a[1:], range(3)):\n        out.append((x, y, z))",
    "enumerate of zip": "for i, (x, y) in enumerate(zip(a, a[::2])):\n        out.append((i, x, y))",
    "reversed of range": "for i in reversed(range(len(a))):\n        out.append((i, a[i]))",
}


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("name", LOOPS)
def test_loops(name, rank):
    """Each step is stored in a row of its own, which a list stands for in plain Python."""
    tail = LOOPS[name].split("out.append(")[1].rstrip(")").lstrip("(")
    names = [n.strip() for n in tail.split(",")]
    head = LOOPS[name].split("out.append(")[0]
    stores = "; ".join(f"out[k, {i}] = {n}" for i, n in enumerate(names))
    shape = "" if rank == 1 else ".sum()"
    stores = stores.replace("= x", f"= x{shape}").replace("= y", f"= y{shape}").replace("= a[i]", f"= a[i]{shape}")
    source = f"def f(a, out):\n    k = 0\n    {head}{stores}\n        k += 1\n    return k\n"
    f = texts.function_of(source, {"np": np})
    compiled = njit(f)
    for dtype in taken(DTYPES, 3):
        a = arrays_of(dtype)["1-d, backwards" if rank == 1 else "2-d"]
        got, want = (np.zeros((8, 4), complex if dtype.kind == "c" else float) for _ in range(2))
        assert compiled(a, got) == f(a, want)
        np.testing.assert_array_equal(got, want)


def test_bfloat16():
    """Sums and extremes go one by one, each step rounded."""
    a = np.array([1.0, 256.0, 1.0, 1.0, np.nan, -3.0], BFLOAT16)
    for text in ("sum(a)", "sum(a[:4])", "max(a)", "min(a)", "max(a[4:])", "sum(a, 1)"):
        check(of_arrays(LEDGER, {text: text}, "a", (a,), "bfloat16"))


@pytest.mark.skipif(not EVERYTHING, reason="some deviations show only when everything is swept")
def test_known_deviations_still_show():
    assert not LEDGER.stale()


@pytest.mark.parametrize("name", ["sum", "min", "max", "any", "all"])
def test_0d_arrays_have_no_items(name):
    function = texts.function_of(f"def f(a):\n    return {name}(a)\n", {})
    with pytest.raises(weft.WeftError):
        njit(function)(np.array(3.0))
