"""Loops over all points of an array, and the reductions of several axes that find positions or spreads."""

import numpy as np
import pytest
from support.texts import function_of

import weft

A = np.random.default_rng(5).normal(size=(4, 5, 3))


def same(function, *args):
    """Compiled and plain give the same."""
    got, expected = weft.njit(function)(*args), function(*args)
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for g, e in zip(got, expected):
            np.testing.assert_allclose(g, e, rtol=1e-13)
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_ndindex_goes_over_positions_in_order():
    def weighted(a):
        total, step = 0.0, 1
        for at in np.ndindex(a.shape):
            total += step * a[at]
            step += 1
        return total

    def over_lengths(a):
        total = 0.0
        for i, j in np.ndindex(a.shape[0], 2):
            total += (i + 3 * j) * a[i, j, 0]
        return total

    same(weighted, A)
    same(weighted, A[::2, ::-1].T)
    same(weighted, A[:, :0])
    same(over_lengths, A)


def test_ndindex_of_nothing_is_one_empty_position():
    def count():
        n = 0
        for at in np.ndindex(()):
            n += 1 + len(at)
        return n

    same(count)


def test_ndenumerate_gives_positions_and_elements():
    def moments(a):
        total = 0.0
        for (i, j, k), x in np.ndenumerate(a):
            total += x * (i + 10 * j + 100 * k)
        return total

    same(moments, A)
    same(moments, np.asfortranarray(A))


def test_break_continue_and_else_of_points():
    def first_above(a, limit):
        seen, where = 0, (-1, -1, -1)
        for at, x in np.ndenumerate(a):
            if x < -1:
                continue
            seen += 1
            if x > limit:
                where = at
                break
        else:
            seen = -seen
        return where[0], where[1], where[2], seen

    same(first_above, A, 1.5)
    same(first_above, A, 1e9)


def test_break_leaves_only_the_loop_over_points():
    def rows(a):
        total = 0.0
        for i in range(3):
            for x in a.flat:
                total += x * (i + 1)
                if x > 1:
                    break
        return total

    same(rows, A)


def test_flat_alone_numbered_and_beside_others():
    def total(a):
        result = 0.0
        for x in a.flat:
            result += x
        return result

    def dot(a, b):
        result = 0.0
        for i, (x, y) in enumerate(zip(a.flat, b.flat)):
            result += i * x * y
        return result

    def expression(a):
        result = 0.0
        for x in (a * 2 + 1).flat:
            result += x
        return result

    same(total, A)
    same(dot, A, A[::-1])
    same(expression, A)


def test_points_in_a_kernel(device):
    @weft.cuda.jit
    def count(a, out):
        for at in np.ndindex(a.shape):
            out[0] += a[at]

    data, out = np.arange(12.0).reshape(3, 4), np.zeros(1)
    count[1, 1](data, out)
    assert out[0] == data.sum()


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1])
@pytest.mark.parametrize("name", ["argmin", "argmax", "var", "std"])
def test_positions_and_spreads_along_axes(name, axis):
    source = f"def f(a):\n    return a.{name}({'' if axis is None else f'axis={axis}'})\n"
    plain = function_of(source, {})
    for array in (A, A.astype(np.float32), (A * 10).astype(np.int16)):
        expected = plain(array)
        got = weft.njit(plain)(array)
        np.testing.assert_allclose(got, expected, rtol=1e-5 if array.dtype == np.float32 else 1e-13)
        assert np.asarray(got).dtype == np.asarray(expected).dtype


def test_the_first_nan_is_the_extreme():
    def positions(a):
        return a.argmin(axis=0), a.argmax(axis=1), a.argmin(), a.argmax()

    data = A[:, :, 0].copy()
    data[1, 2] = data[3, 2] = data[1, 4] = np.nan
    same(positions, data)


def test_ties_go_to_the_first():
    def positions(a):
        return a.argmin(), a.argmax(), a.argmin(axis=1), a.argmax(axis=0)

    same(positions, np.array([[1, 0, 0], [0, 1, 1]]))
