"""PyTorch: its own functions, without a compiler."""

from __future__ import annotations

import math

import matrices
import numpy as np
import torch
from contenders import Contender, sample
from where import DRY, TORCH


class Library:
    """PyTorch's way to say each."""

    name = "torch"

    def __init__(self) -> None:
        if not DRY and not torch.cuda.is_available():
            raise RuntimeError("torch finds no CUDA device")
        torch.backends.cuda.matmul.allow_tf32 = False
        self.sync = torch.cpu.synchronize if DRY else torch.cuda.synchronize
        self.zeros(1)
        self.sync()

    def free(self) -> None:
        if not DRY:
            torch.cuda.empty_cache()

    def put(self, array: np.ndarray):
        """A copy: in a dry run the host's array must stay as it is."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(TORCH, copy=True)

    def zeros(self, *shape: int, dtype=torch.float32):
        return torch.zeros(shape, dtype=dtype, device=TORCH)

    def into(self, run, out) -> Contender:
        return Contender(run, self.sync, lambda: sample(out, lambda part: part.cpu().numpy()))

    def haversine(self, lat, lon):
        lat, lon = self.put(lat)[:, None], self.put(lon)[None, :]
        out = self.zeros(lat.numel(), lon.numel(), dtype=torch.float64)

        def run():
            p, q = torch.sin((lat - 0.5) * 0.5), torch.sin((lon - 1.7) * 0.5)
            a = p * p + torch.cos(lat) * math.cos(0.5) * (q * q)
            torch.mul(torch.atan2(torch.sqrt(a), torch.sqrt(1.0 - a)), 2.0 * 6371.0, out=out)

        return self.into(run, out)

    def saxpy(self, a, x, y):
        x, y = self.put(x), self.put(y)
        return self.into(lambda: y.add_(x, alpha=float(a)), y)

    def triad(self, b, c, s):
        b, c = self.put(b), self.put(c)
        a = torch.zeros_like(b)
        return self.into(lambda: torch.add(b, c, alpha=float(s), out=a), a)

    def copy(self, x):
        x = self.put(x)
        to = torch.zeros_like(x)
        return self.into(lambda: to.copy_(x), to)

    def total(self, x):
        x = self.put(x)
        out = self.zeros(1)
        return self.into(lambda: torch.sum(x, dim=0, keepdim=True, out=out), out)

    def transpose(self, a):
        a = self.put(a)
        b = torch.zeros_like(a)
        return self.into(lambda: b.copy_(a.T), b)

    def matmul(self, a, b):
        a, b = self.put(a), self.put(b)
        c = torch.zeros_like(a)
        return self.into(lambda: torch.matmul(a, b, out=c), c)

    def histogram(self, data):
        data, held = self.put(data), {}

        def run():
            held["counts"] = torch.bincount(data, minlength=256)

        return Contender(run, self.sync, lambda: held["counts"].cpu().numpy())

    def launch(self, a, b):
        a, b = self.put(a), self.put(b)
        c = torch.zeros_like(a)
        return self.into(lambda: torch.add(a, b, out=c), c)


matrices.add_methods(Library, torch, Library.put, lambda part: part.cpu().numpy())
