# Syntax outside the language.


def comprehension(n: int):
    return [i for i in range(n)]


def formatted(n: int):
    print(f"n = {n:3d}")


def caught(n: int):
    try:
        return 1 // n
    except ZeroDivisionError:
        return 0


def managed(n: int):
    with open("x") as f:
        return n


def inner_decorated(n: int):
    @decorator
    def helper(x):
        return x

    return helper(n)


def inner_default(n: int):
    def helper(x=n):
        return x

    return helper(n)


def inner_kwargs(n: int):
    helper = lambda **named: 1
    return helper(x=n)


def inner_returned(n: int):
    return lambda: n


def inner_recursion(n: int):
    def helper(x):
        return helper(x - 1) * x

    return helper(n)


def writes_global(n: int):
    global counter
    counter = n


def imports(n: int):
    import os

    return n


def deletes(n: int):
    del n


def matches(n: int):
    match n:
        case 1:
            return 2


def generator(n: int):
    yield n


def dictionary(n: int):
    return {1: n}


def starred(n: int):
    a, *b = (n, n, n)
    return a


def kwargs(**named):
    return 1


def raises_other(n: int):
    raise KeyError("k")


def breaks_outside(n: int):
    break


def return_in_prange(n: int):
    for i in prange(n):
        return i


def break_in_prange(n: int):
    for i in prange(n):
        break


def carried(n: int):
    x = 1.0
    for i in prange(n):
        x = x * 0.5 + i
    return x


def carried_in_order(n: int):
    previous = 0
    s = 0
    for i in prange(n):
        s += previous
        previous = i
    return s
