"""What programs start from: arrays of NumPy's by number, shape and dtype."""

from __future__ import annotations

import numpy as np

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64",
    "complex128",
]  # fmt: skip


def data(seed, shape, dtype, kind="tame"):
    """An array: small numbers ("tame"), whole ones ("round"), or with NaN, infinities, signed zeros and limits ("hard")."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind == "c":
        part = np.float32 if dtype == np.complex64 else np.float64
        return np.asarray(data(seed, shape, part, kind) + 1j * data(seed + 1, shape, part, kind)).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if kind == "hard":
            pool = np.array([info.min, info.max, 0, 1, 2, 7, info.max // 2, info.max - 1], dtype)
            return np.asarray(rng.choice(pool, shape))
        return np.asarray(rng.integers(0 if dtype.kind == "u" or kind == "index" else -9, 10, shape)).astype(dtype)
    values = rng.integers(-8, 9, shape) * 1.0 if kind == "round" else rng.normal(0, 2, shape)
    if kind == "hard":
        info = np.finfo(dtype)
        pool = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, float(info.max), float(info.tiny), float(info.smallest_subnormal)])
        values = np.where(rng.random(shape) < 0.4, rng.choice(pool, shape), values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)
