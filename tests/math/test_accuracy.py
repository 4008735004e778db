"""The largest error of each function of the math library, against multiple precision, is what the library promises."""

from __future__ import annotations

import numpy as np
import pytest
from mathlib import call
from promises import FUNCTIONS, errors, samples

SAMPLES = 1200


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
