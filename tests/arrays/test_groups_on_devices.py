"""Work that is laid out for memory on devices, against NumPy.

Loops whose threads take several points at a time, and kernels that are such loops: every length around a group, every size of element,
arrays that are not aligned or lie apart, threads that are too many or too few. Folds whose points lie side by side, elements at indices,
histograms.
"""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import cuda

from .on_devices import GPUS, SMALL, numbers, on_gpus

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 1000]
KINDS = [np.dtype(letter) for letter in "?bhilefdFD"]


def _has(device: weft.Device, dtype: np.dtype) -> bool:
    wide = dtype.itemsize // (2 if dtype.kind == "c" else 1) == 8
    return not wide or device.name not in SMALL


@on_gpus
def test_elementwise(device):
    for dtype in (dtype for dtype in KINDS if _has(device, dtype)):
        for n in LENGTHS:
            h = numbers((n,), dtype, n)
            x = weft.asarray(h, device=device)
            got = np.asarray(weft.where(x == x, x, x))
            assert got.tobytes() == h.tobytes(), (dtype, n)
    x, h = weft.asarray(np.arange(37, dtype=np.float32), device=device), np.arange(37, dtype=np.float32)
    # Memory that starts in between, other steps, and types of two sizes.
    for part in (np.s_[1:], np.s_[3:30], np.s_[::2], np.s_[::-1], np.s_[4:20]):
        np.testing.assert_array_equal(np.asarray(x[part] * 2 + 1), h[part] * 2 + 1)
        np.testing.assert_array_equal(np.asarray(x[part].astype(np.int16)), h[part].astype(np.int16))
    x[1:] = x[1:] + x[:-1]
    h[1:] = h[1:] + h[:-1]
    np.testing.assert_array_equal(np.asarray(x), h)


@cuda.jit
def _scaled(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def _early(x, y, n):
    i = cuda.grid(1)
    if i >= n:
        return
    y[i] = x[i] + x[i]


@cuda.jit
def _chosen(x, y):
    i = cuda.grid(1)
    if y.size > i:
        v = x[i]
        if v > 0:
            y[i] = v
        else:
            y[i] = -v


@on_gpus
def test_kernels_that_count_threads(device):
    for dtype in (np.dtype(letter) for letter in "bhilfd"):
        if not _has(device, dtype):
            continue
        for n in LENGTHS:
            h = np.arange(n).astype(dtype) % 50
            x, y = weft.asarray(h, device=device), weft.asarray(h + 1, device=device)
            _scaled[-(-n // 32), 32](dtype.type(2), x, y)
            np.testing.assert_array_equal(np.asarray(y), 2 * h + h + 1)


@on_gpus
def test_threads_and_bounds(device):
    h = np.arange(1, 101, dtype=np.float32)
    for blocks, threads in [(1, 1), (1, 7), (3, 32), (4, 32), (9, 64), (100, 1)]:
        for n in (-5, 0, 1, 6, 50, 100):
            x, y = weft.asarray(h, device=device), weft.asarray(np.zeros(100, np.float32), device=device)
            _early[blocks, threads](x, y, n)
            done = max(0, min(n, blocks * threads))
            np.testing.assert_array_equal(np.asarray(y), np.where(np.arange(100) < done, 2 * h, 0))
    # Where an array does not start at a multiple of 16, and where both are the same.
    x = weft.asarray(h, device=device)
    for start in (0, 1, 2, 4):
        y = weft.asarray(np.zeros(100 - start, np.float32), device=device)
        _chosen[4, 32](x[start:] - 50, y)
        np.testing.assert_array_equal(np.asarray(y), abs(h[start:] - 50))
    _scaled[4, 32](np.float32(3), x, x)
    np.testing.assert_array_equal(np.asarray(x), 4 * h)


@pytest.mark.skipif(not any(name.startswith("cuda") for name in GPUS), reason="there is no CUDA device")
def test_what_is_shown_is_what_runs():
    @cuda.jit
    def copied(x, y):
        i = cuda.grid(1)
        if i < x.shape[0]:
            y[i] = x[i]

    x, y = (weft.zeros(64, dtype=np.float32, device="cuda") for _ in "xy")
    copied[1, 64](x, y)
    assert "st.global.v4.b32" in "".join(copied.inspect_asm().values())


@on_gpus
def test_folds_of_points_that_lie_side_by_side(device):
    if device.name in SMALL:
        pytest.skip("has no int64 for places")
    host = np.random.default_rng(5).standard_normal((70, 1100)).astype(np.float32)
    host[3, 7], host[5, 1099] = np.nan, -np.inf
    for shape in ((70, 1100), (2, 35, 1100), (70, 11, 100)):
        h = host.reshape(shape)
        x, c = weft.asarray(h, device=device), weft.asarray(h, device="cpu")
        axis = len(shape) - 2 if shape[0] == 2 else 0
        for fold in (weft.sum, weft.max, weft.argmin, weft.std, weft.any):
            got, expected = np.asarray(fold(x, axis=axis)), np.asarray(fold(c, axis=axis))
            # The order of sums is the same everywhere.
            np.testing.assert_array_equal(got, expected)
    many = np.arange(4500 * 1030, dtype=np.int32).reshape(4500, 1030)
    np.testing.assert_array_equal(
        np.asarray(weft.asarray(many, device=device).sum(axis=0, dtype=np.int32)), many.sum(axis=0, dtype=np.int32)
    )


@on_gpus
def test_indices_are_looked_at_as_elements_are_read(device):
    h = np.arange(10, dtype=np.float32) * 3
    x = weft.asarray(h, device=device)
    for dtype in (np.int32, np.int64):
        if not _has(device, np.dtype(dtype)):
            continue
        for at in ([0, 9, -1, -10, 4], [], [[1, -2], [3, 3]]):
            index = np.array(at, dtype)
            np.testing.assert_array_equal(np.asarray(x[weft.asarray(index, device=device)]), h[index])
            np.testing.assert_array_equal(np.asarray(x[::-2][weft.asarray(index % 5, device=device)]), h[::-2][index % 5])
        for wrong in (10, -11, 2**31 - 1, -(2**31)):
            with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 10"):
                x[weft.asarray(np.array([1, wrong, 2], dtype), device=device)]


@on_gpus
def test_searches_of_few_and_of_many(device):
    if device.name in SMALL:
        pytest.skip("has no int64 for places")
    source = np.random.default_rng(8)
    for letter in "fdiBFD":
        for n, count in [(1, 5000), (2, 5), (7, 5000), (1024, 5000), (1025, 4097)]:
            some = source.integers(0, 40, n) * (1 + 1j if letter in "FD" else 1)
            row = np.sort(some.astype(letter))
            looked = source.choice(row, count) + source.integers(-1, 2, count).astype(letter)
            if letter in "fd":
                looked[:3] = np.nan, np.inf, -np.inf
            for side in ("left", "right"):
                got = weft.searchsorted(weft.asarray(row, device=device), weft.asarray(looked, device=device), side)
                np.testing.assert_array_equal(np.asarray(got), np.searchsorted(row, looked, side))


@on_gpus
def test_masks_of_tiles(device):
    for n in (1, 31, 32, 257, 2047, 2048, 2049, 20_000):
        h = np.random.default_rng(n).standard_normal(n).astype(np.float32)
        x = weft.asarray(h, device=device)
        for mask in (h > 0, h > -9, h > 9, h > 1.5):
            flags = weft.asarray(mask, device=device)
            np.testing.assert_array_equal(np.asarray(x[flags]), h[mask])
            np.testing.assert_array_equal(np.asarray(x[::-1][flags]), h[::-1][mask])


@on_gpus
def test_histograms_of_floats(device):
    if device.name in SMALL:
        pytest.skip("has no int64 for counts")
    source = np.random.default_rng(3)
    for dtype in (np.float32, np.float64):
        if not _has(device, np.dtype(dtype)):
            continue
        h = source.standard_normal(5000).astype(dtype)
        h[:6] = -3, 3, 0, -0.0, 2.9999, -3.0001
        x = weft.asarray(h, device=device)
        for bins in (1, 10, 100, 1024, 1025):
            for ends in (None, (-3, 3), (0, 1)):
                got, edges = weft.histogram(x, bins, ends)
                expected, known = np.histogram(h, bins, ends)
                np.testing.assert_array_equal(np.asarray(got), expected)
                np.testing.assert_array_equal(np.asarray(edges), known)
        given = np.array([-2, -1, 0, 0, 3], dtype)
        h[10:12] = np.nan, np.inf
        got, _ = weft.histogram(weft.asarray(h, device=device), weft.asarray(given, device=device))
        np.testing.assert_array_equal(np.asarray(got), np.histogram(h, given)[0])
