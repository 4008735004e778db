"""Arc sine and arc cosine.

Up to 1/2 a polynomial serves; above, asin(a) = pi/2 - 2 asin(sqrt((1 - a)/2)), where (1 - a)/2 is exact and the square root is kept with its
low part (division.py). Polynomials: generate/coefficients.py.
"""

from weft import intrinsics


def asin_f64(x):
    """Arc sine. At most 1 ULP."""
    a = abs(x)
    s, low = _asin_half_f64(a)
    h = intrinsics.fma(-2.0, s, 1.5707963267948966)
    l = intrinsics.fma(-2.0, s, 1.5707963267948966 - h) + intrinsics.fma(-2.0, low, 6.123233995736766e-17)
    return intrinsics.copysign(intrinsics.select(a > 0.5, h + l, s + low), x)


def acos_f64(x):
    """Arc cosine. At most 1 ULP."""
    a = abs(x)
    s, low = _asin_half_f64(a)
    far = a > 0.5
    # A multiple of pi/2, plus or minus one or two times (s + low). The low part of each multiple is the same fraction of it.
    start = intrinsics.select(far, intrinsics.select(x < 0.0, 3.141592653589793, 0.0), 1.5707963267948966)
    times = intrinsics.select(far, 2.0, -1.0)
    times = intrinsics.from_bits(intrinsics.bits(times) ^ (intrinsics.bits(x) & (-1 << 63)))
    h = intrinsics.fma(times, s, start)
    return h + (intrinsics.fma(times, s, start - h) + intrinsics.fma(times, low, start * 3.8981718325193755e-17))


def _asin_half_each(a):
    """(s, low) with s + low = asin(a) for a <= 1/2, asin(sqrt((1 - a) / 2)) above. NaN for a > 1."""
    far = a > 0.5
    rest = intrinsics.fma(-0.5, a, 0.5)
    r = intrinsics.sqrt(rest)
    z = intrinsics.select(far, rest, a * a)
    s = intrinsics.select(far, r, a)
    lost = intrinsics.select(far, intrinsics.fma(-r, r, rest) * _half_inverse_each(r), 0.0)
    return s, intrinsics.fma(s * z, _asin_tail_each(z), lost)


def _asin_tail_f64(z):
    """(asin(s) - s) / s^3 in z = s^2 <= 1/4; error 2^-55.9 of asin(s)/s."""
    w = z * z
    p = intrinsics.fma(w, -0.016293438516706595, 0.006511016309852849)
    p = intrinsics.fma(w, p, 0.013884604887414099)
    p = intrinsics.fma(w, p, 0.02237175357274206)
    p = intrinsics.fma(w, p, 0.04464285682354736)
    p = intrinsics.fma(w, p, 0.16666666666665383)
    o = intrinsics.fma(w, 0.031958548789928154, 0.019573482072525985)
    o = intrinsics.fma(w, o, 0.012173239536940302)
    o = intrinsics.fma(w, o, 0.01735977041523704)
    o = intrinsics.fma(w, o, 0.030381959328967787)
    o = intrinsics.fma(w, o, 0.07500000000342943)
    return intrinsics.fma(z, o, p)


def asin_f32(x):
    """Arc sine. At most 1 ULP."""
    a = abs(x)
    s, low = _asin_half_f32(a)
    h = intrinsics.fma(-2.0, s, 1.5707964)
    l = intrinsics.fma(-2.0, s, 1.5707964 - h) + intrinsics.fma(-2.0, low, -4.371139e-08)
    return intrinsics.copysign(intrinsics.select(a > 0.5, h + l, s + low), x)


def acos_f32(x):
    """Arc cosine. At most 1 ULP."""
    a = abs(x)
    s, low = _asin_half_f32(a)
    far = a > 0.5
    # A multiple of pi/2, plus or minus one or two times (s + low). The low part of each multiple is the same fraction of it.
    start = intrinsics.select(far, intrinsics.select(x < 0.0, np.float32(3.1415927), np.float32(0.0)), 1.5707964)
    times = intrinsics.select(far, np.float32(2.0), np.float32(-1.0))
    times = intrinsics.from_bits(intrinsics.bits(times) ^ (intrinsics.bits(x) & (-1 << 31)))
    h = intrinsics.fma(times, s, start)
    return h + (intrinsics.fma(times, s, start - h) + intrinsics.fma(times, low, start * -2.7827534e-08))


def _asin_tail_f32(z):
    """(asin(s) - s) / s^3 in z = s^2 <= 1/4; error 2^-27.6 of asin(s)/s."""
    p = intrinsics.fma(z, 0.04221182, 0.024152087)
    p = intrinsics.fma(z, p, 0.04547604)
    p = intrinsics.fma(z, p, 0.07495252)
    return intrinsics.fma(z, p, 0.16666754)
