"""Array expressions, ``prange`` and reductions in host functions."""

import math

import numpy as np

from weft import njit, prange


# run: total(f64(1000))  -> rtol=1e-12
# run: total(f32(5000))  -> rtol=1e-4
# run: total(i32(1000))
# run: total(f64(0))
@njit(parallel=True)
def total(a):
    s = 0
    for i in prange(a.shape[0]):
        s += a[i]
    return s


# run: square(f64(1000), zeros(np.float64, 1000))
# run: square(every(2, f64(200)), zeros(np.float64, 100))
@njit(parallel=True)
def square(a, out):
    for i in prange(len(a)):
        x = a[i]
        out[i] = x * x


# run: row_sums(f64(30, 40), zeros(np.float64, 30))  -> rtol=1e-12
@njit(parallel=True)
def row_sums(a, out):
    for i in prange(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


# run: extremes(f64(777))
# run: extremes(i16(777))
@njit(parallel=True)
def extremes(a):
    low = a[0]
    high = a[0]
    for i in prange(len(a)):
        low = min(low, a[i])
        high = max(high, a[i])
    return low, high


# run: pi(10000)  -> rtol=1e-12
@njit(parallel=True)
def pi(n):
    acc = 0.0
    for i in prange(n):
        x = (i + 0.5) / n
        acc += 4.0 / (1.0 + x * x)
    return acc / n


# run: from_to(f64(100), 10, 90)
@njit(parallel=True)
def from_to(a, start, stop):
    for i in prange(start, stop, 3):
        a[i] = -1


# run: divergent(i32(500))
@njit(parallel=True)
def divergent(a):
    found = 0
    for i in prange(len(a)):
        x = abs(a[i]) + 1
        while x > 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            found += 1
    return found


# run: product(np.linspace(0.9, 1.1, 100))  -> rtol=1e-12
@njit(parallel=True)
def product(a):
    p = 1.0
    for i in prange(len(a)):
        p *= a[i]
    return p


# run: expression(f64(50), f64(50), f64(50))  -> rtol=1e-14
# run: expression(f32(7, 8), f32(8), f32(7, 1))  -> rtol=1e-5
# run: expression(f64(5, 6), 2.0, every(2, f64(10, 12)))  -> rtol=1e-14
@njit
def expression(a, b, c):
    return a + b * c


# run: unary(f64(60))  -> rtol=1e-14
@njit
def unary(a):
    return np.sqrt(np.abs(a)) - a**2 / 3


# run: reductions(f64(11, 13))  -> rtol=1e-12
# run: reductions(f64(500))  -> rtol=1e-12
@njit
def reductions(a):
    return a.sum(), a.mean(), a.min(), a.max(), np.sum(a * 2), (a > 0).sum()


# run: constructors(6)  -> rtol=1e-14
@njit
def constructors(n):
    z = np.zeros(n)
    o = np.ones((n, 2), dtype=np.int32)
    f = np.full(n, 2.5)
    r = np.arange(n)
    s = np.linspace(0.0, 1.0, n)
    e = np.empty_like(z)
    for i in range(n):
        e[i] = z[i] + o[i, 1] + f[i] + r[i] + s[i]
    return e


# run: distance(f64(40), f64(40))  -> rtol=1e-13
@njit(parallel=True)
def distance(x, y):
    d = np.sqrt(x * x + y * y)
    return d.sum() / len(d)


# run: assigned(f64(20))  -> rtol=1e-14
@njit
def assigned(a):
    b = a * 2
    b[3] = 0
    b[5:8] = a[0:3] + 1
    b += 1
    return b, b[2:4]


# run: inside(f64(64))  -> rtol=1e-13
@njit(parallel=True)
def inside(a):
    out = np.zeros_like(a)
    for i in prange(len(a)):
        out[i] = math.sin(a[i]) ** 2 + math.cos(a[i]) ** 2
    return out


# run: column_sums(f64(100, 7), zeros(np.float64, 7))  -> rtol=1e-12
# run: column_sums(f32(300, 3), f32(3))  -> rtol=1e-5
# run: column_sums(i64(65, 4), i64(4))
# run: column_sums(c128(20, 5), c128(5))  -> rtol=1e-12
# run: column_sums(every(2, f64(40, 12)), every(3, f64(18)))  -> rtol=1e-12
# run: column_sums(f64(0, 4), f64(4))
# run: column_sums(f64(9, 0), f64(0))
# run: column_sums(f64(30, 4, 5), f64(4, 5))  -> rtol=1e-12
# run: column_sums(f64(30, 5), fortran(f64(4, 5)))  -> rtol=1e-12
@njit(parallel=True)
def column_sums(a, acc):
    for i in prange(a.shape[0]):
        acc += a[i]
    return acc


# run: column_products(i32(6, 3), i32(3))
# run: column_products(f64(40, 2) / 4, f64(2))  -> rtol=1e-11
# run: column_products(c64(8, 3), c64(3))  -> rtol=1e-4
@njit(parallel=True)
def column_products(a, acc):
    for i in prange(len(a)):
        acc *= a[i]
    return acc


# run: column_bits(u8(50, 6), u8(6), u8(6), u8(6))
# run: column_bits(b1(50, 6), b1(6), b1(6), b1(6))
@njit(parallel=True)
def column_bits(a, both, either, odd):
    for i in prange(a.shape[0]):
        both &= a[i]
        either |= a[i]
        odd ^= a[i]
    return both, either, odd


# run: column_extremes(f64(80, 5), f64(5), f64(5))
# run: column_extremes(i16(80, 5), i16(5), i16(5))
# run: column_extremes(f32(0, 5), f32(5), f32(5))
@njit(parallel=True)
def column_extremes(a, low, high):
    for i in prange(a.shape[0]):
        low = np.minimum(low, a[i])
        high = np.maximum(a[i], high)
    return low, high


# run: mixed_sums(f64(90, 4), 10)  -> rtol=1e-12
# run: mixed_sums(i32(90, 4), 10)
@njit(parallel=True)
def mixed_sums(a, n):
    rows = np.zeros(a.shape[1], a.dtype)
    halves = np.zeros((2, a.shape[1]))
    total = 0
    steps = 0
    for i in prange(80, n, -3):
        if i % 2 == 0:
            steps += 1
            continue
        rows += a[i] * len(rows)
        halves -= a[i] / 2
        total += a[i].sum()
    return rows, halves, total, steps


# run: own_arrays(f64(60, 9))  -> rtol=1e-12
# run: own_arrays(f32(60, 9))  -> rtol=1e-5
# run: own_arrays(f64(0, 9))
@njit(parallel=True)
def own_arrays(a):
    out = np.empty_like(a)
    longest = 0.0
    for i in prange(a.shape[0]):
        scratch = np.zeros(a.shape[1])
        for j in range(a.shape[1]):
            scratch[j] = a[i, j] - a[i, j - 1]
        doubled = scratch * 2 + a[i]
        out[i] = doubled[::-1]
        longest = max(longest, np.sqrt((doubled * doubled).sum()))
    return out, longest


@njit
def normalised(v):
    return v / np.sqrt((v * v).sum())


# run: calls_that_allocate(f64(40, 3))  -> rtol=1e-13
@njit(parallel=True)
def calls_that_allocate(a):
    out = np.zeros_like(a)
    for i in prange(a.shape[0]):
        if i % 3 == 0:
            continue
        out[i] = normalised(a[i])
    return out


# run: inner_pranges(f64(12, 30))  -> rtol=1e-12
@njit(parallel=True)
def inner_pranges(a):
    out = np.zeros(a.shape[0])
    for i in prange(a.shape[0]):
        scratch = np.empty(a.shape[1])
        for j in prange(a.shape[1]):
            scratch[j] = a[i, j] * j
        total = 0.0
        for j in prange(a.shape[1]):
            total += scratch[j]
        out[i] = total
    return out


# run: histogram(i32(500), 8)
@njit(parallel=True)
def histogram(a, bins):
    counts = np.zeros(bins, np.int64)
    for i in prange(a.shape[0]):
        one = np.zeros(bins, np.int64)
        one[a[i] % bins] = 1
        counts += one
    return counts


# run: relaxed(f64(20), 50)  -> rtol=1e-12
# run: relaxed(f64(20), 0)
@njit
def relaxed(u, steps):
    first = u
    for step in range(steps):
        v = u.copy()
        v[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        if step % 2 == 0:
            w = v[1:-1]
            w *= 0.5
        u = v
    return u, first


# run: collatz_tables(30)
@njit
def collatz_tables(n):
    longest = np.zeros(0, np.int64)
    for start in range(1, n):
        path = np.zeros(1, np.int64) + start
        x = start
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            longer = np.empty(len(path) + 1, np.int64)
            longer[:-1] = path
            longer[-1] = x
            path = longer
        if len(path) > len(longest):
            longest = path
    return longest
