"""Products of vectors and matrices against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

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
