"""How near results have to be, and arrays to test with."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import weft

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.float16), BFLOAT16]
# Relative to the largest number: some units in the last place of each dtype, more where many numbers are added.
ROUNDING = {"float64": 1e-12, "float32": 4e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


def near(ours: Any, theirs: Any, dtype: Any = None, times: float = 1.0) -> None:
    """A weft array has the shape, the dtype and, within rounding, the numbers of an array of doubles."""
    theirs = np.asarray(theirs, float)
    dtype = np.dtype(dtype or np.float64)
    assert isinstance(ours, weft.ndarray)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    assert ours.dtype == dtype, (ours.dtype, dtype)
    host, wanted = weft.asnumpy(ours).astype(np.float64), theirs.astype(np.float64)
    finite = np.abs(wanted[np.isfinite(wanted)])
    tolerance = ROUNDING[dtype.name] * times
    np.testing.assert_allclose(host, wanted, rtol=tolerance, atol=tolerance * (finite.max() if finite.size else 1.0))


def normal(shape: Any, dtype: Any = np.float64, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """Normal numbers, the same for the same seed."""
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)


def laid_out(x: np.ndarray) -> list[weft.ndarray]:
    """The same array dense, turned, reversed and with gaps in memory."""
    found = [weft.asarray(x)]
    if x.ndim > 1:
        found.append(weft.asarray(np.ascontiguousarray(x.T)).T)
    if x.ndim:
        found.append(weft.asarray(np.ascontiguousarray(x[::-1]))[::-1])
        found.append(weft.asarray(np.ascontiguousarray(np.repeat(x, 2, -1)))[..., ::2])
    return found
