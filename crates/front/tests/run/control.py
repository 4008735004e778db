# Control flow: branches, loops, else, early returns, short circuits.


# run(int): collatz(27) == 111
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


# run(int, int): found(10, 3) == 1
# run(int, int): found(10, 30) == -1
def found(n, k):
    for i in range(n):
        if i == k:
            r = 1
            break
    else:
        r = -1
    return r


# run(int): while_else(3) == 3
# run(int): while_else(30) == 100
def while_else(n):
    i = 0
    while i < 10:
        if i == n:
            break
        i += 1
    else:
        i = 100
    return i


# run(int): after_loop(5) == (4, 4)
def after_loop(n):
    last = -1
    for i in range(n):
        last = i
    return last, i


# run(int): backwards(10) == 10741
def backwards(n):
    s = 0
    for i in range(n, 0, -3):
        s = s * 10 + i
    return s


# run(int, int, int): ranges(2, 20, 5) == (4, 38)
# run(int, int, int): ranges(20, 2, -5) == (4, 50)
# run(int, int, int): ranges(2, 2, 1) == (0, 0)
# run(int, int, int): ranges(0, 9, 0) raises value "range() arg 3 must not be zero"
def ranges(a, b, c):
    n = 0
    s = 0
    for i in range(a, b, c):
        n += 1
        s += i
    return n, s


# run(int): skips(10) == 19
def skips(n):
    s = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        if i > 7:
            break
        s += i
    return s


# run(int): nested(5) == 4023
def nested(n):
    s = 0
    for i in range(n):
        for j in range(i):
            if j == 3:
                break
            s += i * j
        else:
            s += 1000
    return s


# run(float): branches(-1.0) == -1
# run(float): branches(0.0) == 0
# run(float): branches(1.0) == 1
def branches(x):
    if x < 0:
        return -1
    elif x == 0:
        return 0
    else:
        return 1


# run(float): unified(1.0) == 1
# run(float): unified(-1.0) == 0.5
def unified(x):
    if x > 0:
        y = 1
    else:
        y = 0.5
    return y


# run(float32): weak_accumulator(0.1) == 0.3
def weak_accumulator(x):
    acc = 0.0
    for i in range(3):
        acc += x
    return acc


# run(int, int): shorts(0, 5) == (0, 5, true)
# run(int, int): shorts(3, 5) == (5, 3, false)
def shorts(a, b):
    return a and b, a or b, not a


# run(int64[:], int): guarded([1, 2, 3], 1) == true
# run(int64[:], int): guarded([1, 2, 3], 7) == false
def guarded(a, i):
    if i < len(a) and a[i] == 2:
        return True
    return False


# run(int, int): ternary(1, 2) == 20
# run(int, int): ternary(2, 1) == 2
def ternary(a, b):
    return a if a > b else b * 10


# run(): tuples() == (3.5, 4, 3, 1, 4, 3)
def tuples():
    t = (1, 2.5, (3, 4))
    a, b, (c, d) = t
    e, f = d, c
    return a + b, e, f, t[0], t[-1][1], len(t)


# run(int): swap(5) == 5
def swap(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


# run(int): chosen(1) == 20
# run(int): chosen(-1) == 30
def chosen(i):
    t = (10, 20, 30)
    return t[i]


# run(float, float32): unrolled(1.5, 2.5) == 4.5
def unrolled(x, y):
    s = 0.0
    n = 0
    for v in (x, y, 3):
        if v == 2.5:
            continue
        s += v
        n += 1
        if n == 5:
            break
    return s


# run(int): asserted(1) == 1
# run(int): asserted(-1) raises assertion "negative"
def asserted(n):
    assert n > 0, "negative"
    return n


# run(int): raises(3) == 3
# run(int): raises(-1) raises value "no"
def raises(n):
    if n < 0:
        raise ValueError("no")
    return n


# run(int): forever(10) == 12
def forever(n):
    i = 0
    while True:
        i += 3
        if i > n:
            return i


# run(float): prints(1.5) prints "x = 1.5 (2, True)\n"
def prints(x):
    print("x =", x, (2, True))


def helper(a, b):
    return a + b, a * b


# run(float32, int): calls(1.5, 2) == (3.5, 3.0, 4, 4)
def calls(x, n):
    s, p = helper(x, n)
    q, r = helper(b=n, a=n)
    return s, p, q, r


def first_positive(a):
    for i, x in enumerate(a):
        if x > 0:
            return i
    return -1


# run(float32[:]): uses_search([-1.0, -2.0, 3.0]) == 2
# run(float32[:]): uses_search([-1.0]) == -1
def uses_search(a):
    return first_positive(a)


# run(float64[:]): nothing_returned([1.0, 2.0]) where a == [2.0, 4.0]
def nothing_returned(a):
    """Doubles in place."""
    for i in range(a.size):
        a[i] *= 2


# run(int): walrus(5) == 10
def walrus(n):
    if (m := n * 2) > 8:
        return m
    return n


# run(int): member(3) == (true, false)
# run(int): member(4) == (false, true)
def member(n):
    return n in (1, 3, 5), n not in (1, 3, 5)


# run(): constants() == 1
def constants():
    flag = None
    if flag is None:
        x = 1
    else:
        x = flag
    return x


# run(int, float): annotated(2, 3.0) == 6.0
def annotated(n: int, x: float) -> float:
    y: float = x * n
    z: int
    return y


square = lambda x: x * x  # noqa: E731


# run(int): lambdas(7) == 50
def lambdas(x):
    return square(x) + 1


# run(int): versions(7) == (4.5, 3)
def versions(n):
    x = 7
    y = x // 2
    x = 0.5
    x = x * n
    x += 1
    return x, y


def with_default(x, t):
    if t is None:
        t = 0.5
    return x * t


# run(float): optional_argument(3.0) == (1.5, 6.0)
def optional_argument(x):
    return with_default(x, None), with_default(x, 2)


# run(int): version_in_loop(4) == 0.5625
def version_in_loop(n):
    s = (1, 2)
    s = s[0] + s[1]
    for i in range(n):
        s += i
    s = s / 2
    while s > 1:
        s /= 2
    return s


def apply(f, x):
    return f(x)


# run(float): functions_as_arguments(2.0) == (4.0, 1.4142135623730951, 4.0)
def functions_as_arguments(x):
    g = square
    return apply(square, x), apply(math.sqrt, x), g(x)


# run(int): never_assigned(0) raises value "cannot access local variable 'x' where it is not associated with a value"
# run(int): never_assigned(3) == 1.0
def never_assigned(n):
    for i in range(n):
        x = i * 0.5
    return x


# run(int): assigned_in_endless_loop(3) == 1
def assigned_in_endless_loop(n):
    a = np.arange(n)
    while True:
        b = a[1:]
        n -= 1
        if n < 0:
            break
    return b[0]


# run(float, int): prints_formatted(1.5, 2) prints "x = 1.5, n + 1 = 3!\n"
def prints_formatted(x, n):
    print(f"x = {x}, n + 1 = {n + 1}!")
