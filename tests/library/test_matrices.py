"""Matrices made from vectors, their diagonals and triangles, and grids, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, COMPLEX, KINDS, array, check, compiled, layouts
from support import texts

import weft
from weft import WeftError, cuda

ROW = array((4,), np.float64)
MATRIX = array((3, 4), np.float64)
CUBE = array((2, 3, 4), np.float32)
NUMBER = np.array(3.5)
# Of vectors with 3 elements.
VECTORS = array((4, 3), np.float64)


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype(dtype: type) -> None:
    a = array((3,), dtype)
    check("np.outer(a, a), np.kron(a, a), np.diag(a), np.diagflat(a), np.tril(a), np.vander(a), np.meshgrid(a, a)", a=a)
    check("np.triu(a), np.diagonal(a), np.diag(a, 1), np.trace(a), a.trace()", exact=False, a=array((3, 3), dtype))
    if dtype is not np.bool_:
        check("np.cross(a, a[::-1])", a=a)


@pytest.mark.parametrize("dtype", KINDS)
def test_pairs_of_dtypes(dtype: type) -> None:
    a = array((3,), dtype)
    check("np.inner(a, a), np.inner(a, b), np.outer(a, b), np.kron(b, a), np.cross(a, b)", exact=False, a=a, b=array((3,), np.int16))


@pytest.mark.parametrize("name", ["outer", "inner", "kron"])
@pytest.mark.parametrize("dtypes", [(np.float64, np.float64), (np.int8, np.uint8), (np.complex64, np.float32), (np.bool_, np.bool_)])
def test_products(name: str, dtypes: tuple[type, type]) -> None:
    for first in ((4,), (3, 4), (2, 3, 4)) if dtypes[0] is np.float64 else ((4,), (0, 4)):
        for second in ((4,), (2, 4), (2, 1, 4)) if dtypes[0] is np.float64 else ((4,), (2, 4)):
            check(f"np.{name}(a, b)", exact=False, a=array(first, dtypes[0]), b=array(second, dtypes[1], seed=1))


@pytest.mark.parametrize("name", ["outer", "inner", "kron"])
def test_products_of_layouts(name: str) -> None:
    for a in layouts(MATRIX):
        check(f"np.{name}(a, b)", exact=False, a=a, b=MATRIX[1:])
        check(f"np.{name}(b, a)", exact=False, a=a, b=MATRIX[1:].copy(order="F"))


@pytest.mark.parametrize("name", ["outer", "inner", "kron"])
def test_products_with_numbers(name: str) -> None:
    for text in ("(a, 2)", "(2.5, a)", "(2, 3)", "(n, a)", "(a, n)", "((1, 2), [3, 4])"):
        check(f"np.{name}{text}", a=array((3,), np.float32), n=NUMBER)


@pytest.mark.parametrize("dtype", ALL)
def test_vdot_of_every_dtype(dtype: type) -> None:
    a = array((12,), dtype)
    for other in (dtype, np.float32, np.int8, np.complex64):
        check("np.vdot(a, b)", exact=False, a=a, b=array((12,), other, seed=1))
    check("np.vdot(a, b)", exact=False, a=np.zeros(0, dtype), b=np.zeros((0, 3), dtype))


def test_vdot_of_shapes() -> None:
    for a in layouts(array((3, 4), np.complex128)):
        for b in (array((12,), np.complex128), array((2, 6), np.float64), array((3, 2, 2), np.complex64)):
            check("np.vdot(a, b), np.vdot(b, a)", exact=False, a=a, b=b)
    check("np.vdot(a, b)", a=array((3, 4), np.complex128), b=array((3,), np.complex128))
    check("np.vdot(a, 2j), np.vdot(2.5, a), np.vdot((1, 2j), [3, 4])", a=array((1,), np.complex128))


def test_products_that_do_not_fit() -> None:
    for shapes in (((3,), (4,)), ((2, 3), (3, 2)), ((0,), (2,))):
        check("np.inner(a, b)", a=array(shapes[0], np.float64), b=array(shapes[1], np.float64))
    check("np.inner(a, a), np.outer(a, a), np.kron(a, b)", a=np.zeros(0), b=np.zeros((2, 0)))


def test_out_of_outer() -> None:
    for out in (np.zeros((4, 4)), np.zeros((4, 4), np.complex64).T, np.zeros((4, 4), np.int32), np.zeros((3, 4)), np.zeros(16)):
        check("np.outer(a, a, out=out)", a=ROW, out=out)


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((4, 3), (3,)), ((1, 3), (4, 3)), ((2, 1, 3), (4, 3)), ((4, 2), (4, 3)), ((3,), (4, 2)), ((0, 3), (3,))]
)
def test_cross(shapes: tuple[tuple[int, ...], ...]) -> None:
    a, b = (array(shape, np.float64, seed=i, nan=True) for i, shape in enumerate(shapes))
    check("np.cross(a, b)", a=a, b=b)
    check("np.cross(b, a, -1, -1, 0)", a=a, b=b)


@pytest.mark.parametrize("arguments", ["0, 1", "axisa=0, axisb=1, axisc=0", "axisa=0, axisb=1, axisc=2", "axis=0", "axis=2"])
def test_axes_of_cross(arguments: str) -> None:
    check(f"np.cross(a, b, {arguments})", a=VECTORS.T, b=VECTORS)
    check(f"np.cross(a, a, {arguments})", a=VECTORS.T)
    check(f"np.cross(a, a, {arguments})", a=array((3, 3, 3), np.float64))


def test_vectors_that_have_no_cross_product() -> None:
    for shapes in (((4,), (4,)), ((1,), (3,)), ((2, 3), (3, 3)), ((), (3,))):
        check("np.cross(a, b)", a=np.ones(shapes[0]), b=np.ones(shapes[1]))
    check("np.cross(a, a)", a=np.array([True, False, True]))
    with pytest.raises(ValueError, match="length 2"):
        compiled("np.cross(a, a)", "a")[1](np.ones(2))


@pytest.mark.parametrize(
    "arguments", ["3", "3, 2", "2, 4, 1", "4, None, -2", "3, k=9", "3, 3, -9", "0", "-1", "2, -1", "2, k=1, dtype=np.int8"]
)
@pytest.mark.parametrize("name", ["eye", "tri"])
def test_ones(name: str, arguments: str) -> None:
    check(f"np.{name}({arguments})")


def test_sizes_that_the_run_finds() -> None:
    for n, m, k in ((3, 4, 1), (5, 2, -2), (0, 3, 0), (2, 2, 7)):
        check("np.eye(n, m, k), np.tri(n, m, k), np.identity(n), np.tril_indices(n, k, m), np.triu_indices(n, k, m)", n=n, m=m, k=k)
        check("np.tril(a, k), np.triu(a, k), np.diag(a[0], k), np.diagonal(a, k), np.trace(a, k)", a=MATRIX, k=k)


@pytest.mark.parametrize("dtype", ["None", "np.bool_", "np.float32", "np.complex128", "int"])
def test_types_of_ones(dtype: str) -> None:
    check(f"np.identity(3, {dtype}), np.identity(0, dtype={dtype})")
    check(f"np.eye(2, dtype={dtype}), np.tri(2, 3, dtype={dtype})")


@pytest.mark.parametrize("name", ["tril", "triu"])
@pytest.mark.parametrize("shape", [(4,), (3, 4), (4, 3), (2, 3, 3), (2, 1, 2, 3), (0, 3), (3, 0), (0,)])
def test_triangles(name: str, shape: tuple[int, ...]) -> None:
    for dtype in (np.float64, np.bool_):
        for k in (0, 1, -1, 9, -9):
            check(f"np.{name}(a, k)", a=array(shape, dtype, nan=True), k=k)
    for a in layouts(array(shape, np.int32)):
        check(f"np.{name}(a)", a=a)


@pytest.mark.parametrize("arguments", ["3", "3, 1", "3, -1", "3, 0, 5", "3, 1, m=2", "0", "-2", "3, k=9", "3, -9, 4"])
def test_indices_of_triangles(arguments: str) -> None:
    check(f"np.tril_indices({arguments}), np.triu_indices({arguments})")


@pytest.mark.parametrize("k", [0, 1, -1, 2, 9, -9])
def test_diag(k: int) -> None:
    for a in (*layouts(ROW), MATRIX, np.asfortranarray(MATRIX), np.zeros(0), np.zeros((0, 2))):
        check("np.diag(a, k)", a=a, k=k)
    check("np.diagflat(a, k), np.diagflat(a.T, k), np.diagflat(3, k), np.diagflat((1, 2), k), np.diag([1, 2], k)", a=MATRIX, k=k)


@pytest.mark.parametrize("arguments", ["0", "1", "-1", "0, 1, 0", "1, 0, -1", "-1, axis1=-1, axis2=1", "0, 1, 1", "0, 0, 3", "0, 0, 2"])
def test_diagonals_of_axes(arguments: str) -> None:
    for a in (MATRIX, *layouts(CUBE), array((2, 3, 2, 2), np.int8)):
        check(f"np.trace(a, {arguments}), a.trace({arguments})", exact=False, a=a)


@pytest.mark.parametrize("arguments", ["", "1", "-1", "9", "-9", "offset=1, axis1=-2, axis2=-1", "1 << 30", "-(1 << 30)"])
def test_diagonals_are_views(arguments: str) -> None:
    for a in (MATRIX, np.asfortranarray(MATRIX), MATRIX[:0]):
        check(f"v = np.diagonal(a, {arguments})\na[...] = 7\nreturn v, a.diagonal({arguments})", a=a)
    for a in (CUBE, array((2, 3, 2, 2), np.int8)):
        check("v = np.diagonal(a, 1, -2, -1)\na[...] = 7\nreturn v", a=a)


@pytest.mark.parametrize("text", ["np.diagonal(a[:, ::2])", "np.diagonal(b)", "np.diagonal(a)[0] = 1"])
def test_what_is_no_view_is_refused(text: str) -> None:
    def compiled() -> None:
        weft.njit(texts.function_of(f"def f(a, b):\n    {text}\n", {"np": np}))(MATRIX.copy(), CUBE)

    with pytest.raises(weft.errors.WeftError):
        compiled()


@pytest.mark.parametrize("dtype", KINDS)
def test_types_of_traces(dtype: type) -> None:
    a = array((3, 3), dtype)
    check("np.trace(a), np.trace(a, dtype=np.float32), np.trace(a, 0, 0, 1, np.int8)", exact=False, a=a.real)
    check("np.trace(a, dtype=bool)", a=a.real)
    check("np.trace(a, dtype=np.complex64)", exact=False, a=a)


def test_out_of_trace() -> None:
    for out in (np.zeros(2, np.float32), np.zeros(4, np.float32)[::2], np.zeros(3, np.float32)):
        check("np.trace(a, 0, 1, 2, out=out)", exact=False, a=CUBE, out=out)


def test_what_has_no_diagonal() -> None:
    for text in ("np.diagonal(a)", "np.trace(a)", "np.diag(b)", "np.diag(c)", "np.tril(b)", "np.triu(b)"):
        check(text, a=ROW, b=NUMBER, c=CUBE)


@pytest.mark.parametrize("arguments", ["", ", 3", ", 0", ", -1", ", 6, True", ", increasing=True", ", N=2, increasing=False"])
def test_vander(arguments: str) -> None:
    for a in (*layouts(array((3,), np.float64, nan=True)), np.zeros(0), array((4,), np.int32)):
        check(f"np.vander(a{arguments})", a=a)
    check(f"np.vander((1, 2, 3){arguments})")
    check(f"np.vander(a{arguments})", a=MATRIX)


@pytest.mark.parametrize("lengths", ["(2, 3)", "(3,)", "()", "(2, 0, 3)", "[1, 2, 3, 2]", "(2, -1)", "(n, n)", "3"])
def test_indices(lengths: str) -> None:
    for arguments in ("", ", np.float32", ", dtype=np.uint8, sparse=True", ", sparse=True"):
        check(f"np.indices({lengths}{arguments})", n=2)


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        ", sparse=True",
        ", indexing='ij'",
        ", indexing='ij', sparse=True",
        ", copy=True, sparse=False",
        ", copy=False",
        ", sparse=True, copy=False",
        ", indexing='x'",
    ],
)
def test_meshgrid(arguments: str) -> None:
    for items in ("a", "a, b", "a, b, a", "a, 3", "m, b", "(1, 2), b, [3.5]", "a, b[:0]", "n, a, b, a[::2]"):
        check(f"np.meshgrid({items}{arguments})", a=ROW, b=array((3,), np.int16), m=MATRIX.T, n=NUMBER)
    check(f"np.meshgrid({arguments.removeprefix(', ')})")


@pytest.mark.parametrize("text", ["np.eye(3, order='F')", "np.trace(m, out=a)"])
def test_what_is_refused_that_numpy_takes(text: str) -> None:
    with pytest.raises(WeftError):
        compiled(text, "a, m")[1](ROW, MATRIX)


def test_sums_in_kernels() -> None:
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = np.trace(a, i) + 100 * np.inner(a[i], a[0])

    a, out = np.arange(12.0).reshape(3, 4), np.zeros(3)
    kernel[1, 3](a, out)
    assert np.array_equal(out, [np.trace(a, i) + 100 * np.inner(a[i], a[0]) for i in range(3)])


@pytest.mark.parametrize("left", [(3, 4), (2, 0), (70, 2)])
@pytest.mark.parametrize("right", [(2, 3), (0, 2), (3, 63), (3, 64)])
def test_kron_of_narrow_and_wide_blocks(left: tuple[int, int], right: tuple[int, int]) -> None:
    check("np.kron(a, b)", a=array(left, np.float64), b=array(right, np.int64, 1))
    check("np.kron(a, b)", a=array(left, np.complex128).T, b=array(right, np.float32, 1)[::-1])
    check("np.kron(a, b)", a=array(left, np.bool_), b=array(right, np.bool_, 1))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_vander_of_infinite_complex_numbers(dtype: type) -> None:
    for z in (complex(np.inf, 1), complex(np.nan, 1), complex(1, np.inf), 0, 2 + 3j):
        for n in (0, 1, 2, 5):
            check("np.vander(a, n)", a=np.array([z, 1], dtype), n=n)
            check("np.vander(a, n, increasing=True)", a=np.array([z, 1], dtype), n=n)
