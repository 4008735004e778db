"""The tools the other tests stand on: the fma emulation is exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy_intrinsics import fma


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_fma_rounds_once(dtype):
    rng = np.random.default_rng(3)
    a, b, c = (rng.uniform(-2, 2, 3000).astype(dtype) * np.exp2(rng.integers(-30, 30, 3000)).astype(dtype) for _ in range(3))
    c[::3] = -(a * b)[::3]
    c[1::3] = np.nextafter(a * b, dtype(0))[1::3]
    got = fma(a, b, c)
    for x, y, z, value in zip(a, b, c, got):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        below, above = (Fraction(float(np.nextafter(value, dtype(e)))) for e in (-np.inf, np.inf))
        error = abs(Fraction(float(value)) - exact)
        assert error <= abs(below - exact) and error <= abs(above - exact)
