# Arrays: elements, slices, shapes, loops.


# run(float32[:]): total([1.0, 2.0, 3.5]) == 6.5
# run(int8[:]): total([100, 27]) == 127
def total(a):
    acc = 0
    for x in a:
        acc += x
    return acc


# run(float64[:, :]): shapes([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) == (2, 3, 2, 6, 2, 3, 3, 3)
def shapes(a):
    n, m = a.shape
    return n, m, a.ndim, a.size, len(a), a.shape[-1], a.T.shape[0], a[0].size


# run(int64[:]): ends([1, 2, 3, 4]) == (1, 4, 3, 4)
def ends(a):
    return a[0], a[-1], a[-2], a[len(a) - 1]


# run(int64[:], int): wrapped([1, 2, 3, 4], -3) == 2
def wrapped(a, i):
    return a[i]


# run(int64[:, :], int, int): element([[1, 2], [3, 4]], 1, -2) == (3, 3, 3)
def element(a, i, j):
    return a[i, j], a[i][j], a[(i, j)]


# run(int64[:], int, int): slice_sum([1, 2, 3, 4, 5], 1, 4) == 234
# run(int64[:], int, int): slice_sum([1, 2, 3, 4, 5], -2, 100) == 45
# run(int64[:], int, int): slice_sum([1, 2, 3, 4, 5], 4, 1) == 0
# run(int64[:], int, int): slice_sum([1, 2, 3, 4, 5], -100, 2) == 12
def slice_sum(a, i, j):
    s = 0
    for x in a[i:j]:
        s = s * 10 + x
    return s


# run(int64[:], int, int, int): stepped([1, 2, 3, 4, 5], 0, 5, 2) == 135
# run(int64[:], int, int, int): stepped([1, 2, 3, 4, 5], 4, 0, -1) == 5432
# run(int64[:], int, int, int): stepped([1, 2, 3, 4, 5], -1, -100, -2) == 531
# run(int64[:], int, int, int): stepped([1, 2, 3, 4, 5], 0, 5, 0) raises value "slice step cannot be zero"
def stepped(a, i, j, k):
    s = 0
    for x in a[i:j:k]:
        s = s * 10 + x
    return s


# run(int64[:]): fixed_steps([1, 2, 3, 4, 5]) == (54321, 135, 42)
def fixed_steps(a):
    s = 0
    for x in a[::-1]:
        s = s * 10 + x
    t = 0
    for x in a[::2]:
        t = t * 10 + x
    u = 0
    for x in a[3:0:-2]:
        u = u * 10 + x
    return s, t, u


# run(int64[:, :]): columns([[1, 2, 3], [4, 5, 6]]) == (142536, 123456)
def columns(a):
    s = 0
    for j in range(a.shape[1]):
        column = a[:, j]
        s = s * 100 + column[0] * 10 + column[1]
    t = 0
    for row in a:
        for x in row:
            t = t * 10 + x
    return s, t


# run(int64[:, :]): corner([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == (5, (2, 2), 4, 2, 7, (1, 3))
def corner(a):
    b = a[1:, :2]
    c = a.T[0, 1:]
    d = a[..., 0]
    e = a[None, 1]
    return b[0, 1], b.shape, c[0], c.size, d[2], e.shape


# run(int64[:]): pairs([3, 1, 2]) == 70051105
def pairs(a):
    s = 0
    for i, x in enumerate(a):
        s += i * x
    for i, x in enumerate(a, 1):
        s += 100 * i * x
    for x, y in zip(a, a[1:]):
        s += 10000 * x * y
    for i, (x, k) in enumerate(zip(a, range(5, 50, 5))):
        s += 1000000 * i * x * k
    return s


# run(float64[:]): store([1.0, 2.0, 3.0]) where a == [10.0, 2.5, -3.0]
def store(a):
    a[0] = 10
    a[1] += 0.5
    a[-1] = -a[-1]


# run(int32[:], float): truncates([1, 2], 3.9) where a == [3, 5]
def truncates(a, x):
    a[0] = x
    a[1] += x


# run(float64[:, :]): fills([[1.0, 2.0], [3.0, 4.0]]) where a == [[7.0, 7.0], [0.0, 1.0]]
def fills(a):
    a[:] = 7
    for i in range(2):
        a[1, i] = i


# run(float64[:, :], float64[:]): rows([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]) where a == [[5.0, 6.0], [13.0, 16.0]]
def rows(a, b):
    a[0] = b
    a[1] += b * 2


# run(float64[:]): overlap([1.0, 2.0, 3.0, 4.0]) where a == [1.0, 1.0, 2.0, 3.0]
def overlap(a):
    a[1:] = a[:-1]


# run(float64[:]): inplace([1.0, 2.0]) where a == [4.0, 6.0]
def inplace(a):
    a += 1
    a *= 2


# run(float32[:]): dtypes([1.5]) == (2.7, true, 4)
def dtypes(a):
    return a.dtype.type(2.7), a.dtype == np.float32, a.itemsize


# run(float64[:]): zero_d([1.5]) == (0, 0)
def zero_d(a):
    b = a[0:0]
    n = 0
    for _ in b:
        n += 1
    return n, b.size


# run(complex128[:]): complexes([(1.0, 2.0), (3.0, -1.0)]) == (15.0, 0.0)
def complexes(a):
    s = 0j
    for z in a:
        s += z * z.conjugate()
    return s


# run(float64[:], float64[:]): joined([1.0, 2.0], [3.0]) == 1.0
def joined(a, b):
    if a.size > b.size:
        c = a
    else:
        c = b
    return c[0]


# run(float64[:], (int, float)): tuple_argument([1.0, 2.0], (1, 3.0)) == 6.0
def tuple_argument(a, t):
    i, x = t
    return a[i] * x


# run(int): reversed_in_place(4) == [3, 2, 1, 0]
def reversed_in_place(n):
    b = np.arange(n)
    c = b[::-1]
    b[:] = c
    return b


# run(int): shifted_alias(4) == [0, 0, 0, 1]
def shifted_alias(n):
    b = np.arange(n)
    d = b
    for i in range(2):
        b[1:] = d[:-1]
        d = b[0:]
    return b


# run(float64[:, :]): transposed_into_itself([[1.0, 2.0], [3.0, 4.0]]) where a == [[1.0, 3.0], [2.0, 4.0]]
def transposed_into_itself(a):
    a[:] = a.T


# run(complex128[:]): parts([(1.0, 2.0), (3.0, -1.0)]) == (3.0, 2.0, 4.0)
def parts(a):
    return a.real[1], a.imag[0], a.real.sum()


# run(float64[:]): masked([1.0, -2.0, 3.0]) where a == [1.0, 0.0, 9.0]
def masked(a):
    a[a < 0] = 0
    big = a > 2
    a[big] = 9


# run(int64[:], int): backwards([1, 2, 3], 4) == 3213210817
def backwards(a, n):
    s = 0
    for x in reversed(a):
        s = s * 10 + x
    for i in reversed(range(1, n)):
        s = s * 10 + i
    for i, x in enumerate(reversed((7, 8))):
        s = s * 100 + 10 * i + x
    return s


# run(int): zero_dimensional(3) == (8.0, 4.0, 0, 1, 8.0)
def zero_dimensional(n):
    a = np.zeros(())
    a[()] = n
    b = a + 1
    a[...] = b * 2
    return a[()], b, a.ndim, a.size, a.sum()


# run(int64[:], uint64[:], int8[:]): wrapped_indices([1, 2, 3], [18446744073709551615], [100]) == (3, 1)
def wrapped_indices(a, big, small):
    i = (small[0] & 127) + (small[0] & 127) + np.int8(53)
    return a[np.int64(big[0])], a[i]
