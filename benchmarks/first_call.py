"""Run in a fresh process: `python first_call.py <library> <what> wall|cpu` prints the seconds from decorator to first result.

The library is imported before the clock starts; importing is measured by itself (`what` is `import`: the seconds of the
import beyond NumPy's).
"""

import sys
import time

import numpy as np

VIEW = (-2.0, 1.0, -1.5, 1.5)
SIZE = 64


def weft_mandelbrot(clock):
    """The kernel of the demo."""
    from weft import cuda

    start = clock()

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
            image[row, col] = escape(x0 + col * (x1 - x0) / image.shape[1], y0 + row * (y1 - y0) / image.shape[0], limit)

    image = np.zeros((SIZE, SIZE), np.int32)
    mandelbrot.forall(image.shape)(*VIEW, image, 50)
    assert image.max() == 50
    return clock() - start


def weft_small(clock):
    """Three lines."""
    import weft

    start = clock()

    @weft.njit
    def f(x, y):
        z = x * x + y
        return z / 2.0

    assert f(3.0, 1.0) == 5.0
    return clock() - start


def weft_math(clock):
    """A kernel with three elementary functions."""
    import math

    from weft import cuda

    start = clock()

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = math.sin(x[i]) + math.exp(x[i]) * math.log(x[i])

    x = np.linspace(1.0, 2.0, SIZE)
    out = np.zeros(SIZE)
    kernel.forall(SIZE)(x, out)
    assert abs(out[0] - math.sin(1.0)) < 1e-15
    return clock() - start


def numba_math(clock):
    """The same as a parallel loop."""
    import math

    import numba

    start = clock()

    @numba.njit(parallel=True)
    def kernel(x, out):
        for i in numba.prange(x.shape[0]):
            out[i] = math.sin(x[i]) + math.exp(x[i]) * math.log(x[i])

    x = np.linspace(1.0, 2.0, SIZE)
    out = np.zeros(SIZE)
    kernel(x, out)
    assert abs(out[0] - math.sin(1.0)) < 1e-15
    return clock() - start


def numba_mandelbrot(clock):
    """The same kernel as parallel loops."""
    import numba

    start = clock()

    @numba.njit
    def escape(x, y, limit):
        c = complex(x, y)
        z = 0j
        for i in range(limit):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4.0:
                return i
        return limit

    @numba.njit(parallel=True)
    def mandelbrot(x0, x1, y0, y1, image, limit):
        h, w = image.shape
        for row in numba.prange(h):
            for col in range(w):
                image[row, col] = escape(x0 + col * (x1 - x0) / w, y0 + row * (y1 - y0) / h, limit)

    image = np.zeros((SIZE, SIZE), np.int32)
    mandelbrot(*VIEW, image, 50)
    assert image.max() == 50
    return clock() - start


def numba_small(clock):
    """Three lines."""
    import numba

    start = clock()

    @numba.njit
    def f(x, y):
        z = x * x + y
        return z / 2.0

    assert f(3.0, 1.0) == 5.0
    return clock() - start


def taichi_mandelbrot(clock):
    """The same kernel; starting the runtime counts as importing."""
    from peers import taichi

    ti = taichi()
    start = clock()

    @ti.kernel
    def mandelbrot(x0: ti.f64, x1: ti.f64, y0: ti.f64, y1: ti.f64, image: ti.types.ndarray(dtype=ti.i32, ndim=2), limit: ti.i32):
        for row, col in ti.ndrange(SIZE, SIZE):
            cx = x0 + col * (x1 - x0) / SIZE
            cy = y0 + row * (y1 - y0) / SIZE
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
    mandelbrot(*VIEW, image, 50)
    assert image.max() == 50
    return clock() - start


def taichi_small(clock):
    """Three lines."""
    from peers import taichi

    ti = taichi()
    start = clock()

    @ti.kernel
    def f(x: ti.f64, y: ti.f64) -> ti.f64:
        z = x * x + y
        return z / 2.0

    assert f(3.0, 1.0) == 5.0
    return clock() - start


def warp_mandelbrot(clock):
    """The same kernel; starting the runtime counts as importing."""
    from peers import warp

    wp = warp()
    start = clock()

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
        cx = x0 + wp.float64(col) * (x1 - x0) / wp.float64(image.shape[1])
        cy = y0 + wp.float64(row) * (y1 - y0) / wp.float64(image.shape[0])
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
    wp.launch(mandelbrot, dim=(SIZE, SIZE), inputs=[*VIEW, image, 50], device="cpu")
    assert image.numpy().max() == 50
    return clock() - start


def jax_mandelbrot(clock):
    """The same picture as whole-array steps."""
    from peers import jax

    jax_ = jax()
    jnp = jax_.numpy
    jnp.zeros(1).block_until_ready()  # starting the runtime counts as importing
    start = clock()

    @jax_.jit
    def mandelbrot(x0, x1, y0, y1):
        cx = (x0 + jnp.arange(SIZE) * (x1 - x0) / SIZE)[None, :]
        cy = (y0 + jnp.arange(SIZE) * (y1 - y0) / SIZE)[:, None]

        def step(i, state):
            x, y, n = state
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            return x, y, jnp.where((n == 50) & (x * x + y * y >= 4.0), i, n)

        zero = jnp.zeros((SIZE, SIZE))
        return jax_.lax.fori_loop(0, 50, step, (zero, zero, jnp.full((SIZE, SIZE), 50, jnp.int32)))[2]

    assert np.asarray(mandelbrot(*VIEW)).max() == 50
    return clock() - start


def jax_small(clock):
    """Three lines."""
    from peers import jax

    jax_ = jax()
    jax_.numpy.zeros(1).block_until_ready()
    start = clock()

    @jax_.jit
    def f(x, y):
        z = x * x + y
        return z / 2.0

    assert float(f(3.0, 1.0)) == 5.0
    return clock() - start


def importing(name, clock):
    """Seconds of an import, NumPy being there already."""
    import importlib

    start = clock()
    importlib.import_module(name)
    return clock() - start


if __name__ == "__main__":
    library, what, clock_name = sys.argv[1:]
    clock = time.process_time if clock_name == "cpu" else time.perf_counter
    seconds = importing(library, clock) if what == "import" else globals()[f"{library}_{what}"](clock)
    print(f"seconds {seconds:.9f}")
