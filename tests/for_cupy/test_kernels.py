"""`ElementwiseKernel` and `ReductionKernel` beside what is wanted of them in NumPy, on every device, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import weft
import weft.cupy as cp
from weft.errors import UnsupportedError

X = np.linspace(-2, 2, 24).reshape(4, 6)


def same(given: weft.ndarray, wanted: np.ndarray, dtype: object = None) -> None:
    assert isinstance(given, weft.ndarray)
    np.testing.assert_array_equal(weft.asnumpy(given), wanted)
    assert given.dtype == np.dtype(wanted.dtype if dtype is None else dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "uint64", "complex64", "complex128"])
def test_placeholders_of_every_dtype(dtype: str) -> None:
    x = np.arange(1, 7).astype(dtype)
    difference = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
    same(difference(cp.asarray(x), 2), (x - x.dtype.type(2)) ** 2)
    # Arrays of no elements, one, and none of axes.
    for shape in ((0,), (1,), (), (2, 0)):
        same(difference(cp.ones(shape, dtype), cp.ones(shape, dtype)), np.zeros(shape, dtype))


def test_bool_and_types_that_are_named() -> None:
    positive = cp.ElementwiseKernel("T x", "bool y", "y = x > 0", "positive")
    same(positive(cp.asarray(X)), X > 0)
    average = cp.ElementwiseKernel("T x, U y", "V z", "z = (x + y) / 2", "average")
    out = cp.empty(6, "float32")
    assert average(cp.arange(6, dtype="int8"), cp.arange(6, dtype="int64"), out) is out
    same(out, (np.arange(6) * 2 // 2).astype("float32"))


def test_broadcasts_and_fuses() -> None:
    product = cp.ElementwiseKernel("T x, T y", "T z", "z = x * y", "product")
    a, b = X[:, :1], X[::2].T[:1].T[:1]
    same(product(cp.asarray(a), cp.asarray(b)), a * b)
    same(product(cp.asarray(X)[::-1, ::2], cp.asarray(X.T).T[::-1, ::2]), X[::-1, ::2] ** 2)
    with weft.syncs("error"):
        lazy = product(cp.asarray(X), 2.5) + 1
    same(lazy, X * 2.5 + 1)
    explained = weft.explain(cp.asarray(np.ones((300, 300))) + product(cp.asarray(np.ones((300, 300))), 2.0))
    assert len(explained.kernels) == 1


def test_outputs_are_read_and_written(device: weft.Device) -> None:
    add = cp.ElementwiseKernel("float32 x", "float32 y, float32 z", "y += x; if (x > 1) z = y;", "add_into")
    x = np.arange(4, dtype="float32")
    y, z = cp.ones(4, "float32"), cp.full(4, 7, "float32")
    assert add(cp.asarray(x), y, z)[0] is y
    same(y, 1 + x)
    same(z, np.where(x > 1, 1 + x, np.float32(7)))
    inside = cp.zeros((4, 2), "float32")
    accumulate = cp.ElementwiseKernel("float32 x", "float32 y", "y += x", "accumulate")
    accumulate(cp.asarray(x), inside[:, 0])
    same(inside, np.stack([x, 0 * x], 1))
    add(cp.asarray(x), inside[::-1, 1], z)
    same(inside[:, 1], x[::-1])


def test_outputs_that_overlap_inputs(device: weft.Device) -> None:
    for params, body in (("float64 y", "y = 2 * x"), ("float64 y, int64 at", "y = 2 * x; at = i")):
        twice = cp.ElementwiseKernel("float64 x", params, body, "math")
        host = np.arange(1000.0)
        row = cp.asarray(host)
        more = [cp.zeros(999, "int64")] if "int64 at" in params else []
        twice(row[:-1], row[1:], *more)
        same(row, np.concatenate([host[:1], 2 * host[:-1]]))
        row = cp.asarray(host)
        twice(row, row, *([cp.zeros(1000, "int64")] if more else []))
        same(row, 2 * host)


def test_raw_arguments_and_places(device: weft.Device) -> None:
    x = np.arange(12, dtype="float32").reshape(3, 4)
    reverse = cp.ElementwiseKernel("raw T x", "T y", "y = x[n - 1 - i] + (T)(_ind.size() + x.size())", "reverse")
    same(reverse(cp.asarray(x), size=12), x.ravel()[::-1] + 24)
    same(reverse(cp.asarray(x).T, size=12), x.T.ravel()[::-1] + 24)
    where = cp.ElementwiseKernel("", "int64 y", "y = i", "where")
    same(where(cp.empty((2, 3), "int64")), np.arange(6).reshape(2, 3))
    histogram = cp.ElementwiseKernel("int32 x", "raw int32 counts", "atomicAdd(&counts[x], 1)", "histogram")
    counts = cp.zeros(4, "int32")
    histogram(cp.asarray(np.asarray([0, 1, 1, 3, 3, 3], "int32")), counts)
    same(counts, np.asarray([1, 2, 0, 3], "int32"))
    three = cp.ElementwiseKernel("raw float32 x", "float32 y", """
        float window[3] = {0.f};
        for (int k = 0; k < 3; k++) {
            ptrdiff_t at = i + k - 1;
            if (at < 0 || at >= x.size()) continue;
            window[k] = x[at];
        }
        float best = window[0];
        for (int k = 1; k < 3; k++) best = max(best, window[k]);
        y = best;""", "highest")  # fmt: skip
    same(three(cp.asarray(x), size=12), np.minimum(np.arange(12) + 1, 11).astype("float32"))


@pytest.mark.parametrize("name", ["count", "n_count", "a_count", "length0_x", "step0__ind", "length0", "cuda", "np", "x_", "size", "ex"])
def test_parameters_of_any_name(name: str) -> None:
    """What is asked of shapes has names of its own in what is compiled."""
    x = np.arange(12, dtype="float32").reshape(3, 4)
    body = f"z = {name} + x.shape()[0] + i + x.size() + 10 * _ind.get()[1] + n"
    kernel = cp.ElementwiseKernel(f"T {name}, raw T x", "T z", body, "named", reduce_dims=False)
    there = np.arange(12, dtype="float32").reshape(3, 4)
    same(kernel(cp.asarray(x), cp.asarray(x)), x + 3 + there + 12 + 10 * np.indices((3, 4))[1].astype("float32") + 12)
    same(cp.ElementwiseKernel(f"T {name}", "T z", f"z = {name} + 1", "plain")(cp.asarray(x)), x + 1)
    same(cp.ElementwiseKernel("T x", f"T {name}", f"{name} = x + i", "output")(cp.asarray(x)), x + there)
    total = cp.ReductionKernel(f"T {name}", "T z", f"{name} * _in_ind.size()", "a + b", "z = a", "0", "total")
    same(total(cp.asarray(x)), np.float32(66 * 12))


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64"])
def test_places_along_axes(device: weft.Device, dtype: str) -> None:
    x = np.arange(24).reshape(2, 3, 4).astype(dtype)
    along = cp.ElementwiseKernel("T x", "T y, int32 p", "p = 100 * _ind.get()[0] + 10 * _ind.get()[1] + _ind.get()[2]; y = x",
                                 "along", reduce_dims=False)  # fmt: skip
    for array in (cp.asarray(x), cp.asarray(x).transpose(2, 0, 1), cp.asarray(x)[:, ::-2], cp.asarray(x)[:0]):
        found, places = along(array)
        same(found, weft.asnumpy(array))
        first, second, third = np.indices(array.shape)
        same(places, (100 * first + 10 * second + third).astype("int32"))
    turned = cp.ElementwiseKernel("raw T x", "T y", """
        int at[] = {(int)(_ind.get()[1]), 1, (int)(x.shape()[2] - 1 - _ind.get()[0])};
        y = x[at];""", "turned", reduce_dims=False)  # fmt: skip
    out = cp.zeros((4, 2), dtype)
    same(turned(cp.asarray(x), out), x[:, 1, ::-1].T)
    same(turned(cp.asarray(x)[::-1], out), x[::-1, 1, ::-1].T)
    same(turned(cp.asarray(x).transpose(0, 2, 1)[:, :, :], cp.zeros((3, 2), dtype)), x.transpose(0, 2, 1)[:, 1, ::-1].T)
    put = cp.ElementwiseKernel("T x", "raw T y", "ptrdiff_t at[2] = {i % 3, i / 3}; y[at] = x; y[at] = y[at] + x", "put")
    out = cp.zeros((3, 8), dtype)
    assert put(cp.asarray(x), out) is out
    same(out, 2 * x.reshape(8, 3).T)
    one = cp.ElementwiseKernel("raw T x", "T y", "size_t at[1] = {2}; y = x[at]", "one")
    same(one(cp.asarray(x.ravel()), size=2), np.full(2, x.ravel()[2]))


def test_places_that_are_none() -> None:
    x = cp.zeros((2, 3))
    for body, words in {
        "y = x.shape()[2]": "x has 2 axes, and is asked for number 2",
        "int at[3] = {0, 0, 0}; y = x[at]": "x has 2 axes, and is indexed by 3 numbers",
    }.items():
        with pytest.raises(ValueError, match=words):
            cp.ElementwiseKernel("raw T x", "T y", body)(x, size=1)
    for body, words in {
        "y = _ind.get()[0]": "reduce_dims=False",
        "int k = 1; y = x.shape()[k]": "an integer that is written out",
        "y = x.shape()[i]": "an integer that is written out",
        "y = x.strides()[0]": "only raw arguments",
        "float at[2] = {0, 0}; y = x[at]": "take an element",
        "int at[] = {}; y = x[at]": "values in braces",
        "int at[]; y = x[at]": "values in braces",
        "int at[2] = {0, 0}; int to[1] = {0}; y = x[at] + x[to]": "2 axes, as another index of it says",
    }.items():
        with pytest.raises(UnsupportedError, match=words):
            cp.ElementwiseKernel("raw T x", "T y", body)(x, size=1)


def test_a_kernel_has_the_bits_of_a_ufunc(device: weft.Device) -> None:
    rng = np.random.default_rng(0)
    x, y = (cp.asarray(rng.random(100, dtype="float32")) for _ in range(2))
    body = "z = x * y + x / y - x * x"
    alone = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", body, "alone")(x, y)
    placed, _ = cp.ElementwiseKernel("float32 x, float32 y", "float32 z, int64 at", body + "; at = i", "placed")(x, y)
    same(placed, weft.asnumpy(alone))


def test_functions_have_cudas_types() -> None:
    def kind(text: str, value: float) -> None:
        probe = cp.ElementwiseKernel("float32 f, float64 d, int32 k, float16 h", "float64 value", f"auto r = {text}; value = r;", "probe")
        assert float(probe(cp.asarray(np.float32(0.3)), 0.3, 7, 0.25)) == value, text

    f = np.float32(0.3)
    kind("sqrt(f)", float(np.sqrt(f)))
    kind("sqrt(k)", float(np.sqrt(7.0)))
    kind("pow(f, 2)", float(np.float64(f) ** 2))
    kind("fmaf(f, f, f)", float(np.float32(np.float64(f) * np.float64(f) + np.float64(f))))
    kind("min(f, 0.1f)", float(np.float32(0.1)))
    kind("max(k, 9u)", 9.0)
    kind("min(-1, 3u)", 3.0)
    kind("fmin(d, NAN)", 0.3)
    kind("round(-2.5)", -3.0)
    kind("rint(2.5f)", 2.0)
    kind("abs(-k)", 7.0)
    kind("h + h", 0.5)
    kind("16777217.0f", 16777216.0)
    kind("static_cast<int>(-2.9)", -2.0)
    kind("__popc(255u)", 8.0)
    kind("max<int>(3.9, 1)", 3.0)
    kind("k / -2 + k % -4", 0.0)
    kind("INT_MAX + 1 < 0", 1.0)
    kind("(unsigned char)300", 44.0)
    kind("lround(2.5)", 3.0)


def test_complex_numbers() -> None:
    z = np.asarray([1 + 2j, -0.5j, 3], "complex64")
    f = cp.ElementwiseKernel("T z", "float32 m", "m = norm(z) + z.real() - imag(conj(z))", "measure")
    same(f(cp.asarray(z)), (np.abs(z) ** 2).round(3).astype("float32") + z.real + z.imag)
    g = cp.ElementwiseKernel("complex64 z, float32 x", "complex64 w", "w = z * x + complex<float>(x, 1) / 2.0f", "affine")
    same(g(cp.asarray(z), 2.0), z * 2 + np.complex64(1 + 0.5j))


def test_preambles() -> None:
    clamp = cp.ElementwiseKernel(
        "T x", "T y", "y = clamp(x, -LIMIT, LIMIT)", "clamped",
        preamble="""
        #define LIMIT 1.5  // on both sides
        __device__ inline double clamp(double x, double low, double high) {
            if (x < low) return low;
            return x > high ? high : x;
        }
        __device__ int unused(int n) { int k = 0; while (true) { if (++k > n) break; } return k; }
        """.replace("if (++k > n) break;", "k++; if (k > n) break;"),
    )  # fmt: skip
    same(clamp(cp.asarray(X)), np.clip(X, -1.5, 1.5))
    same(clamp(cp.asarray(X.astype("float32"))), np.clip(X.astype("float32"), np.float32(-1.5), np.float32(1.5)))


REFUSED = {
    "y = x +": "line 1, column 8",
    "y = *x": "pointers are not taken",
    "y = x;\n  y = foo(x);": "line 2, column 7: there is no function 'foo'",
    "x = 1": "not assigned to",
    "y = __expf(x)": "approximate functions",
    "switch (1) {}": "`switch` is not taken",
    "y = (x = 2)": "inside of an expression",
    "int k = 0; y = k++ + 1": "inside of an expression",
    "return;": "write `continue`",
    "break;": "outside of loops",
    "y = z": "'z' is not declared",
    "int k; int k;": "declared twice",
    "y = x % 2": "fmod",
    "y = x[0]": "only raw arguments",
    "y = 1.0q": "line 1",
    "y = 99999999999999999999": "no number that a type holds",
    "__syncthreads();": "barriers are not taken",
    "float *p = 0;": "pointers",
    "y = sizeof(x)": "`sizeof` is not taken",
    "y = sin(x, x)": "sin takes 1 argument",
    "const int k = 1; k = 2": "not assigned to",
    "y": "does nothing",
    "@": "is not C",
    "#include <math.h>": "of directives",
    "y = " + "(" * 300 + "x" + ")" * 300: "deep",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_refused_is_said_with_its_place(body: str) -> None:
    with pytest.raises(UnsupportedError) as error:
        cp.ElementwiseKernel("float32 x", "float32 y", body, "wrong")(cp.ones(2, "float32"))
    assert REFUSED[body] in str(error.value)
    assert "kernel 'wrong', line" in str(error.value)


def test_errors_of_calls() -> None:
    kernel = cp.ElementwiseKernel("T x, T y", "T z", "z = x + y", "plus")
    f, d = cp.ones(2, "float32"), cp.ones(2)
    with pytest.raises(TypeError, match="Type is mismatched"):
        kernel(f, d)
    with pytest.raises(TypeError, match="Unsupported type"):
        kernel(np.ones(2), d)
    with pytest.raises(ValueError, match="undecided"):
        cp.ElementwiseKernel("float32 x", "float32 y", "y = x")(1)
    with pytest.raises(TypeError, match="Wrong number of arguments"):
        kernel(d)
    with pytest.raises(ValueError, match="mismatch"):
        kernel(d, d, cp.ones(3))
    with pytest.raises(ValueError, match="broadcast"):
        kernel(d, cp.ones(3))
    with pytest.raises(ValueError, match="'raw'"):
        kernel(d, d, size=2)
    with pytest.raises(TypeError, match="no array says"):
        cp.ElementwiseKernel("T x, int32 y", "T z", "z = x")(1, cp.ones(2, "int32"))
    for text in ("T n", "T _x", "T i"):
        with pytest.raises(ValueError, match="Can not use"):
            cp.ElementwiseKernel(text, "T z", "z = 0")
    with pytest.raises(UnsupportedError, match="options"):
        cp.ElementwiseKernel("T x", "T z", "z = x", options=("-use_fast_math",))
    with pytest.raises(TypeError, match="Wrong arguments"):
        cp.ElementwiseKernel("T x", "T z", "z = x", colour=1)


def test_reductions(device: weft.Device) -> None:
    x = np.random.default_rng(1).integers(-9, 9, (3, 5, 7)).astype("float32")
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    for axis in (None, 0, 1, -1, (0, 2), (1, 0)):
        for keepdims in (False, True):
            wanted = np.sqrt((x * x).sum(axis=axis, keepdims=keepdims))
            same(norm(cp.asarray(x), axis=axis, keepdims=keepdims), wanted, "float32")
    same(norm(cp.zeros((0, 2), "float32"), axis=0), np.zeros(2, "float32"))
    furthest = cp.ReductionKernel("T x", "T y", "x", "abs(a) < abs(b) ? b : a", "y = a", "0", "furthest")
    flat = np.moveaxis(x, 1, -1)
    first = np.take_along_axis(flat, np.abs(flat).argmax(-1)[..., None], -1)[..., 0]
    same(furthest(cp.asarray(x), axis=1), first)
    mean = cp.ReductionKernel("T x, T w", "float64 y", "x * w", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", "0", "mean")
    same(mean(cp.asarray(x), 2, axis=(0, 1)), (2 * x).astype("float64").sum((0, 1)) / 15)
    # What there is may be asked for everywhere.
    for mapped, combined, ended in [("x / _in_ind.size()", "a + b", "a"), ("x", "a + b + 0 * _out_ind.size()", "a / (T)_in_ind.size()"),
                                    ("x / _out_ind.size()", "b + a", "a / _type_reduce(_in_ind.size() / _out_ind.size())")]:  # fmt: skip
        part = cp.ReductionKernel("T x", "T y", mapped, combined, f"y = {ended}", "0", "part")
        weft_part = weft.asnumpy(part(cp.asarray(x), axis=(0, 2)))
        np.testing.assert_allclose(weft_part, x.sum((0, 2)) / 105, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="no identity"):
        cp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", "", "largest")(cp.zeros(0))
    out = cp.zeros(3, "float32")
    assert norm(cp.asarray(x), out=out, axis=(1, 2)) is out
    same(out, np.sqrt((x * x).sum((1, 2))))


def test_reductions_of_integers_wrap_and_bools_combine() -> None:
    x = np.asarray([200, 100, 7], "uint8")
    same(cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")(cp.asarray(x)), np.asarray(307 % 256, "uint8"))
    total = cp.ReductionKernel("T x", "int64 y", "x", "a + b", "y = a", "0", "total", reduce_type="long long")
    same(total(cp.asarray(x)), np.asarray(307))
    scaled = cp.ReductionKernel("T x, raw T r", "T y", "x * r[1]", "a + b", "y = a", "0", "scaled")
    same(scaled(cp.asarray([1.0, 2.0]), cp.asarray([5.0, 10.0])), np.asarray(30.0))
    for end in ("y = a * r[1]", "y = a * x"):
        with pytest.raises(UnsupportedError, match="is not declared"):
            cp.ReductionKernel("T x, raw T r", "T y", "x", "a + b", end, "0", "ended")(cp.ones(2), cp.ones(2))
    some = cp.ReductionKernel("T x", "bool y", "x > 150", "a || b", "y = a", "false", "some")
    same(some(cp.asarray(x)), np.asarray(True))
    nan = np.asarray([np.nan, 2.0, 3.0])
    same(cp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", "0")(cp.asarray(nan)), np.asarray(3.0))
