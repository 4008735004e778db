"""NVIDIA's libraries for arrays on CUDA: products, systems, decompositions and transforms against NumPy's.

With the stand-in for the driver by the libraries' stand-ins; `make gpu-check` runs what it can of this with NVIDIA's own.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
import weft.fft
import weft.linalg
from weft import _weft, cli
from weft.cupy import _driver
from weft.errors import LibraryError
from weft.kernels.nvidia import calling, cublas, cufft, cusolver, finding

DOUBLE = os.environ.get("WEFT_CUDA_DRIVER") == "double"
pytestmark = pytest.mark.skipif(not any(d.kind == "cuda" for d in weft.devices()), reason="needs a CUDA device")
only_stand_ins = pytest.mark.skipif(not DOUBLE, reason="asks the stand-ins for something")

FLOATS = (np.float32, np.float64, np.complex64, np.complex128)
SINGLES = ("float32", "complex64")
STACKS = ((), (3,), (2, 1))


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The stand-ins in place of libraries, where the driver is one."""
    if DOUBLE:
        yield from chosen(monkeypatch, "double")
    elif any(finding.library(name) is None for name in ("cublas", "cusolver", "cufft")):
        pytest.skip("NVIDIA's libraries are not installed")
    else:
        yield


def chosen(monkeypatch: pytest.MonkeyPatch, choice: str) -> Iterator[None]:
    monkeypatch.setenv("WEFT_NVIDIA_LIBRARIES", choice)
    finding._found.cache_clear()
    yield
    finding._found.cache_clear()


@pytest.fixture
def failures() -> Iterator[Any]:
    """Makes calls of the stand-ins fail, as `WEFT_DOUBLE_FAIL` does."""
    if not DOUBLE:
        pytest.skip("asks the stand-ins for something")
    double = ctypes.CDLL(str(Path(_weft.__file__).parent / "libweft_cuda_double.so"))
    yield lambda plan: double.weft_double_fail(plan.encode())
    double.weft_double_fail(b"")


def normal(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng([seed, *shape])
    made = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.standard_normal(shape)
    return np.asarray(made).astype(dtype)


def regular(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    return (normal(shape, dtype) + 2 * np.eye(shape[-1]) * shape[-1] ** 0.5).astype(dtype)


def positive(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    made = regular(shape, dtype)
    return made @ turned(made)


def turned(a: np.ndarray) -> np.ndarray:
    return a.conj().swapaxes(-1, -2)


def there(a: np.ndarray, device: str = "cuda:0") -> Any:
    return weft.asarray(a, device=device)


def near(found: Any, wanted: np.ndarray, by: float = 1.0) -> None:
    """Equal up to rounding; `by` says how much of it there is. The result is where arrays on CUDA have theirs."""
    assert found.device.kind == "cuda" and found.flags.c_contiguous
    found = weft.asnumpy(found)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (found.shape, wanted.shape, found.dtype, wanted.dtype)
    if wanted.size:
        limit = 60 * by * float(np.finfo(wanted.dtype).eps) * max(float(np.abs(wanted).max()), 1.0)
        assert float(np.abs(found - wanted).max()) <= limit


# Products.


def layouts(a: np.ndarray) -> dict[str, tuple[np.ndarray, Any]]:
    """A matrix in NumPy and on the device, as it may lie: each is made from the same elements."""
    m, n = a.shape[-2:]
    wide = np.zeros((*a.shape[:-2], m + 2, n + 3), a.dtype)
    wide[..., 1 : m + 1, 2 : n + 2] = a
    apart = np.zeros((*a.shape[:-2], 2 * m, 2 * n), a.dtype)
    apart[..., ::2, ::2] = a
    return {
        "C": (a, there(a)),
        "F": (a, weft.matrix_transpose(there(np.ascontiguousarray(np.swapaxes(a, -1, -2))))),
        "a part": (a, there(wide)[..., 1 : m + 1, 2 : n + 2]),
        "a part, turned": (
            a,
            weft.matrix_transpose(there(np.ascontiguousarray(np.swapaxes(wide, -1, -2)))[..., 2 : n + 2, 1 : m + 1]),
        ),
        "every other": (a, there(apart)[..., ::2, ::2]),
        "backwards": (a, there(np.ascontiguousarray(a[..., ::-1, ::-1]))[..., ::-1, ::-1]),
        "pending": (a, there(a) * 1),
    }


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_of_matrices_in_every_layout(dtype: Any) -> None:
    for m, k, n in ((3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1), (7, 9, 2)):
        first, second = layouts(normal((m, k), dtype)), layouts(normal((k, n), dtype, 1))
        for (_, (a, x)), (_, (b, y)) in itertools.product(first.items(), second.items()):
            near(x @ y, a @ b, k)


@pytest.mark.parametrize("dtype", (np.float32, np.complex128))
def test_products_of_stacks(dtype: Any) -> None:
    fronts = (((3,), (3,)), ((3,), ()), ((), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((2, 3), (2, 1)), ((2, 1, 2), (3, 1)), ((1,), (4,)))
    for left, right in fronts:
        a, b = normal((*left, 3, 4), dtype), normal((*right, 4, 2), dtype, 1)
        near(there(a) @ there(b), a @ b, 4)
        near(weft.matrix_transpose(there(b)) @ weft.matrix_transpose(there(a)), np.swapaxes(b, -1, -2) @ np.swapaxes(a, -1, -2), 4)
    stretched = np.broadcast_to(normal((3, 4), dtype), (5, 3, 4))
    near(weft.broadcast_to(there(stretched[0]), (5, 3, 4)) @ there(normal((5, 4, 2), dtype)), stretched @ normal((5, 4, 2), dtype), 4)
    swapped = normal((4, 3, 2, 5), dtype)
    near(
        there(swapped).swapaxes(0, 2) @ there(swapped).transpose((2, 1, 3, 0)), swapped.swapaxes(0, 2) @ swapped.transpose((2, 1, 3, 0)), 5
    )
    backwards = normal((3, 2, 2), dtype)
    near(there(backwards)[::-1] @ there(backwards), backwards[::-1] @ backwards, 2)


def test_products_of_vectors_and_tensors() -> None:
    a, v, t = normal((3, 4), np.float64), normal((4,), np.float64), normal((4, 2, 3), np.float64)
    near(there(a) @ there(v), a @ v)
    near(there(v) @ there(a.T), v @ a.T)
    near(weft.tensordot(there(a), there(t), ((1, 0), (0, 2))), np.tensordot(a, t, ((1, 0), (0, 2))))
    near(weft.einsum("ij,jkl->ikl", there(a), there(t)), np.einsum("ij,jkl->ikl", a, t), 4)
    near(weft.matvec(there(a), there(v)), np.matvec(a, v))


def test_products_of_nothing() -> None:
    for m, k, n in itertools.product((0, 2), repeat=3):
        near(there(np.ones((m, k))) @ there(np.ones((k, n))), np.ones((m, k)) @ np.ones((k, n)))
    near(there(np.ones((0, 2, 2))) @ there(np.ones((2, 2))), np.ones((0, 2, 2)))


@pytest.mark.parametrize("name", ("float16", "bfloat16"))
def test_products_of_16_bit_floats_are_rounded_once(name: str) -> None:
    a, b = (weft.asarray(normal((5, 40), np.float32, seed), dtype=name) for seed in (0, 1))
    wanted = (weft.astype(a, "float32") @ weft.astype(b, "float32").T).astype(name)
    found = a.to("cuda:0") @ b.to("cuda:0").T
    assert found.dtype == wanted.dtype
    assert weft.all(weft.abs(found.to("cpu").astype("float32") - wanted.astype("float32")) <= weft.abs(wanted.astype("float32")) * 2.0**-8)
    exact = weft.asarray([[1.0] * 2048 + [1.0]], dtype="float16", device="cuda:0")
    assert float((exact @ exact.T)[0, 0]) == float(np.float16(2049)), "sums in float32"


def test_other_dtypes_and_mixed_ones() -> None:
    a, b = normal((3, 3), np.float32), np.arange(9).reshape(3, 3)
    near(there(a) @ there(b), a @ b, 3)
    assert (weft.asnumpy(there(b) @ there(b)) == b @ b).all()
    assert (weft.asnumpy(there(b > 3) @ there(b > 5)) == (b > 3) @ (b > 5)).all()


@only_stand_ins
def test_tensor_float_32_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.array([[1 + 2.0**-12]], np.float32)
    assert float((there(a) @ there(a))[0, 0]) == float(a[0, 0] * a[0, 0])
    monkeypatch.setenv("WEFT_TF32", "1")
    assert float((there(a) @ there(a))[0, 0]) == 1.0
    assert float((there(a.astype(np.float64)) @ there(a.astype(np.float64)))[0, 0]) == float(a[0, 0].astype(np.float64) ** 2)
    monkeypatch.setenv("WEFT_TF32", "yes")
    with pytest.raises(ValueError, match=r"WEFT_TF32 is 1, .* not 'yes'"):
        there(a) @ there(a)


# Systems and decompositions.


@pytest.fixture(params=("stacks at once", "one by one"))
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways for stacks of matrices: small ones go at once."""
    if request.param == "one by one":
        monkeypatch.setattr(cusolver, "_SMALL", 0)
        monkeypatch.setattr(cusolver, "_TINY", 0)


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("dtype", FLOATS)
def test_what_has_one_answer(dtype: Any) -> None:
    for n, stack in itertools.product((1, 2, 5, 12), STACKS):
        a, h, b = regular((*stack, n, n), dtype), positive((*stack, n, n), dtype), normal((*stack, n, 3), dtype, 1)
        x, y = there(a), there(h)
        near(weft.linalg.solve(x, there(b)), np.linalg.solve(a, b), n)
        near(weft.linalg.solve(x, there(b[..., 0].reshape(-1)[:n])), np.linalg.solve(a, b[..., 0].reshape(-1)[:n]), n)
        near(weft.linalg.inv(weft.matrix_transpose(x)), np.linalg.inv(np.swapaxes(a, -1, -2)), n)
        near(weft.linalg.cholesky(y), np.linalg.cholesky(h), n)
        near(weft.linalg.cholesky(y, upper=True), np.linalg.cholesky(h, upper=True), n)
        for found, wanted in zip(weft.linalg.slogdet(x), np.linalg.slogdet(a)):
            near(found, np.asarray(wanted), 4 * n)
        near(weft.linalg.det(x), np.asarray(np.linalg.det(a)), 4 * n)
        assert (weft.asnumpy(x) == a).all() and (weft.asnumpy(y) == h).all(), "operands stay as they are"


@pytest.mark.usefixtures("size")
def test_one_matrix_for_many_right_hand_sides_and_back() -> None:
    a, b = regular((4, 4), np.float64), normal((3, 4, 2), np.float64)
    near(weft.linalg.solve(there(a), there(b)), np.linalg.solve(a, b), 4)
    near(weft.linalg.solve(there(regular((3, 4, 4), np.float64)), there(b[0])), np.linalg.solve(regular((3, 4, 4), np.float64), b[0]), 4)


@pytest.mark.usefixtures("size")
def test_matrices_that_are_singular_or_not_positive() -> None:
    singular = np.array([np.eye(2), [[1.0, 2.0], [2.0, 4.0]]])
    for refused in (weft.linalg.inv, lambda x: weft.linalg.solve(x, x)):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            refused(there(singular))
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            refused(there(singular[1]))
    for dtype in FLOATS:
        sign, logarithm = weft.linalg.slogdet(there(singular.astype(dtype)))
        wanted = np.linalg.slogdet(singular.astype(dtype))
        near(sign, wanted[0])
        assert np.array_equal(weft.asnumpy(logarithm), wanted[1])
        assert weft.asnumpy(weft.linalg.det(there(singular.astype(dtype)))).tolist() == [1.0, 0.0]
    for bad in (-np.eye(3), np.diag([1.0, 0.0, 1.0]), np.full((3, 3), np.nan), np.stack([np.eye(3), -np.eye(3)])):
        with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
            weft.linalg.cholesky(there(bad))


@only_stand_ins
@pytest.mark.parametrize("stack", STACKS[:2])
def test_arguments_that_are_not_valid_are_no_property_of_a_matrix(stack: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A negative `info` is the number of an argument: an error of its own where somebody waits, NaN where nobody does."""
    plainly = cusolver.written

    def spoiled(device: Any, arrays: Any, call: Any) -> None:
        def enter(*addresses: int) -> None:
            call(*addresses)
            value, count, stream = ctypes.c_uint(2**32 - 3), ctypes.c_size_t(1), ctypes.c_void_p(calling.stream(device))
            _driver._call("cuMemsetD32Async", ctypes.c_uint64(addresses[-1]), value, count, stream)

        plainly(device, arrays, enter)

    monkeypatch.setattr(cusolver, "written", spoiled)
    a = there(positive((*stack, 3, 3), np.float64))
    for work in (
        lambda: weft.linalg.cholesky(a),
        lambda: weft.linalg.solve(a, a),
        lambda: weft.linalg.inv(a),
        lambda: weft.linalg.eigh(a),
        lambda: weft.linalg.svd(a),
    ):
        before = _weft._sync_count()
        with pytest.raises(LibraryError, match="argument 3 "):
            weft.eval(work())
        # Those of eigenvalues ask for what is finite first.
        assert _weft._sync_count() - before <= 2
    before = _weft._sync_count()
    made = [*weft.linalg.slogdet(a), weft.linalg.det(a), *weft.linalg.qr(a), weft.linalg.qr(a, mode="r")]
    weft.eval(made)
    assert _weft._sync_count() == before
    for one in made:
        first = weft.asnumpy(one)[(0,) * len(stack)]
        assert np.isnan(first[np.triu_indices(3)] if first.ndim else first).all()
        if stack:
            assert np.isfinite(weft.asnumpy(one)[1:]).all()


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e300, 1e-300])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_matrices_whose_squares_leave_the_range(dtype: Any, scale: float) -> None:
    a, h = normal((5, 4), dtype), positive((4, 4), dtype)
    q, r = weft.linalg.qr(there(a * scale))
    near(weft.multiply(r, 1 / scale), np.linalg.qr(a)[1])
    near(q, np.linalg.qr(a)[0])
    near(weft.multiply(weft.linalg.svdvals(there(a * scale)), 1 / scale), np.linalg.svd(a, compute_uv=False))
    near(weft.multiply(weft.linalg.eigvalsh(there(h * scale)), 1 / scale), np.linalg.eigvalsh(h))
    near(weft.linalg.solve(there(h * scale), there(h[:, :2] * scale)), np.eye(4, 2, dtype=dtype), 10)


def test_determinants_whose_factors_leave_the_range() -> None:
    a = np.diag([1e200, 1e200, 1e-200, 1e-200])
    assert abs(float(weft.linalg.det(there(a))) - 1) < 1e-9


@pytest.mark.parametrize("dtype", FLOATS)
def test_cholesky_reads_one_triangle(dtype: Any) -> None:
    h = positive((4, 4), dtype)
    for upper in (False, True):
        half = np.triu(h) if upper else np.tril(h)
        other = np.tril(np.full((4, 4), np.nan), -1) if upper else np.triu(np.full((4, 4), np.nan), 1)
        given = np.where(np.isnan(other), np.array(7.0).astype(dtype), half).astype(dtype)
        near(weft.linalg.cholesky(there(given), upper=upper), np.linalg.cholesky(h, upper=upper), 4)
        near(weft.linalg.eigvalsh(there(given), "U" if upper else "L"), np.linalg.eigvalsh(h), 4)
        values, vectors = weft.linalg.eigh(there(given), "U" if upper else "L")
        v = weft.asnumpy(vectors)
        assert np.allclose(v * weft.asnumpy(values) @ turned(v), h, atol=1e-4 if np.dtype(dtype).name in SINGLES else 1e-10)


@pytest.mark.parametrize("dtype", FLOATS)
def test_qr(dtype: Any) -> None:
    for (m, n), stack in itertools.product(((1, 1), (4, 4), (5, 3), (3, 5), (1, 4), (4, 1)), STACKS):
        a = normal((*stack, m, n), dtype)
        for mode in ("reduced", "complete"):
            for found, wanted in zip(weft.linalg.qr(there(a), mode), np.linalg.qr(a, mode)):
                near(found, wanted, 8)
        near(weft.linalg.qr(there(a), "r"), np.linalg.qr(a, "r"), 8)
        for found, wanted in zip(weft.linalg.qr(there(a), "raw"), np.linalg.qr(a, "raw")):
            near(found, wanted, 8)


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("dtype", FLOATS)
def test_eigenvalues_and_singular_values(dtype: Any) -> None:
    by = 8
    for n, stack in itertools.product((1, 2, 6), STACKS):
        a = normal((*stack, n, n), dtype)
        h = a + turned(a)
        values, vectors = weft.linalg.eigh(there(h))
        near(values, np.linalg.eigvalsh(h), by)
        near(vectors * values[..., None, :] @ weft.conj(weft.matrix_transpose(vectors)), h, by)
        near(weft.conj(weft.matrix_transpose(vectors)) @ vectors, np.broadcast_to(np.eye(n, dtype=dtype), h.shape), by)
    for (m, n), stack in itertools.product(((1, 1), (4, 4), (6, 3), (3, 6), (1, 4), (4, 1)), STACKS):
        a = normal((*stack, m, n), dtype)
        near(weft.linalg.svdvals(there(a)), np.linalg.svd(a, compute_uv=False), by)
        for full in (True, False):
            left, s, right = weft.linalg.svd(there(a), full_matrices=full)
            near(s, np.linalg.svd(a, compute_uv=False), by)
            k = min(m, n)
            near(left[..., :k] * s[..., None, :] @ right[..., :k, :], a, by)
            for x, side in ((left, left.shape[-1]), (weft.matrix_transpose(right), right.shape[-2])):
                near(weft.conj(weft.matrix_transpose(x)) @ x, np.broadcast_to(np.eye(side, dtype=dtype), (*stack, side, side)), by)


def test_matrices_of_little_rank() -> None:
    a = np.outer(np.arange(1.0, 6), np.arange(1.0, 4))
    left, s, right = weft.linalg.svd(there(a))
    near(left.T @ left, np.eye(5), 8)
    near(left[:, :3] * s @ right, a, 8)
    near(weft.linalg.pinv(there(a)), np.linalg.pinv(a), 8)
    assert int(weft.linalg.matrix_rank(there(a))) == 1
    x, *_ = weft.linalg.lstsq(there(normal((6, 3), np.float64)), there(normal((6,), np.float64)))
    near(x, np.linalg.lstsq(normal((6, 3), np.float64), normal((6,), np.float64))[0], 8)


def test_iterations_refuse_what_is_not_finite() -> None:
    for bad in (np.nan, np.inf):
        a = np.eye(3)
        a[1, 1] = bad
        with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
            weft.linalg.svd(there(a))
        with pytest.raises(np.linalg.LinAlgError, match="Eigenvalues did not converge"):
            weft.linalg.eigh(there(a))


def test_routines_that_the_library_lacks_go_their_own_way() -> None:
    a = regular((4, 4), np.float64)
    values, vectors = weft.linalg.eig(there(a))
    near(there(a.astype(np.complex128)) @ vectors, weft.asnumpy(vectors) * weft.asnumpy(values), 8)
    near(weft.linalg.inv(there(np.ones((0, 2, 2)))), np.ones((0, 2, 2)))
    near(weft.linalg.det(there(np.ones((0, 0)))), np.asarray(1.0))


# Transforms.

ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")


@pytest.mark.parametrize("function", ONE_AXIS)
@pytest.mark.parametrize("dtype", (np.float32, np.float64, np.complex64, np.complex128, np.float16, np.int32, np.bool_))
def test_transforms_along_one_axis(function: str, dtype: Any) -> None:
    if np.dtype(dtype).kind == "c" and function in ("rfft", "ihfft"):
        with pytest.raises(TypeError):
            getattr(weft.fft, function)(there(np.ones(3, dtype)))
        return
    for shape in ((6,), (1,), (5, 2), (2, 3, 4)):
        a = normal(shape, np.complex128 if np.dtype(dtype).kind == "c" else np.float64).astype(dtype)
        for axis, n, norm in itertools.product(range(len(shape)), (None, 3, 8), (None, "ortho", "forward")):
            n = n if n or shape[axis] > 1 else 4
            found = getattr(weft.fft, function)(there(a), n, axis, norm)
            if dtype == np.float16:
                # NumPy rounds the factor to 16 bits, too; Weft only what becomes of it.
                wanted = getattr(np.fft, function)(a.astype(np.float32), n, axis, norm)
                near(found, wanted.astype(np.float16) if wanted.dtype.kind == "f" else wanted)
            else:
                near(found, getattr(np.fft, function)(a, n, axis, norm))


@pytest.mark.parametrize("dtype", FLOATS)
def test_transforms_along_several_axes(dtype: Any) -> None:
    a = normal((2, 3, 4, 5), dtype)
    for axes in ((0, 1), (1, 3), (3, 0), (2, 1, 0), (1, 2, 3), (0, 1, 2, 3), (3, 2, 1, 0), (1, 1), (2,)):
        near(weft.fft.fftn(there(a), axes=axes), np.fft.fftn(a, axes=axes), 16)
        near(weft.fft.ifftn(there(a), axes=axes), np.fft.ifftn(a, axes=axes))
        near(weft.fft.irfftn(there(a), axes=axes), np.fft.irfftn(a, axes=axes))
        if np.dtype(dtype).kind != "c":
            near(weft.fft.rfftn(there(a), axes=axes), np.fft.rfftn(a, axes=axes), 16)
    near(weft.fft.fft2(there(a), s=(3, 7)), np.fft.fft2(a, s=(3, 7)), 16)
    near(weft.fft.irfft2(there(a), s=(3, 7)), np.fft.irfft2(a, s=(3, 7)))


def test_transforms_of_arrays_in_every_layout() -> None:
    a = normal((4, 6), np.complex128)
    for _, x in layouts(a).values():
        for axis in (0, 1):
            near(weft.fft.fft(x, axis=axis), np.fft.fft(a, axis=axis), 4)
            near(weft.fft.irfft(x, axis=axis), np.fft.irfft(a, axis=axis))
        near(weft.fft.fft2(x), np.fft.fft2(a), 8)
    stretched = np.broadcast_to(a[0], (3, 6))
    near(weft.fft.fft(weft.broadcast_to(there(a[0]), (3, 6))), np.fft.fft(stretched), 4)
    near(weft.fft.fft(weft.broadcast_to(there(a[0]), (3, 6)), axis=0), np.fft.fft(stretched, axis=0), 4)
    near(weft.fft.fft(there(a)[::-1, ::-1]), np.fft.fft(a[::-1, ::-1]), 4)
    # Of a record's field: elements that lie so far apart as no element is long.
    fields = np.zeros(5, [("x", "c16"), ("y", "f4")])
    fields["x"] = normal((5,), np.complex128)
    near(weft.fft.fft(there(fields["x"])), np.fft.fft(fields["x"]), 4)


def test_what_becomes_real_is_not_lost_and_needs_no_symmetry() -> None:
    a = normal((3, 5), np.complex128)
    x = there(a)
    for n in (7, 8, 1, 2):
        near(weft.fft.irfft(x, n), np.fft.irfft(a, n))
        near(weft.fft.irfft2(x, (3, n)), np.fft.irfft2(a, (3, n)))
    assert (weft.asnumpy(x) == a).all()
    near(weft.fft.irfft(weft.matrix_transpose(x)), np.fft.irfft(a.T))


def test_plans_are_kept_and_their_number_is_bounded(monkeypatch: pytest.MonkeyPatch, failures: Any) -> None:
    monkeypatch.setattr(cufft, "_PLANS", 2)
    monkeypatch.setattr(cufft, "_kept", {})
    for n in (3, 4, 5, 6):
        near(weft.fft.fft(there(np.ones(n))), np.fft.fft(np.ones(n)))
    assert [len(each) for each in cufft._kept.values()] == [2]
    failures("cufftMakePlanMany64=4")
    near(weft.fft.fft(there(np.ones(6))), np.fft.fft(np.ones(6)))
    with pytest.raises(LibraryError, match="cufftMakePlanMany64: CUFFT_INVALID_VALUE"):
        weft.fft.fft(there(np.ones(3)))


# Errors, other ways, and where it is done.

CALLS = {
    "cublasGemmEx_64=14": ("CUBLAS_STATUS_INTERNAL_ERROR", lambda a: a @ a),
    "cublasGemmStridedBatchedEx_64=3": ("CUBLAS_STATUS_ALLOC_FAILED", lambda a: a[None] * there(np.ones((2, 1, 1))) @ a[None]),
    "cublasGemmBatchedEx_64=13": ("CUBLAS_STATUS_EXECUTION_FAILED", lambda a: a.reshape(2, 1, 2, 4) @ a.reshape(1, 2, 4, 2)),
    "cublasDgetrfBatched=7": ("CUBLAS_STATUS_INVALID_VALUE", lambda a: weft.linalg.det(weft.stack([a, a]))),
    "cublasDgetrsBatched=15": ("CUBLAS_STATUS_NOT_SUPPORTED", lambda a: weft.linalg.inv(weft.stack([a, a]))),
    "cusolverDnXgetrf=7": ("CUSOLVER_STATUS_INTERNAL_ERROR", weft.linalg.det),
    "cusolverDnXgetrs=6": ("CUSOLVER_STATUS_EXECUTION_FAILED", weft.linalg.inv),
    "cusolverDnXpotrf_bufferSize=3": ("CUSOLVER_STATUS_INVALID_VALUE", weft.linalg.cholesky),
    "cusolverDnXpotrf=1": ("CUSOLVER_STATUS_NOT_INITIALIZED", weft.linalg.cholesky),
    "cusolverDnDpotrfBatched=4": ("CUSOLVER_STATUS_ARCH_MISMATCH", lambda a: weft.linalg.cholesky(weft.stack([a, a]))),
    "cusolverDnXgeqrf=2": ("CUSOLVER_STATUS_ALLOC_FAILED", weft.linalg.qr),
    "cusolverDnDorgqr=77": ("status 77 of cuSOLVER", weft.linalg.qr),
    "cusolverDnXsyevd=9": ("CUSOLVER_STATUS_NOT_SUPPORTED", weft.linalg.eigh),
    "cusolverDnXgesvd=5": ("CUSOLVER_STATUS_MAPPING_ERROR", weft.linalg.svd),
    "cusolverDnDsyevjBatched=7": ("CUSOLVER_STATUS_INTERNAL_ERROR", lambda a: weft.linalg.eigvalsh(weft.stack([a, a]))),
    "cusolverDnDgesvdjBatched=7": ("CUSOLVER_STATUS_INTERNAL_ERROR", lambda a: weft.linalg.svdvals(weft.stack([a, a]))),
    "cufftExecZ2Z=6": ("CUFFT_EXEC_FAILED", weft.fft.fft),
    "cufftExecD2Z=6": ("CUFFT_EXEC_FAILED", weft.fft.rfft),
    "cufftExecZ2D=6": ("CUFFT_EXEC_FAILED", weft.fft.irfft),
    "cufftSetWorkArea=1": ("CUFFT_INVALID_PLAN", weft.fft.fft),
}


@pytest.mark.parametrize("plan", CALLS)
def test_an_error_of_a_library_is_raised(plan: str, failures: Any) -> None:
    words, function = CALLS[plan]
    a = there(positive((4, 4), np.float64))
    failures(plan)
    with pytest.raises(LibraryError, match=f"{plan.partition('=')[0]}: {words}"):
        function(a)
    failures("")
    function(a)


def test_handles_are_asked_for_once_more(failures: Any) -> None:
    """The memory that a library wants may be some that Weft keeps."""
    a = there(np.eye(2))
    cublas.handle.cache_clear()
    failures("cublasCreate_v2=3@1")
    near(a @ a, np.eye(2))
    cublas.handle.cache_clear()
    failures("cublasCreate_v2=3")
    with pytest.raises(LibraryError, match=r"cublasCreate_v2: CUBLAS_STATUS_ALLOC_FAILED\. WEFT_NVIDIA_LIBRARIES=off does without"):
        a @ a


def test_without_libraries_nothing_is_called(monkeypatch: pytest.MonkeyPatch, failures: Any) -> None:
    failures(",".join(f"{plan.partition('=')[0]}=1" for plan in CALLS))
    a = positive((4, 4), np.float64)
    for choice in ("off", ""):
        for _ in chosen(monkeypatch, choice):
            near(there(a) @ there(a), a @ a, 4)
            near(weft.linalg.inv(there(a)), np.linalg.inv(a), 4)
            near(weft.fft.fft2(there(a)), np.fft.fft2(a), 4)
            assert [finding.library(name) for name in ("cublas", "cusolver", "cufft")] == [None] * 3


def test_pauses() -> None:
    a = normal((3, 3), np.float64)
    with finding.paused():
        assert finding.library("cublas") is None
        near(there(a) @ there(a), a @ a, 3)
    assert finding.library("cublas") is not None


@only_stand_ins
def test_choices_that_cannot_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for _ in chosen(monkeypatch, str(tmp_path / "missing")):
        with pytest.raises(LibraryError, match="which is no folder"):
            there(np.eye(2)) @ there(np.eye(2))
    for _ in chosen(monkeypatch, str(tmp_path)):
        near(there(np.eye(2)) @ there(np.eye(2)), np.eye(2))
    (tmp_path / "libcublas.so.13").write_bytes(b"no library")
    (tmp_path / "libcublas.so.12").symlink_to(Path(_weft.__file__).parent / "libweft_cuda_double.so")
    for _ in chosen(monkeypatch, str(tmp_path)):
        assert finding.library("cublas")._name.endswith("libcublas.so.12") and finding.library("cufft") is None
        near(there(np.eye(2)) @ there(np.eye(2)), np.eye(2))
    monkeypatch.setenv("WEFT_CUDA_DRIVER", "none")
    for _ in chosen(monkeypatch, "double"):
        with pytest.raises(LibraryError, match="works with WEFT_CUDA_DRIVER=double only"):
            finding.library("cufft")


def test_where_libraries_are_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    places = {
        "home/lib64/libcusolver.so.11",
        "packages/nvidia/cu13/lib/libcusolver.so.12",
        "packages/nvidia/cusolver/lib/libcusolver.so.11",
    }
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(tmp_path / "packages")

    def found(newest: int) -> list[str]:
        monkeypatch.setattr(finding, "_newest_generation", lambda: newest)
        places = finding._places("cusolver", "")
        # Without those that this machine has.
        return [place.removeprefix(f"{tmp_path}/") for place in places if place.startswith(f"{tmp_path}/") or "/" not in place]

    older = ["libcusolver.so.11", "home/lib64/libcusolver.so.11", "packages/nvidia/cusolver/lib/libcusolver.so.11"]
    assert found(12) == older
    assert found(13) == ["libcusolver.so.12", "packages/nvidia/cu13/lib/libcusolver.so.12", *older]
    assert found(11) == []


@only_stand_ins
def test_the_command_says_what_is_used(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for choice, words in (
        ("double", f"arrays use {', '.join(['libweft_cuda_double.so'] * 3)}\n"),
        ("off", "arrays use none"),
        ("/no", "no folder"),
    ):
        for _ in chosen(monkeypatch, choice):
            assert cli.main(["info"]) == 0
        assert words in capsys.readouterr().out


def test_nothing_is_loaded_by_an_import() -> None:
    code = "import weft, weft.linalg, weft.fft, sys; print([name for name in sys.modules if name.startswith('weft.kernels.nvidia.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_products_and_transforms_are_no_syncs() -> None:
    x = there(normal((4, 4), np.float64))
    with weft.syncs("error"):
        y = weft.fft.irfft(weft.fft.rfft((x * 2) @ x)) + 1
    near(y, weft.asnumpy(x) * 2 @ weft.asnumpy(x) + 1, 8)


@pytest.mark.skipif(sum(d.kind == "cuda" for d in weft.devices()) < 2, reason="needs two devices")
def test_two_devices() -> None:
    a, b = normal((4, 4), np.float64), regular((4, 4), np.float64)
    for name in ("cuda:0", "cuda:1", "cuda:0"):
        for found, wanted in (
            (there(a, name) @ there(b, name), a @ b),
            (weft.linalg.solve(there(b, name), there(a, name)), np.linalg.solve(b, a)),
            (weft.fft.fft(there(a, name)), np.fft.fft(a)),
        ):
            assert found.device.name.startswith(name)
            near(found, wanted, 8)


def test_threads() -> None:
    a = [regular((6, 6), np.float64) + i for i in range(4)]
    failed: list[Any] = []

    def work(i: int) -> None:
        try:
            for _ in range(5):
                x = there(a[i])
                near(weft.linalg.inv(x @ x), np.linalg.inv(a[i] @ a[i]), 1000)
                near(weft.fft.fft(x), np.fft.fft(a[i]), 8)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_captured_graphs() -> None:
    @weft.compile
    def both(x: Any, y: Any) -> Any:
        q, r = weft.linalg.qr(x @ y)
        return weft.linalg.inv(x + 0) @ q, r, weft.fft.irfft(weft.fft.rfft(y, axis=0), 3) * 2

    for seed in range(3):
        a, b = regular((4, 4), np.float64) + seed, normal((4, 4), np.float64, seed)
        q, r = np.linalg.qr(a @ b)
        for found, wanted in zip(both(there(a), there(b)), (np.linalg.inv(a) @ q, r, np.fft.irfft(np.fft.rfft(b, axis=0), 3) * 2)):
            near(found, wanted, 100)
    assert both.captures == 1
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        weft.eval(both(there(np.ones((4, 4))), there(np.eye(4))))


def test_an_error_in_a_captured_graph(failures: Any) -> None:
    inverse = weft.compile(weft.linalg.inv)
    near(inverse(there(np.eye(4))), np.eye(4))
    failures("cusolverDnXgetrf=6")
    with pytest.raises(LibraryError, match="cusolverDnXgetrf: CUSOLVER_STATUS_EXECUTION_FAILED"):
        weft.eval(inverse(there(np.eye(4))))


@only_stand_ins
def test_results_and_workspaces_are_given_back() -> None:
    x = there(normal((32, 32), np.float64))
    device = x.device

    def used() -> int:
        return device.memory()["used"]

    for _ in range(2):
        weft.eval(weft.fft.fft(x @ x), weft.linalg.inv(x))
    before = used()
    for _ in range(5):
        weft.eval(weft.fft.fft(x @ x), weft.linalg.inv(x))
    assert used() <= before + 1024
    assert cublas.handle.cache_info().currsize <= 2
