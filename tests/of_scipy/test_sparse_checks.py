"""What sparse matrices are made of is checked, and stays what was checked: loops rely on indices without a look at them.

A generator makes input that is right, or wrong in one of many ways, and SciPy says whether it is and what it means.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import weft
from weft.scipy import sparse

FORMATS = ("csr", "csc", "coo")
ROWS = ("csr", "csc")
FAR = 2_000_000_000
WANTED = [[1.0, 2.0, 0.0], [0.0, 0.0, 4.0], [8.0, 0.0, 0.0]]


def host(x: Any) -> np.ndarray:
    return weft.asnumpy(x, copy=True)


def given(format: str, make: Callable[[np.ndarray], Any], kind: str = "int32", *, keywords: dict[str, Any] | None = None) -> tuple:
    """`WANTED` of arrays that the caller keeps: the matrix, and its index arrays as they were given."""
    if format == "coo":
        parts = [[0, 0, 1, 2], [0, 1, 2, 0]]
        data = [1.0, 2.0, 4.0, 8.0]
    elif format == "csr":
        parts, data = [[0, 1, 2, 0], [0, 2, 3, 4]], [1.0, 2.0, 4.0, 8.0]
    else:
        parts, data = [[0, 2, 0, 1], [0, 2, 3, 4]], [1.0, 8.0, 2.0, 4.0]
    first, second = (make(np.array(part, kind)) for part in parts)
    elements = make(np.array(data, "float32"))
    arg = (elements, (first, second)) if format == "coo" else (elements, first, second)
    return getattr(sparse, f"{format}_matrix")(arg, shape=(3, 3), **(keywords or {})), (first, second), elements


def is_as_made(a: Any, wanted: Any = WANTED) -> None:
    assert host(a.toarray()).tolist() == wanted
    x = weft.asarray(np.array([1, 10, 100], "float32"), device=a.device)
    assert host(a @ x).tolist() == (np.array(wanted) @ [1, 10, 100]).tolist()
    for format in FORMATS:
        assert host(a.asformat(format).toarray()).tolist() == wanted


@pytest.mark.parametrize("kind", ("int32", "int64", "uint8", "uint64"))
@pytest.mark.parametrize("format", FORMATS)
def test_indices_are_the_matrix_own(format: str, kind: str, device: weft.Device) -> None:
    """What a caller writes afterwards to the arrays given, be they Weft's or NumPy's, a view's base or not, reaches no loop."""
    ways: list[Callable[[np.ndarray], Any]] = [np.asarray, lambda x: weft.asarray(x, device=device), lambda x: np.repeat(x, 2)[::2]]
    for make in ways if kind == "int32" else ways[1:2]:
        a, parts, _ = given(format, make, kind)
        for part in parts:
            part[...] = np.iinfo(kind).max
        is_as_made(a)
        turned = a.T
        assert host(turned.toarray()).tolist() == np.transpose(WANTED).tolist()


@pytest.mark.parametrize("format", FORMATS)
def test_indices_computed_later(format: str, device: weft.Device) -> None:
    """Of arrays that are still to be computed when they are given, of some that others change before they are."""
    source = weft.asarray(np.array([0, 0, 0, 0], "int32"), device=device)
    a, parts, _ = given(
        format, lambda x: weft.asarray(x, device=device) + source[: x.size] if x.dtype.kind == "i" else weft.asarray(x, device=device)
    )
    source[...] = FAR
    for part in parts:
        part += FAR
    is_as_made(a)


@pytest.mark.parametrize("format", FORMATS)
def test_copies(format: str, device: weft.Device) -> None:
    shared, _, elements = given(format, lambda x: weft.asarray(x, device=device))
    assert weft.shares_memory(shared.data, elements)
    own, _, elements = given(format, lambda x: weft.asarray(x, device=device), keywords={"copy": True})
    elements[...] = 7
    is_as_made(own)
    for other in (own.copy(), copy.copy(own), copy.deepcopy(own), pickle.loads(pickle.dumps(own))):
        is_as_made(other)
        assert other.format == format and other.device == device and other.dtype == own.dtype


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_read_is_read_only(format: str, device: weft.Device) -> None:
    a, _, _ = given(format, lambda x: weft.asarray(x, device=device))
    for part in (a.row, a.col) if format == "coo" else (a.indices, a.indptr):
        for view in (part, part[::-1], part.reshape(2, 2), part.view("uint32"), weft.from_dlpack(part)):
            with pytest.raises(ValueError, match="read-only"):
                view[...] = FAR
        with pytest.raises(ValueError, match="read-only"):
            part += 1
        with pytest.raises(ValueError, match="read-only"):
            weft.add(part, 1, out=part)
        with pytest.raises(ValueError, match="WRITEABLE"):
            part.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            host_of = np.asarray(part)
            host_of[...] = FAR
    is_as_made(a)


@pytest.mark.parametrize("format", FORMATS)
def test_pickles_are_checked(format: str) -> None:
    a, _, _ = given(format, weft.asarray)
    buffers: list[Any] = []
    text = pickle.dumps(a, protocol=5, buffer_callback=buffers.append)
    memory = [bytearray(each.raw()) for each in buffers]
    b = pickle.loads(text, buffers=memory)
    for each in memory:
        if each != bytearray(host(a.data).tobytes()):
            each[:] = b"\x7f" * len(each)
    is_as_made(b)
    for name in ("_row", "_col") if format == "coo" else ("_indices", "_indptr"):
        for wrong in ([0, 1, 2, 7], [0, 2, -1, 4], [0, 1, 2], [0.0, 1.0, 2.0, 3.0], [[0, 2, 3, 4]]):
            state = dict(a.__dict__)
            state[name] = weft.asarray(wrong)
            with pytest.raises((ValueError, TypeError)):
                type(a).__new__(type(a)).__setstate__(state)


@pytest.mark.parametrize("format", FORMATS)
def test_what_scipy_was_told_wrongly(format: str) -> None:
    for axis, wrong in ((0, FAR), (0, 3), (0, -1), (1, 7), (1, -40)):
        theirs = scipy.sparse.coo_matrix((np.ones(4), ([0, 1, 2, 0], [0, 1, 2, 1])), shape=(3, 3))
        (theirs.row, theirs.col)[axis][1] = wrong
        with pytest.raises(ValueError, match=f"axis {axis} index"):
            getattr(sparse, f"{format}_matrix")(theirs)
    right = scipy.sparse.coo_matrix(np.array(WANTED, "float32"))
    made = getattr(sparse, f"{format}_matrix")(right)
    right.row[...], right.col[...] = FAR, FAR
    is_as_made(made)


KINDS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def some_rows(rng: np.random.Generator) -> tuple[tuple[int, int], list[np.ndarray]]:
    """A shape, and elements, indices and pointers of rows: of any order, some twice, some rows empty, and elements too many at the end."""
    shape = tuple(int(n) for n in rng.integers(0, 6, 2))
    counts = rng.integers(0, 5, shape[0]) if shape[1] else np.zeros(shape[0], int)
    starts = np.concatenate([[0], np.cumsum(counts)])
    size = int(starts[-1]) + int(rng.integers(0, 3)) * bool(shape[1])
    kinds = rng.choice(KINDS, 2)
    parts = [rng.integers(1, 9, size).astype("float32"), rng.integers(0, max(shape[1], 1), size).astype(kinds[0]), starts.astype(kinds[1])]
    return shape, parts


def spoiled(rng: np.random.Generator, parts: list[np.ndarray]) -> list[np.ndarray]:
    """Indices or pointers of which one is another, or arrays longer, shorter, or of more dimensions."""
    which = int(rng.integers(0, 3))
    part = parts[which] = parts[which].copy()
    way = int(rng.integers(0, 5))
    if way < 3 and which and part.size:
        limits = np.iinfo(part.dtype)
        part[rng.integers(0, part.size)] = (limits.max, limits.min, 7, 1, limits.max // 2 + 1)[rng.integers(0, 5)]
    elif way == 3:
        parts[which] = part[:-1] if part.size and rng.random() < 0.5 else np.append(part, part[:1])
    else:
        parts[which] = part[None] if rng.random() < 0.8 else part[:0]
    return parts


def as_scipy(format: str, parts: list[np.ndarray], shape: tuple[int, int]) -> Any:
    """What SciPy makes of it, if a check of all indices finds nothing; None otherwise."""
    # SciPy takes indices as int32 or int64 before it checks them, as which those that are too large may be other ones.
    used = parts[1][: int(parts[2][-1])] if parts[2].ndim == 1 and parts[2].size else parts[1]
    if any(part.size and part.dtype.kind == "u" and int(part.max()) > 2**31 - 1 for part in (used, parts[2])):
        return None
    # Nor does it look at pointers of no elements, by which its products read outside of arrays.
    if (parts[2][..., 1:] < parts[2][..., :-1]).any():
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = getattr(scipy.sparse, f"{format}_matrix")(tuple(part.copy() for part in parts), shape=shape)
            made.check_format(full_check=True)
        return made
    except (ValueError, OverflowError):
        return None


@pytest.mark.parametrize("format", ROWS)
def test_rows_right_and_wrong(format: str, device: weft.Device) -> None:
    rng = np.random.default_rng(11 if format == "csr" else 12)
    seen = {True: 0, False: 0}
    for round in range(250 if device.kind == "cpu" else 60):
        shape, parts = some_rows(rng)
        if round % 2:
            parts = spoiled(rng, parts)
        shape = shape if format == "csr" else shape[::-1]
        theirs = as_scipy(format, parts, shape)
        seen[theirs is not None] += 1
        ours = [weft.asarray(part, device=device) if rng.random() < 0.5 else part for part in parts[1:]]
        arg = (weft.asarray(parts[0], device=device), *ours)
        if theirs is None:
            with pytest.raises(ValueError):
                getattr(sparse, f"{format}_matrix")(arg, shape=shape)
            continue
        made = getattr(sparse, f"{format}_matrix")(arg, shape=shape)
        assert made.device == device and made.nnz == theirs.nnz
        assert made.indices.tolist() == theirs.indices.tolist() and made.indptr.tolist() == theirs.indptr.tolist()
        agree(made, theirs, rng, device)
    assert min(seen.values()) > 10


def agree(made: Any, theirs: Any, rng: np.random.Generator, device: weft.Device) -> None:
    """Elements and products are SciPy's; they are whole numbers, which come out exactly."""
    x = rng.integers(-4, 5, (made.shape[1], 2)).astype("float32")
    np.testing.assert_array_equal(host(made.toarray()), theirs.toarray())
    np.testing.assert_array_equal(host(made @ weft.asarray(x[:, 0].copy(), device=device)), theirs @ x[:, 0])
    np.testing.assert_array_equal(host(made @ weft.asarray(x, device=device)), theirs @ x)
    if device.kind == "cpu":
        np.testing.assert_array_equal(host((made @ made.T).toarray()), (theirs @ theirs.T).toarray())
        made.sum_duplicates(), theirs.sum_duplicates()
        assert made.indices.tolist() == theirs.indices.tolist() and made.data.tolist() == theirs.data.tolist()


@pytest.mark.parametrize("format", FORMATS)
def test_triples_right_and_wrong(format: str, device: weft.Device) -> None:
    rng = np.random.default_rng(21 + FORMATS.index(format))
    refused = 0
    for round in range(150 if device.kind == "cpu" else 30):
        shape = tuple(int(n) for n in rng.integers(1, 6, 2))
        size = int(rng.integers(0, 9))
        parts = [rng.integers(1, 9, size).astype("float32"), *(rng.integers(0, n, size).astype(rng.choice(KINDS)) for n in shape)]
        if round % 2:
            parts = spoiled(rng, parts)
        data, row, column = parts
        asked = shape if rng.random() < 0.7 else None
        arg = (weft.asarray(data, device=device), (weft.asarray(row, device=device), column))
        if any(part.dtype.kind == "u" and part.size and int(part.max()) > 2**31 - 1 for part in (row, column)):
            theirs = None
        else:
            try:
                theirs = getattr(scipy.sparse, f"{format}_matrix")((data, (row.copy(), column.copy())), shape=asked)
            except (ValueError, OverflowError) as wrong:
                theirs = wrong
        if theirs is not None and not isinstance(theirs, Exception) and theirs.shape[0] > 10**6:
            continue
        if theirs is None and asked is None:
            continue
        if theirs is None or isinstance(theirs, Exception):
            refused += 1
            with pytest.raises((ValueError, OverflowError)):
                getattr(sparse, f"{format}_matrix")(arg, shape=asked)
            continue
        made = getattr(sparse, f"{format}_matrix")(arg, shape=asked)
        assert made.shape == theirs.shape and made.nnz == theirs.nnz and made.device == device
        agree(made, theirs, rng, device) if format != "coo" else agree(made.tocsr(), theirs.tocsr(), rng, device)
    assert refused > 5


ONE = np.ones(1)
WRONG: dict[str, Any] = {
    "no matrix: a tuple of nothing": (),
    "no matrix: a tuple of one": ((),),
    "a matrix of three dimensions": np.ones((2, 2, 2)),
    "a negative shape": (5, -1),
    "a shape above all integers": (2**63, 2),
    "rows above all integers": (ONE, ([2**63 - 1], [0])),
    "unsigned rows": (ONE, (np.array([2**64 - 1], np.uint64), [0])),
    "three axes": (ONE, ([0], [0], [0])),
    "no axes": (ONE, 3),
    "data of two dimensions": (np.ones((1, 1)), ([0], [0])),
    "nothing, and no shape": ([], ([], [])),
}
OF_ROWS: dict[str, Any] = {
    "no pointers": (ONE, [0], []),
    "pointers of two dimensions": (ONE, [0], [[0, 1]]),
    "indices of two dimensions": (ONE, [[0]], [0, 1]),
    "an index above all integers": (ONE, [2**63], [0, 1]),
    "None for an index": (ONE, [None], [0, 1]),
    "nothing, and no shape": ([], [], [0]),
    "numbers for arrays": (1, 2, 3),
}


@pytest.mark.parametrize("format", FORMATS)
def test_errors_are_scipys(format: str) -> None:
    for name, arg in (WRONG if format == "coo" else WRONG | OF_ROWS).items():
        with pytest.raises(Exception) as theirs:
            getattr(scipy.sparse, f"{format}_matrix")(arg)
        with pytest.raises(theirs.type) as ours:
            getattr(sparse, f"{format}_matrix")(arg)
        assert ours.type is theirs.type, (name, ours.value, theirs.value)
    shapes = (
        ((-1, 1), (1, 1, 1), 5, (1.5, 1), (2, 2), (0, 0), (1, 2**63), (1, 2**64)) if format == "csr" else ((-1, 1), 5, (1.5, 1), (0, 0))
    )
    for shape in shapes:
        arg = (ONE, ([0], [0])) if format == "coo" else (ONE, [0], [0, 1])
        with pytest.raises(Exception) as theirs:
            getattr(scipy.sparse, f"{format}_matrix")(arg, shape=shape)
        with pytest.raises(theirs.type):
            getattr(sparse, f"{format}_matrix")(arg, shape=shape)


@pytest.mark.parametrize("wrong", ([0.5], [np.nan], [True], ["a"], np.array([None]), np.array([0], "M8[s]"), [1j]))
def test_indices_that_are_no_integers(wrong: Any) -> None:
    """SciPy rounds some of them, which is refused."""
    pointers = np.concatenate([wrong, wrong])
    for arg in ((ONE, wrong, [0, 1]), (ONE, [0], pointers), (ONE, (wrong, [0])), (ONE, ([0], wrong))):
        for shape in (None, (1, 1)):
            with pytest.raises(TypeError):
                sparse.csr_matrix(arg, shape=shape)


@pytest.mark.parametrize("dtype", ("object", "U3", "float16", "nothing"))
def test_elements_of_no_such_dtype(dtype: str) -> None:
    for format in FORMATS:
        for arg in (np.ones((1, 1)), (1, 1), (ONE, ([0], [0]))):
            with pytest.raises((TypeError, ValueError, weft.errors.UnsupportedError)):
                getattr(sparse, f"{format}_matrix")(arg, dtype=dtype)


def test_huge_shapes() -> None:
    """What needs room for each row has none; columns without elements need none."""
    wide = (ONE, ([1], [2**61]))
    theirs, ours = scipy.sparse.csr_matrix(wide, shape=(3, 2**62)), sparse.csr_matrix(wide, shape=(3, 2**62))
    assert ours.indices.tolist() == theirs.indices.tolist() == [2**61] and ours.indices.dtype == theirs.indices.dtype
    assert ours.T.shape == (2**62, 3) and float(ours.sum()) == 1 and sparse.csr_matrix((3, 2**62)).nnz == 0
    for call in (
        lambda m: m.csr_matrix((2**62, 2)),
        lambda m: m.csr_matrix(wide, shape=(3, 2**62)).tocsc(),
        lambda m: m.csr_matrix((3, 2**62)).toarray(),
        lambda m: m.coo_matrix(wide).tocsc(),
    ):
        with pytest.raises((ValueError, MemoryError)):
            call(scipy.sparse)
        with pytest.raises((ValueError, MemoryError)):
            call(sparse)


def test_stacks_wider_than_all_integers() -> None:
    block = sparse.coo_matrix((ONE, ([0], [2**61])), shape=(3, 2**62))
    for stack, part in ((sparse.hstack, block), (sparse.vstack, block.T), (sparse.hstack, sparse.csr_matrix((3, 2**62)))):
        for count in (2, 3, 4, 5):
            with pytest.raises(OverflowError):
                stack([part] * count)
    assert sparse.hstack([sparse.coo_matrix((3, 2**62 - 1))] * 2).shape == (3, 2**63 - 2)


def test_steps_longer_than_an_axis() -> None:
    full = np.arange(1.0, 13.0).reshape(3, 4)
    for format in ROWS:
        a = getattr(sparse, f"{format}_matrix")(full)
        for step in (2**31, 2**40, 2**70, -(2**31), -(2**40), -(2**70), 3, 4, 5, -3, -4, -5):
            assert host(a[::step].toarray()).tolist() == full[::step].tolist()
            assert host(a[:, 1::step].toarray()).tolist() == full[:, 1::step].tolist()
        assert sparse.csr_matrix((0, 3))[::5].shape == (0, 3)


def test_rows_of_many_columns_in_order(device: weft.Device) -> None:
    """Those with few elements among many columns are put in order without room for each column."""
    rng = np.random.default_rng(5)
    for columns in (1000, 3000, 10**6):
        row, column, data = rng.integers(0, 6, 60), rng.integers(0, 40, 60) * (columns // 40), rng.integers(1, 9, 60).astype(float)
        for format in ROWS:
            triples = (data, (row, column)) if format == "csr" else (data, (column, row))
            shape = (6, columns) if format == "csr" else (columns, 6)
            theirs, ours = (getattr(module, f"{format}_matrix")(triples, shape=shape) for module in (scipy.sparse, sparse))
            for name in ("data", "indices", "indptr"):
                assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()
