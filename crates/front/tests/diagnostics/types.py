# Types that do not fit.


def adds_tuple(x: float, t: (int, int)):
    return x + t


def helper(t):
    return t[0] + 1.5


def inside_callee(x: float):
    return helper(x)


def two_types(n: int, a: float64[:]):
    if n > 0:
        v = n
    else:
        v = a
    return v


def two_results(n: int, a: float64[:]):
    if n > 0:
        return n
    return a


def falls_off(n: int):
    for i in range(n):
        if i > 3:
            return i


def array_truth(a: float64[:]):
    if a > 1:
        return 1
    return 0


def array_index(a: float64[:], i: float64[:]):
    return a[i]


def float_range(x: float):
    for i in range(x):
        pass


def loops_number(n: int):
    for i in n:
        pass


def unpacks_array(a: float64[:]):
    x, y = a
    return x


def unpacks_too_many(t: (int, int, int)):
    x, y = t
    return x


def shift_float(x: float):
    return x << 2


def complex_store(a: float64[:], z: complex128):
    a[0] = z


def store_tuple(t: (int, int)):
    t[0] = 1


def string_plus(n: int):
    return "n" + n


def method(a: float64[:]):
    return a.frobnicate()


def axis(a: float64[:, :]):
    return a.sum(axis=2)


def axis_not_constant(a: float64[:, :]):
    return a.argmax(axis=a.shape[0])


def three_dimensions(a: float64[:, :], b: float64[:]):
    b[:] = a


def bool_difference(x: float32):
    return (x > 1) - (x > 2)


def floors_complex(z: complex128):
    return np.floor(z)


def indexes_object(n: int):
    return thing["a"]
