# float16 and bfloat16: every operation rounds, functions by way of float32.


# run(float16, float16): basic(2048.0, 1.0) == (2048.0, 2047.0, 2048.0, 2048.0)
# run(float16, float16): basic(1.0, 3.0) == (4.0, -2.0, 3.0, 0.33325195)
# run(bfloat16, bfloat16): basic(1.0, 3.0) == (4.0, -2.0, 3.0, 0.33398438)
# run(float16, float16): basic(60000.0, 60000.0) == (inf, 0.0, inf, 1.0)
def basic(x, y):
    return x + y, x - y, x * y, x / y


# run(float16): weak(0.1) == (0.2, 1.1, 0.0099945, 0.3162)
# run(bfloat16): weak(0.1) == (0.2, 1.1015625, 0.01, 0.316)
def weak(x):
    return x * 2, x + 1, x**2, x**0.5


# run(float16): functions(0.5) == (0.4795, 1.6484375, -0.6934, 0.47949219)
# run(bfloat16): functions(0.5) == (0.4785, 1.6484375, -0.69140625, 0.4785)
def functions(x):
    return math.sin(x), np.exp(x), np.log(x), math.sin(x)


# run(float16, float16): neighbours(0.0, 1.0) == (6e-8, 0.9995, 0.0)
# run(float16, float16): neighbours(1.0, 2.0) == (1.001, 1.999, 1.0)
# run(float16, float16): neighbours(-1.0, -2.0) == (-1.001, -1.999, -1.0)
# run(float16, float16): neighbours(-2.0, 1.0) == (-1.999, 0.9995, -2.0)
# run(float16, float16): neighbours(nan, 1.0) == (nan, nan, nan)
# run(bfloat16, bfloat16): neighbours(1.0, 2.0) == (1.0078125, 1.9921875, 1.0)
def neighbours(x, y):
    return np.nextafter(x, y), np.nextafter(y, x) if y > 0 or y < x else x, np.nextafter(x, x)


# run(int): total(5000) == (4096.0, 4096.0)
def total(n):
    a = np.ones(n, np.float16)
    b = np.ones(n, weft.bfloat16)
    some = a[:4096].sum()
    return some, b[:4096].sum()


# run(float16): fp16(2.0) == (4.0, 0.0, 4.0, 1.0, 8.0, -2.0, 2.0)
def fp16(x):
    return (
        cuda.fp16.hadd(x, x),
        cuda.fp16.hsub(x, x),
        cuda.fp16.hmul(x, x),
        cuda.fp16.hdiv(x, x),
        cuda.fp16.hfma(x, x, 4.0),
        cuda.fp16.hneg(x),
        cuda.fp16.habs(x),
    )


# run(float16): fp16_functions(4.0) == (2.0, 0.5, 0.25, 2.0, 10000.0, 16.0, 1.3867)
def fp16_functions(x):
    f = cuda.fp16
    return f.hsqrt(x), f.hrsqrt(x), f.hrcp(x), f.hlog2(x), f.hexp10(x), f.hexp2(x), f.hlog(x)


# run(float16, float16): fp16_compare(1.0, 2.0) == (false, true, true, true, false, false, 2.0, 1.0)
# run(float16, float16): fp16_compare(nan, 2.0) == (false, false, false, false, false, false, 2.0, 2.0)
def fp16_compare(x, y):
    f = cuda.fp16
    return f.heq(x, y), f.hne(x, y), f.hlt(x, y), f.hle(x, y), f.hgt(x, y), f.hge(x, y), f.hmax(x, y), f.hmin(x, y)


# run(float16): fp16_rounding(-2.5) == (-2.0, -3.0, -2.0, -2.0)
def fp16_rounding(x):
    f = cuda.fp16
    return f.hceil(x), f.hfloor(x), f.htrunc(x), f.hrint(x)


# run(float32): round_trip(0.1) == (0.1, 0.1, 2)
def round_trip(x):
    return np.float16(x), weft.bfloat16(x), int(np.float16(2.9))


# run(int): counted(3) == (1.0, 0.5, 4.0)
def counted(n):
    a = np.linspace(np.float16(0), np.float16(1), n)
    b = np.arange(4000, 4008, 2, dtype=np.float16)
    return a[n - 1], a[1], b[2] - b[0]
