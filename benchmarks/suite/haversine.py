"""Haversine distances on a 1000 x 1000 mesh, float64: four transcendental functions a point, as one kernel."""

import ctypes

import numpy as np
from harness import LIMIT, WEFT, Benchmark, Budget, Contender, Work
from limits import function, load

N = 1000
LAT2, LON2 = 29.5, 100.25
X = (29.0, 31.0)
Y = (99.0, 101.0)
SCALE = 2.0 * 6371.0
HALF, DEGREE = 0.008726645, 0.01745329


def axes() -> tuple[np.ndarray, np.ndarray]:
    """The mesh as two broadcast inputs: latitudes (1, N), longitudes (N, 1), in degrees."""
    return np.linspace(*X, N)[None, :], np.linspace(*Y, N)[:, None]


def weft_ufunc() -> Work:
    """A ufunc over broadcast inputs, on all cores."""
    import math

    import weft

    @weft.vectorize(target="parallel")
    def haversine(lat1, lon1, lat2, lon2):
        p = math.sin(HALF * (lat2 - lat1))
        q = math.sin(HALF * (lon2 - lon1))
        a = p * p + math.cos(DEGREE * lat1) * math.cos(DEGREE * lat2) * q * q
        return SCALE * math.atan2(a, 1.0 - a)

    lat, lon = axes()
    out = np.empty((N, N))
    return lambda: haversine(lat, lon, LAT2, LON2, out=out)


def weft_kernel() -> Work:
    """A kernel of one thread a point."""
    import math

    from weft import cuda

    @cuda.jit
    def haversine(lat, lon, lat2, lon2, out):
        y, x = cuda.grid(2)
        if y < out.shape[0] and x < out.shape[1]:
            p = math.sin(HALF * (lat2 - lat[x]))
            q = math.sin(HALF * (lon2 - lon[y]))
            a = p * p + math.cos(DEGREE * lat[x]) * math.cos(DEGREE * lat2) * q * q
            out[y, x] = SCALE * math.atan2(a, 1.0 - a)

    lat, lon = (axis.ravel() for axis in axes())
    out = np.empty((N, N))
    launch = haversine.forall(out.shape)

    def work() -> np.ndarray:
        launch(lat, lon, LAT2, LON2, out)
        return out

    return work


def numba_loops() -> Work:
    """By hand: rows on threads."""
    import math

    import numba

    @numba.njit(parallel=True, fastmath=True)
    def haversine(lat, lon, lat2, lon2, out):
        for y in numba.prange(out.shape[0]):
            for x in range(out.shape[1]):
                p = math.sin(HALF * (lat2 - lat[x]))
                q = math.sin(HALF * (lon2 - lon[y]))
                a = p * p + math.cos(DEGREE * lat[x]) * math.cos(DEGREE * lat2) * q * q
                out[y, x] = SCALE * math.atan2(a, 1.0 - a)

    lat, lon = (axis.ravel() for axis in axes())
    out = np.empty((N, N))

    def work() -> np.ndarray:
        haversine(lat, lon, LAT2, LON2, out)
        return out

    return work


def numba_ufunc() -> Work:
    """A parallel ufunc over broadcast inputs."""
    import math

    import numba

    @numba.vectorize(["float64(float64, float64, float64, float64)"], target="parallel")
    def haversine(lat1, lon1, lat2, lon2):
        p = math.sin(HALF * (lat2 - lat1))
        q = math.sin(HALF * (lon2 - lon1))
        a = p * p + math.cos(DEGREE * lat1) * math.cos(DEGREE * lat2) * q * q
        return SCALE * math.atan2(a, 1.0 - a)

    lat, lon = axes()
    out = np.empty((N, N))
    return lambda: haversine(lat, lon, LAT2, LON2, out)


def jax_fused() -> Work:
    """Array code under `jax.jit`."""
    from peers import jax

    jax_ = jax()
    jnp = jax_.numpy

    @jax_.jit
    def haversine(lat, lon):
        p = jnp.sin(HALF * (LAT2 - lat))
        q = jnp.sin(HALF * (LON2 - lon))
        a = p * p + jnp.cos(DEGREE * lat) * jnp.cos(DEGREE * LAT2) * q * q
        return SCALE * jnp.arctan2(a, 1.0 - a)

    lat, lon = (jnp.asarray(axis) for axis in axes())
    return lambda: np.asarray(haversine(lat, lon))


def jax_mesh() -> Work:
    """The same where the mesh exists as arrays, so that nothing can be computed per row or column only."""
    from peers import jax

    jax_ = jax()
    jnp = jax_.numpy

    @jax_.jit
    def haversine(lat, lon):
        p = jnp.sin(HALF * (LAT2 - lat))
        q = jnp.sin(HALF * (LON2 - lon))
        a = p * p + jnp.cos(DEGREE * lat) * jnp.cos(DEGREE * LAT2) * q * q
        return SCALE * jnp.arctan2(a, 1.0 - a)

    lat, lon = (jnp.asarray(mesh) for mesh in np.broadcast_arrays(*axes()))
    return lambda: np.asarray(haversine(lat, lon))


def numexpr_parallel() -> Work:
    """NumExpr's blocks on threads."""
    import numexpr as ne

    lat, lon = axes()
    out = np.empty((N, N))
    p, q = f"sin({HALF} * ({LAT2} - lat))", f"sin({HALF} * ({LON2} - lon))"
    a = f"{p} ** 2 + cos({DEGREE} * lat) * {np.cos(DEGREE * LAT2)} * {q} ** 2"
    names = {"lat": np.broadcast_to(lat, (N, N)), "lon": np.broadcast_to(lon, (N, N))}
    return lambda: ne.evaluate(f"{SCALE} * arctan2({a}, 1.0 - ({a}))", local_dict=names, out=out)


def numpy_arrays() -> np.ndarray:
    """Array code; the reference."""
    lat, lon = np.broadcast_arrays(*axes())
    a = np.sin(HALF * (LAT2 - lat)) ** 2 + np.cos(DEGREE * lat) * np.cos(DEGREE * LAT2) * np.sin(HALF * (LON2 - lon)) ** 2
    return SCALE * np.arctan2(a, 1.0 - a)


def by_hand() -> Work:
    """`limits/haversine.c`."""
    f = function(load("haversine", svml=True), "haversine_svml", *[ctypes.c_double] * 7, *[ctypes.c_int] * 2, ctypes.c_void_p)
    out = np.empty((N, N))

    def work() -> np.ndarray:
        f(LAT2, LON2, *X, *Y, SCALE, N, N, out.ctypes.data)
        return out

    return work


def error(out: np.ndarray, expected: np.ndarray) -> float:
    """Largest relative error."""
    return float(np.max(np.abs(out - expected) / expected))


BENCHMARKS = [
    Benchmark(
        name="haversine",
        title=f"Haversine, {N}² mesh, float64",
        contenders=[
            Contender(WEFT, weft_kernel, rank=WEFT, needs="weft"),
            Contender("weft vectorize", weft_ufunc, rank=WEFT, needs="weft"),
            Contender("hand SVML", by_hand, rank=LIMIT),
            Contender("numba", numba_loops, needs="numba"),
            Contender("numba vectorize", numba_ufunc, needs="numba"),
            Contender("jax", jax_fused, needs="jax"),
            Contender("jax, mesh in memory", jax_mesh, needs="jax"),
            Contender("numexpr", numexpr_parallel, needs="numexpr"),
            Contender("numpy", lambda: numpy_arrays),
        ],
        reference=numpy_arrays,
        check=lambda out, expected: None if error(out, expected) < 1e-9 else f"relative error {error(out, expected):.1e}",
        describe=lambda out, expected: f"max. error {error(out, expected):.0e}",
        budgets=[Budget("at most 1.3 times the SVML limit", LIMIT, 1.3)],
    )
]
