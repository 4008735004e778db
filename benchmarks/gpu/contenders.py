"""Who is measured on a GPU: Weft, and each other library that is installed, which takes part in what it has a way to say.

A library is a class with a method per benchmark. A method sets up its arrays from the host's and gives a `Contender`; `free` gives back
the memory of contenders that are gone. Libraries are imported when they are made, so that one that is missing or broken is left out with
the reason.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import where
from sizes import BINS, TILE, plane

# Elements of the start, of the middle and of the end of a result that contenders are compared by.
SAMPLE = 1 << 19


class Contender(NamedTuple):
    """What is timed, how to wait for it, and what it has computed: a sample, or None where there is nothing to compare."""

    run: Callable[[], Any]
    sync: Callable[[], Any]
    result: Callable[[], np.ndarray | None]


def blocks(n: int, threads: int) -> int:
    """Blocks of so many threads for n points."""
    return -(-n // threads)


def sample(array: Any, fetch: Callable[[Any], Any]) -> np.ndarray:
    """The start, the middle and the end of a result, on the host; whole rows where it has several axes."""
    rows = array.shape[0]
    wanted = max(SAMPLE // max(int(np.prod(array.shape[1:])), 1), 1)
    if rows <= 3 * wanted:
        return np.asarray(fetch(array[:]))
    return np.concatenate([fetch(array[at : at + wanted]) for at in (0, rows // 2, rows - wanted)])


def load(cuda: ModuleType, types: ModuleType) -> Any:
    """The module `kernels`, once more, with `cuda` and the types of one of the two."""
    spec = importlib.util.spec_from_file_location(f"kernels_of_{cuda.__name__}", Path(__file__).with_name("kernels.py"))
    module = importlib.util.module_from_spec(spec)
    module.cuda, module.float32, module.int32 = cuda, types.float32, types.int32
    spec.loader.exec_module(module)
    return module


class Kernels:
    """`weft.cuda` or `numba.cuda`: the same kernels, the same calls."""

    def __init__(self, name: str, device: Any = None) -> None:
        self.name = name
        self.device = device
        if name == "numba-cuda" and not hasattr(np, "row_stack"):
            np.row_stack = np.vstack  # numba-cuda 0.30 asks for it whenever it compiles; NumPy 2.5 has it no more
        package = "numba" if name == "numba-cuda" else "weft.numba"
        self.cuda = importlib.import_module(f"{package.partition('.')[0]}.cuda")
        self.kernels = load(self.cuda, importlib.import_module(package))

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

    def free(self) -> None:
        if self.name != "numba-cuda":
            import weft

            (self.device or weft.device("cuda")).free_all()

    def contender(self, kernel: Any, grid: Any, block: Any, arguments: tuple[Any, ...], out: Any) -> Contender:
        return Contender(lambda: kernel[grid, block](*arguments), self.sync, lambda: sample(out, lambda part: part.copy_to_host()))

    def mandelbrot(self, height: int, width: int, limit: int, dtype: type) -> Contender:
        image = self.put(np.zeros((height, width), np.uint16))
        view = [dtype(v) for v in plane(height, width)]
        grid = (blocks(width, 32), blocks(height, 8))
        return self.contender(self.kernels.mandelbrot(dtype), grid, (32, 8), (*view, image, limit), image)

    def haversine(self, lat: np.ndarray, lon: np.ndarray) -> Contender:
        held = [self.put(a) for a in (lat, lon, np.zeros((lat.size, lon.size)))]
        grid = (blocks(lon.size, 32), blocks(lat.size, 8))
        return self.contender(self.kernels.haversine, grid, (32, 8), tuple(held), held[2])

    def saxpy(self, a: np.float32, x: np.ndarray, y: np.ndarray) -> Contender:
        held = [self.put(x), self.put(y)]
        return self.contender(self.kernels.saxpy, blocks(x.size, 256), 256, (a, *held), held[1])

    def triad(self, b: np.ndarray, c: np.ndarray, s: np.float32) -> Contender:
        held = [self.put(a) for a in (np.zeros_like(b), b, c)]
        return self.contender(self.kernels.triad, blocks(b.size, 256), 256, (*held, s), held[0])

    def copy(self, x: np.ndarray) -> Contender:
        to, of = self.put(np.zeros_like(x)), self.put(x)
        return Contender(lambda: to.copy_to_device(of), self.sync, lambda: sample(to, lambda part: part.copy_to_host()))

    def total(self, x: np.ndarray, kernel: Any = None) -> Contender:
        held = [self.put(x), self.put(np.zeros(1, np.float32))]
        return self.contender(kernel or self.kernels.total, min(blocks(x.size, 256), 2048), 256, tuple(held), held[1])

    def shuffled_total(self, x: np.ndarray) -> Contender:
        return self.total(x, self.kernels.shuffled_total)

    def transpose(self, a: np.ndarray) -> Contender:
        held = [self.put(a), self.put(np.zeros_like(a))]
        return self.contender(self.kernels.transpose, (blocks(a.shape[1], 32), blocks(a.shape[0], 32)), (32, 8), tuple(held), held[1])

    def matmul(self, a: np.ndarray, b: np.ndarray) -> Contender:
        held = [self.put(m) for m in (a, b, np.zeros_like(a))]
        grid = (b.shape[1] // TILE, a.shape[0] // TILE)
        return self.contender(self.kernels.matmul, grid, (TILE,) * 2, tuple(held), held[2])

    def histogram(self, data: np.ndarray) -> Contender:
        held = [self.put(data), self.put(np.zeros(BINS, np.int32))]
        grid = min(blocks(data.size, BINS), 1024)
        return self.contender(self.kernels.histogram, grid, BINS, tuple(held), held[1])

    def nbody(self, pos: np.ndarray) -> Contender:
        held = [self.put(pos), self.put(np.zeros_like(pos))]
        return self.contender(self.kernels.nbody, blocks(pos.shape[0], 128), 128, tuple(held), held[1])

    def launch(self, a: np.ndarray, b: np.ndarray) -> Contender:
        held = [self.put(v) for v in (a, b, np.zeros_like(a))]
        return self.contender(self.kernels.three, 1, a.size, tuple(held), held[2])


class Elsewhere(Kernels):
    """Weft on a device of another kind, where two of the kernels are enough to see how it does."""

    haversine = saxpy = copy = total = shuffled_total = transpose = matmul = histogram = nbody = launch = None  # type: ignore[assignment]


class Yardstick:
    """The driver's copy of an array on the device, beside whatever moves arrays of its size: what the device's memory gives."""

    name = "yardstick"

    def __init__(self, weft: Kernels) -> None:
        self.weft = weft

    def free(self) -> None:
        """The memory is Weft's."""

    def _copy(self, x: np.ndarray) -> Contender:
        return self.weft.copy(x)._replace(result=lambda: None)

    def saxpy(self, _a: np.float32, x: np.ndarray, _y: np.ndarray) -> Contender:
        return self._copy(x)

    def triad(self, b: np.ndarray, _c: np.ndarray, _s: np.float32) -> Contender:
        return self._copy(b)

    def total(self, x: np.ndarray) -> Contender:
        return self._copy(x)

    shuffled_total = transpose = total


# Other libraries, and the package that their versions are those of.
OTHERS = ("numba-cuda", "cupy", "torch", "triton", "jax")


def find(left_out: dict[str, str], step: Callable[[str], None]) -> list[Any]:
    """The contenders of this machine, Weft first. Adds to `left_out` why others are not among them; who is in it is not asked."""
    import weft

    step("weft")
    found: list[Any] = [Kernels("weft")]
    found.append(Yardstick(found[0]))
    found += importlib.import_module("matrices").of_weft(weft.device("cuda"))
    for device in first_of_each_kind(weft.devices()):
        name = f"weft on {device.name}"
        if device.software and not where.DRY:
            left_out[name] = "its driver runs on the processor"
        if name not in left_out:
            found.append(Elsewhere(name, device))
    for name in OTHERS:
        if name in left_out:
            continue
        step(name)
        try:
            found.append(other(name))
        except ModuleNotFoundError as error:
            left_out[name] = f"{error.name} is not installed"
        except Exception as error:
            left_out[name] = reason(error)
    return found


def first_of_each_kind(devices: list[Any]) -> list[Any]:
    """Of the kinds that are neither processors nor CUDA."""
    return list({device.kind: device for device in reversed(devices) if device.kind not in ("cpu", "cuda")}.values())


def other(name: str) -> Any:
    """The library of a name in `OTHERS`, its driver started."""
    if name == "numba-cuda":
        peer = Kernels("numba-cuda")
        peer.put(np.zeros(1))
        return peer
    return importlib.import_module(f"in_{name}").Library()


def reason(error: BaseException) -> str:
    """What a table says of an error: its first cause. All that is known of it is added to the file that `where.ERRORS` names."""
    if where.ERRORS in os.environ:
        with open(os.environ[where.ERRORS], "a") as log:
            log.write("".join(traceback.format_exception(error)) + "\n")
    while error.__cause__ is not None:
        error = error.__cause__
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"[:160].replace("|", "/")
