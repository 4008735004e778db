"""Arrays on devices as arguments of kernels and vectorised functions, and in captured functions; on the CUDA driver's stand-in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft import _weft

DOUBLE = Path(_weft.__file__).parent / "libweft_cuda_double.so"

PROGRAM = """
import numpy as np
import weft
from weft import cuda

dev = "cuda:0"
h = np.arange(10.0)


@cuda.jit
def scale(out, x, by):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] * by


@cuda.jit
def bump(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] += 1


@weft.vectorize
def v(a, b):
    return a * b + np.sin(a)


@weft.vectorize
def strict(a):
    if a < 0:
        raise ValueError("negative")
    return a * 2


@weft.njit
def plus(a):
    return a + 1


def same(x, expected):
    assert (np.asarray(x) == expected).all()


def kernels():
    x, out = weft.asarray(h).to(dev), weft.zeros(10, device=dev)
    pending = out + 1
    scale[1, 32](out, x * 2, 3.0)
    same(out, h * 6)
    same(pending, 1)
    with weft.device(dev):
        view, stream, there = weft.zeros((10, 2)), cuda.stream(), cuda.to_device(h)
    scale[1, 32, stream](view[:, 1], x, 2.0)
    same(view + 1, np.stack([h * 0 + 1, h * 2 + 1], axis=1))
    host, here = np.zeros(10), weft.zeros(10)
    scale[1, 32](out, there, 1.0)
    same(out, h)
    for target in (host, here, there):
        scale[1, 32](target, out, 2.0)
        same(target.copy_to_host() if target is there else target, h * 2)
    before, old = np.asarray(x), x * 1
    bump[1, 32](x)
    bump[1, 32](x)
    same(x, h + 2)
    same(old, h)
    same(before, h)


def functions():
    x = weft.asarray(h).to(dev)
    result = v(x, x * 2) + 1
    assert result.device == x.device and len(weft.explain(result).kernels) == 1
    same(result, v(h, h * 2) + 1)
    same(v(x, h), v(h, h))
    same(v(x, weft.asarray(2.0)), v(h, 2.0))
    assert strict(x).device == x.device
    same(strict(x), h * 2)
    for wrong, words in ((lambda: plus(x), "in memory of cuda:0"), (lambda: v(x, weft.asarray(h)), "on different devices")):
        try:
            wrong()
        except ValueError as error:
            assert words in str(error)
        else:
            raise AssertionError(words)


def captured():
    x = weft.asarray(h).to(dev)
    g = weft.compile(lambda a, b: (v(a, b) * 2, a.sum()))
    for _ in range(3):
        a, b = g(x, x)
        same(a, v(h, h) * 2)
        assert a.device == x.device == b.device and g(weft.asarray(h), weft.asarray(h))[0].device != x.device
    assert g.captures == 2
    made = weft.compile(lambda x: weft.ones(3) + x)
    for _ in range(2):
        with weft.device(dev):
            assert made(weft.asarray(1.0)).device == x.device
        assert made(weft.asarray(1.0)).device != x.device
    assert made.captures == 2


kernels()
functions()
captured()
"""


@pytest.mark.skipif(not DOUBLE.exists(), reason="needs the stand-in for the driver")
def test_arrays_of_a_device(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    env = {**os.environ, "WEFT_CUDA_DRIVER": "double"}
    done = subprocess.run([sys.executable, str(file)], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
