"""Sparse matrices with several elements of one place: what is done with them is SciPy's, in values, dtypes, formats and `nnz`.

What is not linear has to add them up first, and what is has to add them in the dtype in which SciPy does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import weft
from weft.scipy import sparse

FORMATS = ("csr", "csc", "coo")
DTYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    "float32",
    "float64",
    "complex64",
    "complex128",
)

Pair = tuple[Any, Any]


def elements(rng: np.random.Generator, size: Any, dtype: str) -> np.ndarray:
    """Whole numbers, so that sums come out exactly, of which some are the negatives of others, zeros, or the largest there are."""
    kind = np.dtype(dtype)
    made = rng.integers(-3, 4, size) * rng.choice((1, 1, 30), size)
    if kind.kind == "b":
        return rng.random(size) < 0.7
    if kind.kind == "c":
        return (made + 1j * rng.integers(-3, 4, size)).astype(kind)
    return made.astype(kind)


def pair(rng: np.random.Generator, format: str, dtype: str, shape: tuple[int, int]) -> Pair:
    """A matrix of SciPy's and the same of Weft's, with twice as many elements as places: rows by their pointers, in no order."""
    size = 2 * shape[0] * shape[1]
    data, places = elements(rng, size, dtype), [rng.integers(0, max(n, 1), size) for n in shape]
    if format == "coo":
        return tuple(module.coo_matrix((data.copy(), places), shape=shape) for module in (scipy.sparse, sparse))
    lines, across = places if format == "csr" else places[::-1]
    order = np.argsort(lines, kind="stable")
    starts = np.searchsorted(lines[order], np.arange(shape[0 if format == "csr" else 1] + 1))
    parts = data[order], across[order], starts
    return tuple(
        getattr(module, f"{format}_matrix")(tuple(part.copy() for part in parts), shape=shape) for module in (scipy.sparse, sparse)
    )


def result(call: Callable[..., Any], *arguments: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call(*arguments)
        except Exception as error:
            return error


def compare(what: str, wanted: Any, given: Any) -> None:
    """Two results are alike. What SciPy does not do, Weft need not do."""
    if isinstance(wanted, Exception):
        return
    assert not isinstance(given, Exception), (what, given)
    if scipy.sparse.issparse(wanted):
        assert sparse.issparse(given), what
        assert (given.format, given.shape, given.nnz) == (wanted.format, wanted.shape, wanted.nnz), (
            f"{what}: {given.format} {given.shape} {given.nnz}, not {wanted.format} {wanted.shape} {wanted.nnz}"
        )
        given, wanted = given.toarray(), wanted.toarray()
    wanted, host = np.asarray(wanted), weft.asnumpy(given) if isinstance(given, weft.ndarray) else np.asarray(given)
    assert host.dtype == wanted.dtype and host.shape == wanted.shape, (
        f"{what}: {host.dtype} {host.shape}, not {wanted.dtype} {wanted.shape}"
    )
    exact = wanted.dtype.kind in "biu"
    np.testing.assert_allclose(host, wanted, rtol=0 if exact else 1e-6, err_msg=what)


ALONE: dict[str, Callable[[Any], Any]] = {
    "abs": abs,
    "neg": lambda a: -a,
    "conj": lambda a: a.conj(),
    "conjugate": lambda a: a.conjugate(),
    "H": lambda a: a.getH(),
    "T": lambda a: a.T,
    "copy": lambda a: a.copy(),
    "nnz": lambda a: np.int64(a.nnz),
    "getnnz": lambda a: np.int64(a.getnnz()),
    "toarray": lambda a: a.toarray(),
    "csr": lambda a: a.tocsr(),
    "csc": lambda a: a.tocsc(),
    "coo": lambda a: a.tocoo(),
    "sum": lambda a: a.sum(),
    "sum 0": lambda a: a.sum(0),
    "sum 1": lambda a: a.sum(1),
    "sum float32": lambda a: a.sum(1, dtype="float32"),
    "diagonal": lambda a: a.diagonal(),
    "diagonal 1": lambda a: a.diagonal(1),
    "times 3": lambda a: a * 3,
    "3 times": lambda a: 3 * a,
    "times 1.5": lambda a: a.multiply(1.5),
    "times True": lambda a: a * True,
    "over 2": lambda a: a / 2,
    "element": lambda a: a[0, 0],
    "row": lambda a: a[0],
    "part": lambda a: a[1:, ::-1],
    "plus itself": lambda a: a + a,
    "minus itself": lambda a: a - a,
    "times itself turned": lambda a: a @ a.T,
    "turned times itself": lambda a: a.T @ a,
    "plus 0": lambda a: a + 0,
    **{name: lambda a, name=name: [getattr(a, name)(), a][1] for name in ("sum_duplicates", "sort_indices", "eliminate_zeros")},
    "abs of zeros dropped": lambda a: [a.eliminate_zeros(), abs(a)][1],
    "abs of doubles": lambda a: abs(abs(a) - (a + a)),
    "abs turned": lambda a: abs(a.T).T,
    "abs of part": lambda a: abs(a[:2]),
    "abs as csc": lambda a: abs(a.tocoo().tocsc()),
    "abs then product": lambda a: (a @ abs(a.T)).astype("int8"),
    "abs of copy, then sums": lambda a: abs(a.copy()).sum(),
    **{
        f"astype {kind}": lambda a, kind=kind: a.astype(kind)
        for kind in ("bool", "int8", "uint8", "int64", "float32", "float64", "complex64")
    },
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_of_one(format: str, dtype: str) -> None:
    rng = np.random.default_rng(DTYPES.index(dtype))
    for shape in ((3, 4), (4, 2), (1, 1), (0, 3)):
        for name, call in ALONE.items():
            theirs, ours = pair(rng, format, dtype, shape)
            if name in ("minus itself", "abs of doubles") and dtype == "bool":
                # Refused, as NumPy refuses it.
                assert isinstance(result(call, ours), TypeError)
                continue
            compare(f"{name} of {format} {dtype} {shape}", result(call, theirs), result(call, ours))


TWO: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a @ x": lambda a, x, m: a @ x,
    "a @ m": lambda a, x, m: a @ m,
    "a.dot(x)": lambda a, x, m: a.dot(x),
    "a * x": lambda a, x, m: a * x,
    "x @ a.T": lambda a, x, m: x @ a.T,
    "m.T @ a.T": lambda a, x, m: m.T @ a.T,
    "m.T * a.T": lambda a, x, m: m.T * a.T,
    "a[0] @ x": lambda a, x, m: a[0] @ x,
    "x @ a.T[:, ::-1]": lambda a, x, m: x @ a.T[:, ::-1],
    "abs(a) @ x": lambda a, x, m: abs(a) @ x,
    "multiply": lambda a, x, m: a.multiply(m.T[:1] * 0 + x),
    "plus dense": lambda a, x, m: a + (a.toarray() * 0 + x),
    "minus dense": lambda a, x, m: a - (a.toarray() * 0 + x),
    "dense plus": lambda a, x, m: (a.toarray() * 0 + x) + a,
    "dense minus": lambda a, x, m: (a.toarray() * 0 + x) - a,
    "row plus": lambda a, x, m: a + (m[:, 0] * 0 + x)[None],
}
SPARSE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a + b": lambda m, a, b: a + b,
    "a - b": lambda m, a, b: a - b,
    "a @ b.T": lambda m, a, b: a @ b.T,
    "a.T @ b": lambda m, a, b: a.T @ b,
    "a.T * b": lambda m, a, b: a.T * b,
    "vstack": lambda m, a, b: m.vstack([a, b]),
    "hstack": lambda m, a, b: m.hstack([a, b]),
    "vstack csr": lambda m, a, b: m.vstack([a, b], "csr"),
    "hstack csc": lambda m, a, b: m.hstack([b, a], "csc"),
    "vstack of bool": lambda m, a, b: m.vstack([a, b], "csc", "bool"),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_with_arrays(format: str, dtype: str) -> None:
    rng = np.random.default_rng(100 + DTYPES.index(dtype))
    for shape, other in [((3, 4), kind) for kind in DTYPES] + [((0, 3), "int8"), ((1, 2), "bool")]:
        theirs, ours = pair(rng, format, dtype, shape)
        x, m = elements(rng, shape[1], other), elements(rng, (shape[1], 2), other)
        for name, call in TWO.items():
            wanted, given = result(call, theirs.copy(), x, m), result(call, ours, weft.asarray(x), weft.asarray(m))
            compare(f"{name} of {format} {dtype} {shape} and {other}", wanted, given)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_of_two(format: str, dtype: str) -> None:
    rng = np.random.default_rng(200 + DTYPES.index(dtype))
    for other in FORMATS:
        for kind in DTYPES:
            (theirs, ours), (them, us) = pair(rng, format, dtype, (3, 4)), pair(rng, other, kind, (3, 4))
            for name, call in SPARSE.items():
                if name == "a - b" and dtype == kind == "bool":
                    assert isinstance(result(call, sparse, ours, us), TypeError)
                    continue
                wanted, given = result(call, scipy.sparse, theirs, them), result(call, sparse, ours, us)
                compare(f"{name} of {format} {dtype} and {other} {kind}", wanted, given)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_made_with_a_dtype(format: str, dtype: str) -> None:
    """Triples are of the dtype that is asked for before they are added up; the elements of a matrix are added up first."""
    rng = np.random.default_rng(300 + DTYPES.index(dtype))
    for kind in DTYPES:
        for source in (*FORMATS, "triples", "array"):
            theirs, ours = pair(rng, "coo" if source in ("triples", "array") else source, dtype, (3, 4))
            if source == "triples":
                theirs, ours = ((a.data, (a.row, a.col)) for a in (theirs, ours))
            elif source == "array":
                theirs, ours = theirs.toarray(), ours.toarray()
            wanted = result(getattr(scipy.sparse, f"{format}_matrix"), theirs, (3, 4), kind)
            given = result(getattr(sparse, f"{format}_matrix"), ours, (3, 4), kind)
            compare(f"{format} {kind} of {source} {dtype}", wanted, given)
            if source in FORMATS:
                # SciPy's matrix as it is, and without another dtype.
                compare(f"{format} of SciPy's {source} {dtype}", wanted, result(getattr(sparse, f"{format}_matrix"), theirs, (3, 4), kind))
                same = result(getattr(scipy.sparse, f"{format}_matrix"), theirs), result(getattr(sparse, f"{format}_matrix"), theirs)
                compare(f"{format} of SciPy's {source} {dtype}", *same)


def test_sums_are_of_the_result_s_dtype() -> None:
    """What the elements' dtype cannot hold is added up in that of the product."""
    places, x = ([0, 0, 0], [1, 1, 1]), np.array([1, 1], np.uint64)
    for format in FORMATS:
        for data in (np.array([2**24, 1, 1], np.float32), np.array([100, 100, 100], np.int8), np.array([True, True, True])):
            a = scipy.sparse.coo_matrix((data, places), shape=(2, 2))
            b = sparse.coo_matrix((data, places), shape=(2, 2))
            theirs, ours = a.asformat(format), b.asformat(format)
            for call in (lambda a, x: x @ a, lambda a, x: a @ x, lambda a, x: x[None] @ a, lambda a, x: a.T @ x):
                compare(f"{format} {data.dtype}", call(theirs, x), call(ours, weft.asarray(x)))
    twice = sparse.coo_matrix((weft.asarray([True] * 3), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert (weft.asarray([10, 20]) @ twice).tolist() == [20, 20]
    assert (weft.asarray(np.eye(2, dtype=int)) @ twice).tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize("format", FORMATS)
def test_on_devices(format: str, device: weft.Device) -> None:
    rng = np.random.default_rng(400)
    for dtype in ("bool", "int32", "float32"):
        theirs, ours = pair(rng, format, dtype, (3, 4))
        data = weft.asarray(weft.asnumpy(ours.data), device=device)
        made = ours._with(data)
        x = elements(rng, 4, "float32")
        there = weft.asarray(x, device=device)
        compare("product", theirs @ x, made @ there)
        compare("product from the left", x @ theirs.T, there @ made.T)
        compare("sums", theirs.sum(1), made.sum(1))
        compare("magnitudes", abs(theirs), abs(made))
        assert abs(made).device == made.astype("float32").device == device


@pytest.mark.parametrize("dtype", DTYPES)
def test_triples_in_order(dtype: str) -> None:
    theirs, ours = pair(np.random.default_rng(500), "coo", dtype, (3, 4))
    theirs.sum_duplicates(), ours.sum_duplicates()
    for name in ("row", "col", "data"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()


def test_captured() -> None:
    """Where it is known that no place has several elements, nothing that a graph has yet to compute decides how many there are."""
    full, x = np.array([[1.0, -2.0], [0.0, 3.0]]), np.array([1.0, 2.0])
    for format in ("csr", "csc"):
        a = getattr(sparse, f"{format}_matrix")(weft.asarray(full))
        for read, wanted in ((a, full), (a.T, full.T), (a.tocsc(), full), (a * 2, full * 2), (a.tocoo().tocsr(), full)):
            found = weft.compile(lambda x, read=read: abs(read) @ x + read.astype("float32") @ x)(weft.asarray(x))
            np.testing.assert_allclose(weft.asnumpy(found), (abs(wanted) + wanted) @ x)
