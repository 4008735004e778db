"""What threads do together: atomics, shuffles, votes, matches, reductions, barriers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from driver import Module
from unit import C_TYPES, Unit, dtype

N = 512


def atomics() -> Unit:
    """Each operation on one place per warp and lane class: the end value, and that what the threads got back are the values before."""
    unit = Unit("atomics")
    unit.parts += ["#include <cuda_fp16.h>", "#include <cuda_bf16.h>"]
    words = ("int32", "uint32", "uint64")
    operations: dict[str, tuple[tuple[str, ...], Callable[[Any, Any], Any]]] = {
        "Add": ((*words, "float32", "float64", "float16", "bfloat16"), lambda a, b: a + b),
        "Sub": (("int32", "uint32"), lambda a, b: a - b),
        "Min": ((*words, "int64"), min), "Max": ((*words, "int64"), max),
        "And": (words, lambda a, b: a & b), "Or": (words, lambda a, b: a | b), "Xor": (words, lambda a, b: a ^ b),
        "Exch": ((*words, "float32"), lambda a, b: b),
        "Inc": (("uint32",), lambda a, b: type(a)(0) if a >= b else type(a)(a + 1)),
        "Dec": (("uint32",), lambda a, b: b if a == 0 or a > b else type(a)(a - 1)),
    }  # fmt: skip
    for operation, (types, step) in operations.items():
        for t in types:
            for scope in ("", "_block", "_system"):
                if scope and t in ("float16", "bfloat16"):
                    continue
                for space in ("global", "shared"):
                    _atomic(unit, operation, t, scope, space, step)
    for t, c in (("uint16", "unsigned short"), ("uint32", "unsigned"), ("uint64", "unsigned long long")):
        _compare_and_swap(unit, t, c)
    _halves(unit)
    _orders(unit)
    return unit


def _atomic(unit: Unit, operation: str, t: str, scope: str, space: str, step: Callable[[Any, Any], Any]) -> None:
    name, c = f"{operation.lower()}{scope}_{space}_{t}", C_TYPES[t]
    call = f"atomic{operation}{scope}"
    if space == "global":
        body = f"got[i] = {call}(&cells[i % 8], values[i]);"
    else:
        body = (f"__shared__ {c} s[8]; if (threadIdx.x < 8) s[threadIdx.x] = cells[threadIdx.x]; __syncthreads();\n"
                f"  got[i] = {call}(&s[i % 8], values[i]); __syncthreads(); if (threadIdx.x < 8) cells[threadIdx.x] = s[threadIdx.x];")  # fmt: skip
    source = f'extern "C" __global__ void {name}({c}* cells, const {c}* values, {c}* got) {{\n  int i = blockIdx.x * blockDim.x + threadIdx.x; {body}\n}}'

    @unit.add(name, source)
    def check(module: Module) -> None:
        rng, kind = np.random.default_rng(1), dtype(t)
        whole = kind.kind in "iu"
        low = 0 if kind.kind == "u" or not whole else -1000
        # Small whole numbers add exactly in any order.
        values = rng.integers(low, 1000, N).astype(kind) if kind.itemsize > 2 else rng.integers(0, 2, N).astype(kind)
        values = values if operation not in ("Inc", "Dec") else np.full(N, 20, kind)
        cells = rng.integers(0, 50, 8).astype(kind)
        begun, got = cells.copy(), np.zeros(N, kind)
        blocks = 1 if space == "shared" or scope == "_block" else 4
        module.launch(name, blocks, N // blocks, cells, values, got)
        for cell in range(8):
            given = values[cell::8].tolist()
            back = got[cell::8].tolist()
            if operation in ("Add", "Sub"):
                want = begun[cell].item() + (1 if operation == "Add" else -1) * sum(given)
                want %= 1 << 32 if t == "uint32" else 1 << 64
                got_end = cells[cell].item() % (1 << 32 if t == "uint32" else 1 << 64)
                assert got_end == want, (cell, cells[cell], want)
                assert begun[cell] in back
            elif operation in ("Inc", "Dec"):
                seen, value = [], begun[cell]
                for given_value in values[cell::8]:
                    seen.append(int(value))
                    value = step(value, given_value)
                assert sorted(back) == sorted(seen) and cells[cell] == value, (cell, back, seen)
            elif operation == "Exch":
                assert sorted([*back, cells[cell].item()]) == sorted([*given, begun[cell].item()])
            else:
                value = begun[cell]
                for given_value in values[cell::8]:
                    value = step(value, given_value)
                assert cells[cell] == value, (cell, cells[cell], value)
                assert begun[cell] in back


def _compare_and_swap(unit: Unit, t: str, c: str) -> None:
    name = f"cas_{t}"
    source = (
        f'extern "C" __global__ void {name}({c}* cells, {c}* got) {{\n'
        f"  {c} old = cells[threadIdx.x % 4], seen;\n"
        f"  do {{ seen = old; old = atomicCAS(&cells[threadIdx.x % 4], seen, ({c})(seen + 3)); }} while (old != seen);\n  got[threadIdx.x] = old;\n}}"
    )

    @unit.add(name, source)
    def check(module: Module) -> None:
        cells, got = np.array([1, 2, 3, 250], t), np.zeros(128, t)
        begun = cells.copy()
        module.launch(name, 1, 128, cells, got)
        for cell in range(4):
            assert sorted(got[cell::4].tolist()) == [int(begun[cell]) + 3 * i for i in range(32)]
        assert (cells == begun + 96).all()


def _halves(unit: Unit) -> None:
    source = (
        'extern "C" __global__ void add_half2(__half2* cells, __nv_bfloat162* others) {\n'
        "  atomicAdd(&cells[threadIdx.x % 2], __floats2half2_rn(1.f, 2.f)); atomicAdd(&others[threadIdx.x % 2], __floats2bfloat162_rn(1.f, 2.f));\n}"
    )

    @unit.add("add_half2", source)
    def check(module: Module) -> None:
        cells, others = np.zeros(4, np.float16), np.zeros(4, dtype("bfloat16"))
        module.launch("add_half2", 1, 64, cells, others)
        assert cells.tolist() == [32, 64] * 2 and others.tolist() == [32, 64] * 2, (cells, others)


def _orders(unit: Unit) -> None:
    """The compiler's own atomics, with an order and a scope."""
    orders = {"relaxed": "__NV_ATOMIC_RELAXED", "acquire": "__NV_ATOMIC_ACQUIRE", "release": "__NV_ATOMIC_RELEASE", "acq_rel": "__NV_ATOMIC_ACQ_REL",
              "seq_cst": "__NV_ATOMIC_SEQ_CST"}  # fmt: skip
    scopes = {"block": "__NV_THREAD_SCOPE_BLOCK", "device": "__NV_THREAD_SCOPE_DEVICE", "system": "__NV_THREAD_SCOPE_SYSTEM"}
    for order, o in orders.items():
        for scope, s in scopes.items():
            name = f"ordered_{order}_{scope}"
            load, store = (
                ("__NV_ATOMIC_ACQUIRE" if order in ("acq_rel", "release") else o),
                ("__NV_ATOMIC_RELEASE" if order in ("acq_rel", "acquire") else o),
            )
            fence = "__NV_ATOMIC_ACQ_REL" if order == "relaxed" else o
            source = (
                f'extern "C" __global__ void {name}(unsigned* cells, unsigned long long* wide, float* sums, unsigned* got) {{\n'
                f"  got[threadIdx.x] = __nv_atomic_fetch_add(&cells[0], 2u, {o}, {s}); __nv_atomic_max(&cells[1], threadIdx.x, {o}, {s});\n"
                f"  __nv_atomic_fetch_add(&wide[0], 1ull << 33, {o}, {s}); __nv_atomic_fetch_add(&sums[0], 1.5f, {o}, {s});\n"
                f"  unsigned expected = threadIdx.x, wanted = threadIdx.x + 1;\n"
                f"  while (!__nv_atomic_compare_exchange(&cells[2], &expected, &wanted, true, {o}, __NV_ATOMIC_RELAXED, {s})) expected = threadIdx.x;\n"
                f"  unsigned value; __nv_atomic_load(&cells[2], &value, {load}, {s});\n"
                f"  if (threadIdx.x == blockDim.x - 1) __nv_atomic_store(&cells[3], &value, {store}, {s});\n  __nv_atomic_thread_fence({fence}, {s});\n}}"
            )

            @unit.add(name, source)
            def check(module: Module, name: str = name) -> None:
                cells, wide, sums, got = np.zeros(4, np.uint32), np.zeros(1, np.uint64), np.zeros(1, np.float32), np.zeros(64, np.uint32)
                module.launch(name, 1, 64, cells, wide, sums, got)
                assert cells.tolist() == [128, 63, 64, 64] and wide[0] == 64 << 33 and sums[0] == 96, (cells, wide, sums)
                assert sorted(got.tolist()) == list(range(0, 128, 2))


def _shuffled(kind: str, lane: int, by: int, width: int) -> int:
    """The lane that is read; the lane itself where the other is out of its segment."""
    start = lane // width * width
    match kind:
        case "":
            return start + by % width
        case "_up":
            return lane - by if lane - by >= start else lane
        case "_down":
            return lane + by if lane + by < start + width else lane
        case _:
            # A segment may read from those below it, not above.
            return lane ^ by if lane ^ by < start + width else lane


def warps() -> Unit:
    unit = Unit("warps")
    unit.parts.append("#include <cuda_fp16.h>")
    for t in ("int32", "uint32", "int64", "uint64", "float32", "float64", "float16"):
        for kind in ("", "_up", "_down", "_xor"):
            name, c = f"shfl{kind}_{t}", C_TYPES[t]
            calls = "\n".join(
                f"  for (int by = 0; by < 32; by++) r[({k} * 32 + by) * 32 + i] = __shfl{kind}_sync(0xffffffff, a[i], by, {width});"
                for k, width in enumerate((1, 2, 4, 8, 16, 32))
            )
            source = f'extern "C" __global__ void {name}(const {c}* a, {c}* r) {{\n  int i = threadIdx.x;\n{calls}\n}}'

            @unit.add(name, source)
            def check(module: Module, name: str = name, kind: str = kind, t: str = t) -> None:
                a, r = (np.arange(32) * 37 - 100).astype(t), np.zeros((6, 32, 32), t)
                module.launch(name, 1, 32, a, r)
                for k, width in enumerate((1, 2, 4, 8, 16, 32)):
                    for by in range(32):
                        want = a[[_shuffled(kind, lane, by, width) for lane in range(32)]]
                        assert (r[k, by] == want).all(), (width, by, r[k, by], want)

    _votes(unit)
    _divergent(unit)
    return unit


def _votes(unit: Unit) -> None:
    votes = {
        "all": lambda b, m: b[m].all(),
        "any": lambda b, m: b[m].any(),
        "ballot": lambda b, m: sum(1 << int(i) for i in np.flatnonzero(b & m)),
    }
    for name, function in votes.items():
        source = (
            f'extern "C" __global__ void {name}(const int* a, unsigned* r, unsigned members) {{\n'
            f"  if (members >> threadIdx.x & 1) r[threadIdx.x] = __{name}_sync(members, a[threadIdx.x]);\n}}"
        )

        @unit.add(name, source)
        def check(module: Module, name: str = name, function: Any = function) -> None:
            rng = np.random.default_rng(2)
            for members in (0xFFFFFFFF, 0x1, 0xF0F0F0F0, 0x80000001, 0x0000FFFF):
                mask = np.array([members >> i & 1 for i in range(32)], bool)
                for a in (np.zeros(32, np.int32), np.ones(32, np.int32), rng.integers(0, 2, 32, np.int32)):
                    r = np.full(32, 77, np.uint32)
                    module.launch(name, 1, 32, a, r, np.uint32(members))
                    want = np.where(mask, np.uint32(function(a != 0, mask)), 77)
                    assert (r == want).all(), (hex(members), a, r, want)

    for t, c in (("uint32", "unsigned"), ("uint64", "unsigned long long"), ("float32", "float"), ("float64", "double")):
        source = (
            f'extern "C" __global__ void match_{t}(const {c}* a, unsigned* any, unsigned* all, int* holds) {{\n  int i = threadIdx.x, p;\n'
            "  any[i] = __match_any_sync(0xffffffff, a[i]); all[i] = __match_all_sync(0xffffffff, a[i], &p); holds[i] = p;\n}"
        )

        @unit.add(f"match_{t}", source)
        def matches(module: Module, t: str = t) -> None:
            for a in ((np.arange(32) % 5).astype(t), np.full(32, 3, t), (np.arange(32).astype(np.uint64) << 30).astype(t)):
                any_, all_, holds = (np.zeros(32, k) for k in (np.uint32, np.uint32, np.int32))
                module.launch(f"match_{t}", 1, 32, a, any_, all_, holds)
                same = len(set(a.tolist())) == 1
                assert any_.tolist() == [sum(1 << int(j) for j in np.flatnonzero(a == v)) for v in a]
                assert all_.tolist() == [0xFFFFFFFF if same else 0] * 32 and (holds == same).all()

    reductions: dict[str, tuple[str, Callable[[np.ndarray], Any]]] = {
        "add": ("uint32", np.sum), "min": ("uint32", np.min), "max": ("uint32", np.max), "and": ("uint32", np.bitwise_and.reduce),
        "or": ("uint32", np.bitwise_or.reduce), "xor": ("uint32", np.bitwise_xor.reduce), "min_signed": ("int32", np.min),
        "max_signed": ("int32", np.max), "add_signed": ("int32", np.sum),
    }  # fmt: skip
    for name, (t, function) in reductions.items():
        operation = name.split("_")[0]
        source = (
            "#if __CUDA_ARCH__ >= 800\n"
            f'extern "C" __global__ void reduce_{name}(const {C_TYPES[t]}* a, {C_TYPES[t]}* r, unsigned members) {{\n'
            f"  if (members >> threadIdx.x & 1) r[threadIdx.x] = __reduce_{operation}_sync(members, a[threadIdx.x]);\n}}\n"
            f'#else\nextern "C" __global__ void reduce_{name}(const {C_TYPES[t]}* a, {C_TYPES[t]}* r, unsigned members) {{ }}\n#endif'
        )

        @unit.add(f"reduce_{name}", source)
        def reduce(module: Module, name: str = name, t: str = t, function: Any = function) -> None:
            a = np.random.default_rng(3).integers(-(1 << 31), 1 << 31, 32).astype(t)
            for members in (0xFFFFFFFF, 0x0F0F0F0F, 0x4):
                mask = np.array([members >> i & 1 for i in range(32)], bool)
                r = np.zeros(32, t)
                module.launch(f"reduce_{name}", 1, 32, a, r, np.uint32(members))
                # Older generations have no such instruction: nothing is written.
                want = np.where(mask, np.asarray(function(a[mask])).astype(t), 0)
                assert (r == want).all() or not r.any(), (hex(members), r, want)


def _divergent(unit: Unit) -> None:
    source = (
        'extern "C" __global__ void apart(int* r) {\n  int i = threadIdx.x, v;\n'
        "  if (i % 3 == 0) v = __shfl_sync(0x49249249, i * 10, 9); else if (i % 3 == 1) v = __popc(__ballot_sync(0x92492492, i > 10));\n"
        "  else v = __activemask() == 0x24924924;\n  __syncwarp(); r[i] = v + 100 * __shfl_xor_sync(0xffffffff, v, 1);\n}"
    )

    @unit.add("apart", source)
    def check(module: Module) -> None:
        r = np.zeros(32, np.int32)
        module.launch("apart", 1, 32, r)
        i = np.arange(32)
        v = np.where(i % 3 == 0, 90, np.where(i % 3 == 1, sum(1 for k in range(32) if k % 3 == 1 and k > 10), 1))
        assert (r == v + 100 * v[i ^ 1]).all(), r

    source = (
        'extern "C" __global__ void lanes(unsigned* r) {\n  unsigned i = threadIdx.x, a, b, c, d, e, f;\n'
        '  asm("mov.u32 %0, %%laneid;" : "=r"(a)); asm("mov.u32 %0, %%lanemask_lt;" : "=r"(b)); asm("mov.u32 %0, %%lanemask_ge;" : "=r"(c));\n'
        '  asm("mov.u32 %0, %%warpid;" : "=r"(d)); asm("mov.u32 %0, %%lanemask_eq;" : "=r"(e)); asm("mov.u32 %0, %%lanemask_le;" : "=r"(f));\n'
        "  r[i] = a; r[64 + i] = b; r[128 + i] = c; r[192 + i] = d; r[256 + i] = e; r[320 + i] = f;\n}"
    )

    @unit.add("lanes", source)
    def lanes(module: Module) -> None:
        r = np.zeros((6, 64), np.uint32)
        module.launch("lanes", 1, 64, r)
        lane = np.arange(64) % 32
        bit = np.uint32(1) << lane.astype(np.uint32)
        want = [lane, bit - 1, ~(bit - 1), np.arange(64) // 32, bit, bit | bit - 1]
        assert all((r[k] == want[k].astype(np.uint32)).all() for k in range(6)), r


def barriers() -> Unit:
    unit = Unit("barriers")
    for name, function in (("count", np.count_nonzero), ("and", np.all), ("or", np.any)):
        source = (
            f'extern "C" __global__ void sync_{name}(const int* a, int* r) {{ r[threadIdx.x] = __syncthreads_{name}(a[threadIdx.x]); }}'
        )

        @unit.add(f"sync_{name}", source)
        def check(module: Module, name: str = name, function: Any = function) -> None:
            for a in (np.zeros(96, np.int32), np.ones(96, np.int32), np.arange(96, dtype=np.int32) % 7):
                r = np.zeros(96, np.int32)
                module.launch(f"sync_{name}", 1, 96, a, r)
                assert (r == int(function(a))).all() or (name != "count" and ((r != 0) == function(a)).all()), r

    source = (
        'extern "C" __global__ void reverse(const int* a, int* r) {\n  extern __shared__ int s[]; int i = threadIdx.x, n = blockDim.x;\n'
        "  s[i] = a[blockIdx.x * n + i]; __syncthreads(); r[blockIdx.x * n + i] = s[n - 1 - i];\n}"
    )

    @unit.add("reverse", source)
    def reverse(module: Module) -> None:
        a, r = np.arange(400, dtype=np.int32), np.zeros(400, np.int32)
        module.launch("reverse", 4, 100, a, r, shared=400)
        assert (r.reshape(4, 100) == a.reshape(4, 100)[:, ::-1]).all()

    # Half of the warps make values, the other half takes them: barriers with numbers and counts, some only arrive at.
    source = (
        'extern "C" __global__ void hand_over(int* r) {\n  __shared__ int s[64]; int i = threadIdx.x;\n'
        "  for (int round = 0; round < 5; round++) {\n    if (i < 64) {\n"
        '      asm volatile("barrier.sync 2, 128;" ::: "memory"); s[i] = i * 10 + round; __threadfence_block();\n'
        '      asm volatile("barrier.arrive 1, 128;" ::: "memory");\n    } else {\n'
        '      asm volatile("barrier.arrive 2, 128;" ::: "memory"); asm volatile("barrier.sync 1, 128;" ::: "memory");\n'
        "      r[round * 64 + i - 64] = s[127 - i];\n    }\n  }\n}"
    )

    @unit.add("hand_over", source)
    def hand_over(module: Module) -> None:
        r = np.zeros((5, 64), np.int32)
        module.launch("hand_over", 1, 128, r)
        assert all((r[k] == (63 - np.arange(64)) * 10 + k).all() for k in range(5)), r

    source = (
        'extern "C" __global__ void by_halves(const int* a, int* r) {\n  __shared__ int s[128]; int i = threadIdx.x, which = 3 + i / 64, all;\n  s[i] = a[i];\n'
        '  asm volatile("barrier.sync %0, 64;" :: "r"(which) : "memory"); int v = s[i ^ 63];\n'
        '  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; barrier.red.popc.u32 %0, %2, 64, p; }" : "=r"(all) : "r"(a[i]), "r"(which) : "memory");\n'
        "  r[i] = v + 1000 * all;\n}"
    )

    @unit.add("by_halves", source)
    def by_halves(module: Module) -> None:
        a, r = (np.arange(128) % 5).astype(np.int32), np.zeros(128, np.int32)
        module.launch("by_halves", 1, 128, a, r)
        counts = np.repeat([np.count_nonzero(a[:64]), np.count_nonzero(a[64:])], 64)
        assert (r == a[np.arange(128) ^ 63] + 1000 * counts).all(), r

    # A tree of sums, the last block to finish adds the blocks' results.
    source = (
        '__device__ unsigned done; extern "C" __global__ void total(const float* a, volatile float* partial, float* r) {\n'
        "  __shared__ float s[128]; __shared__ bool last; int i = threadIdx.x; s[i] = a[blockIdx.x * 128 + i]; __syncthreads();\n"
        "  for (int k = 64; k > 0; k /= 2) { if (i < k) s[i] += s[i + k]; __syncthreads(); }\n"
        "  if (i == 0) { partial[blockIdx.x] = s[0]; __threadfence(); last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1; }\n"
        "  __syncthreads(); if (last && i == 0) { float t = 0; for (int k = 0; k < gridDim.x; k++) t += partial[k]; *r = t; }\n}"
    )

    @unit.add("total", source)
    def total(module: Module) -> None:
        a, partial, r = np.arange(1024, dtype=np.float32), np.zeros(8, np.float32), np.zeros(1, np.float32)
        for _ in range(2):
            module.launch("total", 8, 128, a, partial, r)
            assert r[0] == a.sum()

    return unit


def units() -> list[Unit]:
    return [atomics(), warps(), barriers()]
