"""array_equal, array_equiv and allclose against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, KINDS, array, check, layouts

from weft import cuda

SHAPES = ((), (0,), (5,), (3, 4), (2, 3, 2), (2, 1, 3, 2))
COMPARISONS = ("np.array_equal(a, b)", "np.array_equal(a, b, equal_nan=True)", "np.array_equiv(a, b)", "np.allclose(a, b)")


@pytest.mark.parametrize("text", [*COMPARISONS, "np.allclose(a, b, 0.01, 0.1, equal_nan=True)"])
@pytest.mark.parametrize("dtype", KINDS)
def test_equal_and_changed_arrays(text: str, dtype: type) -> None:
    for shape in ((0,), (5,), (3, 4)):
        a = array(shape, dtype, nan=True)
        check(text, a=a, b=a.copy())
        if a.size:
            b = array(shape, dtype, nan=True)
            b[..., -1:] = ~b[..., -1:] if b.dtype.kind == "b" else b[..., -1:] + b.dtype.type(1)
            check(text, a=a, b=b)


@pytest.mark.parametrize("text", COMPARISONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_ranks_and_strides(text: str, shape: tuple[int, ...]) -> None:
    a = array(shape, np.float64)
    for b in layouts(a):
        check(text, a=a, b=b)


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype_beside_floats_and_integers(dtype: type) -> None:
    a = array((4,), dtype)
    for b in (np.array(a.real, np.float64), np.array(a.real, np.int64)):
        check("np.array_equal(a, b), np.array_equiv(b, a), np.allclose(a, b), np.allclose(b, a)", a=a, b=b)


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4,)), ((3, 4), (3, 1)), ((3, 4), (3,)), ((3, 4), (2, 4)), ((1,), ()), ((0, 1), (3,)), ((2, 2, 2), (1, 2))]
)
def test_shapes_that_broadcast_and_others(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = (np.ones(shape) for shape in shapes)
    for text in COMPARISONS:
        check(text, a=a, b=b)


@pytest.mark.parametrize("expected", [1, 1.0, True, 1 + 0j, np.float32(1), np.int8(1)])
def test_numbers(expected: complex) -> None:
    for text in COMPARISONS:
        check(text, a=np.array([1.0, 1.00000001], np.float32), b=expected)
        check(text, a=expected, b=expected)
        check(text, a=expected, b=np.array([1, 1]))


def test_array_likes() -> None:
    for text in ("np.array_equal(a, (1.0, 2.0))", "np.array_equiv([1, 2], a)", "np.allclose((1, 2), a)", "np.allclose(a, [1, 2])"):
        check(text, a=np.array([1.0, 2.0]))


def test_tolerances_of_integers_at_the_ends_of_their_range() -> None:
    check("np.allclose(a, b)", a=np.array([-128], np.int8), b=np.array([-128], np.int8))
    check("np.allclose(a, b, rtol=0.5)", a=np.array([-100], np.int8), b=np.array([-128], np.int8))
    check("np.allclose(a, b, 0, 1)", a=np.array([5, 6]), b=np.array([6, 6]))
    check("np.allclose(a, b, r, t)", a=np.array([5.0, 6.0]), b=np.array([6.0, 6.5]), r=np.float64(0), t=np.array([1, 0.4]))
    check("np.array_equal(a, b)", a=np.array([2**63], np.uint64), b=np.array([-(2**63)], np.int64))


def test_infinities() -> None:
    a = np.array([np.inf, 1.0, -np.inf])
    for b in (a.copy(), -a, np.array([np.inf, np.inf, -np.inf])):
        for text in COMPARISONS:
            check(text, a=a, b=b)


def test_comparisons_in_kernels() -> None:
    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = np.array_equal(a[i], b[i]) + 2 * np.array_equiv(a[i], 1) + 4 * np.allclose(a[i], b[i]) + 8 * np.allclose(a[i, 0], 1)

    a, b, out = np.ones((3, 2)), np.ones((3, 2)), np.zeros(3)
    a[1, 1] = 2
    b[2, 0] = 1 + 1e-9
    kernel[1, 3](a, b, out)
    assert out.tolist() == [15, 8, 14]
