"""Matrices and transforms on a GPU, in whole-array functions that have one name in NumPy, CuPy and PyTorch: what is measured, and how each
library is asked. Weft takes part twice: with NVIDIA's libraries where they are installed, and without.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import elements
import numpy as np
from contenders import Contender, sample

# What each is of the namespace of an array library, whose submodules `linalg` and `fft` have the same names everywhere.
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "array_product": lambda xp, a: xp.matmul(a[0], a[1]),
    "array_products": lambda xp, a: xp.matmul(a[0], a[1]),
    "array_cholesky": lambda xp, a: xp.linalg.cholesky(a[0]),
    "array_solve": lambda xp, a: xp.linalg.solve(a[0], a[1]),
    "array_inverse": lambda xp, a: xp.linalg.inv(a[0]),
    "array_triangle": lambda xp, a: xp.abs(xp.linalg.qr(a[0])[1]),
    "array_eigenvalues": lambda xp, a: xp.linalg.eigh(a[0])[0],
    "array_singular_values": lambda xp, a: xp.linalg.svd(a[0], full_matrices=False)[1],
    "array_fft": lambda xp, a: xp.fft.fft(a[0]),
    "array_fft2": lambda xp, a: xp.fft.fft2(a[0]),
    "array_rfft": lambda xp, a: xp.fft.rfft(a[0]),
    "array_irfft": lambda xp, a: xp.fft.irfft(a[0]),
    **elements.FUNCTIONS,
}


def add_methods(library: type, namespace: Any, put: Callable[[Any, np.ndarray], Any], fetch: Callable[[Any], np.ndarray]) -> None:
    """Gives a class of a library a method for each; `put` is given the library and an array of the host's."""
    for method, function in FUNCTIONS.items():
        setattr(library, method, functools.partialmethod(_contender, namespace, put, fetch, function))


def _contender(self: Any, namespace: Any, put: Any, fetch: Any, function: Any, *arrays: np.ndarray) -> Contender:
    held: dict[str, Any] = {}
    there = [put(self, array) for array in arrays]

    def run() -> None:
        held["found"] = function(namespace, there)

    return Contender(run, self.sync, lambda: sample(held["found"], fetch))


class _OfWeft:
    """Weft's arrays, computed when they are asked for."""

    def __init__(self, device: Any) -> None:
        self.device, self.sync = device, device.synchronize

    def free(self) -> None:
        self.device.free_all()


class Arrays(_OfWeft):
    """With NVIDIA's libraries."""

    name = "weft"


class OwnArrays(_OfWeft):
    """Without them."""

    name = "weft, own kernels"


def of_weft(device: Any) -> list[Any]:
    """Weft with NVIDIA's libraries, and without."""
    import weft
    import weft.fft
    import weft.linalg
    from weft.kernels.nvidia import finding

    def computed(function: Any, paused: bool) -> Any:
        def run(xp: Any, arrays: Any) -> Any:
            # Queued, as everybody's calls are: the wait is at the end of a sample.
            if not paused:
                found = function(xp, arrays)
                weft.eval(found, wait=False)
                return found
            with finding.paused():
                found = function(xp, arrays)
                weft.eval(found, wait=False)
                return found

        return run

    for library, paused in ((Arrays, False), (OwnArrays, True)):
        for method, function in FUNCTIONS.items():
            if paused and method in elements.FUNCTIONS:
                continue
            call = computed(function, paused)
            place = functools.partial(_placed, weft)
            setattr(library, method, functools.partialmethod(_contender, weft, place, weft.asnumpy, call))
    return [Arrays(device), OwnArrays(device)]


def _placed(weft: Any, library: _OfWeft, array: np.ndarray) -> Any:
    return weft.asarray(array, device=library.device)


def all_parts(small: bool) -> Iterator[Any]:
    """The parts, each with NumPy's result."""
    import parts

    def of(title: str, method: str, tolerance: float, *arrays: tuple[Any, ...], dtype: str = "float32") -> Any:
        made = functools.partial(_data, arrays, dtype)
        return parts.Part(f"{title}, {dtype}", method, made, functools.partial(_expected, method), tolerance)

    side = 24 if small else 2048
    yield of(f"array product {side}x{side}", "array_product", 1e-4, ("any", side, side), ("any", side, side))
    yield of(f"array product {side}x{side}", "array_product", 1e-12, ("any", side, side), ("any", side, side), dtype="float64")
    # On tensor cores, sums in float32; the size is that of Weft's own large tiles.
    half = 40 if small else 4096
    yield of(f"array product {half}x{half}", "array_product", 2e-2, ("any", half, half), ("any", half, half), dtype="float16")
    count = 3 if small else 4096
    yield of(f"{count} array products 32x32", "array_products", 1e-4, ("any", count, 32, 32), ("any", count, 32, 32))
    for dtype, tolerance in (("float32", 1e-4), ("float64", 1e-10)):
        yield of(f"cholesky {side}x{side}", "array_cholesky", tolerance, ("positive", side, side), dtype=dtype)
        yield of(f"solve {side}x{side}", "array_solve", 10 * tolerance, ("positive", side, side), ("any", side, 16), dtype=dtype)
    yield of(f"inverse {side}x{side}", "array_inverse", 1e-3, ("positive", side, side))
    side = 12 if small else 1024
    yield of(f"QR {side}x{side}", "array_triangle", 1e-3, ("any", side, side))
    yield of(f"eigenvalues and vectors {side}x{side}", "array_eigenvalues", 1e-4, ("positive", side, side))
    yield of(f"singular values and vectors {side}x{side}", "array_singular_values", 1e-4, ("any", side, side))
    rows, n = (3, 16) if small else (1024, 4096)
    yield of(f"FFT of {rows} rows of {n}", "array_fft", 1e-5, ("any", rows, n), dtype="complex64")
    yield of(f"FFT of real rows, {rows} of {n}", "array_rfft", 1e-5, ("any", rows, n))
    yield of(f"FFT to real rows, {rows} of {n}", "array_irfft", 1e-5, ("half", rows, n // 2 + 1), dtype="complex64")
    side = 12 if small else 2048
    yield of(f"FFT of {side}x{side}", "array_fft2", 1e-5, ("any", side, side), dtype="complex64")
    yield of(f"FFT of 15015 elements, {rows} rows" if not small else "FFT of 15 elements", "array_fft", 1e-5,
             ("any", rows, 15 if small else 15015), dtype="complex64")  # fmt: skip
    yield from elements.all_parts(small, of)


@functools.lru_cache(maxsize=1)
def _data(arrays: tuple[tuple[Any, ...], ...], dtype: str) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(11)
    return tuple(_made(rng, kind, shape, dtype).astype(dtype) for kind, *shape in arrays)


def _made(rng: np.random.Generator, kind: str, shape: list[int], dtype: str) -> np.ndarray:
    """Numbers of a kind: whole ones that are all distinct or few, between 0 and 1, in order, positive definite, half a spectrum, or any."""
    if kind == "distinct":
        return rng.permutation(shape[0])
    if kind == "few":
        return rng.integers(0, 1000, shape)
    if kind == "some":
        return rng.random(shape)
    made = rng.standard_normal(shape)
    if kind == "ordered":
        return np.sort(made)
    if kind == "positive":
        return made @ made.T / shape[-1] + np.eye(shape[-1])
    if dtype.startswith("complex"):
        made = made + 1j * rng.standard_normal(shape)
    if kind == "half":
        # Of a real signal: what is otherwise there libraries read or not.
        made[..., [0, -1]] = made[..., [0, -1]].real
    return made


def _expected(method: str, *arrays: np.ndarray) -> np.ndarray:
    wide = {"c": np.complex128, "f": np.float64}
    return sample(FUNCTIONS[method](np, [a.astype(wide.get(a.dtype.kind, a.dtype)) for a in arrays]), np.asarray)
