# The functions that the expressions of `cases` call, for Numba and for Weft: two lines between them, each compiled.


def plus(a, b):
    a += b
    return a


def either(a, b):
    if a != b:
        c = a
    else:
        c = b
    return c


def first(a, b):
    return a if a != b else b


def counted(a, b):
    for _ in range(3):
        a = a + b
    return a


def added(a, b):
    s = a
    i = 0
    while i < 3:
        s += b
        i += 1
    return s


def chosen(a, b):
    if a != b:
        return a
    return b


def stepped(a, b):
    s = 0
    for _ in range(3):
        s = s + a * b
    return s


def total(x):
    s = 0
    for v in x:
        s += v
    return s


def total_from_float(x):
    s = 0.0
    for v in x:
        s += v
    return s


def product(x):
    p = 1
    for i in range(x.size):
        p *= x[i]
    return p


def largest(x):
    m = x[0]
    for v in x:
        m = max(m, v)
    return m


def mean_of(x):
    s = x[0]
    for i in range(1, x.size):
        s += x[i]
    return s / x.size


def stored(x, v):
    y = x.copy()
    y[0] = v
    return y


def stored_sum(x, v):
    y = x.copy()
    y[0] += v
    return y


def in_place(x, v):
    y = x.copy()
    y += v
    return y


def in_place_product(x, v):
    y = x.copy()
    y *= v
    return y
