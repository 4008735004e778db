"""Windows against NumPy's."""

import numpy as np
import pytest

import weft

from .against_numpy import check


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name: str) -> None:
    for length in (0, 1, 2, 3, 10, 51, -3, 1.5, 4.7, np.float32(7), np.int8(9), True):
        check(f"xp.{name}(M)", exact=False, M=length)
    check(f"xp.{name}([3, 4])")
    assert weft.asnumpy(weft.hanning(weft.asarray(5))).shape == (5,)
