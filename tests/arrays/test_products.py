"""Products of vectors and matrices against NumPy's."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import weft

from .against_numpy import ALL, array, cases, check

SHAPES = ((), (3,), (3, 3), (2, 3), (3, 4), (2, 3, 3), (4, 1, 3, 3), (2, 2, 3), (0,), (0, 3), (3, 0))
NAMES = ("dot", "inner", "outer", "vdot", "matmul", "vecdot", "kron", "matvec", "vecmat")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(name: str, dtype: type) -> None:
    for other in (dtype, np.float32, np.int8, np.bool_, np.complex128):
        a, b = array((3, 3), dtype), array((3, 3), other, seed=1)
        check(f"xp.{name}(a, b)", exact=False, a=a, b=b)


@pytest.mark.parametrize("name", NAMES)
def test_shapes(name: str) -> None:
    for one, other in cases(SHAPES, SHAPES):
        check(f"xp.{name}(a, b)", exact=False, a=array(one), b=array(other, np.int32, seed=1))


def test_tensordot() -> None:
    a, b = array((2, 3, 4)), array((3, 4, 5), np.float64, seed=1)
    for axes in (
        "2",
        "1",
        "0",
        "([1, 2], [0, 1])",
        "([2, 1], [1, 0])",
        "([1], [0])",
        "(1, 0)",
        "(-1, 1)",
        "([1, 2], [0, 0])",
        "9",
        "([], [])",
    ):
        check(f"xp.tensordot(a, b, {axes})", exact=False, a=a, b=b)
    check("xp.tensordot(a, a, 3)", exact=False, a=a)
    for one, two, n in (((2, 3), (3,), 2), ((2, 3), (3,), 3), ((3, 3), (3,), 2), ((3,), (2,), 1), ((), (2,), 1)):
        check(f"xp.tensordot(a, b, {n})", a=np.ones(one), b=np.ones(two))


def test_keywords() -> None:
    a, b = array((3, 3)), array((3, 3), seed=1)
    for name in ("matmul", "dot"):
        check(f"xp.{name}(a, b, out=o)", exact=False, a=a, b=b, o=np.zeros((3, 3)))
        check(f"xp.{name}(a, b, out=o)", exact=False, a=a, b=b, o=np.zeros((3, 2)))
    check("xp.matmul(a, b, dtype=xp.float32)", exact=False, a=a, b=b)
    check("xp.matmul(a, b, dtype=xp.int32, casting='unsafe')", exact=False, a=a, b=b)
    check("xp.matmul(a, b, dtype=xp.int32)", a=a, b=b)
    for axis in (-3, -1, 0, 1, 2):
        check(f"xp.vecdot(a, b, axis={axis})", exact=False, a=a, b=b)
    check("xp.vecdot(a, b)", exact=False, a=array((3,), np.complex64), b=array((2, 3), np.complex64, seed=1))
    check("xp.matmul(a.T, b[:, ::-1])", exact=False, a=a, b=b)


def _axes_of(rng: random.Random, name: str, ranks: list[int], cores: list[int]) -> str:
    """A list of axes that most of the time fits the operands and the result."""
    count = 3 if cores[-1] or rng.random() < 0.7 else 2
    items = []
    for rank, core in list(zip(ranks, cores))[:count]:
        chosen = [axis - rng.choice([0, rank]) for axis in rng.sample(range(rank), min(core, rank))]
        if chosen and rng.random() < 0.06:
            chosen[0] = rng.choice([rank, chosen[-1], 1.5])
        items.append(str(chosen[0]) if core == 1 and chosen and rng.random() < 0.5 else str(tuple(chosen)))
    return f"[{', '.join(items)}]" if rng.random() < 0.95 else f"({', '.join(items)})"


@pytest.mark.parametrize("name", ["matmul", "matvec", "vecmat", "vecdot"])
def test_axes(name: str) -> None:
    rng = random.Random(name)
    for _ in range(60):
        one, other = rng.choice([(2, 3), (3, 3), (3, 2), (2, 2), (1, 3), (3, 1), (1, 1)])
        first, second = {"matmul": (min(one, 2), min(other, 2)), "matvec": (2, 1), "vecmat": (1, 2), "vecdot": (1, 1)}[name]
        last = {"matmul": first + second - 2, "vecdot": 0}.get(name, 1)
        rank = max(max(one - first, other - second) + last, 0)
        axes = _axes_of(rng, name, [one, other, rank], [first, second, last])
        dtype = rng.choice([np.float64, np.int32, np.complex64])
        a, b = array((3,) * one, dtype), array((3,) * other, dtype, seed=1)
        check(f"xp.{name}(a, b, axes={axes})", exact=False, a=a, b=b)
        # NumPy 2.4 leaves elements of such an `out` unwritten.
        if name == "vecmat" and dtype == np.complex64:
            continue
        check(f"xp.{name}(a, b, axes={axes}, out=o)", exact=False, a=a, b=b, o=np.zeros((3,) * rank, dtype))


def test_axes_of_other_lengths() -> None:
    a, b = array((2, 3, 4)), array((4, 2, 3), seed=1)
    for axes in (
        "[(1, 2), (0, 2), (0, 1)]", "[(0, 2), (0, 1), (0, 1)]", "[(0, 2), (0, 1), (-1, 0)]", "[(2, 1), (1, 0), (2, 1)]",
        "[(0, 1), (1, 2), (0, 1)]", "[(0, 2), (0, 1)]", "[(0, 2), (0, 1), 0]", "[[0, 2], (0, 1), (0, 1)]", "[(0, 0), (0, 1), (0, 1)]",
        "None", "3",
    ):  # fmt: skip
        check(f"xp.matmul(a, b, axes={axes})", exact=False, a=a, b=b)
    check("xp.matmul(a, b, axis=0)", a=a, b=b)
    check("xp.matmul(a, b, keepdims=True)", a=a, b=b)
    for words in (
        "axis=1, keepdims=True", "axis=-3, keepdims=True", "axes=[0, 0], keepdims=True", "axes=[0, 0, 2], keepdims=True", "axes=[0, 0, ()]",
        "axes=[0, 0, 0]", "axes=[0, 0], axis=0", "axis=1.5", "axis=3",
    ):  # fmt: skip
        check(f"xp.vecdot(a, a, {words})", exact=False, a=a)
    check("xp.vecdot(a, b, axis=-2, keepdims=True)", exact=False, a=a, b=a[0])
    check("xp.vecdot(a, b, axis=-3)", a=a, b=a[0])


def test_cross() -> None:
    for one, other in cases(((3,), (2,), (4, 3), (4, 2), (1, 3), (4,), ()), ((3,), (2,), (4, 3), (5, 3))):
        check("xp.cross(a, b)", exact=False, a=array(one), b=array(other, seed=1))
    for words in ("axis=0", "axisa=0, axisb=0", "axisa=0, axisb=0, axisc=0", "axis=1", "axis=5"):
        check(f"xp.cross(a, b, {words})", exact=False, a=array((3, 4)), b=array((3, 4), seed=1))
    check("xp.cross(a, b)", a=array((3,), np.int32), b=array((3,), np.uint8))


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_slid(name: str) -> None:
    for n, m in cases((0, 1, 3, 8), (0, 1, 4, 8)):
        for mode in ("full", "same", "valid", "none"):
            check(f"xp.{name}(a, v, '{mode}')", exact=False, a=array((n,)), v=array((m,), np.float32, seed=1))
    for dtype in ALL:
        check(f"xp.{name}(a, v)", exact=False, a=array((6,), dtype), v=array((3,), dtype, seed=1))
    check(f"xp.{name}(2, [1, 2])")
    check(f"xp.{name}(a, a)", a=array((2, 3)))


def test_two_matrices_as_they_may_be() -> None:
    """What goes straight to the routine is no other thing: layouts, dtypes, what is pending or captured, errors."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((6, 8)), rng.standard_normal((8, 4))
    for first, second in itertools.product((np.float16, np.float32, np.float64, np.complex64, np.int32, np.bool_), repeat=2):
        x, y = a.astype(first), b.astype(second)
        limit = {"rtol": 1e-2, "atol": 1e-2} if np.float16 in (first, second) else {"rtol": 1e-4, "atol": 1e-4}
        for part in ((slice(None), slice(None)), (slice(None, None, 2), slice(None)), (slice(None, None, -1), slice(None))):
            wanted = x[part] @ y
            for found in (weft.asarray(x)[part] @ weft.asarray(y), weft.asarray(x)[part] @ y, x[part] @ weft.asarray(y)):
                assert found.dtype == wanted.dtype and found.shape == wanted.shape
                np.testing.assert_allclose(weft.asnumpy(found), wanted, **limit)
        found = weft.matmul(weft.asarray(y).T, (weft.asarray(x) + weft.asarray(x)).T)
        np.testing.assert_allclose(weft.asnumpy(found), y.T @ (x + x).T, **limit)
    x, y = weft.asarray(a), weft.asarray(b)
    out = weft.zeros((6, 4))
    assert weft.matmul(x, y, out) is out and np.allclose(weft.asnumpy(out), a @ b)
    assert weft.matmul(x, y, dtype=np.complex128).dtype == np.complex128
    twice = weft.compile(lambda x, y: x @ y @ weft.ones((4, 2)))
    for _ in range(2):
        np.testing.assert_allclose(weft.asnumpy(twice(x, y)), a @ b @ np.ones((4, 2)))
    for wrong in (lambda m, p, q: m.matmul(q, p), lambda m, p, q: p @ p, lambda m, p, q: m.matmul(p, q, dtype=np.int32)):
        with pytest.raises((ValueError, TypeError)) as of_numpy:
            wrong(np, a, b)
        with pytest.raises(TypeError if issubclass(of_numpy.type, TypeError) else ValueError):
            wrong(weft, x, y)
    assert (weft.zeros((3, 0)) @ weft.zeros((0, 2))).tolist() == [[0, 0]] * 3 and (weft.zeros((0, 3)) @ weft.zeros((3, 0))).shape == (0, 0)
    with pytest.raises(TypeError):
        x @ "no operand"
