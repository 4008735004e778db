"""Products of 16-bit floats and of TensorFloat-32 by Weft's own kernel for tensor cores: against NumPy in double precision."""

from __future__ import annotations

import glob
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft
from weft.kernels import tensor_cores
from weft.kernels.nvidia import finding

HALF, BFLOAT16, SINGLE = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
DTYPES = (HALF, BFLOAT16, SINGLE)
# Of a product, in units of the sum of the products' sizes: what rounding the result loses, or the factors to 11 bits.
LOST = {HALF: 6e-4, BFLOAT16: 4.5e-3, SINGLE: 1e-3}

pytestmark = pytest.mark.skipif(
    not any(d.kind == "cuda" and d.compute_capability >= (8, 0) for d in weft.devices()), reason="needs a CUDA device with tensor cores"
)


@pytest.fixture(autouse=True)
def own_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No library, and TensorFloat-32 where float32 is multiplied."""
    monkeypatch.setenv("WEFT_TF32", "1")
    with finding.paused():
        yield


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The tiles and the parts of the products that went to tensor cores."""
    found: list[tuple[int, int]] = []

    def noting(a: Any, b: Any, tile: int, parts: int) -> Any:
        found.append((tile, parts))
        return made(a, b, tile, parts)

    made = tensor_cores.parts_of_products
    monkeypatch.setattr(tensor_cores, "parts_of_products", noting)
    return found


def normal(shape: tuple[int, ...], dtype: np.dtype, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def there(host: np.ndarray) -> weft.ndarray:
    return weft.asarray(host, device="cuda")


def check(found: weft.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    wide, other = a.astype(np.float64), b.astype(np.float64)
    assert found.dtype == a.dtype
    error = np.abs(np.asarray(found).astype(np.float64) - wide @ other) / (np.abs(wide) @ np.abs(other))
    assert error.max() < LOST[a.dtype], (a.dtype, a.shape, b.shape, error.max())


def views(host: np.ndarray) -> Iterator[tuple[str, Any]]:
    """The same matrix as it may lie: given a function that puts an array on the device, what lies there."""
    yield "C", lambda put: put(host)
    yield "transposed", lambda put: put(np.ascontiguousarray(host.swapaxes(-1, -2))).transpose((*range(host.ndim - 2), -1, -2))
    yield "rows backwards", lambda put: put(np.ascontiguousarray(host[..., ::-1, :]))[..., ::-1, :]
    yield "columns backwards", lambda put: put(np.ascontiguousarray(host[..., ::-1]))[..., ::-1]
    yield "every second", lambda put: put(np.repeat(np.repeat(host, 2, -1), 2, -2))[..., ::2, ::2]
    rows, columns = host.shape[-2:]
    wide = np.zeros((*host.shape[:-2], rows + 3, columns + 7), host.dtype)
    wide[..., 1 : rows + 1, 1 : columns + 1] = host
    # At an odd place, and at an even one.
    yield "part", lambda put: put(wide)[..., 1 : rows + 1, 1 : columns + 1]
    aligned = np.zeros((*host.shape[:-2], rows + 3, columns + 12 - columns % 4), host.dtype)
    aligned[..., 1 : rows + 1, 4 : columns + 4] = host
    yield "aligned part", lambda put: put(aligned)[..., 1 : rows + 1, 4 : columns + 4]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_shapes_and_views(dtype: np.dtype, taken: list[Any]) -> None:
    shapes = [(16, 16, 16), (32, 32, 40), (31, 50, 17), (33, 37, 65), (64, 64, 68), (70, 35, 34)]
    wanted = []
    for shape in shapes:
        a, b = normal(shape[:2], dtype), normal(shape[1:], dtype, 1)
        made = [list(views(x)) for x in (a, b)]
        # Every way to lie on each side, next to some on the other.
        for at in range(len(made[0])):
            for (_, left), (_, right) in ((made[0][at], made[1][0]), (made[0][1], made[1][at]), (made[0][at], made[1][at - 3])):
                check(left(there) @ right(there), a, b)
                wanted.append((32 if min(shape[0], shape[2]) <= 32 else 64, 1))
    assert taken == wanted


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_stacks(dtype: np.dtype, taken: list[Any]) -> None:
    for left, right in [((3, 1, 40, 48), (1, 2, 48, 36)), ((3, 40, 47), (47, 36)), ((40, 47), (2, 47, 36)), ((2, 33, 48), (2, 48, 36))]:
        a, b = normal(left, dtype), normal(right, dtype, 1)
        check(there(a) @ there(b), a, b)
        check(weft.matmul(there(a[..., ::-1, :]), there(b)[..., ::-1]), a[..., ::-1, :], b[..., ::-1])
    a, b = normal((40, 44), dtype), normal((3, 44, 36), dtype, 1)
    check(weft.broadcast_to(there(a), (3, 40, 44)) @ there(b), np.broadcast_to(a, (3, 40, 44)), b)
    a, b = normal((2, 3, 40, 33), dtype)[::-1, 1:], normal((2, 3, 33, 36), dtype, 1)[:, ::2]
    check(there(a) @ there(b), a, b)
    assert len(taken) == 10


@pytest.mark.parametrize(("left", "right"), list(itertools.product((False, True), repeat=2)))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_large_tiles(dtype: np.dtype, left: bool, right: bool) -> None:
    """By hand: only products of thousands of rows have so many blocks."""
    a, b = normal((1, 1, 132, 68), dtype), normal((1, 1, 68, 136), dtype, 1)

    def put(x: np.ndarray, transposed: bool) -> weft.ndarray:
        turned = (0, 1, 3, 2)
        return there(np.ascontiguousarray(x.transpose(turned))).transpose(turned) if transposed else there(x)

    found = tensor_cores.parts_of_products(put(a, left), put(b, right), 128, 1)
    assert found.shape == (1, 1, 132, 136)
    check(found, a, b)


def test_tiles_are_large_where_many_are_left() -> None:
    def asked(rows: int, columns: int, count: int = 1, depth: int = 64, dtype: Any = HALF) -> int:
        lying = weft.broadcast_to(weft.zeros((), dtype, device="cuda"), (1, count, rows, depth))
        return tensor_cores.tile_for(lying, weft.broadcast_to(weft.zeros((), dtype, device="cuda"), (1, count, depth, columns)), 128)

    assert asked(2048, 2048) == 128 and asked(1024, 1024) == 64 and asked(128, 128, 200) == 128 and asked(100, 3000, 200) == 64
    assert asked(16, 3000) == asked(32, 32, 10000) == 32 and asked(33, 34, 10000) == 64
    assert asked(15, 64) == asked(64, 15) == asked(64, 64, depth=15) == asked(64, 64, dtype=np.float64) == 0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_long_inner_axes_are_cut(dtype: np.dtype, taken: list[Any]) -> None:
    for depth in (512, 700, 1031):
        a, b = normal((34, depth), dtype), normal((depth, 36), dtype, 1)
        found = there(a) @ there(b)
        check(found, a, b)
        # The order of sums follows from the shapes.
        assert np.asarray(found).tobytes() == np.asarray(there(a) @ there(b)).tobytes()
    assert [parts for _, parts in taken] == [2, 2, 2, 2, 4, 4]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_whole_numbers_are_exact(dtype: np.dtype) -> None:
    source = np.random.default_rng(5)
    for rows, depth, columns in [(33, 40, 50), (48, 100, 33)]:
        a, b = source.integers(-4, 5, (rows, depth)).astype(dtype), source.integers(-4, 5, (depth, columns)).astype(dtype)
        wanted = (a.astype(np.float32) @ b.astype(np.float32)).astype(dtype)
        assert np.asarray(there(a) @ there(b)).tobytes() == (wanted + np.zeros((), dtype)).tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_infinities_and_nans_stay_in_their_rows_and_columns(dtype: np.dtype) -> None:
    """Odd shapes: what lies behind a matrix is none of its."""
    a, b = np.abs(normal((35, 37), dtype)) + dtype.type(1), np.abs(normal((37, 39), dtype, 1)) + dtype.type(1)
    a[3, 36], a[7, 0], b[5, 38] = np.inf, np.nan, -np.inf
    found = np.asarray(there(a) @ there(b)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        wanted = a.astype(np.float64) @ b.astype(np.float64)
    assert np.array_equal(np.isnan(found), np.isnan(wanted)) and np.array_equal(np.isinf(found), np.isinf(wanted))
    assert np.array_equal(found[np.isinf(wanted)], wanted[np.isinf(wanted)])


def test_sums_are_those_of_float32() -> None:
    """Above what float16 holds on the way, within it at the end."""
    a, b = np.full((32, 64), 200, HALF), np.full((64, 32), 200, HALF)
    a[:, 32:] *= HALF.type(-1)
    a[:, 0] = 1
    wanted = (a.astype(np.float64) @ b.astype(np.float64)).astype(HALF)
    assert np.array_equal(np.asarray(there(a) @ there(b)), wanted) and np.isfinite(wanted).all()
    assert np.asarray(there(np.full((32, 32), 1000, HALF)) @ there(np.full((32, 32), 1000, HALF))).max() == np.inf


def test_float32_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch, taken: list[Any]) -> None:
    a, b = normal((64, 64), SINGLE), normal((64, 64), SINGLE, 1)
    rounded, wanted = np.asarray(there(a) @ there(b)), a.astype(np.float64) @ b.astype(np.float64)
    assert len(taken) == 1 and np.abs(rounded - wanted).max() > 1e-4
    for setting in ("0", ""):
        monkeypatch.setenv("WEFT_TF32", setting)
        assert np.abs(np.asarray(there(a) @ there(b)) - wanted).max() < 1e-4
    monkeypatch.delenv("WEFT_TF32")
    assert np.abs(np.asarray(there(a) @ there(b)) - wanted).max() < 1e-4
    half = normal((64, 64), HALF)
    assert len(taken) == 1
    check(there(half) @ there(half), half, half)
    assert len(taken) == 2


def test_other_settings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    a = there(normal((64, 64), SINGLE))
    for setting in ("2", "true", " 1", "off"):
        monkeypatch.setenv("WEFT_TF32", setting)
        with pytest.raises(ValueError, match=rf"WEFT_TF32 is 1, .* or 0, .*: not '{setting}'"):
            a @ a
        # What it does not matter for goes on.
        check(a.astype(np.float16) @ a.astype(np.float16), *[np.asarray(a.astype(np.float16))] * 2)


@pytest.mark.parametrize("tile", [32, 64, 128])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_code(dtype: np.dtype, tile: int) -> None:
    """Each of four warps multiplies a quarter of a piece twice, from shared memory, and nothing is in local memory."""
    a = there(normal((1, 1, 32, 32), dtype))
    tensor_cores.parts_of_products(a, a, tile, 1)
    texts = tensor_cores._kernel(dtype, tile, False, False).inspect_asm().values()
    kind = {HALF: "16.row.col.f32.f16.f16.f32", BFLOAT16: "16.row.col.f32.bf16.bf16.f32", SINGLE: "8.row.col.f32.tf32.tf32.f32"}[dtype]
    rows, columns = tile // 32, tile // 16
    # Squares come four at a time; of float32 each lane loads four words of every tile of rows, and two of columns, and rounds them.
    words, squares = (2 * (4 * rows + 2 * columns), 0) if dtype is SINGLE else (0, 2 * (rows + columns // 2))
    assert texts
    for text in texts:
        assert text.count(f"mma.sync.aligned.m16n8k{kind}") == text.count("mma.sync") == 2 * rows * columns
        assert text.count("ldmatrix.sync.aligned.m8n8.x4") == squares
        assert text.count("cvt.rna.tf32.f32") == text.count("ld.shared.b32") == words
        assert ".local" not in text
        moved = [
            len(re.findall(pattern, text)) for pattern in (r"ld\.global", r"ld\.global(\.nc)?\.b64", r"st\.shared", r"st\.shared\.b64")
        ]
        # Of small tiles LLVM writes some twice.
        assert moved[0] == moved[1] and moved[2] == moved[3] and moved[0] >= tile // 8 and (tile == 32 or moved == [tile // 8] * 4)


@pytest.mark.parametrize(("left", "right"), list(itertools.product((False, True), repeat=2)))
@pytest.mark.parametrize("dtype", (HALF, SINGLE), ids=str)
def test_sums_fit_the_registers(dtype: np.dtype, left: bool, right: bool) -> None:
    """NVIDIA's assembler takes the code for large tiles, and puts nothing of a thread's into memory."""
    named = os.environ.get("WEFT_PTXAS")
    found = [named] if named else sorted(glob.glob(str(Path(sys.prefix, "lib/python3.*/site-packages/nvidia/cu*/bin/ptxas"))))
    if not found:
        pytest.skip("no ptxas here: pip install nvidia-cuda-nvcc")
    a = there(normal((1, 1, 64, 128), dtype))[..., :64]
    turned = a.transpose(0, 1, 3, 2)
    tensor_cores.parts_of_products(turned if left else a, turned if right else a, 128, 1)
    for text in tensor_cores._kernel(dtype, 128, left, right).inspect_asm().values():
        for sm in (90, 120):
            command = [found[0], "-v", f"-arch=sm_{sm}", "-o", os.devnull, "-"]
            done = subprocess.run(command, input=text, text=True, capture_output=True)
            assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{text}"
            assert " 0 bytes stack frame, 0 bytes spill stores" in done.stderr, done.stderr


def test_nothing_is_waited_for() -> None:
    a, b = there(normal((40, 50), HALF)), there(normal((50, 44), HALF))
    with weft.syncs("error"):
        weft.eval(a[:, ::-1] @ b @ a[:, :44].mT)


def test_captured_graphs(taken: list[Any]) -> None:
    @weft.compile
    def captured(a: Any, b: Any) -> Any:
        return (a @ b) * 2 + b[:40, :40] @ a[:, :40].mT

    for seed in range(3):
        a, b = normal((40, 50), HALF, seed), normal((50, 40), HALF, seed + 3)
        first = np.asarray(captured(there(a), there(b))).astype(np.float64)
        wide, other = a.astype(np.float64), b.astype(np.float64)
        assert np.abs(first - wide @ other * 2 - other[:40, :40] @ wide[:, :40].T).max() < 0.2
    assert len(taken) >= 2


CHECKED = """
import itertools
import numpy as np, weft
from weft.kernels import tensor_cores

a, b = (np.random.default_rng(0).integers(-4, 5, shape).astype(np.float16) for shape in ((1, 1, 36, 40), (1, 1, 40, 44)))
wanted = a.astype(np.float64) @ b.astype(np.float64)
for left, right, tile in itertools.product((False, True), (False, True), (32, 64)):
    x = weft.asarray(np.ascontiguousarray(a.mT), device="cuda").mT if left else weft.asarray(a, device="cuda")
    y = weft.asarray(np.ascontiguousarray(b.mT), device="cuda").mT if right else weft.asarray(b, device="cuda")
    assert np.array_equal(np.asarray(tensor_cores.parts_of_products(x, y, tile, 1)), wanted)
"""


def test_the_kernel_in_checked_mode() -> None:
    """No thread reads what another one writes, what nobody has written, or beyond an end."""
    env = {**os.environ, "WEFT_CHECK": "1"}
    done = subprocess.run([sys.executable, "-c", CHECKED], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


OLD = """
import numpy as np, weft
from weft.kernels import tensor_cores
tensor_cores.parts_of_products = None
a = np.arange(1600, dtype=np.float16).reshape(40, 40) % 7
there = weft.asarray(a, device="cuda")
assert np.array_equal(np.asarray(there @ there), a.astype(np.float32) @ a.astype(np.float32))
assert weft.device("cuda").compute_capability == (7, 5)
"""


@pytest.mark.skipif(os.environ.get("WEFT_CUDA_DRIVER") != "double", reason="asks the stand-in for another GPU")
def test_older_gpus_have_none() -> None:
    env = {**os.environ, "WEFT_DOUBLE_CC": "7.5", "WEFT_NVIDIA_LIBRARIES": "off", "WEFT_TF32": "1"}
    subprocess.run([sys.executable, "-c", OLD], env=env, check=True)
