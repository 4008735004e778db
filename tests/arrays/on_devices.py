"""What tests of orders and scans on devices share: the devices, numbers that are hard to sort, and how many syncs work takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft
from weft import _weft
from weft._weft import _to_numpy

SMALL = [one.name for one in weft.devices() if not one.float64 and not one.int64][:1]
GPUS = list({one.kind: one.name for one in reversed(weft.devices()) if one.kind != "cpu" and one.float64}.values()) + SMALL
on_gpus = pytest.mark.parametrize("device", GPUS, indirect=True)

DTYPES = [*(np.dtype(letter) for letter in "?bBhHiIlLefdFD"), np.dtype(ml_dtypes.bfloat16)]
# Where every dtype is compiled for a software driver these are enough.
FEW = [np.dtype(letter) for letter in "?bile"] + [np.dtype(letter) for letter in "fF"]


def has(device: weft.Device, dtype: np.dtype) -> bool:
    """Whether a device has numbers of a dtype, and tests have the time for it."""
    if device.kind != "cuda" and dtype not in FEW:
        return False
    return device.float64 or dtype.itemsize // (2 if dtype.kind == "c" else 1) <= 4


def numbers(shape: Any, dtype: np.dtype, seed: int = 0) -> np.ndarray:
    """Numbers from all of a dtype's range and a few that are there often; both zeros, infinities and NaNs among floats."""
    source = np.random.default_rng(seed)
    often = source.integers(0, 2, shape).astype(bool)
    if dtype.kind == "b":
        return often
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return np.where(often, source.integers(0, 5, shape).astype(dtype), source.integers(ends.min, ends.max, shape, dtype, endpoint=True))
    if dtype.kind == "c":
        made = np.empty(shape, dtype)
        made.real, made.imag = (numbers(shape, made.real.dtype, 2 * seed + i) for i in (1, 2))
        return made
    few = source.choice(np.array([0.0, -0.0, 1, -1, np.nan, -np.nan, np.inf, -np.inf, 3]), shape)
    return np.where(often, few, source.standard_normal(shape)).astype(dtype)


def plain(x: np.ndarray) -> np.ndarray:
    """As NumPy sorts and compares it: bfloat16 as float32."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x


def syncs(work: Callable[[], Any], count: int) -> Any:
    """What work gives, which takes so many syncs."""
    before = _weft._sync_count()
    found = work()
    weft.eval(found)
    assert _weft._sync_count() - before == count
    return found


def same(ours: Any, theirs: Any, device: weft.Device) -> None:
    """Arrays on a device have the bits of NumPy's but for NaNs, and their dtypes."""
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for each, other in zip(ours, theirs):
            same(each, other, device)
        return
    assert ours.device == device
    host, theirs = _to_numpy(ours), np.asarray(theirs)
    assert host.dtype == theirs.dtype and host.shape == theirs.shape, (host.dtype, theirs.dtype, host.shape, theirs.shape)
    np.testing.assert_array_equal(plain(host), plain(theirs))
    if theirs.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(host) & (host == 0), np.signbit(theirs) & (theirs == 0))
