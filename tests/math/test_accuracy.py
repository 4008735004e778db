"""The largest error of each function of the math library, against multiple precision, is what the library promises."""

from __future__ import annotations

import numpy as np
import pytest
from mathlib import call
from mpmath import mp
from promises import FUNCTIONS, errors, samples

SAMPLES = 800


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_error(name, dtype):
    function = FUNCTIONS[name]
    args = samples(function, dtype, SAMPLES)
    got = call(name, *args)
    assert got.dtype == dtype
    error = errors(function, got, args)
    worst = int(np.argmax(error))
    assert error[worst] <= function.bound, f"{name}({', '.join(str(a[worst]) for a in args)}) = {got[worst]}: {error[worst]:.3f} ULP"


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_lgamma_of_negative_numbers(dtype):
    """Between its zeros the error is relative, near them absolute."""
    x = -np.random.default_rng(4).uniform(0, 60, 800).astype(dtype)
    got = call("lgamma", x)
    exact = np.array([float(mp.log(abs(mp.gamma(float(v))))) for v in x])
    np.testing.assert_allclose(got, exact, rtol=4 * np.finfo(dtype).eps, atol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_gamma_at_poles(dtype):
    x = np.array([0.0, -0.0, -1.0, -2.0, -150.0, -1e10, np.inf, -np.inf, np.nan], dtype)
    np.testing.assert_array_equal(call("gamma", x), [np.inf, -np.inf, np.nan, np.nan, np.nan, np.nan, np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(call("lgamma", x), [np.inf] * 8 + [np.nan])
