"""Programs as they are written for CuPy, with the library as `xp`, beside the same in NumPy."""

from __future__ import annotations

import math

import numpy as np

import weft
import weft.cupy as cp
import weft.cupyx as cupyx


def test_black_scholes(device: weft.Device) -> None:
    price = cp.ElementwiseKernel(
        "T s, T x, T t, T r, T v",
        "T call, T put",
        """
        const T sqrt_t = sqrt(t);
        const T d1 = (log(s / x) + (r + v * v / 2) * t) / (v * sqrt_t);
        const T d2 = d1 - v * sqrt_t;
        const T discounted = x * exp(-r * t);
        call = s * normal(d1) - discounted * normal(d2);
        put = discounted * normal(-d2) - s * normal(-d1);
        """,
        "black_scholes",
        preamble="__device__ double normal(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }",
    )
    rng = np.random.default_rng(0)
    s, x, t = rng.uniform(5, 30, 100), rng.uniform(1, 100, 100), rng.uniform(0.25, 10, 100)
    call, put = price(cp.asarray(s), cp.asarray(x), cp.asarray(t), 0.02, 0.3)
    d1 = (np.log(s / x) + (0.02 + 0.3 * 0.3 / 2) * t) / (0.3 * np.sqrt(t))
    d2 = d1 - 0.3 * np.sqrt(t)
    normal = np.vectorize(lambda z: 0.5 * math.erfc(-z * math.sqrt(0.5)))
    cp.testing.assert_allclose(call, s * normal(d1) - x * np.exp(-0.02 * t) * normal(d2), rtol=1e-10, atol=1e-12)
    cp.testing.assert_allclose(call - put, s - x * np.exp(-0.02 * t), rtol=1e-9, atol=1e-10)


def test_k_means(device: weft.Device) -> None:
    distance = cp.ElementwiseKernel("S x0, S x1, S c0, S c1", "T d", "d = (x0 - c0) * (x0 - c0) + (x1 - c1) * (x1 - c1)", "distance")
    total = cp.ReductionKernel("T x, S mask", "T sum", "mask ? x : 0", "a + b", "sum = a", "0", "total")
    count = cp.ReductionKernel("T mask", "float32 many", "mask ? 1.0f : 0.0f", "a + b", "many = a", "0.0", "count")
    rng = np.random.default_rng(1)
    host = np.concatenate([rng.normal(at, 0.3, (50, 2)) for at in ((0, 0), (3, 3), (0, 4))]).astype("float32")
    points, centers, which = cp.asarray(host), cp.asarray(host[[0, 60, 120]]), np.arange(3)
    for _ in range(5):
        out = cp.empty((150, 3), "float32")
        distances = distance(points[:, None, 0], points[:, None, 1], centers[None, :, 0], centers[None, :, 1], out)
        labels = cp.argmin(distances, axis=1)
        mask = labels == cp.arange(3)[:, None]
        sums = cp.stack([total(points[:, k], mask, axis=1) for k in range(2)], axis=1)
        centers = sums / count(mask, axis=1)[:, None]
    labels = cp.asnumpy(labels)
    assert [len(set(labels[50 * k : 50 * k + 50])) for k in which] == [1, 1, 1] and len(set(labels)) == 3
    np.testing.assert_allclose(cp.asnumpy(centers), [host[labels == k].mean(0) for k in which], rtol=1e-4, atol=1e-5)


def test_heat_with_a_raw_kernel_in_c(device: weft.Device) -> None:
    step = cp.ElementwiseKernel(
        "raw T u, int64 width, T rate",
        "T v",
        """
        const long long y = i / width, x = i % width;
        if (x == 0 || y == 0 || x == width - 1 || y == n / width - 1) { v = u[i]; continue; }
        v = u[i] + rate * (u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - 4 * u[i]);
        """,
        "heat",
    )
    host = np.zeros((20, 30))
    host[0] = 1
    u = cp.asarray(host)
    for _ in range(10):
        u = step(u, 30, 0.2, cp.empty_like(u))
        lap = host[1:-1, :-2] + host[1:-1, 2:] + host[:-2, 1:-1] + host[2:, 1:-1] - 4 * host[1:-1, 1:-1]
        host[1:-1, 1:-1] += 0.2 * lap
    cp.testing.assert_allclose(u, host, rtol=1e-12)


def softmax(xp, x):
    """Code for both libraries, as it is written with `get_array_module`."""
    e = xp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_code_for_both_libraries(device: weft.Device) -> None:
    host = np.random.default_rng(2).normal(size=(30, 40))
    x = cp.asarray(host)
    assert cp.get_array_module(x) is cp and cp.get_array_module(host) is np
    cp.testing.assert_allclose(softmax(cp.get_array_module(x), x), softmax(np, host), rtol=1e-12)
    fused = cp.fuse()(lambda a, b: cp.where(a > b, a - b, 0))
    cp.testing.assert_array_equal(fused(x, 0.5), np.where(host > 0.5, host - 0.5, 0))


def test_histogram_by_scatter() -> None:
    host = np.random.default_rng(3).integers(0, 10, 500)
    counts = cp.zeros(10, "int64")
    cupyx.scatter_add(counts, cp.asarray(host), 1)
    cp.testing.assert_array_equal(counts, np.bincount(host, minlength=10))
