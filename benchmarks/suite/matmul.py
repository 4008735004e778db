"""Tiled matrix product, 1024 x 1024, float32: shared memory and a barrier in a loop. The textbook's kernel, no BLAS."""

import ctypes

import numpy as np
from harness import LIMIT, WEFT, Benchmark, Budget, Contender, Work
from limits import function, load

N = 1024
TILE = 16


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a, b, and room for c."""
    rng = np.random.default_rng(4)
    return rng.random((N, N), np.float32), rng.random((N, N), np.float32), np.zeros((N, N), np.float32)


def weft_kernel(tile: int) -> Work:
    """Each block brings tiles of a and b to shared memory."""
    from weft import cuda

    @cuda.jit
    def matmul(a, b, c):
        sa = cuda.shared.array((tile, tile), np.float32)
        sb = cuda.shared.array((tile, tile), np.float32)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        col, row = cuda.grid(2)
        s = np.float32(0)
        for t in range(a.shape[1] // tile):
            sa[ty, tx] = a[row, t * tile + tx]
            sb[ty, tx] = b[t * tile + ty, col]
            cuda.syncthreads()
            for k in range(tile):
                s += sa[ty, k] * sb[k, tx]
            cuda.syncthreads()
        c[row, col] = s

    a, b, c = data()
    launch = matmul[(N // tile, N // tile), (tile, tile)]

    def work() -> np.ndarray:
        launch(a, b, c)
        return c

    return work


def numba_rows() -> Work:
    """Rows on threads, loops in the order that vectorises."""
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def matmul(a, b, c):
        for i in numba.prange(c.shape[0]):
            c[i, :] = 0
            for k in range(a.shape[1]):
                f = a[i, k]
                for j in range(c.shape[1]):
                    c[i, j] += f * b[k, j]

    return numba_work(matmul)


def numba_tiled() -> Work:
    """The same tiles as the kernel, a block of the result per task."""
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def matmul(a, b, c):
        blocks = c.shape[0] // TILE
        for block in numba.prange(blocks * blocks):
            r0 = block // blocks * TILE
            c0 = block % blocks * TILE
            acc = np.zeros((TILE, TILE), np.float32)
            for t in range(a.shape[1] // TILE):
                sa = a[r0 : r0 + TILE, t * TILE : (t + 1) * TILE].copy()
                sb = b[t * TILE : (t + 1) * TILE, c0 : c0 + TILE].copy()
                for y in range(TILE):
                    for k in range(TILE):
                        for x in range(TILE):
                            acc[y, x] += sa[y, k] * sb[k, x]
            c[r0 : r0 + TILE, c0 : c0 + TILE] = acc

    return numba_work(matmul)


def numba_work(matmul) -> Work:
    """Run a compiled product."""
    a, b, c = data()

    def work() -> np.ndarray:
        matmul(a, b, c)
        return c

    return work


def numpy_blas() -> Work:
    """OpenBLAS, for orientation."""
    a, b, c = data()
    return lambda: np.matmul(a, b, out=c)


def c_loops() -> Work:
    """`limits/kernels.c`."""
    f = function(load("kernels", fast_math=True), "matmul_f32", *[ctypes.c_void_p] * 3, ctypes.c_int)
    a, b, c = data()

    def work() -> np.ndarray:
        f(a.ctypes.data, b.ctypes.data, c.ctypes.data, N)
        return c

    return work


BENCHMARKS = [
    Benchmark(
        name="matmul",
        title=f"tiled matmul, {N}², float32, shared memory",
        contenders=[
            Contender(WEFT, lambda: weft_kernel(TILE), rank=WEFT, needs="weft"),
            Contender("weft, tiles of 32", lambda: weft_kernel(32), rank=WEFT, needs="weft"),
            Contender("numba", numba_rows, needs="numba"),
            Contender("numba, tiled", numba_tiled, needs="numba"),
            Contender("C, OpenMP", c_loops, rank=LIMIT),
            Contender("numpy (BLAS)", numpy_blas),
        ],
        reference=lambda: data()[0].astype(np.float64) @ data()[1],
        check=lambda c, expected: None if np.allclose(c, expected, rtol=1e-4) else "elements differ",
        budgets=[
            Budget("faster than Numba's parallel loops", "numba", 1.0),
            Budget("faster than Numba's parallel tiles", "numba, tiled", 1.0),
        ],
        work=(2.0 * N**3, "flop"),
    )
]
