"""Linear algebra against NumPy's: what decompositions have to satisfy, values where they are unique, and what both refuse."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft
import weft.linalg

from .against_numpy import ALL, array, check, difference

FLOATS = (np.float32, np.float64, np.complex64, np.complex128)
SIZES = (0, 1, 2, 3, 5, 8, 17, 40, 90)
STACKS = ((), (3,), (2, 1))


def _matrix(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray:
    """A matrix of normally distributed numbers."""
    rng = np.random.default_rng([seed, *shape])
    made = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.standard_normal(shape)
    return made.astype(dtype)


def _regular(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray:
    """A square matrix far from singular ones."""
    return (_matrix(shape, dtype, seed) + np.eye(shape[-1]) * 2 * shape[-1] ** 0.5).astype(dtype)


def _positive(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    made = _regular(shape, dtype)
    return (made @ _turned(made)).astype(dtype)


def _turned(a: np.ndarray) -> np.ndarray:
    return a.conj().swapaxes(-1, -2)


def _near(found: Any, wanted: np.ndarray, size: float = 1.0) -> None:
    """Equal up to rounding, which grows with the matrix; `size` is that of numbers on the way."""
    found = weft.asnumpy(found)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (found.shape, wanted.shape, found.dtype, wanted.dtype)
    if wanted.size:
        largest = max(float(np.abs(wanted).max()), size)
        limit = 40 * float(np.finfo(wanted.dtype).eps) * largest * max(wanted.shape[-1:] or (1,)) ** 0.5
        assert float(np.abs(found - wanted).max()) <= max(limit, 1e-12 * largest)


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_has_one_answer(dtype: Any) -> None:
    for n, stack in itertools.product(SIZES, STACKS):
        a, h = _regular((*stack, n, n), dtype), _positive((*stack, n, n), dtype)
        b = _matrix((*stack, n, 3), dtype, 1)
        x, y = weft.asarray(a), weft.asarray(h)
        _near(weft.linalg.solve(x, weft.asarray(b)), np.linalg.solve(a, b))
        _near(weft.linalg.solve(x, weft.asarray(b[..., 0].reshape(-1)[:n])), np.linalg.solve(a, b[..., 0].reshape(-1)[:n]))
        _near(weft.linalg.inv(x), np.linalg.inv(a))
        _near(weft.linalg.cholesky(y), np.linalg.cholesky(h))
        _near(weft.linalg.cholesky(y, upper=True), np.linalg.cholesky(h, upper=True))
        for found, wanted in zip(weft.linalg.slogdet(x), np.linalg.slogdet(a)):
            _near(found, np.asarray(wanted), n)
        _near(weft.linalg.eigvalsh(y), np.linalg.eigvalsh(h))
        if n < 20:
            _near(weft.linalg.det(x), np.asarray(np.linalg.det(a)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_singular_values(dtype: Any) -> None:
    for (m, n), stack in itertools.product(itertools.product((0, 1, 2, 5, 33), (0, 1, 3, 20)), STACKS):
        a = _matrix((*stack, m, n), dtype)
        x = weft.asarray(a)
        values = np.linalg.svd(a, compute_uv=False)
        for full in (True, False):
            left, s, right = weft.linalg.svd(x, full_matrices=full)
            shapes = [part.shape for part in np.linalg.svd(a, full_matrices=full)]
            assert [left.shape, s.shape, right.shape] == shapes
            _near(s, values)
            u, vh, k = weft.asnumpy(left), weft.asnumpy(right), min(m, n)
            _near(weft.asarray((u[..., :k] * values[..., None, :]) @ vh[..., :k, :]), a, 5)
            _near(weft.asarray(_turned(u) @ u), np.broadcast_to(np.eye(u.shape[-1], dtype=dtype), (*stack, u.shape[-1], u.shape[-1])))
            _near(weft.asarray(vh @ _turned(vh)), np.broadcast_to(np.eye(vh.shape[-2], dtype=dtype), (*stack, vh.shape[-2], vh.shape[-2])))
        _near(weft.linalg.svdvals(x), values)
        _near(weft.linalg.pinv(x), np.linalg.pinv(a), 10)
        assert difference(np.linalg.matrix_rank(a), weft.linalg.matrix_rank(x), exact=True) is None


@pytest.mark.parametrize("dtype", FLOATS)
def test_qr(dtype: Any) -> None:
    for (m, n), stack in itertools.product(itertools.product((0, 1, 2, 5, 33), (0, 1, 3, 20)), STACKS):
        a = _matrix((*stack, m, n), dtype)
        x = weft.asarray(a)
        for mode in ("reduced", "complete"):
            q, r = weft.linalg.qr(x, mode)
            wanted = np.linalg.qr(a, mode)
            assert (q.shape, r.shape) == (wanted.Q.shape, wanted.R.shape)
            _near(weft.asarray(weft.asnumpy(q) @ weft.asnumpy(r)), a, 5)
            assert np.array_equal(np.triu(weft.asnumpy(r)), weft.asnumpy(r))
            diagonal = np.diagonal(weft.asnumpy(r), axis1=-2, axis2=-1)
            assert np.allclose(diagonal.imag, 0, atol=1e-5)
            if np.dtype(dtype).kind == "f":
                _near(q[..., : min(m, n)], wanted.Q[..., : min(m, n)], 5)
                _near(r, wanted.R, 5)
            _near(weft.linalg.qr(x, "r"), weft.asnumpy(r[..., : min(m, n), :]), 5)
        for found, wanted in zip(weft.linalg.qr(x, "raw"), np.linalg.qr(a, "raw")):
            assert found.shape == wanted.shape
            if np.dtype(dtype).kind == "f":
                _near(found, wanted, 5)
    check("xp.linalg.qr(a, 'lower')", a=_matrix((3, 3), np.float64))


@pytest.mark.parametrize("dtype", FLOATS)
def test_raw_reflections_give_the_matrix_again(dtype: Any) -> None:
    a = _matrix((6, 4), dtype)
    h, tau = (weft.asnumpy(part) for part in weft.linalg.qr(weft.asarray(a), "raw"))
    made = np.triu(h.T)
    for at in reversed(range(4)):
        v = np.concatenate([np.zeros(at), [1], h[at, at + 1 :]]).astype(dtype)
        made = made - tau[at] * np.outer(v, v.conj() @ made)
    assert np.allclose(made, a, atol=1e-5 if np.finfo(dtype).eps > 1e-8 else 1e-13)


@pytest.mark.parametrize("dtype", FLOATS)
def test_eigenvectors(dtype: Any) -> None:
    for n, stack in itertools.product(SIZES, STACKS):
        a = _matrix((*stack, n, n), dtype)
        h = (a + _turned(a)).astype(dtype)
        for uplo in "LUlu":
            values, vectors = weft.linalg.eigh(weft.asarray(h), uplo)
            _near(values, np.linalg.eigvalsh(h), 5)
            v = weft.asnumpy(vectors)
            _near(weft.asarray(h @ v), (v * weft.asnumpy(values)[..., None, :]).astype(dtype), 20)
        values, vectors = (weft.asnumpy(part) for part in weft.linalg.eig(weft.asarray(a)))
        assert np.allclose(a @ vectors, vectors * values[..., None, :], atol=2e-4 if np.finfo(dtype).eps > 1e-8 else 1e-11)
        assert np.allclose(np.linalg.norm(vectors, axis=-2), 1)
        found = weft.asnumpy(weft.linalg.eigvals(weft.asarray(a)))
        assert np.allclose(np.sort_complex(found), np.sort_complex(values), atol=1e-3 if np.finfo(dtype).eps > 1e-8 else 1e-9)


def test_matrices_are_balanced_first() -> None:
    """Small eigenvalues are not lost beside large elements, and those that stand on the diagonal are exact."""
    for n in (3, 6, 20):
        scales = 10.0 ** np.linspace(-8, 8, n)
        a = _matrix((n, n), np.float64) * scales[:, None] / scales
        for dtype in (np.float64, np.complex128):
            found = weft.asnumpy(weft.linalg.eigvals(weft.asarray(a.astype(dtype))))
            wanted = np.linalg.eigvals(_matrix((n, n), np.float64))
            # Conjugate pairs come in any order, and real parts differ in the last digits.
            found, wanted = (np.sort_complex(np.round(x, 7)) for x in (found, wanted))
            assert np.allclose(found, wanted, rtol=1e-6, atol=1e-6)
            values, vectors = (weft.asnumpy(part) for part in weft.linalg.eig(weft.asarray(a.astype(dtype))))
            assert np.allclose((a @ vectors) / scales[:, None], (vectors * values) / scales[:, None], atol=1e-8)
    for a in (np.triu(_matrix((7, 7), np.float64)), np.tril(_matrix((7, 7), np.float64)), np.diag(np.arange(5.0)), np.eye(4, k=1)):
        found, vectors = (weft.asnumpy(part) for part in weft.linalg.eig(weft.asarray(a)))
        assert sorted(found.real) == sorted(np.diagonal(a)) and not found.imag.any()
        assert np.allclose(a @ vectors, vectors * found)


def _repeated() -> Iterator[np.ndarray]:
    """Matrices whose eigenvalues are repeated, with as many vectors as rows and with fewer."""
    for n in (1, 2, 3, 5, 23, 40, 75, 76):
        for value in (0.5, 0.0, -3.0):
            yield np.diag(np.full(n, value)) + np.eye(n, k=1)
        half = n // 2 + 1
        yield np.kron(np.eye(half), [[0.0, 1.0], [0.0, 0.0]])
        pairs = np.kron(np.eye(half), [[1.0, 2.0], [-2.0, 1.0]]) + np.eye(2 * half, k=2)
        basis = np.linalg.qr(_matrix((n, n), np.float64))[0]
        yield from (pairs, np.ones((n, n)), np.zeros((n, n)), np.eye(n))
        yield from (basis @ np.diag(np.arange(n) // 4.0) @ basis.T, basis @ np.triu(np.ones((n, n))) @ basis.T)
        if n <= 40:
            yield np.eye(n, k=-1) - np.outer(np.arange(n) == 0, np.poly(np.ones(n))[1:])
        yield np.eye(n, k=-1) + np.outer(np.arange(n) == 0, np.arange(n) == n - 1)
    yield from (np.ones((267, 267)), np.eye(120, k=1), np.diag(np.full(110, 0.5)) + np.eye(110, k=1) * 1e3)


def test_eigenvectors_of_repeated_values() -> None:
    """Whatever vectors there are, each is one of its value, up to the rounding of the matrix."""
    for a in _repeated():
        for factor in (1, 1 - 2j) if len(a) > 50 else (1, 1e100, 1e-200, 1 - 2j):
            scaled = a * factor
            size = float(np.abs(scaled).sum(axis=-1).max()) or 1.0
            values, vectors = (weft.asnumpy(part) for part in weft.linalg.eig(weft.asarray(scaled)))
            assert np.allclose(np.linalg.norm(vectors, axis=0), 1), a
            assert np.abs(scaled @ vectors - vectors * values).max() <= 1e-14 * len(a) * size, a
    # A block's vectors are nearly the same, as in NumPy.
    values, vectors = (weft.asnumpy(part) for part in weft.linalg.eig(weft.asarray(np.eye(40) / 2 + np.eye(40, k=1))))
    assert np.allclose(values, 0.5) and np.allclose(np.abs(vectors[0]), 1)


def test_singular_values_of_all_kinds() -> None:
    """What is hard for steps without vectors: zeros, equal values, all sizes in one matrix, tall and wide ones."""
    for n in (1, 2, 3, 6, 20, 50):
        bidiagonal = np.eye(n) + np.eye(n, k=1)
        graded = np.diag(10.0 ** -np.linspace(0, 12, n)) @ bidiagonal
        # Relative to each value, where the matrix says it: these are bidiagonal.
        for a in (bidiagonal, graded, graded[::-1, ::-1], np.diag(np.arange(n) % 3 + 1.0), np.eye(n), np.zeros((n, n)), graded * 1e150):
            for dtype in (np.float64, np.complex128):
                found, wanted = weft.asnumpy(weft.linalg.svdvals(weft.asarray(a.astype(dtype)))), np.linalg.svd(a.astype(dtype))[1]
                lowest = 0.0 if a is bidiagonal or a is graded else float(np.abs(a).max()) * 1e-14 * n
                assert np.allclose(found, wanted, rtol=1e-12, atol=lowest), (a, found - wanted)
        for rows in (n, n + 1, 2 * n, 5 * n + 3):
            for dtype in FLOATS:
                a = _matrix((rows, n), dtype) @ np.diag(np.arange(n) % 5 != 1).astype(dtype)
                for b in (a, a.T, a[::-1, ::-1], np.asfortranarray(a), np.vstack([a, a])[::2]):
                    _near(weft.linalg.svdvals(weft.asarray(b)), np.linalg.svd(b, compute_uv=False))
    # Parts of sizes so far apart that squares of one are nothing.
    small, large = _matrix((4, 4), np.float64), _matrix((5, 5), np.float64)
    for dtype in (np.float64, np.complex128):
        a = np.block([[large, np.zeros((5, 4))], [np.zeros((4, 5)), small * 1e-170]]).astype(dtype)
        wanted = np.concatenate([np.linalg.svd(large)[1], np.linalg.svd(small)[1] * 1e-170])
        found = weft.asnumpy(weft.linalg.svdvals(weft.asarray(a)))
        assert np.allclose(found, wanted, rtol=1e-13, atol=1e-160)


def test_hermitian_matrices_of_all_kinds() -> None:
    """Values alone and with vectors, of what is hard for steps: nothing on the diagonal, many equal values, all sizes."""
    n = 21
    wilkinson = np.diag(np.abs(np.arange(n) - 10.0)) + np.eye(n, k=1) + np.eye(n, k=-1)
    bare = np.eye(n, k=1) + np.eye(n, k=-1)
    graded = np.outer(10.0 ** -np.arange(12), 10.0 ** -np.arange(12)) + np.diag(10.0 ** -np.arange(12))
    for a in (wilkinson, bare, graded, np.ones((9, 9)), np.eye(8), np.zeros((5, 5)), 1e200 * wilkinson, 1e-200 * wilkinson):
        for dtype in (np.float64, np.complex128):
            wanted, size = np.linalg.eigvalsh(a), float(np.abs(a).max())
            for found in (weft.linalg.eigvalsh(weft.asarray(a.astype(dtype))), weft.linalg.eigh(weft.asarray(a.astype(dtype)))[0]):
                assert np.abs(weft.asnumpy(found) - wanted).max() <= 1e-13 * size * n


def test_singular_matrices_have_determinants() -> None:
    for n in range(1, 30):
        without_row, of_one_rank = _matrix((n, n), np.float64), np.outer(np.arange(n), np.ones(n))
        without_row[n // 2] = 0
        for a in (np.zeros((n, n)), without_row, without_row.T, of_one_rank, np.triu(np.ones((n, n)), 1)):
            for dtype in FLOATS:
                found, (sign, size) = (f(weft.asarray(a.astype(dtype))) for f in (weft.linalg.det, weft.linalg.slogdet))
                assert abs(complex(found)) < 1e-9 * n and (complex(sign) == 0) == (float(size) == -np.inf)
    check("xp.linalg.slogdet(a)", a=np.array([[np.inf, 1.0], [2.0, 3.0]]))


def test_sizes_at_the_ends_of_the_range() -> None:
    for n in (2, 5, 40, 140):
        for dtype in (np.float64, np.complex128):
            a = _matrix((n, n), dtype)
            h = a + _turned(a)
            for scale in (1e-305, 1e-200, 1e160, 1e300):
                for name, b in (("svdvals", a), ("eigvalsh", h), ("eigvals", a)):
                    found, wanted = (weft.asnumpy(getattr(weft.linalg, name)(weft.asarray(x))) for x in (b * scale, b))
                    found, wanted = np.sort(np.abs(found) / scale), np.sort(np.abs(wanted))
                    assert np.allclose(found, wanted, rtol=1e-9, atol=1e-9 * wanted.max()), (name, n, scale)


def test_least_squares_are_computed_in_double_precision() -> None:
    a = np.vander(np.linspace(0.1, 1, 10)).astype(np.float32)
    b = np.arange(10.0, dtype=np.float32)
    found, wanted = weft.asnumpy(weft.linalg.lstsq(weft.asarray(a), weft.asarray(b))[0]), np.linalg.lstsq(a, b)[0]
    assert np.allclose(found, wanted, rtol=1e-4)
    for diagonal, rcond in (([1, 1e-3, 3e-8], None), ([1, 1e-17], 0), ([1, 1e-17], -1), ([1, 1e-3], 0.1)):
        a = np.diag(diagonal).astype(np.float32 if rcond is None else np.float64)
        b = np.ones(len(diagonal), a.dtype)
        assert int(weft.linalg.lstsq(weft.asarray(a), weft.asarray(b), rcond)[2]) == int(np.linalg.lstsq(a, b, rcond)[2])


def test_what_is_no_number() -> None:
    for wrong in (np.nan, np.inf):
        for a in (np.array([[wrong, 1.0], [1.0, 2.0]]), np.array([[1.0, wrong], [1.0, 2.0]])):
            for mode in ("reduced", "complete", "r"):
                found = weft.linalg.qr(weft.asarray(a), mode)
                parts = [found] if mode == "r" else list(found)
                assert np.isnan(weft.asnumpy(parts[-1])[:, 1]).all()
            check("xp.linalg.det(a) * 0", a=a)


def test_one_triangle_alone_is_read() -> None:
    h = _positive((6, 6), np.complex128)
    lower, upper = np.tril(h) + np.triu(np.full((6, 6), np.nan), 1), np.triu(h) + np.tril(np.full((6, 6), np.nan), -1)
    _near(weft.linalg.cholesky(weft.asarray(lower)), np.linalg.cholesky(h))
    _near(weft.linalg.cholesky(weft.asarray(upper), upper=True), np.linalg.cholesky(h, upper=True))
    _near(weft.linalg.eigvalsh(weft.asarray(lower)), np.linalg.eigvalsh(h))
    _near(weft.linalg.eigvalsh(weft.asarray(upper), "U"), np.linalg.eigvalsh(h))


def test_eigenvalues_are_complex_whatever_they_are() -> None:
    for dtype, wide in ((np.float32, np.complex64), (np.float64, np.complex128), (np.int32, np.complex128)):
        a = weft.asarray(np.triu(array((4, 4), dtype)))
        assert weft.linalg.eigvals(a).dtype == wide == weft.linalg.eig(a).eigenvectors.dtype


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype: Any) -> None:
    a = (array((3, 3), dtype) + np.eye(3, dtype=dtype) * dtype(7)).astype(dtype)
    for text in ("solve(a, a)", "inv(a)", "det(a)", "slogdet(a)", "cholesky(a @ a.T)", "svdvals(a)", "eigvalsh(a)", "matrix_rank(a)"):
        check(f"xp.linalg.{text}", exact=False, a=a)
    for text in ("norm(a)", "norm(a, 1)", "norm(a, axis=0)", "norm(a, np.inf, axis=1)", "matrix_power(a, 3)", "multi_dot([a, a, a])"):
        check(f"xp.linalg.{text}", exact=False, a=a)


def test_norms() -> None:
    for dtype in (np.float64, np.float32, np.complex128, np.int32):
        vector, matrix, stack = array((7,), dtype), array((3, 4), dtype), array((2, 3, 4), dtype)
        for ord in ("None", "np.inf", "-np.inf", "0", "1", "-1", "2", "-2", "3", "0.5", "'fro'", "'nuc'", "'x'"):
            for keepdims in (False, True):
                check(f"xp.linalg.norm(a, {ord}, keepdims={keepdims})", exact=False, a=vector)
                check(f"xp.linalg.norm(a, {ord}, keepdims={keepdims})", exact=False, a=matrix)
                check(f"xp.linalg.norm(a, {ord}, axis=1, keepdims={keepdims})", exact=False, a=stack)
                for axes in ("(0, 1)", "(2, 0)", "(-1, -2)", "(1, 1)", "(0, 1, 2)", "(0, 3)"):
                    check(f"xp.linalg.norm(a, {ord}, axis={axes}, keepdims={keepdims})", exact=False, a=stack)
            check(f"xp.linalg.vector_norm(a, ord={ord})", exact=False, a=stack)
            check(f"xp.linalg.vector_norm(a, ord={ord}, axis=(0, 2), keepdims=True)", exact=False, a=stack)
            check(f"xp.linalg.matrix_norm(a, ord={ord})", exact=False, a=stack)
        check("xp.linalg.norm(a)", exact=False, a=stack)
        check("xp.linalg.norm(a, axis='x')", a=stack)
    check("xp.linalg.norm(a)", a=np.zeros((0, 3)))
    check("xp.linalg.norm(a, 2, axis=0)", a=np.zeros((0, 3)))


def test_conditions() -> None:
    for dtype in (np.float64, np.complex64, np.int32):
        a = _regular((4, 4), np.float64).astype(dtype)
        for p in ("None", "2", "-2", "1", "-1", "np.inf", "-np.inf", "'fro'"):
            check(f"xp.linalg.cond(a, {p})", exact=False, a=a)
            check(f"xp.linalg.cond(a, {p})", exact=False, a=np.stack([a, a + np.eye(4, dtype=dtype)]))
    check("xp.linalg.cond(a)", a=np.zeros((2, 2)))
    check("xp.linalg.cond(a, 1)", a=np.zeros((2, 2, 2)))
    check("xp.linalg.cond(a)", a=np.zeros((0, 2)))


def test_least_squares() -> None:
    for dtype in FLOATS:
        for m, n in ((5, 3), (20, 3), (3, 5), (4, 4), (1, 1)):
            a, b = _matrix((m, n), dtype), _matrix((m, 2), dtype, 1)
            for sides in (b, b[:, 0]):
                found, wanted = weft.linalg.lstsq(weft.asarray(a), weft.asarray(sides)), np.linalg.lstsq(a, sides)
                _near(found[0], wanted[0], 5)
                _near(found[1].reshape(-1), np.asarray(wanted[1]).reshape(-1), 20)
                assert int(found[2]) == int(wanted[2])
                _near(found[3], wanted[3])
    short = np.outer(np.arange(1.0, 6.0), [1.0, 2.0, 3.0])
    found, wanted = weft.linalg.lstsq(weft.asarray(short), weft.asarray(np.ones(5))), np.linalg.lstsq(short, np.ones(5))
    _near(found[0], wanted[0])
    assert int(found[2]) == 1 and found[1].shape == wanted[1].shape == (0,)
    check("xp.linalg.lstsq(a, b)[0]", a=np.ones((2, 2)), b=np.ones(3))
    check("xp.linalg.lstsq(a, b)[0]", a=np.ones((2, 2, 2)), b=np.ones(2))


def test_powers_and_chains() -> None:
    a = array((3, 3), np.int64)
    for n in (0, 1, 2, 3, 7, 10):
        check(f"xp.linalg.matrix_power(a, {n})", a=a)
        check(f"xp.linalg.matrix_power(a, {n})", exact=False, a=array((2, 3, 3)))
    check("xp.linalg.matrix_power(a, -3)", exact=False, a=_regular((3, 3), np.float64))
    check("xp.linalg.matrix_power(a, 1.5)", a=a)
    chain = [array(shape, seed=at) for at, shape in enumerate(((4, 7), (7, 2), (2, 9), (9, 3)))]
    check("xp.linalg.multi_dot([a, b, c, d])", exact=False, **dict(zip("abcd", chain)))
    check("xp.linalg.multi_dot([a, b, c])", exact=False, a=array((7,)), b=chain[1], c=array((2,)))
    check("xp.linalg.multi_dot([a])", a=chain[0])
    check("xp.linalg.multi_dot([a, b, c])", a=chain[0], b=array((2, 7, 2)), c=chain[2])
    check("xp.linalg.tensorinv(a)", exact=False, a=_regular((24, 24), np.float64).reshape(4, 6, 8, 3))
    check("xp.linalg.tensorinv(a, ind=1)", exact=False, a=_regular((24, 24), np.float64).reshape(24, 8, 3))
    check("xp.linalg.tensorinv(a, ind=0)", a=a)
    check("xp.linalg.tensorsolve(a, b)", exact=False, a=_regular((24, 24), np.float64).reshape(4, 6, 8, 3), b=array((4, 6)))
    check("xp.linalg.tensorsolve(a, b, axes=(0,))", exact=False, a=_regular((6, 6), np.float64).reshape(2, 3, 6), b=array((3, 6)))


REFUSED = (
    "inv(a)",
    "det(a)",
    "slogdet(a)",
    "cholesky(a)",
    "eig(a)",
    "eigh(a)",
    "eigvals(a)",
    "eigvalsh(a)",
    "solve(a, a)",
    "svd(a)",
    "qr(a)",
)


def test_what_is_refused() -> None:
    for text in (*REFUSED, "matrix_power(a, 2)", "pinv(a)"):
        for shape in ((), (3,), (2, 3)):
            if not (text.startswith(("svd", "qr", "pinv")) and len(shape) == 2):
                check(f"xp.linalg.{text}", a=array(shape))
        check(f"xp.linalg.{text}", a=array((3, 3), np.float16)) if not text.startswith("matrix_power") else None
    for text in ("inv(a)", "solve(a, a)", "cholesky(a)", "matrix_power(a, -1)"):
        check(f"xp.linalg.{text}", a=np.zeros((2, 2)))
        check(f"xp.linalg.{text}", a=np.stack([np.eye(2), np.zeros((2, 2))]))
    check("xp.linalg.cholesky(a)", a=-np.eye(3))
    for text in ("eig(a)", "eigvals(a)", "svd(a)"):
        for wrong in (np.nan, np.inf):
            check(f"xp.linalg.{text}", a=np.full((3, 3), wrong))
    check("xp.linalg.eigh(a, 'X')", a=np.eye(3))
    check("xp.linalg.solve(a, b)", a=np.eye(3), b=np.ones((2, 3)))
    check("xp.linalg.solve(a, b)", a=np.eye(3), b=np.ones(4))
    check("xp.linalg.solve(a, b)", a=np.eye(3), b=np.float64(1))
    check("xp.linalg.solve(a, b)", a=np.ones((2, 3, 3)), b=np.ones((3, 3, 1)))
    check("xp.linalg.outer(a, a)", a=np.eye(3))
    check("xp.linalg.cross(a, a)", a=np.ones((3, 2)))


def test_strides() -> None:
    base = _regular((2, 12, 12), np.float64)
    for index in ("a[:, ::2, ::2]", "a[:, ::-2, ::-2]", "a.transpose(0, 2, 1)", "a.transpose(2, 0, 1)[:, :, :2]", "a[::-1, :5, 3:8]"):
        for text in ("matmul({0}, {0}.swapaxes(1, 2))", "qr({0})[1]", "svdvals({0})"):
            check(f"xp.linalg.{text.format(index)}", exact=False, a=base)
    check("xp.linalg.inv(a[0, ::-1, ::-1])", exact=False, a=base)
    check("xp.linalg.inv(xp.broadcast_to(a[0], (3, 12, 12)))", exact=False, a=base)


def test_empty_stacks() -> None:
    for text in ("inv(a)", "det(a)", "cholesky(a)", "eigvalsh(a)", "solve(a, a)", "svdvals(a)", "matmul(a, a)"):
        check(f"xp.linalg.{text}", a=np.ones((0, 3, 3)))
        check(f"xp.linalg.{text}", a=np.ones((2, 0, 0)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_of_every_size(dtype: Any) -> None:
    """Edges of the blocks that kernels work in, with rows and columns that lie in any order."""
    rng = np.random.default_rng(3)
    for _ in range(150):
        m, k, n = (int(x) for x in rng.integers(0, 70, 3))
        a = _matrix((m, k) if rng.random() < 0.5 else (k, m), dtype)
        b = _matrix((k, n) if rng.random() < 0.5 else (n, k), dtype)
        left, right = (x if x.shape == shape else x.T for x, shape in ((a, (m, k)), (b, (k, n))))
        x, y = (weft.asarray(a), weft.asarray(b))
        x, y = x if left is a else x.T, y if right is b else y.T
        _near(x @ y, left @ right, 5)
    for m, k, n in ((200, 130, 150), (1, 4000, 1), (3, 1000, 300), (300, 2, 300), (129, 129, 129)):
        a, b = _matrix((m, k), dtype), _matrix((k, n), dtype, 1)
        _near(weft.asarray(a) @ weft.asarray(b), a @ b, 5 * k**0.5)


def test_threads_give_the_same_numbers() -> None:
    a, stack = _regular((300, 300), np.float64), _regular((400, 20, 20), np.float64)
    before = weft.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            weft.set_num_threads(threads)
            found.append([weft.asnumpy(f(weft.asarray(x))) for x in (a, stack) for f in (weft.linalg.inv, weft.linalg.svdvals)])
    finally:
        weft.set_num_threads(before)
    for other in found[1:]:
        for one, another in zip(found[0], other):
            assert np.allclose(one, another, rtol=1e-9)


def test_in_a_captured_graph() -> None:
    @weft.compile
    def solved(a: Any, b: Any) -> Any:
        return weft.linalg.solve(a, b) + weft.linalg.det(a)

    @weft.compile
    def conditions(a: Any) -> Any:
        return weft.linalg.cond(a, 1)

    for a in (np.eye(3), _regular((3, 3), np.float64), np.zeros((3, 3)), np.zeros((3, 3))):
        assert difference(np.linalg.cond(a, 1), conditions(weft.asarray(a)), exact=False) is None
    for seed in range(4):
        a, b = _regular((5, 5), np.float64, seed), _matrix((5, 2), np.float64, seed)
        _near(solved(weft.asarray(a), weft.asarray(b)), np.linalg.solve(a, b) + np.linalg.det(a))


def test_numpys_functions_find_them() -> None:
    a = weft.asarray(_regular((3, 3), np.float64))
    assert isinstance(np.linalg.inv(a), weft.ndarray)
    assert isinstance(np.linalg.norm(a), weft.ndarray)
    assert set(np.linalg.__all__) - set(weft.linalg.__all__) == set()


def many_zeros(n: int) -> dict[str, np.ndarray]:
    """Matrices of few singular values that are not 0."""
    numbers = np.random.default_rng(n)
    at = np.arange(n)
    return {
        "ones": np.ones((n, n)),
        "thirds": np.full((n, n + 3), 0.3),
        "complex": np.full((n + 1, n), 1 + 2j),
        "remainders": (at[:, None] * at % 5).astype(float),
        "repeated rows": np.eye(4)[numbers.integers(0, 4, n)] @ numbers.integers(0, 3, (4, n)),
        "groups": np.eye(3)[numbers.integers(0, 3, n)] @ np.eye(3)[numbers.integers(0, 3, n)].T,
        "an outer product": np.outer(numbers.normal(size=n), numbers.normal(size=n)),
    }


@pytest.mark.parametrize("n", [37, 47, 48, 55, 82, 86, 95, 130])
def test_singular_values_of_which_many_are_zero(n: int) -> None:
    for name, a in many_zeros(n).items():
        for full in (False, True):
            left, values, right = (weft.asnumpy(x) for x in weft.linalg.svd(weft.asarray(a), full_matrices=full))
            few = len(values)
            assert abs((left[:, :few] * values) @ right[:few] - a).max() <= 1e-13 * n * abs(a).max(), name
            assert abs(left.conj().T @ left - np.eye(left.shape[1])).max() <= 1e-12, name
            assert abs(right @ right.conj().T - np.eye(right.shape[0])).max() <= 1e-12, name
            assert (np.diff(values) <= 0).all(), name
        inverse = weft.asnumpy(weft.linalg.pinv(weft.asarray(a)))
        assert abs(a @ inverse @ a - a).max() <= 1e-11 * abs(a).max(), name


@pytest.mark.parametrize("size", [2e-308, 1e-300, 1e-160, 1e160, 1e300])
def test_triangles_at_the_ends_of_the_range(size: float) -> None:
    x = np.random.default_rng(0).uniform(0.5, 2, (5, 4))
    a = weft.asarray(x * size)
    orthogonal, triangle = (weft.asnumpy(part) for part in weft.linalg.qr(a))
    np.testing.assert_allclose(orthogonal @ (triangle / size), x, rtol=1e-13)
    np.testing.assert_allclose(weft.asnumpy(weft.linalg.qr(a, mode="r")), triangle, rtol=1e-13)
    vectors, scales = weft.linalg.qr(a, mode="raw")
    theirs = np.linalg.qr(x, mode="raw")
    np.testing.assert_allclose(np.triu(weft.asnumpy(vectors).T) / size, np.triu(theirs[0].T), rtol=1e-12)
    np.testing.assert_allclose(np.tril(weft.asnumpy(vectors).T, -1), np.tril(theirs[0].T, -1), rtol=1e-12)
    np.testing.assert_allclose(weft.asnumpy(scales), theirs[1], rtol=1e-12)
