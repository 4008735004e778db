"""No kernel of the library takes more shared memory than every GPU has for a block: Vulkan promises 16 KiB.

Each kernel that has arrays in shared memory is compiled for each dtype it takes, and asked what it takes: on CUDA's double, whose code is
made quickly, and for wide numbers on Vulkan, which has memory for warps there, too.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.arrays.on_devices import DTYPES

import weft
from weft import kernels
from weft.kernels import attention, cholesky, counting, launching, lu, products, radix, runs, scan, searching, triangles

PRESENT = {one.kind: one.name for one in reversed(weft.devices()) if one.kind != "cpu" and one.float64}
# For tensor cores, which CUDA alone has: 48 KiB are every block's there.
ON_CUDA_ALONE = {"tensor_cores.py"}
# Kernels that take more where a device has it, and their forms that do not.
LARGE = {"spread": "where a block has 26 KiB"}


def declared() -> set[str]:
    """The kernels in whose text stands an array in shared memory."""
    found = set()
    for path in Path(kernels.__file__).parent.glob("*.py"):
        if path.name in ON_CUDA_ALONE:
            continue
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef) and any(decorator_of_kernel(one) for one in function.decorator_list):
                if "cuda.shared.array" in ast.unparse(function):
                    found.add(function.name)
    return found


def decorator_of_kernel(one: ast.expr) -> bool:
    return ast.unparse(one).startswith("cuda.jit")


def use_products(dtype: np.dtype, device: Any) -> None:
    a, c = weft.zeros((1, 1, 1, 1), dtype, device=device), weft.zeros((1, 1, 1), dtype, device=device)
    for square in {1, 2, 4, products._square(10**5, 10**5, 1, dtype)}:
        for subtracts in (False, dtype.kind in "fc" and dtype.itemsize >= 4):
            products._launch_tiles(products._tiled(dtype, square, subtracts), 16 * square, c, a, a)
    for across in (False, True):
        products._launch_with_vector(products._with_vector(dtype, across), 1, c[..., 0], a, a[..., 0])


def use_factorizations(dtype: np.dtype, device: Any) -> None:
    a = weft.ones((1, 1, 1), dtype, device=device)
    pivots, flags = weft.zeros((1, 1), np.int32, device=device), weft.zeros(1, np.bool_, device=device)
    for conjugates in {False, dtype.kind == "c"}:
        triangles.solve_lower(a, weft.ones((1, 1, 1), dtype, device=device), conjugates=conjugates)
    for groups in (1, 8):
        cholesky._small(dtype, groups)[1, (32, groups)](a, flags, np.int32(0))
        lu._small(dtype, groups)[1, (32, groups)](a, pivots, np.int32(0))
    for threads in (256, 1024):
        lu._panel(dtype, threads)[1, threads](a, pivots, np.int32(0), np.int32(0))
    lu._exchanged(a, pivots, 0)
    weft.linalg.det(a)


def use_fft(dtype: np.dtype, device: Any) -> None:
    weft.eval(weft.fft.fft(weft.ones(4, dtype, device=device)))
    weft.eval(weft.fft.irfft(weft.ones(4, dtype, device=device)))


def use_orders(dtype: np.dtype, device: Any) -> None:
    for n in (5, 1500):
        radix._passes(weft.zeros(n, dtype, device=device), 8, 1, n, 3)


def use_scans(dtype: np.dtype, device: Any) -> None:
    if scan.operation("add", dtype) is not None:
        scan._rows(scan.operation("add", dtype), weft.zeros(6000, dtype, device=device), 2, 3000, dtype)
    if scan.may_group("add", dtype):
        runs.folded_runs("add", weft.zeros(300, dtype, device=device), 0, np.array([0]))
    if dtype.kind in "fc" and dtype.itemsize >= 4:
        bins = weft.zeros(200, np.int32, device=device)
        counting._summed(bins, weft.ones(200, dtype, device=device), 2)
        counting._tallied(bins, 2)


def use_choices(dtype: np.dtype, device: Any) -> None:
    weft.eval(weft.ones(300, dtype, device=device)[weft.ones(300, np.bool_, device=device)])
    weft.histogram(weft.ones(300, dtype, device=device), 4, (0, 2))
    weft.eval(weft.searchsorted(weft.ones(3, dtype, device=device), weft.ones(searching._MANY + 1, dtype, device=device)))


def use_attention(dtype: np.dtype, device: Any) -> None:
    for width in (16, attention.WIDEST):
        rows = weft.ones((1, 1, 40, width), dtype, device=device)
        weft.eval(*attention.attended(rows, rows, rows, None, False, 1.0))


USES = [
    *((use_attention, np.dtype(letter)) for letter in "fd"),
    *((use_products, dtype) for dtype in DTYPES),
    *((use_factorizations, np.dtype(letter)) for letter in "fdFD"),
    *((use_fft, np.dtype(letter)) for letter in "fdFD"),
    *((use_orders, np.dtype(letter)) for letter in "IQ"),
    *((use_choices, np.dtype(letter)) for letter in "fd"),
    *((use_scans, dtype) for dtype in DTYPES if dtype.kind != "V" and dtype.itemsize > (1 if dtype.kind in "iub" else 2)),
]


def taken(device: Any) -> Iterator[tuple[str, int]]:
    """Kernels of the library that are compiled for a device, and the bytes each has for a block."""
    with weft.device(device):
        for one in gc.get_objects():
            # Other tests may have made some of CUDA's alone.
            if isinstance(one, weft.cuda.Kernel) and one.py_func.__module__.startswith("weft.kernels") and not is_on_cuda_alone(one):
                for overload in one.overloads.values():
                    yield one.__name__, overload.shared_mem_per_block


def is_on_cuda_alone(kernel: weft.cuda.Kernel) -> bool:
    return f"{kernel.py_func.__module__.removeprefix('weft.kernels.')}.py" in ON_CUDA_ALONE


@pytest.mark.parametrize("kind", [kind for kind in ("cuda", "vulkan") if kind in PRESENT])
def test_a_block_has_16_kib(kind, monkeypatch, own_kernels):
    device = PRESENT[kind]
    monkeypatch.setattr(radix, "shared_bytes", lambda name: launching.SHARED_BYTES)
    for use, dtype in USES:
        if kind == "cuda" or dtype.char in "dDqQ":
            use(dtype, device)
    found = dict[str, int]()
    for name, size in taken(device):
        found[name] = max(size, found.get(name, 0))
    large = {name: size for name, size in found.items() if size > launching.SHARED_BYTES and name not in LARGE}
    assert large == {}
    assert {name for name, size in found.items() if size > 0} >= declared()
    with weft.device(device):
        small = radix._spread_from(0).overloads.values()
        assert small and all(one.shared_mem_per_block <= launching.SHARED_BYTES for one in small)


def test_the_texts_are_found():
    assert {"product_of_tiles", "substitution", "lu_of_small", "cholesky_of_small", "transformed_lines", "spread", "_network"} <= declared()


@pytest.mark.parametrize("kind", [kind for kind in ("cuda", "vulkan") if kind in PRESENT])
@pytest.mark.parametrize("n", [1025, 2048, 5000])
@pytest.mark.parametrize("dtype", [np.dtype(letter) for letter in "iqbf"])
def test_sorts_with_few_bytes(kind, n, dtype, monkeypatch):
    monkeypatch.setattr(radix, "shared_bytes", lambda name: launching.SHARED_BYTES)
    source = np.random.default_rng(n)
    host = source.integers(-100, 100, (2, n)).astype(dtype)
    host[0] = source.integers(0, 2**31, n).astype(dtype)
    there = weft.asarray(host, device=PRESENT[kind])
    np.testing.assert_array_equal(radix.sorted_rows(there).to("cpu"), np.sort(host))
    np.testing.assert_array_equal(radix.order_of_rows(there).to("cpu"), np.argsort(host, kind="stable"))
