"""Arrays as arguments of compiled functions and kernels: what is read, what is written, and to whom it shows."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import cuda
from weft._weft import _adopt, _from_numpy, ndarray

RNG = np.random.default_rng(7)


def as_numpy(x):
    return weft.asnumpy(x)


@weft.njit
def doubled(x):
    for i in range(x.shape[0]):
        x[i] *= 2


@weft.njit
def total(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    return s


@weft.njit
def added(x, y):
    return x + y


@weft.njit
def same(x):
    return x


@weft.njit
def parts(x):
    return x[::2], x.T, x.shape[0]


@weft.njit
def fill_first(out, x):
    for i in range(out.shape[0]):
        out[i] = x[i] + 1


@weft.njit
def helper(x, value):
    x[0] = value


@weft.njit
def through_helper(x, y):
    helper(x, y[0])


@weft.njit
def made_twice(n):
    a = np.zeros(n)
    return a, a[1:], a


def test_a_function_reads_what_is_pending():
    x = weft.arange(5.0)
    y = x * 3 + 1
    result = total(y)
    assert result == (np.arange(5.0) * 3 + 1).sum() and type(result) is type(total(np.arange(5.0)))


def test_an_argument_is_no_hidden_sync():
    with weft.syncs("error"):
        assert total(weft.arange(5.0) * 2) == 20.0
        doubled(weft.arange(5.0) + 1)


def test_writes_show_in_all_views():
    host = RNG.random(10)
    x = weft.asarray(host)
    odd, back = x[1::2], x[::-1]
    doubled(odd)
    host[1::2] *= 2
    assert (as_numpy(x) == host).all() and (as_numpy(odd) == host[1::2]).all() and (as_numpy(back) == host[::-1]).all()
    doubled(x[2:4])
    host[2:4] *= 2
    assert (as_numpy(back) == host[::-1]).all()


def test_what_was_recorded_before_keeps_what_it_read():
    x = weft.asarray(np.arange(4.0))
    y = x + 1
    copy = x.copy()
    doubled(x)
    assert as_numpy(y).tolist() == [1, 2, 3, 4] and as_numpy(copy).tolist() == [0, 1, 2, 3] and as_numpy(x).tolist() == [0, 2, 4, 6]
    z = x - 1
    doubled(x)
    assert as_numpy(z).tolist() == [-1, 1, 3, 5] and as_numpy(x).tolist() == [0, 4, 8, 12]


def test_exported_arrays_keep_their_elements():
    x = weft.asarray(np.arange(4.0))
    seen = np.asarray(x)
    doubled(x)
    assert seen.tolist() == [0, 1, 2, 3] and as_numpy(x).tolist() == [0, 2, 4, 6]


def test_what_is_only_read_is_not_copied():
    x = weft.asarray(np.arange(1000.0))
    seen = np.asarray(x)
    total(x)
    added(x, x)
    fill_first(weft.zeros(3), x)
    assert np.shares_memory(seen, np.asarray(x))
    alone = weft.asarray(np.arange(1000.0))
    where = np.asarray(alone).__array_interface__["data"][0]
    doubled(alone)
    assert np.asarray(alone).__array_interface__["data"][0] == where


def test_arguments_may_share_memory():
    host = np.arange(8.0)
    x = weft.asarray(host)
    fill_first(x[:4], x[1:5])
    expected = host.copy()
    fill_first.py_func(expected[:4], expected[1:5])
    assert (as_numpy(x) == expected).all()


def test_writes_by_functions_that_are_called():
    x, y = weft.zeros(3), weft.asarray([5.0])
    held = np.asarray(x)
    through_helper(x, y)
    assert as_numpy(x).tolist() == [5, 0, 0] and held.tolist() == [0, 0, 0]


def test_read_only_arrays():
    x = weft.broadcast_to(weft.asarray([1.0, 2.0]), (3, 2))
    assert as_numpy(added(x, x)).tolist() == [[2, 4]] * 3
    row = weft.broadcast_to(weft.asarray(1.0), (3,))
    with pytest.raises(weft.TypingError):
        doubled(row)


def test_results_are_arrays_of_weft():
    x, host = weft.asarray(np.arange(4.0)), np.arange(4.0)
    assert type(added(x, x)) is ndarray and type(added(host, host)) is np.ndarray
    assert type(added(x, host)) is ndarray and as_numpy(added(x, host)).tolist() == [0, 2, 4, 6]
    result = same(x)
    result[1] = 9
    assert type(result) is ndarray and as_numpy(x).tolist() == [0, 9, 2, 3]
    assert type(same(host)) is np.ndarray


def test_results_that_are_views():
    host = np.arange(12.0).reshape(4, 3)
    x = weft.asarray(host)
    evens, turned, n = parts(x)
    assert n == 4 and (as_numpy(evens) == host[::2]).all() and (as_numpy(turned) == host.T).all()
    evens[0, 0] = -1
    assert float(turned[0, 0]) == -1 and float(x[0, 0]) == -1
    evens, turned, _ = parts(x[1:, 1:])
    turned += 100
    host[0, 0] = -1
    host[1:, 1:] += 100
    assert (as_numpy(x) == host).all() and (as_numpy(evens) == host[1:, 1:][::2]).all()


def test_results_that_share_new_memory():
    @weft.njit
    def made(x):
        a = np.zeros(x.shape[0])
        return a, a[1:], a.reshape(1, -1)

    a, b, c = made(weft.zeros(4))
    b[0] = 3
    assert as_numpy(a).tolist() == [0, 3, 0, 0] and as_numpy(c).tolist() == [[0, 3, 0, 0]]
    a += 1
    assert as_numpy(b).tolist() == [4, 1, 1]

    @weft.njit
    def later(x):
        a = np.ones(x.shape[0])
        return a[2:], a

    b, a = later(weft.zeros(4))
    b *= 2
    assert as_numpy(a).tolist() == [1, 1, 2, 2] and (a + 1).sum().item() == 10


def test_results_of_no_elements_and_of_constants():
    table = np.arange(3.0)

    @weft.njit
    def chosen(x):
        return x[:0], table

    empty, constant = chosen(weft.zeros(4))
    assert type(empty) is ndarray and empty.shape == (0,) and np.asarray(constant).tolist() == [0, 1, 2]


def test_arrays_that_a_function_knows_are_constants():
    table = weft.arange(4.0) * 10

    @weft.njit
    def looked_up(i):
        return table[i] + table.sum()

    assert looked_up(2) == 80.0

    @weft.vectorize
    def each(i):
        return table[i]

    assert as_numpy(each(weft.asarray([3, 1]))).tolist() == [30, 10]


def test_tuples_of_arrays():
    @weft.njit
    def summed(pair, scale):
        pair[0][0] = 7
        return (pair[0] + pair[1]) * scale

    x, y = weft.asarray([1.0, 2.0]), weft.asarray([10.0, 20.0])
    old = x * 1
    assert as_numpy(summed((x, y), 2)).tolist() == [34, 44]
    assert as_numpy(x).tolist() == [7, 2] and as_numpy(old).tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_every_dtype(dtype):
    host = np.arange(6).reshape(2, 3).astype(dtype)
    for x, expected in ((weft.asarray(host), host), (weft.asarray(host).T, host.T), (weft.asarray(host)[:, ::-1], host[:, ::-1])):
        assert np.asarray(same(x)).tobytes() == np.ascontiguousarray(expected).tobytes() and same(x).dtype == expected.dtype
        assert same(x).strides == x.strides


def test_elements_that_are_not_aligned_are_refused():
    x = weft.zeros(9, dtype=weft.uint8)[1:].view(weft.float64)
    with pytest.raises(weft.TypingError, match=r"not aligned in memory; pass x.copy\(\)"):
        total(x)


def test_signatures():
    @weft.njit("float64(float64[:])")
    def first(x):
        return x[0]

    assert first(weft.asarray([3.0, 1.0])) == 3.0
    with pytest.raises(weft.TypingError):
        first(weft.asarray([3, 1]))


def test_adopted_memory_is_written_in_place():
    x = _adopt(np.arange(3.0))
    doubled(x)
    assert as_numpy(x).tolist() == [0, 2, 4]


@cuda.jit
def scale(out, x, by):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] * by


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_kernels(n):
    host = RNG.random(n)
    x, out = weft.asarray(host), weft.zeros(n)
    before, pending = np.asarray(out), out + 1
    scale[(n + 63) // 64, 64](out, x * 2, 3.0)
    assert (as_numpy(out) == host * 2 * 3.0).all() and (before == 0).all() and (as_numpy(pending) == 1).all()
    scale.forall(n)(x[::-1], x, 1.0) if n == 1 else None
    view = weft.zeros((n, 2))
    scale[(n + 63) // 64, 64](view[:, 1], x, 2.0)
    assert (as_numpy(view) == np.stack([np.zeros(n), host * 2], axis=1)).all()


def test_kernels_take_arrays_of_all_kinds_together():
    x, host = weft.asarray([1.0, 2.0]), np.zeros(2)
    scale[1, 32](host, x, 2.0)
    assert host.tolist() == [2, 4]
    scale[1, 32](x, host, 2.0)
    assert as_numpy(x).tolist() == [4, 8]


def test_random_calls_against_numpy():
    @weft.njit
    def mixed(a, b, k):
        for i in range(a.shape[0]):
            a[i] = a[i] * 0.5 + b[k] + i
        return b[k:]

    for _ in range(300):
        host = RNG.random(12)
        x = _from_numpy(host)
        held = []
        for _ in range(6):
            start, stop = sorted(RNG.integers(0, 12, 2))
            step = int(RNG.integers(1, 3))
            other = int(RNG.integers(0, 8))
            k = int(RNG.integers(0, 4))
            if RNG.random() < 0.5:
                held.append((x[start:stop] + 1, host[start:stop] + 1))
            if RNG.random() < 0.3:
                held.append((np.asarray(x), host.copy()))
            if RNG.random() < 0.4:
                x[start:stop] *= 3
                host[start:stop] *= 3
            got = mixed(x[start:stop:step], x[other:][:4], k)
            expected = mixed.py_func(host[start:stop:step], host[other:][:4], k)
            got += 1
            expected += 1
        assert (as_numpy(x) == host).all()
        for got, expected in held:
            assert (np.asarray(got) == expected).all()
