"""Long chains of pending work: nothing recurses along them. Updates of overlapping parts stay where they are."""

import threading

import numpy as np
import pytest

import weft


def turned(times):
    b = weft.asarray(np.arange(9.0).reshape(3, 3))
    for _ in range(times):
        b[...] = b.T
    return b


def test_chains_of_views():
    np.testing.assert_array_equal(weft.asnumpy(turned(30001)), np.arange(9.0).reshape(3, 3).T)


def test_chains_of_axes_of_length_1():
    b = weft.arange(9.0)
    for _ in range(30000):
        b = b[None].copy()[0]
    np.testing.assert_array_equal(weft.asnumpy(b), np.arange(9.0))


def test_chains_of_sums_and_of_updates():
    x, a = weft.ones(10), weft.zeros(10)
    for i in range(100_000):
        x = x + 1
        a[i % 10] = i
    assert float(x[0]) == 100_001
    np.testing.assert_array_equal(weft.asnumpy(a), np.arange(99_990.0, 100_000))


def test_chains_that_nobody_looks_at_are_dropped():
    x = weft.ones(10)
    for _ in range(100_000):
        x = x * 2
    del x


def test_on_a_small_stack():
    found = []
    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(weft.asnumpy(turned(5001))))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    np.testing.assert_array_equal(found[0], np.arange(9.0).reshape(3, 3).T)


@pytest.mark.parametrize("to, from_", [((5, 10), (4, 9)), ((4, 9), (5, 10)), ((5, 10), (14, 19))])
def test_updates_of_parts_stay_in_place(to, from_):
    host = np.arange(1000.0)
    a = weft.asarray(host)
    place = weft.asnumpy(a).ctypes.data
    a[slice(*to)] = a[slice(*from_)]
    host[slice(*to)] = host[slice(*from_)].copy()
    assert weft.asnumpy(a).ctypes.data == place
    np.testing.assert_array_equal(weft.asnumpy(a), host)
