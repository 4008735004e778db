"""What `fastmath` does to the operations of the caller itself; its versions of functions are in tests/math/test_fast.py."""

import numpy as np
import pytest

import weft
from weft import cuda, njit


def quotient(x, y):
    return x / y


def inverse(x, y):
    return 1 / x


def root(x, y):
    return np.sqrt(x)


def inverse_root(x, y):
    return y / np.sqrt(x)


def inverse_root_cubed(x, y):
    return y / (x * np.sqrt(x))


@pytest.mark.parametrize("function", [quotient, inverse, root, inverse_root, inverse_root_cubed])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_and_roots_are_within_four_ulp(device, function, dtype):
    f = weft.njit(function)

    @cuda.jit(fastmath=True)
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = f(x[i], y[i])

    rng = np.random.default_rng(3)
    x, y = (np.exp(rng.uniform(-20, 20, 10_000)).astype(dtype) for _ in range(2))
    out = np.zeros_like(x)
    kernel.forall(out.size)(x, y, out)
    exact = function(x.astype(np.longdouble), y.astype(np.longdouble))
    assert np.max(np.abs(out - exact) / np.spacing(exact.astype(dtype))) <= 4


def sums_of_pairs(a, b):
    total, product = 0.0, 1.0
    for k in range(1, a.size, 2):
        total += np.sqrt(abs(a[k])) * b[k]
        product *= 1.0 + a[k] / 1e6
        total -= 0.25 if b[k] > 0 else b[k - 1]
    return total, product, k


def sums_of_rows(m, x):
    out = np.zeros(m.shape[0], m.dtype)
    for i in range(m.shape[0]):
        total = m.dtype.type(0)
        for k in range(m.shape[1]):
            total += m[i, k] * x[k]
        out[i] = total
    return out


def test_loops_that_only_sum_may_be_reordered():
    rng = np.random.default_rng(3)
    for size in (2, 3, 17, 1000, 70_001):
        a, b = rng.standard_normal(size), rng.standard_normal(size)
        want, got = sums_of_pairs(a, b), njit(fastmath=True)(sums_of_pairs)(a, b)
        np.testing.assert_allclose(got[:2], want[:2], rtol=1e-10)
        assert got[2] == want[2]
    for dtype in (np.float32, np.float64, np.complex128):
        m = rng.standard_normal((9, 33)).astype(dtype)
        np.testing.assert_allclose(njit(fastmath=True)(sums_of_rows)(m, m[0]), sums_of_rows(m, m[0]), rtol=1e-4)


def test_loops_without_turns_keep_their_variables():
    @njit(fastmath=True)
    def index_behind(a):
        total = 0.0
        for k in range(a.size):
            total += a[k]
        return total + k

    assert index_behind(np.ones(3)) == 5
    with pytest.raises(UnboundLocalError):
        index_behind(np.ones(0))


def test_what_a_sum_reads_of_itself_keeps_its_order():
    def f(a):
        total = 1.0
        for k in range(a.size):
            total += a[k] * total
        return total

    assert np.isclose(njit(fastmath=True)(f)(np.full(9, 0.5)), 1.5**9)
