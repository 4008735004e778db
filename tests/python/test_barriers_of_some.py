"""Barriers under `if i < size:`, around which the other threads go on to the kernel's end: these count as arrived."""

import numpy as np
import pytest
from support import texts

import weft
from weft import cuda


@cuda.jit
def doubled(a, n):
    box = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < n:
        box[t] = a[i]
        cuda.syncthreads()
        a[i] = box[max(0, t - 1)] * 2


@cuda.jit
def early(a, n):
    box = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i >= n:
        return
    box[t] = a[i]
    cuda.syncthreads()
    a[i] = box[max(0, t - 1)] * 2


@cuda.jit
def with_more(a, n):
    """Both sides, a loop of barriers, and code behind that all threads run."""
    box = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i >= n:
        if i < a.size:
            a[i] = -1
    else:
        box[t] = a[i]
        for _ in range(3):
            cuda.syncthreads()
            x = box[max(0, t - 1)]
            cuda.syncthreads()
            box[t] += x
        if t % 2 == 0:
            a[i] = box[t]
    for _ in range(2):
        if i < a.size:
            a[i] += 50


@cuda.jit
def twice(a, n):
    """One condition inside the other."""
    box = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < n:
        a[i] += 1
        if t < 20:
            box[t] = a[i]
            cuda.syncthreads()
            a[i] = box[t // 2]
        a[i] += 1000


@cuda.jit
def counted(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = cuda.syncthreads_count(a[i] > 10)


def blocks_of(a, threads, function):
    """The function on the part of each block."""
    for start in range(0, len(a), threads):
        function(a[start : start + threads])


def of_doubled(a):
    a[1:], a[:1] = a[:-1] * 2, a[:1] * 2


def of_with_more(a):
    box = a.copy()
    for _ in range(3):
        box += np.concatenate([box[:1], box[:-1]])
    a[::2] = box[::2]


def of_twice(a):
    a += 1
    some = a[:20]
    some[:] = some.copy()[np.arange(len(some)) // 2]
    a += 1000


def of_counted(a):
    a[:] = (a > 10).sum()


CASES = [(doubled, of_doubled), (early, of_doubled), (with_more, of_with_more), (twice, of_twice), (counted, of_counted)]


@pytest.mark.parametrize(("kernel", "meant"), CASES, ids=[case[0].__name__ for case in CASES])
@pytest.mark.parametrize("n", [0, 1, 39, 40, 41, 55, 70])
def test_threads_that_end_count_as_arrived(device, kernel, meant, n):
    a = np.arange(70, dtype=np.float32)
    want = a.copy()
    if kernel is with_more:
        want[n:] = -1
    blocks_of(want[:n], 40, meant)
    if kernel is with_more:
        want += 100
    kernel[2, 40](a, n)
    np.testing.assert_array_equal(a, want)


def test_blocks_of_two_axes(device):
    @cuda.jit
    def summed(a, out):
        box = cuda.shared.array((8, 8), np.float32)
        x, y = cuda.grid(2)
        s, t = cuda.threadIdx.x, cuda.threadIdx.y
        if x < a.shape[1] and y < a.shape[0]:
            box[t, s] = a[y, x]
            cuda.syncthreads()
            out[y, x] = box[0, s] + box[t, 0]

    a = np.arange(11 * 13, dtype=np.float32).reshape(11, 13)
    out = np.zeros_like(a)
    summed[(2, 2), (8, 8)](a, out)
    y, x = np.indices(a.shape)
    np.testing.assert_array_equal(out, a[y // 8 * 8, x] + a[y, x // 8 * 8])


def test_an_exception_of_those_that_stay(device):
    @cuda.jit
    def checked(a, n):
        i = cuda.grid(1)
        if i < n:
            if a[i] < 0:
                raise ValueError("negative")
            cuda.syncthreads()
            a[i] += 1

    a = np.arange(40.0, dtype=np.float32)
    checked[1, 40](a, 30)
    assert a.tolist() == [*range(1, 31), *range(30, 40)]
    a[7] = -1
    with pytest.raises(ValueError, match="negative"):
        checked[1, 40](a, 30)
        cuda.synchronize()


def skip_unless_there(where):
    if where not in {str(device).split(" ")[0] for device in weft.devices()}:
        pytest.skip(f"there is no {where}")


@pytest.mark.parametrize("where", ["cpu", "vulkan:0"])
def test_threads_that_would_wait_for_ever_are_refused(where):
    @cuda.jit
    def behind(a, n):
        i = cuda.grid(1)
        if i < n:
            cuda.syncthreads()
            a[i] = 1
        cuda.syncthreads()

    @cuda.jit
    def again(a, n):
        i = cuda.grid(1)
        for _ in range(3):
            if i < n:
                cuda.syncthreads()
                a[i] += 1

    @cuda.jit
    def either(a, n):
        i = cuda.grid(1)
        if i < n:
            cuda.syncthreads()
            a[i] = 1
        else:
            cuda.syncthreads()

    skip_unless_there(where)
    with weft.device(where):
        for kernel in (behind, again, either):
            with pytest.raises(weft.UnsupportedError, match="a barrier that not all threads of a block may reach"):
                kernel[1, 40](np.zeros(40, np.float32), 30)


def of_turns(a, n):
    """Thread `t` takes `n[t]` turns, in each of which it adds what its neighbour put into the box last."""
    box = np.zeros(len(n), np.int32)
    for i in range(n.max(initial=0)):
        there = n > i
        box[there] = a[there] + i
        a[there] += np.roll(box, -1)[there]
    a += 1000


@cuda.jit
def while_turns(a, n):
    box = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    box[t] = 0
    cuda.syncthreads()
    i = 0
    while i < n[t]:
        box[t] = a[t] + i
        cuda.syncthreads()
        seen = box[(t + 1) % n.size]
        cuda.syncthreads()
        a[t] += seen
        i += 1
    a[t] += 1000


@cuda.jit
def for_turns(a, n):
    box = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    box[t] = 0
    cuda.syncthreads()
    for i in range(n[t]):
        box[t] = a[t] + i
        cuda.syncthreads()
        seen = box[(t + 1) % n.size]
        cuda.syncthreads()
        a[t] += seen
    a[t] += 1000


@cuda.jit
def break_turns(a, n):
    box = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    box[t] = 0
    cuda.syncthreads()
    for i in range(n.size + 6):
        if i >= n[t]:
            if n[t] < 0:
                a[t] = 5
            break
        box[t] = a[t] + i
        cuda.syncthreads()
        seen = box[(t + 1) % n.size]
        cuda.syncthreads()
        if i == 3 and n.size > 100:
            continue
        a[t] += seen
    else:
        a[t] = -7
    a[t] += 1000


@cuda.jit(device=True)
def some_turns(a, n, t, box):
    if n[t] == 0:
        return 1000
    for i in range(n.size + 6):
        for k in range(i, i + 1):
            if k >= n[t]:
                return 1000
        box[t] = a[t] + i
        cuda.syncthreads()
        seen = box[(t + 1) % n.size]
        cuda.syncthreads()
        a[t] += seen
    return -7


@cuda.jit
def returned_turns(a, n):
    box = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    box[t] = 0
    cuda.syncthreads()
    if n.size > 0:
        added = some_turns(a, n, t, box)
        a[t] += added


@cuda.jit
def downward_turns(a, n):
    """The counter goes down by a step that differs between threads, with what follows inside an `if` that is common."""
    box = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    box[t] = 0
    cuda.syncthreads()
    if n.size < 1000:
        step = -(t % 3 + 1)
        for i in range(n[t] * -step, 0, step):
            box[t] = a[t] + (n[t] + i // step)
            cuda.syncthreads()
            seen = box[(t + 1) % n.size]
            cuda.syncthreads()
            a[t] += seen
        a[t] += 400
    a[t] += 600


TURNS = [while_turns, for_turns, break_turns, returned_turns, downward_turns]


@pytest.mark.parametrize("kernel", TURNS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("threads", [1, 5, 40, 64])
def test_loops_that_threads_leave_at_different_turns(device, kernel, threads):
    rng = np.random.default_rng(threads)
    for n in (rng.integers(0, 6, threads), np.zeros(threads), np.full(threads, 3), np.arange(threads) % 2):
        n = n.astype(np.int32)
        a = rng.integers(0, 9, threads).astype(np.int32)
        want = a.copy()
        of_turns(want, n)
        kernel[1, threads](a, n)
        np.testing.assert_array_equal(a, want)


@cuda.jit
def left_by_some(out, n, turns):
    """What is the same for all threads changes before and behind places where some end."""
    i = cuda.grid(1)
    d = 17
    if i >= n:
        return
    for t in range(turns):
        d = t
    cuda.syncthreads()
    out[i] = d
    cuda.syncthreads()
    for t in range(turns):
        d += t
        if i >= n - t:
            return
        d += 1000
        cuda.syncthreads()
        out[i] += d


def of_left_by_some(out, n, turns):
    for i in range(n):
        d = turns - 1 if turns else 17
        out[i] = d
        for t in range(min(turns, n - i)):
            d += t + 1000
            out[i] += d


@pytest.mark.parametrize("n", [1, 5, 17, 40, 63, 64])
@pytest.mark.parametrize("turns", [0, 1, 3])
def test_values_of_the_block_are_those_of_threads_that_go_on(device, n, turns):
    out, want = np.full(64, -1), np.full(64, -1)
    left_by_some[1, 64](out, n, turns)
    of_left_by_some(want, n, turns)
    np.testing.assert_array_equal(out, want)


@cuda.jit(device=True)
def found(box, t, n):
    box[t] = t * t
    cuda.syncthreads()
    for j in range(n):
        if box[j] > t:
            return j
    return -1


def test_returns_behind_the_last_barrier_of_a_function(device):
    @cuda.jit
    def search(out):
        box = cuda.shared.array(64, np.int64)
        t = cuda.threadIdx.x
        out[t] = found(box, t, out.size)

    out = np.zeros(40, np.int64)
    search[1, 40](out)
    np.testing.assert_array_equal(out, [next((j for j in range(40) if j * j > t), -1) for t in range(40)])


def test_ways_out_of_several_loops(device):
    @cuda.jit
    def ways(out, n):
        t = cuda.threadIdx.x
        while True:
            for i in range(n):
                if t > i:
                    break
                cuda.syncthreads()
                out[t] += 1
            out[t] += 1000
            if t % 2 == 0:
                out[t] += 50
                break
            else:
                break
        out[t] += 7

    out = np.zeros(40, np.int64)
    ways[1, 40](out, 5)
    t = np.arange(40)
    np.testing.assert_array_equal(out, np.where(t == 0, 5, 0) + 1007 + np.where(t % 2 == 0, 50, 0))


def test_what_a_lane_had_when_it_left_a_loop(device):
    @cuda.jit
    def last(out, g):
        t = cuda.threadIdx.x
        k = 0
        while True:
            x = g[k]
            k += 1
            if x > t:
                break
        out[t] = x

    out = np.zeros(40, np.int64)
    last[1, 40](out, np.arange(1, 60))
    np.testing.assert_array_equal(out, np.arange(1, 41))


@pytest.mark.parametrize("where", ["cpu", "vulkan:0"])
def test_more_copies_than_may_be_are_refused(where):
    line = "        if t > {0} + n[t]:\n            break\n        cuda.syncthreads()\n"
    tail = "    a[t] += n[a[t] % 8]\n" * 400
    text = "def f(a, n):\n    t = cuda.threadIdx.x\n    while True:\n" + "".join(line.format(i) for i in range(20)) + tail
    kernel = cuda.jit(texts.function_of(text, {"cuda": cuda}))
    skip_unless_there(where)
    with weft.device(where), pytest.raises(weft.UnsupportedError, match="more than 10,000 statements"):
        kernel[1, 8](np.zeros(8, np.int32), np.arange(8, dtype=np.int32))


@pytest.mark.parametrize("where", ["cpu", "vulkan:0"])
def test_loops_with_a_barrier_behind_are_refused(where):
    @cuda.jit
    def behind(a, n):
        for _ in range(n[cuda.threadIdx.x]):
            cuda.syncthreads()
        cuda.syncthreads()

    @cuda.jit
    def again(a, n):
        for _ in range(2):
            i = 0
            while i < n[cuda.threadIdx.x]:
                cuda.syncthreads()
                i += 1

    @cuda.jit
    def next_turn(a, n):
        for i in range(5):
            if i == n[cuda.threadIdx.x]:
                continue
            cuda.syncthreads()

    skip_unless_there(where)
    with weft.device(where):
        for kernel in (behind, again, next_turn):
            with pytest.raises(weft.UnsupportedError, match="a barrier that not all threads of a block may reach"):
                kernel[1, 8](np.zeros(8, np.int32), np.arange(8, dtype=np.int32))
