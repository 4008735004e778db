"""Every unary float32 function on a million arguments spread over all floats, by its float64 sister. `exhaustive.py` takes all of them."""

from __future__ import annotations

import numpy as np
import pytest
from exhaustive import UNARY, YARDSTICK, error_of, gap
from promises import FUNCTIONS


@pytest.mark.parametrize("name", UNARY)
def test_dense(name):
    function = FUNCTIONS[name]
    x = np.arange(0, 1 << 32, 4093, dtype=np.int64).astype(np.uint32).view(np.float32)
    error = error_of(name)(x)
    if function.where is not None:
        error[~function.where(x)] = 0
    worst = int(np.argmax(error))
    assert error[worst] <= function.bound + YARDSTICK, f"{name}({x[worst]!r}) is off by {error[worst]:.4f} ULP"
    assert name in EXACT or error[worst] > 0.4


# Whole numbers: no rounding, no error.
EXACT = {"logb"}


def test_gap():
    """The measure itself."""
    one, tiny = np.float32(1), np.float32(1e-45)
    assert gap(one, 1.0) == 0 and gap(one, 1 + 2.0**-24) == 0.5 and gap(one, 1 - 2.0**-25) == 0.5
    assert gap(tiny, 0.0) == 1 and gap(np.float32(0), -0.0) == np.inf and gap(np.float32(-0.0), -1e-60) < 1
    assert (
        gap(np.float32(np.inf), 3.5e38) == 0
        and gap(np.float32(np.inf), 3.4e38) == np.inf
        and gap(np.finfo(np.float32).max, 3.5e38) == np.inf
    )
    assert gap(np.float32(np.nan), np.nan) == 0 and gap(one, np.nan) == np.inf and gap(np.float32(np.nan), 1.0) == np.inf
    assert gap(np.float32(-np.inf), np.inf) == np.inf and gap(np.float32(np.inf), np.inf) == 0
