"""Complex functions of the math library: special values as NumPy has them, error of each part against multiple precision."""

from __future__ import annotations

import compiled
import mpmath
import numpy as np
import pytest
from mathlib import call
from mpmath import mpc
from promises import ulps

# NumPy's function, mpmath's, and the largest error of either part in ULP.
FUNCTIONS = {
    "cexp": (np.exp, mpmath.exp, 3),
    "clog": (np.log, mpmath.log, 3),
    "clog10": (np.log10, mpmath.log10, 4),
    "csqrt": (np.sqrt, mpmath.sqrt, 3),
    "csinh": (np.sinh, mpmath.sinh, 3),
    "ccosh": (np.cosh, mpmath.cosh, 3),
    "ctanh": (np.tanh, mpmath.tanh, 5),
    "csin": (np.sin, mpmath.sin, 3),
    "ccos": (np.cos, mpmath.cos, 3),
    "ctan": (np.tan, mpmath.tan, 5),
    "casin": (np.arcsin, mpmath.asin, 4),
    "cacos": (np.arccos, mpmath.acos, 4),
    "catan": (np.arctan, mpmath.atan, 4),
    "casinh": (np.arcsinh, mpmath.asinh, 4),
    "cacosh": (np.arccosh, mpmath.acosh, 4),
    "catanh": (np.arctanh, mpmath.atanh, 4),
    "cexp2": (np.exp2, lambda z: mpmath.power(2, z), 3),
    "clog1p": (np.log1p, lambda z: mpmath.log(1 + z), 3),
    "clog2": (np.log2, lambda z: mpmath.log(z) / mpmath.log(2), 4),
    "csign": (np.sign, lambda z: z / abs(z), 3),
}
# Functions some of whose zeros and infinities have a sign that C99 leaves open.
OPEN_SIGNS = {"csinh", "ccosh", "csin", "ccos", "ctanh", "ctan"}
TYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
NAMES = pytest.mark.parametrize("name", FUNCTIONS)


def complex_of(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    z = np.empty(len(x), np.complex64 if x.dtype == np.float32 else np.complex128)
    z.real, z.imag = x, y
    return z


@TYPES
@NAMES
def test_special_values(name, dtype):
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, np.inf, -np.inf, np.nan]
    x, y = (a.ravel() for a in np.meshgrid(np.array(values, dtype), np.array(values, dtype)))
    with np.errstate(all="ignore"):
        want = FUNCTIONS[name][0](complex_of(x, y))
    for got, part in zip(call(name, x, y), (want.real, want.imag)):
        assert got.dtype == dtype
        np.testing.assert_array_equal(np.isnan(got), np.isnan(part))
        if name in OPEN_SIGNS:
            finite = np.isfinite(x) & np.isfinite(y)
            got, part = got[finite], part[finite]
        numbers = ~np.isnan(part)
        np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(part[numbers]))
        np.testing.assert_allclose(got, part, rtol=8 * np.finfo(dtype).eps)


@TYPES
@NAMES
def test_error(name, dtype):
    rng = np.random.default_rng(5)
    count = 250
    small, exponents = np.exp2(rng.uniform(-40, -5, (2, count))), rng.uniform(-30, 6, (2, count))
    scaled = np.exp2(exponents) * rng.choice([-1, 1], (2, count))
    x = np.concatenate([rng.uniform(-3, 3, count), scaled[0], 1 + small[0]]).astype(dtype)
    y = np.concatenate([rng.uniform(-3, 3, count), scaled[1], small[1]]).astype(dtype)
    _, oracle, bound = FUNCTIONS[name]
    re, im = call(name, x, y)
    for a, b, u, v in zip(x, y, re, im):
        exact = oracle(mpc(float(a), float(b)))
        assert ulps(u, exact.real, np.dtype(dtype)) <= bound, f"real part of {name}({a}, {b}) = {u}"
        assert ulps(v, exact.imag, np.dtype(dtype)) <= bound, f"imaginary part of {name}({a}, {b}) = {v}"


@TYPES
def test_square_root_and_exponential_reach_the_ends(dtype):
    big = np.finfo(dtype).max
    tiny = np.finfo(dtype).smallest_subnormal
    re, im = call("csqrt", np.array([big, -big, tiny], dtype), np.array([big, 0, tiny], dtype))
    np.testing.assert_allclose(re[0], np.sqrt(float(big) / 2) * np.sqrt(1 + np.sqrt(2)), rtol=1e-6)
    np.testing.assert_allclose([re[1], im[1]], [0, np.sqrt(float(big))], rtol=1e-6)
    np.testing.assert_allclose(re[2] * 2 * im[2] / tiny, 1, rtol=1e-6)
    re, _ = call("cexp", np.array([89.0 if dtype is np.float32 else 709.9], dtype), np.array([1.5], dtype))
    assert np.isfinite(re).all()


@TYPES
@NAMES
def test_compiled_functions_give_the_same_bits(name, dtype):
    rng = np.random.default_rng(6)
    values = np.concatenate([[0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan], rng.uniform(-3, 3, 30), rng.uniform(-1e3, 1e3, 10)])
    x, y = (a.ravel() for a in np.meshgrid(values.astype(dtype), values.astype(dtype)))
    got = np.asarray(getattr(compiled, name)(complex_of(x, y)))
    re, im = call(name, x, y)
    np.testing.assert_array_equal(got.real, re)
    np.testing.assert_array_equal(got.imag, im)


@TYPES
def test_expm1(dtype):
    """Both parts to 4 ULP, the real one of its larger term; the standard has special values where NumPy has NaN."""
    rng = np.random.default_rng(7)
    x, y = (np.concatenate([rng.uniform(-3, 3, 200), np.exp2(rng.uniform(-40, 2, 200))]).astype(dtype) for _ in range(2))
    for a, b, u, v in zip(x, y, *call("cexpm1", x, y)):
        exact = mpmath.expm1(mpc(float(a), float(b)))
        term = 2 * mpmath.sin(mpmath.mpf(float(b)) / 2) ** 2
        assert ulps(u, exact.real, np.dtype(dtype), term) <= 4
        assert ulps(v, exact.imag, np.dtype(dtype)) <= 4
    inf, nan = np.inf, np.nan
    table = [
        # x, y, and the parts of the result, of which the array API standard leaves some signs open.
        (inf, 0.0, inf, 0.0), (inf, inf, inf, nan), (inf, nan, inf, nan), (inf, 1.0, inf, inf), (-inf, 1.0, -1.0, 0.0),
        (-inf, inf, -1.0, 0.0), (-inf, nan, -1.0, 0.0), (nan, 0.0, nan, 0.0), (nan, 1.0, nan, nan), (nan, nan, nan, nan),
        (1.0, inf, nan, nan), (1.0, nan, nan, nan), (0.0, 0.0, 0.0, 0.0), (-0.0, 0.0, 0.0, 0.0), (0.0, -0.0, 0.0, -0.0),
    ]  # fmt: skip
    x, y, u, v = np.array(table, dtype).T
    re, im = call("cexpm1", x, y)
    for got, want in ((re, u), (im, v)):
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got[want == want]), np.signbit(want[want == want]))


@TYPES
def test_tanh_of_endless_parts(dtype):
    """NaN, but for infinite real parts: also where the function is already 1 for any other imaginary part."""
    x = np.array([1.0, 5.0, 30.0, -800.0], dtype)
    for y in (np.inf, -np.inf, np.nan):
        re, im = call("ctanh", x, np.full_like(x, y))
        assert np.isnan(re).all() and np.isnan(im).all()
        re, im = call("ctanh", np.array([np.inf, -np.inf], dtype), np.full(2, y, dtype))
        np.testing.assert_array_equal(re, [1, -1])
        np.testing.assert_array_equal(im, [0, 0])
    # The zero has the imaginary part's own sign, as the array API standard says, not that of sin(2 y), as C99 does.
    re, im = call("ctanh", np.array([np.inf, np.inf, -np.inf], dtype), np.array([2, -2, 2], dtype))
    np.testing.assert_array_equal(np.signbit(im), [False, True, False])


@TYPES
def test_powers(dtype):
    """4 ULP of the whole result, and one more for each radian of its angle."""
    rng = np.random.default_rng(8)
    x, y, u, v = (rng.uniform(-4, 4, 400).astype(dtype) for _ in range(4))
    v[::4] = 0
    re, im = call("cpow", x, y, u, v)
    for a, b, c, d, r, i in zip(x, y, u, v, re, im):
        base, exponent = mpc(float(a), float(b)), mpc(float(c), float(d))
        exact = mpmath.power(base, exponent)
        radians = abs(exponent.real * mpmath.arg(base)) + abs(exponent.imag * mpmath.log(abs(base)))
        error = abs(mpc(float(r), float(i)) - exact) / abs(exact) / float(np.finfo(dtype).eps)
        assert error <= 4 + radians, f"({a}+{b}j) ** ({c}+{d}j)"


@TYPES
def test_powers_of_special_numbers(dtype):
    power = compiled.power
    kind = np.complex64 if dtype is np.float32 else np.complex128
    zero, two = kind(0), kind(2 + 1j)
    assert power(zero, zero) == 1 and power(two, zero) == 1
    assert power(zero, two) == 0 and np.isnan(power(zero, kind(-1 + 1j)))
    assert power(kind(4), kind(0.5)) == 2 and power(kind(-4), kind(0.5)).imag == 2
    assert power(kind(2 + 0j), kind(3)).imag == 0


@TYPES
def test_polar_form(dtype):
    r, t = (np.random.default_rng(9).uniform(-3, 3, 200).astype(dtype) for _ in range(2))
    got = np.asarray(compiled.rect(r, t))
    np.testing.assert_allclose(got, r * np.exp(1j * t.astype(np.float64)), rtol=4 * np.finfo(dtype).eps)
    assert compiled.rect(dtype(np.inf), dtype(0)) == complex(np.inf, 0)
