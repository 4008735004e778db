"""Loops bound by memory: saxpy (float32) and triad (float64) on 10⁷ elements."""

import ctypes

import numpy as np
from harness import LIMIT, WEFT, Benchmark, Budget, Contender, Work
from limits import function, load

N = 10_000_000
A = 2.5e-3
POINTER, LONG = ctypes.c_void_p, ctypes.c_ssize_t


def saxpy_data() -> tuple[np.ndarray, np.ndarray]:
    """x, and y = 0. Every call adds a x to y; a check divides by the number of calls."""
    return np.random.default_rng(1).random(N, np.float32), np.zeros(N, np.float32)


def triad_data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """b, c, and room for a."""
    rng = np.random.default_rng(2)
    return rng.random(N), rng.random(N), np.zeros(N)


def weft_saxpy() -> Work:
    """A kernel of one thread an element."""
    from weft import cuda

    @cuda.jit
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = a * x[i] + y[i]

    x, y = saxpy_data()
    launch = saxpy.forall(N)

    def work() -> np.ndarray:
        launch(A, x, y)
        return y

    return work


def weft_triad() -> Work:
    """A loop over elements on all cores."""
    import weft

    @weft.njit(parallel=True)
    def triad(s, b, c, a):
        for i in weft.prange(a.size):
            a[i] = b[i] + s * c[i]

    b, c, a = triad_data()

    def work() -> np.ndarray:
        triad(A, b, c, a)
        return a

    return work


def weft_triad_kernel() -> Work:
    """A kernel of one thread an element."""
    from weft import cuda

    @cuda.jit
    def triad(s, b, c, a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = b[i] + s * c[i]

    b, c, a = triad_data()
    launch = triad.forall(N)

    def work() -> np.ndarray:
        launch(A, b, c, a)
        return a

    return work


def numba_saxpy() -> Work:
    """Elements on threads."""
    import numba

    @numba.njit(parallel=True)
    def saxpy(a, x, y):
        for i in numba.prange(x.size):
            y[i] = a * x[i] + y[i]

    x, y = saxpy_data()

    def work() -> np.ndarray:
        saxpy(np.float32(A), x, y)
        return y

    return work


def numba_triad() -> Work:
    """Elements on threads."""
    import numba

    @numba.njit(parallel=True)
    def triad(s, b, c, a):
        for i in numba.prange(a.size):
            a[i] = b[i] + s * c[i]

    b, c, a = triad_data()

    def work() -> np.ndarray:
        triad(A, b, c, a)
        return a

    return work


def taichi_saxpy() -> Work:
    """Taichi's CPU back end."""
    from peers import taichi

    ti = taichi()

    @ti.kernel
    def saxpy(a: ti.f32, x: ti.types.ndarray(dtype=ti.f32, ndim=1), y: ti.types.ndarray(dtype=ti.f32, ndim=1)):
        for i in x:
            y[i] = a * x[i] + y[i]

    x, y = saxpy_data()

    def work() -> np.ndarray:
        saxpy(A, x, y)
        return y

    return work


def taichi_triad() -> Work:
    """Taichi's CPU back end."""
    from peers import taichi

    ti = taichi()
    array = ti.types.ndarray(dtype=ti.f64, ndim=1)

    @ti.kernel
    def triad(s: ti.f64, b: array, c: array, a: array):
        for i in a:
            a[i] = b[i] + s * c[i]

    b, c, a = triad_data()

    def work() -> np.ndarray:
        triad(A, b, c, a)
        return a

    return work


def jax_triad() -> Work:
    """XLA; the result is a new array each call."""
    from peers import jax

    jax_ = jax()
    compiled = jax_.jit(lambda s, b, c: b + s * c)
    b, c = (jax_.numpy.asarray(v) for v in triad_data()[:2])
    return lambda: np.asarray(compiled(A, b, c).block_until_ready())


def numexpr_triad() -> Work:
    """NumExpr's blocks on threads."""
    import numexpr as ne

    b, c, a = triad_data()
    return lambda: ne.evaluate("b + s * c", local_dict={"b": b, "c": c, "s": A}, out=a)


def numexpr_saxpy() -> Work:
    """NumExpr's blocks on threads."""
    import numexpr as ne

    x, y = saxpy_data()
    return lambda: ne.evaluate("a * x + y", local_dict={"x": x, "y": y, "a": np.float32(A)}, out=y)


def numpy_triad() -> Work:
    """Two passes, no temporary."""
    b, c, a = triad_data()

    def work() -> np.ndarray:
        np.multiply(c, A, out=a)
        return np.add(a, b, out=a)

    return work


def numpy_saxpy() -> Work:
    """Two passes and one temporary kept over calls."""
    x, y = saxpy_data()
    t = np.empty_like(x)

    def work() -> np.ndarray:
        np.multiply(x, np.float32(A), out=t)
        return np.add(y, t, out=y)

    return work


def c_saxpy() -> Work:
    """`limits/streams.c`."""
    f = function(load("streams"), "saxpy_f32", ctypes.c_float, POINTER, POINTER, LONG)
    x, y = saxpy_data()

    def work() -> np.ndarray:
        f(A, x.ctypes.data, y.ctypes.data, N)
        return y

    return work


def c_triad() -> Work:
    """`limits/streams.c`."""
    f = function(load("streams"), "triad_f64", ctypes.c_double, POINTER, POINTER, POINTER, LONG)
    b, c, a = triad_data()

    def work() -> np.ndarray:
        f(A, b.ctypes.data, c.ctypes.data, a.ctypes.data, N)
        return a

    return work


def close(out: np.ndarray, expected: np.ndarray) -> str | None:
    """Equal to rounding."""
    return None if np.allclose(out, expected, rtol=1e-6, atol=0) else "elements differ"


def saxpy_expected() -> np.ndarray:
    """After the first call."""
    x, _ = saxpy_data()
    return np.float32(A) * x


def triad_expected() -> np.ndarray:
    """b + s c."""
    b, c, _ = triad_data()
    return b + A * c


# "95 % of what the same loop in C moves" is 1 / 0.95 of its time.
MOVES = Budget("moves at least 95 % of what the same loop in C with OpenMP moves", LIMIT, 1 / 0.95)

BENCHMARKS = [
    Benchmark(
        name="saxpy",
        title="saxpy, 10⁷ elements, float32",
        contenders=[
            Contender(WEFT, weft_saxpy, rank=WEFT, needs="weft"),
            Contender("C, OpenMP", c_saxpy, rank=LIMIT),
            Contender("numba", numba_saxpy, needs="numba"),
            Contender("taichi", taichi_saxpy, needs="taichi"),
            Contender("numexpr", numexpr_saxpy, needs="numexpr"),
            Contender("numpy", numpy_saxpy),
        ],
        reference=saxpy_expected,
        check=close,
        budgets=[MOVES],
        work=(3 * 4.0 * N, "B"),
    ),
    Benchmark(
        name="triad",
        title="triad, 10⁷ elements, float64",
        contenders=[
            Contender(WEFT, weft_triad_kernel, rank=WEFT, needs="weft"),
            Contender("weft prange", weft_triad, rank=WEFT, needs="weft"),
            Contender("C, OpenMP", c_triad, rank=LIMIT),
            Contender("numba", numba_triad, needs="numba"),
            Contender("taichi", taichi_triad, needs="taichi"),
            Contender("jax", jax_triad, needs="jax"),
            Contender("numexpr", numexpr_triad, needs="numexpr"),
            Contender("numpy", numpy_triad),
        ],
        reference=triad_expected,
        check=close,
        budgets=[MOVES],
        work=(3 * 8.0 * N, "B"),
    ),
]
