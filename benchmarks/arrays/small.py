"""What tiny arrays cost: calls of the library, not work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import WEFT, Benchmark, Contender, Work

CHAINED = 1000
ELEMENTS = 10


def _libraries(make: Callable[[Any, Callable[[Any], Any], Callable[[Any], np.ndarray]], Work]) -> list[Contender]:
    def weft() -> Work:
        import weft

        return make(weft, weft.asarray, np.asarray)

    def numpy() -> Work:
        return make(np, lambda a: a, lambda a: a)

    def jax() -> Work:
        from peers import jax

        jnp = jax().numpy
        return make(jnp, jnp.asarray, np.asarray)

    def mlx() -> Work:
        import mlx.core as mx

        mx.set_default_device(mx.cpu)
        return make(mx, mx.array, np.array)

    return [
        Contender(WEFT, weft, WEFT, "weft"),
        Contender("numpy", numpy),
        Contender("jax", jax, needs="jax"),
        Contender("mlx", mlx, needs="mlx.core"),
    ]


def chained(xp: Any, given: Callable[[Any], Any], read: Callable[[Any], np.ndarray]) -> Work:
    """A thousand operations one after the other, and a look at the end."""
    a = given(np.full(ELEMENTS, 0.5, np.float32))
    b = given(np.full(ELEMENTS, 0.25, np.float32))

    def work() -> np.ndarray:
        x = a
        for _ in range(CHAINED // 4):
            x = x * a
            x = x + b
            x = x - a
            x = x + b
        return read(x)

    return work


def added(xp: Any, given: Callable[[Any], Any], read: Callable[[Any], np.ndarray]) -> Work:
    """`a + b`, and a look."""
    a = given(np.full(ELEMENTS, 0.5, np.float32))
    b = given(np.full(ELEMENTS, 0.25, np.float32))
    return lambda: read(a + b)


def summed(xp: Any, given: Callable[[Any], Any], read: Callable[[Any], np.ndarray]) -> Work:
    """A mean as a number of Python's."""
    a = given(np.full(ELEMENTS, 0.5, np.float32))
    return lambda: float(xp.mean(a))


def sliced(xp: Any, given: Callable[[Any], Any], read: Callable[[Any], np.ndarray]) -> Work:
    """Two slices and a difference."""
    a = given(np.arange(ELEMENTS, dtype=np.float32))
    return lambda: read(a[1:] - a[:-1])


def benchmark(name: str, title: str, make: Callable[..., Work], inner: int) -> Benchmark:
    """A benchmark of calls."""
    return Benchmark(
        name=name,
        title=title,
        contenders=_libraries(make),
        reference=make(np, lambda a: a, lambda a: a),
        check=lambda result, wanted: None if np.allclose(result, wanted, rtol=1e-4) else "other values",
        seconds=1.0,
        inner=inner,
    )


SMALL = [
    (benchmark("chained", f"{CHAINED} chained operations on {ELEMENTS} elements, each", chained, 3), CHAINED),
    (benchmark("added", f"`a + b` of {ELEMENTS} elements, read", added, 1000), 1),
    (benchmark("slices", f"`a[1:] - a[:-1]` of {ELEMENTS} elements, read", sliced, 1000), 1),
    (benchmark("mean", f"`float(mean(a))` of {ELEMENTS} elements", summed, 1000), 1),
]
