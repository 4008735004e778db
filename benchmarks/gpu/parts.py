"""What is measured on a GPU: each part's data, and how near contenders' results must be to what is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import kernels
import numpy as np


class Part(NamedTuple):
    """One benchmark. Contenders have a method of the name `method`, which takes what `data` gives."""

    title: str
    method: str
    data: Callable[[], tuple[Any, ...]]
    # Bytes that have to move; 0 where that says nothing.
    moved: int
    # Are the results of one run of a contender right, given those of the first?
    agree: Callable[[np.ndarray, np.ndarray], bool]


def close(rtol: float) -> Callable[[np.ndarray, np.ndarray], bool]:
    return lambda first, other: bool(np.allclose(first, other, rtol=rtol, atol=1e-6))


def equals(expected: Callable[[], Any], rtol: float) -> Callable[[np.ndarray, np.ndarray], bool]:
    return lambda _first, other: bool(np.allclose(other, expected(), rtol=rtol, atol=0))


def nearly_all(first: np.ndarray, other: np.ndarray) -> bool:
    """Pixels on the border of the set hang on the last bit."""
    return bool((first != other).mean() < 1e-3)


def largest(memory: int, contenders: int, most: int) -> int:
    """Elements of float32 that three arrays of each contender may have: a power of two."""
    fits = int(0.8 * memory) // (12 * max(contenders, 1))
    return min(most, 1 << max(fits.bit_length() - 1, 10))


def all_parts(small: bool, memory: int, contenders: int) -> Iterator[Part]:
    """The parts in the order they are measured; `memory` is what the device has free."""
    rng = np.random.default_rng(1)
    for dtype in (np.float32, np.float64):
        for height, width, limit in ((64, 96, 20), (80, 80, 50)) if small else ((1024, 1536, 20), (10_000, 10_000, 1000)):
            title = f"Mandelbrot {height}x{width}, {limit} iterations, {dtype.__name__}"
            data = (height, width, limit, dtype)
            yield Part(title, "mandelbrot", lambda data=data: data, 0, nearly_all)

    for n in (1000, 2000) if small else (10**6, largest(memory // 2, contenders, 10**8)):
        yield Part(f"haversine, {n} points, float64", "haversine", lambda n=n: (rng.random(n), rng.random(n)), 24 * n, close(1e-12))

    n = 1 << 12 if small else largest(memory, contenders, 512 << 20)
    # The same numbers over and over: making so many would take longer than measuring.
    x, y = (np.resize(rng.random(min(n, 1 << 20), np.float32), n) for _ in range(2))
    size = f"{n >> 20} Mi" if n >> 20 else str(n)
    yield Part(f"saxpy, {size} float32", "saxpy", lambda: (np.float32(1e-3), x, y), 12 * n, close(1e-6))
    yield Part(f"triad, {size} float32", "triad", lambda: (x, y, np.float32(3)), 12 * n, close(1e-6))
    yield Part("device-to-device copy", "copy", lambda: (x,), 8 * n, close(0))
    for method, how in (("total", "shared memory"), ("shuffled_total", "shuffles")):
        yield Part(f"sum of {size} float32, {how}", method, lambda: (x,), 4 * n, equals(lambda: x.sum(dtype=np.float64), 1e-3))

    side = 64 if small else 16384
    square = np.resize(rng.random(min(side * side, 1 << 20), np.float32), (side, side))
    yield Part(f"transpose {side}x{side}, float32", "transpose", lambda: (square,), 8 * side * side, close(0))
    side = 64 if small else 4096
    a, b = (rng.random((side, side), np.float32) for _ in range(2))
    yield Part(f"matmul {side}, float32 (kernels: tiled)", "matmul", lambda: (a, b), 0, close(1e-4))
    count = 1 << 12 if small else 256 << 20
    bytes_ = np.resize(rng.integers(0, kernels.BINS, min(count, 1 << 20), np.uint8), count)
    expected = equals(lambda: np.bincount(bytes_, minlength=kernels.BINS), 0)
    yield Part("histogram of bytes (kernels: shared atomics)", "histogram", lambda: (bytes_,), count, expected)
    bodies = 256 if small else 65536
    yield Part(f"n-body, {bodies} bodies, float32", "nbody", lambda: (rng.random((bodies, 3), np.float32),), 0, close(1e-3))
