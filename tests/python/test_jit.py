"""Host functions: every one equals the undecorated function, in value and in type."""

import math

import numpy as np
import pytest

import weft
from weft import njit, prange


def same(got, want):
    """Equal in value and kind: a Python number for a Python number, a NumPy scalar of the same dtype for a NumPy scalar."""
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
        return
    if isinstance(want, np.ndarray):
        assert isinstance(got, np.ndarray) and got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)
        return
    assert type(got) is type(want), f"{got!r} is a {type(got).__name__}, {want!r} a {type(want).__name__}"
    assert got == want or (got != got and want != want)


@njit
def add(a, b):
    return a + b


@pytest.mark.parametrize(
    "a, b",
    [
        (1, 2),
        (1, 2.5),
        (True, 2),
        (1j, 2),
        (np.float32(1.5), 2),
        (np.float32(1.5), 2.5),
        (np.float32(1.5), np.float64(2)),
        (np.int8(100), 20),
        (np.uint16(3), np.int16(4)),
        (np.int64(3), np.uint64(4)),
        (np.complex64(1 + 2j), 3),
        (np.bool_(True), np.int8(2)),
        (np.uint8(3), 2.0),
    ],
)
def test_weak_and_strong_numbers(a, b):
    same(add(a, b), add.py_func(a, b))


@njit
def collatz(n, most=1000):
    steps = 0
    while n != 1 and steps < most:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def test_defaults_and_keywords():
    same(collatz(27), 111)
    same(collatz(27, 10), 10)
    same(collatz(most=5, n=27), 5)
    same(collatz(n=1), 0)


@njit
def keyword_only(a, /, b, *, c=3, d):
    return a + 10 * b + 100 * c + 1000 * d


def test_positional_and_keyword_only_parameters():
    same(keyword_only(1, 2, d=4), 4321)
    same(keyword_only(1, b=2, d=4, c=5), 4521)
    for wrong in (lambda: keyword_only(1, 2, 3, 4), lambda: keyword_only(a=1, b=2, d=4), lambda: keyword_only(1, 2)):
        with pytest.raises(weft.ArgumentError):
            wrong()


@njit
def swap(pair):
    a, (b, c) = pair
    return (c, (a, b)), len(pair)


def test_nested_tuples():
    same(swap((1, (2.5, np.int8(3)))), swap.py_func((1, (2.5, np.int8(3)))))


@njit
def nothing(a):
    a[0] = 7


def test_functions_without_a_result_return_none():
    a = np.zeros(3)
    assert nothing(a) is None
    assert a[0] == 7


@njit
def signs(a, b):
    return a // b, a % b, divmod(a, b), abs(a), -a, round(a / b)


@pytest.mark.parametrize("a, b", [(7, 3), (-7, 3), (7, -3), (-7, -3), (7.5, -2.0), (-7.5, 2.0)])
def test_division_floors(a, b):
    same(signs(a, b), signs.py_func(a, b))


@njit
def floats(x):
    return math.floor(x), math.ceil(x), math.sqrt(x), int(x), float(x), min(x, 2.0), max(x, 2.0), math.fabs(-x)


@pytest.mark.parametrize("x", [0.0, 1.5, 2.0, 1e6 + 0.25])
def test_math(x):
    same(floats(x), floats.py_func(x))


@njit
def find(a, wanted):
    for i in range(len(a)):
        if a[i] == wanted:
            break
    else:
        return -1
    return i


def test_for_else():
    a = np.array([3, 1, 4, 1, 5])
    assert find(a, 4) == 2
    assert find(a, 9) == -1


@njit
def pairs(a, b):
    total = 0.0
    for i, (x, y) in enumerate(zip(a, b)):
        total += i * x * y
    return total


def test_enumerate_and_zip():
    a, b = np.arange(5.0), np.arange(7.0) + 1
    same(pairs(a, b), pairs.py_func(a, b))


@njit
def walk(a):
    total = a.dtype.type(0)
    for x in a:
        total += x
    return total, a.shape, a.ndim, a.size, len(a)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.complex64, np.uint8])
def test_walking_an_array(dtype):
    a = np.arange(10).astype(dtype)[::3]
    same(walk(a), walk.py_func(a))


@njit
def transpose_sum(a):
    t = a.T
    s = 0.0
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            s += (i + 1) * t[i, j] - t[-1, -j - 1]
    return s


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a,
        np.asfortranarray,
        lambda a: a[::2, 1::2],
        lambda a: a[::-1, ::-1],
        lambda a: a.T,
        lambda a: np.broadcast_to(a[0], a.shape),
        lambda a: a[:0],
    ],
)
def test_layouts(make):
    a = make(np.arange(24.0).reshape(4, 6))
    assert transpose_sum(a) == transpose_sum.py_func(a)


@njit
def zero_d(a):
    return a[()] + 1


def test_arrays_of_rank_0():
    same(zero_d(np.array(4.5)), np.float64(5.5))


@njit
def views_of_zero_d(a, b):
    v = a[...]
    a[()] = 50
    b[...] += 3
    w = b[...]
    w[...] = w * 2
    return v, a[()], w, b[..., None], b[None, ...]


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.complex64, np.int8])
def test_an_ellipsis_gives_a_view_of_rank_0(dtype):
    ours, theirs = ((np.array(3, dtype), np.array(4, dtype)) for _ in range(2))
    for got, want in zip(views_of_zero_d(*ours), views_of_zero_d.py_func(*theirs)):
        assert np.shape(got) == np.shape(want)
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(ours, theirs)


@njit
def half(a):
    n = len(a) // 2
    return a[:n], a[n:]


def test_slices_return_views_of_the_argument():
    a = np.arange(10)
    first, second = half(a)
    first[0] = 100
    second[-1] = 200
    assert a[0] == 100 and a[-1] == 200
    assert np.shares_memory(first, a)


@njit
def make(n):
    a = np.zeros((n, 2))
    for i in range(n):
        a[i, 0] = i
        a[i, 1] = i * i
    return a, a[:, 1], a.T


def test_returned_arrays_outlive_the_call():
    views = make(1000)
    want = make.py_func(1000)
    kept = [v[5:] for v in views]
    del views
    noise = [np.full(2000, np.nan) for _ in range(50)]
    for got, expected in zip(kept, want):
        np.testing.assert_array_equal(got, expected[5:])
    assert len(noise) == 50


def test_zero_size_results():
    whole, column, flipped = make(0)
    assert whole.shape == (0, 2) and column.shape == (0,) and flipped.shape == (2, 0)


SCALE = 3
TABLE = np.array([1.0, 2.0, 4.0])


@njit
def uses_globals(i):
    return SCALE * TABLE[i]


def make_closure(offset):
    @njit
    def shifted(x):
        return x + offset

    return shifted


def test_globals_and_closures_are_frozen():
    global SCALE
    same(uses_globals(2), np.float64(12))
    SCALE = 10
    same(uses_globals(2), np.float64(12))
    SCALE = 3
    same(make_closure(5)(1), 6)
    same(make_closure(0.5)(1), 1.5)


@njit
def table():
    return TABLE


def test_a_frozen_array_cannot_be_changed_through_a_result():
    got = table()
    np.testing.assert_array_equal(got, TABLE)
    if got.flags.writeable:
        got[0] = 99
    np.testing.assert_array_equal(table(), [1.0, 2.0, 4.0])


def plain(x):
    return x * x


@njit
def inner(x, power=2):
    y = x
    for _ in range(power - 1):
        y = y * x
    return y


@njit
def outer(x):
    return inner(x) + inner(x, power=3) + plain(x)


def test_calls():
    same(outer(3), outer.py_func(3))
    same(outer(np.float32(1.5)), outer.py_func(np.float32(1.5)))


def test_calls_through_a_module():
    import helpers

    @njit
    def through(x):
        return helpers.twice(x) + helpers.CONSTANT

    same(through(4), 2 * 4 + helpers.CONSTANT)


@njit(parallel=True)
def parallel_sum(a):
    total = 0.0
    for i in prange(a.shape[0]):
        total += a[i]
    return total


@njit(parallel=True)
def row_sums(a, out):
    for i in prange(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


def test_prange():
    a = np.arange(100_000, dtype=np.float64)
    assert parallel_sum(a) == a.sum()
    m = a.reshape(100, 1000)
    out = np.empty(100)
    row_sums(m, out)
    np.testing.assert_array_equal(out, m.sum(1))


def test_results_do_not_depend_on_the_number_of_threads():
    a = np.random.default_rng(1).random(300_001)
    before = weft.get_num_threads()
    sums = []
    try:
        for threads in (1, 2, 5):
            weft.set_num_threads(threads)
            sums.append(parallel_sum(a))
    finally:
        weft.set_num_threads(before)
    assert sums[0] == sums[1] == sums[2]


@njit
def expression(a, b, c):
    return (a + b * c - 2).sum(), (a * 2).max(), np.zeros_like(a)


def test_array_expressions():
    a, b, c = np.random.default_rng(2).random((3, 50))
    got, want = expression(a, b, c), expression.py_func(a, b, c)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-14)
    same(got[1:], want[1:])


@njit
def says(a, x):
    print("a is", a, "and x is", x)
    return a


def test_print(capsys):
    says(3, 0.5)
    assert capsys.readouterr().out == "a is 3 and x is 0.5\n"


def test_introspection():
    @njit
    def documented(x):
        """Doubles."""
        return 2 * x

    documented(1)
    documented(1.0)
    assert documented.__name__ == "documented"
    assert documented.__doc__ == "Doubles."
    assert documented.__module__ == __name__
    assert documented.py_func(2) == 4
    assert sorted(map(repr, documented.signatures)) == ["(float64,)", "(int64,)"]
    assert "documented" in documented.inspect_ir("(float64,)")
    assert len(documented.inspect_llvm()) == 2
    assert all("define" in text for text in documented.inspect_llvm().values())
    assert all(text.strip() for text in documented.inspect_asm().values())


def test_methods():
    class Thing:
        @staticmethod
        @njit
        def double(x):
            return 2 * x

    assert Thing.double(4) == 8


def test_threads_compile_and_run_at_once():
    from concurrent.futures import ThreadPoolExecutor

    @njit
    def f(a):
        s = 0.0
        for x in a:
            s += x
        return s

    arrays = [np.full(1000, i, dtype) for i in range(8) for dtype in (np.float64, np.float32, np.int32)]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(f, arrays))
    assert [float(g) for g in got] == [float(a.sum()) for a in arrays]


def test_lambdas_that_choose():
    f, g = (njit(lambda a, n: n if a == 1 else n + 1), njit(lambda a, n: n if a == 2 else n - 1))
    assert [(f(a, 5), g(a, 5)) for a in (1, 2)] == [(5, 4), (6, 5)]
    h = njit(lambda a, n: (n == 1 and a == 2) or n > a)
    assert [h(2, 1), h(3, 1), h(0, 4)] == [True, False, True]
