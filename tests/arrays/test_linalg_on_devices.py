"""Products and factorizations of matrices on devices that are not the CPU: against NumPy, without the host, in captured graphs."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft
from weft import _weft
from weft.kernels import cholesky, lu, products, triangles

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [*(np.dtype(letter) for letter in "?bBhHiIlLefdFD"), BFLOAT16]
FLOATS = [np.dtype(letter) for letter in "fdFD"]
# Kernels of these are compiled on every device, and of all dtypes on CUDA's double, whose code is made quickly.
FEW = [np.dtype(letter) for letter in "?f"]
pytestmark = pytest.mark.usefixtures("own_kernels")
SMALL = [one.name for one in weft.devices() if not one.float64 and not one.int64][:1]
PRESENT = {one.kind: one.name for one in reversed(weft.devices()) if one.kind != "cpu" and one.float64}
PLACES = [
    *((name, dtype) for kind, name in PRESENT.items() for dtype in (DTYPES if kind == "cuda" else FEW)),
    *((name, np.dtype(letter)) for name in SMALL for letter in "?if"),
]
FACTORS = [
    *((name, dtype) for kind, name in PRESENT.items() for dtype in FLOATS if kind == "cuda" or dtype.char == "d"),
    *((name, np.dtype(letter)) for name in SMALL for letter in "f"),
]


def numbers(shape: tuple[int, ...], dtype: np.dtype, seed: int = 0) -> np.ndarray:
    """Small whole numbers, whose sums of products are exact in every dtype but for one rounding at the end; they wrap in int8."""
    source = np.random.default_rng([seed, *shape])
    if dtype.kind == "b":
        return source.integers(0, 8, shape) == 0
    low = 0 if dtype.kind == "u" else -4
    found = source.integers(low, 5, shape).astype(dtype)
    return found + (1j * source.integers(-4, 5, shape)).astype(dtype) if dtype.kind == "c" else found


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """NumPy's product; of 16-bit floats that of float32, rounded."""
    if a.dtype.itemsize == 2 and a.dtype.kind in "fV":
        return (a.astype(np.float32) @ b.astype(np.float32)).astype(a.dtype)
    return a @ b


def there(host: np.ndarray, device: str, layout: int) -> weft.ndarray:
    """The same numbers on a device: in C's order, in Fortran's, with every second row of more, or backwards."""
    if layout == 1:
        return weft.matrix_transpose(weft.asarray(np.ascontiguousarray(host.swapaxes(-1, -2)), device=device))
    if layout == 2:
        return weft.asarray(np.repeat(np.repeat(host, 2, axis=-2), 3, axis=-1), device=device)[..., ::2, ::3]
    if layout == 3:
        return weft.asarray(np.ascontiguousarray(host[..., ::-1, ::-1]), device=device)[..., ::-1, ::-1]
    return weft.asarray(host, device=device)


def same(ours: Any, theirs: Any, device: str) -> None:
    """The same numbers, in an array on the device."""
    assert ours.device.name == device
    host, theirs = weft.asnumpy(ours), np.asarray(theirs)
    assert (host.dtype, host.shape) == (theirs.dtype, theirs.shape)
    if theirs.dtype == BFLOAT16:
        host, theirs = host.astype(np.float32), theirs.astype(np.float32)
    np.testing.assert_array_equal(host, theirs)


def without_detours(work: Any, looks: int = 0) -> Any:
    """What a function gives that does not go by way of the host, but for flags that it reads."""
    before = _weft._sync_count()
    found = work()
    weft.eval(found)
    assert _weft._sync_count() - before == looks
    return found


# Rows, inner axis, columns: edges of tiles of 16, 32 and 64, rows and columns alone, few numbers, nothing.
SIZES = [
    (15, 16, 17),
    (17, 33, 16),
    (16, 5, 40),
    (33, 17, 65),
    (2, 3, 90),
    (7, 60, 8),
    (1, 70, 33),
    (33, 70, 1),
    (1, 9, 1),
    (3, 0, 2),
    (0, 4, 3),
]
STACKS = [((), ()), ((3,), ()), ((), (2,)), ((2, 1), (3,)), ((2, 1, 2), (1, 3, 1)), ((0,), (1,))]


@pytest.mark.parametrize(("device", "dtype"), PLACES, ids=str)
def test_products(device: str, dtype: np.dtype) -> None:
    stacks, layouts = itertools.cycle(STACKS), itertools.cycle(itertools.product(range(4), range(4)))
    for rows, depth, columns in SIZES:
        for _ in range(3):
            (front, other), (first, second) = next(stacks), next(layouts)
            a, b = numbers((*front, rows, depth), dtype), numbers((*other, depth, columns), dtype, 1)
            x, y = there(a, device, first), there(b, device, second)
            weft.eval(x, y)
            same(without_detours(lambda: x @ y), product(a, b), device)  # noqa: B023


@pytest.mark.parametrize(("device", "dtype"), [(name, np.dtype("f")) for name in PRESENT.values()] or [], ids=str)
def test_large_tiles(device: str, dtype: np.dtype) -> None:
    """Tiles of 64, which many blocks of work are cut into."""
    a, b = numbers((64, 65, 17), dtype), numbers((17, 66), dtype, 1)
    for layout in range(2):
        x, y = there(a, device, layout), there(b, device, layout)
        same(without_detours(lambda: products.products(x[:, :64], weft.broadcast_to(y, (64, 17, 66)))), a[:, :64] @ b, device)  # noqa: B023
    same(without_detours(lambda: x @ y), a @ b, device)


@pytest.mark.parametrize("device", [*PRESENT.values(), *SMALL])
@pytest.mark.parametrize("square", [4, 8])
def test_tiles_of_few_large_blocks(device: str, square: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_square", lambda *_: square)
    a, b = numbers((131, 21), np.dtype("f")), numbers((21, 139), np.dtype("f"), 1)
    for layout in range(2):
        x, y = there(a, device, layout), there(b, device, layout)
        same(x @ y, a @ b, device)


@pytest.mark.parametrize(("device", "dtype"), [one for one in PLACES if one[1].char in "?bfeD"], ids=str)
def test_long_sums_are_cut_into_parts(device: str, dtype: np.dtype) -> None:
    for rows, depth, columns in [(5, 1100, 20), (3, 1543, 1), (1, 513, 40), (1, 1030, 1)]:
        for layout in range(2):
            a, b = numbers((rows, depth), dtype), numbers((depth, columns), dtype, 1)
            x, y = there(a, device, layout), there(b, device, layout)
            same(without_detours(lambda: x @ y), product(a, b), device)  # noqa: B023
    a, b = numbers((3, 2, 600), dtype), numbers((600,), dtype, 1)
    same(without_detours(lambda: weft.asarray(a, device=device) @ weft.asarray(b, device=device)), product(a, b), device)


@pytest.mark.parametrize(("device", "dtype"), [one for one in PLACES if one[1].char in "fdF"], ids=str)
def test_rounding(device: str, dtype: np.dtype) -> None:
    """Sums of products are as exact as fused products and sums one behind the other are."""
    source = np.random.default_rng(0)
    for rows, depth, columns in [(33, 300, 20), (40, 2000, 1)]:
        a, b = (source.standard_normal(shape).astype(dtype) for shape in ((rows, depth), (depth, columns)))
        wide = np.complex128 if dtype.kind == "c" else np.float64
        exact, sizes = a.astype(wide) @ b.astype(wide), abs(a).astype(np.float64) @ abs(b).astype(np.float64)
        found = weft.asnumpy(weft.asarray(a, device=device) @ weft.asarray(b, device=device))
        assert (abs(found - exact) <= 2 * np.finfo(dtype).eps * sizes).all()


FUNCTIONS = [
    "xp.matmul(a, a)", "a @ v", "v @ a", "v @ v", "xp.dot(a, a)", "xp.dot(a, v)", "xp.dot(s, v)", "xp.dot(s, a)", "xp.vdot(a, a)",
    "xp.inner(a, a)", "xp.inner(s, v)", "xp.outer(v, v)", "xp.tensordot(s, a, 1)", "xp.tensordot(s, s, ([0, 2], [0, 1]))",
    "xp.kron(a, a)", "xp.vecdot(s, v)", "xp.matvec(s, v)", "xp.vecmat(v, s)", "xp.linalg.multi_dot([a, a, a, v])",
    "xp.linalg.matrix_power(s, 3)", "xp.einsum('bij,bkj->bik', s, s)", "xp.einsum('bij,jk,k->bi', s, a, v)", "xp.einsum('bii->b', s)",
    "xp.einsum('bij,bik,j->bk', s, s, v)", "xp.einsum('...ij,j', s, v)", "xp.cross(s[..., :3], s[..., 1:4])", "xp.trace(a)",
    "xp.linalg.vecdot(a, a)", "xp.linalg.matrix_power(a, 0)",
]  # fmt: skip


@pytest.mark.parametrize("device", PRESENT.values())
def test_what_is_made_of_products(device: str) -> None:
    for dtype in (np.dtype("d"), np.dtype("F"))[: 2 if device.startswith("cuda") else 1]:
        hosts = {"a": numbers((5, 5), dtype), "v": numbers((5,), dtype, 1), "s": numbers((2, 5, 5), dtype, 2)}
        arrays = {name: weft.asarray(host, device=device) for name, host in hosts.items()}
        weft.eval(*arrays.values())
        for text in FUNCTIONS:
            theirs = eval(text, {"xp": np, **hosts})
            same(without_detours(lambda: eval(text, {"xp": weft, **arrays})), theirs, device)  # noqa: B023


@pytest.mark.parametrize("device", [*PRESENT.values(), *SMALL])
def test_complex_numbers(device: str) -> None:
    """Few kernels: drivers are slow to compile those of complex numbers."""
    a, b = matrix((17, 17), np.dtype("F")), matrix((17, 2), np.dtype("F"), 1)
    x, y = weft.asarray(a, device=device), weft.asarray(b, device=device)
    near(x @ x, a @ a, device, 17)
    near(weft.linalg.solve(x, y), np.linalg.solve(a, b), device, 10)
    h = a @ a.conj().T + np.eye(17, dtype=np.complex64)
    near(weft.linalg.cholesky(weft.asarray(h, device=device)), np.linalg.cholesky(h), device)


@pytest.mark.parametrize("device", PRESENT.values())
def test_operands_in_other_places(device: str) -> None:
    host = np.arange(6.0).reshape(2, 3)
    x, here = weft.asarray(host, device=device), weft.asarray(host, device="cpu")
    same(x @ host.T, host @ host.T, device)
    same(host.T @ x, host.T @ host, device)
    same(weft.matmul(host.T.tolist(), x), host.T @ host, device)
    same(weft.einsum("ij,kj", host, x), host @ host.T, device)
    same(weft.vdot(host, x), np.vdot(host, host), device)
    same(weft.linalg.multi_dot([host.T, x, host.T]), host.T @ host @ host.T, device)
    same(weft.linalg.solve(x[:, 1:], host[:, 0]), np.linalg.solve(host[:, 1:], host[:, 0]), device)
    for mix in (lambda: x @ here.T, lambda: here.T @ x, lambda: weft.einsum("ij,kj", here, x), lambda: weft.linalg.solve(here[:, 1:], x)):
        with pytest.raises(ValueError, match="on different devices"):
            mix()


@pytest.mark.parametrize("device", [*PRESENT.values()])
def test_determinants_whose_parts_leave_the_range(device: str) -> None:
    """No part of the product may lose digits where the whole does not: pivots of one lane are 32 apart."""
    for exponents in ({0: -160, 32: -164, 1: 300}, {0: 200, 32: 200, 1: -390}, {0: -300, 1: 300, 2: -20, 34: 18}):
        a = np.eye(40)
        small = not weft.device(device).float64
        for at, exponent in exponents.items():
            a[at, at] = 3 * 10.0 ** (exponent // 8 if small else exponent)
        a = a.astype("f" if small else "d")
        np.testing.assert_allclose(
            weft.asnumpy(weft.linalg.det(weft.asarray(a, device=device))), np.linalg.det(a), rtol=1e-4 if small else 1e-11
        )


@pytest.mark.parametrize("device", [*PRESENT.values()][:1])
def test_grids_end(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a grid has no blocks for is launched in pieces."""
    for module in (products, triangles, cholesky, lu):
        monkeypatch.setattr(module, "GRID", 2)
    dtype = np.dtype("d")
    a, b = numbers((5, 17, 20), dtype), numbers((5, 20, 70), dtype, 1)
    x, y = weft.asarray(a, device=device), weft.asarray(b, device=device)
    same(x @ y, a @ b, device)
    same(x @ y[..., :1], a @ b[..., :1], device)
    a = a[..., :17] + 20 * np.eye(17)
    x = weft.asarray(a, device=device)
    for function, theirs in ((weft.linalg.inv, np.linalg.inv), (weft.linalg.det, np.linalg.det)):
        np.testing.assert_allclose(weft.asnumpy(function(x)), theirs(a), rtol=1e-12, atol=1e-13)
    h = a @ a.swapaxes(-1, -2)
    np.testing.assert_allclose(
        weft.asnumpy(weft.linalg.cholesky(weft.asarray(h, device=device))), np.linalg.cholesky(h), rtol=1e-12, atol=1e-12
    )


def matrix(shape: tuple[int, ...], dtype: np.dtype, seed: int = 0) -> np.ndarray:
    """Normally distributed numbers."""
    source = np.random.default_rng([seed, *shape])
    found = source.standard_normal(shape)
    return (found + 1j * source.standard_normal(shape) if dtype.kind == "c" else found).astype(dtype)


def near(ours: Any, theirs: Any, device: str, size: float = 1.0) -> None:
    """Equal up to rounding: a few units of the dtype where the device computes in float64, as NumPy does; else what float32 gives."""
    assert ours.device.name == device
    found, theirs = weft.asnumpy(ours), np.asarray(theirs)
    assert (found.dtype, found.shape) == (theirs.dtype, theirs.shape)
    if theirs.size:
        n = max(theirs.shape[-1:] or (1,))
        limit = 40 * n**0.5 if weft.device(device).float64 else 200 * n**0.5
        largest = max(float(abs(theirs).max()), size)
        assert float(abs(found - theirs).max()) <= limit * float(np.finfo(theirs.dtype).eps) * largest


@pytest.mark.parametrize(("device", "dtype"), FACTORS, ids=str)
def test_factorizations(device: str, dtype: np.dtype) -> None:
    layouts = itertools.cycle(range(4))
    for n, stack in [(0, (2,)), (1, ()), (2, (3,)), (15, ()), (17, (2, 2)), (32, ()), (33, (2,)), (65, ()), (3, (0,))]:
        a = (matrix((*stack, n, n), dtype) + np.eye(n) * 2 * n**0.5).astype(dtype)
        h = (a @ a.conj().swapaxes(-1, -2)).astype(dtype)
        b = matrix((*stack, n, 3), dtype, 1)
        x, y, z = (there(host, device, next(layouts)) for host in (a, h, b))
        weft.eval(x, y, z)
        near(without_detours(lambda: weft.linalg.solve(x, z), 1), np.linalg.solve(a, b), device)  # noqa: B023
        near(without_detours(lambda: weft.linalg.inv(x), 1), np.linalg.inv(a), device)  # noqa: B023
        looks = 1 if y.size else 0
        near(without_detours(lambda: weft.linalg.cholesky(y), looks), np.linalg.cholesky(h), device)  # noqa: B023
        near(without_detours(lambda: weft.linalg.cholesky(y, upper=True), looks), np.linalg.cholesky(h, upper=True), device)  # noqa: B023
        sign, logarithm = without_detours(lambda: weft.linalg.slogdet(x))  # noqa: B023
        near(sign, np.linalg.slogdet(a).sign, device, n)
        near(logarithm, np.linalg.slogdet(a).logabsdet, device, n)
        if n < 20:
            near(without_detours(lambda: weft.linalg.det(x)), np.linalg.det(a), device)  # noqa: B023
        for ours, theirs in ((x, a), (y, h), (z, b)):
            same(ours, theirs, device)


@pytest.mark.parametrize(("device", "dtype"), [one for one in FACTORS if one[1].char in "df"], ids=str)
def test_what_is_made_of_factorizations(device: str, dtype: np.dtype) -> None:
    a = (matrix((2, 1, 6, 6), dtype) + 5 * np.eye(6)).astype(dtype)
    b = matrix((3, 6, 2), dtype, 1)
    x, y = weft.asarray(a, device=device), weft.asarray(b, device=device)
    near(without_detours(lambda: weft.linalg.solve(x, y), 1), np.linalg.solve(a, b), device)
    near(without_detours(lambda: weft.linalg.solve(x[0, 0], y), 1), np.linalg.solve(a[0, 0], b), device)
    near(without_detours(lambda: weft.linalg.solve(x, y[0, :, 0]), 1), np.linalg.solve(a, b[0, :, 0]), device)
    near(without_detours(lambda: weft.linalg.matrix_power(x, -3), 1), np.linalg.matrix_power(a, -3), device)
    a, b = a[0, 0].reshape(2, 3, 6), b[0, :, 0].reshape(2, 3)
    x, y = weft.asarray(a, device=device), weft.asarray(b, device=device)
    near(without_detours(lambda: weft.linalg.tensorsolve(x, y), 1), np.linalg.tensorsolve(a, b), device)
    near(without_detours(lambda: weft.linalg.tensorinv(x), 1), np.linalg.tensorinv(a), device)


@pytest.mark.parametrize("device", PRESENT.values())
def test_condition_numbers(device: str) -> None:
    a = matrix((3, 5, 5), np.dtype("d"))
    a[1] = 1
    x = weft.asarray(a, device=device)
    weft.eval(x)
    for norm in (1, "fro"):
        found = weft.asnumpy(without_detours(lambda: weft.linalg.cond(x, norm)))  # noqa: B023
        assert np.isinf(found[1])
        np.testing.assert_allclose(found[::2], np.linalg.cond(a[::2], norm), rtol=1e-11)


@pytest.mark.parametrize("device", PRESENT.values())
def test_one_triangle_is_read(device: str) -> None:
    h = np.array([[4.0, np.nan], [2.0, 5.0]])
    same(weft.linalg.cholesky(weft.asarray(h, device=device)), np.linalg.cholesky(h), device)
    same(weft.linalg.cholesky(weft.asarray(h.T, device=device), upper=True), np.linalg.cholesky(h).T, device)
    z = np.array([[4.0 + 3j, 0], [2.0 - 1j, 5.0 + 1j]])
    near(weft.linalg.cholesky(weft.asarray(z, device=device)), np.linalg.cholesky(z), device)


@pytest.mark.parametrize("device", [*PRESENT.values(), *SMALL])
def test_matrices_that_are_refused(device: str) -> None:
    for n in (3, 40):
        singular, negative, nan = (np.eye(n, dtype=np.float32)[None].repeat(3, axis=0) for _ in range(3))
        singular[1, 2] = singular[1, 1]
        negative[1, 2, 2] = -1
        nan[2, 1, 1] = np.nan
        for function, host, words in (
            (weft.linalg.inv, singular, "Singular matrix"),
            (lambda x: weft.linalg.solve(x, x[0, 0]), singular, "Singular matrix"),
            (lambda x: weft.linalg.matrix_power(x, -2), singular, "Singular matrix"),
            (weft.linalg.cholesky, negative, "Matrix is not positive definite"),
            (weft.linalg.cholesky, singular * 0, "Matrix is not positive definite"),
            (weft.linalg.cholesky, nan, "Matrix is not positive definite"),
        ):
            with pytest.raises(weft.linalg.LinAlgError, match=words):
                function(weft.asarray(host, device=device))
        x = weft.asarray(singular, device=device)
        same(weft.linalg.det(x), np.array([1, 0, 1], np.float32), device)
        same(weft.linalg.slogdet(x).sign, np.array([1, 0, 1], np.float32), device)
        same(weft.linalg.slogdet(x).logabsdet, np.array([0, -np.inf, 0], np.float32), device)
        x = weft.asarray(nan, device=device)
        same(weft.linalg.det(x), np.array([1, 1, np.nan], np.float32), device)
        assert np.isnan(weft.asnumpy(weft.linalg.inv(x))[2]).any()
        with pytest.raises(weft.linalg.LinAlgError, match="square"):
            weft.linalg.inv(x[..., :2])


@pytest.mark.parametrize("device", PRESENT.values())
def test_determinants_at_the_ends_of_the_range(device: str) -> None:
    for sizes in ([1e200, 1e200, 1e-200, 1e-200], [1e-200, 1e-200, 1e200, -1e200], [1e300] * 3, [1e-300] * 3, [1e-320, -1e300]):
        for dtype in (np.float64, np.complex128):
            a = np.diag(np.array(sizes, dtype))[:, ::-1]
            with np.errstate(all="ignore"):
                theirs = np.linalg.det(a)
            np.testing.assert_allclose(weft.asnumpy(weft.linalg.det(weft.asarray(a, device=device))).real, theirs.real, rtol=1e-11)


@pytest.mark.parametrize("device", [*PRESENT.values()][:1])
def test_tall_panels_are_eliminated_by_many_threads(device: str) -> None:
    a = matrix((1, 1100, 20), np.dtype("d"))
    work, pivots = weft.asarray(a, device=device), weft.zeros((1, 20), dtype=np.int32, device=device)
    lu._eliminate(work, pivots, 0)
    found, order = weft.asnumpy(work)[0], np.arange(1100)
    for j, at in enumerate(weft.asnumpy(pivots)[0]):
        order[[j, at]] = order[[at, j]]
    lower = np.tril(found, -1) + np.eye(1100, 20)
    assert abs(lower).max() == 1
    np.testing.assert_allclose(lower @ np.triu(found[:20]), a[0][order], atol=1e-13)


@pytest.mark.parametrize("device", PRESENT.values())
def test_captured_graphs(device: str) -> None:
    @weft.compile
    def captured(a: Any, b: Any) -> Any:
        h = a @ weft.matrix_transpose(a) + weft.eye(a.shape[-1], device=device)
        found = weft.linalg.solve(h, b) * 2
        return found, weft.linalg.cholesky(h), weft.linalg.slogdet(a).logabsdet, weft.einsum("ij,ik->jk", b, b)

    for n in (5, 5, 18, 5):
        a, b = matrix((n, n), np.dtype("d"), n), matrix((n, 2), np.dtype("d"), n + 1)
        h = a @ a.T + np.eye(n)
        theirs = (np.linalg.solve(h, b) * 2, np.linalg.cholesky(h), np.linalg.slogdet(a).logabsdet, b.T @ b)
        for ours, wanted in zip(captured(weft.asarray(a, device=device), weft.asarray(b, device=device)), theirs):
            near(ours, wanted, device, 10)
    with pytest.raises(weft.linalg.LinAlgError):
        captured(weft.asarray(a * np.nan, device=device), weft.asarray(b, device=device))


@pytest.mark.parametrize("device", PRESENT.values())
def test_what_goes_by_way_of_the_host_is_counted(device: str) -> None:
    x = weft.asarray(matrix((4, 4), np.dtype("d")), device=device)
    weft.eval(x)
    for name in ("qr", "svd", "eigh", "eig", "pinv"):
        before = _weft._sync_count()
        found = getattr(weft.linalg, name)(x)
        assert (found[0] if isinstance(found, tuple) else found).device.name == device
        assert _weft._sync_count() > before


@pytest.mark.parametrize("device", SMALL)
def test_float32_alone(device: str) -> None:
    """How exact decompositions are without float64, in units of float32's epsilon; and indices that need all 32 bits."""
    a = (matrix((150, 150), np.dtype("f")) + 24 * np.eye(150)).astype(np.float32)
    wide = a.astype(np.float64)
    for name, host, limit in (("inv", a, 6), ("cholesky", (a @ a.T), 4), ("slogdet", a, 3)):
        found, theirs = getattr(weft.linalg, name)(weft.asarray(host, device=device)), getattr(np.linalg, name)(host.astype(wide.dtype))
        ours, theirs = (found[1], theirs[1]) if name == "slogdet" else (found, theirs)
        assert abs(weft.asnumpy(ours) - theirs).max() <= limit * np.finfo(np.float32).eps * abs(theirs).max()


@pytest.mark.skipif(not SMALL, reason="there is no GPU without float64: SwiftShader could not be fetched")
def test_what_a_device_lacks_is_refused_by_name() -> None:
    x = weft.asarray(np.eye(3, dtype=np.int32), device=SMALL[0])
    with pytest.raises(weft.errors.UnsupportedError, match="float64"):
        weft.linalg.inv(x)


def test_kernels_of_tiles_multiply_and_add_at_once() -> None:
    """PTX of the large tile: products fused with their sums, a thread's sums in registers, loads of 16 bytes from shared memory."""
    from weft import cuda

    for name, square, fused in (
        ("float32", 4, "fma.rn.f32"),
        ("float32", 8, "fma.rn.f32"),
        ("float64", 4, "fma.rn.f64"),
        ("complex64", 4, "fma.rn.f32"),
        ("int32", 8, "mad.lo.s32"),
    ):
        matrices = f"{name}[:,:,:,:]"
        kernel = products._tiled(np.dtype(name), square)
        text, _ = cuda.compile_ptx(kernel.py_func, f"void({name}[:,:,:], {matrices}, {matrices}, int64, bool, bool, bool)", cc=(9, 0))
        assert text.count(fused) >= 64
        assert ".local" not in text
        assert text.count("ld.shared.v4") + text.count("ld.shared.v2") == text.count("ld.shared.")
        assert "mul.rn.f32" not in text


def test_nothing_of_it_is_imported_for_the_cpu() -> None:
    program = (
        "import sys, weft; x = weft.eye(3); weft.eval(x @ x, weft.linalg.inv(x)); "
        "assert not any(name in sys.modules for name in ('weft.kernels.lu', 'weft.kernels.products'))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


CHECKED = """
import numpy as np
import weft
from weft.kernels import cholesky, lu, products

source = np.random.default_rng(0)


def near(ours, theirs):
    assert np.allclose(weft.asnumpy(ours), theirs)


a, b = source.standard_normal((2, 35, 21)), source.standard_normal((21, 34))
x, y = weft.asarray(a, device="cpu"), weft.asarray(b, device="cpu")
near(products.products(x, y), a @ b)
near(products.products(x, weft.matrix_transpose(weft.asarray(b.T.copy(), device="cpu"))[:, :1]), a @ b[:, :1])
near(products.products(x[0, :1], y), a[0, :1] @ b)
near(products.products(x[:, :5, :3], y[:3]), a[:, :5, :3] @ b[:3])
for n in (3, 12, 33):
    a = source.standard_normal((2, n, n))
    h = a @ a.swapaxes(-1, -2) + np.eye(n)
    x, y = weft.asarray(a, device="cpu"), weft.asarray(h, device="cpu")
    near(lu.inv(x), np.linalg.inv(a))
    near(lu.det(x), np.linalg.det(a))
    near(cholesky.cholesky(y, False), np.linalg.cholesky(h))
"""


def test_kernels_in_checked_mode() -> None:
    """On the CPU's checking interpreter: no thread reads what another one writes, or beyond the end."""
    env = {**os.environ, "WEFT_CHECK": "1", "WEFT_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, "-c", CHECKED], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("device", [*PRESENT.values(), *SMALL])
@pytest.mark.parametrize("count, pairs", [(1, 1), (2, 16), (1, 32), (1, 33), (2, 80)])
def test_rows_are_exchanged_one_pair_after_the_other(device: str, count: int, pairs: int) -> None:
    source = np.random.default_rng(pairs)
    rows, columns, top = pairs + 7, 37, 5
    # Few rows below, so that pairs meet: each may have been moved before, and stays where it is now and then.
    choices = [[source.integers(j, min(rows, j + 1 + source.integers(1, rows))) for j in range(pairs)] for _ in range(count)]
    pivots = np.array(choices, np.int32)
    for turned in (False, True):
        host = source.integers(0, 1000, (count, rows, columns)).astype(np.float32)
        there = weft.asarray(host.swapaxes(1, 2).copy(), device=device).transpose(0, 2, 1) if turned else weft.asarray(host, device=device)
        lu._exchanged(there, weft.asarray(pivots + top, device=device), top)
        for place, chosen in enumerate(pivots):
            for j, at in enumerate(chosen):
                host[place, [j, at]] = host[place, [at, j]]
        np.testing.assert_array_equal(weft.asnumpy(there), host)
