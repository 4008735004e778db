"""A called function keeps what its own decorator asked for, whoever calls it."""

from __future__ import annotations

import numpy as np
import pytest

import weft
import weft.numba as numba
from weft import cuda
from weft.types import float32, float64, int64

# A product whose rounding shows: fused, a * b - c is not 0.
A, B = 1.0 + 2.0**-30, 1.0 - 2.0**-30
C = A * B


@cuda.jit(device=True, fma=False)
def rounded_twice(a, b, c):
    return a * b - c


@cuda.jit(device=True)
def fused(a, b, c):
    return a * b - c


@weft.njit
def of_the_host(a, b, c):
    return a * b - c


def plain(a, b, c):
    return a * b - c


def test_products_fuse_where_the_function_says(device):
    @cuda.jit
    def fusing(a, b, c, out):
        out[0] = rounded_twice(a, b, c)
        out[1] = fused(a, b, c)
        out[2] = of_the_host(a, b, c)
        out[3] = plain(a, b, c)

    @cuda.jit(fma=False)
    def rounding(a, b, c, out):
        out[0] = rounded_twice(a, b, c)
        out[1] = fused(a, b, c)
        out[2] = of_the_host(a, b, c)
        out[3] = plain(a, b, c)

    found = np.zeros((2, 4))
    fusing[1, 1](A, B, C, found[0])
    rounding[1, 1](A, B, C, found[1])
    assert (found != 0).tolist() == [[False, True, False, True], [False, True, False, False]]


def test_one_function_with_two_kinds_of_options():
    fast, exact = cuda.jit(device=True)(plain), cuda.jit(device=True, fma=False)(plain)

    @weft.njit
    def applied(f, a, b, c):
        return f(a, b, c)

    @weft.njit
    def both(a, b, c):
        return fast(a, b, c), exact(a, b, c), applied(fast, a, b, c), applied(exact, a, b, c)

    assert [x != 0 for x in both(A, B, C)] == [True, False, True, False]


@weft.njit(error_model="numpy")
def silent(a, b):
    return a // b


@weft.njit
def loud(a, b):
    return a // b


def test_the_error_model_is_the_functions_own():
    calls_silent = weft.njit(lambda a, b: silent(a, b))
    calls_loud = weft.njit(error_model="numpy")(lambda a, b: loud(a, b))
    with pytest.raises(ZeroDivisionError):
        calls_loud(1, 0)
    assert calls_silent(1, 0) == 0


@weft.njit(boundscheck=True)
def looked_up(a, i):
    return a[i]


def test_a_checked_function_checks_in_unchecked_ones():
    @weft.njit
    def reads(a, i):
        return looked_up(a, i)

    assert reads(np.arange(3.0), 2) == 2
    with pytest.raises(IndexError):
        reads(np.arange(3.0), 5)


@cuda.jit("int64(int64, int64)", device=True)
def whole(a, b):
    return a + b


@cuda.jit(["float32(float32)", "float64(float64)"], device=True)
def half(x):
    return x / 2


@weft.njit("float32(int64)")
def narrowed(n):
    return n / 3


def test_signatures_convert_in_calls(device):
    @cuda.jit
    def calls(x, y, out):
        out[0] = whole(2.9, y)
        out[1] = whole(x, 1)
        out[2] = narrowed(1)
        out[3] = half(x)

    out = np.zeros(4)
    calls[1, 1](np.float32(3.7), 1.5, out)
    assert out.tolist() == [3, 4, np.float32(1 / 3), np.float32(3.7) / 2]


def test_types_of_declared_results():
    @weft.njit
    def calls(x, n):
        return whole(x, n), narrowed(n), half(np.float32(1))

    found = calls(1.5, 2)
    assert [type(one) for one in found] == [np.int64, np.float32, np.float32]


def test_signatures_that_do_not_fit_are_named():
    with pytest.raises(weft.TypingError, match=r"'whole' was declared for other argument types than \(complex, int\)"):
        weft.njit(lambda: whole(1j, 1))()


@weft.njit
def shown(a, b):
    return a + b


@numba.njit
def shown_by_numba(a, b):
    return a + b


def test_a_dialect_is_the_functions_own():
    a, b = np.uint8(200), np.uint8(100)

    @weft.njit
    def mixed(a, b):
        return shown(a, b), shown_by_numba(a, b)

    @numba.njit
    def mixed_by_numba(a, b):
        return shown(a, b), shown_by_numba(a, b)

    assert mixed(a, b) == mixed_by_numba(a, b) == (44, 300)
    assert [type(x) for x in mixed(a, b)] == [np.uint8, np.uint64]
    assert [type(x) for x in mixed_by_numba(a, b)] == [int, int]
    (text,) = mixed.inspect_ir().values()
    numbas = [line for line in text.splitlines() if "@shown" in line and line.endswith("{")]
    assert sorted(line.split("@")[1].split("(")[0] for line in numbas if " numba" in line) == ["shown_by_numba"]
    assert len(numbas) == 2
    assert float32 is numba.float32 and float64 is numba.float64 and int64 is numba.int64


@weft.njit
def insertion_sort(a):
    for i in range(1, len(a)):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x


def copies(function):
    """How often the code of a sort stands in a function's."""
    (text,) = function.inspect_llvm().values()
    return text.count("= fcmp ogt double") + text.count("= fcmp olt double")


def test_a_large_function_called_often_is_compiled_once():
    @weft.njit
    def once(a):
        insertion_sort(a)

    @weft.njit
    def often(a):
        insertion_sort(a[:5])
        insertion_sort(a[5:])
        if a[0] > a[5]:
            for k in range(3):
                insertion_sort(a[k::3])
        insertion_sort(a[::-1])
        insertion_sort(a)

    a = np.random.default_rng(1).random(50)
    want = np.sort(a)
    b = a.copy()
    once(b)
    often(a)
    assert (a == want).all() and (b == want).all()
    # One for arrays that lie close and one for those that do not; and the comparison of `often` itself.
    assert copies(often) == 2 * copies(once) + 1, (copies(often), copies(once))


def test_lanes_take_in_what_the_host_calls():
    @weft.njit
    def steps(x):
        count = 0
        while x > 1.5 and count < 50:
            if count % 3 == 0:
                x = x * 0.5
            elif count % 3 == 1:
                x = x - 1.0
            else:
                x = x * 0.75 + 0.25
            count += 1
        return count + x * 0.001

    @weft.njit(parallel=True)
    def f(a):
        out = np.empty_like(a)
        first, last = steps(a[0]), steps(a[-1])
        for i in weft.prange(a.size):
            out[i] = steps(a[i]) + steps(a[i] + 1)
        return first, last, out

    a = np.linspace(0, 1000, 777)
    first, last, out = f(a)
    want = [steps.py_func(x) + steps.py_func(x + 1) for x in a]
    assert first == steps.py_func(a[0]) and last == steps.py_func(a[-1])
    assert (out == want).all()


def test_a_function_called_often_that_raises_prints_and_allocates(capfd):
    @weft.njit
    def work(n, k):
        if n == k:
            raise ValueError("asked for")
        total = np.zeros(n)
        for i in range(n):
            total[i] = i * k
            if i == n - 1 and k > 1:
                print("work", n, k)
        mine = total[::-1].copy()
        for i in range(1, n):
            mine[i] += mine[i - 1]
        return mine, total

    @weft.njit
    def f(n):
        a, b = work(n, 1)
        c, d = work(n + 1, 2)
        for i in range(20):
            e, _ = work(n, 0)
            a[0] += e[0] + i
        return a, b, c, d, work(n + 2, 3)[0]

    for n in (5, 3):
        got, want = f(n), f.py_func(n)
        assert all((x == y).all() for x, y in zip(got, want, strict=True))
    with pytest.raises(ValueError, match="asked for"):
        f(1)
