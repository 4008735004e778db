"""Cooperative groups: NVIDIA's headers make shuffles, votes, barriers and a barrier of the grid of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from driver import Module
from unit import Unit

HEAD = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\nnamespace cg = cooperative_groups;"


def tiles() -> Unit:
    unit = Unit("groups", archs=(75, 90))
    unit.parts.append(HEAD)
    for size in (1, 2, 4, 8, 16, 32):
        source = (
            f'extern "C" __global__ void tile_{size}(const int* a, int* r) {{\n'
            f"  auto tile = cg::tiled_partition<{size}>(cg::this_thread_block()); int i = threadIdx.x, v = a[i];\n"
            "  r[i] = tile.shfl(v, 0); r[64 + i] = tile.shfl_down(v, 1); r[128 + i] = tile.shfl_up(v, 1); r[192 + i] = tile.shfl_xor(v, 1);\n"
            "  r[256 + i] = tile.any(v > 50); r[320 + i] = tile.all(v > 5); r[384 + i] = tile.ballot(v % 2); r[448 + i] = tile.match_any(v % 3);\n"
            "  tile.sync(); r[512 + i] = cg::reduce(tile, v, cg::plus<int>()); r[576 + i] = cg::reduce(tile, v, cg::less<int>());\n"
            "  r[640 + i] = cg::inclusive_scan(tile, v, cg::plus<int>()); r[704 + i] = tile.thread_rank() + 100 * tile.meta_group_rank() + 10000 * tile.size();\n}"
        )

        @unit.add(f"tile_{size}", source)
        def check(module: Module, size: int = size) -> None:
            a, r = (np.arange(64) * 7 % 61).astype(np.int32), np.zeros((12, 64), np.int32)
            module.launch(f"tile_{size}", 1, 64, a, r)
            t, rank = a.reshape(-1, size), np.arange(64) % size
            i = np.arange(64)

            def spread(values: Any) -> np.ndarray:
                return np.repeat(np.asarray(values), size)

            def ballot(bits: np.ndarray) -> np.ndarray:
                return (bits.astype(np.int64) << np.arange(size)).sum(-1).astype(np.uint32).view(np.int32)

            matches = [ballot(row % 3 == v % 3) for row in t for v in row]
            want = [spread(t[:, 0]), np.where(rank + 1 < size, a[np.minimum(i + 1, 63)], a), np.where(rank > 0, a[i - 1], a),
                    a[i ^ 1] if size > 1 else a, spread((t > 50).any(1)), spread((t > 5).all(1)), spread(ballot(t % 2)), matches,
                    spread(t.sum(1)), spread(t.min(1)), np.cumsum(t, 1).ravel(), rank + 100 * (i // size) + 10000 * size]  # fmt: skip
            for k, row in enumerate(want):
                got = r[k] != 0 if k in (4, 5) else r[k]
                assert (got == np.asarray(row).astype(got.dtype)).all(), (size, k, r[k], row)

    source = (
        'extern "C" __global__ void coalesced(const int* a, int* r) {\n  int i = threadIdx.x; r[i] = -1;\n'
        "  if (a[i] % 3 == 0) { auto g = cg::coalesced_threads(); int v = g.shfl(a[i], g.size() - 1);\n"
        "    r[i] = v + 1000 * g.thread_rank() + 100000 * g.size(); r[32 + i] = cg::reduce(g, a[i], cg::plus<int>()); r[64 + i] = g.shfl_down(a[i], 1); }\n}"
    )

    @unit.add("coalesced", source)
    def coalesced(module: Module) -> None:
        a, r = (np.arange(32) * 5 % 31).astype(np.int32), np.zeros((3, 32), np.int32)
        module.launch("coalesced", 1, 32, a, r)
        at = np.flatnonzero(a % 3 == 0)
        want = np.full(32, -1)
        want[at] = a[at[-1]] + 1000 * np.arange(len(at)) + 100000 * len(at)
        assert (r[0] == want).all(), (r[0], want)
        assert (r[1][at] == a[at].sum()).all() and (r[2][at[:-1]] == a[at[1:]]).all(), r

    source = (
        "#if __CUDA_ARCH__ >= 700\n"
        'extern "C" __global__ void labelled(const int* a, int* r) {\n  auto tile = cg::tiled_partition<32>(cg::this_thread_block()); int i = threadIdx.x;\n'
        "  auto g = cg::labeled_partition(tile, a[i] % 4); r[i] = g.size() + 100 * g.thread_rank();\n"
        "  auto h = cg::binary_partition(tile, a[i] > 10); r[32 + i] = h.size() + 100 * h.thread_rank();\n}\n#endif"
    )

    @unit.add("labelled", source)
    def labelled(module: Module) -> None:
        a, r = (np.arange(32) * 5 % 31).astype(np.int32), np.zeros((2, 32), np.int32)
        module.launch("labelled", 1, 32, a, r)
        for k, label in enumerate((a % 4, a > 10)):
            want = [int((label == v).sum()) + 100 * int((label[:i] == v).sum()) for i, v in enumerate(label)]
            assert (r[k] == want).all(), (r[k], want)

    source = (
        'extern "C" __global__ void invoked(int* r) {\n  auto block = cg::this_thread_block(); __shared__ int s[96]; int i = block.thread_rank(); s[i] = i;\n'
        "  cg::sync(block); auto part = cg::tiled_partition(block, 16);\n"
        "  r[i] = s[95 - i] + 1000 * part.thread_rank(); if (i == 0) r[96] = block.size() + 1000 * block.group_dim().y; block.sync();\n}"
    )

    @unit.add("invoked", source)
    def invoked(module: Module) -> None:
        r = np.zeros(97, np.int32)
        module.launch("invoked", 1, (48, 2), r)
        i = np.arange(96)
        assert (r[:96] == 95 - i + 1000 * (i % 16)).all() and r[96] == 2096, r

    return unit


def grids() -> Unit:
    """A barrier of all blocks, which the driver gives a word of memory."""
    unit = Unit("groups-grid", archs=(90,))
    unit.parts.append(HEAD)
    source = (
        'extern "C" __global__ void rounds(int* a, int n) {\n  auto grid = cg::this_grid(); int i = grid.thread_rank();\n'
        "  for (int k = 1; k <= 4; k++) { int v = a[(i + 37 * k) % n]; grid.sync(); a[i] += v; grid.sync(); }\n"
        "  if (i == 0) a[n] = grid.size() + 100000 * grid.is_valid();\n}"
    )

    @unit.add("rounds", source)
    def rounds(module: Module) -> None:
        n = 256
        a = np.arange(n + 1, dtype=np.int32)
        want = a[:n].copy()
        module.launch("rounds", 4, 64, a, np.int32(n), cooperative=True)
        for k in range(1, 5):
            want = want + np.roll(want, -37 * k)
        assert (a[:n] == want).all() and a[n] == 100256, (a, want)

    return unit


def copies() -> Unit:
    """Copies to shared memory that go on while threads do something else."""
    unit = Unit("groups-copies", archs=(80, 90), debug=False)
    unit.parts += [HEAD, "#include <cooperative_groups/memcpy_async.h>\n#include <cuda_pipeline_primitives.h>"]
    source = (
        'extern "C" __global__ void copied(const int* a, int* r) {\n  __shared__ __align__(16) int s[256]; auto block = cg::this_thread_block();\n'
        "  cg::memcpy_async(block, s, a + 256 * blockIdx.x, sizeof(s)); cg::wait(block); int i = threadIdx.x;\n"
        "  for (int k = i; k < 256; k += 64) r[256 * blockIdx.x + k] = s[255 - k];\n}"
    )

    @unit.add("copied", source)
    def copied(module: Module) -> None:
        a, r = np.arange(512, dtype=np.int32), np.zeros(512, np.int32)
        module.launch("copied", 2, 64, a, r)
        assert (r.reshape(2, 256) == a.reshape(2, 256)[:, ::-1]).all()

    source = (
        'extern "C" __global__ void piped(const float* a, float* r) {\n  __shared__ float s[2][64]; int i = threadIdx.x; float t = 0;\n'
        "  __pipeline_memcpy_async(&s[0][i], &a[i], 4); __pipeline_commit();\n"
        "  for (int k = 0; k < 8; k++) { if (k < 7) __pipeline_memcpy_async(&s[(k + 1) % 2][i], &a[64 * (k + 1) + i], 4); __pipeline_commit();\n"
        "    __pipeline_wait_prior(1); __syncthreads(); t += s[k % 2][63 - i]; __syncthreads(); }\n  r[i] = t;\n}"
    )

    @unit.add("piped", source)
    def piped(module: Module) -> None:
        a, r = np.arange(512, dtype=np.float32), np.zeros(64, np.float32)
        module.launch("piped", 1, 64, a, r)
        assert (r == a.reshape(8, 64).sum(0)[::-1]).all()

    return unit


def units() -> list[Unit]:
    return [tiles(), grids(), copies()]
