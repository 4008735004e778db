"""Functions that call themselves, called by threads of kernels and by elements of ufuncs: each as the undecorated function has it."""

import math
import random

import numpy as np
import pytest

import weft
from weft import cuda, njit, prange, vectorize

# Blocks that gangs of lanes do not fill, along every axis.
SHAPES = [(3, 7), (1, 33), (2, 64), ((2, 2), (5, 3)), ((1, 2, 2), (1, 3, 5))]


def has_stack(device):
    return device.kind in ("cpu", "cuda")


def run(device, kernel, shape, *args):
    """Launches the kernel, where threads have a stack; elsewhere it has to be refused."""
    if has_stack(device):
        kernel[shape](*args)
        cuda.synchronize()
        return True
    with pytest.raises(weft.UnsupportedError, match="shaders have no stack: run this on the CPU or on CUDA, or write a loop"):
        kernel[shape](*args)
    return False


@njit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@cuda.jit(device=True)
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@cuda.jit(device=True)
def is_even(n):
    return n == 0 or is_odd(n - 1)


@cuda.jit(device=True)
def is_odd(n):
    return n != 0 and is_even(n - 1)


@cuda.jit(device=True)
def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)


@cuda.jit(device=True)
def powered(x, n):
    """Its result is a complex number where it returns 1, too."""
    if n == 0:
        return 1
    half = powered(x, n // 2)
    return half * half * x if n % 2 else half * half


@cuda.jit(device=True)
def hanoi(n, moves, start, end, other):
    """Counts the moves from each pole."""
    if n == 0:
        return 0
    before = hanoi(n - 1, moves, start, other, end)
    moves[start] += 1
    return before + 1 + hanoi(n - 1, moves, other, end, start)


@cuda.jit(device=True)
def number():
    """The thread's number among all of the grid."""
    block = (cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y) * cuda.gridDim.x + cuda.blockIdx.x
    thread = (cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x + cuda.threadIdx.x
    return block * cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z + thread


def threads(shape):
    return math.prod(np.ravel(shape[0])) * math.prod(np.ravel(shape[1]))


def plain(function):
    """The function with those it calls undecorated."""
    names = {}
    for name in ("fib", "ackermann", "is_even", "is_odd", "gcd", "powered", "hanoi"):
        own = globals()[name].py_func
        names[name] = type(own)(own.__code__, names, name)
    return names[function]


@pytest.mark.parametrize("shape", SHAPES)
def test_depths_that_differ(device, shape):
    @cuda.jit
    def kernel(n, out, flags, z):
        i = number()
        if i < n.size and n[i] % 5 != 4:
            k = n[i]
            out[i, 0] = fib(k)
            out[i, 1] = ackermann(k % 3, k % 4)
            out[i, 2] = gcd(k * 6, 4 + k)
            flags[i] = is_even(k)
            if k % 2:
                z[i] = powered(z[i], k)

    rng = np.random.default_rng(1)
    count = threads(shape)
    n, z = rng.integers(0, 11, count - 2), (rng.random(count - 2) + 1j).astype(np.complex64)
    out, flags, powers = np.zeros((count, 3), np.int64), np.zeros(count, np.bool_), z.copy()
    if not run(device, kernel, shape, n, out, flags, powers):
        return
    for i, k in enumerate(n.tolist()):
        want = [plain("fib")(k), plain("ackermann")(k % 3, k % 4), plain("gcd")(k * 6, 4 + k)]
        assert out[i].tolist() == (want if k % 5 != 4 else [0, 0, 0])
        assert flags[i] == (k % 5 != 4 and k % 2 == 0)
        raised = k % 5 != 4 and k % 2
        np.testing.assert_allclose(powers[i], plain("powered")(z[i], k) if raised else z[i], rtol=1e-5)


@cuda.jit(device=True)
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


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_of_the_thread(device, shape):
    """A local array, part of a global one, and arrays of two kinds that the function makes at each level."""

    @cuda.jit(device=True)
    def levels(n, given):
        own, small = cuda.local.array(3, np.int64), cuda.local.array(2, np.int8)
        for k in range(3):
            own[k] = n * k + given[k % given.size]
        small[n % 2] = n
        if n > 0:
            own[1] += levels(n - 1, own)
        return own[0] + own[1] + own[2] + small[n % 2]

    def levels_in_python(n, given):
        own = [n * k + given[k % len(given)] for k in range(3)]
        if n > 0:
            own[1] += levels_in_python(n - 1, own)
        return sum(own) + n

    @cuda.jit
    def kernel(a, out):
        i = number()
        row, b = cuda.local.array(9, np.float32), cuda.local.array((2, 2), np.int64)
        if i % 3 == 1:
            return
        for k in range(9):
            row[k] = a[i, k]
        quicksort(row, 0, 8)
        for k in range(9):
            out[i, k] = row[k]
        quicksort(a[i], 1, a.shape[1] - 1)
        b[1, 0], b[1, 1] = i, 5
        out[i, 9] = levels(i % 4, b[1])

    rng = np.random.default_rng(2)
    count = threads(shape)
    a = rng.integers(0, 100, (count, 9)).astype(np.float32)
    sorted_a, out = a.copy(), np.zeros((count, 10))
    if not run(device, kernel, shape, sorted_a, out):
        return
    for i in range(count):
        if i % 3 == 1:
            assert (out[i] == 0).all() and (sorted_a[i] == a[i]).all()
        else:
            assert (out[i, :9] == np.sort(a[i])).all() and (sorted_a[i, 1:] == np.sort(a[i, 1:])).all()
            assert out[i, 9] == levels_in_python(i % 4, [i, 5])


def test_local_arrays_across_a_barrier(device):
    @cuda.jit
    def kernel(a):
        i = cuda.threadIdx.x
        own, tile = cuda.local.array(4, np.int64), cuda.shared.array(40, np.int64)
        part = own[1:] if a.size else own[:3]
        for k in range(4):
            own[k] = (i * 7 + k * 5) % 11
        quicksort(own, 0, 3)
        tile[i] = own[3]
        cuda.syncthreads()
        part[0] = tile[cuda.blockDim.x - 1 - i]
        quicksort(part, 0, 2)
        for k in range(4):
            a[i, k] = own[k]

    a = np.zeros((37, 4), np.int64)
    if not run(device, kernel, (1, 37), a):
        return
    rows = [sorted((i * 7 + k * 5) % 11 for k in range(4)) for i in range(37)]
    for i in range(37):
        assert a[i].tolist() == [rows[i][0], *sorted([rows[36 - i][3], rows[i][2], rows[i][3]])]


def test_shared_memory_atomics_and_geometry(device):
    """What threads do to memory while others are as deep; the function asks itself which thread it is."""

    @cuda.jit(device=True)
    def count(tile, total, n):
        cuda.atomic.add(tile, n % tile.size, 1)
        if n == 0:
            cuda.atomic.max(total, 1, cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x)
            return cuda.threadIdx.x
        return count(tile, total, n - 1)

    @cuda.jit
    def kernel(out, total):
        tile = cuda.shared.array(4, np.int32)
        i = cuda.threadIdx.x
        if i < 4:
            tile[i] = 0
        cuda.syncthreads()
        out[cuda.grid(1)] = count(tile, total, i % 7) + cuda.grid(1)
        cuda.syncthreads()
        if i < 4:
            cuda.atomic.add(total, 0, tile[i])

    out, total = np.zeros(3 * 45, np.int32), np.zeros(2, np.int32)
    if run(device, kernel, (3, 45), out, total):
        assert (out == np.arange(135) + np.arange(135) % 45).all()
        assert total.tolist() == [3 * sum(i % 7 + 1 for i in range(45)), 134]


def test_a_walk_over_a_tree(device):
    @cuda.jit(device=True)
    def walk(left, right, value, at, depth):
        """The sum below a node, and how deep it is."""
        if at < 0:
            return 0.0, depth
        a, deep = walk(left, right, value, left[at], depth + 1)
        b, deeper = walk(left, right, value, right[at], depth + 1)
        return a + b + value[at], max(deep, deeper)

    @cuda.jit
    def kernel(left, right, value, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i, 0], out[i, 1] = walk(left, right, value, i, 0)

    rng = random.Random(3)
    count = 61
    left, right = np.full(count, -1), np.full(count, -1)
    for child in range(1, count):
        at = 0
        while True:
            side = rng.choice([left, right])
            if side[at] < 0:
                side[at] = child
                break
            at = side[at]
    value = np.arange(count) * 0.5
    out = np.zeros((count, 2))
    if not run(device, kernel, (5, 13), left, right, value, out):
        return

    def walked(at, depth):
        if at < 0:
            return 0.0, depth
        (a, deep), (b, deeper) = walked(left[at], depth + 1), walked(right[at], depth + 1)
        return a + b + value[at], max(deep, deeper)

    assert [tuple(row) for row in out.tolist()] == [walked(i, 0) for i in range(count)]


def test_the_same_for_all_threads(device):
    """Calls whose arguments are the same for a block, and what hangs on them around a barrier."""

    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(64, np.int64)
        i = cuda.threadIdx.x
        tile[i] = i
        if fib(cuda.blockIdx.x + 3) % 2:
            cuda.syncthreads()
            out[cuda.grid(1)] = tile[cuda.blockDim.x - 1 - i] + fib(cuda.gridDim.x)
        moves = cuda.local.array(3, np.int64)
        for k in range(3):
            moves[k] = 0
        made = hanoi(4, moves, 0, 1, 2)
        out[cuda.grid(1)] += made * 1000 + moves[2] * 100

    out = np.zeros(4 * 50, np.int64)
    if not run(device, kernel, (4, 50), out):
        return
    moves = [0, 0, 0]
    made = plain("hanoi")(4, moves, 0, 1, 2)
    for block in range(4):
        same = plain("fib")(block + 3) % 2
        want = [(49 - i + 3 if same else 0) + made * 1000 + moves[2] * 100 for i in range(50)]
        assert out[block * 50 : block * 50 + 50].tolist() == want


def test_ufuncs(device):
    @vectorize(target="cpu" if device.kind == "cpu" else "cuda")
    def summed(n, x):
        return x if n <= 0 else summed_inside(n, x)

    @njit
    def summed_inside(n, x):
        return x if n <= 0 else n * x + summed_inside(n - 1, x)

    n, x = np.arange(-3, 40, dtype=np.int64) % 9, np.linspace(0, 1, 43, dtype=np.float64)
    given = (n, x) if device.kind == "cpu" else (cuda.to_device(n), cuda.to_device(x))
    if not has_stack(device):
        with pytest.raises(weft.UnsupportedError, match="shaders have no stack"):
            summed(*given)
        return
    got = summed(*given)
    want = [sum(k * v for k in range(1, m + 1)) + v for m, v in zip(n.tolist(), x.tolist())]
    np.testing.assert_allclose(got if device.kind == "cpu" else got.copy_to_host(), want, rtol=1e-14)


def test_parallel_loops():
    @njit(parallel=True)
    def filled(n):
        out, total = np.zeros(n.size, np.int64), 0
        for i in prange(n.size):
            out[i] = fib(n[i]) if n[i] % 3 else ackermann(1, n[i])
            total += out[i]
        return out, total

    n = np.random.default_rng(4).integers(0, 14, 101)
    out, total = filled(n)
    want = [plain("fib")(k) if k % 3 else plain("ackermann")(1, k) for k in n.tolist()]
    assert out.tolist() == want and total == sum(want)


@cuda.jit(device=True)
def endless(n):
    return 1 + endless(n + 1) if n else 0


@cuda.jit(device=True)
def endless_with_arrays(n):
    own = cuda.local.array(30, np.float64)
    own[n % 30] = n
    return own[n % 30] + endless_with_arrays(n + 1) if n else own[0]


@pytest.mark.parametrize("deep", [endless, endless_with_arrays])
def test_the_end_of_the_stack(device, deep):
    """The error says which function it is and which thread; the device goes on."""

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        a[i] = deep(i // 70 + (i == 37))

    a = np.full(70, -1.0)
    if not has_stack(device):
        return
    for _ in range(2):
        with pytest.raises(RecursionError, match=rf"maximum recursion depth exceeded: calls of '{deep.__name__}'") as caught:
            kernel[2, 35](a)
            cuda.synchronize()
        assert "thread (2, 0, 0) of block (1, 0, 0)" in str(caught.value)
        assert f"in {deep.__name__}" in str(caught.value) or deep.__name__ in str(caught.value)

    @cuda.jit
    def fine(a):
        a[cuda.grid(1)] = fib(cuda.grid(1) % 10)

    fine[2, 35](a)
    cuda.synchronize()
    assert a.tolist() == [plain("fib")(i % 10) for i in range(70)]


def test_errors_from_the_deep(device):
    @cuda.jit(device=True)
    def falling(n, x):
        if n == 0:
            if x == 5:
                raise ValueError("at the bottom")
            return 0
        return falling(n - 1, x) + 1

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        a[i] = falling(i % 4, a[i])
        a[i] += 100

    if not has_stack(device):
        return
    a = np.arange(100, 140)
    kernel[4, 10](a)
    cuda.synchronize()
    assert a.tolist() == [100 + i % 4 for i in range(40)]
    a = np.arange(20)
    with pytest.raises(ValueError, match="at the bottom") as caught:
        kernel[2, 10](a)
        cuda.synchronize()
    assert "thread (5, 0, 0) of block (0, 0, 0)" in str(caught.value)
    assert a[5] == 5


def test_deep_on_the_cpu():
    """Of every thread that works for a launch the stack is known, and of blocks that wait for each other."""

    @njit
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    @cuda.jit
    def kernel(a):
        a[cuda.grid(1)] = depth(2000 + cuda.grid(1))

    with weft.device("cpu"):
        a = np.zeros(3000, np.int64)
        kernel[100, 30](a)
        assert (a == np.arange(2000, 5000)).all()


def test_blocks_that_wait_for_each_other(device):
    @cuda.jit
    def kernel(a, b, deep):
        i = cuda.grid(1)
        a[i] = fib(i % 9)
        cuda.cg.this_grid().sync()
        b[i] = a[a.size - 1 - i] + fib(i % 8) + endless(deep)

    if device.kind not in ("cpu", "cuda"):
        return
    a, b = np.zeros(4 * 20, np.int64), np.zeros(4 * 20, np.int64)
    for deep in (0, 1, 0):
        if deep:
            with pytest.raises(RecursionError):
                kernel[4, 20](a, b, deep)
                cuda.synchronize()
            continue
        kernel[4, 20](a, b, deep)
        cuda.synchronize()
        f = plain("fib")
        assert b.tolist() == [f((79 - i) % 9) + f(i % 8) for i in range(80)]


def test_functions_inside_kernels(device):
    @cuda.jit
    def kernel(a, k):
        def down(n):
            return k if n <= 0 else up(n - 1) + 1

        def up(n):
            return k * 2 if n <= 0 else down(n - 1) * 2

        i = cuda.grid(1)
        a[i] = down(i % 6)

    def down(n, k):
        return k if n <= 0 else up(n - 1, k) + 1

    def up(n, k):
        return k * 2 if n <= 0 else down(n - 1, k) * 2

    a = np.zeros(39)
    if run(device, kernel, (3, 13), a, 2.5):
        assert a.tolist() == [down(i % 6, 2.5) for i in range(39)]


def refused(kernel, message):
    with pytest.raises(weft.UnsupportedError, match=message):
        kernel[1, 32](np.zeros(32))


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_what_threads_do_together_is_refused(kind):
    names = [device.name for device in weft.devices() if device.kind == kind]
    if not names:
        pytest.skip(f"no {kind} device")

    @cuda.jit(device=True)
    def waits(n):
        cuda.syncthreads()
        return 0 if n == 0 else waits(n - 1)

    @cuda.jit(device=True)
    def shuffled(n):
        return cuda.shfl_sync(0xFFFFFFFF, n, 0)

    @cuda.jit(device=True)
    def shuffles(n):
        return shuffled(n) if n == 0 else shuffles(n - 1)

    @cuda.jit(device=True)
    def shares(n):
        tile = cuda.shared.array(4, np.float64)
        return tile[0] if n == 0 else shares(n - 1)

    @cuda.jit(device=True)
    def parted(a):
        return a if a.size < 2 else parted(a[1:])

    @cuda.jit
    def first(a):
        a[0] = waits(3)

    @cuda.jit
    def second(a):
        a[0] = shuffles(3)

    @cuda.jit
    def third(a):
        a[0] = shares(3)

    @cuda.jit
    def fourth(a):
        a[0] = parted(a[1:])[0]

    with weft.device(names[0]):
        refused(first, "a barrier stands in 'waits' or in what it calls, and 'waits' calls itself")
        refused(second, "an operation of a warp stands in 'shuffles'")
        refused(third, "a shared array is made in 'shares'")
        refused(fourth, "'parted' calls itself and returns an array")


def random_functions(seed):
    """Some functions that call themselves and each other with one argument less, as text; the first is called by all threads."""
    rng = random.Random(seed)
    names = [f"f{i}" for i in range(rng.randint(1, 3))]
    lines = []
    for name in names:
        lines += [
            f"def {name}(n, x, a):",
            "    if n <= 0:",
            f"        return {rng.choice(['x', 'x + 1', '0', '0.5', 'a[0]', 'x * a.size'])}",
        ]
        for i in range(rng.randint(1, 3)):
            given = f"{rng.choice(['x', 'x + 1', 'n', '2 - x'])}, {rng.choice(['a', 'a[::-1]', 'a[1:]'])}"
            call = f"{rng.choice(names)}(n - {rng.randint(1, 2)}, {given})"
            kind = rng.randrange(5)
            if kind == 0:
                lines.append(f"    y{i} = {call}")
            elif kind == 1:
                lines.append(f"    y{i} = {call} if n % {rng.randint(2, 3)} else x")
            elif kind == 2:
                lines += [f"    y{i} = 0.0", f"    for k in range({rng.randint(1, 2)}):", f"        y{i} += {call} + k"]
            elif kind == 3:
                lines += [
                    f"    y{i} = x",
                    f"    while y{i} > {rng.randint(1, 4)}:",
                    f"        y{i} = {call} % 3",
                    f"        if y{i} > 2: return y{i}",
                ]
                lines.append("        break")
            else:
                lines += [
                    f"    y{i} = x",
                    f"    if n > {rng.randint(1, 4)}:",
                    f"        y{i} = {call}",
                    f"        a[{rng.randint(0, 2)}] += y{i}",
                ]
            lines.append(f"    x = x + {rng.choice([f'y{i} % 7', '1', f'(y{i} > 3)'])}")
        lines.append(f"    return x % 1000 + {rng.choice(['0', 'n', 'a[-1]', 'y0 % 5'])}")
    return "\n".join(lines) + "\n", names


@pytest.mark.parametrize("seed", range(30))
def test_random_functions(device, seed):
    text, names = random_functions(seed)
    exec(text, undecorated := {})
    exec(text, compiled := {})
    for name in names:
        compiled[name] = cuda.jit(device=True)(compiled[name])
    function = compiled[names[0]]

    @cuda.jit
    def kernel(n, x, rows, out):
        i = cuda.grid(1)
        if i < n.size and x[i] > -1:
            out[i] = function(n[i], x[i], rows[i])

    count = 43
    rng = np.random.default_rng(seed)
    n, x = rng.integers(0, 4, count), rng.integers(-2, 5, count).astype(rng.choice([np.int64, np.float64]))
    rows, out = np.tile(np.arange(8.0), (count, 1)), np.zeros(count)
    want_rows, want = rows.copy(), out.copy()
    for i in range(count):
        if x[i] > -1:
            want[i] = undecorated[names[0]](int(n[i]), x[i].item(), want_rows[i])
    if run(device, kernel, (3, 15), n, x, rows, out):
        np.testing.assert_allclose(out, want, rtol=1e-12)
        np.testing.assert_allclose(rows, want_rows, rtol=1e-12)


# More than CUDA's constant memory holds: it lies in global memory there.
LONG_TABLE = np.sqrt(np.arange(12_000.0))
SHORT_TABLE = LONG_TABLE[:100].copy()


@cuda.jit(device=True)
def search(table, low, high, x):
    if high - low <= 1:
        return low
    middle = (low + high) // 2
    return search(table, low, middle, x) if x < table[middle] else search(table, middle, high, x)


@cuda.jit
def search_long(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = search(LONG_TABLE, 0, LONG_TABLE.size, x[i])


@cuda.jit
def search_short(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = search(SHORT_TABLE, 0, SHORT_TABLE.size, x[i])


@cuda.jit
def search_either(x, out, long):
    i = cuda.grid(1)
    if i < x.size:
        table = LONG_TABLE
        if not long:
            table = SHORT_TABLE
        out[i] = search(table, 0, table.size, x[i])


def test_constant_tables_of_any_size(device):
    x = np.random.default_rng(0).random(100) * 9.9
    for kernel, table, more in (
        (search_long, LONG_TABLE, ()),
        (search_short, SHORT_TABLE, ()),
        (search_either, LONG_TABLE, (True,)),
        (search_either, SHORT_TABLE, (False,)),
    ):
        out = np.zeros(100, np.int64)
        if run(device, kernel, (4, 32), x, out, *more):
            assert (out == np.searchsorted(table, x, side="right") - 1).all()


@cuda.jit
def large_frame(out):
    scratch = cuda.local.array(8192, np.float64)
    i = cuda.grid(1)
    for k in range(8192):
        scratch[k] = i
    cuda.cg.this_grid().sync()
    out[i] = fib(12) + scratch[i]


def test_large_frames_before_grid_barriers():
    """What waits for the whole grid runs on a stack of its own, which has room for the functions, too."""
    out = np.zeros(8)
    with weft.device("cpu"):
        large_frame[2, 4](out)
    assert out.tolist() == [144.0 + i for i in range(8)]


def test_code_for_other_programs_is_refused():
    """Its launches would have to make room on the stack."""
    for function, types, more in (
        (search_long, "void(float64[:], int64[:])", {}),
        (ackermann.py_func, "int64(int64, int64)", {"device": True}),
    ):
        with pytest.raises(weft.UnsupportedError, match="calls itself, in code that other programs launch"):
            cuda.compile_ptx(function, types, **more)
