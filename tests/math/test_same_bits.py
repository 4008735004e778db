"""Same source, same bits: every function gives the bits of its text under NumPy, on every device, at every vector width, interpreted."""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys

import compiled
import numpy as np
import pytest
from mathlib import call
from promises import FUNCTIONS, samples

import weft

COMPLEX = ["cexp", "clog", "csqrt", "csinh", "ccosh", "ctanh", "casin", "cacos", "catan", "cexp2", "cexpm1", "clog1p", "csign"]
TYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def bits(x: np.ndarray) -> np.ndarray:
    """The bits of floats, with one NaN for all: payload and sign of a NaN are no device's promise."""
    x = np.where(np.isnan(x), np.array(np.nan, x.dtype), x)
    return x.view(np.int64 if x.dtype == np.float64 else np.int32)


def arguments(name: str, dtype: type, count: int = 600) -> list[np.ndarray]:
    """Hard inputs: special values, neighbours of them, all sizes, any bits."""
    if name in FUNCTIONS:
        return samples(FUNCTIONS[name], dtype, count, seed=11)
    rng = np.random.default_rng(11)
    values = np.concatenate([[0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan], rng.uniform(-3, 3, 12), rng.uniform(-800, 800, 4)])
    return [a.ravel() for a in np.meshgrid(values.astype(dtype), values.astype(dtype))]


def results(name: str, dtype: type, function=None) -> list[np.ndarray]:
    """What the compiled function gives, real and imaginary part apart."""
    function = function or getattr(compiled, name)
    args = arguments(name, dtype)
    if name in FUNCTIONS:
        return [np.asarray(function(*args))]
    z = np.empty(len(args[0]), np.complex64 if dtype is np.float32 else np.complex128)
    z.real, z.imag = args
    got = np.asarray(function(z))
    return [got.real, got.imag]


def text_results(name: str, dtype: type) -> list[np.ndarray]:
    got = call(name, *arguments(name, dtype))
    return list(got) if isinstance(got, tuple) else [got]


def compare(got: list[np.ndarray], want: list[np.ndarray], args: list[np.ndarray]) -> None:
    for g, w in zip(got, want):
        assert g.dtype == w.dtype
        wrong = np.flatnonzero(bits(g) != bits(w))
        assert len(wrong) == 0, f"{len(wrong)} differ, first of {[a[wrong[0]] for a in args]}: {g[wrong[0]]!r}, not {w[wrong[0]]!r}"


@TYPES
@pytest.mark.parametrize("name", [*FUNCTIONS, *COMPLEX])
def test_devices(name, dtype, device):
    compare(results(name, dtype), text_results(name, dtype), arguments(name, dtype))


@TYPES
@pytest.mark.parametrize("name", [*FUNCTIONS, *COMPLEX])
def test_interpreter(name, dtype):
    checked = weft.vectorize(getattr(compiled, name).py_func, debug=True)
    args = [a[:: max(len(a) // 150, 1)] for a in arguments(name, dtype)]
    want = call(name, *args)
    if name in FUNCTIONS:
        compare([np.asarray(checked(*args))], [want], args)
        return
    z = np.empty(len(args[0]), np.complex64 if dtype is np.float32 else np.complex128)
    z.real, z.imag = args
    got = np.asarray(checked(z))
    compare([got.real, got.imag], list(want), args)


@functools.cache
def digests() -> str:
    """A line per function: what its results come to."""
    lines = []
    for name in [*FUNCTIONS, *COMPLEX]:
        for dtype in (np.float64, np.float32):
            whole = b"".join(bits(part).tobytes() for part in results(name, dtype))
            lines.append(f"{name} {np.dtype(dtype).name} {hashlib.sha256(whole).hexdigest()[:16]}")
    return "\n".join(lines)


@pytest.mark.parametrize("level", ["sse2", "sse4", "avx2", "avx512"])
def test_vector_widths(level):
    """The same results with a lesser machine's instructions; a level the machine lacks is what it has."""
    environment = dict(os.environ, WEFT_CPU_FEATURES=level, WEFT_DEVICE="cpu")
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == digests().splitlines()


if __name__ == "__main__":
    print(digests())
