"""Folds of elements that are computed on the way, wherever operands lie: the bits are those of the same elements, stored first."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import weft

RNG = np.random.default_rng(8)
# The shape of what is in memory, and the view of it.
LAYOUTS = {
    "dense": (lambda shape: shape, lambda xp, memory, shape: memory),
    "turned": (lambda shape: shape[::-1], lambda xp, memory, shape: memory.T),
    "exchanged": (lambda shape: (shape[-1], *shape[:-1]), lambda xp, memory, shape: xp.moveaxis(memory, 0, -1)),
    "every second": (lambda shape: (*shape[:-1], 2 * shape[-1]), lambda xp, memory, shape: memory[..., ::2]),
    "backwards": (lambda shape: shape, lambda xp, memory, shape: memory[::-1]),
    "stretched": (lambda shape: (*shape[:-1], 1), lambda xp, memory, shape: xp.broadcast_to(memory, shape)),
}
EXPRESSIONS = {
    "product": lambda x, y: x * x + y,
    "truth": lambda x, y: x > y,
    "wider": lambda x, y: (x * y).astype(np.float64),
    "truth as a float": lambda x, y: (x >= y).astype(np.float64),
    "truth as an integer": lambda x, y: (x != y).astype(np.int64),
    "truth as a short float": lambda x, y: (x >= y).astype(np.float32),
}
FOLDS = ["sum", "mean", "max", "argmin"]
SHAPES = [(700, 900), (40, 60, 300), (3, 200_000), (200_000, 3), (600_001,)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_bits_are_those_of_stored_elements(shape, layout):
    needed, view = LAYOUTS[layout]
    memory, y = RNG.normal(size=needed(shape)).astype(np.float32), RNG.normal(size=shape[-1:]).astype(np.float32)
    x, a, b = view(np, memory, shape), view(weft, weft.asarray(memory), shape), weft.asarray(y)
    axes = [None, *range(len(shape))]
    for (name, expression), fold, axis in itertools.product(EXPRESSIONS.items(), FOLDS, axes):
        if fold == "max" and "truth" in name:
            continue
        stored = expression(a, b)
        stored.wait()
        found, expected = getattr(weft, fold)(expression(a, b), axis=axis), getattr(weft, fold)(stored, axis=axis)
        what = (name, fold, axis)
        assert found.dtype == expected.dtype and weft.asnumpy(found).tobytes() == weft.asnumpy(expected).tobytes(), what
        theirs = getattr(np, fold)(expression(x, y), axis=axis)
        np.testing.assert_allclose(weft.asnumpy(found), theirs, rtol=2e-4, atol=2e-3 * x.size**0.5, err_msg=str(what))


@pytest.mark.parametrize("letter", "bBhHiIlLefd?")
def test_positions_of_extremes_at_every_place(letter):
    """The extreme, one twice, a NaN, at every place of rows of many lengths."""
    dtype = np.dtype(letter)
    for length in (1, 2, 31, 32, 33, 63, 64, 65, 200, 1023, 1024, 1025, 1100):
        rows = np.zeros((length, length), dtype)
        np.fill_diagonal(rows, 1)
        twice = rows | np.roll(rows, 7, 1) if dtype.kind in "iub" else np.maximum(rows, np.roll(rows, 7, 1))
        for case in (rows, twice, ~rows if dtype.kind in "b" else -rows if dtype.kind in "if" else rows):
            for function in ("argmax", "argmin"):
                for axis in (0, 1):
                    found = getattr(weft, function)(weft.asarray(case), axis=axis)
                    assert (weft.asnumpy(found) == getattr(np, function)(case, axis=axis)).all(), (length, function, axis)
        if dtype.kind == "f":
            case = RNG.normal(size=(length, length)).astype(dtype)
            np.fill_diagonal(case, np.nan)
            case[np.arange(length), (np.arange(length) * 3) % length] = np.nan
            for axis in (0, 1):
                assert (weft.asnumpy(weft.argmax(weft.asarray(case), axis=axis)) == np.argmax(case, axis=axis)).all()


def test_what_many_views_read_is_stored_once():
    """A stencil of a stencil: two kernels, none of them cut off from what follows."""
    x = weft.asarray(RNG.random((400, 500), np.float32))

    def five(x, axis):
        parts = [x[i : x.shape[0] - 4 + i] if axis == 0 else x[:, i : x.shape[1] - 4 + i] for i in range(5)]
        return (parts[0] + 4.0 * parts[1] + 6.0 * parts[2] + 4.0 * parts[3] + parts[4]) * 0.0625

    explained = weft.explain(five(five(x, 1), 0))
    assert {kernel.operations for kernel in explained.kernels} == {8}
    assert all(kernel.runs > 1 and kernel.extents[1] == 496 for kernel in explained.kernels)
    # Both are computed once, but for the few rows that parts share.
    assert sum(kernel.written for kernel in explained.kernels) < 1.1 * 4 * (400 + 396) * 496


@pytest.mark.parametrize("letter", "fdFD")
def test_products_of_many_computed_elements(letter):
    """Those of complex numbers have an order that is no one of parts."""
    for shape in ((32_767,), (32_768,), (65_537,), (300, 1000), (2, 100_000), (100_000, 2)):
        x = (
            weft.asarray(np.exp(RNG.normal(size=shape) * 1e-3).astype(letter))
            if letter in "fd"
            else weft.asarray(np.exp(1j * RNG.normal(size=shape)).astype(letter))
        )
        for axis in (None, *range(len(shape))):
            stored = x * 1
            stored.wait()
            assert weft.asnumpy((x * 1).prod(axis=axis)).tobytes() == weft.asnumpy(stored.prod(axis=axis)).tobytes()
            assert np.isfinite(weft.asnumpy(x.real.prod(axis=axis, dtype=letter.upper()))).all()


def test_kernels_of_a_loop_stay_short():
    """Nodes that read much, one after the other: one of them at the most is computed with what is made of it."""
    total = None
    for _ in range(16):
        node = None
        for x in [weft.asarray(RNG.random((300, 300), np.float32)) for _ in range(5)]:
            for first in range(3):
                part = x[first : 292 + first]
                node = part if node is None else node + part
        total = node if total is None else total + node
    operations = {kernel.operations for kernel in weft.explain(total).kernels}
    assert min(operations) >= 13 and max(operations) <= 32


@pytest.mark.parametrize("dtype", [None, np.float32, np.float64, np.int32, np.uint8])
def test_bools_are_true_whatever_their_byte_is(dtype):
    """Bytes seen as bools, and memory of others, have more than 0 and 1."""
    bytes_of = (RNG.random((70, 640)) < 0.3).astype(np.uint8) * 255
    truths, kept = bytes_of.astype(bool), weft.asarray(bytes_of).view(bool)
    for x in (kept, weft.asarray(bytes_of.view(bool))):
        for view in (lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::3, ::-1]):
            for axis in (None, 0, 1):
                found, expected = weft.sum(view(x), axis=axis, dtype=dtype), np.sum(view(truths), axis=axis, dtype=dtype)
                assert weft.asnumpy(found).tobytes() == np.ascontiguousarray(expected).tobytes()
                assert weft.asnumpy(weft.mean(view(x), axis=axis)).tolist() == np.mean(view(truths), axis=axis).tolist()
