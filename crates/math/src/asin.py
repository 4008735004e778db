"""Arc sine and arc cosine.

Up to 1/2 a polynomial serves; above, asin(a) = pi/2 - 2 asin(sqrt((1 - a)/2)), where (1 - a)/2 is exact and the square root is kept with its
low part. Polynomials: generate/coefficients.py.
"""

from weft import intrinsics


def asin_f64(x):
    """Arc sine. At most 1 ULP."""
    a = abs(x)
    s, low = _asin_half_f64(a)
    h = 1.5707963267948966 - 2.0 * s
    l = ((1.5707963267948966 - h) - 2.0 * s) + intrinsics.fma(-2.0, low, 6.123233995736766e-17)
    return intrinsics.copysign(intrinsics.select(a > 0.5, h + l, s + low), x)


def acos_f64(x):
    """Arc cosine. At most 1 ULP."""
    a = abs(x)
    s, low = _asin_half_f64(a)
    far = a > 0.5
    left = x < 0.0
    # The start, minus or plus one or two times (s + low).
    start = intrinsics.select(far, intrinsics.select(left, 3.141592653589793, 0.0), 1.5707963267948966)
    startlow = intrinsics.select(far, intrinsics.select(left, 1.2246467991473532e-16, 0.0), 6.123233995736766e-17)
    times = intrinsics.select(far, 2.0, 1.0)
    times = intrinsics.select(far == left, -times, times)
    s = times * s
    h = start + s
    return h + (((start - h) + s) + intrinsics.fma(times, low, startlow))


def _asin_half_f64(a):
    """(s, low) with s + low = asin(a) for a <= 1/2, asin(sqrt((1 - a) / 2)) above. NaN for a > 1."""
    far = a > 0.5
    z = intrinsics.select(far, intrinsics.fma(-0.5, a, 0.5), a * a)
    s = intrinsics.select(far, intrinsics.sqrt(z), a)
    lost = intrinsics.select(far & (z > 0.0), intrinsics.fma(-s, s, z) / (s + s), 0.0)
    return s, intrinsics.fma(s * z, _asin_tail_f64(z), lost)


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
    h = 1.5707964 - 2.0 * s
    l = ((1.5707964 - h) - 2.0 * s) + intrinsics.fma(-2.0, low, -4.371139e-08)
    return intrinsics.copysign(intrinsics.select(a > 0.5, h + l, s + low), x)


def acos_f32(x):
    """Arc cosine. At most 1 ULP."""
    a = abs(x)
    s, low = _asin_half_f32(a)
    far = a > 0.5
    left = x < 0.0
    # The start, minus or plus one or two times (s + low).
    start = intrinsics.select(far, intrinsics.select(left, 3.1415927, 0.0), 1.5707964)
    startlow = intrinsics.select(far, intrinsics.select(left, -8.742278e-08, 0.0), -4.371139e-08)
    times = intrinsics.select(far, 2.0, 1.0)
    times = intrinsics.select(far == left, -times, times)
    s = times * s
    h = start + s
    return h + (((start - h) + s) + intrinsics.fma(times, low, startlow))


def _asin_half_f32(a):
    """(s, low) with s + low = asin(a) for a <= 1/2, asin(sqrt((1 - a) / 2)) above. NaN for a > 1."""
    far = a > 0.5
    z = intrinsics.select(far, intrinsics.fma(-0.5, a, 0.5), a * a)
    s = intrinsics.select(far, intrinsics.sqrt(z), a)
    lost = intrinsics.select(far & (z > 0.0), intrinsics.fma(-s, s, z) / (s + s), 0.0)
    return s, intrinsics.fma(s * z, _asin_tail_f32(z), lost)


def _asin_tail_f32(z):
    """(asin(s) - s) / s^3 in z = s^2 <= 1/4; error 2^-27.6 of asin(s)/s."""
    p = intrinsics.fma(z, 0.04221182, 0.024152087)
    p = intrinsics.fma(z, p, 0.04547604)
    p = intrinsics.fma(z, p, 0.07495252)
    return intrinsics.fma(z, p, 0.16666754)
