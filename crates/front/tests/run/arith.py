# Arithmetic: Python's operators on weak and strong numbers.


# run(int, int): floor(7, 2) == (3, 1)
# run(int, int): floor(-7, 2) == (-4, 1)
# run(int, int): floor(7, -2) == (-4, -1)
# run(int32, int8): floor(-7, 3) == (-3, 2)
# run(float, float): floor(-7.5, 2.0) == (-4.0, 0.5)
# run(float32, float32): floor(7.5, -2.0) == (-4.0, -0.5)
# run(uint8, uint8): floor(200, 7) == (28, 4)
def floor(a, b):
    return a // b, a % b


# run(int, int): divide(7, 2) == 3.5
# run(int8, int8): divide(-7, 2) == -3.5
# run(float32, int): divide(1.0, 3) == 0.33333334
# run(float32, float32): divide(1.0, 3.0) == 0.33333334
# run(float32, int32): divide(1.0, 3) == 0.3333333333333333
# run(complex, float): divide((1.0, 2.0), 2.0) == (0.5, 1.0)
def divide(a, b):
    return a / b


# run(int, int): divide_zero(1, 0) raises zero_division "division by zero"
# run(float, float): divide_zero(1.0, 0.0) raises zero_division "division by zero"
def divide_zero(a, b):
    return a / b


# run(int, int): modulo_zero(1, 0) raises zero_division "division by zero"
def modulo_zero(a, b):
    return a % b


# run(float): powers(3.0) == (9.0, 27.0, 0.3333333333333333, 1.0, 1.7320508075688772)
# run(float32): powers(1.5) == (2.25, 3.375, 0.6666667, 1.0, 1.2247449)
def powers(x):
    return x**2, x**3, x**-1, x**0, x**0.5


# run(int): int_powers(3) == (9, 243, 1)
def int_powers(x):
    return x**2, x**5, x**0


# run(int, int): power(3, 13) == 1594323
# run(int32, int32): power(-3, 13) == -1594323
# run(uint8, uint8): power(3, 13) == 211
# run(int, int): power(2, 0) == 1
# run(float, float): power(2.5, 3.5) ~= 24.705294220065465
# run(float32, float32): power(2.5, 3.5) ~= 24.705294
# run(float, int): power(2.5, 3) ~= 15.625
def power(a, b):
    return a**b


# run(int): weak_negative_power(4) == 0.0625
def weak_negative_power(x):
    return x**-2


# run(uint8, uint8): wraps(200, 100) == (44, 100, 32)
# run(int32, int32): wraps(2147483647, 5) == (-2147483644, 2147483642, 2147483643)
# run(int8, int8): wraps(-128, -1) == (127, -127, -128)
def wraps(a, b):
    return a + b, a - b, a * b


# run(int, int): bits(12, 10) == (8, 14, 6, 12288, 0, -13)
# run(uint8, uint8): bits(12, 3) == (0, 15, 15, 96, 1, 243)
# run(int16, int16): bits(-12, 3) == (0, -9, -9, -96, -2, 11)
def bits(a, b):
    return a & b, a | b, a ^ b, a << b, a >> b, ~a


# run(float32, int): mixed(2.5, 3) == (5.5, 7.5)
# run(int, float32): mixed(3, 2.5) == (5.5, 7.5)
# run(int32, float32): mixed(3, 2.5) == (5.5, 7.5)
# run(int16, float32): mixed(3, 2.5) == (5.5, 7.5)
# run(uint64, int64): mixed(3, -2) == (1.0, -6.0)
# run(int8, uint8): mixed(3, 200) == (203, 600)
# run(float32, float): mixed(0.1, 0.2) == (0.3, 0.020000001)
# run(bool, int): mixed(true, 2) == (3, 2)
# run(pybool, pybool): mixed(true, true) == (2, 1)
def mixed(a, b):
    return a + b, a * b


# run(bool, bool): bool_ops(true, false) == (true, false, false, true, true)
def bool_ops(a, b):
    return a + b, a * b, a & b, a | b, a ^ b


# run(int64, uint64): compare(-1, 1) == (true, true, false, true, false, false)
# run(uint64, int64): compare(18446744073709551615, -1) == (false, false, false, true, true, true)
# run(int8, uint8): compare(-1, 255) == (true, true, false, true, false, false)
# run(float32, int): compare(2.5, 2) == (false, false, false, true, true, true)
# run(float, float): compare(nan, 1.0) == (false, false, false, true, false, false)
# run(int, int): compare(2, 2) == (false, true, true, false, true, false)
def compare(a, b):
    return a < b, a <= b, a == b, a != b, a >= b, a > b


# run(uint8): against_literals(200) == (true, true, true, true)
def against_literals(a):
    return a < 300, a > -1, a == 200, a != 456


# run(int, int, int): chained(1, 2, 3) == (true, false, false)
# run(int, int, int): chained(1, 5, 3) == (false, true, false)
def chained(a, b, c):
    return a < b < c, a < b > c, a == b != c


# run(float): unary(2.5) == (-2.5, 2.5, 2.5, false)
# run(int8): unary(-128) == (-128, -128, -128, false)
def unary(x):
    return -x, +x, abs(x), not x


# run(float): rounding(2.5) == (2, 2, 2, 3, 2)
# run(float): rounding(-3.5) == (-4, -3, -4, -3, -3)
# run(float): rounding(-0.4) == (0, 0, -1, 0, 0)
def rounding(x):
    return round(x), int(x), math.floor(x), math.ceil(x), math.trunc(x)


# run(float32): np_rounding(2.5) == (2.0, 3.0, 2.0, 2.0, 2.0)
# run(float): np_rounding(-3.5) == (-4.0, -3.0, -3.0, -4.0, -4.0)
def np_rounding(x):
    return np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.round(x)


# run(float): round_digits(2.675) == 2.7
def round_digits(x):
    return round(x, 1)


# run(int, int): divmods(-7, 2) == (-4, 1)
# run(float, float): divmods(-7.5, 2.0) == (-4.0, 0.5)
def divmods(a, b):
    return divmod(a, b)


# run(float, float): extremes(1.0, 2.0) == (1.0, 2.0, 1.0, 2.0, 1.0, 2.0)
# run(float, float): extremes(nan, 2.0) == (nan, nan, nan, nan, 2.0, 2.0)
# run(float, float): extremes(1.0, nan) == (1.0, 1.0, nan, nan, 1.0, 1.0)
# run(float32, float32): extremes(1.5, -2.0) == (-2.0, 1.5, -2.0, 1.5, -2.0, 1.5)
def extremes(a, b):
    return min(a, b), max(a, b), np.minimum(a, b), np.maximum(a, b), np.fmin(a, b), np.fmax(a, b)


# run(complex, complex): complexes((1.0, 2.0), (3.0, -4.0)) == ((4.0, -2.0), (-2.0, 6.0), (11.0, 2.0), false, 1.0, -4.0, (1.0, -2.0))
# run(complex64, complex64): complexes((1.0, 2.0), (3.0, -4.0)) == ((4.0, -2.0), (-2.0, 6.0), (11.0, 2.0), false, 1.0, -4.0, (1.0, -2.0))
def complexes(a, b):
    return a + b, a - b, a * b, a == b, a.real, b.imag, a.conjugate()


# run(complex): magnitude((3.0, 4.0)) == 5.0
# run(complex64): magnitude((3.0, 4.0)) == 5.0
def magnitude(z):
    return abs(z)


# run(float32, float): make_complex(1.5, 2.5) == ((1.5, 2.5), (-4.0, 7.5), (-4.0, 7.5))
# run(float, float): make_complex(1.5, 2.5) == ((1.5, 2.5), (-4.0, 7.5), (-4.0, 7.5))
def make_complex(x, y):
    z = complex(x, y)
    return z, z * z, z**2


# run(float): casts(-3.7) == (-3, -3.7, true, -3.7, -3, -3)
# run(float): casts(3.7) == (3, 3.7, true, 3.7, 3, 3)
def casts(x):
    return int(x), float(x), bool(x), np.float32(x), np.int8(x), np.int64(x)


# run(int): int_casts(-1) == (-1, -1.0, (-1.0, 0.0), true)
def int_casts(x):
    return np.int8(x), np.float32(x), np.complex64(x), bool(x)


# run(float32): math_width(0.5) ~= (0.479425538604203, 0.7071067811865476, 1.6487212707001282, 0.87758255, 0.70710677)
# run(float): math_width(0.5) ~= (0.479425538604203, 0.7071067811865476, 1.6487212707001282, 0.8775825618903728, 0.7071067811865476)
def math_width(x):
    return math.sin(x), math.sqrt(x), math.exp(x), np.cos(x), np.sqrt(x)


# run(float, float): two_args(1.5, -2.5) ~= (2.601173153319209, 2.9154759474226504, -1.0, -1.5, 2.601173153319209, 2.9154759474226504)
def two_args(x, y):
    return math.atan2(x, y), math.hypot(x, y), math.fmod(y, x), math.copysign(x, y), np.arctan2(x, y), np.hypot(x, y)


# run(float): tests(nan) == (true, false, false, true, false, false)
# run(float): tests(inf) == (false, true, false, false, true, false)
# run(float): tests(1.0) == (false, false, true, false, false, true)
def tests(x):
    return math.isnan(x), math.isinf(x), math.isfinite(x), np.isnan(x), np.isinf(x), np.isfinite(x)


# run(float): degrees(90.0) == (1.5707963267948966, 5156.620156177409, 1.5707963267948966)
def degrees(x):
    return math.radians(x), math.degrees(x), np.deg2rad(x)


# run(): folded() == (1024, -4, 2, 0.5, 16, 6.0, (1.0, 2.0), 9)
def folded():
    return 2**10, 7 // -2, -7 % 3, 1 / 2, 1 << 4, 3.0 * 2, 1 + 2j, (2 + 1) * 3


# run(int, int): gcds(12, 18) == 6
# run(int, int): gcds(-12, 8) == 4
def gcds(a, b):
    return math.gcd(a, b)


# run(float): signs(-2.5) == -1.0
# run(int): signs(3) == 1
# run(float): signs(nan) == nan
def signs(x):
    return np.sign(x)


# run(float): squares(2.5) == (6.25, -2.5, 2.5)
# run(int32): squares(-3) == (9, 3, 3)
def squares(x):
    return np.square(x), np.negative(x), np.abs(x)


# run(float, float, float): clips(5.0, 0.0, 1.0) == (1.0, 0)
def clips(x, a, b):
    return np.clip(x, a, b), np.where(x > a, a, b)


# run(int16): rounds(3) == (3, 9, 3)
def rounds(x):
    return round(x), np.square(x), np.abs(x)
