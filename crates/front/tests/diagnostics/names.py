# Names, arguments, recursion.


def not_defined(x: float):
    return x + undefined


def not_in_module(x: float):
    return math.frobnicate(x)


def not_in_numpy(a: float64[:]):
    return np.fft(a)


def read_before(x: float):
    y = z + 1
    z = x
    return y


def helper(a, b):
    return a + b


def too_few(x: float):
    return helper(x)


def too_many(x: float):
    return helper(x, x, x)


def wrong_name(x: float):
    return helper(x, c=x)


def twice(x: float):
    return helper(x, a=x)


def never_returns(n: int):
    return never_returns(n + 1) * 2


def never_together(n: int):
    return n + never_returns(n) if n else never_together(n)


def rows_grow(n: int):
    return rows_grow((n,)) + 1


def builtin_arity(x: float):
    return abs(x, x)


def calls_number(x: float):
    return x(1)


def calls_object(x: float):
    return thing(x)


@cuda.jit
def unset_array(a: float64[:], n: int):
    if n > 0:
        v = a[1:]
    else:
        n = 1
    v[0] = 1
