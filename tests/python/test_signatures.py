"""Explicit signatures: notation, the choice between several, conversions."""

import numpy as np
import pytest

import weft.numba as numba
from weft import njit, types
from weft.numba import boolean, complex128, float32, float64, int32, int64, void


@pytest.mark.parametrize(
    "text, value",
    [
        ("float64(float64)", float64(float64)),
        ("f8(f4[:], i4[:, ::1])", float64(float32[:], int32[:, ::1])),
        ("void(b1[::1, :])", void(boolean[::1, :])),
        ("(int64, complex128)", types.as_signature((int64, complex128))),
        ("Tuple(f8, i8)(Tuple(f8, i8))", types.Tuple([float64, int64])(types.Tuple([float64, int64]))),
        ("float64()", float64()),
    ],
)
def test_notation(text, value):
    assert types.as_signature(text) == value


@pytest.mark.parametrize("text", ["float65(int32)", "float64(", "float64)(", "float64(int32", "f8[::1, ::1](f8)", "f8[0](f8)", "", "f8 f8"])
def test_what_is_no_signature(text):
    with pytest.raises(TypeError):
        types.as_signature(text)


def test_types_as_casts():
    assert isinstance(float32(1.5), np.float32)
    assert int32(3.7) == 3


def test_typeof():
    assert numba.typeof(np.zeros((2, 3), np.float32)) == float32[:, ::1]
    assert numba.typeof(1) == int64
    assert numba.typeof((1, 2.0)) == types.Tuple([int64, float64])


def test_a_signature_compiles_at_once_and_converts():
    @njit("float64(float64, int64)")
    def f(x, n):
        return x * n

    assert f.signatures == [(float64, int64)]
    got = f(3, np.int8(2))
    assert got == 6.0 and isinstance(got, float)
    assert f(True, 2) == 2.0
    with pytest.raises(TypeError):
        f(1j, 2)


def test_the_best_of_several_is_chosen():
    @njit(["int64(int64)", "float64(float64)", "complex128(complex128)"])
    def f(x):
        return x + x

    assert isinstance(f(2), np.int64)
    assert isinstance(f(2.5), np.float64)
    assert isinstance(f(1j), np.complex128)
    assert isinstance(f(np.float32(1)), np.float64)
    assert isinstance(f(np.int8(1)), np.int64)


def test_the_declared_result_is_kept():
    @njit("float32(float64)")
    def f(x):
        return x / 3

    assert f(1.0) == np.float32(1 / 3) and isinstance(f(1.0), np.float32)


def test_arrays_match_by_dtype_rank_and_layout():
    @njit("float64(float64[:, ::1])")
    def f(a):
        return a[0, 0]

    a = np.ones((3, 3))
    assert f(a) == 1
    for bad in (a[:, ::2], np.asfortranarray(np.ones((2, 3))), a[0], a.astype(np.float32)):
        with pytest.raises(TypeError):
            f(bad)


def test_read_only_arrays_match():
    @njit("float64(float64[:])")
    def f(a):
        return a[0]

    a = np.ones(3)
    a.flags.writeable = False
    assert f(a) == 1


def test_numbas_spelling():
    @numba.njit(float64(float64), nopython=True, nogil=True, cache=False)
    def f(x):
        return x + 1

    @numba.jit("float64(float64)", fastmath=True, inline="always", error_model="numpy", boundscheck=False)
    def g(x):
        return f(x) / 0.5

    @numba.vectorize(["float64(float64)"], nopython=True, target="parallel")
    def h(x):
        return x + 1

    assert g(1.0) == 4.0
    assert h(1.0) == 2.0
    assert sum(numba.prange(4)) == 6


def test_error_models():
    @njit
    def python(a, b):
        return a / b

    @njit(error_model="numpy")
    def numpy(a, b):
        return a / b

    with pytest.raises(ZeroDivisionError):
        python(1.0, 0.0)
    assert numpy(1.0, 0.0) == np.inf


def test_tuples():
    assert types.UniTuple(float64, 2) == types.Tuple([float64, float64])

    @njit(float64(types.UniTuple(float64, 2)))
    def f(pair):
        return pair[0] - pair[1]

    assert f((3, 1.5)) == 1.5
