"""What calls of arrays on CUDA ask of the driver once they are warm: no waits, no copies, no memory but that of results and workspaces.

The stand-in for the driver counts: a call that fails is one that is not to be made, or not so often.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
import weft.fft
import weft.linalg
from weft import _weft
from weft.errors import LaunchError
from weft.kernels.nvidia import cusolver, finding

pytestmark = pytest.mark.skipif(os.environ.get("WEFT_CUDA_DRIVER") != "double", reason="asks the driver's stand-in")

WAITS = ("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize", "cuEventQuery", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemHostAlloc")
COPIES = ("cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2")


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """NVIDIA's libraries are the stand-ins."""
    monkeypatch.setenv("WEFT_NVIDIA_LIBRARIES", "double")
    finding._found.cache_clear()
    yield
    finding._found.cache_clear()


@pytest.fixture
def failures() -> Iterator[Callable[[str], Any]]:
    """Makes calls fail, as `WEFT_DOUBLE_FAIL` does, and counts anew."""
    double = ctypes.CDLL(str(Path(_weft.__file__).parent / "libweft_cuda_double.so"))
    yield lambda plan: double.weft_double_fail(plan.encode())
    double.weft_double_fail(b"")


def normal(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    made = np.random.default_rng(shape).standard_normal(shape)
    return (made + 1j * made[::-1] if np.dtype(dtype).kind == "c" else made).astype(dtype)


def positive() -> np.ndarray:
    a = normal(6, 6)
    return (a @ a.T + np.eye(6)).astype(np.float32)


def at_most(calls: int, name: str) -> str:
    """The part of a plan by which the calls after so many fail."""
    return f"{name}=1@{calls + 1}+"


# The function of a namespace, its operands, and how much memory and how many kernels of Weft's own a call takes.
CALLS: dict[str, tuple[Callable[..., Any], list[np.ndarray], int, int]] = {
    "product": (lambda xp, a, b: xp.matmul(a, b), [normal(6, 4), normal(4, 5)], 1, 0),
    "product of a transposed matrix": (lambda xp, a, b: a.T @ b, [normal(4, 6), normal(4, 5)], 1, 0),
    "products of 16-bit floats": (lambda xp, a, b: a @ b, [normal(6, 4, dtype=np.float16), normal(4, 5, dtype=np.float16)], 1, 0),
    "products of a stack": (lambda xp, a, b: xp.matmul(a, b), [normal(3, 6, 4), normal(3, 4, 5)], 1, 0),
    "fft": (lambda xp, a: xp.fft.fft(a), [normal(3, 8, dtype=np.complex64)], 2, 0),
    "fft along the first axis": (lambda xp, a: xp.fft.fft(a, axis=0), [normal(3, 8, dtype=np.complex64)], 2, 0),
    "fft2": (lambda xp, a: xp.fft.fft2(a), [normal(4, 8, dtype=np.complex64)], 2, 0),
    "rfft": (lambda xp, a: xp.fft.rfft(a), [normal(3, 8)], 2, 0),
    # The factor is one kernel, and for what becomes real the copy is one.
    "ifft": (lambda xp, a: xp.fft.ifft(a), [normal(3, 8, dtype=np.complex64)], 3, 1),
    "irfft": (lambda xp, a: xp.fft.irfft(a), [normal(3, 5, dtype=np.complex64)], 4, 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_products_and_transforms_neither_wait_nor_copy(name: str, failures: Callable[[str], Any]) -> None:
    function, operands, pieces, kernels = CALLS[name]
    given = [weft.asarray(a, device="cuda:0") for a in operands]
    for _ in range(2):
        weft.eval(function(weft, *given), wait=False)
    plan = [f"{call}=1" for call in (*WAITS, *COPIES)]
    failures(",".join([*plan, at_most(pieces, "cuMemAllocFromPoolAsync"), at_most(kernels, "cuLaunchKernel")]))
    found = function(weft, *given)
    weft.eval(found, wait=False)
    failures("")
    np.testing.assert_allclose(weft.asnumpy(found), function(np, *operands), rtol=2e-3, atol=2e-3)


DECOMPOSITIONS: dict[str, Callable[[Any, Any], Any]] = {
    "cholesky": lambda xp, a: xp.linalg.cholesky(a),
    "solve": lambda xp, a: xp.linalg.solve(a, a[:, :2]),
    "inv": lambda xp, a: xp.linalg.inv(a),
    "eigh": lambda xp, a: xp.linalg.eigh(a)[0],
    "svd": lambda xp, a: xp.linalg.svd(a)[1],
}


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_decompositions_wait_once(name: str, failures: Callable[[str], Any]) -> None:
    function, a = DECOMPOSITIONS[name], positive()
    x = weft.asarray(a, device="cuda:0")
    for _ in range(2):
        weft.eval(function(weft, x), wait=False)
    failures(f"cuCtxSynchronize=1,cuStreamSynchronize=1,cuMemcpyHtoDAsync_v2=1,{at_most(1, 'cuMemcpyDtoHAsync_v2')}")
    found = function(weft, x)
    weft.eval(found, wait=False)
    failures("")
    np.testing.assert_allclose(weft.asnumpy(found), function(np, a), rtol=1e-3, atol=1e-3)


def test_workspaces_of_the_host_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    x = weft.asarray(positive(), device="cuda:0")
    monkeypatch.setattr(cusolver, "_host_rooms", {})
    first = cusolver._host_room(x.device, 8)
    assert cusolver._host_room(x.device, 4) is first and len(cusolver._host_room(x.device, 100)) == 100
    kept = cusolver._host_room(x.device, 1)
    assert len(cusolver._host_room(x.device, cusolver._MOST_KEPT + 1)) > cusolver._MOST_KEPT
    assert cusolver._host_room(x.device, 1) is kept
    np.testing.assert_allclose(weft.asnumpy(weft.linalg.eigvalsh(x)), np.linalg.eigvalsh(positive()), rtol=1e-3)


def test_what_is_refused_is_refused_after_that_wait() -> None:
    nan = positive()
    nan[4, 1] = np.nan
    for function in (weft.linalg.eigh, weft.linalg.eigvalsh, weft.linalg.svd, weft.linalg.cholesky):
        with pytest.raises(np.linalg.LinAlgError):
            function(weft.asarray(nan, device="cuda:0"))
    # Only one triangle is read.
    found = weft.linalg.eigvalsh(weft.asarray(nan, device="cuda:0"), "U")
    np.testing.assert_allclose(weft.asnumpy(found), np.linalg.eigvalsh(nan, "U"), rtol=1e-3)


def test_eval_need_not_wait(failures: Callable[[str], Any]) -> None:
    x = weft.asarray(normal(5, 3), device="cuda:0")
    weft.eval(x + 1)
    y, z = x + 1, x * 2
    failures("cuCtxSynchronize=1,cuStreamSynchronize=1,cuMemcpyDtoHAsync_v2=1")
    weft.eval([y], {"z": z}, wait=False)
    assert _weft._is_evaluated(y) and _weft._is_evaluated(z)
    with pytest.raises(LaunchError, match="cuCtxSynchronize"):
        weft.eval(y)
    failures("")
    assert (weft.asnumpy(y) == normal(5, 3) + 1).all() and (weft.asnumpy(z) == normal(5, 3) * 2).all()
    here = weft.asarray(normal(1000)) + 1
    weft.eval(here, wait=False)
    assert _weft._is_evaluated(here) and (weft.asnumpy(here) == normal(1000) + 1).all()


def test_numbers_of_numpy_are_not_copied_to_a_device(failures: Callable[[str], Any]) -> None:
    a = normal(5, 3)
    x = weft.asarray(a, device="cuda:0")
    failures(",".join(f"{call}=1" for call in COPIES))
    found = [x * np.float32(2), weft.maximum(x, np.float32(0.5)), weft.where(x > np.float32(0), x, np.float32(-1))]
    found.append(weft.asarray(np.int16(7), device="cuda:0") + weft.zeros(3, np.int16, device="cuda:0"))
    weft.eval(found, wait=False)
    failures("")
    wanted = [a * np.float32(2), np.maximum(a, np.float32(0.5)), np.where(a > 0, a, np.float32(-1)), np.full(3, 7, np.int16)]
    for x, y in zip(found, wanted):
        assert x.dtype == y.dtype and (weft.asnumpy(x) == y).all()


def test_numbers_of_numpy_are_arrays_of_their_dtype() -> None:
    for name in weft.arrays._common.DTYPES:
        dtype = np.dtype(name)
        for value in (0, 1, 3, *((-2,) if dtype.kind in "ifc" else ()), *((np.nan, -0.0, np.inf) if dtype.kind in "fc" else ())):
            number = dtype.type(value)
            x = weft.asarray(number)
            assert x.shape == () and x.dtype == dtype
            assert weft.asnumpy(x).tobytes() == np.asarray(number).tobytes()
            x[...] = 1
            assert weft.asnumpy(x) == 1
