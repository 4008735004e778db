"""Who is measured on a GPU: Weft, and each other library that is installed, which takes part in what it has a way to say.

A library is a class with a method per benchmark. A method sets up its arrays from the host's and gives a `Contender`. Libraries are
imported when they are made, so that one that is missing or broken is left out with the reason.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import kernels
import numpy as np

# Elements from the start of a result that contenders are compared by.
SAMPLE = 1 << 20


class Contender(NamedTuple):
    """What is timed, how to wait for it, and what it has computed."""

    run: Callable[[], Any]
    sync: Callable[[], Any]
    result: Callable[[], np.ndarray]


def blocks(n: int, threads: int) -> int:
    """Blocks of so many threads for n points."""
    return -(-n // threads)


class Kernels:
    """`weft.cuda` or `numba.cuda`: the same kernels, the same calls."""

    def __init__(self, name: str, device: Any = None) -> None:
        self.name = name
        self.device = device
        package = "numba" if name == "numba-cuda" else "weft.numba"
        types, self.cuda = importlib.import_module(package), importlib.import_module(f"{package.partition('.')[0]}.cuda")
        self.kernels = kernels.make(self.cuda, types.float32, types.int32)

    def put(self, array: np.ndarray) -> Any:
        if self.device is None:
            return self.cuda.to_device(array)
        with self.device:
            return self.cuda.to_device(array)

    def sync(self) -> None:
        if self.device is None:
            self.cuda.synchronize()
        else:
            self.device.synchronize()

    def contender(self, name: str, grid: Any, block: Any, arguments: tuple[Any, ...], out: Any) -> Contender:
        kernel = getattr(self.kernels, name)
        return Contender(lambda: kernel[grid, block](*arguments), self.sync, lambda: sample(out, lambda part: part.copy_to_host()))

    def mandelbrot(self, height: int, width: int, limit: int, dtype: type) -> Contender:
        image = self.put(np.zeros((height, width), np.uint16))
        view = [dtype(v) for v in kernels.VIEW]
        return self.contender("mandelbrot", (blocks(width, 32), blocks(height, 8)), (32, 8), (*view, image, limit), image)

    def haversine(self, lat: np.ndarray, lon: np.ndarray) -> Contender:
        held = [self.put(a) for a in (lat, lon, np.zeros_like(lat))]
        return self.contender("haversine", blocks(lat.size, 256), 256, tuple(held), held[2])

    def saxpy(self, a: np.float32, x: np.ndarray, y: np.ndarray) -> Contender:
        held = [self.put(x), self.put(y)]
        return self.contender("saxpy", blocks(x.size, 256), 256, (a, *held), held[1])

    def triad(self, b: np.ndarray, c: np.ndarray, s: np.float32) -> Contender:
        held = [self.put(a) for a in (np.zeros_like(b), b, c)]
        return self.contender("triad", blocks(b.size, 256), 256, (*held, s), held[0])

    def copy(self, x: np.ndarray) -> Contender:
        to, of = self.put(np.zeros_like(x)), self.put(x)
        return Contender(lambda: to.copy_to_device(of), self.sync, lambda: sample(to, lambda part: part.copy_to_host()))

    def total(self, x: np.ndarray, name: str = "total") -> Contender:
        held = [self.put(x), self.put(np.zeros(1, np.float32))]
        return self.contender(name, min(blocks(x.size, 256), 2048), 256, tuple(held), held[1])

    def shuffled_total(self, x: np.ndarray) -> Contender:
        return self.total(x, "shuffled_total")

    def transpose(self, a: np.ndarray) -> Contender:
        held = [self.put(a), self.put(np.zeros_like(a))]
        return self.contender("transpose", (blocks(a.shape[1], 32), blocks(a.shape[0], 32)), (32, 8), tuple(held), held[1])

    def matmul(self, a: np.ndarray, b: np.ndarray) -> Contender:
        held = [self.put(m) for m in (a, b, np.zeros_like(a))]
        grid = (b.shape[1] // kernels.TILE, a.shape[0] // kernels.TILE)
        return self.contender("matmul", grid, (kernels.TILE,) * 2, tuple(held), held[2])

    def histogram(self, data: np.ndarray) -> Contender:
        held = [self.put(data), self.put(np.zeros(kernels.BINS, np.int32))]
        return self.contender("histogram", min(blocks(data.size, kernels.BINS), 1024), kernels.BINS, tuple(held), held[1])

    def nbody(self, pos: np.ndarray) -> Contender:
        held = [self.put(pos), self.put(np.zeros_like(pos))]
        return self.contender("nbody", blocks(pos.shape[0], 128), 128, tuple(held), held[1])

    def launch(self) -> Contender:
        a, b, c = (self.put(np.zeros(32, np.float32)) for _ in range(3))
        return self.contender("three", 1, 32, (a, b, c), c)


class Elsewhere(Kernels):
    """Weft on a device of another kind, where two of the kernels are enough to see how it does."""

    haversine = saxpy = copy = total = shuffled_total = transpose = matmul = histogram = nbody = launch = None  # type: ignore[assignment]


def sample(array: Any, fetch: Callable[[Any], np.ndarray]) -> np.ndarray:
    """The first elements of a result, on the host; all rows at the start where it has several axes."""
    if array.ndim == 1:
        return fetch(array[:SAMPLE])
    return fetch(array[: max(SAMPLE // max(array.size // array.shape[0], 1), 1)])


# Other libraries: the module that has the class, and the package whose absence leaves it out.
OTHERS = {"numba-cuda": "numba.cuda", "cupy": "cupy", "torch": "torch", "triton": "triton", "jax": "jax"}


def find() -> tuple[list[Any], dict[str, str]]:
    """The contenders of this machine, Weft first, and why the others are left out."""
    import weft

    found: list[Any] = [Kernels("weft")]
    left_out: dict[str, str] = {}
    kinds = {device.kind: device for device in reversed(weft.devices()) if device.kind not in ("cpu", "cuda")}
    for device in kinds.values():
        found.append(Elsewhere(f"weft on {device.name}", device))
    for name in OTHERS:
        try:
            found.append(_other(name))
        except ImportError:
            left_out[name] = "not installed"
        except Exception as error:
            left_out[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    return found, left_out


def _other(name: str) -> Any:
    if name == "numba-cuda":
        importlib.import_module("numba")
        peer = Kernels("numba-cuda")
        peer.put(np.zeros(1))
        return peer
    return importlib.import_module(f"in_{name}").Library()
