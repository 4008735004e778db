"""Functions that call themselves: types, memory, the end of the stack, threads; each as the undecorated function has it."""

import random
import sys
import threading

import numpy as np
import pytest

import weft
import weft.numba
from weft import njit, prange


@njit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@njit
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


@njit
def is_even(n):
    return n == 0 or is_odd(n - 1)


@njit
def is_odd(n):
    return n != 0 and is_even(n - 1)


@njit
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def test_numbers():
    assert [fib(n) for n in range(15)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377]
    assert ackermann(2, 3) == 9
    assert fib(np.int8(10)) == 55 and fib(10.0) == 55.0


def test_functions_that_call_each_other():
    assert [is_even(n) for n in range(5)] == [True, False, True, False, True]
    assert [is_odd(n) for n in range(5)] == [False, True, False, True, False]


@njit
def powered(x, n):
    if n == 0:
        return 1
    return x * powered(x, n - 1)


def test_a_result_whose_type_grows():
    assert powered(1.5, 3) == 1.5**3 and powered(2, 10) == 1024
    assert powered(1j, 3) == -1j


@njit
def down(n):
    if n < 0:
        return 0
    return across(n) + 1


@njit
def across(n):
    s = down(n - 1)
    if n > 3:
        return s + 0.5
    return s


@njit
def above(n):
    return down(n) + across(n) * 2 + relying(n)


@njit
def relying(n):
    return across(n) + down(n - 1)


def plain(function):
    """The function with all it calls undecorated."""
    names = {}
    for name in ("down", "across", "above", "relying"):
        own = globals()[name].py_func
        names[name] = type(own)(own.__code__, names, name)
    return names[function]


@pytest.mark.parametrize("name", ["down", "across", "above", "relying"])
def test_types_that_grow_by_way_of_others(name):
    for n in range(8):
        assert globals()[name](n) == plain(name)(n), n


def test_numbas_rules_hold():
    @weft.numba.njit
    def summed(a, i):
        if i == a.size:
            return 0
        return a[i] + summed(a, i + 1)

    assert summed(np.full(10, 200, np.uint8), 0) == 2000


@njit
def merged(a):
    if a.size < 2:
        return a.copy()
    middle = a.size // 2
    left, right = merged(a[:middle]), merged(a[middle:])
    out = np.empty_like(a)
    i = j = 0
    for k in range(a.size):
        if j >= right.size or (i < left.size and left[i] <= right[j]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return out


@njit
def quicksort(a, low, high):
    if low >= high:
        return
    pivot, i = a[high], low
    for j in range(low, high):
        if a[j] < pivot:
            a[i], a[j] = a[j], a[i]
            i += 1
    a[i], a[high] = a[high], a[i]
    quicksort(a, low, i - 1)
    quicksort(a, i + 1, high)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float16, np.float32, np.float64])
def test_sorting(dtype):
    rng = np.random.default_rng(1)
    for size in (0, 1, 2, 3, 100, 5000):
        a = rng.integers(0, 100, size).astype(dtype)
        assert (merged(a) == np.sort(a)).all()
        assert (merged(a[::-2]) == np.sort(a[::-2])).all()
        quicksort(a, 0, a.size - 1)
        assert (a == np.sort(a)).all()


@njit
def held(n, a):
    """Every level has arrays of its own in hand while those below allocate and free."""
    own = np.full(50, n, np.int64)
    for i in range(3):
        other = np.full(50, i, np.int64)
        if n > 0:
            below, text = held(n - 1, own)
            own[i] += below[0] + other[i] + text
    return own, a[0]


def test_memory_of_callers_stays():
    got, want = held(6, np.arange(3)), held.py_func(6, np.arange(3))
    assert (got[0] == want[0]).all() and got[1] == want[1]


@njit
def churned(n):
    if n == 0:
        return 0
    a = np.ones(100_000)
    return int(a[n]) + churned(n - 1)


def test_memory_is_freed_on_the_way():
    @njit
    def often(times):
        total = 0
        for _ in range(times):
            total += churned(3)
        return total

    import resource

    assert often(10) == 30
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert often(2000) == 6000
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000, f"{grown} KiB more for arrays that nobody holds"


@njit
def tree(z, n, flag, h):
    """All kinds of arguments and results."""
    if n == 0:
        return z, h, flag, (n, (z, 1.5))
    a, b, c, d = tree(z * z + 1j, n - 1, not flag, h * np.float16(0.5))
    return a + 1, b, c, (d[0] + 1, (d[1][0], d[1][1] * 2))


def test_all_kinds_of_values():
    for flag in (True, False):
        args = (0.25j, 4, flag, np.float16(3))
        assert tree(*args) == tree.py_func(*args)


def test_the_end_of_the_stack():
    with pytest.raises(RecursionError, match="calls of 'endless'"):
        endless(1)
    with pytest.raises(RecursionError):
        fat(1, np.zeros((2, 2)), 1j, (1, 2.0, 3))
    assert depth(20_000) == 20_000
    assert fib(10) == 55


@njit
def endless(n):
    return 1 + endless(n + 1) if n else 0


@njit
def fat(n, a, z, t):
    if n == 0:
        return z
    return fat(n + 1, a[::-1], z + 1, (n, t[1], t[2])) + a[0, 0] + t[0]


def test_in_threads_with_small_stacks():
    found = []

    def work():
        found.append(depth(20_000))
        with pytest.raises(RecursionError):
            endless(1)
        found.append(fib(15))

    old = threading.stack_size(256 << 10)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    finally:
        threading.stack_size(old)
    assert sorted(found) == [610] * 4 + [20_000] * 4


def test_in_parallel_loops():
    @njit(parallel=True)
    def filled(n):
        out, total = np.zeros(n, np.int64), 0
        for i in prange(n):
            out[i] = fib(i)
            total += fib(i)
        return out, total

    out, total = filled(20)
    want = [fib(i) for i in range(20)]
    assert out.tolist() == want and total == sum(want)

    @njit(parallel=True)
    def too_deep(n):
        total = 0
        for i in prange(n):
            total += endless(i)
        return total

    with pytest.raises(RecursionError):
        too_deep(10)


@njit(parallel=True)
def spread(a, n):
    """A parallel loop at each level."""
    for i in prange(a.size):
        a[i] += n
    return a.sum() if n == 0 else spread(a, n - 1)


def test_parallel_loops_at_each_level():
    assert spread(np.zeros(5000), 10) == 5000 * 55


@njit
def raising(n):
    if n == 0:
        raise ValueError("at the bottom")
    if n < 0:
        return 0
    return 1 // (n - 3) + raising(n - 1)


def test_exceptions_from_the_deep():
    with pytest.raises(ZeroDivisionError):
        raising(5)
    with pytest.raises(ValueError, match="at the bottom"):
        raising(2)
    assert raising(-1) == 0


def test_checked_mode():

    @njit(debug=True)
    def checked_fib(n):
        return n if n < 2 else checked_fib(n - 1) + checked_fib(n - 2)

    @njit(debug=True)
    def checked_endless(n):
        return 1 + checked_endless(n + 1) if n else 0

    assert checked_fib(12) == 144
    with pytest.raises(RecursionError):
        checked_endless(1)


def test_for_other_types_it_is_another_function():
    @njit
    def halved(x, n):
        return x if n == 0 else halved(x / 2, n - 1)

    assert halved(8, 3) == 1.0 and halved(np.float32(8), 3) == 1.0


def test_functions_given_to_themselves():
    @njit
    def walk(f, n):
        return f(n) if n < 2 else walk(f, n - 1) + f(n)

    assert walk(njit(lambda x: x * 10), 5) == 150

    @njit
    def again(f, n):
        return 0 if n == 0 else 1 + f(f, n - 1)

    assert again(again, 10) == 10


def test_what_never_returns_is_refused():

    @njit
    def never(n):
        return never(n)

    with pytest.raises(weft.TypingError, match="calls itself on every path"):
        never(1)


def test_printing_and_compiling_again(capfd):
    @njit
    def told(n):
        print("at", n)
        return n if n == 0 else told(n - 1)

    assert told(2) == 0
    sys.stdout.flush()
    assert capfd.readouterr().out.split("\n")[:3] == ["at 2", "at 1", "at 0"]


def random_functions(seed):
    """Some functions that call themselves and each other with one argument less, as text."""
    rng = random.Random(seed)
    names = [f"f{i}" for i in range(rng.randint(1, 4))]
    lines = []
    for name in names:
        lines += [
            f"def {name}(n, x, a):",
            "    if n <= 0:",
            f"        return {rng.choice(['x', 'x + 1', '0', '0.5', 'a[0]', 'x * a.size'])}",
        ]
        for i in range(rng.randint(1, 3)):
            given = f"{rng.choice(['x', 'x + 1', 'n', '2 - x'])}, {rng.choice(['a', 'a[::-1]', 'a + 1', 'a[1:]'])}"
            call = f"{rng.choice(names)}(n - {rng.randint(1, 2)}, {given})"
            kind = rng.randrange(4)
            if kind == 0:
                lines.append(f"    y{i} = {call}")
            elif kind == 1:
                lines.append(f"    y{i} = {call} if n % {rng.randint(2, 3)} else x")
            elif kind == 2:
                lines += [f"    y{i} = 0.0", f"    for k in range({rng.randint(1, 2)}):", f"        y{i} += {call} + k"]
            else:
                lines += [f"    y{i} = x", f"    if n > {rng.randint(1, 4)}:", f"        y{i} = {call}"]
            lines.append(f"    x = x + {rng.choice([f'y{i} % 7', '1', f'(y{i} > 3)'])}")
        lines.append(f"    return x % 1000 + {rng.choice(['0', 'n', 'a[-1]', 'y0 % 5'])}")
    return "\n".join(lines) + "\n", names


@pytest.mark.parametrize("seed", range(60))
def test_random_functions(seed):
    text, names = random_functions(seed)
    exec(text, undecorated := {})
    exec(text, compiled := {})
    for name in names:
        compiled[name] = njit(compiled[name])
    for name in names:
        for args in ((4, 3), (3, 2.5), (5, np.int16(2))):
            a = np.arange(8.0)
            try:
                want = undecorated[name](*args, a)
            except IndexError:
                continue
            try:
                got = compiled[name](*args, a)
            except weft.WeftError as refused:
                # Types that cannot meet are not what this is about.
                assert "calls itself" not in str(refused), text
                continue
            assert got == pytest.approx(want), (text, name, args)


@njit
def by_way(a, n):
    return between(a, n - 1)


@njit
def between(a, n):
    if n <= 0:
        return a
    x = by_way(a, n - 1)
    if n > 5:
        return x
    return strided(a, n - 1)


@njit
def strided(a, n):
    if n <= -5:
        return a
    r = between(a, n - 1)
    if n == 1:
        return a[::2]
    return r


def test_what_relies_on_what_relied_on_a_type():
    assert njit(lambda a, n: strided(a, n).sum())(np.arange(10.0), 7) == 20.0


@pytest.mark.parametrize("count", [3, 12])
def test_functions_that_all_call_each_other(count):
    lines = []
    for i in range(count):
        lines += [f"def f{i}(x):", "    if x <= 0:", "        return 0", "    s = x"]
        lines += [f"    s += f{j}(x - {count} - {j})" for j in range(count)]
        lines += ["    return 0.5 if x == 1 else s"]
    text = "\n".join(lines) + "\n"
    exec(text, undecorated := {})
    exec(text, compiled := {})
    for i in range(count):
        compiled[f"f{i}"] = njit(compiled[f"f{i}"])
    for x in range(3 * count):
        assert compiled["f0"](x) == undecorated["f0"](x)


def test_frames_that_are_large():
    lines = ["def f(t, n):", "    if n <= 0:", "        return t[0]", "    s = 0.0"]
    lines += [f"    s += f(({i}.0 + s,) + t[1:], n - 1)" for i in range(10)]
    text = "\n".join([*lines, "    return s"])
    exec(text, names := {})
    names["f"] = njit(names["f"])
    main = njit(lambda t, n, f: f(t, n))
    with pytest.raises(RecursionError):
        main(tuple(float(i) for i in range(2000)), 1_000_000, names["f"])


def declared_here():
    @njit("int64(int64)")
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    return fibonacci


@njit("float32(float32, int64)")
def power(x, n):
    return x if n <= 1 else x * power(x, n - 1)


def test_with_a_signature_it_is_compiled_before_its_name_is_bound():
    """The name stands for the declared function: results and arguments take its types."""
    assert declared_here()(20) == 6765
    result = power(1.1, 5)
    assert isinstance(result, np.float32) and abs(result - 1.1**5) < 1e-5
    with pytest.raises(weft.NameError_, match="name 'unbound' is not defined"):
        njit("int64(int64)")(lambda n: unbound(n))  # noqa: F821
