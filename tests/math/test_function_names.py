"""What `math`, `cmath` and NumPy offer is reached by its own name in compiled functions, with its results and types in plain Python."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
from support import texts

import weft
from weft import njit

# Dates are no type of Weft's; what is of whole arrays has a test of its own.
DATES = {"isnat"}
PRODUCTS = {"matmul": (2, 2), "matvec": (2, 1), "vecmat": (1, 2), "vecdot": (1, 1)}
UFUNCS = sorted({name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)} - DATES - set(PRODUCTS))
MATH = [name for name in dir(math) if not name.startswith("_")]
CMATH = [name for name in dir(cmath) if not name.startswith("_")]
OPERANDS = {"f": (0.625, 0.75), "i": (6, 4), "u": (6, 4), "b": (True, False), "c": (0.5 + 0.25j, 0.75 - 0.5j)}


@pytest.fixture(autouse=True)
def quiet():
    """NumPy warns of what it makes of operands outside a function's domain; the values are what counts here."""
    with np.errstate(all="ignore"):
        yield


def calling(name: str, count: int):
    """A function that hands its arguments to what is known as `name`."""
    names = ", ".join("abc"[:count])
    text = f"def f({names}):\n    return {name}({names})\n"
    return texts.function_of(text, {"math": math, "cmath": cmath, "np": np})


def same(got, want):
    """Equal types and nearly equal values."""
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for a, b in zip(got, want):
            same(a, b)
        return
    assert type(got) is type(want), f"{type(got).__name__} instead of {type(want).__name__}"
    eps = max(float(np.finfo(want).eps) if np.asarray(want).dtype.kind in "fc" else 0.0, 2.3e-16)
    np.testing.assert_allclose(got, want, rtol=8 * eps)


def signatures(ufunc: np.ufunc) -> list[str]:
    """Its operands' types, those that Weft has."""
    found = [types.split("->")[0] for types in ufunc.types]
    return sorted({types for types in found if not set(types) & set("gGOmMqQpP")})


@pytest.mark.parametrize("name", UFUNCS)
def test_ufunc(name):
    ufunc = getattr(np, name)
    f = calling(f"np.{name}", ufunc.nin)
    for types in signatures(ufunc):
        args = [np.dtype(c).type(OPERANDS[np.dtype(c).kind][i]) for i, c in enumerate(types)]
        try:
            want = ufunc(*args)
        except TypeError:
            continue
        same(njit(f)(*args), want)


@pytest.mark.parametrize("name", [name for name in UFUNCS if getattr(np, name).nin == 1])
def test_ufunc_of_arrays(name):
    f = calling(f"np.{name}", 1)
    x = np.array([0.25, 0.5, 1.0]) if any("d" in s for s in signatures(getattr(np, name))) else np.array([1, 2, 3])
    got, want = njit(f)(x), f(x)
    for a, b in zip(got, want) if isinstance(want, tuple) else [(got, want)]:
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64])
@pytest.mark.parametrize("name", [name for name in PRODUCTS if hasattr(np, name)])
def test_product_of_arrays(name, dtype):
    rng = np.random.default_rng(1)
    a, b = ((rng.uniform(-1, 1, (5,) * rank) + 1j * rng.uniform(-1, 1, (5,) * rank)) for rank in PRODUCTS[name])
    a, b = (x.astype(dtype) if np.dtype(dtype).kind == "c" else x.real.astype(dtype) for x in (a, b))
    f = calling(f"np.{name}", 2)
    got, want = njit(f)(a, b), f(a, b)
    assert np.asarray(got).dtype == want.dtype
    # An order of summation changes the result by so many roundings of what is added, however small the sum is.
    bound = 20 * np.finfo(dtype).eps * f(np.abs(a), np.abs(b))
    assert np.all(np.abs(got - want) <= bound)


def test_vecdot_of_matrices():
    @njit
    def f(a, b):
        return np.vecdot(a, b)

    a, b = np.arange(12.0).reshape(3, 4), np.arange(12.0)[::-1].reshape(3, 4)
    np.testing.assert_array_equal(f(a, b), np.sum(a * b, axis=-1))
    np.testing.assert_array_equal(f(a, b[0]), np.sum(a * b[0], axis=-1))


ARGUMENTS = [
    (),
    (0.625,),
    (6,),
    (0.625, 1.5),
    (6, 4),
    (1.5, 2),
    (0.5, 1.25, 2.0),
    ((1.0, 2.0),),
    ((1.0, 2.0), (4.0, 6.0)),
    (0.5 + 0.25j,),
    (0.5j, 2 + 1j),
]


@pytest.mark.parametrize("path", [f"math.{name}" for name in MATH] + [f"cmath.{name}" for name in CMATH])
def test_python(path):
    module, name = path.split(".")
    function = getattr({"math": math, "cmath": cmath}[module], name)
    if not callable(function):
        text = calling("complex" if isinstance(function, complex) else "float", 1)
        assert np.isnan(njit(text)(function)) if cmath.isnan(function) else njit(text)(function) == function
        return
    tried = 0
    for args in ARGUMENTS:
        try:
            want = function(*args)
        except (TypeError, ValueError):
            continue
        same(njit(calling(path, len(args)))(*args), want)
        tried += 1
    assert tried


@njit
def named(a, b, z):
    close = (
        math.isclose(a, b, rel_tol=1e-3),
        math.isclose(a, b, abs_tol=1e-12),
        np.isclose(a, b, rtol=1e-2),
        cmath.isclose(z, z * 1.01, rel_tol=0.1),
    )
    return (
        close,
        math.log(a, b),
        cmath.log(z, 2),
        np.angle(z),
        np.angle(z, deg=True),
        np.sinc(a),
        np.i0(a),
        np.nan_to_num(a),
        np.isposinf(a),
        np.isneginf(b),
    )


def test_other_functions():
    got, want = named(0.5, 0.5001, 0.5 - 0.25j), named.py_func(0.5, 0.5001, 0.5 - 0.25j)
    assert got[0] == tuple(bool(c) for c in want[0])
    np.testing.assert_allclose(np.array(got[1:], complex), np.array(want[1:], complex), rtol=1e-14)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.5])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_nan_to_num(dtype, value):
    @njit
    def plain(x):
        return np.nan_to_num(x)

    @njit
    def chosen(x):
        return np.nan_to_num(x, nan=7.0, posinf=1.0, neginf=-1.0)

    for f in (plain, chosen):
        assert f(dtype(value)) == f.py_func(dtype(value))


ORDERED = [1 + 2j, 1 - 2j, 2 - 5j, complex(np.nan, 1), complex(1, np.nan), 0j]


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "maximum", "minimum", "fmax", "fmin"])
def test_order_of_complex_numbers(name):
    a, b = (m.ravel() for m in np.meshgrid(np.array(ORDERED), np.array(ORDERED)))
    f = calling(f"np.{name}", 2)
    np.testing.assert_array_equal(njit(f)(a, b), f(a, b))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_narrow_floats_keep_their_width(dtype):
    @njit
    def f(x):
        return (
            weft.math.sinpi(x),
            weft.math.rsqrt(x),
            np.spacing(x),
            np.frexp(x),
            math.modf(x),
            np.ldexp(x, 3),
            math.ulp(x),
            np.logaddexp(x, x),
        )

    got = f(dtype(1.25))
    want = [
        np.sin(np.pi * 1.25),
        1.25**-0.5,
        np.spacing(dtype(1.25)),
        np.frexp(dtype(1.25)),
        (0.25, 1.0),
        10.0,
        np.spacing(dtype(1.25)),
        1.25 + math.log(2),
    ]
    for a, b in zip(got, want):
        for part, exact in zip(np.atleast_1d(a), np.atleast_1d(b)):
            np.testing.assert_allclose(part, exact, rtol=float(np.finfo(dtype).eps))
    floats = [got[0], got[1], got[2], got[3][0], *got[4], *got[5:]]
    assert {type(v) for v in floats} == {dtype} and type(got[3][1]) is np.int32


def test_pairs_of_arrays():
    @njit
    def f(x):
        fraction, whole = np.modf(x)
        sin, cos = weft.math.sincos(x)
        mantissa, exponent = np.frexp(x)
        quotient, rest = np.divmod(x, 0.75)
        return fraction + whole, sin * sin + cos * cos, np.ldexp(mantissa, exponent), quotient * 0.75 + rest

    x = np.linspace(-3, 3, 50)
    for got in f(x)[:1] + f(x)[2:]:
        np.testing.assert_allclose(got, x, rtol=1e-15)
    np.testing.assert_allclose(f(x)[1], 1, rtol=1e-15)


def test_functions_of_the_module():
    """`weft.math`'s functions are ufuncs outside compiled code."""
    x = np.linspace(-0.9, 0.9, 7)
    np.testing.assert_allclose(weft.math.erf(weft.math.erfinv(x)), x, rtol=1e-15)
    np.testing.assert_allclose(weft.math.sincos(x), [np.sin(x), np.cos(x)], rtol=1e-15)
    np.testing.assert_array_equal(weft.math.cospi([0.0, 0.5, 1.0]), [1, 0, -1])
    assert weft.math.fma(1.0 + 2**-30, 1.0 - 2**-30, -1.0) == -(2.0**-60)
    assert set(weft.math.__all__) <= set(dir(weft.math))
