"""A warm launch: one block of 32 threads, three small arrays. What a call costs before any work is done."""

import numpy as np
from harness import WEFT, Benchmark, Budget, Contender, Work

THREADS = 32
CALLS = 2000


def data() -> tuple[np.ndarray, ...]:
    """Two inputs and an output."""
    return np.arange(THREADS, dtype=np.float64), np.full(THREADS, 2.0), np.zeros(THREADS)


def weft_kernel() -> Work:
    """`kernel[blocks, threads](...)`, as one writes it."""
    from weft import cuda

    @cuda.jit
    def add(a, b, c):
        i = cuda.threadIdx.x
        c[i] = a[i] + b[i]

    a, b, c = data()

    def work() -> np.ndarray:
        add[1, THREADS](a, b, c)
        return c

    return work


def weft_bound() -> Work:
    """The launch configuration bound beforehand."""
    from weft import cuda

    @cuda.jit
    def add(a, b, c):
        i = cuda.threadIdx.x
        c[i] = a[i] + b[i]

    a, b, c = data()
    launch = add[1, THREADS]

    def work() -> np.ndarray:
        launch(a, b, c)
        return c

    return work


def numba_call(parallel: bool) -> Work:
    """A jitted loop."""
    import numba

    @numba.njit(parallel=parallel)
    def add(a, b, c):
        for i in numba.prange(a.size):
            c[i] = a[i] + b[i]

    a, b, c = data()

    def work() -> np.ndarray:
        add(a, b, c)
        return c

    return work


def taichi_kernel() -> Work:
    """Taichi's CPU back end."""
    from peers import taichi

    ti = taichi()
    array = ti.types.ndarray(dtype=ti.f64, ndim=1)

    @ti.kernel
    def add(a: array, b: array, c: array):
        for i in range(THREADS):
            c[i] = a[i] + b[i]

    a, b, c = data()

    def work() -> np.ndarray:
        add(a, b, c)
        return c

    return work


def warp_kernel() -> Work:
    """Warp's CPU back end, on its own arrays."""
    from peers import warp

    wp = warp()

    @wp.kernel
    def add(a: wp.array(dtype=wp.float64), b: wp.array(dtype=wp.float64), c: wp.array(dtype=wp.float64)):
        i = wp.tid()
        c[i] = a[i] + b[i]

    a, b, c = (wp.array(v, dtype=wp.float64, device="cpu") for v in data())
    host = c.numpy()  # the same memory

    def work() -> np.ndarray:
        wp.launch(add, dim=THREADS, inputs=[a, b, c], device="cpu")
        return host

    return work


def jax_call() -> Work:
    """A jitted addition; the result is a new array."""
    from peers import jax

    jax_ = jax()
    add = jax_.jit(lambda a, b: a + b)
    a, b = (jax_.numpy.asarray(v) for v in data()[:2])
    return lambda: add(a, b).block_until_ready()


def numpy_call() -> Work:
    """`np.add` with an output."""
    a, b, c = data()
    return lambda: np.add(a, b, out=c)


BENCHMARKS = [
    Benchmark(
        name="launch",
        title="warm launch, one block, three arrays",
        contenders=[
            Contender(WEFT, weft_kernel, rank=WEFT, needs="weft"),
            Contender("weft, bound", weft_bound, rank=WEFT, needs="weft"),
            Contender("numba (no threads)", lambda: numba_call(False), needs="numba"),
            Contender("numba", lambda: numba_call(True), needs="numba"),
            Contender("taichi", taichi_kernel, needs="taichi"),
            Contender("warp", warp_kernel, needs="warp"),
            Contender("jax", jax_call, needs="jax"),
            Contender("numpy", numpy_call),
        ],
        reference=lambda: data()[0] + 2.0,
        check=lambda c, expected: None if np.array_equal(np.asarray(c), expected) else "elements differ",
        budgets=[Budget("at most 2 µs", absolute=2e-6)],
        inner=CALLS,
        seconds=3.0,
    )
]
