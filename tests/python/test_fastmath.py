"""What `fastmath` does to the operations of the caller itself; its versions of functions are in tests/math/test_fast.py."""

import numpy as np
import pytest

import weft
from weft import cuda


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
