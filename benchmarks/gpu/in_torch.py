"""PyTorch: its own functions, without a compiler."""

from __future__ import annotations

import math

import numpy as np
import torch
from contenders import Contender, sample


class Library:
    """PyTorch's way to say each."""

    name = "torch"

    def __init__(self) -> None:
        if not torch.cuda.is_available():
            raise RuntimeError("torch finds no CUDA device")
        torch.backends.cuda.matmul.allow_tf32 = False

    def put(self, array: np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(array)).cuda()

    def into(self, run, out) -> Contender:
        return Contender(run, torch.cuda.synchronize, lambda: sample(_Sized(out), lambda part: part.cpu().numpy()))

    def haversine(self, lat, lon):
        lat, lon = self.put(lat), self.put(lon)
        out = torch.empty_like(lat)

        def run():
            a = torch.sin((lat - 0.5) * 0.5) ** 2 + torch.cos(lat) * math.cos(0.5) * torch.sin((lon - 1.7) * 0.5) ** 2
            torch.mul(torch.atan2(torch.sqrt(a), torch.sqrt(1.0 - a)), 2.0 * 6371.0, out=out)

        return self.into(run, out)

    def saxpy(self, a, x, y):
        x, y = self.put(x), self.put(y)
        return self.into(lambda: y.add_(x, alpha=float(a)), y)

    def triad(self, b, c, s):
        b, c = self.put(b), self.put(c)
        a = torch.empty_like(b)
        return self.into(lambda: torch.add(b, c, alpha=float(s), out=a), a)

    def copy(self, x):
        x = self.put(x)
        to = torch.empty_like(x)
        return self.into(lambda: to.copy_(x), to)

    def total(self, x):
        x = self.put(x)
        out = torch.zeros(1, dtype=torch.float32, device="cuda")
        return self.into(lambda: torch.sum(x, dim=0, keepdim=True, out=out), out)

    def transpose(self, a):
        a = self.put(a)
        b = torch.empty_like(a)
        return self.into(lambda: b.copy_(a.T), b)

    def matmul(self, a, b):
        a, b = self.put(a), self.put(b)
        c = torch.empty_like(a)
        return self.into(lambda: torch.matmul(a, b, out=c), c)

    def histogram(self, data):
        data, held = self.put(data), {}

        def run():
            held["counts"] = torch.bincount(data, minlength=256)

        return Contender(run, torch.cuda.synchronize, lambda: held["counts"].cpu().numpy())

    def launch(self):
        a, b, c = (torch.zeros(32, dtype=torch.float32, device="cuda") for _ in range(3))
        return self.into(lambda: torch.add(a, b, out=c), c)


class _Sized:
    """A tensor whose `size` is a number, as elsewhere."""

    def __init__(self, tensor) -> None:
        self.tensor, self.ndim, self.shape, self.size = tensor, tensor.ndim, tensor.shape, tensor.numel()

    def __getitem__(self, index):
        return self.tensor[index]
