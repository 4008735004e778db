"""Sums, products and extremes of all elements up to each, on devices: exact for integers, within a bound for floats, without a sync."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft._weft import _to_numpy

from .on_devices import DTYPES, SMALL, has, numbers, on_gpus, plain, same, syncs

SHAPES = [((1,), 0), ((33,), 0), ((257,), 0), ((2048,), 0), ((2049,), 0), ((20_000,), 0), ((3, 4100), 1), ((40, 60), 0), ((40, 60), 1)]
SHAPES += [((3, 50, 2), 1), ((3000, 3), 0), ((2, 3, 2), 2), ((0,), 0), ((3, 0), 0), ((3, 0), 1)]
NAMES = ["add", "multiply", "maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor"]


def wide(dtype):
    """The dtype of sums of all precision."""
    return np.dtype(np.complex256 if dtype.kind == "c" else np.longdouble)


def bound(host, axis, dtype):
    """How far two orders of summation may lie apart: the rounding of the type for each element that is added, of all that was added."""
    eps = {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(dtype.name) or float(np.finfo(dtype).eps)
    return 4 * eps * host.shape[axis] * np.cumsum(np.abs(host.astype(wide(dtype))), axis=axis) + float(eps)


@on_gpus
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums(device, dtype):
    if not has(device, dtype):
        pytest.skip("not on this device")
    for shape, axis in SHAPES:
        host = np.random.default_rng(1).integers(0, 100, shape)
        host = (host if dtype.kind in "biu" else (host - 50) / 64).astype(dtype)
        x = weft.asarray(host)
        kind = np.cumsum(np.zeros(0, dtype)).dtype if dtype.kind != "V" else dtype
        if kind.itemsize == 8 and not device.int64 and kind.kind != "c":
            kind = dtype
        ours = syncs(lambda: weft.cumsum(x, axis=axis, dtype=kind), 0)  # noqa: B023
        if dtype.kind in "biu":
            same(ours, np.cumsum(host, axis=axis, dtype=kind), device)
            same(weft.cumsum(x, axis=axis, dtype=dtype), np.cumsum(host, axis=axis, dtype=dtype), device)
            continue
        assert ours.dtype == kind and ours.shape == shape and ours.device == device
        differ = np.abs(_to_numpy(ours).astype(wide(dtype)) - np.cumsum(host.astype(wide(dtype)), axis=axis))
        assert (differ <= bound(host, axis, dtype)).all(), shape


@on_gpus
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_operation(device, dtype):
    if not has(device, dtype) or (device.kind != "cuda" and dtype.name not in ("int32", "float32")):
        pytest.skip("not on this device")
    for name in NAMES:
        if (name.startswith("bitwise") and dtype.kind not in "biu") or (name not in ("add", "multiply") and dtype.kind == "c"):
            continue
        if device.kind != "cuda" and name in ("minimum", "fmin", "bitwise_and", "bitwise_xor"):
            continue
        for shape, axis in [((70,), 0), ((2, 2100), 1), ((9, 5), 0)]:
            host = numbers(shape, dtype, 3)
            if name in ("add", "multiply") and dtype.kind not in "biu":
                host = np.random.default_rng(2).choice([1, -1, 0.5, 2] if name == "multiply" else [0, 1, 2], shape).astype(dtype)
                host[..., 50:] = 1 if name == "multiply" else 0
            with np.errstate(all="ignore"):
                theirs = getattr(np, name).accumulate(plain(host), axis=axis, dtype=plain(host).dtype).astype(dtype)
            ours = syncs(lambda: getattr(weft, name).accumulate(weft.asarray(host), axis=axis, dtype=dtype), 0)  # noqa: B023
            assert ours.device == device
            np.testing.assert_array_equal(plain(_to_numpy(ours)), plain(theirs))


@on_gpus
@pytest.mark.parametrize("dtype", ["f4", "f8", "F", "D"])
def test_products_whose_parts_leave_the_range(device, dtype):
    """They are those that NumPy multiplies one after the other."""
    if not has(device, np.dtype(dtype)):
        pytest.skip("not on this device")
    largest = float(np.finfo(dtype).max)
    halves = np.ones(5000)
    halves[:2100], halves[2100:4200] = 0.5, 2
    small = np.ones(40)
    small[:3] = largest**-0.9, largest**0.6, largest**0.6
    large = np.ones((2, 40))
    large[:, :3] = largest**0.9, largest**-0.6, largest**-0.6
    for host in (halves.astype(dtype), small.astype(dtype), large.astype(dtype)):
        with np.errstate(all="ignore"):
            theirs = np.cumprod(host, axis=-1)
        # Some devices have no numbers below the smallest normal one.
        least = float(np.finfo(dtype).tiny)
        np.testing.assert_allclose(_to_numpy(weft.cumprod(weft.asarray(host, device=device), axis=-1)), theirs, rtol=1e-6, atol=least)


@on_gpus
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_products_of_16_bits_are_rounded_one_by_one(device, name):
    dtype = np.dtype(weft.bfloat16 if name == "bfloat16" else name)
    source = np.random.default_rng(9)
    for shape, axis in [((1, 3), 1), ((40,), 0), ((2100,), 0), ((3, 70), 1), ((70, 3), 0), ((5, 2100), 0)]:
        host = source.uniform(0.5, 2, shape).astype(dtype)
        if shape == (1, 3):
            # A product that leaves the range, and would come back if it did not.
            host = np.array([[300, 300, 1e-4]] if name == "float16" else [[1e30, 1e30, 1e-30]]).astype(dtype)
        with np.errstate(all="ignore"):
            theirs = np.multiply.accumulate(host, axis=axis)
        same(syncs(lambda: weft.multiply.accumulate(weft.asarray(host), axis=axis), 0), theirs, device)  # noqa: B023
        same(syncs(lambda: weft.cumprod(weft.asarray(host), axis=axis), 0), theirs, device)  # noqa: B023


@on_gpus
def test_views_keywords_and_other_functions(device):
    host = np.random.default_rng(0).integers(-9, 9, (6, 8, 70)).astype(np.int32)
    x = weft.asarray(host)
    for key in ((slice(None, None, -1),), (slice(None), slice(1, None, 2), slice(None, None, -3)), (2,), (..., 5), (None, 3, slice(4, 4))):
        for axis in range(host[key].ndim):
            same(weft.cumsum(x[key], axis=axis, dtype=np.int32), np.cumsum(host[key], axis=axis, dtype=np.int32), device)
    same(weft.cumsum(x.T, axis=1, dtype=np.int32), np.cumsum(host.T, axis=1, dtype=np.int32), device)
    assert weft.cumsum(x.T, axis=1, dtype=np.int32).strides == np.cumsum(host.T, axis=1, dtype=np.int32).strides
    same(weft.cumsum(x, dtype=np.int32), np.cumsum(host, dtype=np.int32), device)
    same(weft.cumsum(x[0, 0, 0], dtype=np.int32), np.cumsum(host[0, 0, 0], dtype=np.int32), device)
    same(weft.cumsum(x > 0, axis=2, dtype=bool), np.cumsum(host > 0, axis=2, dtype=bool), device)
    same(weft.logical_xor.accumulate(x > 0, axis=2), np.logical_xor.accumulate(host > 0, axis=2), device)
    floats = host[0].astype(np.float32)
    same(weft.cumsum(x[0], axis=1, dtype=np.float32), np.cumsum(host[0], axis=1, dtype=np.float32), device)
    out = weft.zeros((8, 70), dtype=np.float32)
    assert weft.cumsum(weft.asarray(floats), axis=1, out=out) is out
    same(out, np.cumsum(floats, axis=1), device)
    floats[3, 5] = np.nan
    same(weft.nancumsum(weft.asarray(floats), axis=1), np.nancumsum(floats, axis=1), device)
    same(weft.cumsum(weft.asarray(floats), axis=1), np.cumsum(floats, axis=1), device)
    ours = weft.cumulative_sum(weft.asarray(floats), axis=0, include_initial=True)
    same(ours, np.cumulative_sum(floats, axis=0, include_initial=True), device)
    if device.int64:
        small = host[0].astype(np.int8)
        same(weft.cumsum(weft.asarray(small)), np.cumsum(small), device)
        same(weft.cumprod(weft.asarray(small), axis=0), np.cumprod(small, axis=0), device)


@on_gpus
def test_captured(device):
    @weft.compile
    def captured(x):
        return weft.cumsum(x * 2, axis=0) + 1, weft.maximum.accumulate(x)

    for n in (5, 3000, 5):
        host = np.random.default_rng(n).integers(-9, 9, (n, 2)).astype(np.float32)
        same(captured(weft.asarray(host)), (np.cumsum(host * 2, axis=0) + 1, np.maximum.accumulate(host)), device)


@pytest.mark.skipif(not SMALL, reason="there is no GPU without float64")
def test_what_a_device_lacks():
    x = weft.asarray(np.arange(3, dtype=np.int32), device=SMALL[0])
    with pytest.raises(weft.errors.UnsupportedError, match="int64"):
        weft.cumsum(x)
