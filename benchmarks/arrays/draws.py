"""Random numbers: large draws that are read, and draws that are used at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import WEFT, Benchmark, Contender, Work

N = 10_000_000
FEW = 10


def _generators(make: Callable[[Any, Callable[[Any], Any]], Work], jax: Callable[[Any], Work]) -> list[Contender]:
    def weft() -> Work:
        import weft

        return make(weft.random.default_rng(1), np.asarray)

    def numpy() -> Work:
        return make(np.random.default_rng(1), lambda a: a)

    def of_jax() -> Work:
        from peers import jax as peer

        return jax(peer())

    return [Contender(WEFT, weft, WEFT, "weft"), Contender("numpy", numpy), Contender("jax", of_jax, needs="jax")]


def _jax(draw: Callable[[Any, Any], Any]) -> Callable[[Any], Work]:
    """A draw with a new key each time, as JAX has it, compiled."""

    def made(jax: Any) -> Work:
        compiled = jax.jit(lambda key: (jax.random.split(key)[0], draw(jax, key)))
        keys = [jax.random.key(1)]

        def work() -> Any:
            keys[0], found = compiled(keys[0])
            return np.asarray(found)

        return work

    return made


def _drawn(name: str, *args: Any) -> Callable[[Any, Callable[[Any], Any]], Work]:
    return lambda g, read: lambda: read(getattr(g, name)(*args))


def _pi(g: Any, read: Callable[[Any], Any]) -> Work:
    def work() -> float:
        x, y = g.random(N), g.random(N)
        return 4 * float((x * x + y * y < 1).mean())

    return work


def _pi_of_jax(jax: Any, key: Any) -> Any:
    x, y = (jax.random.uniform(each, (N,), jax.numpy.float64) for each in jax.random.split(key))
    return 4 * (x * x + y * y < 1).mean()


def benchmark(name: str, title: str, make: Any, jax: Any, mean: float, inner: int = 1) -> Benchmark:
    """A benchmark of draws, whose results have about this mean."""
    return Benchmark(
        name=name,
        title=title,
        contenders=_generators(make, jax),
        reference=lambda: mean,
        check=lambda result, wanted: None if abs(float(np.mean(result)) - wanted) < (0.01 if inner == 1 else 1) else "another mean",
        seconds=2.0,
        inner=inner,
    )


def _of(kind: str, **options: Any) -> Callable[[Any], Work]:
    return _jax(lambda jax, key: getattr(jax.random, kind)(key, shape=(N,), **options))


DRAWS = [
    (benchmark("random", "`random(10⁷)`, read", _drawn("random", N), _of("uniform", dtype="float64"), 0.5), 1),
    (benchmark("normal", "`normal(size=10⁷)`, read", _drawn("normal", 0.0, 1.0, N), _of("normal", dtype="float64"), 0.0), 1),
    (benchmark("gamma", "`gamma(2.5, size=10⁷)`, read", _drawn("gamma", 2.5, 1.0, N), _of("gamma", a=2.5, dtype="float64"), 2.5), 1),
    (benchmark("poisson", "`poisson(30, 10⁷)`, read", _drawn("poisson", 30.0, N), _of("poisson", lam=30.0), 30.0), 1),
    (benchmark("points", "π by 10⁷ points", _pi, _jax(_pi_of_jax), np.pi), 1),
    (
        benchmark(
            "few", f"`random({FEW})`, read", _drawn("random", FEW), _jax(lambda jax, key: jax.random.uniform(key, (FEW,))), 0.5, 1000
        ),
        1,
    ),
]
