"""Fourier transforms of one line and of planes, complex and real, in both precisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import WEFT, Benchmark, Contender, Work

LINES = (64, 1024, 1 << 16, 1 << 20, 15015, 1009, 100003)
PLANES = ((256, 256), (1024, 1024), (1000, 1500))


def _numbers(shape: Any, single: bool, is_real: bool) -> np.ndarray:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape) if is_real else rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    return x.astype(np.float32 if is_real else np.complex64) if single else x


def _libraries(name: str, x: np.ndarray) -> list[Contender]:
    """Everyone's function of that name; SciPy's with its one worker."""

    def weft() -> Work:
        import weft

        f, given = getattr(weft.fft, name), weft.asarray(x)
        return lambda: f(given)

    def numpy() -> Work:
        f = getattr(np.fft, name)
        return lambda: f(x)

    def scipy() -> Work:
        import scipy.fft

        f = getattr(scipy.fft, name)
        return lambda: f(x)

    def jax() -> Work:
        from peers import jax

        jax_ = jax()
        f, given = jax_.jit(getattr(jax_.numpy.fft, name)), jax_.numpy.asarray(x)
        return lambda: jax_.block_until_ready(f(given))

    makers: dict[str, Callable[[], Work]] = {"numpy": numpy, "scipy": scipy, "jax": jax}
    return [Contender(WEFT, weft, WEFT, "weft"), *(Contender(peer, make, needs=peer) for peer, make in makers.items())]


def _benchmark(name: str, shape: Any, single: bool) -> Benchmark:
    x = _numbers(shape, single, name.startswith("r"))
    sizes = "×".join(map(str, shape)) if isinstance(shape, tuple) else str(shape)

    def check(result: Any, reference: np.ndarray) -> str | None:
        off = float(np.linalg.norm(np.asarray(result) - reference) / np.linalg.norm(reference))
        return None if off < (1e-5 if single else 1e-13) else f"off by {off:.0e}"

    return Benchmark(
        name=f"{name}-{sizes}-{x.dtype}",
        title=f"`{name}`, {sizes}, {x.dtype}",
        contenders=_libraries(name, x),
        reference=lambda: getattr(np.fft, name)(x),
        check=check,
        seconds=0.5,
        inner=max(1, 20_000 // x.size),
    )


ONE = [_benchmark(name, n, single) for name in ("fft", "rfft") for n in LINES for single in (False, True)]
TWO = [_benchmark(name, shape, single) for name in ("fft2", "rfft2") for shape in PLANES for single in (False, True)]
