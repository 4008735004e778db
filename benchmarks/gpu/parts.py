"""What is measured on a GPU: each part's data, what moves, and what the results must be."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import matrices as matrices_of_arrays
import numpy as np
from contenders import sample
from sizes import BINS

LAUNCH = "warm launch, three arrays (host time)"
FIRST = "first call, Mandelbrot (new processes, empty caches)"
COPY = "device-to-device copy"


class Part(NamedTuple):
    """One benchmark. Contenders have a method of the name `method`, which takes what `data` gives."""

    title: str
    method: str
    data: Callable[[], tuple[Any, ...]]
    # The sample that a right result gives, from the data; None where only contenders can be compared with each other.
    expected: Callable[..., np.ndarray] | None
    # How much of the largest number results may be off; of pictures, the part of the pixels that may differ.
    tolerance: float
    # Bytes that have to move, and those that the yardstick moves; 0 where that says nothing.
    moved: int = 0
    copied: int = 0

    def right(self, found: np.ndarray, expected: np.ndarray) -> bool:
        """Whether a sample of a result is right."""
        if found.shape != expected.shape:
            return False
        if self.method == "mandelbrot":  # pixels on the border of the set hang on the last bit
            return bool((found.astype(np.int64) != expected).mean() <= self.tolerance)
        off = np.abs(found.astype(np.complex128 if found.dtype.kind == "c" else np.float64) - expected).max()
        return bool(off <= self.tolerance * np.abs(expected).max())


@functools.lru_cache(maxsize=2)
def numbers(seed: int, n: int) -> np.ndarray:
    """float32 between 0 and 1; a million of them over and over, since making so many would take longer than measuring."""
    return np.resize(np.random.default_rng(seed).random(min(n, 1 << 20), np.float32), n)


def shown(array: np.ndarray) -> np.ndarray:
    """Of an array, what a sample of a result of its shape shows."""
    return sample(array, np.asarray)


def distances(lat: np.ndarray, lon: np.ndarray) -> np.ndarray:
    """Of the rows of the mesh that a sample shows."""
    rows = shown(np.broadcast_to(lat[:, None], (lat.size, lon.size)))
    p, q = np.sin((rows - 0.5) * 0.5), np.sin((lon[None, :] - 1.7) * 0.5)
    a = p * p + np.cos(rows) * np.cos(0.5) * q * q
    return 2.0 * 6371.0 * np.arctan2(np.sqrt(a), np.sqrt(1.0 - a))


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of the rows that a sample shows."""
    return shown(a).astype(np.float64) @ b.astype(np.float64)


def largest(memory: int, contenders: int, most: int) -> int:
    """Elements of float32 that three arrays of each contender may have: a power of two."""
    fits = int(0.8 * memory) // (12 * max(contenders, 1))
    return min(most, 1 << max(fits.bit_length() - 1, 10))


def launches() -> Part:
    """A launch of one block."""
    return Part(LAUNCH, "launch", lambda: (np.arange(32, dtype=np.float32), np.ones(32, np.float32)), lambda a, b: a + b, 0.0)


def all_parts(small: bool, memory: int, contenders: int) -> Iterator[Part]:
    """The parts in the order they are measured; `memory` is what the device has free."""
    for dtype in (np.float32, np.float64):
        for shape in ((24, 40, 20), (32, 32, 50)) if small else ((1024, 1536, 20), (10_000, 10_000, 1000)):
            title = f"Mandelbrot {shape[0]}x{shape[1]}, {shape[2]} iterations, {dtype.__name__}"
            yield Part(title, "mandelbrot", lambda data=(*shape, dtype): data, None, 2e-2)

    for side in (24, 40) if small else (1000, 10_000):
        rng = np.random.default_rng(side)
        mesh = tuple(rng.random(side) for _ in range(2))
        yield Part(f"haversine mesh {side}x{side}, float64", "haversine", lambda mesh=mesh: mesh, distances, 1e-12)

    n = 1 << 12 if small else largest(memory, contenders, 256 << 20)
    size = f"{n >> 20} Mi" if n >> 20 else str(n)
    a, s = np.float32(1e-3), np.float32(3)

    def x() -> np.ndarray:
        return numbers(1, n)

    def y() -> np.ndarray:
        return numbers(2, n)

    both = (12 * n, 8 * n)
    yield Part(f"saxpy, {size} float32", "saxpy", lambda: (a, x(), y()), lambda a, x, y: a * shown(x) + shown(y), 1e-6, *both)
    yield Part(f"triad, {size} float32", "triad", lambda: (x(), y(), s), lambda b, c, s: shown(b) + s * shown(c), 1e-6, *both)
    yield Part(COPY, "copy", lambda: (x(),), shown, 0.0, 8 * n)
    for method, how in (("total", "shared memory"), ("shuffled_total", "shuffles")):
        title = f"sum of {size} float32, {how}"
        yield Part(title, method, lambda: (x(),), lambda x: x.sum(dtype=np.float64, keepdims=True), 1e-3, 4 * n, 8 * n)

    side = 64 if small else 1 << (largest(memory, contenders, 1 << 28).bit_length() - 1) // 2
    moved = 8 * side * side
    square = functools.partial(matrices, side, 3)
    yield Part(f"transpose {side}x{side}, float32", "transpose", square, lambda a: shown(a.T), 0.0, moved, moved)

    side = 64 if small else 4096
    yield Part(f"matmul {side}, float32 (kernels: tiled)", "matmul", functools.partial(matrices, side, 4, 5), product, 1e-4)

    count = 1 << 12 if small else 256 << 20
    title = "histogram of bytes (kernels: shared atomics)"
    yield Part(title, "histogram", functools.partial(random_bytes, count), counts, 0.0, count)

    bodies = 128 if small else 65536
    yield Part(f"n-body, {bodies} bodies, float32", "nbody", functools.partial(positions, bodies), None, 1e-3)
    yield from matrices_of_arrays.all_parts(small)


def matrices(side: int, *seeds: int) -> tuple[np.ndarray, ...]:
    """Square ones."""
    return tuple(numbers(seed, side * side).reshape(side, side) for seed in seeds)


def random_bytes(count: int) -> tuple[np.ndarray]:
    """A million, over and over."""
    return (np.resize(np.random.default_rng(6).integers(0, BINS, min(count, 1 << 20), np.uint8), count),)


def positions(bodies: int) -> tuple[np.ndarray]:
    """Anywhere in a cube."""
    return (np.random.default_rng(7).random((bodies, 3), np.float32),)


def counts(data: np.ndarray) -> np.ndarray:
    """Of each byte."""
    return np.bincount(data, minlength=BINS)
