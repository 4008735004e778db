"""One thread per element: geometry, guards, every element type."""

import operator
from operator import truediv

from weft import cuda


# run: saxpy[4, 32](2.0, f32(100), f32(100))  -> rtol=1e-6
# run: saxpy[1, 128](2.0, f32(100), f32(100))  -> rtol=1e-6
# run: saxpy[100, 1](3, f64(100), f64(100))  -> rtol=1e-14
# run: saxpy.forall(100)(np.float32(0.1), f32(100), f32(100))  -> rtol=1e-6
# run: saxpy.forall(100)(2.5, every(2, f64(200)), every(-1, f64(100)))  -> rtol=1e-14
# run: saxpy.forall(0 + 1)(2.5, f64(0), f64(0))
@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


# run: double[3, 16](i8(40))
# run: double[3, 16](u8(40))
# run: double[3, 16](i16(40))
# run: double[3, 16](u16(40))
# run: double[3, 16](i32(40))
# run: double[3, 16](u32(40))
# run: double[3, 16](i64(40))
# run: double[3, 16](u64(40))
# run: double[3, 16](f32(40))
# run: double[3, 16](f64(40))
# run: double[3, 16](c64(40))
# run: double[3, 16](c128(40))
# run: double[2, 7](every(3, i32(40)))
@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < len(x):
        x[i] = x[i] + x[i]


# run: flip[1, 64](b1(50), zeros(bool, 50))
@cuda.jit
def flip(a, out):
    i = cuda.threadIdx.x
    if i < a.size:
        out[i] = not a[i]


# run: grid2[(3, 2), (8, 4)](f64(20, 7), 0.5)  -> rtol=1e-14
# run: grid2[(3, 2), (8, 4)](fortran(f64(20, 7)), 0.5)  -> rtol=1e-14
# run: grid2[(1, 1), (32, 8)](f64(7, 20).T, 0.5)  -> rtol=1e-14
# run: grid2.forall((20, 7))(f32(20, 7), 0.25)  -> rtol=1e-6
# run: grid2.forall((5, 40))(every(2, f64(10, 80)), 2)
@cuda.jit
def grid2(a, scale):
    row, col = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        a[row, col] = a[row, col] * scale + row - col


# run: grid3[(2, 2, 2), (2, 3, 4)](zeros(np.int64, 4, 5, 7))
# run: grid3.forall((4, 5, 7))(zeros(np.int64, 4, 5, 7))
@cuda.jit
def grid3(out):
    i, j, k = cuda.grid(3)
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        out[i, j, k] = 100 * i + 10 * j + k


# run: geometry[(2, 3), (4, 5)](zeros(np.int32, 160, 10))
@cuda.jit
def geometry(out):
    t = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x
    b = cuda.blockIdx.x + cuda.blockIdx.y * cuda.gridDim.x
    i = b * (cuda.blockDim.x * cuda.blockDim.y) + t
    out[i, 0] = cuda.threadIdx.x
    out[i, 1] = cuda.threadIdx.y
    out[i, 2] = cuda.threadIdx.z
    out[i, 3] = cuda.blockIdx.x
    out[i, 4] = cuda.blockIdx.y
    out[i, 5] = cuda.blockDim.y
    out[i, 6] = cuda.gridDim.y
    out[i, 7] = cuda.laneid
    x, y = cuda.gridsize(2)
    out[i, 8] = x + y
    out[i, 9] = cuda.warpsize


# run: grid_stride[2, 32](f32(1000), zeros(np.float32, 1000))  -> rtol=1e-5
# run: grid_stride[3, 5](f64(101), zeros(np.float64, 101))  -> rtol=1e-5
@cuda.jit
def grid_stride(a, out):
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        out[i] = a[i] * 3 - 1


# run: wraparound[1, 32](i32(32), zeros(np.int32, 32))
@cuda.jit
def wraparound(a, out):
    i = cuda.threadIdx.x
    out[-i - 1] = a[i - 1]


# run: stencil[2, 32](f64(64), zeros(np.float64, 64))  -> rtol=1e-13
@cuda.jit
def stencil(a, out):
    i = cuda.grid(1)
    if 0 < i < a.shape[0] - 1:
        out[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]


# run: gather[2, 32](f32(64), u8(64) % 64, zeros(np.float32, 64))
@cuda.jit
def gather(a, index, out):
    i = cuda.grid(1)
    out[i] = a[index[i]]


# run: scatter[1, 64](f32(64), np.arange(64)[::-1] * 2, zeros(np.float32, 128))
@cuda.jit
def scatter(a, index, out):
    i = cuda.grid(1)
    if i % 3 != 1:
        out[index[i]] = a[i]


# run: store_truncates[1, 32](f64(32), zeros(np.int16, 32))
@cuda.jit
def store_truncates(a, out):
    i = cuda.grid(1)
    out[i] = a[i]


@cuda.jit(device=True)
def combined(op, x, y):
    return op(op(x, y), x)


# run: operators[2, 32](i32(64), i32(64) + 5, zeros(int, 64, 5))
# run: operators[2, 32](f64(64), f64(64) + 5, zeros(float, 64, 5))
@cuda.jit
def operators(a, b, out):
    i = cuda.grid(1)
    out[i, 0] = combined(operator.add, a[i], b[i])
    out[i, 1] = combined(operator.mul, a[i], -b[i])
    out[i, 2] = operator.neg(a[i]) + operator.abs(b[i])
    out[i, 3] = operator.lt(a[i], b[i])
    out[i, 4] = truediv(a[i], 4)


# run: reshaped[1, 24](i32(4, 6), zeros(np.int32, 24), -1)
# run: reshaped[1, 24](i32(4, 6), zeros(np.int32, 24), 24)
@cuda.jit
def reshaped(a, out, length):
    flat = a.reshape(length)
    i = cuda.grid(1)
    if i < flat.shape[0]:
        out[i] = flat[i]


# run: reshaped_to[(1, 1), (8, 8)](i32(4, 6), zeros(np.int32, 3, 8), (3, -1))
# run: reshaped_to[(1, 1), (8, 8)](i32(4, 6), zeros(np.int32, 3, 8), (-1, 8))
# run: reshaped_to[(1, 1), (8, 8)](i32(0, 6), zeros(np.int32, 3, 8), (-1, 8))
@cuda.jit
def reshaped_to(a, out, shape):
    b = a.reshape(shape)
    j, i = cuda.grid(2)
    if i < b.shape[0] and j < b.shape[1]:
        out[i, j] = b[i, j]
