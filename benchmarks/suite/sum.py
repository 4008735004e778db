"""Sum of 10⁷ float32 on one core: as fast as NumPy's pairwise sum, and as accurate."""

import math

import numpy as np
from harness import WEFT, Benchmark, Budget, Contender, Work

N = 10_000_000


def data() -> np.ndarray:
    """Uniform numbers."""
    return np.random.default_rng(3).random(N, np.float32)


def weft_sum() -> Work:
    """An array reduction in a plain jitted function: one core."""
    import weft

    @weft.njit
    def total(a):
        return a.sum()

    a = data()
    return lambda: total(a)


def weft_parallel() -> Work:
    """The same on all cores."""
    import weft

    @weft.njit(parallel=True)
    def total(a):
        return a.sum()

    a = data()
    return lambda: total(a)


def numba_sum() -> Work:
    """An array reduction, one core."""
    import numba

    @numba.njit
    def total(a):
        return a.sum()

    a = data()
    return lambda: total(a)


def numba_fastmath() -> Work:
    """A loop that may be reordered, one core."""
    import numba

    @numba.njit(fastmath=True)
    def total(a):
        s = np.float32(0)
        for x in a:
            s += x
        return s

    a = data()
    return lambda: total(a)


def numba_parallel() -> Work:
    """An array reduction on all cores."""
    import numba

    @numba.njit(parallel=True)
    def total(a):
        return a.sum()

    a = data()
    return lambda: total(a)


def numpy_sum() -> Work:
    """Pairwise, one core."""
    a = data()
    return lambda: a.sum()


def error(total: float, exact: float) -> float:
    """Relative error."""
    return abs(float(total) - exact) / exact


BENCHMARKS = [
    Benchmark(
        name="sum",
        title="sum, 10⁷ elements, float32, one core",
        contenders=[
            Contender(WEFT, weft_sum, rank=WEFT, needs="weft"),
            Contender("weft, all cores", weft_parallel, rank=WEFT, needs="weft"),
            Contender("numpy", numpy_sum),
            Contender("numba", numba_sum, needs="numba"),
            Contender("numba fastmath", numba_fastmath, needs="numba"),
            Contender("numba, all cores", numba_parallel, needs="numba"),
        ],
        reference=lambda: math.fsum(data().astype(np.float64).tolist()),
        check=lambda total, exact: None if error(total, exact) < 1e-2 else f"relative error {error(total, exact):.1e}",
        describe=lambda total, exact: f"error {error(total, exact):.0e}",
        error=error,
        budgets=[
            Budget("no slower than NumPy per core", "numpy", 1.0),
            Budget("as accurate as NumPy: within two roundings of float32", absolute=1.2e-7, error=True),
        ],
        work=(4.0 * N, "B"),
    )
]
