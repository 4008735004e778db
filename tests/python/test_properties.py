"""Compiled functions equal plain Python and NumPy over dtypes, ranks, strides and overlapping views."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import cuda, njit

REAL = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32, np.float64]
DTYPES = [np.bool_, *REAL, np.complex64, np.complex128]
TASKS = settings(deadline=None, max_examples=80)


@st.composite
def views(draw, dtypes=DTYPES, max_rank=3, most=6):
    """An array of any rank and strides: steps, reversed and permuted axes, empty axes, read from a larger base."""
    rank = draw(st.integers(0, max_rank))
    shape = [draw(st.integers(0, most)) for _ in range(rank)]
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in range(rank)]
    base = np.arange(np.prod([max(n * abs(s), 1) for n, s in zip(shape, steps)], dtype=int)).reshape(
        [max(n * abs(s), 1) for n, s in zip(shape, steps)]
    )
    view = np.asarray(base % 113, draw(st.sampled_from(dtypes)))
    for axis, (n, step) in enumerate(zip(shape, steps)):
        whole = (slice(None),) * axis
        view = view[(*whole, slice(None, None, step))][(*whole, slice(0, n))]
    return view.transpose(draw(st.permutations(range(rank))))


@njit
def walk_0(a):
    return a[()] * 2


@njit
def walk_1(a):
    total = a.dtype.type(0)
    for i in range(-len(a), len(a)):
        total += a[i]
    return total


@njit
def walk_2(a):
    total = a.dtype.type(0)
    for i in range(a.shape[0]):
        for x in a[i]:
            total += x
    return total


@njit
def walk_3(a):
    total = a.dtype.type(0)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                total += a[i, j, k] - a[i, -j - 1, k]
                total += a[i, j, k]
    return total


@TASKS
@given(views([*REAL, np.complex64, np.complex128]))
def test_reading_any_view(a):
    walk = (walk_0, walk_1, walk_2, walk_3)[a.ndim]
    with np.errstate(all="ignore"):
        want = walk.py_func(a)
    got = walk(a)
    assert type(got) is type(want) or a.ndim == 0
    assert got == want


@njit
def fill_1(a, x):
    for i in range(len(a)):
        a[i] = x + i


@njit
def fill_2(a, x):
    for i in range(a.shape[0]):
        fill_1(a[i], x)


@njit
def fill_3(a, x):
    for i in range(a.shape[0]):
        fill_2(a[i, ::-1], x)


@TASKS
@given(views(REAL), st.integers(0, 90))
def test_writing_through_any_view(a, x):
    fill = {1: fill_1, 2: fill_2, 3: fill_3}.get(a.ndim)
    if fill is None:
        return
    base = a
    while base.base is not None:
        base = base.base
    before = base.copy()
    fill(a, x)
    after = base.copy()
    base[...] = before

    def plain(view):
        if view.ndim == 1:
            fill_1.py_func(view, x)
        for i in range(view.shape[0] if view.ndim > 1 else 0):
            plain(view[i, ::-1] if view.ndim == 3 else view[i])

    plain(a)
    np.testing.assert_array_equal(after, base)


@njit
def assign(out, a, b):
    out[:] = a * 2 + b


@TASKS
@given(st.data())
def test_array_statements_on_overlapping_views(data):
    n = data.draw(st.integers(1, 30))

    def window():
        step = data.draw(st.sampled_from([1, 1, 2, -1]))
        if step == -1:
            low = data.draw(st.integers(0, 63 - n))
            return slice(low + n, low, -1)
        low = data.draw(st.integers(0, 63 - step * (n - 1)))
        return slice(low, low + step * (n - 1) + 1, step)

    out, a, b = window(), window(), window()
    got, want = np.arange(64.0), np.arange(64.0)
    assign(got[out], got[a], got[b])
    want[out] = want[a].copy() * 2 + want[b].copy()
    np.testing.assert_array_equal(got, want)


@njit
def reductions(a):
    return a.sum(), a.mean(), a.min(), a.max(), (a * 2 + 1).sum()


@TASKS
@given(views([np.float64, np.int32, np.float32], max_rank=3).filter(lambda a: a.size > 0 and a.ndim > 0))
def test_reductions(a):
    got, want = reductions(a), reductions.py_func(a)
    np.testing.assert_allclose(got, want, rtol=1e-6 if a.dtype == np.float32 else 1e-12)


@njit
def arithmetic(a, b):
    return a + b, a - b, a * b, a < b, a == b, a if a > b else b


@TASKS
@given(st.sampled_from(REAL), st.sampled_from(REAL), st.integers(0, 127), st.integers(0, 127))
def test_numbers_of_any_two_types(one, other, x, y):
    a, b = one(x), other(y)
    with np.errstate(all="ignore"):
        want = arithmetic.py_func(a, b)
    got = arithmetic(a, b)
    for g, w in zip(got[:5], want[:5]):
        assert g == w and g.dtype == np.asarray(w).dtype, (a, b, got, want)
    # A conditional expression has one type here, that of both its branches.
    assert got[5] == want[5]


@cuda.jit
def scatter(a, index, out):
    i = cuda.grid(1)
    if i < index.size:
        cuda.atomic.add(out, index[i], a[i])


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_atomics_add_every_contribution(data):
    n = data.draw(st.integers(1, 300))
    bins = data.draw(st.integers(1, 20))
    index = np.random.default_rng(n * 31 + bins).integers(0, bins, n)
    a = np.arange(n, dtype=np.float64)[:: data.draw(st.sampled_from([1, -1]))]
    out = np.zeros(bins)
    scatter[-(-n // 64), 64](a, index, out)
    np.testing.assert_array_equal(out, np.bincount(index, a, bins))
