# Kernels: geometry, shared memory, barriers, atomics.


# run(float32, float32[:], float32[:]): saxpy[2, 2](2.0, [1.0, 2.0, 3.0], [0.5, 0.5, 0.5]) where y == [2.5, 4.5, 6.5]
@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


# run(int64[:, :]): coordinates[(1, 2), (2, 2)]([[0, 0, 0, 0], [0, 0, 0, 0]]) where a == [[0, 1, 2, 3], [10, 11, 12, 13]]
@cuda.jit
def coordinates(a):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] = i * 10 + j


# run(int64[:]): reverse[1, 4]([1, 2, 3, 4]) where a == [4, 3, 2, 1]
@cuda.jit
def reverse(a):
    s = cuda.shared.array(4, np.int64)
    i = cuda.threadIdx.x
    s[i] = a[i]
    cuda.syncthreads()
    a[i] = s[3 - i]


# run(int32[:], int32[:]): histogram[2, 4]([0, 1, 1, 2, 2, 2, 0, 9], [0, 0, 0]) where bins == [2, 2, 3]
@cuda.jit
def histogram(data, bins):
    local = cuda.shared.array(3, np.int32)
    t = cuda.threadIdx.x
    if t < 3:
        local[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < data.size and data[i] < 3:
        cuda.atomic.add(local, data[i], 1)
    cuda.syncthreads()
    if t < 3:
        cuda.atomic.add(bins, t, local[t])


# run(int64[:, :]): strided[2, 2]([[1, 2, 3], [4, 5, 6]]) where a == [[2, 4, 6], [8, 10, 12]]
@cuda.jit
def strided(a):
    flat = a.reshape(a.size)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        flat[i] *= 2


# run(int64[:]): compare_and_swap[1, 1]([5, 7]) where a == [9, 7]
@cuda.jit
def compare_and_swap(a):
    old = cuda.atomic.cas(a, 0, 5, 9)
    cuda.atomic.cas(a, 1, old, 3)


# run(float64[:]): local_array[1, 2]([1.0, 2.0]) where a == [3.0, 6.0]
@cuda.jit
def local_array(a):
    i = cuda.grid(1)
    t = cuda.local.array(3, np.float64)
    t[:] = a[i]
    a[i] = t[0] + t[1] + t[2]


# run(int64[:, :]): early[2, 2]([[0, 0], [0, 0]]) where a == [[1, 1], [1, 0]]
@cuda.jit
def early(a):
    i = cuda.grid(1)
    if i >= 3:
        return
    a[i // 2, i % 2] = 1
