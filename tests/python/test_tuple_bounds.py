"""Indices outside of tuples raise IndexError wherever code runs, and a uint64 of 2**63 or more is no negative index."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import cuda, njit, vectorize

INDICES = [*range(-5, 6), 2**62, -(2**63), 2**63 - 1]
TYPES = [np.int8, np.uint8, np.int32, np.uint64, np.int64]


def item(t, i):
    return t[i]


def length(a, i):
    return a.shape[i]


@pytest.mark.parametrize("options", [{}, {"debug": True}, {"boundscheck": True}, {"parallel": True}])
def test_functions(options):
    for f, of in ((item, (1, 2.5, 3)), (item, (7,)), (length, np.zeros((2, 3)))):
        compiled = njit(f, **options)
        n = len(getattr(of, "shape", of))
        for i in (*INDICES, *(t(v) for t in TYPES for v in INDICES if np.iinfo(t).min <= v <= np.iinfo(t).max)):
            if -n <= int(i) < n:
                assert compiled(of, i) == f(of, int(i))
            else:
                with pytest.raises(IndexError, match="tuple index out of range"):
                    compiled(of, i)


def test_large_unsigned_indices():
    for i in (np.uint64(2**63), np.uint64(2**64 - 1), np.uint64(2**64 - 3)):
        for options in ({}, {"debug": True}):
            for of in ((1, 2, 3), (7,)):
                with pytest.raises(IndexError):
                    njit(item, **options)(of, i)
        with pytest.raises(IndexError):
            njit(item, boundscheck=True)(np.arange(3), i)
        with pytest.raises(IndexError):
            njit(lambda a, i: a[i, 0], debug=True)(np.zeros((3, 3)), i)


def test_written_indices():
    """A constant outside the tuple is found when the function is compiled."""
    with pytest.raises(IndexError, match=r"the index 2 is outside a tuple of 2") as caught:
        njit(lambda a: a.shape[2])(np.zeros((2, 3)))
    assert isinstance(caught.value, weft.IndexError_)
    with pytest.raises(IndexError, match="outside"):
        njit(lambda a: a.shape[-3])(np.zeros((2, 3)))
    big = np.uint64(2**64 - 1)
    with pytest.raises(IndexError):
        njit(lambda a: a.shape[big])(np.zeros((2, 3)))


def test_indices_of_a_loop():
    @njit
    def product(a, n):
        size = 1
        for axis in range(n):
            size *= a.shape[axis]
        return size

    assert product(np.zeros((2, 3)), 2) == 6
    with pytest.raises(IndexError):
        product(np.zeros((2, 3)), 3)


@pytest.mark.parametrize("check", [False, True])
def test_kernels(device, check):
    @cuda.jit(debug=check, opt=not check)
    def kernel(a, which, out):
        i = cuda.grid(1)
        if i < which.size:
            out[i] = a.shape[which[i]] + (10, 20)[which[i]]

    out = np.zeros(4, np.int64)
    kernel[1, 4](np.zeros((2, 3)), np.array([0, 1, -1, -2]), out)
    assert list(out) == [12, 23, 23, 12]
    for bad in (2, -3):
        with pytest.raises(IndexError, match="tuple index out of range"):
            kernel[1, 4](np.zeros((2, 3)), np.array([0, 1, bad, 0]), out)
            cuda.synchronize()


def test_ufuncs():
    pick = vectorize(lambda i: (10, 20, 30)[i])
    np.testing.assert_array_equal(pick(np.array([0, 1, 2, -1, -3])), [10, 20, 30, 30, 10])
    for bad in (3, -4):
        with pytest.raises(IndexError):
            pick(np.array([0, bad]))
