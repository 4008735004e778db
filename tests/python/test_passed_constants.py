"""Constants go through calls: written out or a default, they choose axes, flags and branches in the function called."""

from __future__ import annotations

import linecache
import re

import numpy as np
import pytest

import weft
from weft import cuda, njit

A = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
TAKES_AXIS = [
    "sum",
    "prod",
    "mean",
    "min",
    "max",
    "any",
    "all",
    "std",
    "var",
    "argmin",
    "argmax",
    "cumsum",
    "sort",
    "median",
    "ptp",
    "nansum",
]


def with_axis(name):
    """NumPy's function in one that passes its axis on, and that one called in three ways."""
    of = getattr(np, name)

    def passing(a, axis):
        return of(a, axis=axis)

    def defaulting(a, axis=0):
        return of(a, axis)

    def written(a):
        return passing(a, 0), passing(a, axis=-1), defaulting(a), defaulting(a, 1)

    return defaulting, written


@pytest.mark.parametrize("name", TAKES_AXIS)
def test_an_axis_is_passed_on(name):
    defaulting, written = with_axis(name)
    for got, expected in zip(njit(written)(A), written(A), strict=True):
        np.testing.assert_array_equal(got, expected)
    compiled = njit(defaulting)
    np.testing.assert_array_equal(compiled(A), defaulting(A))
    np.testing.assert_array_equal(compiled(a=A), defaulting(A))


def kept(a, keepdims):
    return np.sum(a, axis=0, keepdims=keepdims)


def over(a, axis=(0, 1), keepdims=True):
    return np.sum(a, axis=axis, keepdims=keepdims)


def chosen(a, side="left"):
    return np.searchsorted(a, 2.0, side=side)


def flags(a, x):
    return kept(a, True), kept(a, keepdims=False), over(a), over(a, 0), chosen(x), chosen(x, "right")


def test_flags_tuples_and_strings_are_passed_on():
    x = np.array([1.0, 2.0, 2.0, 3.0])
    for got, expected in zip(njit(flags)(A, x), flags(A, x), strict=True):
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(njit(over)(A), over(A))
    assert njit(chosen)(x) == chosen(x)


def by_axis(a, axis):
    if axis == 0:
        return a.sum(0)
    elif axis is None:
        return a.sum()
    return a[0, 0]


def by_flag(a, keep):
    b = a if keep else a[0]
    return b


def left_out(a, keep):
    if keep:
        b = a * 2
    return b


def branches(a):
    return by_axis(a, 0), by_axis(a, 1), by_axis(a, None), by_flag(a, True), by_flag(a, False), left_out(a, True)


def test_passed_constants_decide_branches():
    for got, expected in zip(njit(branches)(A), branches(A), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_function_inside_another_reads_and_takes_constants():
    def outer(a):
        axis, keep = 0, True

        def inner(a, n):
            return np.sum(a, axis=axis, keepdims=keep)[0] + a.sum(n)

        return inner(a, 0)

    np.testing.assert_array_equal(njit(outer)(A), outer(A))


def test_what_python_passes_is_known_at_run_time_only():
    compiled = njit(lambda a, axis=0: np.sum(a, axis))
    np.testing.assert_array_equal(compiled(A), A.sum(0))
    with pytest.raises(weft.UnsupportedError, match=r"the axis must be a constant integer(.|\n)*help: write it out"):
        compiled(A, 0)
    with pytest.raises(weft.TypingError, match=r"'keepdims' of sum must be known(.|\n)*a parameter's default"):
        njit(kept)(A, True)
    text = njit(chosen)
    assert text(A[0][:0]) == 0
    with pytest.raises(weft.TypingError, match=r"argument side is a str"):
        text(A[0], "left")


def test_what_needs_no_constants_is_compiled_once():
    @njit
    def scaled(x, n, flag):
        return x * n if flag else x

    @njit
    def calls(x):
        return scaled(x, 2, True) + scaled(x, 3, False) + scaled(x, 4, True)

    assert calls(1.5) == 1.5 * 2 + 1.5 + 1.5 * 4
    (text,) = calls.inspect_ir().values()
    assert (text.count("device @scaled"), text.count("call @scaled")) == (1, 3)

    @njit
    def plain(x, n=3):
        return x * n

    assert plain(2.0) == plain(2.0, 3) == 6.0
    assert len(plain.signatures) == 1


def copies(compiled, name):
    """How many functions of that name there are in the code of all calls."""
    (text,) = compiled.inspect_ir().values()
    return len(re.findall(rf"(?:device|host) @{name}\(", text))


def summed(x, n, axis, deep):
    """Needs two constants: its axis, and `deep`, by which results are of two types. `n` is a number, of three types."""
    part = np.sum(x * n, axis=axis) + (n + 1) * 0.5
    return part[0] - n if deep else part + float(n > 2)


def around(x, n, axis):
    total = 0.0
    for i in range(x.shape[0]):
        total += summed(x[i : i + 1], n, axis, True) * n
    return total


def many(x):
    return (
        summed(x, 1, 0, True) + summed(x, 2, 0, True) + summed(x, 3, 0, True),
        summed(x, 4, 1, True) + summed(x, 5, 1, True),
        summed(x, 6, 0, False) + summed(x, 7, 0, False),
        around(x, 3, 0) + around(x, 2, 0) + around(x, 9, 0),
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_copies_that_differ_in_numbers_alone_are_one(dtype):
    compiled, x = njit(many), (A * 3).astype(dtype)
    for got, expected in zip(compiled(x), many(x), strict=True):
        np.testing.assert_array_equal(got, expected)
    assert copies(compiled, "around") == 1
    assert copies(compiled, "summed") == 3


def shifted(x, n, axis):
    if n > 2:
        return np.sum(x, axis=axis) ** n
    return np.sum(x, axis=axis)[: n + 1] + n


def test_what_a_constant_decides_stays_decided():
    def calls(x):
        return shifted(x, 2, 1), shifted(x, -1, 1), shifted(x, 3, 1), shifted(x, 4, 1), shifted(x, 0, 1)

    for got, expected in zip(njit(calls)(A), calls(A), strict=True):
        np.testing.assert_array_equal(got, expected)


def raising(x, n, axis):
    if x[0, 0] * n > 100:
        raise ValueError("too large")
    return np.sum(x, axis=axis)[0] + x[n, 0]


def test_shared_code_raises_for_the_call_that_it_was_made_by():
    def calls(x, y):
        return raising(x, 0, 0) + raising(x, 1, 0) + raising(y, 1, 0)

    compiled = njit(debug=True)(calls)
    assert compiled(A, A) == calls(A, A)
    assert copies(compiled, "raising") == 1
    with pytest.raises(ValueError, match="too large"):
        compiled(A, A * 100)
    with pytest.raises(IndexError):
        compiled(A[:1], A)


def test_shared_code_in_parallel_loops_and_on_lanes():
    def rows(x):
        out = np.zeros(x.shape[0])
        for i in weft.prange(x.shape[0]):
            out[i] = summed(x[i : i + 1], 3, 0, True) + summed(x[i : i + 1], 4, 0, True)
        return out

    np.testing.assert_array_equal(njit(parallel=True)(rows)(A), rows(A))

    def of(t, n, last):
        return (t[0] if last == 0 else t[last][0]) * n + (n - 1)

    def pairs(x):
        out = np.zeros(x.shape[0])
        for i in weft.prange(x.shape[0]):
            t = (x[i, 0], (x[i, 1],))
            out[i] = of(t, 5, 0) + of(t, 6, 0) + of(t, 7, 1)
        return out

    compiled = njit(parallel=True)(pairs)
    np.testing.assert_array_equal(compiled(A), pairs(A))
    assert copies(compiled, "of") == 2


def test_shared_code_in_kernels():
    @cuda.jit(device=True)
    def backwards(x, i, n, size):
        kept = cuda.local.array(size, np.float64)
        for k in range(size):
            kept[k] = x[i, k] * n
        return kept[size - 1] - kept[0] * (n + 1)

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = backwards(x, i, 2, 3) + backwards(x, i, 5, 3) + backwards(x, i, 7, 2)

    out = np.zeros(A.shape[0])
    kernel[1, 32](A, out)
    a, b, c = A.T
    np.testing.assert_array_equal(out, (c * 2 - a * 2 * 3) + (c * 5 - a * 5 * 6) + (b * 7 - a * 7 * 8))


def sorted_sums(count):
    """A function with so many calls of one that needs a constant."""
    lines = "".join(f"    s += sorted_sum(x, {n}, 0)\n" for n in range(count))
    text = "def sorted_sum(x, n, axis):\n    return np.sum(np.sort(x * n, axis=axis), axis=axis)[0]\n\n"
    text += f"def calls(x):\n    s = 0.0\n{lines}    return s\n"
    file = f"<{count} calls>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    names = {"np": np}
    exec(compile(text, file, "exec"), names)
    return names["calls"]


def test_hundreds_of_calls_compile_one_function():
    calls = sorted_sums(300)
    compiled = njit(calls)
    assert compiled(A) == calls(A)
    assert copies(compiled, "sorted_sum") == 1


def test_thousands_of_constants_are_refused():
    with pytest.raises(
        weft.UnsupportedError, match="'sorted_sum' is called for more than 1000 combinations of argument types and constants"
    ):
        njit(sorted_sums(1001))(A)


def test_constants_do_not_grow_without_end():
    @njit
    def grows(a, n):
        if n == 0:
            return a
        return grows(a, n + 1)[0]

    with pytest.raises(weft.TypingError):
        njit(lambda a: grows(a, 1))(A)


def test_recursion_over_a_constant():
    @njit
    def peel(a, n):
        return a if n == 0 else peel(a[0], n - 1)

    np.testing.assert_array_equal(njit(lambda a: peel(a, 1))(A), A[0])
    assert njit(lambda a: peel(a, 2))(A) == A[0, 0]


def test_defaults_beside_arrays_and_in_signatures():
    @njit
    def between(n=0, a=A, axis=(1,), b=None):
        return np.sum(a, axis=axis) * n

    np.testing.assert_array_equal(between(), A.sum(1) * 0)
    np.testing.assert_array_equal(between(2, A * 2), (A * 2).sum(1) * 2)
    np.testing.assert_array_equal(between(a=A + 1), (A + 1).sum(1) * 0)
    assert "omitted(default=(1,))" in str(between.signatures)


def test_what_one_call_needs_decides_nothing_for_others():
    """A default that must be a constant for one type of argument stays a run-time value for others, whichever comes first."""

    def either(a, k=200):
        if a.ndim == 2:
            return np.sum(a, k - 200)
        return a.astype(np.int16) + k

    row, matrix = np.ones(3), np.ones((2, 3))
    for order in ([row, matrix, row, matrix], [matrix, row, matrix, row]):
        compiled = njit(either)
        for a in order:
            np.testing.assert_array_equal(compiled(a), either(a))
        assert len(compiled.signatures) == 2
