"""Compiled functions give the bits that the library's text gives under plain Python."""

from __future__ import annotations

import compiled
import numpy as np
import pytest
from mathlib import call
from promises import FUNCTIONS, samples

NAMES = [name for name in FUNCTIONS if hasattr(compiled, name)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_same_bits(name, dtype):
    args = samples(FUNCTIONS[name], dtype, 4000)
    got = np.asarray(getattr(compiled, name)(*args))
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, call(name, *args))


def test_every_function_is_reached():
    assert set(FUNCTIONS) == set(NAMES)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_same_bits_one_by_one(dtype):
    x, y = samples(FUNCTIONS["pow"], dtype, 4000)
    out = np.empty((5, len(x)), dtype)
    compiled.each_scalar(x, y, out)
    want = [call("sin", x), call("exp", x), call("log", x), call("atan2", y, x), call("pow", x, y)]
    np.testing.assert_array_equal(out, np.array(want))
