"""Memory and control: vectors, caches, constants, local arrays, calls, tables of branches, printing."""

from __future__ import annotations

import numpy as np
from driver import Failed, Module
from unit import Unit


def accesses() -> Unit:
    unit = Unit("memory")
    vectors = {"char4": ("int8", 4), "uchar2": ("uint8", 2), "short4": ("int16", 4), "ushort2": ("uint16", 2), "int2": ("int32", 2), "uint4": ("uint32", 4),
               "int3": ("int32", 3), "longlong2": ("int64", 2), "float4": ("float32", 4), "double2": ("float64", 2)}  # fmt: skip
    for vector, (t, n) in vectors.items():
        swap = "v.x = v.y; v.y = x;" if n == 2 else "v.x = v.z; v.z = x;"
        source = f'extern "C" __global__ void swap_{vector}(const {vector}* a, {vector}* r) {{ {vector} v = a[threadIdx.x]; auto x = v.x; {swap} r[threadIdx.x] = v; }}'

        @unit.add(f"swap_{vector}", source)
        def check(module: Module, vector: str = vector, t: str = t, n: int = n) -> None:
            a = np.arange(64 * n).astype(t).reshape(64, n)
            r = np.zeros_like(a)
            module.launch(f"swap_{vector}", 1, 64, a, r)
            order = [1, 0] if n == 2 else [2, 1, 0, 3][:n]
            assert (r == a[:, order]).all()

    loads = {
        "ldg": "__ldg(p)",
        "ldcg": "__ldcg(p)",
        "ldca": "__ldca(p)",
        "ldcs": "__ldcs(p)",
        "ldlu": "__ldlu(p)",
        "ldcv": "__ldcv(p)",
        "ldvolatile": "*(volatile const int*)p",
    }
    stores = {"stwb": "__stwb(q, v)", "stcg": "__stcg(q, v)", "stcs": "__stcs(q, v)", "stwt": "__stwt(q, v)"}
    for (load, l), store in zip(loads.items(), [*stores.values(), *stores.values()]):
        source = f'extern "C" __global__ void {load}(const int* a, int* r) {{ const int* p = a + threadIdx.x; int* q = r + threadIdx.x; int v = {l} * 2; {store}; }}'

        @unit.add(load, source)
        def cached(module: Module, load: str = load) -> None:
            a, r = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
            module.launch(load, 1, 64, a, r)
            assert (r == 2 * a).all()

    source = (
        "__constant__ int squares[5] = {0, 1, 4, 9, 16}; __device__ float table[3] = {0.5f, 1.5f, 2.5f}; __device__ int* into = (int*)table;\n"
        'extern "C" __global__ void constants(int* r, int n) { int i = threadIdx.x; r[i] = squares[i % 5] + (int)(table[i % 3] * 10) + into[i % n]; }'
    )

    @unit.add("constants", source)
    def constants(module: Module) -> None:
        r = np.zeros(30, np.int32)
        module.launch("constants", 1, 30, r, np.int32(3))
        i, table = np.arange(30), np.array([0.5, 1.5, 2.5], np.float32)
        assert (r == (i % 5) ** 2 + (table[i % 3] * 10).astype(int) + table.view(np.int32)[i % 3]).all()

    source = (
        'struct Pair { double a; char b; short c[3]; float d; }; extern "C" __global__ void local(const int* at, int* r, Pair p) {\n'
        "  int s[16]; for (int k = 0; k < 16; k++) s[k] = k * k + p.c[k % 3]; int i = threadIdx.x; s[at[i] % 16] += 1000; r[i] = s[at[15 - i] % 16] + p.b + (int)p.d + (int)p.a;\n}"
    )

    @unit.add("local", source)
    def local(module: Module) -> None:
        pair = np.array([(7.0, 3, [1, 2, 3], 4.5)], np.dtype([("a", "f8"), ("b", "i1"), ("c", "i2", 3), ("d", "f4")], align=True))
        at, r = np.arange(16, dtype=np.int32) * 5 % 16, np.zeros(16, np.int32)
        module.launch("local", 1, 16, at.astype(np.int32), r, pair[0])
        k = np.arange(16)
        squares = k * k + np.array([1, 2, 3])[k % 3]
        want = squares[at[15 - k]] + 1000 * (at[15 - k] == at) + 3 + 4 + 7
        assert (r == want).all(), (r, want)

    source = (
        'extern "C" __global__ void spaces(int* g, int* r) {\n  __shared__ int s[4]; int l[4] = {1, 2, 3, 4}; int i = threadIdx.x; s[i % 4] = 10; __syncthreads();\n'
        "  int* p = i % 3 == 0 ? g : i % 3 == 1 ? s : l; r[i] = p[i % 4] + 100 * __isShared(p) + 1000 * __isGlobal(p) + 10000 * __isLocal(p);\n"
        "  memset(l, 1, 9); memcpy(l, g, 3); r[32 + i] = l[i % 3]; unsigned a = __cvta_generic_to_shared(&s[i % 4]);\n"
        '  int v; asm volatile("ld.shared.b32 %0, [%1];" : "=r"(v) : "r"(a)); r[64 + i] = v;\n}'
    )

    @unit.add("spaces", source)
    def spaces(module: Module) -> None:
        g, r = np.array([7, 8, 9, 10], np.int32), np.zeros((3, 32), np.int32)
        module.launch("spaces", 1, 32, g, r)
        i = np.arange(32)
        want = np.where(i % 3 == 0, 7 + i % 4 + 1000, np.where(i % 3 == 1, 10 + 100, 1 + i % 4 + 10000))
        filled = np.array([7 | 1 << 24, 0x01010101, 1 | 3 & ~255], np.int64)
        assert (r[0] == want).all() and (r[1] == filled[i % 3]).all() and (r[2] == 10).all(), r

    return unit


def control() -> Unit:
    unit = Unit("control")
    source = (
        "__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
        'extern "C" __global__ void recursion(int* r) { r[threadIdx.x] = fib(threadIdx.x % 12); }'
    )

    @unit.add("recursion", source)
    def recursion(module: Module) -> None:
        r, fib = np.zeros(32, np.int32), [0, 1]
        module.launch("recursion", 1, 32, r)
        while len(fib) < 12:
            fib.append(fib[-1] + fib[-2])
        assert r.tolist() == [fib[i % 12] for i in range(32)]

    source = (
        "__device__ float twice(float x) { return 2 * x; } __device__ float square(float x) { return x * x; } __device__ float negate(float x) { return -x; }\n"
        "typedef float (*Function)(float); __device__ Function functions[3] = {twice, square, negate};\n"
        'extern "C" __global__ void pointers(float* r) { int i = threadIdx.x; r[i] = functions[i % 3]((float)i); }'
    )

    @unit.add("pointers", source)
    def pointers(module: Module) -> None:
        r, i = np.zeros(33, np.float32), np.arange(33)
        module.launch("pointers", 1, 33, r)
        assert (r == np.where(i % 3 == 0, 2 * i, np.where(i % 3 == 1, i * i, -i))).all()

    source = (
        "struct Shape { int k; __device__ Shape(int k) : k(k) {} __device__ virtual int area(int x) const { return x; } };\n"
        "struct Box : Shape { __device__ Box(int k) : Shape(k) {} __device__ int area(int x) const override { return x * x + k; } };\n"
        'extern "C" __global__ void virtuals(int* r) { int i = threadIdx.x; Shape a(1); Box b(2); const Shape* s = i % 2 ? &a : (const Shape*)&b; r[i] = s->area(i); }'
    )

    @unit.add("virtuals", source)
    def virtuals(module: Module) -> None:
        r, i = np.zeros(32, np.int32), np.arange(32)
        module.launch("virtuals", 1, 32, r)
        assert (r == np.where(i % 2, i, i * i + 2)).all()

    cases = "\n".join(f"    case {k}: v = x * {k + 3} + {k * k % 7}; break;" for k in range(14))
    source = f'extern "C" __global__ void table(const int* a, int* r) {{\n  int i = threadIdx.x, x = a[i], v = -1;\n  switch (i % 17) {{\n{cases}\n  }}\n  r[i] = v;\n}}'

    @unit.add("table", source)
    def table(module: Module) -> None:
        a, r, i = np.arange(64, dtype=np.int32) * 11, np.zeros(64, np.int32), np.arange(64)
        module.launch("table", 1, 64, a, r)
        k = i % 17
        assert (r == np.where(k < 14, a * (k + 3) + k * k % 7, -1)).all()

    source = (
        'extern "C" __global__ void paths(const int* a, int* r) {\n  int i = threadIdx.x, n = a[i], steps = 0;\n'
        "  while (n != 1) { if (n % 2) n = 3 * n + 1; else n /= 2; if (++steps > 500) break; if (steps == 40) continue; }\n"
        "  for (int k = 0; k < i % 5; k++) { if (k == 3) return; steps += 1000; }\n  r[i] = steps;\n}"
    )

    @unit.add("paths", source)
    def paths(module: Module) -> None:
        a, r = np.arange(1, 97, dtype=np.int32), np.full(96, -1, np.int32)
        module.launch("paths", 1, 96, a, r)

        def steps(n: int) -> int:
            count = 0
            while n != 1:
                n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
            return count

        assert r.tolist() == [-1 if i % 5 == 4 else steps(i + 1) + 1000 * (i % 5) for i in range(96)]

    source = 'extern "C" __global__ void prints(int* r) { r[0] = printf("%d %s %.1f %c\\n", 42, "said", 1.5, \'x\'); }'

    @unit.add("prints", source)
    def prints(module: Module) -> None:
        r = np.zeros(1, np.int32)
        module.launch("prints", 1, 1, r)
        assert r[0] == 4

    source = (
        'extern "C" __global__ void timed(unsigned long long* r) {\n  long long a = clock64(); unsigned b = clock(); unsigned long long t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));\n'
        "  __nanosleep(100); r[0] = clock64() >= a; r[1] = t > 0; r[2] = b * 0 + 1; __threadfence(); __threadfence_system();\n}"
    )

    @unit.add("timed", source)
    def timed(module: Module) -> None:
        r = np.zeros(3, np.uint64)
        module.launch("timed", 1, 1, r)
        assert (r == 1).all()

    source = 'extern "C" __global__ void __launch_bounds__(64, 2) bounded(int* r) { r[threadIdx.x] = threadIdx.y + gridDim.x * 10 + blockDim.y * 100 + gridDim.z * 1000; }'

    @unit.add("bounded", source)
    def bounded(module: Module) -> None:
        r = np.zeros(64, np.int32)
        module.launch("bounded", (2, 1, 3), (64, 1), r)
        assert (r == 3120).all()
        try:
            module.launch("bounded", 1, 96, r)
        except Failed as error:
            assert "cuLaunchKernel: 1" in str(error), error
        else:
            raise AssertionError("a launch over __launch_bounds__ was taken")

    return unit


def units() -> list[Unit]:
    return [accesses(), control()]
