"""`cuda.mma`: products of matrices in shared memory by the tensor cores of a warp: what it adds, where, and what is refused."""

from __future__ import annotations

import contextlib
import glob
import itertools
import linecache
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft
from weft import cuda
from weft.errors import TypingError, UnsupportedError
from weft.types import float32, int64

DTYPES = (np.float16, ml_dtypes.bfloat16, np.float32)
HAS_TENSOR_CORES = any(d.kind == "cuda" and d.compute_capability >= (8, 0) for d in weft.devices())
on_tensor_cores = pytest.mark.skipif(not HAS_TENSOR_CORES, reason="needs a CUDA device with tensor cores")


def multiplying(dtype: Any, shape: tuple[int, int], transposed: tuple[bool, bool], in_words: bool, **options: Any) -> Any:
    """A kernel of one warp for tiles of so many rows and columns of sums, whose factors lie in arrays of elements or of words."""
    down, across = shape
    left_transposed, right_transposed = transposed
    size = np.dtype(dtype).itemsize
    held, depth = (8 // size if in_words else 1), 32 // size
    held_type = np.int64 if in_words else dtype
    # Rows are multiples of 16 bytes.
    left_shape = (depth, (16 * down + 16) // held) if left_transposed else (16 * down, (depth + 16) // held)
    right_shape = (8 * across, (depth + 16) // held) if right_transposed else (depth, (8 * across + 16) // held)

    @cuda.jit(**options)
    def multiply(c, a, b):
        left = cuda.shared.array(left_shape, held_type)
        right = cuda.shared.array(right_shape, held_type)
        sums = cuda.local.array((down, across, 4), np.float32)
        lane = cuda.laneid
        for i in range(down):
            for j in range(across):
                for n in range(4):
                    sums[i, j, n] = c[16 * i + lane // 4 + n // 2 * 8, 8 * j + lane % 4 * 2 + n % 2]
        for i in range(lane, a.size, 32):
            left[i // a.shape[1], i % a.shape[1]] = a[i // a.shape[1], i % a.shape[1]]
        for i in range(lane, b.size, 32):
            right[i // b.shape[1], i % b.shape[1]] = b[i // b.shape[1], i % b.shape[1]]
        cuda.syncthreads()
        cuda.mma(sums, left, right, left_transposed, right_transposed, dtype)
        for i in range(down):
            for j in range(across):
                for n in range(4):
                    c[16 * i + lane // 4 + n // 2 * 8, 8 * j + lane % 4 * 2 + n % 2] = sums[i, j, n]

    return multiply


def matrices(dtype: Any, shape: tuple[int, int]) -> tuple[np.ndarray, ...]:
    source = np.random.default_rng([3, *shape])
    rows, depth, columns = 16 * shape[0], 32 // np.dtype(dtype).itemsize, 8 * shape[1]
    made = (source.standard_normal(size) for size in ((rows, depth), (depth, columns), (rows, columns)))
    a, b, c = (x.astype(np.float32) for x in made)
    if np.dtype(dtype) == np.float32:
        # Numbers of 11 bits, which lose nothing.
        return *(np.frombuffer((x.view(np.uint32) & ~np.uint32(0x1FFF)).tobytes(), np.float32).reshape(x.shape) for x in (a, b)), c
    return a.astype(dtype), b.astype(dtype), c


def laid(x: np.ndarray, transposed: bool, in_words: bool) -> np.ndarray:
    x = np.ascontiguousarray(x.T if transposed else x)
    return x.view(np.int64) if in_words else x


@on_tensor_cores
@pytest.mark.parametrize("in_words", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_added(dtype: Any, in_words: bool) -> None:
    for shape, transposed in itertools.product([(1, 1), (2, 3), (1, 4)], itertools.product((False, True), repeat=2)):
        a, b, c = matrices(dtype, shape)
        wanted = (c + a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
        args = laid(a, transposed[0], in_words), laid(b, transposed[1], in_words)
        there = [weft.asarray(x, device="cuda") for x in (c, *args)]
        multiplying(dtype, shape, transposed, in_words)[1, 32](*there)
        np.testing.assert_allclose(np.asarray(there[0]), wanted, rtol=1e-5, atol=1e-5)


@on_tensor_cores
def test_checked_mode_gives_the_same() -> None:
    cases = ((np.float16, (False, True), True), (ml_dtypes.bfloat16, (True, False), False), (np.float32, (True, True), True))
    for dtype, transposed, in_words in cases:
        a, b, c = matrices(dtype, (1, 2))
        args = laid(a, transposed[0], in_words), laid(b, transposed[1], in_words)
        found = []
        for options in ({}, {"debug": True}):
            there = [weft.asarray(x, device="cuda") for x in (c, *args)]
            multiplying(dtype, (1, 2), transposed, in_words, **options)[1, 32](*there)
            found.append(np.asarray(there[0]))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-6)


@on_tensor_cores
def test_float32_is_rounded_first() -> None:
    """2049 has 12 bits: half away from zero it is 2050."""
    found = []
    for options in ({}, {"debug": True}):
        c = weft.zeros((16, 8), np.float32, device="cuda")
        many, ones = weft.full((16, 8), np.float32(2049), device="cuda"), weft.ones((8, 8), np.float32, device="cuda")
        multiplying(np.float32, (1, 1), (False, False), False, **options)[1, 32](c, many, ones)
        found.append(np.asarray(c))
    assert (found[0] == 8 * 2050).all() and (found[1] == 8 * 2050).all()


@on_tensor_cores
def test_float32_near_the_largest_becomes_infinite() -> None:
    """What lies half between the largest number of 11 bits and the next, and beyond."""
    half_way = np.float32(2.0**128 - 2.0**116)
    for value, wanted in (
        (np.nextafter(half_way, np.float32(0)), np.float32(2.0**128 - 2.0**117)),
        (half_way, np.float32(np.inf)),
        (-np.finfo(np.float32).max, np.float32(-np.inf)),
    ):
        one = np.zeros((8, 8), np.float32)
        # What is rounded is multiplied by 1 in one column and by 0 in the others.
        one[:, 0] = 1
        for options in ({}, {"debug": True}):
            c, left = weft.zeros((16, 8), np.float32, device="cuda"), np.zeros((16, 8), np.float32)
            left[:, 3] = value
            multiplying(np.float32, (1, 1), (False, False), False, **options)[1, 32](
                c, weft.asarray(left, device="cuda"), weft.asarray(one, device="cuda")
            )
            found = np.asarray(c)
            assert (found[:, 0] == wanted).all()
            assert (found[:, 1:] == 0).all() if np.isfinite(wanted) else np.isnan(found[:, 1:]).all()


def between_branches(c, d, a, b):
    """Products before and after branches that a compiler could join with what follows."""
    left = cuda.shared.array((16, 8), np.float32)
    right = cuda.shared.array((8, 8), np.float32)
    sums = cuda.local.array((1, 1, 4), np.float32)
    lane = cuda.laneid
    for i in range(lane, 128, 32):
        left[i // 8, i % 8] = a[i // 8, i % 8]
    for i in range(lane, 64, 32):
        right[i // 8, i % 8] = b[i // 8, i % 8]
    for i in range(4):
        sums[0, 0, i] = np.float32(0)
    cuda.syncthreads()
    cuda.mma(sums, left, right)
    c[0, lane] = sums[0, 0, 0]
    if lane < 16:
        cuda.atomic.add(d, 2, lane)
        low = True
    else:
        cuda.atomic.add(d, 3, lane)
        cuda.atomic.add(d, 0, lane)
        low = b[1, 1] > np.float32(lane)
    cuda.mma(sums, left, right)
    c[0, lane] = sums[0, 0, 0]
    if low:
        cuda.atomic.add(d, 4, lane)
    else:
        cuda.atomic.add(d, 1, lane)


def test_products_stay_out_of_branches() -> None:
    ptx, _ = cuda.compile_ptx(between_branches, (float32[:, ::1], int64[::1], float32[:, ::1], float32[:, ::1]), cc=(8, 0))
    assert ptx.count("mma.sync.aligned") == 2


@on_tensor_cores
def test_products_between_branches() -> None:
    c, d = np.zeros((1, 32), np.float32), np.zeros(5, np.int64)
    with weft.device("cuda"):
        cuda.jit(between_branches)[1, 32](c, d, np.ones((16, 8), np.float32), np.ones((8, 8), np.float32))
    low, high = sum(range(16)), sum(range(16, 32))
    assert (c == 16).all() and d.tolist() == [high, high, low, high, low]


def of_one_warp(product: str, row: int = 24) -> Any:
    """A kernel with this as its product of halves, as source; rows are so long."""
    source = "\n".join(
        [
            "def kernel(c):",
            f"    left = cuda.shared.array((16, {row}), np.float16)",
            "    right = cuda.shared.array((40, 24), np.float16)",
            "    sums = cuda.local.array((1, 1, 4), np.float32)",
            "    lane = cuda.laneid",
            f"    for i in range(cuda.threadIdx.x, {16 * row}, cuda.blockDim.x):",
            f"        left[i // {row}, i % {row}] = np.float16(1)",
            "    for i in range(cuda.threadIdx.x, 960, cuda.blockDim.x):",
            "        right[i // 24, i % 24] = np.float16(1)",
            "    for n in range(4):",
            "        sums[0, 0, n] = np.float32(0)",
            "    cuda.syncthreads()",
            f"    {product}",
            "    c[cuda.threadIdx.x] = sums[0, 0, 0]",
        ]
    )
    names: dict[str, Any] = {"cuda": cuda, "np": np}
    exec(compile(source, "<of one warp>", "exec"), names)
    linecache.cache["<of one warp>"] = (len(source), None, [line + "\n" for line in source.split("\n")], "<of one warp>")
    return names["kernel"]


@pytest.mark.parametrize(
    ("product", "block", "error", "match"),
    [
        (
            "if lane < 16: cuda.mma(sums, left, right)",
            32,
            AssertionError,
            "lanes 0x0000ffff of the warp .* 0xffffffff, which do not all come",
        ),
        ("cuda.mma(sums, left, right)", 16, AssertionError, "lanes 0x0000ffff of the warp .* 0xffffffff, which do not all come"),
        ("cuda.mma(sums, left, right)", 48, AssertionError, "lanes 0x0000ffff of the warp .* 0xffffffff, which do not all come"),
        ("if lane == 31: return\n    cuda.mma(sums, left, right)", 32, AssertionError, "lanes 0x7fffffff of the warp"),
        ("cuda.mma(sums, left, right[lane // 16 :])", 32, AssertionError, "lanes 0 and 16 give cuda.mma different views of shared1"),
        ("cuda.mma(sums, left[:, 1:], right)", 32, ValueError, "shared0: rows .* multiples of 16 bytes"),
        ("cuda.mma(sums, left, right[4:, 4:])", 32, ValueError, "shared1: rows .* multiples of 16 bytes"),
    ],
)
def test_checked_mode_looks_at_warps(product: str, block: int, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        cuda.jit(debug=True)(of_one_warp(product))[1, block](np.zeros(64, np.float32))


def test_checked_mode_lets_whole_warps_through() -> None:
    for product, first in (
        ("cuda.mma(sums, left, right)", 16),
        ("if cuda.threadIdx.x >= 32: cuda.mma(sums, left[::-1], right[8:, 8:])", 0),
    ):
        c = np.zeros(64, np.float32)
        cuda.jit(debug=True)(of_one_warp(product))[1, 64](c)
        assert (c[:32] == first).all() and (c[32:] == 16).all()


def test_checked_mode_finds_races_across_products() -> None:
    """A product is no barrier."""
    product = "left[lane // 2, lane % 2] = np.float16(5)\n    cuda.mma(sums, left, right)"
    with pytest.raises(AssertionError, match="data race"):
        cuda.jit(debug=True)(of_one_warp(product))[1, 32](np.zeros(64, np.float32))


@on_tensor_cores
def test_known_distances_of_rows_are_multiples_of_16_bytes() -> None:
    kernel = of_one_warp("cuda.mma(sums, left, right)", 20)
    with weft.device("cuda"), pytest.raises(UnsupportedError, match="multiples of 16 bytes"):
        cuda.jit(kernel)[1, 32](np.zeros(64, np.float32))
    with pytest.raises(ValueError, match=r"shared0: rows .* multiples of 16 bytes"):
        cuda.jit(debug=True)(kernel)[1, 32](np.zeros(64, np.float32))


def test_checked_mode_looks_at_bounds() -> None:
    @cuda.jit(debug=True)
    def too_small(c):
        left = cuda.shared.array((16, 16), np.float16)
        sums = cuda.local.array((1, 1, 4), np.float32)
        if cuda.laneid < 16:
            for i in range(16):
                left[i, cuda.laneid] = np.float16(1)
        for n in range(4):
            sums[0, 0, n] = np.float32(0)
        cuda.syncthreads()
        cuda.mma(sums, left[4:], left)
        c[cuda.laneid] = sums[0, 0, 0]

    with pytest.raises(IndexError, match="12"):
        too_small[1, 32](np.zeros(32))


def refused(body: str, error: type[Exception], match: str, device: str | None = None) -> None:
    """A kernel with this as its product is refused, by its line."""
    lines = [
        "    half = cuda.shared.array((32, 32), np.float16)",
        "    other = cuda.shared.array((32, 32), ml_dtypes.bfloat16)",
        "    wide = cuda.shared.array((32, 32), np.float64)",
        "    flat = cuda.shared.array(32, np.float16)",
        "    own = cuda.local.array((32, 32), np.float16)",
        "    sums = cuda.local.array((1, 2, 4), np.float32)",
        "    halves = cuda.local.array((1, 2, 4), np.float16)",
        "    three = cuda.local.array((1, 2, 3), np.float32)",
        "    many = cuda.local.array((8, 9, 4), np.float32)",
        f"    cuda.mma({body})",
        "    c[0] = 1",
    ]
    source = "\n".join(["def refused_kernel(c):", *lines])
    names: dict[str, Any] = {"cuda": cuda, "np": np, "ml_dtypes": ml_dtypes}
    exec(compile(source, "<refused>", "exec"), names)
    linecache.cache["<refused>"] = (len(source), None, [line + "\n" for line in source.split("\n")], "<refused>")
    kernel = cuda.jit(names["refused_kernel"])
    with weft.device(device) if device else contextlib.nullcontext(), pytest.raises(error, match=match) as caught:
        kernel[1, 32](np.zeros(1, np.float32))
    assert f"cuda.mma({body})" in str(caught.value)


@pytest.mark.parametrize(
    ("body", "match"),
    [
        ("halves, half, half", r"cuda.local.array of shape \(p, q, 4\) of float32"),
        ("half, half, half", r"cuda.local.array of shape \(p, q, 4\) of float32"),
        ("sums[:, 1:], half, half", r"a whole cuda.local.array of shape \(p, q, 4\) of float32, no part of one"),
        ("1.5, half, half", r"cuda.local.array of shape \(p, q, 4\) of float32"),
        ("sums, wide, wide", "float16, bfloat16 and float32, not float64"),
        ("sums, half, other", "of one type"),
        ("sums, half, half, False, False, np.float32", "of one type"),
        ("sums, half, half, False, False, np.int32", "float16, bfloat16 and float32, not int32"),
        ("sums, own, half", "in shared memory"),
        ("sums, half, c", "in shared memory"),
        ("sums, flat, half", "in shared memory"),
        ("sums, half[:, ::2], half", "lies together"),
        ("sums, half.T, half", "lies together"),
        ("sums, half, half, c[0] > 0", "left_transposed of cuda.mma is True or False"),
        ("sums, half, half, right_transposed=2", "right_transposed of cuda.mma is True or False"),
    ],
)
def test_wrong_arguments(body: str, match: str) -> None:
    refused(body, TypingError, match)


@on_tensor_cores
@pytest.mark.parametrize(
    ("body", "match"),
    [("three, half, half", r"shape \(p, q, 4\)"), ("many, half, half", "64 tiles at the most, and these are 8 by 9")],
)
def test_wrong_shapes_of_sums(body: str, match: str) -> None:
    refused(body, UnsupportedError, match, "cuda")


@pytest.mark.parametrize("device", list({d.kind: d.name for d in weft.devices() if d.kind != "cuda"}.values()))
def test_other_devices_have_none(device: str) -> None:
    refused("sums, half, half", UnsupportedError, "cuda.mma takes an NVIDIA GPU", device)


def test_the_host_has_none() -> None:
    @weft.njit
    def host(x):
        cuda.mma(x, x, x)

    with pytest.raises(UnsupportedError, match="exists only in kernels"):
        host(np.zeros((1, 1, 4), np.float32))


def test_older_gpus_have_none() -> None:
    with pytest.raises(UnsupportedError, match=r"compute capability 8\.0 or newer"):
        cuda.compile_ptx(multiplying(np.float16, (1, 1), (False, False), True), (float32[:, ::1], int64[:, ::1], int64[:, ::1]), cc=(7, 5))


@pytest.mark.parametrize("sm", [80, 90, 120])
def test_the_assembler_takes_it(sm: int) -> None:
    named = os.environ.get("WEFT_PTXAS")
    found = [named] if named else sorted(glob.glob(str(Path(sys.prefix, "lib/python3.*/site-packages/nvidia/cu*/bin/ptxas"))))
    if not found:
        pytest.skip("no ptxas here: pip install nvidia-cuda-nvcc")
    for dtype, transposed in itertools.product(DTYPES, itertools.product((False, True), repeat=2)):
        kernel = multiplying(dtype, (1, 3), transposed, True)
        ptx, _ = cuda.compile_ptx(kernel, (float32[:, ::1], int64[:, ::1], int64[:, ::1]), cc=divmod(sm, 10))
        assert ptx.count("mma.sync.aligned") == 3
        command = [found[0], f"-arch=sm_{sm}", "-o", os.devnull, "-"]
        done = subprocess.run(command, input=ptx, text=True, capture_output=True)
        assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{ptx}"
