"""`np.linalg` and products of matrices in compiled functions, against the functions undecorated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft

FLOATS = (np.float32, np.float64, np.complex64, np.complex128)


def _matrix(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng([seed, *shape])
    made = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.standard_normal(shape)
    return (made * 3).astype(dtype)


def _regular(n: int, dtype: Any) -> np.ndarray:
    return (_matrix((n, n), dtype) + np.eye(n) * 4 * max(n, 1) ** 0.5).astype(dtype)


def _near(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            _near(one, other)
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (found.shape, wanted.shape, found.dtype, wanted.dtype)
    if wanted.size and wanted.dtype.kind in "fc":
        limit = 3e-5 if np.finfo(wanted.dtype).eps > 1e-8 else 1e-10
        assert np.allclose(found, wanted, rtol=limit, atol=limit * float(np.abs(wanted).max()))
    else:
        assert np.array_equal(found, wanted)


def both(function: Any, *args: Any) -> None:
    _near(weft.njit(function)(*args), function(*args))


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_has_one_answer(dtype: Any) -> None:
    def inv(a: Any) -> Any:
        return np.linalg.inv(a)

    def solve(a: Any, b: Any) -> Any:
        return np.linalg.solve(a, b)

    def cholesky(a: Any) -> Any:
        return np.linalg.cholesky(a)

    def det(a: Any) -> Any:
        return np.linalg.det(a)

    def slogdet(a: Any) -> Any:
        sign, logarithm = np.linalg.slogdet(a)
        return sign, logarithm

    def eigvalsh(a: Any) -> Any:
        return np.linalg.eigvalsh(a)

    def values(a: Any) -> Any:
        return np.linalg.svd(a, compute_uv=False)

    def pinv(a: Any) -> Any:
        return np.linalg.pinv(a)

    for n in (0, 1, 3, 20):
        a = _regular(n, dtype)
        h = (a @ a.conj().T).astype(dtype)
        for view in (a, a.T, np.asfortranarray(a), _regular(2 * n, dtype)[::2, ::2], a[::-1, ::-1]):
            both(inv, view)
            both(det, view)
            both(slogdet, view)
            both(solve, view, _matrix((n, 2), dtype, 1))
            both(solve, view, _matrix((n,), dtype, 1))
        both(cholesky, h)
        both(eigvalsh, h)
        if n:
            both(values, _matrix((n, 2), dtype))
            both(pinv, _matrix((n, 2), dtype))
    both(solve, _regular(3, np.float32), np.arange(3))
    both(inv, np.array([[2, 1], [1, 3]]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_decompositions_give_the_matrix_again(dtype: Any) -> None:
    @weft.njit
    def by_qr(a: Any) -> Any:
        q, r = np.linalg.qr(a)
        return q @ r

    @weft.njit
    def by_whole_qr(a: Any) -> Any:
        q, r = np.linalg.qr(a, mode="complete")
        return q @ r

    @weft.njit
    def by_svd(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return (u * s.astype(u.dtype)) @ vh

    @weft.njit
    def by_eigh(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return (v * w.astype(v.dtype)) @ np.conj(v.T)

    @weft.njit
    def by_eig(a: Any) -> Any:
        w, v = np.linalg.eig(a)
        return (v * w) @ np.linalg.inv(v)

    for m, n in ((5, 3), (3, 5), (4, 4), (30, 20)):
        a = _matrix((m, n), dtype)
        for function in (by_qr, by_whole_qr, by_svd):
            _near(function(a), a)
    a = _regular(6, dtype)
    h = (a + a.conj().T).astype(dtype)
    _near(by_eigh(h), h)
    assert np.allclose(by_eig(a), a, atol=1e-3 if np.finfo(dtype).eps > 1e-8 else 1e-10)


def test_what_is_made_of_them() -> None:
    def norms(a: Any) -> Any:
        return (np.linalg.norm(a), np.linalg.norm(a, 1), np.linalg.norm(a, np.inf), np.linalg.norm(a, "fro"), np.linalg.norm(a, 2),
                np.linalg.norm(a, -1), np.linalg.norm(a, "nuc"))  # fmt: skip

    def of_vector(a: Any) -> Any:
        return np.linalg.norm(a), np.linalg.norm(a, 1), np.linalg.norm(a, np.inf), np.linalg.norm(a, 0), np.linalg.norm(a, 3)

    def rank(a: Any) -> Any:
        return np.int64(np.linalg.matrix_rank(a)), np.linalg.cond(a), np.linalg.cond(a, 1)

    def power(a: Any) -> Any:
        return np.linalg.matrix_power(a, 5), np.linalg.matrix_power(a, 0), np.linalg.matrix_power(a, -2)

    for dtype in FLOATS:
        both(norms, _matrix((4, 3), dtype))
        both(of_vector, _matrix((7,), dtype))
        both(rank, _regular(4, dtype))
        both(power, _regular(4, dtype))

    @weft.njit
    def least_squares(a: Any, b: Any) -> Any:
        return np.linalg.lstsq(a, b)

    for m, n in ((6, 3), (3, 3), (3, 5)):
        a, b = _matrix((m, n), np.float64), _matrix((m, 2), np.float64, 1)
        for sides in (b, b[:, 0].copy()):
            for found, wanted in zip(least_squares(a, sides), np.linalg.lstsq(a, sides)):
                assert np.allclose(found, wanted, atol=1e-9)


def test_what_is_refused() -> None:
    @weft.njit
    def inv(a: Any) -> Any:
        return np.linalg.inv(a)

    @weft.njit
    def cholesky(a: Any) -> Any:
        return np.linalg.cholesky(a)

    @weft.njit
    def eigh(a: Any) -> Any:
        return np.linalg.eigh(a)

    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        inv(np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        inv(np.zeros((2, 3)))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        cholesky(-np.eye(2))
    with pytest.raises(np.linalg.LinAlgError, match="converge"):
        eigh(np.full((2, 2), np.nan))
    with pytest.raises(weft.TypingError, match="float16"):
        inv(np.zeros((2, 2), np.float16))
    with pytest.raises(weft.TypingError, match="3 axes"):
        inv(np.zeros((2, 2, 2)))


@pytest.mark.parametrize("dtype", (*FLOATS, np.float16, np.int64, np.int8, np.bool_))
def test_products_of_every_size(dtype: Any) -> None:
    """Of a few elements, which are done in place, and of many, by the routine; whatever the layouts are."""

    def product(a: Any, b: Any) -> Any:
        return a @ b

    compiled = weft.njit(product)
    for m, k, n in ((1, 1, 1), (3, 3, 3), (6, 7, 5), (8, 8, 8), (0, 3, 4), (3, 0, 4), (30, 41, 17), (100, 3, 70)):
        a, b = _matrix((m, k), dtype), _matrix((k, n), dtype, 1)
        for left in (a, np.asfortranarray(a), _matrix((2 * m, k), dtype)[::2]):
            for right in (b, np.asfortranarray(b), b[:, ::-1]):
                found, wanted = compiled(left, right), product(left, right)
                assert found.dtype == wanted.dtype and found.shape == wanted.shape
                limit = {"f": 1e-4, "c": 1e-4}.get(np.dtype(dtype).kind, 0) if np.dtype(dtype).itemsize != 2 else 2e-2
                assert np.allclose(found, wanted, rtol=limit, atol=limit * 10)
    mixed = compiled(_matrix((20, 20), np.float32), _matrix((20, 20), np.float64, 1))
    assert mixed.dtype == np.float64 and np.allclose(mixed, _matrix((20, 20), np.float32) @ _matrix((20, 20), np.float64, 1))


def test_fields_of_records() -> None:
    """Elements that lie a part of one apart are no matrix that the routine knows."""

    @weft.njit
    def product(a: Any) -> Any:
        return a @ a

    for kinds in ([("z", np.complex128), ("y", np.float64)], [("z", np.complex64), ("y", np.float32)]):
        records = np.zeros((20, 20), kinds)
        records["z"] = _matrix((20, 20), kinds[0][1])
        records["y"] = 1e9
        view = records["z"]
        assert np.allclose(product(view), view.copy() @ view.copy(), rtol=1e-4)


def test_edges_of_what_is_made_of_them() -> None:
    def power(a: Any) -> Any:
        return np.linalg.matrix_power(a, 1), np.linalg.matrix_power(a, 4)

    def cond(a: Any) -> Any:
        return np.linalg.cond(a)

    def det(a: Any) -> Any:
        return np.linalg.det(a)

    with np.errstate(all="ignore"):
        both(power, np.array([[np.inf, 1.0], [1.0, 1.0]]))
        both(cond, np.zeros((2, 2)))
    for n in (1, 2, 3, 10):
        both(det, np.zeros((n, n)))
        both(det, np.ones((n, n)))

    @weft.njit
    def least_squares(a: Any, b: Any) -> Any:
        return np.linalg.lstsq(a, b)

    for diagonal in ([1, 1e-3, 3e-8], [1, 1e-3, 3e-16]):
        for dtype in (np.float32, np.float64):
            a = np.diag(diagonal).astype(dtype)
            found, wanted = least_squares(a, np.ones(3, dtype)), np.linalg.lstsq(a, np.ones(3, dtype))
            assert found[2] == wanted[2] and found[0].dtype == wanted[0].dtype == dtype


def test_products_in_loops_and_threads() -> None:
    @weft.njit(parallel=True)
    def each(a: Any, out: Any) -> None:
        for i in weft.prange(a.shape[0]):
            out[i] = a[i] @ a[i] + np.linalg.inv(a[i])

    @weft.njit
    def chain(a: Any, count: int) -> Any:
        found = np.eye(a.shape[0])
        for _ in range(count):
            found = found @ a
        return found

    a = np.stack([_regular(10, np.float64) + i for i in range(40)])
    out = np.empty_like(a)
    each(a, out)
    assert np.allclose(out, a @ a + np.linalg.inv(a))
    small = _matrix((12, 12), np.float64) / 40
    assert np.allclose(chain(small, 30), np.linalg.matrix_power(small, 30))


def test_products_run_by_the_interpreter() -> None:
    @weft.njit(debug=True)
    def product(a: Any, b: Any) -> Any:
        return a @ b

    @weft.njit(debug=True)
    def inv(a: Any) -> Any:
        return np.linalg.inv(a)

    a = _matrix((12, 12), np.float64)
    assert np.allclose(product(a, a), a @ a)
    with pytest.raises(ValueError, match="debug=True"):
        inv(a)
