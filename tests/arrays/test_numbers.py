"""Python's and NumPy's numbers beside arrays: those that a dtype has, and those that it has not, for each dtype, against NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft

DTYPES = ["bool", "int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
INTEGERS = [0, -1, 300, 2**40, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**70, -(2**63), -(2**63) - 1, -(2**70), 2**200, 10**400, -(10**400)]
NUMBERS = [
    *INTEGERS, 3.7, np.nan, np.inf, 1j, True, np.int64(300), np.uint8(200), np.uint64(2**63), np.float32(2.5), np.True_, np.complex64(1),
]  # fmt: skip
SEQUENCES = [[300], (-1, 0, 1), [2**63], [2**70], [3.7], [np.nan], [1j], [np.int64(300)], [True]]


def _with_diagonal(module: Any, a: Any, value: Any) -> Any:
    square = module.zeros((3, 3), dtype=a.dtype)
    module.fill_diagonal(square, value)
    return square


def _held(a: np.ndarray, value: int) -> int:
    """An integer of Python's that the dtype holds in which it stands beside an array: what `where` asks for from NumPy 2.5 on."""
    dtype = a.dtype if a.dtype.kind != "b" else np.dtype(np.int64)
    if dtype.kind in "iu" and -(2**63) <= value < 2**64:
        dtype.type(value)
    return value


BESIDE: dict[str, Callable[..., Any]] = {
    "add": lambda m, a, b: a + b,
    "subtract": lambda m, a, b: b - a,
    "multiply": lambda m, a, b: m.multiply(a, b),
    "less": lambda m, a, b: a < b,
    "greater_equal": lambda m, a, b: m.greater_equal(b, a),
    "equal": lambda m, a, b: a == b,
    "not_equal": lambda m, a, b: b != a,
    "maximum": lambda m, a, b: m.maximum(a, b),
    "where": lambda m, a, b: m.where(a == 0, a, b) if m is weft else np.where(a == 0, a, _held(a, b)),
    "clip": lambda m, a, b: m.clip(a, None, b),
    "choose": lambda m, a, b: m.choose([0, 1, 0], [a, b]),
    "sum": lambda m, a, b: m.sum(a, initial=b),
}
"""What is computed with integers of Python's."""

WRITES: dict[str, Callable[..., Any]] = {
    "an element": lambda m, a, v: a.__setitem__(0, v),
    "a slice": lambda m, a, v: a.__setitem__(slice(0, 1), v),
    "a mask": lambda m, a, v: a.__setitem__(a == a, v),
    "indices": lambda m, a, v: a.__setitem__([0, 2], v),
    "in place": lambda m, a, v: a.__iadd__(v),
    "fill": lambda m, a, v: a.fill(v),
    "put": lambda m, a, v: m.put(a, [0, 2], v),
    "place": lambda m, a, v: m.place(a, a == a, v if isinstance(v, (list, tuple)) else [v]),
    "putmask": lambda m, a, v: m.putmask(a, a == a, v),
    "put_along_axis": lambda m, a, v: m.put_along_axis(a, m.asarray([0]), v, 0),
    "fill_diagonal": _with_diagonal,
    "insert": lambda m, a, v: m.insert(a, 0, v),
}
"""What puts numbers into an array, and gives nothing or an array."""


def outcome(module: Any, of: Callable[..., Any], dtype: str, value: Any) -> tuple[str, str]:
    """The dtype and the elements of a result, or the class of its error."""
    a = module.asarray(np.array([0, 1, 5], dtype=dtype))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = of(module, a, value)
    except (TypeError, ValueError, OverflowError) as error:
        # NumPy has classes of TypeError of its own.
        return ("TypeError" if isinstance(error, TypeError) else type(error).__name__, "")
    result = np.asarray(a if result is None else result)
    return str(result.dtype), str(result.tolist())


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("dtype", DTYPES)
def test_integers_of_pythons_beside_arrays(dtype: str, name: str) -> None:
    for value in INTEGERS:
        assert outcome(weft, BESIDE[name], dtype, value) == outcome(np, BESIDE[name], dtype, value), (name, dtype, value)


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_put_into_arrays(dtype: str, name: str) -> None:
    for value in [*NUMBERS, *SEQUENCES]:
        if dtype == "bool" and ((isinstance(value, (list, tuple)) and name in ("an element", "fill")) or name == "in place"):
            # NumPy makes a truth of any object here, and looks at an integer's range before it says that no sum of truths is one.
            continue
        assert outcome(weft, WRITES[name], dtype, value) == outcome(np, WRITES[name], dtype, value), (name, dtype, value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_made_of_integers(dtype: str) -> None:
    def full(m: Any, a: Any, v: Any) -> Any:
        return m.full(2, v, dtype=a.dtype)

    for value in INTEGERS:
        # NumPy refuses a truth of what is none of int64's here, though an assignment takes it.
        if dtype != "bool" or -(2**63) <= value < 2**63:
            assert outcome(weft, full, dtype, value) == outcome(np, full, dtype, value), (dtype, value)


def test_errors_have_numpys_words() -> None:
    with pytest.raises(OverflowError, match=r"^Python integer 300 out of bounds for int8$"):
        weft.zeros(2, dtype="int8") + 300
    with pytest.raises(OverflowError, match=r"^Python int too large to convert to C long$"):
        weft.zeros(2, dtype="int8") + 2**63
    with pytest.raises(OverflowError, match=r"^int too large to convert to float$"):
        weft.zeros(2) + 10**400
