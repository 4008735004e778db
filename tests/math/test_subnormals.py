"""Subnormal numbers are no zeros to whatever looks at them: comparisons, sizes, conversions, rounding, atomics, arrays, on every device.

Some devices keep them in sums and products only. One NaN stands for all.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import weft
from weft import cuda, njit

FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


def numbers(dtype: type) -> np.ndarray:
    """Zeros, subnormals, the least normal numbers, others."""
    info = np.finfo(dtype)
    least, tiny = info.smallest_subnormal, info.tiny
    sizes = [dtype(0), least, least + least, tiny / dtype(3), tiny / dtype(2), tiny - least, tiny, tiny + least, dtype(1.5), dtype(np.inf)]
    return np.array([sign * size for size in sizes for sign in (dtype(1), dtype(-1))] + [dtype(np.nan)], dtype)


def pairs(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    x, y = zip(*itertools.product(numbers(dtype), repeat=2))
    return np.array(x, dtype), np.array(y, dtype)


def same(got: np.ndarray, want: np.ndarray) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    if got.dtype.kind == "f":
        one = np.array(np.nan, got.dtype)
        got, want = (np.where(np.isnan(x), one, x).view(f"u{one.itemsize}") for x in (got, want))
    np.testing.assert_array_equal(got, want)


@njit
def truths(a, b):
    return (
        *(a < b, a <= b, a > b, a >= b, a == b, a != b),
        *(a < 0, a <= 0, a > 0, a >= 0, a == 0, a != 0, 0 < a, 0 == a),
        *(a < 1.5, a >= 1.5, a != a, not a, bool(a), not (a < b), a < b < 1, a != 0 and b != 0),
        *(math.isnan(a), math.isinf(a), np.signbit(a)),
    )


@njit
def choices(a, b):
    return (
        *(a if a < b else b, b if a != 0 else a, a if b else b, -a if a < 0 else a),
        *(abs(a), -a, +a, -abs(b), abs(a - b), min(a, b), max(a, b)),
        # Which of two zeros NumPy gives depends on the CPU.
        *(np.minimum(a, b) + 0, np.maximum(a, b) + 0, np.fmin(a, b) + 0, np.fmax(a, b) + 0, np.copysign(a, b), np.sign(a)),
    )


@njit
def computed(a, b):
    return (
        *(a + b, a - b, a * b, a / b, a * 0.5, a / 3, a * 3),
        *(np.floor(a), np.ceil(a), np.trunc(a), np.rint(a), np.sqrt(a), np.fmod(a, b), np.remainder(a, b), np.floor_divide(a, b)),
        *(math.ldexp(a, 3), math.ldexp(a, -1), np.nextafter(a, b), np.hypot(a, a * 0)),
    )


def kernel_of(function):
    """A kernel whose threads write each what a function gives for their two numbers."""

    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            for n, v in enumerate(function(x[i], y[i])):
                out[n, i] = v

    return kernel


@FLOATS
@pytest.mark.parametrize(("kernel", "function"), [(kernel_of(function), function) for function in (truths, choices, computed)])
def test_operations(dtype, kernel, function, device):
    x, y = pairs(dtype)
    with np.errstate(all="ignore"):
        rows = [function.py_func(a, b) for a, b in zip(x, y)]
    want = np.array(rows, np.bool_ if function is truths else dtype).T.copy()
    out = np.zeros_like(want)
    kernel[(x.size + 63) // 64, 64](x, y, out)
    same(out, want)


@FLOATS
@pytest.mark.parametrize("to", [np.float16, np.float32, np.float64, np.int8, np.uint32, np.int64, np.uint64, np.bool_, np.complex128])
def test_conversions(dtype, to, device):
    info = np.finfo(np.float32)
    x = numbers(dtype)
    if dtype is np.float64:
        # What becomes a subnormal float32, and what is halfway between two.
        units = np.arange(-9, 10) / 4 * float(info.smallest_subnormal)
        ends = float(info.tiny) * np.array([1 - 2.0**-24, 1 - 2.0**-25, 1 - 2.0**-26, 0.5, -1 / 3, -1 + 2.0**-24, -1 + 2.0**-25])
        x = np.concatenate([x, units, np.nextafter(units, 1), np.nextafter(units, -1), ends, numbers(np.float32)])
    if np.dtype(to).kind in "iu":
        x = x[np.isfinite(x) & (x >= 0)]
    out = np.zeros(x.shape, to)

    @cuda.jit
    def convert(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i]

    convert[(x.size + 63) // 64, 64](x, out)
    with np.errstate(all="ignore"):
        want = x.astype(to)
    same(out.view(np.float64), want.view(np.float64)) if to is np.complex128 else same(out, want)
    with np.errstate(all="ignore"):
        of_array = np.asarray(weft.asarray(x, device=device.name).astype(to))
    same(of_array.view(np.float64), want.view(np.float64)) if to is np.complex128 else same(of_array, want)


@FLOATS
def test_digits(dtype, device):
    x = numbers(dtype)
    x = x[np.isfinite(x)]
    out, exponents = np.zeros_like(x), np.zeros(x.size, np.int32)

    @cuda.jit
    def split(x, out, exponents):
        i = cuda.grid(1)
        if i < x.size:
            out[i], exponents[i] = math.frexp(x[i])

    split[1, 64](x, out, exponents)
    want, want_exponents = np.frexp(x)
    same(out, want)
    same(exponents, want_exponents)


@FLOATS
def test_atomics(dtype, device):
    x = numbers(dtype)
    x = x[np.isfinite(x)]
    least, most = np.zeros(2, dtype), np.zeros(2, dtype)

    @cuda.jit
    def extremes(x, least, most):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.min(least, 0, x[i])
            cuda.atomic.max(most, 0, x[i])
            if 0 < abs(x[i]) < x.dtype.type(1e-37):
                cuda.atomic.min(least, 1, -abs(x[i]))
                cuda.atomic.max(most, 1, abs(x[i]))

    extremes[1, 64](x[np.abs(x) < 1], least, most)
    small = np.abs(x)[np.abs(x) < 1]
    same(least, np.array([-small.max()] * 2))
    same(most, np.array([small.max()] * 2))


@FLOATS
def test_lanes(dtype, device):
    x = np.resize(numbers(dtype), 32)
    out = np.zeros_like(x)

    @cuda.jit
    def turned(x, out):
        i = cuda.grid(1)
        out[i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)

    turned[1, 32](x, out)
    same(out, x[np.arange(32) ^ 1])


@FLOATS
def test_arrays(dtype, device):
    x, y = pairs(dtype)
    a, b = (weft.asarray(v, device=device.name) for v in (x, y))
    zero = dtype(0)
    with np.errstate(all="ignore"):
        for f in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal):
            same(getattr(weft, f.__name__)(a, b), f(x, y))
        for f in (np.minimum, np.maximum, np.fmin, np.fmax):
            same(getattr(weft, f.__name__)(a, b) + zero, f(x, y) + zero)
        for f in (np.abs, np.negative, np.sign, np.floor, np.ceil, np.rint, np.isnan, np.isfinite, np.logical_not, np.signbit, np.sqrt):
            same(getattr(weft, f.__name__)(a), f(x))
        same(weft.where(a < b, a, -b), np.where(x < y, x, -y))
        same(weft.clip(a, zero, np.finfo(dtype).tiny), np.clip(x, zero, np.finfo(dtype).tiny))
        same((abs(a) + abs(b) > 0) & (a != b), (abs(x) + abs(y) > 0) & (x != y))


@FLOATS
def test_reductions(dtype, device):
    x = numbers(dtype)
    x = x[np.abs(x) < 1]
    a = weft.asarray(x, device=device.name)
    for name in ("min", "max", "argmin", "argmax", "any", "all"):
        for v, w in ((a, x), (a[2:8], x[2:8]), (a[2:4], x[2:4]), (abs(a)[1::2], abs(x)[1::2])):
            assert np.asarray(getattr(v, name)()) == getattr(w, name)(), name
    same(weft.sort(a[2:]), np.sort(x[2:]))
    assert int(weft.count_nonzero(a)) == np.count_nonzero(x)
