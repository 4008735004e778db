"""Every ufunc of NumPy over every type and pair of types: arrays, NumPy scalars, Python numbers and literals give NumPy's types and values.

`make test` takes some of the pairs of different types by a fixed rule; ``WEFT_SWEEP=all`` takes all.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from agreement import COMPLEX_FUNCTIONS, COMPLEX_ULPS, EXACT, OPEN_SIGNS, ULPS, Measure, complex_power
from batches import wanted
from ledger import Known, Ledger, check
from operands import BFLOAT16, DTYPES, EVERYTHING, PYTHON, crossed, few, pairs, taken, values
from runs import of_arrays, of_numbers

# Dates are no type of Weft's; products of whole arrays are swept with the functions of arrays.
LEFT_OUT = {"isnat", "matmul", "matvec", "vecmat", "vecdot"}
# Each once: other names of the same functions have a test in tests/math/test_function_names.py.
UFUNCS = sorted({getattr(np, name).__name__ for name in dir(np) if isinstance(getattr(np, name), np.ufunc)} - LEFT_OUT)
UNARY = [name for name in UFUNCS if getattr(np, name).nin == 1]
# Integers have no negative powers, so that these are swept apart.
POWERS = ["power"]
BINARY = [name for name in UFUNCS if getattr(np, name).nin == 2 and name not in POWERS]

LEDGER = Ledger(
    [
        Known(r"np\.(degrees|radians)\(.*, bfloat16", "of bfloat16 ml_dtypes has deg2rad and rad2deg, but not their other names"),
        Known(
            r"np\.expm1\(a(\[i\]\) in a kernel|\) of numbers), complex(64|128): 9 values, first at 4: .*\(0j\) instead of .*\(-0\+0j\)",
            "of -0, infinities and NaN it is the array API standard's, which has numbers where NumPy has NaN",
        ),
        Known(r"written out: ConstantError: division by zero", "a zero divisor that is written out is refused; NumPy warns"),
    ]
)


def measure(name: str, args: tuple, want: object) -> Measure:
    """How far a ufunc's results may be off."""
    if isinstance(want, (Exception, tuple)):
        return EXACT
    dtype = np.asarray(want).dtype
    whole = len(args) == getattr(np, name).nin
    if dtype.kind == "c" or any(np.asarray(a).dtype.kind == "c" for a in args):
        return of_complex(name, args, want, wide(name, args, dtype) if whole else None)
    if name in ("fmin", "fmax") and dtype.kind == "f":
        # Of zeros of both signs NumPy takes either, by the array's length.
        return Measure(0.01, None, np.finfo(dtype).tiny)
    if name not in ULPS or dtype.kind != "f":
        return EXACT
    # Where terms cancel, an error of a logarithm of a sum is one of its operands.
    beside = np.maximum(abs(np.asarray(args[0])), abs(np.asarray(args[1]))) if whole and name.startswith("logadd") else 0.0
    return Measure(ULPS[name], wide(name, args, dtype) if whole else None, beside)


def of_complex(name: str, args: tuple, want: object, exact: object) -> Measure:
    size = abs(np.asarray(want))
    if name in ("power", "float_power"):
        return complex_power(args, want, exact)
    if name in ("multiply", "square"):
        # Fused on some processors, which shows in zeros.
        return Measure(1.0, None, size + np.finfo(size.dtype).tiny)
    return Measure(COMPLEX_ULPS, exact, open_signs=name in OPEN_SIGNS) if name in COMPLEX_FUNCTIONS else EXACT


def wide(name: str, args: tuple, dtype: np.dtype) -> object:
    """The result in a wider type, of what NumPy converts its operands to."""
    wider = {"e": "d", "f": "d", "d": "g", "F": "D", "D": "G"}.get(dtype.char)
    if wider is None or (dtype.kind != "c" and name == "absolute"):
        return None
    with np.errstate(all="ignore"):
        return getattr(np, name)(*(np.asarray(a).astype(dtype).astype(wider) for a in args))


def calls(names: list[str], *args: str) -> dict[str, str]:
    return {name: f"np.{name}({', '.join(args)})" for name in names}


def natural(x: np.ndarray) -> np.ndarray:
    """Exponents that integers may have."""
    return x[x >= 0] if x.dtype.kind == "i" else x


def arrays(*args) -> list[str]:
    return of_arrays(LEDGER, *args, measure)


def numbers(*args) -> list[str]:
    return of_numbers(LEDGER, *args, measure)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_unary_of_numbers(dtype):
    lines = numbers(calls(UNARY, "a"), "a", (values(dtype),), str(dtype))
    lines += arrays(calls(UNARY, "a"), "a", (np.array(few(dtype)[1]),), f"a 0-d array of {dtype}")
    check(lines)


@pytest.mark.parametrize(("left", "right"), pairs(), ids=lambda d: str(d))
def test_binary_of_numbers(left, right):
    a, b = values(left), values(right)
    lines = numbers(calls(BINARY, "a", "b"), "a, b", crossed(a, b), f"{left}, {right}")
    lines += numbers(calls(POWERS, "a", "b"), "a, b", crossed(a, natural(b)), f"{left}, {right}")
    check(lines)


@pytest.mark.parametrize("dtype", taken(DTYPES, 5), ids=str)
def test_unary_of_arrays(dtype):
    check(arrays(calls(UNARY, "a"), "a", (values(dtype),), str(dtype)))


@pytest.mark.parametrize(("left", "right"), taken(pairs(), 9), ids=lambda d: str(d))
def test_binary_of_arrays(left, right):
    a, b = values(left), values(right)
    lines = arrays(calls(BINARY, "a", "b"), "a, b", crossed(a, b), f"{left}, {right}")
    lines += arrays(calls(POWERS, "a", "b"), "a, b", crossed(a, natural(b)), f"{left}, {right}")
    check(lines)


def test_bfloat16():
    """What `ml_dtypes` has for bfloat16."""
    x = values(BFLOAT16)
    lines = []
    for names, operands, columns in ((UNARY, ("a",), (x,)), (BINARY + POWERS, ("a", "b"), crossed(x[::2], x))):
        texts = calls(names, *operands)
        known = {name: text for name, text in texts.items() if not isinstance(wanted(text, ", ".join(operands), columns), Exception)}
        lines += numbers(known, ", ".join(operands), columns, "bfloat16")
    check(lines)


@pytest.mark.parametrize("kind", PYTHON)
def test_unary_of_python_numbers(kind):
    lines = []
    for n in PYTHON[kind]:
        lines += arrays(calls(UNARY, "a"), "a", (n,), f"the Python number {n!r}")
        lines += arrays(calls(UNARY, written(n)), "", (), f"{n!r} written out")
    check(lines)


def written(number: object) -> str:
    return repr(number).replace("inf", "np.inf")


@pytest.mark.parametrize(("dtype", "kind"), taken(itertools.product(DTYPES, PYTHON), 5), ids=str)
def test_binary_with_python_numbers(dtype, kind):
    lines = []
    for n in taken(PYTHON[kind], 2):
        x = values(dtype)
        beside, before = f"{dtype}, the Python number {n!r}", f"the Python number {n!r}, {dtype}"
        lines += arrays(calls(BINARY + POWERS, "a", "b"), "a, b", (x[-2], n), beside)
        lines += arrays(calls(BINARY + POWERS, "b", "a"), "a, b", (x[-2], n), before)
        lines += arrays(calls(BINARY + POWERS, "a", written(n)), "a", (x[-2],), beside + " written out")
    check(lines)


@pytest.mark.skipif(not EVERYTHING, reason="some deviations show only when everything is swept")
def test_known_deviations_still_show():
    assert not LEDGER.stale()
