"""Histogram of 10⁷ bytes into 256 bins: atomics on shared memory, then on global memory."""

import ctypes

import numpy as np
from harness import LIMIT, WEFT, Benchmark, Budget, Contender, Work
from limits import function, load

N = 10_000_000
BINS = 256


def data() -> np.ndarray:
    """Bytes, some values far more frequent than others."""
    return np.minimum(np.random.default_rng(5).exponential(40.0, N), 255.0).astype(np.uint8)


def weft_kernel() -> Work:
    """Every block counts in shared memory, then adds its counts to the result."""
    from weft import cuda

    @cuda.jit
    def histogram(data, bins):
        mine = cuda.shared.array(256, np.int32)
        t = cuda.threadIdx.x
        mine[t] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
            cuda.atomic.add(mine, data[i], 1)
        cuda.syncthreads()
        cuda.atomic.add(bins, t, mine[t])

    values = data()
    bins = np.zeros(BINS, np.int64)
    launch = histogram[64, 256]

    def work() -> np.ndarray:
        bins[:] = 0
        launch(values, bins)
        return bins

    return work


def numba_parallel() -> Work:
    """Every task counts for itself; the counts are added at the end."""
    import numba

    @numba.njit(parallel=True)
    def histogram(data, bins):
        tasks = 64
        counts = np.zeros((tasks, 256), np.int64)
        for t in numba.prange(tasks):
            mine = np.zeros(256, np.int64)
            for i in range(data.size * t // tasks, data.size * (t + 1) // tasks):
                mine[data[i]] += 1
            counts[t] = mine
        for b in range(256):
            s = 0
            for t in range(tasks):
                s += counts[t, b]
            bins[b] = s

    values = data()
    bins = np.zeros(BINS, np.int64)

    def work() -> np.ndarray:
        histogram(values, bins)
        return bins

    return work


def taichi_kernel() -> Work:
    """Atomics on global memory."""
    from peers import taichi

    ti = taichi()

    @ti.kernel
    def histogram(data: ti.types.ndarray(dtype=ti.u8, ndim=1), bins: ti.types.ndarray(dtype=ti.i32, ndim=1)):
        for i in data:
            ti.atomic_add(bins[ti.cast(data[i], ti.i32)], 1)

    values = data()
    bins = np.zeros(BINS, np.int32)

    def work() -> np.ndarray:
        bins[:] = 0
        histogram(values, bins)
        return bins

    return work


def numpy_bincount() -> Work:
    """One core."""
    values = data()
    return lambda: np.bincount(values, minlength=BINS)


def c_loop() -> Work:
    """`limits/kernels.c`."""
    f = function(load("kernels", fast_math=True), "histogram_u8", ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)
    values = data()
    bins = np.zeros(BINS, np.int64)

    def work() -> np.ndarray:
        f(values.ctypes.data, N, bins.ctypes.data)
        return bins

    return work


BENCHMARKS = [
    Benchmark(
        name="histogram",
        title="histogram, 10⁷ bytes, 256 bins, shared atomics",
        contenders=[
            Contender(WEFT, weft_kernel, rank=WEFT, needs="weft"),
            Contender("numba", numba_parallel, needs="numba"),
            Contender("C, OpenMP", c_loop, rank=LIMIT),
            Contender("taichi", taichi_kernel, needs="taichi"),
            Contender("numpy", numpy_bincount),
        ],
        reference=lambda: np.bincount(data(), minlength=BINS),
        check=lambda bins, expected: None if np.array_equal(bins, expected) else "counts differ",
        budgets=[Budget("faster than Numba's parallel version", "numba", 1.0)],
        work=(float(N), "B"),
        seconds=4.0,
    )
]
