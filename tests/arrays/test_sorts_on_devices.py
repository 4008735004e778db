"""Sorts on devices against NumPy's stable ones: every dtype, short and long rows, equal elements, NaN and both zeros, without a sync."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft._weft import _to_numpy

from .on_devices import DTYPES, SMALL, has, numbers, on_gpus, plain, same, syncs

SHAPES = [(1,), (0,), (3, 0), (3, 2), (5, 33), (2, 1000), (1, 1025), (3, 2049), (6000,)]


def order_of(host, descending=False, axis=-1):
    """NumPy's stable order; the other way around with equal elements in their order, too."""
    host = plain(host)
    if not descending:
        return np.argsort(host, axis=axis, kind="stable")
    return host.shape[axis] - 1 - np.flip(np.argsort(np.flip(host, axis), axis=axis, kind="stable"), axis)


@on_gpus
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows(device, dtype):
    if not has(device, dtype):
        pytest.skip("not on this device")
    for shape in SHAPES:
        host = numbers(shape, dtype, len(shape))
        x = weft.asarray(host)
        for descending in (False, True) if shape in ((5, 33), (3, 2049)) else (False,):
            order = order_of(host, descending)
            # Bit for bit, NaNs and zeros with their signs.
            ours = _to_numpy(syncs(lambda: weft.sort(x, descending=descending), 0))  # noqa: B023
            assert ours.tobytes() == np.take_along_axis(host, order, -1).tobytes(), shape
            assert ours.dtype == dtype and ours.shape == shape
            if device.int64:
                same(syncs(lambda: weft.argsort(x, descending=descending), 0), order, device)  # noqa: B023


@on_gpus
def test_axes_and_views(device):
    host = numbers((7, 40, 9), np.dtype(np.float32))
    x = weft.asarray(host)
    for key in ((), (slice(None, None, -2),), (..., slice(None, None, -1)), (2,), (slice(None), slice(5, 6))):
        part, view = host[key], x[key]
        for axis in (*range(part.ndim), -1):
            same(syncs(lambda: weft.sort(view, axis), 0), np.sort(part, axis, kind="stable"), device)  # noqa: B023
        assert weft.sort(view.T, 0).strides == np.sort(part.T, 0).strides
    same(weft.sort(x, None), np.sort(host, None, kind="stable"), device)
    same(weft.partition(x, 3, 1)[:, 3], np.partition(host, 3, 1)[:, 3], device)
    same(x.T.copy(), host.T.copy(), device)
    with pytest.raises(np.exceptions.AxisError):
        weft.sort(x, 3)


@on_gpus
def test_many_equal_elements_keep_their_order(device):
    if not device.int64:
        pytest.skip("indices are int64")
    host = np.random.default_rng(0).integers(0, 3, (2, 30_000)).astype(np.int32)
    same(syncs(lambda: weft.argsort(weft.asarray(host)), 0), np.argsort(host, kind="stable"), device)
    keys = np.random.default_rng(1).integers(0, 4, (3, 5, 300)).astype(np.int32)
    same(syncs(lambda: weft.lexsort(weft.asarray(keys)), 0), np.lexsort(keys), device)
    same(weft.lexsort(tuple(weft.asarray(each) for each in keys), axis=0), np.lexsort(keys, axis=0), device)
    for axis, largest in ((1, True), (0, False)):
        values, places = syncs(lambda: weft.topk(weft.asarray(keys[0]), 4, axis, largest=largest), 0)  # noqa: B023
        order = order_of(keys[0], largest, axis)
        order = order[:, :4] if axis else order[:4]
        same((values, places), (np.take_along_axis(keys[0], order, axis), order), device)
    found = syncs(lambda: weft.argpartition(weft.asarray(keys), 2, 0), 0)
    assert (np.take_along_axis(keys, _to_numpy(found), 0)[2] == np.partition(keys, 2, 0)[2]).all()


@on_gpus
def test_captured(device):
    @weft.compile
    def captured(x):
        return weft.sort(x + 1, axis=0) * 2

    for shape in ((9, 4), (1500, 2), (9, 4)):
        host = np.random.default_rng(5).integers(-9, 9, shape).astype(np.float32)
        same(captured(weft.asarray(host)), np.sort(host + 1, axis=0) * 2, device)


@pytest.mark.skipif(not SMALL, reason="there is no GPU without float64")
def test_what_a_device_lacks():
    x = weft.asarray(np.arange(3, dtype=np.int32), device=SMALL[0])
    with pytest.raises(weft.errors.UnsupportedError, match="int64"):
        weft.argsort(x)
