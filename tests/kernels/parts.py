"""Long straight code behind a guard: a gang that is not whole, what it reads from before the guard and leaves for after it."""

import math

import weft
from weft import cuda


def grows(x, y):
    """Arithmetic for many statements, of which none is idle."""
    a = x * 1.5 + y
    b = a * a - x
    c = b * 0.25 + a * 0.5
    d = c - b * 0.125 + x * y
    e = d * 0.5 + c * 0.25 - a * 0.125
    f = e + d * 0.75 - c * 0.5 + b * 0.0625
    g = f * 0.5 - e * 0.25 + d * 0.125 - y
    return g * 0.5 + f * 0.25 + e * 0.125 + d + c + b + a


# run: carried[4, 32](f64(100), f64(100), f64(128))  -> rtol=1e-12
# run: carried[1, 128](f64(33), f64(100), f64(128))  -> rtol=1e-12
# run: carried[2, 48](f64(7), f64(100), f64(96))  -> rtol=1e-12
# run: carried[1, 5](f64(4), f64(5), f64(5))  -> rtol=1e-12
# run: carried[2, 64](every(2, f64(190)), every(-1, f64(128)), f64(128))  -> rtol=1e-12
# run: carried[3, 32](f32(70), f32(100), f32(96))  -> rtol=1e-4
@cuda.jit
def carried(x, y, out):
    i = cuda.grid(1)
    before = float(i % 7)
    total = before * 0.5
    odd = i % 2 == 1
    seen = False
    if i < x.shape[0]:
        total = total + grows(x[i], y[i] * before)
        if odd:
            total = grows(total * 0.001, y[i])
            seen = x[i] > y[i]
        elif i % 3 == 0:
            total = -total
    if seen:
        out[i] = total + 1.0
    else:
        out[i] = total - before


# run: nested[(2, 3), (32, 4)](f64(40, 10), f64(40, 10))  -> rtol=1e-12
# run: nested[(4, 10), (12, 1)](f64(45, 10), f64(45, 10))  -> rtol=1e-12
# run: nested[(1, 1), (8, 64)](f64(7, 50), f64(7, 50))  -> rtol=1e-12
@cuda.jit
def nested(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        row = x[i]
        value = grows(row[j], x[i, 0])
        if value > 0.0:
            value = grows(math.sqrt(value), row[j - 1])
        else:
            value = grows(value * 0.01, float(cuda.threadIdx.x))
        out[i, j] = value


# run: steps[2, 32](f64(150), f64(150), 3)  -> rtol=1e-12
# run: steps[1, 16](f64(150), f64(150), 2)  -> rtol=1e-12
@cuda.jit
def steps(x, out, offset):
    last = 0.0
    for i in range(cuda.grid(1), x.shape[0] - offset, cuda.gridsize(1)):
        last = grows(x[i + offset], last * 0.01)
        if last > 1.0:
            last = grows(x[i], 1.0 / last)
        out[i] = last


# run: counted[4, 32](i32(120), i32(8), i32(8), u8(128))
# run: counted[1, 77](i32(50), i32(8), i32(8), u8(77))
@cuda.jit
def counted(x, bins, most, flags):
    i = cuda.grid(1)
    if i < x.shape[0]:
        a = x[i]
        b = a * 3 + 1
        c = (b ^ a) & 1023
        d = (c << 2) + (b >> 1)
        e = d * d - c * b + a
        f = (e & 255) | (d & 15)
        g = f * 7 - e % 5 + d // 3
        h = (g + f + e + d + c + b + a) & 7
        k = (h * 5 + g * 3 + f) & 7
        m = (k ^ h) + (g & 3) * (f & 1)
        cuda.atomic.add(bins, h, 1)
        cuda.atomic.max(most, k, a)
        flags[i] = (m + h * k + (e & 31) + (d & 31) + (c & 31) + (b & 31)) & 255


# run: points(f64(100), f64(100))  -> rtol=1e-12
# run: points(f64(3), f64(3))  -> rtol=1e-12
# run: points(every(2, f64(130)), f64(65))  -> rtol=1e-12
@weft.njit(parallel=True)
def points(x, out):
    for i in weft.prange(x.shape[0]):
        value = grows(x[i], float(i))
        if value > 2.0:
            value = grows(2.0 / value, x[0])
        out[i] = value


# run: least(f64(133))  -> rtol=1e-12
@weft.njit(parallel=True)
def least(x):
    low = 1e300
    for i in weft.prange(x.shape[0]):
        value = grows(grows(x[i], float(i)) * 0.001, 0.5)
        low = min(low, value)
    return low
