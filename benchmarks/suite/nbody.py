"""Accelerations of 8192 bodies under each other's gravity, float32: all pairs, one thread a body."""

import ctypes
from typing import Any

import numpy as np
from harness import LIMIT, WEFT, Benchmark, Budget, Contender, Work
from limits import function, load

N = 8192
EPS = 1e-3


def data() -> tuple[np.ndarray, ...]:
    """x, y, z and masses, and room for three accelerations."""
    rng = np.random.default_rng(6)
    return (*(rng.random(N, np.float32) for _ in range(4)), *(np.zeros(N, np.float32) for _ in range(3)))


def weft_kernel(fastmath: bool) -> Work:
    """Bodies read by all lanes at once: uniform loads."""
    import math

    from weft import cuda

    @cuda.jit(fastmath=fastmath)
    def nbody(x, y, z, m, eps, ax, ay, az):
        i = cuda.grid(1)
        if i < x.size:
            sx = np.float32(0)
            sy = np.float32(0)
            sz = np.float32(0)
            for j in range(x.size):
                dx = x[j] - x[i]
                dy = y[j] - y[i]
                dz = z[j] - z[i]
                r2 = dx * dx + dy * dy + dz * dz + eps
                f = m[j] / (r2 * math.sqrt(r2))
                sx += dx * f
                sy += dy * f
                sz += dz * f
            ax[i] = sx
            ay[i] = sy
            az[i] = sz

    *bodies, ax, ay, az = data()
    launch = nbody.forall(N)

    def work() -> Any:
        launch(*bodies, EPS, ax, ay, az)
        return ax, ay, az

    return work


def numba_parallel(fastmath: bool) -> Work:
    """Bodies on threads; under `fastmath` the inner loop vectorises."""
    import math

    import numba

    @numba.njit(parallel=True, fastmath=fastmath)
    def nbody(x, y, z, m, eps, ax, ay, az):
        for i in numba.prange(x.size):
            sx = np.float32(0)
            sy = np.float32(0)
            sz = np.float32(0)
            for j in range(x.size):
                dx = x[j] - x[i]
                dy = y[j] - y[i]
                dz = z[j] - z[i]
                r2 = dx * dx + dy * dy + dz * dz + eps
                f = m[j] / (r2 * math.sqrt(r2))
                sx += dx * f
                sy += dy * f
                sz += dz * f
            ax[i] = sx
            ay[i] = sy
            az[i] = sz

    *bodies, ax, ay, az = data()

    def work() -> Any:
        nbody(*bodies, np.float32(EPS), ax, ay, az)
        return ax, ay, az

    return work


def taichi_kernel() -> Work:
    """Taichi's CPU back end."""
    from peers import taichi

    ti = taichi()
    array = ti.types.ndarray(dtype=ti.f32, ndim=1)

    @ti.kernel
    def nbody(x: array, y: array, z: array, m: array, eps: ti.f32, ax: array, ay: array, az: array):
        for i in x:
            sx = ti.f32(0.0)
            sy = ti.f32(0.0)
            sz = ti.f32(0.0)
            for j in range(N):
                dx = x[j] - x[i]
                dy = y[j] - y[i]
                dz = z[j] - z[i]
                r2 = dx * dx + dy * dy + dz * dz + eps
                f = m[j] / (r2 * ti.sqrt(r2))
                sx += dx * f
                sy += dy * f
                sz += dz * f
            ax[i] = sx
            ay[i] = sy
            az[i] = sz

    *bodies, ax, ay, az = data()

    def work() -> Any:
        nbody(*bodies, EPS, ax, ay, az)
        return ax, ay, az

    return work


def warp_kernel() -> Work:
    """Warp's CPU back end."""
    from peers import warp

    wp = warp()

    @wp.kernel
    def nbody(
        x: wp.array(dtype=wp.float32),
        y: wp.array(dtype=wp.float32),
        z: wp.array(dtype=wp.float32),
        m: wp.array(dtype=wp.float32),
        eps: wp.float32,
        ax: wp.array(dtype=wp.float32),
        ay: wp.array(dtype=wp.float32),
        az: wp.array(dtype=wp.float32),
    ):
        i = wp.tid()
        sx = wp.float32(0.0)
        sy = wp.float32(0.0)
        sz = wp.float32(0.0)
        for j in range(x.shape[0]):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            dz = z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + eps
            f = m[j] / (r2 * wp.sqrt(r2))
            sx += dx * f
            sy += dy * f
            sz += dz * f
        ax[i] = sx
        ay[i] = sy
        az[i] = sz

    *bodies, ax, ay, az = (wp.array(v, dtype=wp.float32, device="cpu") for v in data())

    def work() -> Any:
        wp.launch(nbody, dim=N, inputs=[*bodies, EPS, ax, ay, az], device="cpu")
        return ax.numpy(), ay.numpy(), az.numpy()

    return work


def jax_arrays() -> Work:
    """All pairs as arrays under `jax.jit`."""
    from peers import jax

    jax_ = jax()
    jnp = jax_.numpy

    @jax_.jit
    def nbody(x, y, z, m):
        dx, dy, dz = (v[None, :] - v[:, None] for v in (x, y, z))
        r2 = dx * dx + dy * dy + dz * dz + np.float32(EPS)
        f = m / (r2 * jnp.sqrt(r2))
        return (dx * f).sum(1), (dy * f).sum(1), (dz * f).sum(1)

    bodies = [jnp.asarray(v) for v in data()[:4]]
    return lambda: [np.asarray(v) for v in nbody(*bodies)]


def c_loops() -> Work:
    """`limits/kernels.c`."""
    p = ctypes.c_void_p
    f = function(load("kernels", fast_math=True), "nbody_f32", p, p, p, p, ctypes.c_float, ctypes.c_int, p, p, p)
    *bodies, ax, ay, az = data()

    def work() -> Any:
        f(*(v.ctypes.data for v in bodies), EPS, N, ax.ctypes.data, ay.ctypes.data, az.ctypes.data)
        return ax, ay, az

    return work


def reference() -> tuple[np.ndarray, ...]:
    """In float64, a row of bodies at a time."""
    x, y, z, m = (v.astype(np.float64) for v in data()[:4])
    out = np.empty((3, N))
    for i in range(N):
        dx, dy, dz = x - x[i], y - y[i], z - z[i]
        r2 = dx * dx + dy * dy + dz * dz + EPS
        f = m / (r2 * np.sqrt(r2))
        out[:, i] = (dx * f).sum(), (dy * f).sum(), (dz * f).sum()
    return tuple(out)


def check(found: Any, expected: Any) -> str | None:
    """Within float32's rounding of a sum of thousands."""
    scale = max(float(np.abs(e).max()) for e in expected)
    worst = max(float(np.abs(f - e).max()) for f, e in zip(found, expected, strict=True))
    return None if worst < 1e-4 * scale else f"error {worst / scale:.1e}"


BENCHMARKS = [
    Benchmark(
        name="nbody",
        title=f"n-body, {N} bodies, float32",
        contenders=[
            Contender(WEFT, lambda: weft_kernel(False), rank=WEFT, needs="weft"),
            Contender("weft fastmath", lambda: weft_kernel(True), rank=WEFT, needs="weft"),
            Contender("numba", lambda: numba_parallel(False), needs="numba"),
            Contender("numba fastmath", lambda: numba_parallel(True), needs="numba"),
            Contender("C, OpenMP", c_loops, rank=LIMIT),
            Contender("taichi", taichi_kernel, needs="taichi"),
            Contender("warp", warp_kernel, needs="warp"),
            Contender("jax", jax_arrays, needs="jax"),
        ],
        reference=reference,
        check=check,
        budgets=[
            Budget("faster than Numba's parallel version", "numba", 1.0),
            Budget("faster than Numba's, both with fastmath", "numba fastmath", 1.0, weft="weft fastmath"),
        ],
        work=(float(N) ** 2, "pairs"),
    )
]
