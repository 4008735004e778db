"""One ufunc per function of the math library, by the name the library has for it."""

from __future__ import annotations

import cmath
import math

import numpy as np

import weft


@weft.vectorize
def sin(x):
    return np.sin(x)


@weft.vectorize
def cos(x):
    return np.cos(x)


@weft.vectorize
def tan(x):
    return np.tan(x)


@weft.vectorize
def asin(x):
    return np.arcsin(x)


@weft.vectorize
def acos(x):
    return np.arccos(x)


@weft.vectorize
def atan(x):
    return np.arctan(x)


@weft.vectorize
def atan2(y, x):
    return np.arctan2(y, x)


@weft.vectorize
def hypot(x, y):
    return np.hypot(x, y)


@weft.vectorize
def exp(x):
    return np.exp(x)


@weft.vectorize
def exp2(x):
    return np.exp2(x)


@weft.vectorize
def expm1(x):
    return np.expm1(x)


@weft.vectorize
def log(x):
    return np.log(x)


@weft.vectorize
def log2(x):
    return np.log2(x)


@weft.vectorize
def log10(x):
    return np.log10(x)


@weft.vectorize
def log1p(x):
    return np.log1p(x)


@weft.vectorize
def pow(x, y):
    return math.pow(x, y)


@weft.vectorize
def sinh(x):
    return np.sinh(x)


@weft.vectorize
def cosh(x):
    return np.cosh(x)


@weft.vectorize
def tanh(x):
    return np.tanh(x)


@weft.vectorize
def asinh(x):
    return np.arcsinh(x)


@weft.vectorize
def acosh(x):
    return np.arccosh(x)


@weft.vectorize
def atanh(x):
    return np.arctanh(x)


@weft.vectorize
def cbrt(x):
    return np.cbrt(x)


@weft.vectorize
def erf(x):
    return math.erf(x)


@weft.vectorize
def erfc(x):
    return math.erfc(x)


@weft.vectorize
def remainder(x, y):
    return math.remainder(x, y)


@weft.vectorize
def nextafter(x, y):
    return np.nextafter(x, y)


@weft.vectorize
def ldexp(x, n):
    return math.ldexp(x, n)


@weft.vectorize
def gamma(x):
    return math.gamma(x)


@weft.vectorize
def lgamma(x):
    return math.lgamma(x)


sinpi = weft.math.sinpi
cospi = weft.math.cospi
tanpi = weft.math.tanpi
rsqrt = weft.math.rsqrt
exp10 = weft.math.exp10
erfinv = weft.math.erfinv
logb = weft.math.logb
ilogb = weft.math.ilogb


@weft.vectorize
def sinc(x):
    return np.sinc(x)


@weft.vectorize
def i0(x):
    return np.i0(x)


@weft.vectorize
def logaddexp(x, y):
    return np.logaddexp(x, y)


@weft.vectorize
def logaddexp2(x, y):
    return np.logaddexp2(x, y)


@weft.vectorize
def heaviside(x, y):
    return np.heaviside(x, y)


@weft.vectorize
def spacing(x):
    return np.spacing(x)


@weft.vectorize
def ulp(x):
    return math.ulp(x)


@weft.njit
def each_scalar(x, y, out):
    """A few functions in an ordinary loop, where no gang is made."""
    for i in range(len(x)):
        out[0, i] = math.sin(x[i])
        out[1, i] = math.exp(x[i])
        out[2, i] = math.log(x[i])
        out[3, i] = math.atan2(y[i], x[i])
        out[4, i] = math.pow(x[i], y[i])


@weft.vectorize
def cexp(z):
    return cmath.exp(z)


@weft.vectorize
def clog(z):
    return cmath.log(z)


@weft.vectorize
def clog10(z):
    return cmath.log10(z)


@weft.vectorize
def csqrt(z):
    return cmath.sqrt(z)


@weft.vectorize
def csinh(z):
    return cmath.sinh(z)


@weft.vectorize
def ccosh(z):
    return cmath.cosh(z)


@weft.vectorize
def ctanh(z):
    return cmath.tanh(z)


@weft.vectorize
def csin(z):
    return cmath.sin(z)


@weft.vectorize
def ccos(z):
    return cmath.cos(z)


@weft.vectorize
def ctan(z):
    return cmath.tan(z)


@weft.vectorize
def casin(z):
    return cmath.asin(z)


@weft.vectorize
def cacos(z):
    return cmath.acos(z)


@weft.vectorize
def catan(z):
    return cmath.atan(z)


@weft.vectorize
def casinh(z):
    return cmath.asinh(z)


@weft.vectorize
def cacosh(z):
    return cmath.acosh(z)


@weft.vectorize
def catanh(z):
    return cmath.atanh(z)


@weft.vectorize
def cexp2(z):
    return np.exp2(z)


@weft.vectorize
def cexpm1(z):
    return np.expm1(z)


@weft.vectorize
def clog1p(z):
    return np.log1p(z)


@weft.vectorize
def clog2(z):
    return np.log2(z)


@weft.vectorize
def csign(z):
    return np.sign(z)


@weft.vectorize
def power(z, w):
    return z**w


@weft.vectorize
def rect(r, t):
    return cmath.rect(r, t)
