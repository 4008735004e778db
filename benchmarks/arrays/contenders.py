"""Who computes a program, and how: each library as its own users write it, its result computed when the work returns."""

from __future__ import annotations

import ctypes
import functools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import LIMIT, WEFT, Contender, Work
from limits import function, load
from programs import DEGREE, HALF, LAT, LON, SCALE, N, Program, X, Y

PEERS = ["numpy", "scipy", "numexpr", "numba", "jax", "mlx"]


def contenders(program: Program) -> list[Contender]:
    """Weft and the peers that can write the program."""
    makers: dict[str, Callable[[Program], Work]] = {
        "numpy": in_numpy,
        "numexpr": in_numexpr,
        "numba": in_numba,
        "jax": in_jax,
        "mlx": in_mlx,
    }
    needs = {"mlx": "mlx.core"}
    peers = [
        Contender(name, functools.partial(make, program), needs=needs.get(name, name))
        for name, make in makers.items()
        if program.others.get(name, make) is not None
    ]
    return [Contender(WEFT, functools.partial(in_weft, program), WEFT, "weft"), *peers]


def _data(program: Program, convert: Callable[[np.ndarray], Any]) -> tuple[Any, ...]:
    arrays = [convert(a) for a in program.arguments()]
    if program.view is not None:
        arrays[0] = program.view(arrays[0])
    return tuple(arrays)


def in_weft(program: Program) -> Work:
    """Plain array code on Weft's arrays. What is compiled in the background is compiled before anything is timed."""
    import weft

    arrays = _data(program, weft.asarray)
    f = program.make(weft)

    def work() -> Any:
        result = f(*arrays)
        weft.eval(result)
        return result

    return settled(work)


def settled(work: Work, seconds: float = 2.0) -> Work:
    """Runs it until nothing more is compiled."""
    from weft import _weft

    end, still = time.perf_counter() + seconds, 0
    while still < 5 and time.perf_counter() < end:
        before = _weft._compiled_count()
        for _ in range(3):
            work()
        _weft._finish_compiling()
        still = still + 1 if _weft._compiled_count() == before else 0
    return work


def in_numpy(program: Program) -> Work:
    """As it is."""
    arrays = _data(program, lambda a: a)
    f = program.make(np)
    return lambda: f(*arrays)


def in_numexpr(program: Program) -> Work:
    """In its language."""
    import numexpr as ne

    arrays = _data(program, lambda a: a)
    f = program.others["numexpr"](ne)
    return lambda: f(*arrays)


def in_numba(program: Program) -> Work:
    """Numba's array expressions, on its threads."""
    import numba

    arrays = _data(program, lambda a: a)
    kind = arrays[0].dtype.type if arrays else float
    plain = program.others.get("numba", program.make)(np, kind if kind is np.float32 else _native(kind))
    f = numba.njit(parallel=True)(plain)
    try:
        f(*arrays)
    except AssertionError:
        # Its parallel loops refuse some broadcasts.
        f = numba.njit(plain)
    return lambda: f(*arrays)


def _native(kind: Any) -> Any:
    return int if issubclass(kind, np.integer) else float


def in_jax(program: Program) -> Work:
    """Under `jax.jit`. It has no views: what is turned, or every second column, is taken from the same memory by what it compiles."""
    from peers import jax

    jax_ = jax()
    arrays = tuple(jax_.block_until_ready(jax_.numpy.asarray(a)) for a in program.arguments())
    made, view = program.others.get("jax", program.make)(jax_.numpy), program.view
    f = jax_.jit(made if view is None else lambda x, *others: made(view(x), *others))
    return lambda: jax_.block_until_ready(f(*arrays))


def in_mlx(program: Program) -> Work:
    """Under `mx.compile`, on the CPU."""
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    f = program.others.get("mlx", program.make)(mx)
    arrays = _data(program, lambda a: mx.array(a, dtype=mx.float64) if a.dtype == np.float64 else mx.array(a))
    mx.eval(arrays)
    compiled = mx.compile(f) if arrays else f

    def work() -> Any:
        result = compiled(*arrays)
        mx.eval(result)
        return result

    return work


def mesh_by_hand() -> list[Contender]:
    """Other ways to the mesh: kernels, and the limit."""
    return [
        Contender("weft kernel", weft_kernel, "hand", "weft"),
        Contender("weft kernel, sines hoisted", weft_hoisted, "hand", "weft"),
        Contender("weft vectorize", weft_ufunc, "hand", "weft"),
        Contender("numba vectorize", numba_ufunc, needs="numba"),
        Contender("hand SVML", svml, LIMIT),
    ]


def weft_kernel() -> Work:
    """By hand: rows on threads, no mesh."""
    import weft

    @weft.njit(parallel=True)
    def distances(x0, x1, y0, y1, lat2, lon2):
        out = np.empty((N, N))
        for i in weft.prange(N):
            lon = y0 + i * ((y1 - y0) / (N - 1))
            for j in range(N):
                lat = x0 + j * ((x1 - x0) / (N - 1))
                p = math.sin(HALF * (lat2 - lat))
                q = math.sin(HALF * (lon2 - lon))
                a = p * p + math.cos(DEGREE * lat) * math.cos(DEGREE * lat2) * q * q
                out[i, j] = SCALE * math.atan2(a, 1.0 - a)
        return out

    return lambda: distances(*X, *Y, LAT, LON)


def weft_hoisted() -> Work:
    """By an expert: what depends on a column only is computed once for it."""
    import weft

    @weft.njit(parallel=True)
    def distances(x0, x1, y0, y1, lat2, lon2):
        squares, cosines = np.empty(N), np.empty(N)
        for j in range(N):
            lat = x0 + j * ((x1 - x0) / (N - 1))
            p = math.sin(HALF * (lat2 - lat))
            squares[j] = p * p
            cosines[j] = math.cos(DEGREE * lat) * math.cos(DEGREE * lat2)
        out = np.empty((N, N))
        for i in weft.prange(N):
            q = math.sin(HALF * (lon2 - (y0 + i * ((y1 - y0) / (N - 1)))))
            for j in range(N):
                a = squares[j] + cosines[j] * (q * q)
                out[i, j] = SCALE * math.atan2(a, 1.0 - a)
        return out

    return lambda: distances(*X, *Y, LAT, LON)


def _ufunc(package: Any, **options: Any) -> Any:
    def haversine(lat1, lon1, lat2, lon2):
        p = math.sin(HALF * (lat2 - lat1))
        q = math.sin(HALF * (lon2 - lon1))
        a = p * p + math.cos(DEGREE * lat1) * math.cos(DEGREE * lat2) * q * q
        return SCALE * math.atan2(a, 1.0 - a)

    signature = options.pop("signature", None)
    return package.vectorize([signature], **options)(haversine) if signature else package.vectorize(**options)(haversine)


def weft_ufunc() -> Work:
    """Weft's `vectorize` over the axes."""
    import weft

    f = _ufunc(weft, target="parallel")
    lat, lon = np.linspace(*X, N)[None, :], np.linspace(*Y, N)[:, None]
    return lambda: f(lat, lon, LAT, LON)


def numba_ufunc() -> Work:
    """Numba's."""
    import numba

    f = _ufunc(numba, signature="float64(float64, float64, float64, float64)", target="parallel")
    lat, lon = np.linspace(*X, N)[None, :], np.linspace(*Y, N)[:, None]
    return lambda: f(lat, lon, LAT, LON)


def svml() -> Work:
    """Vectors by hand with Intel's SVML, into memory that exists."""
    f = function(load("haversine", svml=True), "haversine_svml", *[ctypes.c_double] * 7, *[ctypes.c_int] * 2, ctypes.c_void_p)
    out = np.empty((N, N))

    def work() -> np.ndarray:
        f(LAT, LON, *X, *Y, SCALE, N, N, out.ctypes.data)
        return out

    return work


def triad() -> Work:
    """C's triad on 10⁷ float64: the bandwidth that the chain is measured with."""
    f = function(load("streams"), "triad_f64", ctypes.c_double, *[ctypes.c_void_p] * 3, ctypes.c_ssize_t)
    b, c, a = np.ones(10**7), np.ones(10**7), np.zeros(10**7)

    def work() -> np.ndarray:
        f(1.5, b.ctypes.data, c.ctypes.data, a.ctypes.data, 10**7)
        return a

    return work
