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


def turned_shape(x):
    return x.shape[::-1]


def blocks_of(x):
    return max(-(-x.shape[0] // 32), 1), 32


like = weft.like
SEVERAL = (lambda x, y: ((x.shape[0], y.shape[1]), x.dtype), like("x", shape=()))
# Of every sort of operation a function, and what is said of it: what it gives, and how it is launched.
SORTS = {
    "vectorized": (double, None, {}),
    "two operands": (mixed, None, {}),
    "returns an array": (scaled, like("x"), {}),
    "returns a number": (squares, like("x", shape=(), dtype="float64"), {}),
    "returns several": (both, SEVERAL, {}),
    "writes to a parameter": (written, {"out": like("x")}, {}),
    "kernel": (product, like("a"), {}),
    "kernel in two dimensions": (flipped, {"y": like("x", shape=turned_shape)}, {"grid": turned_shape}),
    "kernel with blocks": (total, like("x", shape=1, fill=0), {"launch": blocks_of}),
}
# Their rules, but for that of the last, which says in a framework's words that each element has the cotangent.
RULES = {
    "vectorized": lambda g: 2 * g,
    "two operands": lambda x, g, a, n: (2 * a * x * g, n * g),
    "returns an array": lambda factor, g: factor * g,
    "returns a number": lambda x, g: 2 * x * g,
    "returns several": lambda x, y, g: (g[0] @ y.T + g[1], x.T @ g[0]),
    "writes to a parameter": lambda g: 3 * g,
    "kernel": lambda a, b, g: (g * b, g * a),
    "kernel in two dimensions": lambda n, g: n * g.T,
}
# What they are called with: shapes of arrays, and numbers.
ARGUMENTS = {
    "vectorized": ((3, 4),),
    "two operands": ((3, 1), (4,), 0.5),
    "returns an array": ((3, 4), 1.5),
    "returns a number": ((10,),),
    "returns several": ((3, 4), (4, 2)),
    "writes to a parameter": ((5,),),
    "kernel": ((100,), (100,)),
    "kernel in two dimensions": ((3, 5), 2),
    "kernel with blocks": ((70,),),
}


def operations(make, rules=None):
    """An operation of every sort, by `make(function, out, **said)`. Without rules gradients are Weft's own, of code that has one."""
    found = {}
    for name, (function, out, said) in SORTS.items():
        if rules is None:
            found[name] = make(sums if function is both else function, out, **said)
        else:
            found[name] = make(function, out, vjp=rules[name], **said)
    return found


def arguments(name, array):
    """What the operation of a sort is called with, arrays by `array(*shape)`."""
    return tuple(array(*each) if isinstance(each, tuple) else each for each in ARGUMENTS[name])


def expected(name, a):
    """What it gives, in the words that all frameworks and NumPy have."""
    return {
        "vectorized": lambda: [2 * a[0]],
        "two operands": lambda: [a[2] * a[0] * a[0] + a[1]],
        "returns an array": lambda: [a[0] * a[1]],
        "returns a number": lambda: [(a[0] ** 2).sum()],
        "returns several": lambda: [a[0] @ a[1], a[0].sum()],
        "writes to a parameter": lambda: [3 * a[0]],
        "kernel": lambda: [a[0] * a[1]],
        "kernel in two dimensions": lambda: [a[0].T * a[1]],
        "kernel with blocks": lambda: [a[0].sum()[None]],
    }[name]()


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
