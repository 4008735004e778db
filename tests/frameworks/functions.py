"""Functions of every sort that the tests make operations of, and what they compute in plain NumPy."""

from __future__ import annotations

import numpy as np

import weft
from weft import cuda, njit, prange


@weft.vectorize
def double(x):
    return 2 * x


@weft.vectorize
def mixed(x, y, a: float = 2.0, n: int = 1):
    return a * x * x + y * n


@weft.vectorize
def larger(x, y):
    return x > y


@njit
def scaled(x, factor: float):
    return x * factor


@njit(parallel=True)
def squares(x):
    total = 0.0
    for i in prange(x.shape[0]):
        total += x[i] * x[i]
    return total


@njit
def both(x, y):
    return x @ y, x.sum()


@njit
def sums(x, y):
    a = np.zeros((x.shape[0], y.shape[1]), x.dtype)
    for i in range(x.shape[0]):
        for j in range(y.shape[1]):
            for k in range(x.shape[1]):
                a[i, j] += x[i, k] * y[k, j]
    return a, x.sum()


@njit
def transposed(x):
    return x.T


@njit
def written(x, out):
    for i in range(x.shape[0]):
        out[i] = 3 * x[i]


@njit
def growing(x, by: float):
    for i in range(x.shape[0]):
        x[i] += by


@cuda.jit
def product(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * b[i]


@cuda.jit
def added(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += x[i]


@cuda.jit
def total(x, sums):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(sums, 0, x[i])


@cuda.jit
def flipped(x, y, n: int):
    i, j = cuda.grid(2)
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] = x[j, i] * n


@cuda.jit
def overwriting(x, y):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = y[i]


FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", *FLOATS, "complex64", "complex128")


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Small whole numbers of a dtype of NumPy's."""
    generator = np.random.default_rng([seed, *shape])
    low = 0 if dtype.startswith(("u", "b")) and dtype != "bfloat16" else -4
    if dtype == "bfloat16":
        dtype = "float32"
    found = generator.integers(low, 5, shape)
    if dtype.startswith("complex"):
        return (found + 1j * generator.integers(-4, 5, shape)).astype(dtype)
    return (found % 2 == 1) if dtype == "bool" else found.astype(dtype)
