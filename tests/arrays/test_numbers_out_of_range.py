"""Numbers that a dtype does not hold: where NumPy raises, so does Weft, and where NumPy casts, the bits are the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import weft

from .against_numpy import check

INTEGERS = ["u1", "i1", "u2", "i4", "u4", "i8", "u8"]
FLOATS = [300.7, -1.0, -0.5, 127.9, 128.0, 255.9, 1e10, 2.0**63, -(2.0**63), 2.0**64, 1e30, float("nan"), float("inf")]
WHOLE = [-1, 256, 511, 2**31, 2**32, 2**63, 2**64 - 1, 2**64, -(2**63)]
SCALARS = [np.longlong(3), np.longlong(300), np.ulonglong(7), np.intc(-5), np.uintc(2**31)]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_stores(dtype):
    """Of Python's floats and NumPy's, in elements, slices, all of it. What NumPy casts to unsigned types is C's affair."""
    signed = [kind(x) for kind in (np.float64, np.float32) for x in FLOATS] if dtype[0] == "i" else []
    with np.errstate(all="ignore"):
        for value, store in itertools.product(
            [*FLOATS, *signed, *SCALARS], ("a[0] = v", "a[:] = v", "a[1:] = v", "a[...] = v", "a.fill(v)")
        ):
            if dtype[0] == "u" and isinstance(value, np.generic) and value < 0:
                continue
            check(f"{store}\na", a=np.array([1, 2, 3], dtype), v=value)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ufuncs_that_are_told_what_to_compute_in(dtype):
    """Python's integers have to be of the type; comparisons are by value."""
    for value in WHOLE:
        for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
            # (With `where`, too, NumPy 2.4 crashes.)
            for keywords in ("casting='unsafe'", "casting='same_kind', dtype=bool"):
                check(f"xp.{name}(a, v, {keywords})", a=np.array([1, 2, 3], dtype), v=value)
        for keywords in ("casting='unsafe'", f"dtype='{dtype}'", "out=a, casting='unsafe'", "dtype='f8'"):
            check(f"xp.add(a, v, {keywords})", a=np.array([1, 2, 3], dtype), v=value)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_choices(dtype):
    """Of Python's integers `where` takes those that the other's dtype holds, as from NumPy 2.5 on; before, it cut them."""
    a = np.array([1, 2, 3], dtype)
    for value in WHOLE:
        holds = np.iinfo(dtype).min <= value <= np.iinfo(dtype).max
        for choices in ((value, a), (a, value)):
            ours = [weft.asarray(each) if each is a else each for each in choices]
            if holds:
                np.testing.assert_array_equal(weft.asnumpy(weft.where(weft.asarray(a > 1), *ours)), np.where(a > 1, *choices))
            else:
                with pytest.raises(OverflowError):
                    weft.where(weft.asarray(a > 1), *ours)


@pytest.mark.parametrize("dtype", [*INTEGERS, "f2", "f4", "f8", "D"])
@pytest.mark.parametrize("operator", ["+", "-", "*", "//", "%", "**"])
def test_scalars_of_all_of_cs_types(dtype, operator):
    if dtype == "D" and operator in ("//", "%"):
        return
    for value in SCALARS:
        check(f"a {operator} v", operator != "**", a=np.array([1, 2, 3], dtype), v=value)
        check(f"a {operator}= v\na", operator != "**", a=np.array([1, 2, 3], dtype), v=value)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_powers_by_large_integers(dtype):
    for value in (2**64 - 1, 2**64 - 2, 2**63, 2**63 - 1, -(2**63), -1, 2):
        check("a ** v", a=np.array([1.5, 0.5, 1.0, -1.0], dtype), v=value)


@pytest.mark.parametrize("dtype", "?biBfdeDF")
def test_an_element_takes_no_array_with_axes(dtype):
    for value in (np.ones(1), np.ones(2), np.ones(0), np.ones((1, 1)), np.ones((), dtype)):
        for store in ("a[0] = v", "a[0, ...] = v", "a[np.int64(1)] = v", "b[0, 1] = v", "b[0, 0, ...] = v"):
            check(f"{store}\na", a=np.zeros(3, dtype), b=np.zeros((2, 2), dtype), v=value)
