"""Compiled functions that tests send to other processes."""

import numpy as np

from weft import cuda, njit, prange, vectorize


@njit
def square(x):
    return x * x


@njit(parallel=True)
def total(a):
    s = 0.0
    for i in prange(len(a)):
        s += square(a[i])
    return s


@cuda.jit
def fill(out, value):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = value


@cuda.jit(device=True)
def half(x):
    return x / 2


@vectorize
def cube(x):
    return x * x * x


@vectorize(["float32(float32)", "float64(float64)"])
def negated(x):
    return -x


def plain(x):
    return x // 2


def plain_ratio(x, y):
    return x / y


halved = njit("int32(int32)", error_model="numpy")(plain)
ratio = njit(error_model="numpy")(plain_ratio)
halves = vectorize(plain)


class Holder:
    @staticmethod
    @njit
    def inside(x):
        return x + 1


def run_kernel(kernel, n):
    out = np.zeros(n)
    kernel[1, 32](out, 7.0)
    return out


def call(function, *args):
    return function(*args)


@njit
def checked(n):
    assert n > 5, "too small"
    return n


@njit
def refused(n):
    return undefined_name(n)  # noqa: F821
