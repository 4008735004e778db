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
