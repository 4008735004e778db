"""Triton: kernels over tiles, on PyTorch's tensors."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from contenders import Contender
from in_torch import Library as Torch
from sizes import plane


# Python's floats become float32 as arguments, so that the plane comes as constants.
@triton.jit
def mandelbrot_tile(
    image, width, n, limit, x0: tl.constexpr, dx: tl.constexpr, y0: tl.constexpr, dy: tl.constexpr, BLOCK: tl.constexpr, REAL: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cx = (at % width).to(REAL) * dx + x0
    cy = (at // width).to(REAL) * dy + y0
    x, y = tl.zeros([BLOCK], REAL), tl.zeros([BLOCK], REAL)
    count = tl.zeros([BLOCK], tl.int32) + limit
    i = 0
    running = 1
    while (i < limit) & (running > 0):
        x, y = x * x - y * y + cx, 2 * x * y + cy
        count = tl.where((x * x + y * y >= 4.0) & (count == limit), i, count)
        running = tl.sum((count == limit).to(tl.int32), 0)
        i += 1
    tl.store(image + at, count.to(tl.int16), mask=at < n)


@triton.jit
def saxpy_tile(a, x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, a * tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def triad_tile(a, b, c, s, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(a + at, tl.load(b + at, mask=at < n) + s * tl.load(c + at, mask=at < n), mask=at < n)


@triton.jit
def total_tile(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))


@triton.jit
def transpose_tile(a, b, rows, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    held = tl.load(a + i[:, None] * columns + j[None, :], mask=(i[:, None] < rows) & (j[None, :] < columns))
    tl.store(b + j[:, None] * rows + i[None, :], tl.trans(held), mask=(j[:, None] < columns) & (i[None, :] < rows))


@triton.jit
def matmul_tile(a, b, c, n: tl.constexpr, BLOCK: tl.constexpr, DEEP: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK, BLOCK], tl.float32)
    for k in range(0, n, DEEP):
        deep = k + tl.arange(0, DEEP)
        acc += tl.dot(tl.load(a + i[:, None] * n + deep[None, :]), tl.load(b + deep[:, None] * n + j[None, :]), input_precision="ieee")
    tl.store(c + i[:, None] * n + j[None, :], acc)


class Library:
    """Triton's way to say each."""

    name = "triton"

    def __init__(self) -> None:
        self.torch = Torch()

    def free(self) -> None:
        self.torch.free()

    def into(self, run, out) -> Contender:
        return self.torch.into(run, out)

    def mandelbrot(self, height, width, limit, dtype):
        image = self.torch.zeros(height, width, dtype=torch.int16)
        n, real = image.numel(), {"float32": tl.float32, "float64": tl.float64}[dtype.__name__]
        grid, view = (triton.cdiv(n, 256),), plane(height, width)
        return self.into(lambda: mandelbrot_tile[grid](image, width, n, limit, *view, BLOCK=256, REAL=real), image)

    def saxpy(self, a, x, y):
        x, y = self.torch.put(x), self.torch.put(y)
        grid = (triton.cdiv(x.numel(), 1024),)
        return self.into(lambda: saxpy_tile[grid](float(a), x, y, x.numel(), BLOCK=1024), y)

    def triad(self, b, c, s):
        b, c = self.torch.put(b), self.torch.put(c)
        a = torch.zeros_like(b)
        grid = (triton.cdiv(b.numel(), 1024),)
        return self.into(lambda: triad_tile[grid](a, b, c, float(s), b.numel(), BLOCK=1024), a)

    def total(self, x):
        x, out = self.torch.put(x), self.torch.zeros(1)
        grid = (triton.cdiv(x.numel(), 8192),)
        return self.into(lambda: total_tile[grid](x, out, x.numel(), BLOCK=8192), out)

    def transpose(self, a):
        a = self.torch.put(a)
        b = torch.zeros_like(a)
        grid = (triton.cdiv(a.shape[0], 64), triton.cdiv(a.shape[1], 64))
        return self.into(lambda: transpose_tile[grid](a, b, a.shape[0], a.shape[1], BLOCK=64), b)

    def matmul(self, a, b):
        a, b = self.torch.put(a), self.torch.put(b)
        c = torch.zeros_like(a)
        n = a.shape[0]
        return self.into(lambda: matmul_tile[n // 64, n // 64](a, b, c, n, BLOCK=64, DEEP=32), c)

    def launch(self, a, b):
        a, b = self.torch.put(a), self.torch.put(b)
        c = torch.zeros_like(a)
        return self.into(lambda: triad_tile[1,](c, a, b, 1.0, a.numel(), BLOCK=32), c)
