"""float16 and bfloat16: every value of unary operations and conversions, dense samples of binary ones, against NumPy and ml_dtypes."""

from __future__ import annotations

import math
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import weft
from weft import cuda, njit, vectorize
from weft.numba import float16

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
HALF = np.dtype(np.float16)
HALVES = [HALF, BFLOAT16]
NAMES = {HALF: "float16", BFLOAT16: "bfloat16"}

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def every(dtype):
    """All values of a type."""
    return np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(dtype)


def dense(dtype):
    """Pairs of values: edges with edges, and any with any."""
    rng = np.random.default_rng(3)
    edges = np.array(
        [0, 1, 2, 0x3FF, 0x400, 0x401, 0x3BFF, 0x3C00, 0x3C01, 0x3F80, 0x3F81, 0x4000, 0x7BFF, 0x7C00, 0x7E00, 0x7F7F, 0x7F80], np.uint16
    )
    edges = np.concatenate([edges, edges | 0x8000])
    near = rng.integers(0x3000, 0x4800, 40_000, np.uint16) | (rng.integers(0, 2, 40_000).astype(np.uint16) << 15)
    a = np.concatenate([np.repeat(edges, len(edges)), rng.integers(0, 1 << 16, 100_000).astype(np.uint16), near])
    b = np.concatenate([np.tile(edges, len(edges)), rng.integers(0, 1 << 16, 100_000).astype(np.uint16), near[::-1]])
    return a.view(dtype), b.view(dtype)


def same(got, want):
    """Equal bit for bit but for NaNs."""
    assert got.dtype == want.dtype
    wide = [np.asarray(x, np.float64) if x.dtype.kind in "fV" else x for x in (got, want)]
    if got.dtype.kind in "fV":
        nan = np.isnan(wide[1])
        np.testing.assert_array_equal(np.isnan(wide[0]), nan)
        bits = [x.view(np.uint16 if x.dtype.itemsize == 2 else f"u{x.dtype.itemsize}")[~nan] for x in (got, want)]
        np.testing.assert_array_equal(*bits)
    else:
        np.testing.assert_array_equal(got, want)


@vectorize
def negative(x):
    return -x


@vectorize
def magnitude(x):
    return abs(x)


@vectorize
def root(x):
    return np.sqrt(x)


@vectorize
def floor(x):
    return np.floor(x)


@vectorize
def ceil(x):
    return np.ceil(x)


@vectorize
def trunc(x):
    return np.trunc(x)


@vectorize
def rint(x):
    return np.rint(x)


@vectorize
def isnan(x):
    return np.isnan(x)


@vectorize
def isinf(x):
    return np.isinf(x)


@vectorize
def signbit(x):
    return np.signbit(x)


UNARY = {
    negative: np.negative,
    magnitude: np.abs,
    root: np.sqrt,
    floor: np.floor,
    ceil: np.ceil,
    trunc: np.trunc,
    rint: np.rint,
    isnan: np.isnan,
    isinf: np.isinf,
    signbit: np.signbit,
}


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_unary_operations_of_every_value(function, dtype):
    x = every(dtype)
    same(function(x), UNARY[function](x))


@vectorize
def add(x, y):
    return x + y


@vectorize
def subtract(x, y):
    return x - y


@vectorize
def multiply(x, y):
    return x * y


@vectorize
def divide(x, y):
    return x / y


@vectorize
def floor_divide(x, y):
    return x // y


@vectorize
def remainder(x, y):
    return x % y


@vectorize
def fmod(x, y):
    return np.fmod(x, y)


@vectorize
def maximum(x, y):
    return np.maximum(x, y)


@vectorize
def copysign(x, y):
    return np.copysign(x, y)


@vectorize
def nextafter(x, y):
    return np.nextafter(x, y)


@vectorize
def less(x, y):
    return x < y


@vectorize
def equal(x, y):
    return x == y


BINARY = {
    add: np.add,
    subtract: np.subtract,
    multiply: np.multiply,
    divide: np.divide,
    fmod: np.fmod,
    copysign: np.copysign,
    nextafter: np.nextafter,
    less: np.less,
    equal: np.equal,
}


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_binary_operations(function, dtype):
    x, y = dense(dtype)
    same(function(x, y), BINARY[function](x, y))


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
@pytest.mark.parametrize("function", [floor_divide, remainder], ids=lambda f: f.__name__)
def test_floor_division_is_that_of_float32_rounded(function, dtype):
    x, y = dense(dtype)
    oracle = {floor_divide: np.floor_divide, remainder: np.remainder}[function]
    same(function(x, y), oracle(x.astype(np.float32), y.astype(np.float32)).astype(dtype))


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
def test_maximum_passes_nan_on(dtype):
    x, y = dense(dtype)
    apart = (x != 0) | (y != 0)
    same(maximum(x, y)[apart], np.maximum(x, y)[apart])


@vectorize
def fused(x, y, z):
    return math.fma(x, y, z)


OTHERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64, np.complex64, np.bool_]


def converter(to):
    """A function that converts to a type."""

    @njit
    def convert(x, out):
        for i in range(len(x)):
            out[i] = to(x[i])

    return convert


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
@pytest.mark.parametrize("other", [*OTHERS, "the other"], ids=lambda t: getattr(t, "__name__", t))
def test_every_value_converts_to_other_types(other, dtype):
    other = np.dtype(HALVES[dtype == HALF] if other == "the other" else other)
    x = every(dtype)
    if other.kind in "iu":
        wide = x.astype(np.float64)
        limit = 2.0 ** (8 * other.itemsize - 1)
        x = x[(np.abs(wide) < limit) & ((wide > -1) | (other.kind == "i"))]
    out = np.empty(len(x), other)
    to = weft.types.element(other)
    converter(to)(x, out)
    same(out, x.astype(other))


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
@pytest.mark.parametrize("other", OTHERS, ids=lambda t: t.__name__)
def test_other_types_convert(other, dtype):
    rng = np.random.default_rng(5)
    if np.dtype(other).kind == "f":
        near = every(dtype).astype(np.float64)
        middle = (near[:-1] + near[1:]) / 2
        beside = np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)
        x = np.concatenate([middle, *beside, near, rng.normal(0, 1e4, 10_000)]).astype(other)
    elif np.dtype(other).kind == "c":
        x = (rng.normal(0, 1e4, 10_000) + 1j).astype(other).real.astype(other)
        x = x.real.copy()
    elif other is np.bool_:
        x = np.array([True, False])
    else:
        info = np.iinfo(other)
        small = np.arange(max(info.min, -70_000), min(info.max, 70_000) + 1)
        x = np.concatenate([small.astype(other), rng.integers(info.min, info.max, 10_000, other, True)])
    out = np.empty(len(x), dtype)
    converter(weft.types.element(dtype))(x, out)
    same(out, x.astype(dtype))


def bits_of(x):
    """A finite float as an integer times a power of two."""
    mantissa, exponent = np.frexp(np.float64(x))
    return int(mantissa * 2**53), int(exponent) - 53


def rounded(dtype, value, exponent):
    """The exact number value * 2**exponent, correctly rounded, by way of a float64 that was rounded to odd."""
    sign, value = (-1.0, -value) if value < 0 else (1.0, value)
    spare = value.bit_length() - 53
    if spare > 0:
        value = (value >> spare) | bool(value & ((1 << spare) - 1))
        exponent += spare
    exact = sign * np.ldexp(np.float64(value), exponent)
    single = np.float32(exact)
    if np.isfinite(single) and np.float64(single) != exact:
        towards = single if abs(np.float64(single)) < abs(exact) else np.nextafter(single, np.float32(0))
        single = (towards.view(np.uint32) | np.uint32(1)).view(np.float32)
    return np.array(single).astype(dtype)


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
def test_fma_rounds_once(dtype):
    rng = np.random.default_rng(7)
    raw = rng.integers(0, 1 << 16, (3, 4000)).astype(np.uint16)
    middling = (rng.integers(0x3400, 0x4400, (3, 4000)) | (rng.integers(0, 2, (3, 4000)) << 15)).astype(np.uint16)
    x, y, z = np.concatenate([raw, middling], axis=1).view(dtype)
    # Halfway cases that a tiny third operand decides.
    z[4000:6000] = (rng.integers(0, 4, 2000).astype(np.uint16) | (rng.integers(0, 2, 2000) << 15).astype(np.uint16)).view(dtype)
    finite = np.isfinite(x.astype(float)) & np.isfinite(y.astype(float)) & np.isfinite(z.astype(float))
    x, y, z = x[finite], y[finite], z[finite]
    got = fused(x, y, z)
    want = []
    for a, b, c in zip(x, y, z):
        (a, ea), (b, eb), (c, ec) = bits_of(a), bits_of(b), bits_of(c)
        low = min(ea + eb, ec)
        want.append(rounded(dtype, (a * b << (ea + eb - low)) + (c << (ec - low)), low))
    want = np.array(want, dtype)
    nonzero = want != 0
    same(got[nonzero], want[nonzero])
    assert (got[~nonzero] == 0).all()


@njit
def total(a):
    return a.sum(), a.mean(), a.var(), a.max(), a.argmax()


def test_float16_is_summed_in_float32():
    a = np.random.default_rng(1).normal(1, 2, 10_000).astype(np.float16)
    got = total(a)
    assert [type(g) for g in got[:4]] == [np.float16] * 4
    np.testing.assert_allclose(np.array(got, float), [a.sum(), a.mean(), a.var(), a.max(), a.argmax()], rtol=2e-3)
    assert total(np.ones(60_000, np.float16))[0] == 60_000


def test_bfloat16_is_summed_in_float32():
    a = np.random.default_rng(1).normal(1, 2, 10_000).astype(BFLOAT16)
    wide = a.astype(np.float32)
    got = total(a)
    np.testing.assert_allclose(np.array(got, float), [wide.sum(), wide.mean(), wide.var(), wide.max(), wide.argmax()], rtol=1e-2)


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
@pytest.mark.parametrize("n", [1, 7, 64, 1000])
def test_kernels_take_arrays_of_the_host_and_of_devices(dtype, n):
    x = np.linspace(-3, 3, n).astype(dtype)
    y = np.linspace(1, 2, n).astype(dtype)
    exact = 2.5 * x.astype(np.float64) + y.astype(np.float64)
    device = cuda.to_device(y)
    assert (device.dtype, device.nbytes) == (dtype, 2 * n)
    saxpy[(n + 31) // 32, 32](2.5, cuda.to_device(x), device)
    host = y.copy()
    saxpy[(n + 31) // 32, 32](2.5, x, host)
    same(device.copy_to_host(), exact.astype(np.float32).astype(dtype))
    same(host, device.copy_to_host())


@cuda.jit
def gather(x, index, out):
    i = cuda.grid(1)
    shared = cuda.shared.array(64, weft.float16)
    shared[cuda.threadIdx.x] = x[index[i]]
    cuda.syncthreads()
    out[i] = shared[63 - cuda.threadIdx.x] * 2


def test_shared_arrays_and_gathers():
    x = np.arange(100, dtype=np.float16)
    index = np.random.default_rng(2).integers(0, 100, 128)
    out = np.zeros(128, np.float16)
    gather[2, 64](x, index, out)
    np.testing.assert_array_equal(out, (x[index].reshape(2, 64)[:, ::-1] * 2).ravel())


@cuda.jit
def histogram(values, counts, top):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, int(values[i]), 1)
        cuda.atomic.max(top, 0, values[i])


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
def test_atomics(dtype):
    values = (np.random.default_rng(4).integers(0, 20, 900)).astype(dtype)
    counts, top = np.zeros(20, dtype), np.zeros(1, dtype)
    histogram[30, 32](values, counts, top)
    np.testing.assert_array_equal(counts.astype(int), np.bincount(values.astype(int), minlength=20))
    assert top[0] == values.max()


@cuda.jit
def swap(a, out):
    i = cuda.grid(1)
    out[i] = cuda.atomic.cas(a, i, weft.bfloat16(1), weft.bfloat16(5))


def test_compare_and_swap_moves_bits():
    a = np.array([1, 2, 1], BFLOAT16)
    out = np.zeros(3, BFLOAT16)
    swap[1, 3](a, out)
    assert (a.astype(int).tolist(), out.astype(int).tolist()) == ([5, 2, 5], [1, 2, 1])


@njit
def scalars(x, y):
    return x + y, float(x), (x, 1)


def test_scalars_come_and_go():
    a, wide, pair = scalars(np.float16(0.1), np.float16(0.2))
    assert (type(a), a, type(wide)) == (np.float16, np.float16(0.1) + np.float16(0.2), float)
    assert pair == (np.float16(0.1), 1)
    one = ml_dtypes.bfloat16(1)
    b, _, _ = scalars(one, ml_dtypes.bfloat16(0.5))
    assert (type(b), b) == (ml_dtypes.bfloat16, ml_dtypes.bfloat16(1.5))
    assert type(scalars(one, np.float16(1))[0]) is np.float32


@njit(parallel=True)
def spread(x, out):
    acc = np.float16(0)
    for i in weft.prange(len(x)):
        out[i] = x[i] * x[i]
        acc += x[i]
    return acc


def test_parallel_loops_and_reductions():
    x = (np.arange(10_000) % 5).astype(np.float16)
    out = np.zeros_like(x)
    assert spread(x, out) == 20_000
    np.testing.assert_array_equal(out, x * x)


@njit("float16(float16, float16)")
def declared(x, y):
    return x * y


@vectorize(["bfloat16(bfloat16)", "float64(float64)"])
def doubled(x):
    return x + x


def test_signatures():
    assert declared(0.1, 3) == np.float16(0.1) * np.float16(3)
    assert type(declared(0.1, 3)) is np.float16
    assert doubled(np.ones(3, BFLOAT16)).dtype == BFLOAT16
    assert doubled(np.ones(3, np.float32)).dtype == np.float64
    assert float16(2.5) == np.float16(2.5)
    assert repr(float16[:, ::1]) == "float16[:, ::1]"
    assert weft.numba.typeof(np.zeros(3, BFLOAT16)) == weft.types.bfloat16[::1]
    assert weft.types.as_type(np.float16) is float16


def test_uses_of_frozen_values():
    table = np.array([0.5, 1.5], np.float16)
    scale = ml_dtypes.bfloat16(3)

    @njit
    def f(i):
        return table[i] * 2, scale * 2

    got = f(1)
    assert (got, type(got[0]), type(got[1])) == ((3, 6), np.float16, ml_dtypes.bfloat16)


WITHOUT = """
import sys, importlib.abc
class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "ml_dtypes":
            raise ImportError("refused")
sys.meta_path.insert(0, Refuse())
import numpy as np, weft
from weft import cuda
array = cuda.device_array((2, 3), weft.bfloat16)
assert array.nbytes == 12 and array[1:].shape == (1, 3) and array.T.shape == (3, 2), array
assert repr(array) == "DeviceNDArray(shape=(2, 3), dtype=bfloat16)", array
for use in (array.copy_to_host, lambda: weft.bfloat16(1)):
    try:
        use()
    except ImportError as error:
        assert "needs the package ml_dtypes" in str(error)
    else:
        raise AssertionError("no error")
assert "ml_dtypes" not in sys.modules
print("fine")
"""


def test_ml_dtypes_is_needed_on_the_host_only():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=120)
    assert done.stdout == "fine\n", done.stderr


@vectorize
def wave(x):
    return np.sin(x)


@vectorize
def power(x):
    return np.exp(x)


@vectorize
def logarithm(x):
    return np.log(x)


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
@pytest.mark.parametrize("function, oracle", [(wave, np.sin), (power, np.exp), (logarithm, np.log)], ids=["sin", "exp", "log"])
def test_functions_are_those_of_float32_rounded(function, oracle, dtype):
    x = every(dtype)
    exact = oracle(x.astype(np.float64))
    got = function(x).astype(np.float64)
    finite = np.isfinite(exact) & (np.abs(exact) < np.float64(np.finfo(np.float16).max if dtype == HALF else 3.38e38))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    bits = 11 if dtype == HALF else 8
    least = 2.0**-24 if dtype == HALF else 2.0**-133
    unit = np.maximum(2.0 ** (np.floor(np.log2(np.abs(exact[finite]) + 1e-300)) + 1 - bits), least)
    assert np.max(np.abs(got[finite] - exact[finite]) / unit) < 0.502
