"""The inverse of the error function.

Up to 1/2 a polynomial in x^2. Beyond, with s = sqrt(-log(1 - |x|)), in which the function is nearly straight (A. Strecok, Math. Comp. 22, 1968, has
the idea of the root), s times a polynomial in (s - m) / (s + m). 1 - |x| is exact there. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def erfinv_f64(x):
    """The number whose error function is x. At most 4 ULP. Infinite at -1 and 1, NaN beyond."""
    a = abs(x)
    near = intrinsics.select(a < 0.5, a, 0.5)
    near = near * _erfinv_centre_f64(near * near)
    s = intrinsics.sqrt(-log_f64(1.0 - intrinsics.select(a > 0.5, a, 0.5)))
    far = s * _erfinv_tail_f64((s - 2.0) / (s + 2.0))
    y = intrinsics.select(a < 0.5, near, intrinsics.select(a == 1.0, np.inf, far))
    return intrinsics.copysign(intrinsics.select(intrinsics.isnan(x), x, y), x)


def _erfinv_centre_f64(z):
    """erfinv(x) / x in z = x^2 <= 1/4; error 2^-53.69."""
    w = z * z
    p = intrinsics.fma(w, 0.06179769402358252, 0.05028530594842095)
    p = intrinsics.fma(w, p, 0.03322349666302731)
    p = intrinsics.fma(w, p, 0.04285507451060075)
    p = intrinsics.fma(w, p, 0.06495965943563153)
    p = intrinsics.fma(w, p, 0.12755617531659752)
    p = intrinsics.fma(w, p, 0.886226925452758)
    o = intrinsics.fma(w, 0.028635177984305638, -0.026069587620928564)
    o = intrinsics.fma(w, o, 0.020244998017650204)
    o = intrinsics.fma(w, o, 0.036261663077266366)
    o = intrinsics.fma(w, o, 0.05173018685556449)
    o = intrinsics.fma(w, o, 0.0865521283008428)
    o = intrinsics.fma(w, o, 0.23201366653460403)
    return intrinsics.fma(z, o, p)


def _erfinv_tail_f64(t):
    """erfinv(x) / s in t = (s - 2.0) / (s + 2.0); error 2^-54.94."""
    w = t * t
    p = intrinsics.fma(w, 0.013840353429179162, 0.016774603911243875)
    p = intrinsics.fma(w, p, -0.042043775899357955)
    p = intrinsics.fma(w, p, -0.009166527626410771)
    p = intrinsics.fma(w, p, 0.053098457340021825)
    p = intrinsics.fma(w, p, 0.011320215914553212)
    p = intrinsics.fma(w, p, -0.07798878062751696)
    p = intrinsics.fma(w, p, -0.01366703083489299)
    p = intrinsics.fma(w, p, 0.13776537369483646)
    p = intrinsics.fma(w, p, 0.006724927246129668)
    p = intrinsics.fma(w, p, -0.42376321836306136)
    p = intrinsics.fma(w, p, 0.8340941580292482)
    o = intrinsics.fma(w, -0.0009960321524691057, -0.02912689941951002)
    o = intrinsics.fma(w, o, 0.01824136141248495)
    o = intrinsics.fma(w, o, 0.03739036073313266)
    o = intrinsics.fma(w, o, -0.027928119665552618)
    o = intrinsics.fma(w, o, -0.048566836581222364)
    o = intrinsics.fma(w, o, 0.04099474332559358)
    o = intrinsics.fma(w, o, 0.07119902203833957)
    o = intrinsics.fma(w, o, -0.0726441242107165)
    o = intrinsics.fma(w, o, -0.12811413055762616)
    o = intrinsics.fma(w, o, 0.2019390574842645)
    o = intrinsics.fma(w, o, 0.4309177302835987)
    return intrinsics.fma(t, o, p)


def erfinv_f32(x):
    """The number whose error function is x. At most 4 ULP. Infinite at -1 and 1, NaN beyond."""
    a = abs(x)
    near = intrinsics.select(a < 0.5, a, 0.5)
    near = near * _erfinv_centre_f32(near * near)
    s = intrinsics.sqrt(-log_f32(1.0 - intrinsics.select(a > 0.5, a, 0.5)))
    far = s * _erfinv_tail_f32((s - 1.5) / (s + 1.5))
    y = intrinsics.select(a < 0.5, near, intrinsics.select(a == 1.0, np.inf, far))
    return intrinsics.copysign(intrinsics.select(intrinsics.isnan(x), x, y), x)


def _erfinv_centre_f32(z):
    """erfinv(x) / x in z = x^2 <= 1/4; error 2^-24.99."""
    w = z * z
    p = intrinsics.fma(w, 0.3206632, 0.11585111)
    p = intrinsics.fma(w, p, 0.12792546)
    p = intrinsics.fma(w, p, 0.88622695)
    o = intrinsics.fma(w, -0.13722014, 0.08012731)
    o = intrinsics.fma(w, o, 0.23200588)
    return intrinsics.fma(z, o, p)


def _erfinv_tail_f32(t):
    """erfinv(x) / s in t = (s - 1.5) / (s + 1.5); error 2^-25.87."""
    w = t * t
    p = intrinsics.fma(w, -0.08244106, 0.013291982)
    p = intrinsics.fma(w, p, 0.17273536)
    p = intrinsics.fma(w, p, -0.4054903)
    p = intrinsics.fma(w, p, 0.7633092)
    o = intrinsics.fma(w, 0.024526667, 0.08796346)
    o = intrinsics.fma(w, o, -0.15276045)
    o = intrinsics.fma(w, o, 0.026054803)
    o = intrinsics.fma(w, o, 0.5524488)
    return intrinsics.fma(t, o, p)
