"""Loops over arrays that start anywhere: gangs start where stores are aligned, and every element is still written once."""

import numpy as np
import pytest

import weft


@weft.njit(parallel=True)
def add_to_each(x, out):
    for i in weft.prange(out.shape[0]):
        out[i] += x[i] + x.dtype.type(1)


@weft.njit(parallel=True)
def add_to_rows(x, out):
    for i in weft.prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] += x[i, j]


@weft.vectorize
def scaled(x):
    return x * 3


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.uint8])
@pytest.mark.parametrize("count", [1, 63, 1000, 1024, 1027, 5000])
def test_every_start(dtype, count):
    size = np.dtype(dtype).itemsize
    for start in range(64 // size + 1):
        room = np.zeros(count + 64 // size + 8, dtype)
        x = np.arange(count + 3).astype(dtype)[3:]
        add_to_each(x, room[start : start + count])
        expected = np.zeros_like(room)
        expected[start : start + count] = x + dtype(1)
        np.testing.assert_array_equal(room, expected)


@pytest.mark.parametrize("width", [5, 1030, 2049])
def test_rows(width):
    room = np.zeros((3, width + 7), np.float32)
    x = np.arange(3 * width, dtype=np.float32).reshape(3, width)
    add_to_rows(x, room[:, 3 : 3 + width])
    np.testing.assert_array_equal(room[:, 3 : 3 + width], x)
    assert not room[:, :3].any() and not room[:, 3 + width :].any()


def test_out_of_a_ufunc():
    room = np.zeros(4001, np.float32)
    x = np.arange(4000, dtype=np.float32)
    scaled(x, out=room[1:])
    np.testing.assert_array_equal(room[1:], x * np.float32(3))
