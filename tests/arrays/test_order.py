"""Results lie in memory in the order of their operands, as NumPy's `order="K"`: it decides which reshapes are views."""

import numpy as np
import pytest

import weft

rng = np.random.default_rng(5)


def views():
    """Pairs of the same view of NumPy's and of Weft's memory, of up to four axes."""
    for _ in range(60):
        rank = int(rng.integers(1, 5))
        # Whole numbers, whose sums are the same in every order.
        host = rng.integers(-9, 10, tuple(rng.integers(1, 4, rank))) * 1.0
        turn = tuple(int(axis) for axis in rng.permutation(rank))
        cut = tuple(slice(None, None, int(rng.choice([1, 1, 2, -1]))) for _ in range(rank))
        stretched = (2, *host.shape) if rng.random() < 0.3 else host.shape
        a, b = np.broadcast_to(host, stretched), weft.broadcast_to(weft.asarray(host), stretched)
        a, b = (x[(slice(None),) * (x.ndim - rank) + cut] for x in (a, b))
        yield tuple(x.transpose(*range(x.ndim - rank), *(x.ndim - rank + axis for axis in turn)) for x in (a, b))


def assert_lies_as(found, expected):
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(found), expected)
    long = [axis for axis, n in enumerate(expected.shape) if n > 1 and expected.size]
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
    "tile once": lambda xp, x: xp.tile(x, 1),
    "cumsum": lambda xp, x: xp.cumsum(x, axis=0),
    "cumprod of the last": lambda xp, x: xp.cumprod(x, axis=-1),
    "cumsum, cast": lambda xp, x: xp.cumsum(x.astype(xp.float32), axis=0, dtype=xp.float64),
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x, axis=0, include_initial=True),
    "add.accumulate": lambda xp, x: xp.add.accumulate(x, axis=0),
    "maximum.accumulate": lambda xp, x: xp.maximum.accumulate(x, axis=-1),
    "add.reduceat": lambda xp, x: xp.add.reduceat(x, [0, 0], axis=-1),
    "hypot.reduce": lambda xp, x: xp.hypot.reduce(x, axis=0).round(),
    "max of complex": lambda xp, x: (x + 1j).max(axis=0),
    "sort": lambda xp, x: xp.sort(x, axis=0),
    "sort the last": lambda xp, x: xp.sort(x),
    "argsort": lambda xp, x: xp.argsort(x, axis=0, stable=True),
    "partition": lambda xp, x: xp.partition(x, 0, axis=0) * 0,
    "argpartition": lambda xp, x: xp.argpartition(x, 0, axis=0) * 0,
    "median": lambda xp, x: xp.median(x, axis=-1),
    "median, kept": lambda xp, x: xp.median(x, axis=0, keepdims=True),
    "nanmedian": lambda xp, x: xp.nanmedian(x, axis=0),
    "quantile": lambda xp, x: xp.quantile(x, 0.5, axis=0, keepdims=True),
    "concatenate": lambda xp, x: xp.concatenate([x, x]),
    "concatenate along the last": lambda xp, x: xp.concatenate([x, x.astype(xp.float32)], axis=-1),
    "concatenate with one in C's order": lambda xp, x: xp.concatenate([xp.zeros(x.shape), x], axis=-1),
    "append": lambda xp, x: xp.append(x, x, axis=0),
    "stack": lambda xp, x: xp.stack([x, x]),
    "stack at the end": lambda xp, x: xp.stack([x, x], axis=-1),
    "hstack": lambda xp, x: xp.hstack([x, x]),
    "dstack": lambda xp, x: xp.dstack([x, x]),
    "block": lambda xp, x: xp.block([[x, x], [x, x]]),
    "roll": lambda xp, x: xp.roll(x, 1, axis=0),
    "roll as one row": lambda xp, x: xp.roll(x, 1),
    "pad": lambda xp, x: xp.pad(x, 1, constant_values=3),
    "pad with edges": lambda xp, x: xp.pad(x, 1, mode="edge"),
    "pad with nothing": lambda xp, x: xp.pad(x, 0, mode="wrap"),
    "tril": lambda xp, x: xp.tril(x),
    "triu": lambda xp, x: xp.triu(x),
    "ones_like, cast": lambda xp, x: xp.ones_like(x, dtype=xp.int8),
    "full_like": lambda xp, x: xp.full_like(x, 2),
    "empty_like": lambda xp, x: xp.isnan(xp.empty_like(x)) | True,
    "zeros_like C": lambda xp, x: xp.zeros_like(x, order="C"),
    "zeros_like A": lambda xp, x: xp.zeros_like(x, order="A"),
    "zeros_like in another rank": lambda xp, x: xp.zeros_like(x, shape=(*x.shape, 2)),
    "gradient": lambda xp, x: xp.gradient(x, axis=0),
    "gradient of the last": lambda xp, x: xp.gradient(x, axis=-1),
    "round": lambda xp, x: xp.round(x, 1),
    "nan_to_num": lambda xp, x: xp.nan_to_num(x),
    "imag": lambda xp, x: xp.imag(x),
    "select": lambda xp, x: xp.select([x > 0, x < 0], [x, -x]),
    "choose": lambda xp, x: xp.choose((x > 0).astype(xp.int64), [x, x + 1]),
    "piecewise": lambda xp, x: xp.piecewise(x, [x > 0], [1, 2]),
    "meshgrid": lambda xp, x: xp.meshgrid(x, xp.arange(3), indexing="ij")[1],
    "take": lambda xp, x: xp.take(x, [0, 0], axis=-1),
    "take one": lambda xp, x: xp.take(x, 0, axis=-1),
    "take_along_axis": lambda xp, x: xp.take_along_axis(x, (x * 0).astype(xp.int64), axis=-1),
    "delete": lambda xp, x: xp.delete(x, 0, axis=0),
    "delete several": lambda xp, x: xp.delete(x, [0, 1], axis=-1),
    "insert": lambda xp, x: xp.insert(x, 0, 5, axis=0),
    "argwhere": lambda xp, x: xp.argwhere(x),
}
FEW = np.array([[0, -1], [0, 0], [-1, 0]])
OPERATIONS |= {
    f"x[{key}]": eval(f"lambda xp, x: x[{key}]", {"few": FEW})
    for key in [
        "[0, 0]", "few", "few.T", ":, [0, 0]", ":, few", ":, few.T", "..., [0, 0]", "..., few", ":, [0, 0], :", "[0, 0], :, [0, 0]",
        "few, few", "few.T, few.T", "few, few[:1]", ":, [0, 0], [0, 0]", ":, :, [0, 0]", "0, :, [0, 0]", ":, 0, [0, 0]", "None, :, [0, 0]",
        "::-1, [0, 0]", "xp.asarray(few).T", ":, xp.asarray(few).T", "x > 0", "xp.ones(x.shape[0], dtype=bool)",
        ":, xp.ones(x.shape[1], dtype=bool)", "True", "..., True", "few.T, None", "few.T, ...",
    ]
}  # fmt: skip
"""Subscripts by arrays: the axes of these lie first in memory, whatever place they have."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_results_lie_as_numpys(name):
    operation = OPERATIONS[name]
    for a, b in views():
        try:
            expected = np.asarray(operation(np, a))
        except (IndexError, ValueError):
            continue
        assert_lies_as(operation(weft, b), expected)


def test_two_operands_agree_or_c_order_wins():
    for (a, b), (c, d) in zip(views(), views()):
        try:
            expected = a + c
        except ValueError:
            continue
        assert_lies_as(b + d, expected)
        assert_lies_as(b + c, expected)
        assert_lies_as(c + b, c + a)


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


@pytest.mark.parametrize(
    "name", ["cumsum", "sort", "partition", "median", "concatenate", "roll", "zeros_like", "take_along_axis", "x[:, [0, 0]]", "x[:, few.T]"]
)
def test_captured_functions_lie_as_they_do_when_called(name):
    plain = OPERATIONS[name]
    captured = weft.compile(lambda x: plain(weft, x))
    for shape in [(2, 3, 4), (3, 4, 5)]:
        host = np.arange(np.prod(shape) * 1.0).reshape(shape)
        for turn in [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)]:
            x = weft.asarray(host).transpose(*turn)
            for _ in range(3):
                assert_lies_as(captured(x), np.asarray(plain(np, host.transpose(turn))))
