"""Threads of a gang that take different ways."""

from weft import cuda


@cuda.jit(device=True)
def escape(x, y, limit):
    c = complex(x, y)
    z = 0j
    for i in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4.0:
            return i
    return limit


# run: mandelbrot.forall((40, 50))(-2.0, 1.0, -1.5, 1.5, zeros(np.uint16, 40, 50), 50)
# run: mandelbrot[(3, 3), (16, 16)](-2.0, 1.0, -1.5, 1.5, zeros(np.int32, 33, 45), 20)
# run: mandelbrot[(2, 9), (32, 8)](-2.0, 1.0, -1.5, 1.5, zeros(np.uint8, 40, 70), 30)
@cuda.jit(fma=False)
def mandelbrot(x0, x1, y0, y1, image, limit):
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        image[row, col] = escape(x0 + col * (x1 - x0) / image.shape[1], y0 + row * (y1 - y0) / image.shape[0], limit)


# run: collatz[3, 32](i64(80), zeros(np.int64, 80))
@cuda.jit
def collatz(start, steps):
    i = cuda.grid(1)
    if i >= start.shape[0]:
        return
    n = abs(start[i]) + 1
    count = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        count += 1
    steps[i] = count


# run: break_continue[2, 32](i32(64), zeros(np.int64, 64))
@cuda.jit
def break_continue(a, out):
    i = cuda.grid(1)
    total = 0
    for j in range(a[i] % 20):
        if j % 3 == 0:
            continue
        if j + total > 25:
            break
        total += j
    else:
        total += 1000
    out[i] = total


# run: nested[2, 32](i32(64), zeros(np.int64, 64))
@cuda.jit
def nested(a, out):
    i = cuda.grid(1)
    total = 0
    for j in range(8):
        k = 0
        while True:
            k += 1
            if k * j > a[i]:
                break
            if (k + a[i]) % 7 == 3:
                total += 1
                continue
            if k > 9:
                break
            total += k
        if total > 60:
            break
    out[i] = total * 100 + k


# run: last_value[2, 32](i32(64), zeros(np.int64, 64))
@cuda.jit
def last_value(a, out):
    """The loop variable is read after a loop that threads leave at different times."""
    i = cuda.grid(1)
    j = -1
    for j in range(abs(a[i]) % 11):
        if j * j > a[i]:
            break
    out[i] = j


# run: uniform_in_divergent[2, 32](i32(64), zeros(np.int64, 64), 5)
@cuda.jit
def uniform_in_divergent(a, out, n):
    i = cuda.grid(1)
    k = 1
    if a[i] > 0:
        k = n
        for j in range(n):
            k += j
    out[i] = k


# run: early_return[2, 32](f32(64), zeros(np.float32, 64))
@cuda.jit
def early_return(a, out):
    i = cuda.grid(1)
    if a[i] < -5:
        return
    out[i] = 1
    if a[i] < 0:
        out[i] = 2
        return
    for j in range(10):
        if a[i] < j:
            return
        out[i] = 10 + j
    out[i] = -1


# run: elif_chain[2, 32](i32(64), zeros(np.int64, 64))
@cuda.jit
def elif_chain(a, out):
    i = cuda.grid(1)
    x = a[i]
    if x < -50:
        r = 1
    elif x < 0:
        r = 2 if x % 2 else 3
    elif x == 7 or x > 90 and x != 95:
        r = 4
    else:
        r = 5
    out[i] = r


# run: short_circuit[2, 32](i32(64), zeros(np.int64, 64))
@cuda.jit
def short_circuit(a, out):
    """The right operand must not be evaluated where the left decides: the index would be outside."""
    i = cuda.grid(1)
    x = a[i]
    if x >= 0 and x < 64 and a[x] > 0:
        out[i] = 1
    if x < 0 or x >= 64 or a[x] == 0:
        out[i] += 2


# run: divide_in_branch[2, 32](i32(64), i32(64) % 4, zeros(np.int64, 64))
@cuda.jit
def divide_in_branch(a, b, out):
    i = cuda.grid(1)
    if b[i] != 0:
        out[i] = a[i] // b[i] * 1000 + a[i] % b[i]
    else:
        out[i] = -1


@cuda.jit(device=True)
def find(a, key):
    for i in range(len(a)):
        if a[i] == key:
            return i
    return -1


# run: search[2, 32](i8(50), i8(64), zeros(np.int64, 64))
@cuda.jit
def search(haystack, keys, out):
    i = cuda.grid(1)
    out[i] = find(haystack, keys[i])


@cuda.jit(device=True)
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


# run: gcds[2, 32](u16(64), u16(64) + 1, zeros(np.int64, 64))
@cuda.jit
def gcds(a, b, out):
    i = cuda.grid(1)
    out[i] = gcd(a[i], b[i])
