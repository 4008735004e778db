# Array expressions: fused elementwise code, broadcasting, new arrays, reductions.


# run(float32[:], float32[:]): axpy([1.0, 2.0], [3.0, 4.0]) == [5.0, 8.0]
# run(float32[:], float64[:]): axpy([1.0, 2.0], [3.0, 4.0]) == [5.0, 8.0]
# run(int32[:], int64[:]): axpy([1, 2], [3, 4]) == [5, 8]
def axpy(x, y):
    return 2 * x + y


# run(float64[:, :], float64[:]): broadcast([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]) == [[21.0, 42.0], [23.0, 44.0]]
# run(float64[:, :], float64[:]): broadcast([[1.0], [3.0]], [10.0, 20.0]) == [[21.0, 41.0], [23.0, 43.0]]
# run(float64[:, :], float64[:]): broadcast([[1.0, 2.0], [3.0, 4.0]], [10.0]) == [[21.0, 22.0], [23.0, 24.0]]
def broadcast(a, b):
    return a + b * 2


# run(float64[:], float64[:]): misfit([1.0, 2.0], [1.0, 2.0, 3.0]) raises value "operands could not be broadcast together"
def misfit(a, b):
    return a + b


# run(float64[:]): reductions([3.0, 1.0, 2.0]) == (6.0, 2.0, 1.0, 3.0, 6.0, 12.0, 3.0, 0, 1)
# run(float32[:]): reductions([3.0, 1.0, 2.5]) == (6.5, 2.1666667, 1.0, 3.0, 7.5, 13.0, 3.0, 0, 1)
# run(int8[:]): reductions([100, 27, 100]) == (227, 75.66666666666667, 27, 100, 270000, -58, 100, 0, 1)
# run parallel(float64[:]): reductions([3.0, 1.0, 2.0]) == (6.0, 2.0, 1.0, 3.0, 6.0, 12.0, 3.0, 0, 1)
def reductions(a):
    return a.sum(), a.mean(), a.min(), a.max(), a.prod(), np.sum(a * 2), max(a), a.argmax(), a.argmin()


# run(float64[:]): deviations([3.0, 1.0, 2.0]) ~= (0.6666666666666666, 0.816496580927726)
def deviations(a):
    return a.var(), a.std()


# run(float64[:]): empty_min([]) raises value "zero-size array has no minimum or maximum"
def empty_min(a):
    return a.min()


# run(bool[:]): logic([true, false]) == (true, false)
# run(bool[:]): logic([true, true]) == (true, true)
def logic(a):
    return a.any(), a.all()


# run(float64[:]): compares([3.0, 1.0, 2.0]) == ([true, false, true], [3.0, -1.0, 2.0])
def compares(a):
    return a > 1.5, np.where(a > 1.5, a, -a)


# run(int): zeros(3) == ([0.0, 5.0, 0.0], [[1, 1, 1], [1, 1, 1]], [2.5, 2.5, 2.5], [[0, 0, 0], [0, 0, 0]])
def zeros(n):
    a = np.zeros(n)
    b = np.ones((2, n), np.int32)
    c = np.full(n, 2.5, np.float32)
    d = np.zeros_like(b)
    a[1] = 5
    return a, b, c, d


# run(int): aranges(4) == ([0, 1, 2, 3], [1, 2, 3], [0, 3, 6], [0.0, 0.3333333333333333, 0.6666666666666666, 1.0], [0.0, 1.0, 2.0])
def aranges(n):
    return np.arange(n), np.arange(1, n), np.arange(0, 2 * n, 3), np.linspace(0, 1, n), np.arange(3.0)


# run(float64[:], float64[:]): dots([1.0, 2.0], [3.0, 4.0]) == (11.0, 11.0)
def dots(a, b):
    return np.dot(a, b), a @ b


# run(float64[:, :]): reshaped([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) == ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1.0, 4.0, 2.0, 5.0, 3.0, 6.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
def reshaped(a):
    b = a.reshape(3, 2)
    c = a.T.ravel()
    d = a.reshape(-1)
    e = a.T.copy()
    return b, c, d, e, a.astype(np.float32)


# run(float64[:]): functions([0.5, 1.0]) ~= ([1.0, 1.0], [0.7071067811865476, 1.0], [1.6487212707001282, 2.718281828459045], [0.75, 1.0])
# run(float32[:]): functions([0.5, 1.0]) ~= ([1.0, 1.0], [0.70710677, 1.0], [1.6487212, 2.718282], [0.75, 1.0])
def functions(a):
    return np.sin(a) ** 2 + np.cos(a) ** 2, np.sqrt(a), np.exp(a), np.maximum(a, 0.75)


# run(float64[:]): temporaries([1.0, 2.0]) == ([100.0, 4.0], [3.0, 6.0])
def temporaries(a):
    b = a * 2
    c = b + a
    b[0] = 100
    return b, c


# run(int): parallel_sum(10) == (22.5, 9)
# run parallel(int): parallel_sum(10) == (22.5, 9)
def parallel_sum(n):
    acc = 0.0
    top = -1
    for i in prange(n):
        x = i * 0.5
        acc += x
        top = max(top, i)
    return acc, top


# run(float64[:]): parallel_store([1.0, 2.0, 3.0]) where a == [0.0, 2.0, 4.0]
# run parallel(float64[:]): parallel_store([1.0, 2.0, 3.0]) where a == [0.0, 2.0, 4.0]
def parallel_store(a):
    for i in prange(a.size):
        if i == 10:
            continue
        a[i] = i * 2


def doubled(a):
    return a * 2


# run(float64[:]): calls_array([1.0, 2.0]) == [4.0, 6.0]
def calls_array(a):
    return doubled(a) + doubled(a)[0]


# run(int): made(3) == ([1, 2, 3], [[1.0, 3.0], [2.0, 3.0]])
def made(n):
    return np.array((1, 2, n)), np.array(((1.0, n), (2, 3)))


# run(float64[:, :]): nested_sum([[1.0, 2.0], [3.0, 4.0]]) == 17.0
def nested_sum(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i].sum() * (i + 1)
    return s


# run(float64[:, :]): array_reduction([[1.0, 2.0], [3.0, 4.0]]) == ([10.0, 14.0], 2)
# run parallel(float64[:, :]): array_reduction([[1.0, 2.0], [3.0, 4.0]]) == ([10.0, 14.0], 2)
def array_reduction(a):
    acc = np.zeros(a.shape[1])
    n = 0
    for i in prange(a.shape[0]):
        row = a[i] * 2
        row += 1
        acc += row
        n += 1
    return acc, n


# run parallel(float64[:, :]): private_rows([[1.0, 2.0], [3.0, 4.0]]) where a == [[2.0, 3.0], [4.0, 5.0]]
def private_rows(a):
    for i in prange(a.shape[0]):
        row = a[i]
        row += 1


# run(float64[:], float64[:]): outer([1.0, 2.0], [3.0, 4.0, 5.0]) == ([[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]], [[4.0, 5.0, 6.0], [5.0, 6.0, 7.0]], [[2.0], [4.0]])
def outer(a, b):
    c = np.zeros((2, 1))
    c[:, 0] = a
    return a[:, None] * b, c + b[None, :], a[:, None] + a[:, None]


# run(float64[:, :], float64[:]): three([[1.0], [2.0]], [3.0, 4.0]) == [[7.0, 13.0], [8.0, 14.0]]
def three(a, b):
    return a + b * a[:, 0] + b[None]


# run parallel(complex128[:]): complex_product([(1.0, 2.0), (3.0, -1.0)]) == ((5.0, 5.0), (5.0, 5.0), (4.0, 1.0))
def complex_product(a):
    p = 1 + 0j
    for i in prange(a.size):
        p *= a[i]
    return p, a.prod(), a.sum().sum()


# run parallel(int64[:]): two_reductions([3, 1, 2]) == (1, 3, 2)
def two_reductions(a):
    low = 100
    bits = 0
    n = 0
    for i in prange(a.size):
        low = min(low, a[i])
        bits |= a[i]
        if a[i] > 1:
            n += 1
    return low, bits, n


# run(float64[:, :]): axes([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]) == ([7.0, 7.0, 7.0], [2.0, 5.0], [3.0, 6.0], [3.0, 1.0, 2.0], [48.0, 960.0], [true, true, true], 6.0)
# run parallel(float32[:, :]): axes([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]) == ([7.0, 7.0, 7.0], [2.0, 5.0], [3.0, 6.0], [3.0, 1.0, 2.0], [48.0, 960.0], [true, true, true], 6.0)
# run(int8[:, :]): axes([[3, 1, 2], [4, 6, 5]]) == ([7, 7, 7], [2.0, 5.0], [3, 6], [3, 1, 2], [48, 960], [true, true, true], 6)
def axes(a):
    return a.sum(axis=0), a.mean(axis=1), np.max(a, axis=-1), a.min(0), (a * 2).prod(axis=1), (a > 2).any(axis=0), a[0].sum(axis=0)


# run(float64[:, :], float64[:]): centred([[3.0, 1.0], [4.0, 6.0]], [1.0, 2.0]) == ([[-0.5, -1.25], [0.5, 1.25]], [7.0, 13.0])
def centred(a, b):
    return (a - a.mean(axis=0)) / b, (a + b).sum(axis=1)


# run(float64[:, :], float64[:, :]): matrices([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]) == ([[5.0, 11.0], [14.0, 23.0]], [5.0, 14.0], [5.0, 11.0], [[5.0, 14.0], [11.0, 23.0]])
# run parallel(float32[:, :], float64[:, :]): matrices([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]) == ([[5.0, 11.0], [14.0, 23.0]], [5.0, 14.0], [5.0, 11.0], [[5.0, 14.0], [11.0, 23.0]])
def matrices(a, b):
    return a @ b, np.dot(a, b[:, 0]), a[0] @ b, b.T.dot(a.T)


# run(float64[:, :]): misfit_matrices([[1.0, 2.0]]) raises value "matrices do not fit: the inner lengths differ"
def misfit_matrices(a):
    return a @ a


# run(float32[:]): as_arrays([1.0, 2.0]) == (5.0, [5.0, 2.0], [2.0, 5.0], [5.0, 2.0], [5.0, 2.0], [5, 2])
def as_arrays(a):
    b = np.asarray(a)
    b[0] = 5
    c = np.ascontiguousarray(a[::-1])
    return a[0], b, c, np.asarray(a, np.float64), np.array(a), a.astype(dtype=np.int8)


# run parallel(float64[:, :]): temporaries_in_prange([[1.0, 2.0], [3.0, 4.0]]) == ([18.0, 34.0], 2)
def temporaries_in_prange(a):
    out = np.zeros(a.shape[0])
    n = 0
    for i in prange(a.shape[0]):
        row = a[i] * 2 + 1
        out[i] = row.sum() + doubled(row).max()
        n += 1
    return out, n


# run(float64[:], int): last_of_loop([1.0, 2.0], 3) == [2.0, 4.0]
def last_of_loop(a, n):
    for i in range(n):
        b = a * i
    return b


def spread(a):
    s = 0.0
    for i in prange(a.size):
        s += a[i]
    return s - (a * 2).max()


# run parallel(float64[:, :]): called_in_prange([[1.0, 2.0], [3.0, 4.0]]) == [-1.0, -1.0]
def called_in_prange(a):
    out = np.zeros(a.shape[0])
    for i in prange(a.shape[0]):
        out[i] = spread(a[i])
    return out
