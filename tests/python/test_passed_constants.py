"""Constants go through calls: written out or a default, they choose axes, flags and branches in the function called."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import njit

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
