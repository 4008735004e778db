"""Threads of a block that work together: shared memory, barriers, atomics."""

import numpy as np

from weft import cuda

TILE = 8


# run: reverse[2, 64](i32(128))
# run: reverse[4, 32](i32(128))
# run: reverse[1, 64](i32(64))
@cuda.jit
def reverse(a):
    tile = cuda.shared.array(64, np.int32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t] = a[i]
    cuda.syncthreads()
    a[i] = tile[cuda.blockDim.x - 1 - t]


# run: block_sum[4, 64](f64(256), zeros(np.float64, 4))  -> rtol=1e-12
# run: block_sum[5, 64](f64(300), zeros(np.float64, 5))  -> rtol=1e-12
@cuda.jit
def block_sum(a, out):
    part = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = a[i] if i < a.shape[0] else 0.0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


# run: matmul[(3, 2), (8, 8)](f64(16, 20), f64(20, 24), zeros(np.float64, 16, 24))  -> rtol=1e-12
# run: matmul[(2, 2), (8, 8)](f32(13, 9), f32(9, 11), zeros(np.float32, 13, 11))  -> rtol=1e-4
@cuda.jit
def matmul(a, b, c):
    ta = cuda.shared.array((TILE, TILE), np.float64)
    tb = cuda.shared.array((TILE, TILE), np.float64)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], TILE):
        ta[ty, tx] = 0
        tb[ty, tx] = 0
        if row < a.shape[0] and k + tx < a.shape[1]:
            ta[ty, tx] = a[row, k + tx]
        if k + ty < b.shape[0] and col < b.shape[1]:
            tb[ty, tx] = b[k + ty, col]
        cuda.syncthreads()
        for j in range(TILE):
            total += ta[ty, j] * tb[j, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


# run: live_across[2, 64](i32(128), zeros(np.int64, 128))
@cuda.jit
def live_across(a, out):
    """Values of each thread outlive barriers, also in a loop."""
    box = cuda.shared.array(64, np.int64)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    mine = a[i] * 3
    seen = 0
    for step in range(1, 4):
        box[t] = mine + step
        cuda.syncthreads()
        seen += box[(t + step) % 64] * step
        cuda.syncthreads()
        if mine % 2 == 0:
            mine += step
    out[i] = seen + mine


# run: transpose[(2, 3), (8, 8)](f32(20, 14), zeros(np.float32, 14, 20))
@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((8, 9), np.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if y < a.shape[0] and x < a.shape[1]:
        tile[ty, tx] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * cuda.blockDim.y + tx
    y = cuda.blockIdx.x * cuda.blockDim.x + ty
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = tile[tx, ty]


# run: histogram[4, 64](u8(1000), zeros(np.int32, 16))
@cuda.jit
def histogram(a, out):
    bins = cuda.shared.array(16, np.int32)
    t = cuda.threadIdx.x
    if t < 16:
        bins[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(bins, a[i] % 16, 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, bins[t])


# run: atomics[2, 64](i32(128), np.array([0, 0, -1000, 1000, 0, 0, 0, -1], np.int32))
@cuda.jit
def atomics(a, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, a[i])
    cuda.atomic.sub(out, 1, a[i])
    cuda.atomic.max(out, 2, a[i])
    cuda.atomic.min(out, 3, a[i])
    cuda.atomic.or_(out, 4, a[i] & 255)
    cuda.atomic.xor(out, 5, a[i])
    cuda.atomic.and_(out, 7, a[i] | 15)


# run: atomic_floats[2, 64](f32(128), np.array([0, -1e9, 1e9], np.float32))  -> rtol=1e-3
# run: atomic_floats[2, 64](f64(128), np.array([0, -1e9, 1e9], np.float64))  -> rtol=1e-11
@cuda.jit
def atomic_floats(a, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, a[i])
    cuda.atomic.max(out, 1, a[i])
    cuda.atomic.min(out, 2, a[i])


# run: cas_lock[2, 32](zeros(np.int64, 2))
@cuda.jit
def cas_lock(out):
    i = cuda.grid(1)
    old = cuda.atomic.cas(out, 0, 0, i + 1)
    if old == 0:
        cuda.atomic.add(out, 1, 1)
    cuda.atomic.exch(out, 0, 7)


# run: tickets[2, 32](zeros(np.int32, 1), zeros(np.int32, 64))
@cuda.jit
def tickets(counter, taken):
    """Each thread gets a number of its own."""
    mine = cuda.atomic.add(counter, 0, 1)
    taken[mine] = 1


# run: local_array[2, 32](i32(64), zeros(np.int32, 64))
@cuda.jit
def local_array(a, out):
    stack = cuda.local.array(8, np.int32)
    i = cuda.grid(1)
    for j in range(8):
        stack[j] = a[(i + j) % a.shape[0]]
    for j in range(8):
        for k in range(7 - j):
            if stack[k] > stack[k + 1]:
                stack[k], stack[k + 1] = stack[k + 1], stack[k]
    out[i] = stack[4]


@cuda.jit(device=True)
def turned(a, i, shape, dtype):
    """The block's elements the other way round, through shared memory of a shape that the caller says."""
    tile = cuda.shared.array(shape, dtype)
    t = cuda.threadIdx.x
    tile[t] = a[i]
    cuda.syncthreads()
    n = cuda.blockDim.x
    return tile[n - 1 - t]


@cuda.jit(device=True)
def running_least(a, i, length, times):
    """Memory of each thread of a length that the caller says."""
    ring = cuda.local.array((length, 2), np.int32)
    for j in range(length):
        ring[j, 0] = a[(i + j) % a.shape[0]]
    least = ring[0, 0]
    for j in range(1, length):
        least = min(least, ring[j, 0] + times)
    return least


@cuda.jit(device=True)
def turned_twice(a, i, length):
    return turned(a, i, length, np.int32) * 1000 + running_least(a, i, length // 16, 3)


# run: shapes_as_arguments[2, 32](i32(64), zeros(np.int64, 4, 64), 5)
@cuda.jit
def shapes_as_arguments(a, out, times):
    i = cuda.grid(1)
    out[0, i] = turned(a, i, 32, np.int32)
    out[1, i] = turned(a, i, (TILE * 4,), np.int64) + turned(a, i, 64, np.int32)
    out[2, i] = turned_twice(a, i, 48)
    out[3, i] = running_least(a, i, 4, times) + running_least(a, i, 7, times)


TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)


# run: constant[1, 32](zeros(np.float32, 32))
@cuda.jit
def constant(out):
    table = cuda.const.array_like(TABLE)
    i = cuda.threadIdx.x
    out[i] = table[i % 8] + TABLE[0]


# run: condition_kept[1, 64](f64(64), 40)
# run: condition_kept[1, 48](f64(64), 96)
@cuda.jit
def condition_kept(a, n):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    first = t < n // 2
    if first:
        tile[t] = a[t] + 1.0
    cuda.syncthreads()
    if first:
        a[t] = tile[0] * 2.0
    cuda.syncthreads()
    if first:
        tile[t] = 0.0
