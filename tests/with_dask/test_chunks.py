"""`dask.array` with weft chunks in this process: programs beside NumPy's, metas, names of tasks, sizes, pickles, the back end."""

from __future__ import annotations

import pickle

import dask
import dask.array as da
import numpy as np
import pytest
from dask.base import tokenize
from dask.sizeof import sizeof

import weft
from weft._weft import _is_evaluated
from weft.scipy import sparse

from .programs import PROGRAMS, check, operands


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    lazy = PROGRAMS[name](*operands(weft))
    given = lazy.compute(scheduler="sync")
    check(PROGRAMS[name], given)
    assert lazy.dtype == given.dtype and lazy.ndim == given.ndim
    if name not in ("cumsum at once", "mask", "histogram", "differences", "coarsened"):
        # Dask itself gives these a meta of NumPy's, whatever their chunks are.
        assert isinstance(lazy._meta, weft.ndarray) and lazy._meta.shape == (0,) * lazy.ndim


def test_in_threads() -> None:
    for name in ("sum", "tensordot", "overlap", "cumsum", "var"):
        check(PROGRAMS[name], PROGRAMS[name](*operands(weft)).compute(scheduler="threads", num_workers=4))


def test_the_back_end() -> None:
    with dask.config.set({"array.backend": "weft"}):
        made = [da.ones((4, 4), chunks=2), da.zeros(3), da.full((3,), 7, chunks=2), da.arange(10, chunks=3), da.empty(3)]
    for lazy, wanted in zip(made, (np.ones((4, 4)), np.zeros(3), np.full(3, 7), np.arange(10))):
        found = lazy.compute()
        assert isinstance(found, weft.ndarray) and isinstance(lazy._meta, weft.ndarray)
        assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()
    there = da.from_array(np.arange(10.0), chunks=3).to_backend("weft")
    assert isinstance(there.compute(), weft.ndarray) and there.to_backend("weft") is there
    back = there.to_backend("numpy")
    assert isinstance(back.compute(), np.ndarray) and isinstance(back._meta, np.ndarray)


def test_random_numbers_of_the_back_end() -> None:
    with dask.config.set({"array.backend": "weft"}):
        x = da.random.default_rng(5).standard_normal(size=(60, 50), chunks=20)
        again = da.random.default_rng(5).standard_normal(size=(60, 50), chunks=20)
        old = da.random.RandomState(5).uniform(2, 3, size=(60,), chunks=20)
    found = x.compute()
    assert isinstance(found, weft.ndarray) and isinstance(old.compute(), weft.ndarray)
    assert found.tolist() == again.compute().tolist() and abs(float(found.mean())) < 0.1
    assert len(np.unique(np.asarray(found))) == 3000
    assert 2 <= float(old.min().compute()) and float(old.max().compute()) < 3


def test_names_of_tasks_are_those_of_elements() -> None:
    x = weft.arange(6.0)
    same = [x + 0, weft.asarray(np.arange(6.0)), weft.arange(12.0)[:6]]
    assert {tokenize(each) for each in same} == {tokenize(x)}
    others = [x + 1, x.astype("float32"), x.reshape(2, 3), x.view("int64"), x[:5], np.arange(6.0)]
    assert len({tokenize(each) for each in [x, *others]}) == 1 + len(others)
    half = weft.asarray([1.0, 2.0], "float32").astype(weft.bfloat16)
    assert tokenize(half) == tokenize(half + 0) != tokenize(half.view("uint16"))


def test_measuring_computes() -> None:
    for lazy in (weft.ones((100, 100)) + 1, (weft.ones((100, 100)) + 1)[:10, ::2]):
        assert not _is_evaluated(lazy)
        size = sizeof(lazy)
        assert _is_evaluated(lazy) and size == lazy.nbytes
    assert sizeof({"a": [weft.ones(1000) * 2]}) > 8000


def test_sparse_chunks() -> None:
    host = np.random.default_rng(0).random((12, 8)) * (np.random.default_rng(1).random((12, 8)) < 0.3)
    for kind in (sparse.csr_matrix, sparse.csc_matrix):
        x = da.from_array(weft.asarray(host), chunks=(4, 8), asarray=False).map_blocks(kind)
        y = da.from_array(weft.asarray(host.T.copy()), chunks=(8, 4), asarray=False).map_blocks(kind)
        product = da.dot(x, y).compute(scheduler="sync")
        assert sparse.issparse(product)
        np.testing.assert_allclose(weft.asnumpy(product.toarray()), host @ host.T)
        beside = da.concatenate([x, x], axis=1).compute(scheduler="sync")
        assert (weft.asnumpy(beside.toarray()) == np.concatenate([host, host], 1)).all()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "float64", "complex64"])
def test_pickles_hold_elements_and_not_what_is_pending(dtype: str) -> None:
    kind = weft.bfloat16 if dtype == "bfloat16" else dtype
    for shape in ((), (0,), (1,), (3, 50)):
        x = (weft.arange(int(np.prod(shape)), dtype="float32").reshape(shape) % 7).astype(kind)
        for part in (x, x.T, x[..., ::-1] if shape else x):
            for protocol in range(2, 6):
                found = pickle.loads(pickle.dumps(part, protocol))
                assert found.dtype == part.dtype and found.shape == part.shape
                assert found.astype("complex128").tolist() == part.astype("complex128").tolist()
    buffers: list[pickle.PickleBuffer] = []
    x = (weft.ones((100, 100), dtype="float32") + 1).astype(kind)
    text = pickle.dumps(x, 5, buffer_callback=buffers.append)
    if dtype != "bfloat16":
        assert len(text) < 1000 and sum(len(each.raw()) for each in buffers) == x.nbytes
    assert pickle.loads(text, buffers=buffers).astype("complex128").sum() == x.astype("complex128").sum()
