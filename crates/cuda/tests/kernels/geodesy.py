"""Kernels that lean on the math library, and the shapes people write most."""

import math

from weft import cuda

TILE = 16


# run: haversine[1, 64](f64(64), f64(64), f64(64), f64(64), f64(64))
# run: haversine[1, 64](f32(64), f32(64), f32(64), f32(64), f32(64))
@cuda.jit
def haversine(lat1, lon1, lat2, lon2, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        a = math.sin((lat2[i] - lat1[i]) / 2)
        b = math.sin((lon2[i] - lon1[i]) / 2)
        h = a * a + math.cos(lat1[i]) * math.cos(lat2[i]) * b * b
        out[i] = 2 * 6371.0 * math.asin(math.sqrt(h))


# run: functions[1, 64](f64(64), f64(64, 12))
# run: functions[1, 64](f32(64), f32(64, 12))
@cuda.jit
def functions(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        v = x[i]
        out[i, 0] = math.exp(v)
        out[i, 1] = math.log(v)
        out[i, 2] = math.tan(v)
        out[i, 3] = math.atan2(v, 2.0)
        out[i, 4] = math.tanh(v)
        out[i, 5] = v**2.5
        out[i, 6] = math.fmod(v, 3.0)
        out[i, 7] = v % 3.0
        out[i, 8] = v // 3.0
        out[i, 9] = math.erf(v)
        out[i, 10] = math.lgamma(v)
        out[i, 11] = math.cbrt(v)


# run: triad[2, 64](f32(128), f32(128), f32(128), 2.0)
@cuda.jit
def triad(a, b, c, s):
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        a[i] = b[i] + s * c[i]


# run: four_each[1, 16](f32(64), f32(64))
@cuda.jit
def four_each(x, y):
    i = 4 * cuda.grid(1)
    if i + 3 < x.shape[0]:
        for k in range(4):
            y[i + k] = 2 * x[i + k]


# run: tiled[(2, 2), (16, 16)](f32(32, 32), f32(32, 32), f32(32, 32))
@cuda.jit
def tiled(a, b, c):
    left = cuda.shared.array((TILE, TILE), a.dtype)
    right = cuda.shared.array((TILE, TILE), b.dtype)
    row, col = cuda.grid(2)
    ty, tx = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for start in range(0, a.shape[1], TILE):
        left[ty, tx] = a[row, start + tx]
        right[ty, tx] = b[start + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    c[row, col] = total


# run: bodies[1, 64](f32(64, 4), f32(64, 3), 0.01)
@cuda.jit(fastmath=True)
def bodies(place, force, soft):
    i = cuda.grid(1)
    x, y, z = place[i, 0], place[i, 1], place[i, 2]
    fx = fy = fz = 0.0
    for j in range(place.shape[0]):
        dx, dy, dz = place[j, 0] - x, place[j, 1] - y, place[j, 2] - z
        near = dx * dx + dy * dy + dz * dz + soft
        scale = place[j, 3] / (near * math.sqrt(near))
        fx += dx * scale
        fy += dy * scale
        fz += dz * scale
    force[i, 0] = fx
    force[i, 1] = fy
    force[i, 2] = fz
