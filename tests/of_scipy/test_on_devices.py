"""`weft.scipy` on every device: the CPU's results, where the arrays are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
import scipy.special

import weft
from weft.scipy import ndimage, signal, special

CALLS: dict[str, tuple[Callable[[Any, Any], Any], Any, Any]] = {
    "correlate1d": (lambda m, a: m.correlate1d(a, [1, 2, -1]), scipy.ndimage, ndimage),
    "gaussian_filter": (lambda m, a: m.gaussian_filter(a, 1), scipy.ndimage, ndimage),
    "sobel": (lambda m, a: m.sobel(a, 0, mode="wrap"), scipy.ndimage, ndimage),
    "median of 9": (lambda m, a: m.median_filter(a, 3), scipy.ndimage, ndimage),
    "median of 25": (lambda m, a: m.median_filter(a, 5, mode="mirror"), scipy.ndimage, ndimage),
    "zoom": (lambda m, a: m.zoom(a, 1.5, order=3, mode="mirror"), scipy.ndimage, ndimage),
    "shift": (lambda m, a: m.shift(a, (0.5, -2), order=1, cval=3), scipy.ndimage, ndimage),
    "map_coordinates": (lambda m, a: m.map_coordinates(a, np.asarray([[0.5, 3.25], [1.0, 2.5]]), order=3), scipy.ndimage, ndimage),
    "convolve": (lambda m, a: m.convolve(a, a[:2, :2]), scipy.signal, signal),
    "lfilter": (lambda m, a: m.lfilter([0.5], np.asarray([1.0, -0.5]), a), scipy.signal, signal),
    "xlogy": (lambda m, a: m.xlogy(a, a), scipy.special, special),
    "ndtr": (lambda m, a: m.ndtr(a), scipy.special, special),
    "logsumexp": (lambda m, a: m.logsumexp(a, axis=1), scipy.special, special),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_on_the_cpu(name: str, device: weft.Device) -> None:
    call, theirs, ours = CALLS[name]
    host = np.random.default_rng(0).random((12, 11))
    found = call(ours, weft.asarray(host))
    assert found.device == device
    np.testing.assert_allclose(weft.asnumpy(found), call(theirs, host), rtol=1e-10, atol=1e-12)
