"""float16 and bfloat16: guards, divergence, gathers, shared memory, atomics, conversions, numba-cuda's functions of float16."""

import numpy as np

import weft
from weft import cuda, njit, prange


# run: axpy[4, 32](np.float16(2), f16(100), f16(100))  -> rtol=2e-3
# run: axpy[1, 128](2.0, f16(100), f16(100))  -> rtol=2e-3
# run: axpy.forall(77)(0.5, every(2, f16(154)), every(-1, f16(77)))  -> rtol=2e-3
# run: axpy[4, 32](np.float16(2), bf16(100), bf16(100))  -> rtol=1.6e-2
# run: axpy.forall(77)(bf16(1)[0], every(-2, bf16(154)), bf16(77))  -> rtol=1.6e-2
@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


# run: steps[4, 32](f16(100), f16(100))
# run: steps[4, 32](bf16(100), bf16(100))
# run: steps[3, 17](fortran(f16(9, 5))[:, 1], f16(9))
# run: steps[3, 17](f16(50), bf16(50))
@cuda.jit(fma=False)
def steps(x, y):
    i = cuda.grid(1)
    if i < x.size:
        s = x[i] - y[i]
        t = s * s
        y[i] = t / (t + 1) if t > 3 else -abs(s)


# run: collatz[4, 32](f16(100), zeros(np.int32, 100))
# run: collatz[4, 32](bf16(100), zeros(np.int32, 100))
@cuda.jit
def collatz(x, count):
    i = cuda.grid(1)
    if i >= x.size:
        return
    value = abs(x[i])
    n = 0
    while value > 0.25:
        value = value / 2 if n % 3 else value - 0.5 if value > 1 else value * 0.5
        n += 1
        if n > 40:
            break
    count[i] = n


# run: mirror[5, 16](f16(80), u16(80), zeros(np.float16, 80))
# run: mirror[5, 16](bf16(80), u16(80), bf16(80))
@cuda.jit
def mirror(x, index, out):
    tile = cuda.shared.array(16, weft.float16)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = x[index[i] % 80]
    cuda.syncthreads()
    out[i] = tile[15 - cuda.threadIdx.x] + x[i]


# run: widen[3, 32](f16(90), zeros(np.float64, 90), zeros(np.int16, 90), zeros(np.complex64, 90), zeros(np.float16, 90))
# run: widen[3, 32](bf16(90), zeros(np.float64, 90), zeros(np.int16, 90), zeros(np.complex64, 90), zeros(np.float16, 90))
# run: widen[3, 32](f64(90), zeros(np.float64, 90), zeros(np.int16, 90), zeros(np.complex64, 90), zeros(np.float16, 90))
# run: widen[3, 32](i64(90), zeros(np.float64, 90), zeros(np.int16, 90), zeros(np.complex64, 90), zeros(np.float16, 90))
# run: widen[3, 32](b1(90), zeros(np.float64, 90), zeros(np.int16, 90), zeros(np.complex64, 90), zeros(np.float16, 90))
@cuda.jit
def widen(x, a, b, c, d):
    i = cuda.grid(1)
    if i < x.size:
        a[i] = x[i]
        b[i] = int(x[i])
        c[i] = x[i]
        d[i] = x[i]


# run: tally[7, 32](u8(200), zeros(np.float16, 4), f16(1))
# run: tally[7, 32](u8(200), bf16(4), bf16(1))
@cuda.jit
def tally(values, counts, top):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, values[i] % 4, 1)
        cuda.atomic.max(top, 0, values[i])


# run: shared_tally[2, 64](f16(128), zeros(np.float16, 2, 2))
@cuda.jit
def shared_tally(values, sums):
    total = cuda.shared.array(2, np.float16)
    if cuda.threadIdx.x < 2:
        total[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, 1)
    cuda.atomic.max(total, 1, values[cuda.grid(1)])
    cuda.syncthreads()
    if cuda.threadIdx.x < 2:
        sums[cuda.blockIdx.x, cuda.threadIdx.x] = total[cuda.threadIdx.x]


# run: missing[5, 32](f16(150), np.full(2, np.nan, np.float16))
# run: missing[5, 32](bf16(150), bf16(2))
@cuda.jit
def missing(values, ends):
    i = cuda.grid(1)
    if i < values.size:
        value = values[i]
        if i % 5 == 3:
            value = value * np.nan
        cuda.atomic.nanmin(ends, 0, value)
        cuda.atomic.nanmax(ends, 1, value)


# run: lanes[2, 64](f16(128), zeros(np.float16, 128), zeros(np.uint32, 128))
# run: lanes[3, 32](bf16(96), bf16(96), zeros(np.uint32, 96))
@cuda.jit
def lanes(x, out, alike):
    i = cuda.grid(1)
    value = x[i]
    value += cuda.shfl_xor_sync(0xFFFFFFFF, value, 1)
    value -= cuda.shfl_down_sync(0xFFFFFFFF, value, 3)
    out[i] = cuda.shfl_sync(0xFFFFFFFF, value, i * 7 % 32)
    alike[i] = cuda.match_any_sync(0xFFFFFFFF, abs(out[i]))


# run: operators[3, 32](f16(96), f16(96)[::-1], zeros(np.float16, 13, 96), zeros(bool, 6, 96))
@cuda.jit
def operators(x, y, out, tests):
    i = cuda.grid(1)
    a, b = x[i], y[i]
    out[0, i] = cuda.fp16.hadd(a, b)
    out[1, i] = cuda.fp16.hsub(a, b)
    out[2, i] = cuda.fp16.hmul(a, b)
    out[3, i] = cuda.fp16.hdiv(a, b)
    out[4, i] = cuda.fp16.hfma(a, b, a)
    out[5, i] = cuda.fp16.hneg(a)
    out[6, i] = cuda.fp16.habs(a)
    out[7, i] = cuda.fp16.hmax(a, b)
    out[8, i] = cuda.fp16.hmin(a, b)
    out[9, i] = cuda.fp16.hceil(a)
    out[10, i] = cuda.fp16.hfloor(a)
    out[11, i] = cuda.fp16.htrunc(a)
    out[12, i] = cuda.fp16.hrint(a)
    tests[0, i] = cuda.fp16.heq(a, b)
    tests[1, i] = cuda.fp16.hne(a, b)
    tests[2, i] = cuda.fp16.hlt(a, b)
    tests[3, i] = cuda.fp16.hle(a, b)
    tests[4, i] = cuda.fp16.hgt(a, b)
    tests[5, i] = cuda.fp16.hge(a, b)


# run: functions[3, 32](f16(96), zeros(np.float16, 11, 96))  -> rtol=1e-3
@cuda.jit
def functions(x, out):
    i = cuda.grid(1)
    a = cuda.fp16.habs(x[i])
    out[0, i] = cuda.fp16.hsin(a)
    out[1, i] = cuda.fp16.hcos(a)
    out[2, i] = cuda.fp16.htanh(a)
    out[3, i] = cuda.fp16.hexp(a)
    out[4, i] = cuda.fp16.hexp2(a)
    out[5, i] = cuda.fp16.hlog(a)
    out[6, i] = cuda.fp16.hlog2(a)
    out[7, i] = cuda.fp16.hlog10(a)
    out[8, i] = cuda.fp16.hsqrt(a)
    out[9, i] = cuda.fp16.hrsqrt(a)
    out[10, i] = cuda.fp16.hrcp(a)


# run: loops(f16(200), f16(200))
# run: loops(bf16(200), bf16(200))
# run: loops(f16(20, 10)[:, 3], f16(20))
@njit
def loops(x, y):
    top = x[0]
    for i in range(len(x)):
        y[i] = (x[i] + 1) * 2 - y[i] // 2
        if y[i] > top:
            top = y[i]
    return top


# run: parallel(f16(1000), f16(1000))
# run: parallel(bf16(1000), bf16(1000))
@njit(parallel=True)
def parallel(x, y):
    for i in prange(len(x)):
        y[i] = x[i] * x[i] % 3


# run: expressions(f16(30, 20), f16(20))  -> rtol=2e-3
# run: expressions(f16(30, 20).T, f16(30))  -> rtol=2e-3
@njit
def expressions(a, b):
    c = np.sqrt(np.abs(a)) * 2 - b
    return c, c.sum(axis=0), (c > 0).any(), np.where(c > 0, c, b)
