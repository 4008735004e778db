"""The kernels that GPUs are measured with, written once: `make` compiles them with `weft.cuda` or with `numba.cuda`."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

TILE = 16
BINS = 256
# What of the plane the pictures show: x from, x to, y from, y to.
VIEW = (-2.0, 1.0, -1.0, 1.0)


def make(cuda: Any, float32: Any, int32: Any) -> SimpleNamespace:
    """All kernels, compiled by one of the two; `float32` and `int32` are its types for shared arrays."""

    @cuda.jit(device=True)
    def escape(x, y, limit):
        c = complex(x, y)
        z = 0j
        for i in range(limit):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4.0:
                return i
        return limit

    @cuda.jit
    def mandelbrot(x0, x1, y0, y1, image, limit):
        col, row = cuda.grid(2)
        if row < image.shape[0] and col < image.shape[1]:
            x = x0 + col * (x1 - x0) / image.shape[1]
            y = y0 + row * (y1 - y0) / image.shape[0]
            image[row, col] = escape(x, y, limit)

    @cuda.jit
    def haversine(lat, lon, out):
        i = cuda.grid(1)
        if i < out.size:
            a = math.sin((lat[i] - 0.5) * 0.5) ** 2 + math.cos(lat[i]) * math.cos(0.5) * math.sin((lon[i] - 1.7) * 0.5) ** 2
            out[i] = 2.0 * 6371.0 * math.atan2(math.sqrt(a), math.sqrt(1.0 - a))

    @cuda.jit
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = a * x[i] + y[i]

    @cuda.jit
    def triad(a, b, c, s):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = b[i] + s * c[i]

    @cuda.jit
    def total(x, out):
        part = cuda.shared.array(256, float32)
        t = cuda.threadIdx.x
        acc = x[0] * 0
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            acc += x[i]
        part[t] = acc
        cuda.syncthreads()
        step = 128
        while step > 0:
            if t < step:
                part[t] += part[t + step]
            cuda.syncthreads()
            step //= 2
        if t == 0:
            cuda.atomic.add(out, 0, part[0])

    @cuda.jit
    def transpose(a, b):
        tile = cuda.shared.array((32, 33), float32)
        x = cuda.blockIdx.x * 32 + cuda.threadIdx.x
        y = cuda.blockIdx.y * 32 + cuda.threadIdx.y
        for k in range(0, 32, 8):
            if y + k < a.shape[0] and x < a.shape[1]:
                tile[cuda.threadIdx.y + k, cuda.threadIdx.x] = a[y + k, x]
        cuda.syncthreads()
        x = cuda.blockIdx.y * 32 + cuda.threadIdx.x
        y = cuda.blockIdx.x * 32 + cuda.threadIdx.y
        for k in range(0, 32, 8):
            if y + k < b.shape[0] and x < b.shape[1]:
                b[y + k, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + k]

    @cuda.jit
    def matmul(a, b, c):
        sa = cuda.shared.array((TILE, TILE), float32)
        sb = cuda.shared.array((TILE, TILE), float32)
        x, y = cuda.grid(2)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        acc = a[0, 0] * 0
        for k in range(0, a.shape[1], TILE):
            sa[ty, tx] = a[y, k + tx]
            sb[ty, tx] = b[k + ty, x]
            cuda.syncthreads()
            for j in range(TILE):
                acc += sa[ty, j] * sb[j, tx]
            cuda.syncthreads()
        c[y, x] = acc

    @cuda.jit
    def histogram(data, counts):
        local = cuda.shared.array(BINS, int32)
        t = cuda.threadIdx.x
        local[t] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
            cuda.atomic.add(local, data[i], 1)
        cuda.syncthreads()
        cuda.atomic.add(counts, t, local[t])

    @cuda.jit
    def nbody(pos, acc):
        i = cuda.grid(1)
        if i < pos.shape[0]:
            x = pos[i, 0]
            y = pos[i, 1]
            z = pos[i, 2]
            ax = x * 0
            ay = x * 0
            az = x * 0
            for j in range(pos.shape[0]):
                dx = pos[j, 0] - x
                dy = pos[j, 1] - y
                dz = pos[j, 2] - z
                d = dx * dx + dy * dy + dz * dz + np.float32(1e-3)
                w = np.float32(1) / (d * math.sqrt(d))
                ax += dx * w
                ay += dy * w
                az += dz * w
            acc[i, 0] = ax
            acc[i, 1] = ay
            acc[i, 2] = az

    @cuda.jit
    def shuffled_total(x, out):
        acc = x[0] * 0
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            acc += x[i]
        step = 16
        while step > 0:
            acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, step)
            step //= 2
        if cuda.laneid == 0:
            cuda.atomic.add(out, 0, acc)

    @cuda.jit
    def three(a, b, c):
        i = cuda.grid(1)
        if i < c.size:
            c[i] = a[i] + b[i]

    names = dict(locals())
    return SimpleNamespace(**{name: value for name, value in names.items() if name not in ("cuda", "float32", "int32")})
