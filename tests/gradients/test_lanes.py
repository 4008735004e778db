"""Loops whose adjoints run on lanes: independent turns, sums, neighbours, and those that only look independent.

Against central differences, over lengths of no, one, some and several gangs.
"""

import numpy as np
import pytest

import weft
from gradients.central import check, check_kernel
from weft import cuda, prange

LENGTHS = [0, 1, 2, 5, 63, 64, 65, 131]


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 1.5, size=shape)


def stencil(u, v):
    for i in range(1, u.shape[0] - 1):
        v[i] = u[i - 1] * u[i + 1] - 2 * u[i]


def from_behind(u, v):
    for i in range(u.shape[0] - 1, 0, -1):
        v[i] = u[i - 1] * u[i]


def recurrence(u, v):
    for i in range(1, u.shape[0]):
        v[i] = v[i - 1] * u[i]


def in_place(u, v):
    for i in range(u.shape[0]):
        u[i] = u[i] * v[i] + u[i]


def shifts(u, v):
    for i in range(1, u.shape[0]):
        u[i - 1] = u[i] * v[i]


def all_read_one(u, v):
    for i in range(u.shape[0]):
        v[i] = u[0] * u[i]


def all_write_one(u, v):
    for i in range(u.shape[0]):
        v[0] = u[i] * u[i]


def all_add_to_one(u, v):
    for i in range(u.shape[0]):
        v[0] += u[i] * u[i]


def wraps(u, v):
    for i in range(u.shape[0]):
        v[i] = u[i - 1] * u[i]


def every_second(u, v):
    for i in range(u.shape[0] // 2):
        v[2 * i] = u[2 * i] * u[2 * i + 1]


def mirrored(u, v):
    for i in range(u.shape[0]):
        v[u.shape[0] - 1 - i] = u[i] * u[i]


def halves(u, v):
    for i in range(u.shape[0]):
        v[i // 2] = v[i // 2] * 0.5 + u[i]


def sums(u, v):
    s = 0.0
    t = 1.0
    for i in range(u.shape[0]):
        s += u[i] * v[i]
        t -= u[i]
    for i in range(u.shape[0]):
        v[i] = s * t * u[i]


def running(u, v):
    s = 0.0
    for i in range(u.shape[0]):
        s += u[i]
        v[i] = s * s


def last_value(u, v):
    t = 0.0
    for i in range(u.shape[0]):
        t = u[i] * v[i]
    for i in range(u.shape[0]):
        v[i] = t * u[i]


def temporaries(u, v):
    for i in range(u.shape[0]):
        t = u[i]
        if t > 1.0:
            t = t * v[i]
        v[i] = t * t


def skips(u, v):
    for i in range(u.shape[0]):
        if u[i] > 1.0:
            continue
        v[i] = u[i] * v[i]


def breaks(u, v):
    for i in range(u.shape[0]):
        if u[i] > 1.4:
            break
        v[i] = u[i] * u[i]


def inner_loop(u, v):
    for i in range(u.shape[0]):
        s = 0.0
        for j in range(u.shape[0]):
            s += u[j] * u[i]
        v[i] = s


def inner_recurrence(u, v):
    for i in range(u.shape[0]):
        s = u[i]
        for _ in range(3):
            s = s * u[i] + v[i]
        v[i] = s


def triangle(u, v):
    for i in range(u.shape[0]):
        for j in range(i):
            v[i] += u[i] * u[j]


def gathered(u, v):
    for i in range(u.shape[0]):
        v[i] = u[(i * 7) % u.shape[0]] * u[i]


def two_arrays_of_one(u, v):
    for i in range(u.shape[0] // 2):
        u[i] = u[i] * v[i]
        v[i] = u[i] + v[i + 1]


FUNCTIONS = [
    stencil, from_behind, recurrence, in_place, shifts, all_read_one, all_write_one, all_add_to_one, wraps, every_second, mirrored, halves,
    sums, running, last_value, temporaries, skips, breaks, inner_loop, inner_recurrence, triangle, gathered, two_arrays_of_one,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("fastmath", [False, True])
def test_loops_over_one_axis(function, fastmath):
    compiled = weft.njit(function, fastmath=fastmath)
    for length in LENGTHS:
        if length or function not in (all_write_one, all_add_to_one):
            # Of long products and sums differences know fewer digits.
            u, v = numbers(length), numbers(length, seed=1)
            if function is recurrence:
                u = u**0.1
            check(compiled, u, v, tolerance=2e-6 if length < 10 else 1e-4)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_views_that_jump(function):
    compiled = weft.njit(function)
    for length in (5, 70):
        u, v = numbers(3 * length)[::3], numbers(2 * length, seed=1)[::-2]
        if function is recurrence:
            u = u**0.1
        check(compiled, u, v, tolerance=2e-6 if length < 10 else 1e-4)


def plate(u, v):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = u[i, j] * u[i - 1, j] + u[i + 1, j] + u[i, j - 1] - u[i, j + 1]
    v[0], v[-1] = u[0], u[-1]
    v[:, 0], v[:, -1] = u[:, 0], u[:, -1]


def rows_in_parallel(u, v):
    for i in prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = u[i, j] * u[i - 1, j] + u[i + 1, j] + u[i, j - 1] - u[i, j + 1]


def columns(u, v):
    for j in range(u.shape[1]):
        for i in range(1, u.shape[0]):
            v[i, j] = u[i - 1, j] * u[i, j]


def sums_of_rows(u, v):
    for i in range(u.shape[0]):
        s = 0.0
        for j in range(u.shape[1]):
            s += u[i, j] * u[0, j]
        v[i, 0] = s


def sums_of_columns(u, v):
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            v[0, j] += u[i, j] * u[i, 0]


def products(u, v):
    for i in prange(u.shape[0]):
        for k in range(u.shape[1]):
            for j in range(u.shape[1]):
                v[i, j] += u[i, k] * u[0, j]


@pytest.mark.parametrize("function", [plate, rows_in_parallel, columns, sums_of_rows, sums_of_columns, products], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(3, 3), (4, 9), (2, 67), (67, 2)])
def test_loops_over_two_axes(function, shape):
    for order in "CF":
        u, v = (np.asarray(numbers(*shape, seed=seed), order=order) for seed in (0, 1))
        check(weft.njit(function, parallel=True), u, v, tolerance=2e-6 if max(shape) < 10 else 1e-4)


@pytest.mark.parametrize("count", [0, 1, 3, 70])
@pytest.mark.parametrize("parallel", [False, True])
def test_bodies(count, parallel):
    @weft.njit(parallel=parallel)
    def energy(x, e):
        for i in prange(x.shape[0]):
            total = 0.0
            for j in range(x.shape[0]):
                dx = x[i, 0] - x[j, 0]
                dy = x[i, 1] - x[j, 1]
                total -= 1 / np.sqrt(dx * dx + dy * dy + 0.1)
            e[i] = total

    check(energy, numbers(count, 2), np.zeros(count), tolerance=2e-6 if count < 10 else 1e-4)


def test_loads_are_not_done_where_loops_do_not_run():
    @weft.njit
    def f(x, y, n):
        for i in range(n):
            y[i] = x[5] * y[i]

    x, y = np.zeros(0), np.ones(3)
    dx, dy = np.zeros(0), np.ones(3)
    f.grad((x, y, 0), (dx, dy, None))
    assert dy.tolist() == [1, 1, 1]


def made_and_stored(a, out):
    for i in prange(a.shape[0]):
        doubled = a[i] * 2
        out[i] = doubled * doubled


def made_by_a_loop(a, out):
    for i in prange(a.shape[0]):
        squares = np.zeros(a.shape[1])
        for j in range(a.shape[1]):
            squares[j] = a[i, j] * a[i, j]
        out[i] = squares[::-1]


def set_in_both_branches(a, out):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 1.0:
                t = a[i, j] * a[i, j]
            else:
                t = a[i, j] * 3.0
            out[i, j] = t * t


@pytest.mark.parametrize("function", [made_and_stored, made_by_a_loop, set_in_both_branches], ids=lambda function: function.__name__)
@pytest.mark.parametrize("parallel", [False, True])
def test_turns_with_arrays_and_values_of_their_own(function, parallel):
    for shape in ((0, 3), (3, 0), (4, 5), (2, 67)):
        check(weft.njit(function, parallel=parallel), numbers(*shape), np.zeros(shape), tolerance=1e-5)


def test_integers_of_few_bits_come_round():
    @weft.njit
    def cast(x, y):
        for i in range(x.shape[0]):
            y[np.uint8(i)] = y[np.uint8(i)] * x[i] + x[i]

    @weft.njit
    def moved(x, y):
        for i in range(x.shape[0]):
            at = np.uint8(i) + np.uint8(1)
            y[at] = y[at] * x[i] + x[i]

    for function in (cast, moved):
        check(function, numbers(300), numbers(300, seed=1), tolerance=1e-5)


@pytest.mark.parametrize("block", [(32, 1), (16, 2), (5, 3)])
def test_kernels_that_add_to_one_element(block):
    @cuda.jit
    def copied(w, y):
        j, i = cuda.grid(2)
        if i >= y.shape[0] or j >= y.shape[1]:
            return
        y[i, j] = w[i % w.shape[0]] * w[0]

    grid = tuple(-(-n // of) for n, of in zip((17, 3), block, strict=True))
    for count in (1, 2, 3):
        for order in "CF":
            check_kernel(copied, (grid, block), numbers(count), np.asarray(numbers(3, 17), order=order))
