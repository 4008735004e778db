"""Gradients of kernels: each against central differences of the launch itself, on a device of each kind."""

import math

import numpy as np
import pytest

import weft
from gradients.central import check_kernel
from weft import cuda

x5 = np.array([0.3, -1.2, 0.7, 1.9, -0.4])
y5 = np.array([1.1, 0.6, -0.8, 0.2, 1.7])

pytestmark = pytest.mark.usefixtures("device")


@cuda.jit
def elementwise(a, x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * math.exp(x[i]) + x[i] * x[i]


@cuda.jit
def stencil(k, u, v):
    i = cuda.grid(1)
    if 0 < i and i < u.shape[0] - 1:
        v[i] = u[i] + k * (u[i - 1] * u[i - 1] - 2.0 * u[i] + u[i + 1])


@cuda.jit
def gathers(index, x, y):
    i = cuda.grid(1)
    if i < index.shape[0]:
        y[i] += x[index[i]] * x[i]


@cuda.jit
def scatters(index, x, y):
    i = cuda.grid(1)
    if i < index.shape[0]:
        cuda.atomic.add(y, index[i], x[i] * x[i])


@cuda.jit
def n_body(x, f):
    i = cuda.grid(1)
    if i < x.shape[0]:
        a = x[i] * 0.0
        for j in range(x.shape[0]):
            d = x[j] - x[i]
            a += d / (d * d + 0.1)
        f[i] = a


@cuda.jit
def matmul(a, b, c):
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        s = c[i, j] * 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@cuda.jit
def strided(x, y):
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        if x[i] > 0:
            y[i] = x[i] * x[i]
        else:
            y[i] *= x[i]


@cuda.jit
def counted(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        t = x[i]
        for _j in range(6):
            t = t * t * 0.5 + x[i]
            if t > 3.0:
                break
        y[i] = t


@cuda.jit
def logistic(x, n, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        t = x[i]
        k = 0
        while k < n[i]:
            t = 3.1 * t * (1.0 - t) + 0.01 * x[i]
            k += 1
        y[i] = t


@cuda.jit
def block_sums(x, y):
    part = cuda.shared.array(8, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] * x[i] if i < x.shape[0] else 0.0
    cuda.syncthreads()
    half = 4
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        y[cuda.blockIdx.x] = part[0]


@cuda.jit
def tiled(a, b, c):
    ta = cuda.shared.array((4, 4), np.float64)
    tb = cuda.shared.array((4, 4), np.float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], 4):
        ta[ty, tx] = 0
        tb[ty, tx] = 0
        if row < a.shape[0] and k + tx < a.shape[1]:
            ta[ty, tx] = a[row, k + tx]
        if k + ty < b.shape[0] and col < b.shape[1]:
            tb[ty, tx] = b[k + ty, col]
        cuda.syncthreads()
        for j in range(4):
            total += ta[ty, j] * tb[j, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@cuda.jit
def local_arrays(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        t = cuda.local.array(4, np.float64)
        for k in range(4):
            t[k] = x[i] * (k + 1)
        s = 0.0
        for k in range(4):
            s += t[k] * t[3 - k]
        y[i] = s


@cuda.jit
def again_and_again(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = x[i] * x[i]
        y[i] = y[i] * y[i] + x[i]
        if x[i] > 0:
            y[i] *= 2.0 * y[i]


@cuda.jit
def overwrites(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] = x[i] * x[i]


def test_elementwise():
    check_kernel(elementwise, (1, 8), 0.7, x5, y5)
    check_kernel(elementwise, (3, (4, 1, 1)), 0.7, x5, y5)


def test_stencil():
    check_kernel(stencil, (2, 4), 0.3, x5, y5)


def test_gathers_and_scatters():
    index = np.array([0, 2, 2, 1, 0])
    check_kernel(gathers, (1, 8), index, x5, y5)
    check_kernel(scatters, (1, 8), index, x5, y5)


def test_n_body():
    check_kernel(n_body, (1, 8), x5, y5)


def test_matmul():
    rng = np.random.default_rng(0)
    check_kernel(matmul, (1, (4, 4)), rng.standard_normal((3, 4)), rng.standard_normal((4, 2)), np.zeros((3, 2)))


def test_strides_of_the_grid():
    check_kernel(strided, (1, 2), x5, y5)


def test_loops_that_carry():
    check_kernel(counted, (1, 8), x5, y5, tolerance=1e-5)


def test_loops_of_any_length():
    """What they begin with is kept of some turns, from which the others are computed again."""
    x = np.array([0.3, 0.5, 0.21, 0.7, 0.6, 0.4])
    check_kernel(logistic, (1, 8), x, np.array([0, 1, 2, 7, 31, 32]), np.ones(6), step=1e-8, tolerance=1e-3)
    # Chaotic ones against the same chain of derivatives, multiplied out.
    for n in (33, 64, 65, 200, 1100, 2500):
        dx, dy = np.zeros(1), np.ones(1)
        x = np.array([0.37])
        logistic.grad[1, 8]((x, np.array([n]), np.ones(1)), (dx, None, dy))
        t, d = x[0], 1.0
        for _ in range(n):
            t, d = 3.1 * t * (1.0 - t) + 0.01 * x[0], 3.1 * (1.0 - 2.0 * t) * d + 0.01
        assert np.isclose(dx[0], d, rtol=1e-6), n


def test_shared_memory():
    rng = np.random.default_rng(0)
    check_kernel(block_sums, (3, 8), rng.standard_normal(20), np.zeros(3))
    a, b = rng.standard_normal((6, 9)), rng.standard_normal((9, 7))
    check_kernel(tiled, ((2, 2), (4, 4)), a, b, np.zeros((6, 7)))


def test_blocks_that_leave_shared_memory_as_it_was():
    a = np.ones((2, 2))
    with pytest.raises(ValueError, match="a thread for each element of its shared arrays"):
        tiled.grad[(1, 1), (2, 2)]((a, a, a.copy()), (a.copy(), a.copy(), a.copy()))
        cuda.synchronize()


def test_local_arrays():
    check_kernel(local_arrays, (1, 8), x5, y5)


def test_elements_that_are_written_and_read_again():
    check_kernel(again_and_again, (1, 8), x5, y5)


def test_in_place():
    check_kernel(overwrites, (1, 8), x5)


def test_threads_that_share_elements():
    """Where threads differ along another axis than the index, the elements of the adjoint are several threads'."""

    @cuda.jit
    def rows(x, y):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < y.shape[1]:
            y[i, j] = x[i] * x[i] * (j + 1.0)

    check_kernel(rows, (1, (8, 4)), x5, np.zeros((5, 3)))


def test_float32():
    check_kernel(elementwise, (1, 8), np.float32(0.7), x5.astype(np.float32), y5.astype(np.float32), step=1e-2, tolerance=2e-2)


def test_launches():
    dx, dy = np.zeros(5), np.ones(5)
    with pytest.raises(TypeError, match="launched"):
        elementwise.grad((0.7, x5, y5), (None, dx, dy))
    elementwise.grad[1, 8]((0.7, x5, y5), (None, dx, dy))
    assert np.allclose(dx, 0.7 * np.exp(x5) + 2 * x5) and not dy.any()
    with pytest.raises(ValueError, match="shape"):
        elementwise.grad[1, 8]((0.7, x5, y5), (np.zeros(2), dx, dy))


def test_what_is_refused():
    @cuda.jit
    def again(x, y):
        i = cuda.grid(1)
        if i < x.shape[0]:
            y[i] = x[i]
            for _k in range(3):
                y[i] = y[i] * y[i]

    dx, dy = np.zeros(5), np.ones(5)
    with pytest.raises(weft.errors.UnsupportedError, match=r"(?s)overwrites `y`.*y\[i\] = y\[i\] \* y\[i\]"):
        again.grad[1, 8]((x5, y5), (dx, dy))

    @cuda.jit
    def largest(x, y):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.max(y, 0, x[i])

    with pytest.raises(weft.errors.UnsupportedError, match="no derivative is known"):
        largest.grad[1, 8]((x5, y5), (dx, dy))


def test_rules():
    @cuda.jit
    def steps(x, y):
        i = cuda.grid(1)
        if i < x.shape[0]:
            y[i] = math.floor(x[i])

    @steps.defvjp
    def straight_through(adjoints, outputs, x, y):
        adjoints[0][:] += adjoints[1]
        adjoints[1][:] = 0.0

    dx, dy = np.zeros(5), np.ones(5)
    steps.grad[1, 8]((x5, y5), (dx, dy))
    assert np.array_equal(dx, np.ones(5)) and not dy.any()
