"""Mandelbrot, 2500 x 2500, float64: a loop whose every lane leaves at its own time."""

import ctypes
from functools import partial
from typing import Any

import numpy as np
from harness import LIMIT, WEFT, Benchmark, Budget, Contender, Work
from limits import function, load

SIZE = 2500
VIEW = (-2.0, 1.0, -1.5, 1.5)
CHECKED = 50  # every 50th row is compared


def weft_kernel(limit: int) -> Work:
    """A kernel of one thread a pixel."""
    from weft import cuda

    @cuda.jit(device=True)
    def escape(x, y, limit):
        c = complex(x, y)
        z = 0j
        for i in range(limit):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4.0:
                return i
        return limit

    @cuda.jit
    def mandelbrot(x0, x1, y0, y1, image, limit):
        row, col = cuda.grid(2)
        if row < image.shape[0] and col < image.shape[1]:
            image[row, col] = escape(x0 + col * ((x1 - x0) / image.shape[1]), y0 + row * ((y1 - y0) / image.shape[0]), limit)

    image = np.zeros((SIZE, SIZE), np.int32)
    launch = mandelbrot.forall(image.shape)

    def work() -> np.ndarray:
        launch(*VIEW, image, limit)
        return image

    return work


def numba_parallel(limit: int, fastmath: bool) -> Work:
    """Rows on threads."""
    import numba

    @numba.njit(fastmath=fastmath)
    def escape(x, y, limit):
        c = complex(x, y)
        z = 0j
        for i in range(limit):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4.0:
                return i
        return limit

    @numba.njit(parallel=True, fastmath=fastmath)
    def mandelbrot(x0, x1, y0, y1, image, limit):
        h, w = image.shape
        for row in numba.prange(h):
            for col in range(w):
                image[row, col] = escape(x0 + col * ((x1 - x0) / w), y0 + row * ((y1 - y0) / h), limit)

    image = np.zeros((SIZE, SIZE), np.int32)

    def work() -> np.ndarray:
        mandelbrot(*VIEW, image, limit)
        return image

    return work


def taichi_kernel(limit: int) -> Work:
    """Taichi's CPU back end, float64."""
    from peers import taichi

    ti = taichi()

    @ti.kernel
    def mandelbrot(x0: ti.f64, x1: ti.f64, y0: ti.f64, y1: ti.f64, image: ti.types.ndarray(dtype=ti.i32, ndim=2), limit: ti.i32):
        for row, col in ti.ndrange(SIZE, SIZE):
            cx = x0 + col * ((x1 - x0) / SIZE)
            cy = y0 + row * ((y1 - y0) / SIZE)
            x = ti.f64(0.0)
            y = ti.f64(0.0)
            n = limit
            for i in range(limit):
                t = x * x - y * y + cx
                y = 2.0 * x * y + cy
                x = t
                if x * x + y * y >= 4.0:
                    n = i
                    break
            image[row, col] = n

    image = np.zeros((SIZE, SIZE), np.int32)

    def work() -> np.ndarray:
        mandelbrot(*VIEW, image, limit)
        return image

    return work


def warp_kernel(limit: int) -> Work:
    """Warp's CPU back end, float64."""
    from peers import warp

    wp = warp()

    @wp.kernel
    def mandelbrot(
        x0: wp.float64,
        x1: wp.float64,
        y0: wp.float64,
        y1: wp.float64,
        image: wp.array2d(dtype=wp.int32),
        limit: wp.int32,
    ):
        row, col = wp.tid()
        cx = x0 + wp.float64(col) * ((x1 - x0) / wp.float64(image.shape[1]))
        cy = y0 + wp.float64(row) * ((y1 - y0) / wp.float64(image.shape[0]))
        x = wp.float64(0.0)
        y = wp.float64(0.0)
        n = limit
        for i in range(limit):
            t = x * x - y * y + cx
            y = wp.float64(2.0) * x * y + cy
            x = t
            if x * x + y * y >= wp.float64(4.0):
                n = i
                break
        image[row, col] = n

    image = wp.zeros((SIZE, SIZE), dtype=wp.int32, device="cpu")

    def work() -> np.ndarray:
        wp.launch(mandelbrot, dim=(SIZE, SIZE), inputs=[*VIEW, image, limit], device="cpu")
        return image.numpy()

    return work


def jax_arrays(limit: int) -> Work:
    """Whole-array steps under `jax.jit`: every pixel makes every iteration."""
    from peers import jax

    jax_ = jax()
    jnp = jax_.numpy

    def mandelbrot(x0: float, x1: float, y0: float, y1: float) -> Any:
        cx = (x0 + jnp.arange(SIZE) * ((x1 - x0) / SIZE))[None, :]
        cy = (y0 + jnp.arange(SIZE) * ((y1 - y0) / SIZE))[:, None]

        def step(i: Any, state: Any) -> Any:
            x, y, n = state
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            return x, y, jnp.where((n == limit) & (x * x + y * y >= 4.0), i, n)

        zero = jnp.zeros((SIZE, SIZE))
        return jax_.lax.fori_loop(0, limit, step, (zero, zero, jnp.full((SIZE, SIZE), limit, jnp.int32)))[2]

    compiled = jax_.jit(mandelbrot)
    return lambda: np.asarray(compiled(*VIEW))


def by_hand(variant: str, limit: int) -> Work:
    """A variant of `limits/mandelbrot.c`."""
    f = function(load("mandelbrot"), f"mandelbrot_{variant}", *[ctypes.c_double] * 4, *[ctypes.c_int] * 3, ctypes.c_void_p)
    image = np.zeros((SIZE, SIZE), np.int32)

    def work() -> np.ndarray:
        f(*VIEW, SIZE, SIZE, limit, image.ctypes.data)
        return image

    return work


def reference(limit: int) -> np.ndarray:
    """Every 50th row, in NumPy."""
    x0, x1, y0, y1 = VIEW
    c = (x0 + np.arange(SIZE) * ((x1 - x0) / SIZE))[None, :] + 1j * (y0 + np.arange(0, SIZE, CHECKED) * ((y1 - y0) / SIZE))[:, None]
    z = np.zeros_like(c)
    n = np.full(c.shape, limit, np.int32)
    live = np.ones(c.shape, bool)
    for i in range(limit):
        z[live] = z[live] * z[live] + c[live]
        leaves = live & (z.real * z.real + z.imag * z.imag >= 4.0)
        n[leaves] = i
        live &= ~leaves
    return n


def check(image: np.ndarray, expected: np.ndarray) -> str | None:
    """Fused multiply-adds move chaotic pixels, at the set's edge; more than one in 100 is an error."""
    different = float(np.mean(image[::CHECKED] != expected))
    return None if different <= 0.01 else f"{different:.2%} of the pixels differ"


def describe(image: np.ndarray, expected: np.ndarray) -> str:
    """How many of the compared pixels differ."""
    different = int(np.sum(image[::CHECKED] != expected))
    return f"{different} of {expected.size} pixels differ" if different else ""


def benchmark(limit: int) -> Benchmark:
    """All contenders at one number of iterations."""
    hand = [f"{kind}_{u}" for kind in ("count", "lazy") for u in (1, 2, 3, 4, 5)]
    peers = [
        Contender("numba", partial(numba_parallel, limit, False), needs="numba"),
        Contender("numba fastmath", partial(numba_parallel, limit, True), needs="numba"),
        Contender("taichi", partial(taichi_kernel, limit), needs="taichi"),
        Contender("warp", partial(warp_kernel, limit), needs="warp"),
    ]
    if limit <= 100:  # at 1000 iterations it makes 40 times the work of the others
        peers.append(Contender("jax", partial(jax_arrays, limit), needs="jax"))
    return Benchmark(
        name=f"mandelbrot-{limit}",
        title=f"Mandelbrot {SIZE}², {limit} iterations, float64",
        contenders=[
            Contender(WEFT, partial(weft_kernel, limit), rank=WEFT, needs="weft"),
            *[Contender(f"hand {v}", partial(by_hand, v, limit), rank=LIMIT) for v in hand],
            *peers,
        ],
        reference=partial(reference, limit),
        check=check,
        describe=describe,
        budgets=[Budget("at most 1.15 times the hand-written limit", LIMIT, 1.15)],
        seconds=4.0 if limit <= 100 else 8.0,
    )


BENCHMARKS = [benchmark(50), benchmark(1000)]
