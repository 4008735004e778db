"""Results lie in memory in the order of their operands, as NumPy's `order="K"`: it decides which reshapes are views."""

import numpy as np
import pytest

import weft

rng = np.random.default_rng(5)


def views():
    """Pairs of the same view of NumPy's and of Weft's memory, of up to four axes."""
    for _ in range(60):
        rank = int(rng.integers(1, 5))
        host = rng.standard_normal(tuple(rng.integers(1, 4, rank)))
        turn = tuple(int(axis) for axis in rng.permutation(rank))
        cut = tuple(slice(None, None, int(rng.choice([1, 1, 2, -1]))) for _ in range(rank))
        stretched = (2, *host.shape) if rng.random() < 0.3 else host.shape
        a, b = np.broadcast_to(host, stretched), weft.broadcast_to(weft.asarray(host), stretched)
        a, b = (x[(slice(None),) * (x.ndim - rank) + cut] for x in (a, b))
        yield tuple(x.transpose(*range(x.ndim - rank), *(x.ndim - rank + axis for axis in turn)) for x in (a, b))


def assert_lies_as(found, expected):
    assert found.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(found), expected)
    long = [axis for axis, n in enumerate(expected.shape) if n > 1]
    assert [found.strides[axis] for axis in long] == [expected.strides[axis] for axis in long]


OPERATIONS = {
    "unary": lambda xp, x: -x,
    "chain": lambda xp, x: (x + 1) * x,
    "scalar": lambda xp, x: 2 - x,
    "comparison": lambda xp, x: x > 0,
    "two results": lambda xp, x: xp.modf(x)[1],
    "where": lambda xp, x: xp.where(x > 0, x, 1),
    "clip": lambda xp, x: xp.clip(x, -0.5, 0.5),
    "row": lambda xp, x: x * (x[:1] if x.ndim else x),
    "turned": lambda xp, x: x + xp.ones(x.shape),
    "astype": lambda xp, x: x.astype(xp.float32),
    "astype C": lambda xp, x: x.astype(xp.float32, order="C"),
    "astype A": lambda xp, x: x.astype(xp.float32, order="A"),
    "copy": lambda xp, x: x.copy(),
    "copy K": lambda xp, x: x.copy(order="K"),
    "np.copy": lambda xp, x: xp.copy(x),
    "as C": lambda xp, x: xp.asarray(x, order="C") + 0,
    "astype F": lambda xp, x: x.astype(xp.float32, order="F"),
    "copy F": lambda xp, x: x.copy(order="F"),
    "copy A": lambda xp, x: x.copy(order="A"),
    "np.copy F": lambda xp, x: xp.copy(x, order="F"),
    "array": lambda xp, x: xp.array(x),
    "array A": lambda xp, x: xp.array(x, order="A"),
    "array F": lambda xp, x: xp.array(x, order="F", ndmin=3),
    "as F": lambda xp, x: xp.asarray(x, order="F"),
    "as A": lambda xp, x: xp.asarray(x, order="A"),
    "as F of another type": lambda xp, x: xp.asarray(x, xp.float32, order="F"),
    "asfortranarray": lambda xp, x: xp.asfortranarray(x),
    "zeros_like": lambda xp, x: xp.zeros_like(x),
    "zeros_like F": lambda xp, x: xp.zeros_like(x, order="F"),
    "ones_like A": lambda xp, x: xp.ones_like(x, order="A"),
    "ones_like C": lambda xp, x: xp.ones_like(x, dtype=xp.int8, order="C"),
    "full_like of an array": lambda xp, x: xp.full_like(x, x),
    "full_like of another shape": lambda xp, x: xp.full_like(x, 3, shape=(*x.shape, 2)),
    "max": lambda xp, x: x.max(axis=0),
    "max of the last": lambda xp, x: x.max(axis=-1),
    "repeat": lambda xp, x: xp.repeat(x, 2, axis=0),
    "tile": lambda xp, x: xp.tile(x, 2),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_results_lie_as_numpys(name):
    operation = OPERATIONS[name]
    for a, b in views():
        assert_lies_as(operation(weft, b), operation(np, a))


def test_two_operands_agree_or_c_order_wins():
    for (a, b), (c, d) in zip(views(), views()):
        try:
            expected = a + c
        except ValueError:
            continue
        assert_lies_as(b + d, expected)
        # A copy has elements where NumPy's stretched array has steps of 0.
        if not any(n > 1 and step == 0 for n, step in zip(c.shape, c.strides)):
            assert_lies_as(b + c, expected)
            assert_lies_as(weft.asarray(c) + b, c + a)


def test_numpys_arrays_are_copied_as_they_lie():
    for a, _ in views():
        assert_lies_as(weft.asarray(a) + 0, np.array(a) + 0)


def test_what_is_reshaped_is_a_view_where_numpys_is_one():
    host = np.arange(6.0).reshape(2, 3)
    a, b = host.T * 1, weft.asarray(host).T * 1
    for x in (a, b):
        x.reshape(6)[0] = 9
        x.T.reshape(6)[1] = 8
    np.testing.assert_array_equal(np.asarray(b), a)


def test_sums_do_not_depend_on_the_order():
    host = rng.standard_normal((40, 50, 60)).astype(np.float32)
    a = weft.asarray(host)
    b = weft.asarray(np.asfortranarray(host))
    for axis in [0, 1, 2, (0, 2), (1, 2), None]:
        assert np.asarray(a.sum(axis=axis)).tobytes() == np.asarray(b.sum(axis=axis)).tobytes()
