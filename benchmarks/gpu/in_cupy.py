"""CuPy: elementwise kernels of its user's own, and its own functions for the rest."""

from __future__ import annotations

import matrices
import numpy as np
from contenders import Contender, sample
from sizes import plane
from where import DRY

if DRY:
    import dry_cupy as cupy
else:
    import cupy

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


def mandelbrot_kernel(dtype: str):
    """The picture's kernel in float32 or float64."""
    real = {"float32": "float", "float64": "double"}[dtype]
    return cupy.ElementwiseKernel(
        f"{dtype} x0, {dtype} dx, {dtype} y0, {dtype} dy, int32 width, int32 limit",
        "uint16 count",
        f"{real} cx = x0 + {real}(int(i) % width) * dx, cy = y0 + {real}(int(i) / width) * dy, x = 0, y = 0; int k = 0;"
        f"for (; k < limit; k++) {{ {real} t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; if (x * x + y * y >= 4) break; }}"
        "count = k",
        f"mandelbrot_{dtype}",
    )


class Library:
    """CuPy's way to say each."""

    name = "cupy"

    def __init__(self) -> None:
        self.sync = cupy.cuda.Device().synchronize
        cupy.zeros(1)

    def free(self) -> None:
        cupy.get_default_memory_pool().free_all_blocks()

    def into(self, run, out) -> Contender:
        return Contender(run, self.sync, lambda: sample(out, cupy.asnumpy))

    def mandelbrot(self, height, width, limit, dtype):
        image = cupy.zeros((height, width), np.uint16)
        kernel = mandelbrot_kernel(dtype.__name__)
        view = [dtype(v) for v in plane(height, width)]
        return self.into(lambda: kernel(*view, width, limit, image), image)

    def haversine(self, lat, lon):
        lat, lon = cupy.asarray(lat)[:, None], cupy.asarray(lon)[None, :]
        out = cupy.zeros((lat.size, lon.size))
        return self.into(lambda: HAVERSINE(lat, lon, out), out)

    def saxpy(self, a, x, y):
        # `y` is read and written: it stands as the result alone.
        x, y = cupy.asarray(x), cupy.array(y)
        return self.into(lambda: SAXPY(a, x, y), y)

    def triad(self, b, c, s):
        b, c = cupy.asarray(b), cupy.asarray(c)
        a = cupy.zeros_like(b)
        return self.into(lambda: TRIAD(b, c, s, a), a)

    def copy(self, x):
        x = cupy.asarray(x)
        to = cupy.zeros_like(x)
        return self.into(lambda: cupy.copyto(to, x), to)

    def total(self, x):
        x = cupy.asarray(x)
        out = cupy.zeros(1, np.float32)
        return self.into(lambda: cupy.sum(x, out=out[0, ...]), out)

    def transpose(self, a):
        a = cupy.asarray(a)
        b = cupy.zeros_like(a)
        return self.into(lambda: cupy.copyto(b, a.T), b)

    def matmul(self, a, b):
        a, b = cupy.asarray(a), cupy.asarray(b)
        c = cupy.zeros_like(a)
        return self.into(lambda: cupy.matmul(a, b, out=c), c)

    def histogram(self, data):
        data, held = cupy.asarray(data), {}

        def run():
            held["counts"] = cupy.bincount(data, minlength=256)

        return Contender(run, self.sync, lambda: cupy.asnumpy(held["counts"]))

    def launch(self, a, b):
        a, b = cupy.asarray(a), cupy.asarray(b)
        c = cupy.zeros_like(a)
        return self.into(lambda: THREE(a, b, c), c)


matrices.add_methods(Library, cupy, lambda _library, array: cupy.array(array), cupy.asnumpy)
