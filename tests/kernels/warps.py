"""Threads of a warp that tell each other things, barriers that count, barriers of the grid, dynamic shared memory, bits."""

import numpy as np

from weft import cuda

FULL = 0xFFFFFFFF


@cuda.jit(device=True)
def warp_sum(value):
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(FULL, value, step)
        step //= 2
    return value


# run: block_sums[4, 128](f64(512), zeros(np.float64, 4))  -> rtol=1e-12
# run: block_sums[3, (16, 4)](f32(192), zeros(np.float32, 3))  -> rtol=1e-4
# run: block_sums[2, (8, 4, 2)](i64(128), zeros(np.int64, 2))
# run: block_sums[2, (8, 4, 2)](i32(128), zeros(np.int32, 2))
@cuda.jit
def block_sums(a, out):
    """The usual way: each warp sums its own, one warp sums those."""
    parts = cuda.shared.array(32, a.dtype)
    dim = cuda.blockDim
    t = cuda.threadIdx.x + dim.x * (cuda.threadIdx.y + dim.y * cuda.threadIdx.z)
    threads = dim.x * dim.y * dim.z
    total = warp_sum(a[cuda.blockIdx.x * threads + t])
    if cuda.laneid == 0:
        parts[t // 32] = total
    cuda.syncthreads()
    if t < 32:
        mine = parts[t] if t < (threads + 31) // 32 else parts[0] - parts[0]
        total = warp_sum(mine)
        if t == 0:
            out[cuda.blockIdx.x] = total


# run: inclusive_scan[2, 64](i32(128), zeros(np.int32, 128))
# run: inclusive_scan[1, 45](f64(45), zeros(np.float64, 45))  -> rtol=1e-12
@cuda.jit
def inclusive_scan(a, out):
    i = cuda.grid(1)
    lane = cuda.laneid
    value = a[i]
    for k in range(5):
        below = cuda.shfl_up_sync(FULL, value, 1 << k)
        if lane >= 1 << k:
            value += below
    out[i] = value


# run: butterfly[2, 64](f32(128), zeros(np.float32, 128))
# run: butterfly[2, (4, 16)](u8(128), zeros(np.uint8, 128))
# run: butterfly[1, 32](i16(32), zeros(np.int16, 32))
# run: butterfly[2, 64](f16(128), zeros(np.float16, 128))
@cuda.jit
def butterfly(a, out):
    """The greatest of each warp, in every lane."""
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x * cuda.blockDim.y + t
    best = a[i]
    for step in (16, 8, 4, 2, 1):
        best = max(best, cuda.shfl_xor_sync(FULL, best, step))
    out[i] = best


# run: rotate[1, 32](c128(32), i32(32), zeros(np.complex128, 32))
# run: rotate[1, 64](b1(64), i32(64), zeros(np.bool_, 64))
# run: rotate[1, (2, 32)](u64(64), u8(64), zeros(np.uint64, 64))
@cuda.jit
def rotate(a, by, out):
    """Lanes that each read another one."""
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    out[t] = cuda.shfl_sync(FULL, a[t], cuda.laneid + by[t])


# run: broadcast[2, 64](i64(128), 37, zeros(np.int64, 128))
@cuda.jit
def broadcast(a, lane, out):
    i = cuda.grid(1)
    out[i] = cuda.shfl_sync(FULL, a[i], lane) + cuda.shfl_sync(FULL, i, 3) + cuda.shfl_sync(FULL, lane, 9)


# run: votes[2, 64](i32(128), zeros(np.int64, 128, 4))
# run: votes[1, (5, 3)](i32(15), zeros(np.int64, 15, 4))
# run: votes[1, 40](zeros(np.int32, 40), zeros(np.int64, 40, 4))
@cuda.jit
def votes(a, out):
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x * cuda.blockDim.y + t
    out[i, 0] = cuda.all_sync(FULL, a[i] > -90)
    out[i, 1] = cuda.any_sync(FULL, a[i] > 90)
    out[i, 2] = cuda.eq_sync(FULL, a[i] > 99)
    out[i, 3] = cuda.ballot_sync(FULL, a[i] > 0)


# run: halves[1, 32](i32(32), zeros(np.int32, 32))
# run: halves[2, 96](i32(192), zeros(np.int32, 192))
@cuda.jit
def halves(a, out):
    """The lanes of each mask go one way."""
    i = cuda.grid(1)
    if cuda.laneid < 16:
        out[i] = cuda.shfl_xor_sync(0x0000FFFF, a[i], 5)
        if cuda.any_sync(0xFFFF, a[i] == 7):
            out[i] += 1000
    else:
        out[i] = cuda.popc(cuda.ballot_sync(0xFFFF0000, a[i] % 2 == 0))


# run: aggregated[2, 64](u8(128), zeros(np.int32, 16), zeros(np.int32, 128))
# run: aggregated[1, (16, 3)](u8(48), zeros(np.int32, 16), zeros(np.int32, 48))
@cuda.jit
def aggregated(keys, counts, ranks):
    """One atomic for all lanes with the same key; each learns its rank among them."""
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x * cuda.blockDim.y + t
    key = keys[i] % 8
    peers = cuda.match_any_sync(FULL, np.int32(key))
    leader = cuda.ffs(peers) - 1
    if cuda.laneid == leader:
        cuda.atomic.add(counts, key, cuda.popc(peers))
    ranks[i] = cuda.popc(peers & cuda.lanemask_lt()) + 100 * cuda.shfl_sync(peers, t, leader)


# run: alike[1, 32](np.full(32, 3.5), zeros(np.int64, 32, 2))
# run: alike[1, 32](f64(32), zeros(np.int64, 32, 2))
# run: alike[1, 20](np.full(20, np.nan, np.float32), zeros(np.int64, 20, 2))
@cuda.jit
def alike(a, out):
    i = cuda.grid(1)
    lanes, same = cuda.match_all_sync(FULL, a[i])
    out[i, 0] = lanes
    out[i, 1] = same


# run: in_step[2, 64](f32(128), zeros(np.float32, 128))
# run: in_step[1, (8, 8)](f32(64), zeros(np.float32, 64))
@cuda.jit
def in_step(a, out):
    """Shared memory of a warp, without barriers of the block."""
    box = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.blockIdx.x * 64 + t
    first = t - cuda.laneid
    box[t] = a[i]
    cuda.syncwarp()
    for step in (1, 2, 4):
        other = box[first + (cuda.laneid ^ step)]
        cuda.syncwarp(FULL)
        box[t] += other
        cuda.syncwarp()
    out[i] = box[t] + (cuda.activemask() & 3)


# run: looping[1, 64](i32(64), zeros(np.int32, 64))
@cuda.jit
def looping(a, out):
    """All lanes stay until the last is done."""
    i = cuda.grid(1)
    left = abs(a[i]) % 20
    turns = 0
    while cuda.any_sync(FULL, left > 0):
        turns += cuda.popc(cuda.ballot_sync(FULL, left > 0))
        if left > 0:
            left -= 1
    out[i] = turns


# run: counted[2, 64](i32(128), zeros(np.int32, 128, 3))
# run: counted[1, 7](np.ones(7, np.int32), zeros(np.int32, 7, 3))
# run: counted[1, (3, 4, 2)](zeros(np.int32, 24), zeros(np.int32, 24, 3))
@cuda.jit
def counted(a, out):
    dim = cuda.blockDim
    t = cuda.threadIdx.x + dim.x * (cuda.threadIdx.y + dim.y * cuda.threadIdx.z)
    i = cuda.blockIdx.x * dim.x * dim.y * dim.z + t
    for shift in range(3):
        holds = a[i] > 10 * shift
        out[i, 0] += cuda.syncthreads_count(holds)
        out[i, 1] += cuda.syncthreads_and(holds)
        out[i, 2] += cuda.syncthreads_or(a[i] * shift)


# run: diffuse[4, 16](f64(64), 5)  -> rtol=1e-12
# run: diffuse[3, 33](f32(99), 4)  -> rtol=1e-5
@cuda.jit
def diffuse(a, rounds):
    """Each round reads what all blocks wrote in the one before."""
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    n = a.shape[0]
    for _ in range(rounds):
        mean = (a[i - 1] + a[(i + 1) % n]) / 2
        grid.sync()
        a[i] = mean
        cuda.cg.this_grid().sync()


# run: last_block_sums[4, 32](f64(128), zeros(np.float64, 5), zeros(np.uint32, 1))  -> rtol=1e-12
@cuda.jit
def last_block_sums(a, parts, arrived):
    """The block that finishes last adds up what all have left."""
    is_last = cuda.shared.array(1, np.int32)
    total = warp_sum(a[cuda.grid(1)])
    if cuda.threadIdx.x == 0:
        parts[1 + cuda.blockIdx.x] = total
        cuda.threadfence()
        is_last[0] = cuda.atomic.inc(arrived, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if is_last[0] != 0:
        mine = parts[1 + cuda.threadIdx.x] if cuda.threadIdx.x < cuda.gridDim.x else 0.0
        total = warp_sum(mine)
        if cuda.threadIdx.x == 0:
            parts[0] = total


# run: dynamic[2, 64, 0, 256](i32(128), zeros(np.int32, 128))
# run: dynamic[2, 64, 0, 60000](i32(128), zeros(np.int32, 128))
@cuda.jit
def dynamic(a, out):
    box = cuda.shared.array(0, np.int32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    box[t] = a[i]
    cuda.syncthreads()
    out[i] = box[63 - t] + box.shape[0]


# run: two_types[1, 8, 0, 100](f64(8), zeros(np.int64, 3))
@cuda.jit
def two_types(a, out):
    """Arrays of length 0 are the same memory."""
    doubles = cuda.shared.array(0, np.float64)
    bytes_ = cuda.shared.array(shape=0, dtype=np.uint8)
    t = cuda.threadIdx.x
    doubles[t] = a[t]
    cuda.syncthreads()
    if t == 0:
        out[0] = doubles.shape[0]
        out[1] = bytes_.shape[0]
        for k in range(64):
            out[2] += bytes_[k] * k


# run: bits[1, 32](u32(32), zeros(np.int64, 32, 4))
# run: bits[1, 32](i32(32), zeros(np.int64, 32, 4))
# run: bits[1, 32](u64(32), zeros(np.int64, 32, 4))
# run: bits[1, 32](i8(32) // 2, zeros(np.int64, 32, 4))
@cuda.jit
def bits(a, out):
    i = cuda.threadIdx.x
    out[i, 0] = cuda.popc(a[i])
    out[i, 1] = cuda.clz(a[i])
    out[i, 2] = cuda.ffs(a[i])
    out[i, 3] = cuda.brev(a[i]) >> 1


OLD = np.array([np.nan, 1, 1, np.nan, 0, -0.0, np.inf])
NEW = np.array([1, np.nan, 2, np.nan, -0.0, 0, 3])


# run: missing_values[1, 1](OLD, NEW, zeros(np.float64, 4, 7))
# run: missing_values[1, 1](OLD.astype(np.float32), NEW.astype(np.float32), zeros(np.float32, 4, 7))
@cuda.jit
def missing_values(old, new, out):
    """A NaN, as the element or the value, changes nothing; of nanmin and nanmax one that is the element is replaced."""
    for i in range(7):
        for k in range(4):
            out[k, i] = old[i]
        cuda.atomic.max(out, (0, i), new[i])
        cuda.atomic.min(out, (1, i), new[i])
        cuda.atomic.nanmax(out, (2, i), new[i])
        cuda.atomic.nanmin(out, (3, i), new[i])


# run: rare_atomics[1, 64](np.array([3, 4], np.uint32), np.array([np.nan, np.nan, 1, 2], np.float32), np.array([5, -5]), f32(64))
@cuda.jit
def rare_atomics(wraps, floats, ints, a):
    i = cuda.threadIdx.x
    cuda.atomic.inc(wraps, 0, 6)
    cuda.atomic.dec(wraps, 1, 9)
    value = a[i] if i % 3 != 0 else np.float32(np.nan)
    cuda.atomic.nanmin(floats, 0, value)
    cuda.atomic.nanmax(floats, 1, value)
    cuda.atomic.nanmin(floats, 2, value)
    cuda.atomic.nanmax(floats, 3, value)
    cuda.atomic.nanmin(ints, 0, i - 10)
    cuda.atomic.nanmax(ints, 1, i - 10)
    cuda.nanosleep(10)
