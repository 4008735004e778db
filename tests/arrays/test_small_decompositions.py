"""Decompositions of small real matrices, which have steps of their own: of many kinds, checked by what they are and against NumPy."""

import numpy as np
import pytest

import weft

EPS = np.finfo(np.float64).eps
# Sizes on both sides of where other steps begin: blocks of 8 rows, vectors of 8 numbers, 64 and 96 columns, 128 rows, twice as many rows.
SIZES = [
    (1, 1),
    (1, 5),
    (7, 1),
    (2, 2),
    (3, 3),
    (8, 8),
    (9, 17),
    (16, 9),
    (33, 33),
    (64, 64),
    (64, 63),
    (65, 130),
    (97, 96),
    (96, 96),
    (100, 97),
    (128, 127),
    (129, 129),
]


def kinds(rng: np.random.Generator, m: int, n: int) -> dict[str, np.ndarray]:
    """Matrices that steps may stumble over."""
    a = rng.normal(size=(m, n))
    r = max(1, min(m, n) // 3)
    sparse = a.copy()
    sparse[:, rng.random(n) < 0.4] = 0
    sparse[rng.random(m) < 0.4] = 0
    one = np.zeros((m, n))
    one[m // 2, n // 3] = -1e300
    return {
        "normal": a,
        "large": a * 1e290,
        "tiny": a * 1e-290,
        "graded columns": a * 10.0 ** rng.uniform(-30, 30, size=(1, n)),
        "graded rows": a * 10.0 ** rng.uniform(-30, 30, size=(m, 1)),
        "few ranks": rng.normal(size=(m, r)) @ rng.normal(size=(r, n)),
        "integers": np.round(a),
        "zeros": np.zeros((m, n)),
        "one element": one,
        "permuted": np.eye(m, n)[:, rng.permutation(n)] * -2.5,
        "ones": np.ones((m, n)),
        "two diagonals": np.triu(np.tri(m, n, 1)) * a * 10.0 ** rng.uniform(-20, 20),
        "rows and columns of zeros": sparse,
        "fortran": np.asfortranarray(a),
        "reversed": a[::-1, ::-1],
    }


def near(found: np.ndarray, wanted: np.ndarray, size: int) -> None:
    assert np.abs(found - wanted).max(initial=0.0) < 100 * EPS * size**0.5


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_svd(m, n):
    for kind, a in kinds(np.random.default_rng(m * 1000 + n), m, n).items():
        largest = max(np.abs(a).max(), 1e-300)
        for full in (True, False):
            u, s, vh = (np.asarray(x) for x in weft.linalg.svd(weft.asarray(a), full_matrices=full))
            near(u.T @ u, np.eye(u.shape[1]), m)
            near(vh @ vh.T, np.eye(vh.shape[0]), n)
            k = min(m, n)
            near((u[:, :k] * (s / largest)) @ vh[:k] / max(m, n), a / largest / max(m, n), 1)
            assert (s >= 0).all(), kind
            assert (np.diff(s) <= 0).all(), kind
            near(s / largest / max(m, n), np.linalg.svd(a / largest, compute_uv=False) / max(m, n), 1)


@pytest.mark.parametrize("seed", range(40))
def test_svd_of_two_diagonals_of_any_size(seed):
    """Numbers from the least to the largest: rotations of pairs whose squares are nothing have to be rotations, too."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    a = np.diag(10.0 ** rng.uniform(-323, 0, n)) + np.diag(10.0 ** rng.uniform(-323, 0, n - 1), 1)
    for given in (a, a.T, a[::-1], np.roll(a, 1, axis=0)):
        u, s, vh = (np.asarray(x) for x in weft.linalg.svd(weft.asarray(given)))
        near(u.T @ u, np.eye(n), n)
        near(vh @ vh.T, np.eye(n), n)
        near(u * s @ vh, given, n)


def test_qr_of_columns_of_any_size():
    """Columns are scaled by themselves: a large one leaves a small one what it is."""
    rng = np.random.default_rng(0)
    for m, n in [(2, 2), (9, 5), (5, 9), (40, 40)]:
        a = rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-290, 290, size=n)
        q, r = (np.asarray(x) for x in weft.linalg.qr(weft.asarray(a)))
        sizes = np.abs(a).max(axis=0)
        near(q.T @ q, np.eye(q.shape[1]), m)
        near(q @ (r / sizes), a / sizes, m)
    last = np.asarray(weft.linalg.qr(weft.asarray([[1e200, 1e-200], [1e200, -1e-200]])).R)[1, 1]
    assert abs(last / -(2**0.5 * 1e-200) - 1) < 1e-15


def test_svd_keeps_small_values_of_bidiagonal_matrices():
    """The smallest value of a matrix of ones on two diagonals, graded: relative accuracy, as Demmel and Kahan have it."""
    n = 24
    d = 10.0 ** -np.arange(n)
    a = np.diag(d) + np.diag(d[:-1] * 0.5, 1)
    # The determinant is the product of the values.
    values = np.asarray(weft.linalg.svd(weft.asarray(a))[1])
    assert abs(np.log10(values).sum() + np.arange(n).sum()) < 1e-10


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_qr(m, n):
    for kind, a in kinds(np.random.default_rng(m * 1001 + n), m, n).items():
        largest = max(np.abs(a).max(), 1e-300)
        for mode in ("reduced", "complete"):
            q, r = (np.asarray(x) for x in weft.linalg.qr(weft.asarray(a), mode))
            near(q.T @ q, np.eye(q.shape[1]), m)
            near(q @ (r / largest) / max(m, n), a / largest / max(m, n), 1)
            assert not np.tril(r, -1).any(), kind
            assert np.array_equal(np.asarray(weft.linalg.qr(weft.asarray(a), "r")), r[: min(m, n)]), kind
        if kind in ("normal", "fortran"):
            # Signs and all are LAPACK's.
            np.testing.assert_allclose(r, np.linalg.qr(a, "complete")[1], atol=1e-11)
            for found, wanted in zip(weft.linalg.qr(weft.asarray(a), "raw"), np.linalg.qr(a, "raw")):
                np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-11)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 31, 64, 100, 128, 129, 140])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("order", "CF")
def test_cholesky(n, upper, order):
    rng = np.random.default_rng(n)
    a = rng.normal(size=(n, n))
    a = a @ a.T + n * np.eye(n)
    wanted = np.linalg.cholesky(a)
    # What is in the other triangle is not read.
    other = np.full((n, n), np.nan)
    given = np.asarray(np.tril(other, -1) + np.triu(a) if upper else np.triu(other, 1) + np.tril(a), order=order)
    found = np.asarray(weft.linalg.cholesky(weft.asarray(given), upper=upper))
    np.testing.assert_allclose(found, wanted.T if upper else wanted, rtol=1e-10, atol=1e-12)
    for pivot in (-1.0, 0.0, np.nan):
        broken = a.copy()
        broken[n // 2, n // 2] = pivot
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            weft.linalg.cholesky(weft.asarray(broken), upper=upper)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64, np.complex128])
def test_stacks_and_dtypes(dtype):
    rng = np.random.default_rng(5)
    a = rng.normal(size=(2, 3, 6, 4)).astype(dtype)
    if a.dtype.kind == "c":
        a = a + 1j * rng.normal(size=a.shape).astype(a.real.dtype)
    tolerance = 100 * np.finfo(dtype).eps
    for given in (a, a.swapaxes(2, 3), a[:, ::-1, ::2]):
        u, s, vh = weft.linalg.svd(weft.asarray(given), full_matrices=False)
        q, r = weft.linalg.qr(weft.asarray(given))
        assert (u.dtype, s.dtype, q.dtype) == (a.dtype, a.real.dtype, a.dtype)
        np.testing.assert_allclose(np.asarray(u * s[..., None, :] @ vh), given, atol=tolerance)
        np.testing.assert_allclose(np.asarray(q @ r), given, atol=tolerance)
        # The diagonal is real. Signs of complex rows depend on how columns before were reflected, the first one's apart.
        r, wanted = np.asarray(r), np.linalg.qr(given)[1]
        diagonal, other = (np.diagonal(x, axis1=-2, axis2=-1) for x in (r, wanted))
        assert np.abs(diagonal.imag).max() < tolerance
        signs = np.sign(diagonal.real) * np.sign(other.real)
        assert (signs[..., 0] == 1).all()
        assert a.dtype.kind == "c" or (signs == 1).all()
        np.testing.assert_allclose(r * signs[..., None], wanted, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize(("m", "n"), [(50, 3), (3, 50), (130, 5), (5, 130), (300, 3), (150, 140), (140, 150), (260, 70), (7, 2), (1, 9)])
def test_small_columns_of_large_matrices(m, n, dtype):
    """What is 1e-14 of the rest is no zero: errors are some units of the whole, ranks are what they are, signs LAPACK's."""
    rng = np.random.default_rng(m * n)
    k = min(m, n)

    def columns(rows: int) -> np.ndarray:
        x = rng.standard_normal((rows, k))
        return np.linalg.qr(x if dtype is np.float64 else x + 1j * rng.standard_normal((rows, k)))[0]

    for sizes in (10.0 ** rng.uniform(-14, 0, k), np.ones(k), np.r_[np.ones(k // 2 + 1), np.zeros(k)][:k]):
        a = (columns(m) * sizes) @ columns(n).conj().T
        largest = sizes.max()
        for mode in ("reduced", "complete"):
            q, r = (np.asarray(x) for x in weft.linalg.qr(weft.asarray(a), mode))
            near(q.conj().T @ q, np.eye(q.shape[1]), 1)
            assert np.abs(q @ r - a).max() < 60 * EPS * largest
            assert not np.tril(r, -1).any()
            assert np.abs(np.diagonal(r).imag).max() <= EPS * largest
        if dtype is np.float64 and sizes.min() > 0:
            assert np.array_equal(np.sign(np.diagonal(r)), np.sign(np.diagonal(np.linalg.qr(a, "complete")[1])))
        assert all(np.isfinite(np.asarray(x)).all() for x in weft.linalg.qr(weft.asarray(a), "raw"))
        wanted = np.linalg.svd(a, compute_uv=False)
        for full in (True, False):
            u, s, vh = (np.asarray(x) for x in weft.linalg.svd(weft.asarray(a), full_matrices=full))
            near(u.conj().T @ u, np.eye(u.shape[1]), 1)
            near(vh @ vh.conj().T, np.eye(vh.shape[0]), 1)
            assert np.abs((u[:, :k] * s) @ vh[:k] - a).max() < 60 * EPS * largest
            assert np.abs(s - wanted).max() < 60 * EPS * largest
        assert np.abs(np.asarray(weft.linalg.svdvals(weft.asarray(a))) - wanted).max() < 60 * EPS * largest


def test_qr_of_zeros_and_of_the_smallest_numbers():
    for dtype in (np.float64, np.complex128, np.complex64):
        assert not np.asarray(weft.linalg.qr(weft.zeros((3, 2), dtype), "raw")[1]).any()
    row = np.random.default_rng(2).standard_normal(6) + 1j * np.random.default_rng(3).standard_normal(6)
    for size in (1e-300, 1e-306, 1e-308):
        q = np.asarray(weft.linalg.qr(weft.asarray(np.broadcast_to(row, (6, 6)) * size))[0])
        near(q.conj().T @ q, np.eye(6), 6)
