"""The kernels that GPUs are measured with, written once. Weft and numba-cuda each load this file for themselves: see `contenders.load`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sizes import BINS, TILE

if TYPE_CHECKING:  # whoever loads this file gives it these
    from weft import cuda
    from weft.numba import float32, int32


def mandelbrot(dtype: type) -> Any:
    """The picture's kernel, with all arithmetic in `dtype`: whole numbers become float64 under Numba where they are not told otherwise."""
    real, cplx = (np.float32, np.complex64) if dtype is np.float32 else (np.float64, np.complex128)
    nought, four = cplx(0), real(4)

    @cuda.jit(device=True)
    def escape(x, y, limit):
        c = complex(x, y)
        z = nought
        for i in range(limit):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= four:
                return i
        return limit

    @cuda.jit
    def picture(x0, dx, y0, dy, image, limit):
        col, row = cuda.grid(2)
        if row < image.shape[0] and col < image.shape[1]:
            image[row, col] = escape(x0 + real(col) * dx, y0 + real(row) * dy, limit)

    return picture


@cuda.jit
def haversine(lat, lon, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        p = math.sin((lat[i] - 0.5) * 0.5)
        q = math.sin((lon[j] - 1.7) * 0.5)
        a = p * p + math.cos(lat[i]) * math.cos(0.5) * q * q
        out[i, j] = 2.0 * 6371.0 * math.atan2(math.sqrt(a), math.sqrt(1.0 - a))


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
    acc = np.float32(0)
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
    acc = np.float32(0)
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
        ax = np.float32(0)
        ay = np.float32(0)
        az = np.float32(0)
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
    acc = np.float32(0)
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
