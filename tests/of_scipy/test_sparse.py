"""`weft.scipy.sparse` against SciPy: every way to make a matrix, products, transposition, sums, on every device, and errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import weft
from weft.errors import UnsupportedError
from weft.scipy import sparse

from .against_scipy import examples

DTYPES = ("float64", "float32", "int32", "int64", "uint8", "bool", "complex64", "complex128")
FORMATS = ("csr", "csc", "coo")
SHAPES = ((5, 7), (7, 5), (1, 1), (4, 4), (0, 3), (3, 0))


def dense(shape: tuple[int, int], dtype: str, seed: int = 0) -> np.ndarray:
    """An array with elements in about a third of its places, and rows without any."""
    rng = np.random.default_rng(seed)
    made = rng.integers(1, 5, shape) * (rng.random(shape) < 0.4)
    if shape[0] > 2:
        made[1] = 0
    return (made * (1 + 2j) if dtype[0] == "c" else made).astype(dtype)


def both(full: np.ndarray, format: str) -> tuple:
    return getattr(scipy.sparse, f"{format}_matrix")(full), getattr(sparse, f"{format}_matrix")(weft.asarray(full))


def same(given: object, wanted: object) -> None:
    """Two matrices, or arrays, have the same elements and dtype."""
    if scipy.sparse.issparse(wanted):
        assert sparse.issparse(given) and given.shape == wanted.shape
        given, wanted = given.toarray(), wanted.toarray()
    wanted = np.asarray(wanted)
    host = weft.asnumpy(given)
    assert isinstance(given, weft.ndarray) and host.dtype == wanted.dtype and host.shape == wanted.shape
    np.testing.assert_allclose(host, wanted, rtol=1e-6 if wanted.dtype.itemsize == 4 else 1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_made_and_turned(format: str, dtype: str) -> None:
    for shape in SHAPES:
        theirs, ours = both(dense(shape, dtype), format)
        assert ours.nnz == theirs.nnz and ours.format == format and ours.dtype == theirs.dtype and ours.shape == theirs.shape
        same(ours, theirs)
        same(ours.T, theirs.T)
        assert ours.T.format == theirs.T.format
        for other in FORMATS:
            turned, wanted = ours.asformat(other), theirs.asformat(other)
            same(turned, wanted)
            if other != "coo":
                assert turned.indptr.tolist() == wanted.indptr.tolist() and turned.indptr.dtype == wanted.indptr.dtype
                assert turned.indices.tolist() == wanted.indices.tolist()
        back = ours.get()
        assert back.format == format and (back.toarray() == theirs.toarray()).all()
        same(getattr(sparse, f"{format}_matrix")(theirs), theirs)
        same(ours.copy(), theirs)


@pytest.mark.parametrize("format", FORMATS)
def test_triples_with_places_that_come_twice(format: str) -> None:
    rng = np.random.default_rng(1)
    row, column, data = rng.integers(0, 6, 40), rng.integers(0, 4, 40), rng.normal(size=40)
    theirs = getattr(scipy.sparse, f"{format}_matrix")((data, (row, column)), shape=(7, 5))
    ours = getattr(sparse, f"{format}_matrix")((weft.asarray(data), (weft.asarray(row), weft.asarray(column))), shape=(7, 5))
    same(ours, theirs)
    assert ours.nnz == theirs.nnz
    assert sparse.coo_matrix((data, (row, column))).shape == (6, 4)
    if format != "coo":
        given = getattr(sparse, f"{format}_matrix")((theirs.data, theirs.indices, theirs.indptr), (7, 5))
        same(given, theirs)
    unsorted = ([1.0, 2.0, 3.0, 4.0], [2, 0, 2, 1], [0, 3, 4])
    ours, theirs = sparse.csr_matrix(unsorted), scipy.sparse.csr_matrix(tuple(map(np.asarray, unsorted)))
    same(ours, theirs)
    ours.sum_duplicates(), theirs.sum_duplicates()
    assert ours.indices.tolist() == theirs.indices.tolist() and ours.data.tolist() == theirs.data.tolist()
    ours.data[0] = 0
    ours.eliminate_zeros()
    assert ours.nnz == theirs.nnz - 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_products(format: str, dtype: str) -> None:
    for shape in SHAPES:
        theirs, ours = both(dense(shape, dtype), format)
        for kind in ("float64", "float32", dtype):
            x, m = dense((shape[1], 3), kind, 2), dense((2, shape[0]), kind, 3)
            same(ours @ weft.asarray(x[:, 0].copy()), theirs @ x[:, 0])
            same(ours @ weft.asarray(x), theirs @ x)
            same(ours.dot(weft.asarray(x)), theirs.dot(x))
            same(weft.asarray(m) @ ours, m @ theirs)
            same(ours * weft.asarray(x)[:, 1], theirs * x[:, 1])
        for other in FORMATS:
            them, us = both(dense((shape[1], 4), dtype, 4), other)
            same(ours @ us, theirs @ them)
        same(ours @ ours.T, theirs @ theirs.T)


@pytest.mark.parametrize("rows", (1023, 1024, 1025, 2600))
def test_products_of_many_rows(rows: int) -> None:
    """Blocks of rows, the last one shorter; by int32 and by int64."""
    rng = np.random.default_rng(rows)
    theirs = scipy.sparse.random(rows, 40, 0.05, format="csr", random_state=rows)
    x = rng.standard_normal((40, 3))
    for places in (np.int32, np.int64):
        ours = sparse.csr_matrix((theirs.data, theirs.indices.astype(places), theirs.indptr.astype(places)), shape=theirs.shape)
        for other in (x, x[:, 1], x[:, :0], x[::-1, ::2], x[:, ::-1].astype(np.float32), x[:, 0].astype(np.complex64)):
            given, wanted = ours @ weft.asarray(other), theirs @ other
            assert given.dtype == wanted.dtype
            np.testing.assert_allclose(weft.asnumpy(given), wanted, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("format", FORMATS)
def test_products_on_devices(format: str, device: weft.Device) -> None:
    full = dense((6, 5), "float32")
    ours, theirs = getattr(sparse, f"{format}_matrix")(weft.asarray(full)), scipy.sparse.csr_matrix(full)
    x = np.arange(10, dtype="float32").reshape(5, 2)
    for part in (x, x[:, 0].copy()):
        found = ours @ weft.asarray(part)
        assert found.device == device
        same(found, theirs @ part)
        captured = weft.compile(lambda x: ours @ (x + 1))
        for _ in range(2):
            found = captured(weft.asarray(part))
            assert found.device == device
            same(found, theirs @ (part + 1))
    same(ours @ ours.T, theirs @ theirs.T)


def test_arithmetic() -> None:
    a, b = dense((5, 7), "float64"), dense((5, 7), "float64", 5)
    for format in FORMATS:
        theirs, ours = both(a, format)
        them, us = both(b, "csr")
        same(ours + us, theirs + them)
        same(ours - us, theirs - them)
        assert (ours - ours).nnz == 0
        same(ours * 3, theirs * 3)
        same(2.5 * ours, 2.5 * theirs)
        same(ours / 2, theirs / 2)
        same(-ours, -theirs)
        same(abs(-ours), abs(-theirs))
        same(ours + weft.asarray(b), np.asarray(theirs + b))
        same(ours.multiply(weft.asarray(b)), theirs.multiply(b).tocsr())
        same(ours.multiply(2), theirs.multiply(2))
        same(ours.astype("float32"), theirs.astype("float32"))
        same(ours.sum(), theirs.sum())
        for axis in (0, 1, -1, -2):
            same(ours.sum(axis), theirs.sum(axis))
        for k in (-5, -2, 0, 3, 7):
            same(ours.diagonal(k), theirs.diagonal(k))
        z = dense((3, 3), "complex128")
        same(sparse.csr_matrix(weft.asarray(z)).H, scipy.sparse.csr_matrix(z).conj().T)


def test_eyes() -> None:
    for arguments in ((3,), (2, 4, 1), (4, 2, -2), (3, 3, 3), (0,)):
        same(sparse.eye(*arguments), scipy.sparse.eye(*arguments).tocsr())
    with pytest.raises(ValueError, match="out of bounds"):
        sparse.eye(3, 3, 5)
    assert sparse.identity(3, "float32", "coo").format == "coo"


@pytest.mark.parametrize("format", ("csr", "csc"))
def test_parts(format: str) -> None:
    theirs, ours = both(dense((6, 8), "float64"), format)
    s = slice
    for key in (
        s(1, 4),
        (s(None), s(2, 7, 2)),
        (s(None, None, -1), s(6, 1, -3)),
        (2, s(None)),
        (s(None), -1),
        (s(4, 2), s(0, 3)),
        (..., 3),
        -2,
    ):
        same(ours[key], theirs[key])
    for key in ((0, 0), (2, -1), (5, 7)):
        same(ours[key], theirs[key])
    for key in ((6, 0), (0, -9), (0, 0, 0)):
        with pytest.raises(IndexError):
            ours[key]


def test_stacks() -> None:
    a, b = dense((3, 4), "float64"), dense((3, 4), "int32", 6)
    for format in FORMATS:
        (theirs, ours), (them, us) = both(a, format), both(b, format)
        same(sparse.vstack([ours, us]), scipy.sparse.vstack([theirs, them]))
        same(sparse.hstack([ours, us, ours], "csr"), scipy.sparse.hstack([theirs, them, theirs], "csr"))
        same(sparse.hstack([ours, weft.asarray(b)]), scipy.sparse.hstack([theirs, b]))
        with pytest.raises(ValueError, match="do not fit"):
            sparse.vstack([ours, ours.T])
    for stack in (sparse.vstack, sparse.hstack):
        with pytest.raises(ValueError):
            stack([])


def test_what_is_relied_on_cannot_be_written() -> None:
    a = sparse.csr_matrix(weft.asarray(dense((4, 4), "float64")))
    for part in (a.indices, a.indptr, a.tocoo().row, a.tocoo().col):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1000


def test_errors() -> None:
    one = weft.ones(1)
    for arg, shape in (
        ((one, ([5], [0])), (3, 3)),
        ((one, ([0], [-1])), (3, 3)),
        ((one, ([0, 1], [0])), (3, 3)),
        ((weft.ones(0), ([], [])), None),
        (weft.ones((2, 2)), (3, 3)),
        ((one, [3], [0, 1]), (1, 3)),
        ((one, [0], [0, 2]), (1, 3)),
        ((one, [0], [1, 1]), (1, 3)),
        ((weft.ones(2), [0, 1], [0, 2, 1, 2]), (3, 3)),
        ((one, [0], [0, 1]), (2, 3)),
        ((one, [-1], [0, 1]), (1, 3)),
        ((weft.ones(2), [0], [0, 1]), (1, 3)),
        ((-1, 2), None),
    ):
        with pytest.raises(ValueError):
            sparse.csr_matrix(arg, shape)
    a = sparse.csr_matrix(weft.ones((2, 3)))
    for call in (
        lambda: a @ weft.ones(2),
        lambda: a @ a,
        lambda: a @ 2,
        lambda: a + a.T,
        lambda: a @ weft.ones((3, 1, 1)),
        lambda: a.sum(2),
    ):
        with pytest.raises(ValueError):
            call()
    for call in (
        lambda: a[[0, 1]],
        lambda: a[a.toarray() > 0],
        lambda: a.multiply(a),
        lambda: a.asformat("dia"),
        lambda: sparse.csr_matrix(weft.ones((2, 2), "float16")),
    ):
        with pytest.raises(UnsupportedError):
            call()
    with pytest.raises(TypeError):
        len(a)
    with pytest.raises(TypeError, match="integers"):
        sparse.csr_matrix((one, ([0.0], [0])), (2, 2))


@pytest.mark.parametrize("name", [name for name in sparse.__all__ if name != "spmatrix"])
def test_examples(name: str) -> None:
    examples(getattr(sparse, name), name)
