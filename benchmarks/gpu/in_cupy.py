"""CuPy: fused elementwise kernels, and its own functions for the rest."""

from __future__ import annotations

import cupy
import numpy as np
from contenders import Contender, sample

SAXPY = cupy.ElementwiseKernel("float32 a, float32 x", "float32 y", "y = a * x + y", "saxpy")
TRIAD = cupy.ElementwiseKernel("float32 b, float32 c, float32 s", "float32 a", "a = b + s * c", "triad")
THREE = cupy.ElementwiseKernel("float32 a, float32 b", "float32 c", "c = a + b", "three")
HAVERSINE = cupy.ElementwiseKernel(
    "float64 lat, float64 lon",
    "float64 out",
    "double p = sin((lat - 0.5) * 0.5), q = sin((lon - 1.7) * 0.5), a = p * p + cos(lat) * cos(0.5) * q * q;"
    "out = 2.0 * 6371.0 * atan2(sqrt(a), sqrt(1.0 - a))",
    "haversine",
)


class Library:
    """CuPy's way to say each."""

    name = "cupy"

    def __init__(self) -> None:
        self.sync = cupy.cuda.Device().synchronize
        cupy.zeros(1)

    def into(self, run, out) -> Contender:
        return Contender(run, self.sync, lambda: sample(out, cupy.asnumpy))

    def haversine(self, lat, lon):
        lat, lon = cupy.asarray(lat), cupy.asarray(lon)
        out = cupy.empty_like(lat)
        return self.into(lambda: HAVERSINE(lat, lon, out), out)

    def saxpy(self, a, x, y):
        x, y = cupy.asarray(x), cupy.asarray(y)
        return self.into(lambda: SAXPY(a, x, y), y)

    def triad(self, b, c, s):
        b, c = cupy.asarray(b), cupy.asarray(c)
        a = cupy.empty_like(b)
        return self.into(lambda: TRIAD(b, c, s, a), a)

    def copy(self, x):
        x = cupy.asarray(x)
        to = cupy.empty_like(x)
        return self.into(lambda: cupy.copyto(to, x), to)

    def total(self, x):
        x = cupy.asarray(x)
        out = cupy.zeros(1, np.float32)
        return self.into(lambda: cupy.sum(x, out=out[0]), out)

    def transpose(self, a):
        a = cupy.asarray(a)
        b = cupy.empty_like(a)
        return self.into(lambda: cupy.copyto(b, a.T), b)

    def matmul(self, a, b):
        a, b = cupy.asarray(a), cupy.asarray(b)
        c = cupy.empty_like(a)
        return self.into(lambda: cupy.matmul(a, b, out=c), c)

    def histogram(self, data):
        data, held = cupy.asarray(data), {}
        return Contender(
            lambda: held.update(counts=cupy.bincount(data, minlength=256)), self.sync, lambda: cupy.asnumpy(held["counts"])
        )  # fmt: skip

    def launch(self):
        a, b, c = (cupy.zeros(32, np.float32) for _ in range(3))
        return self.into(lambda: THREE(a, b, c), c)
