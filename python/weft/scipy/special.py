"""Special functions by SciPy's names: those that the math library has, and what they make without losing digits.

Functions are recorded and fuse. Integers, bools and float16 are computed with as in SciPy: as float64, by some functions as float32 where
that holds them. Complex numbers are refused. Definitions are those of SciPy's manual; where an expression would cancel
or overflow it is written as there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import weft
from weft import math as weft_math
from weft._weft import _followed, ndarray
from weft.arrays._common import given
from weft.arrays.creation import asarrays
from weft.arrays.windows import bessel
from weft.errors import UnsupportedError

__all__ = [
    "boxcox",
    "boxcox1p",
    "cbrt",
    "cosm1",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "exp10",
    "expit",
    "expm1",
    "exprel",
    "factorial",
    "gamma",
    "gammaln",
    "huber",
    "i0",
    "inv_boxcox",
    "kl_div",
    "log1p",
    "log_expit",
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "pseudo_huber",
    "rel_entr",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]


# Those that compute 8 and 16 bits with float32, as SciPy's do; for others these are float64, and float32 is what all arguments have to be.
_SMALL = {"boxcox", "boxcox1p", "entr", "erfinv", "huber", "inv_boxcox", "kl_div", "pseudo_huber", "rel_entr"}


def _floats(name: str, *args: Any) -> list[ndarray]:
    """Arguments as arrays of the float type that SciPy's loop for them has."""
    arrays = [each if isinstance(each, (bool, int, float)) else array for each, array in zip(args, asarrays(*args))]
    kinds = [each if isinstance(each, (bool, int, float)) else each.dtype for each in arrays]
    found = np.result_type(*kinds)
    if found.kind == "c":
        raise UnsupportedError(f"weft.scipy.special.{name} takes real numbers, not {found}")
    if not np.can_cast(found, np.float64):
        raise TypeError(f"ufunc {name!r} not supported for the input types")
    single = np.can_cast(found, np.float32) if name in _SMALL else all(each == np.float32 for each in kinds)
    kind = np.float32 if single else np.float64
    device = next((each.device for each in arrays if isinstance(each, ndarray)), None)
    return [each.astype(kind, copy=False) if isinstance(each, ndarray) else weft.full((), each, kind, device=device) for each in arrays]


def _function(name: str, compute: Callable[..., Any], doc: str, wide: bool = False) -> Callable[..., ndarray]:
    """A function of arrays that is a function of their elements. `wide` ones compute with float64, for float32 too, as SciPy's do."""
    count = compute.__code__.co_argcount if hasattr(compute, "__code__") else 1

    def plain(*floats: ndarray) -> ndarray:
        if not wide:
            return weft.asarray(compute(*floats))
        found = compute(*(each.astype(np.float64, copy=False) for each in floats))
        return found.astype(floats[0].dtype, copy=False)

    def function(*args: Any, out: Any = None) -> ndarray:
        if len(args) != count:
            raise TypeError(f"{name}() takes {count} arrays, not {len(args)}")
        floats = _floats(name, *args)
        return given(plain(*floats) if not _followed(floats) else _with_rule(name, plain)(*floats), out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _with_rule(name: str, plain: Callable[..., ndarray]) -> Callable[..., ndarray]:
    """The function with the rule that it has by its name, or the function itself, which then is what its parts are."""
    from weft.gradients.rules.special import ruled

    return ruled(name, plain)


def _where(*cases: Any) -> ndarray:
    """The value of the first condition that holds, and behind all pairs of them the value where none does."""
    found = cases[-1]
    for condition, value in reversed(list(zip(cases[:-1:2], cases[1:-1:2]))):
        found = weft.where(condition, value, found)
    return found


def _nan_or(value: Any, *args: ndarray) -> ndarray:
    """NaN where an argument is NaN."""
    bad = args[0] != args[0]
    for each in args[1:]:
        bad = bad | (each != each)
    return weft.where(bad, args[0].dtype.type(np.nan), value)


erf = _function("erf", lambda x: weft_math.erf(x), """The error function.

    >>> weft.scipy.special.erf(weft.asarray([0.0, 1.0]))
    array([0.        , 0.84270079])
    """)  # fmt: skip
erfc = _function("erfc", lambda x: weft_math.erfc(x), """1 less the error function, with all digits where that is small.

    >>> weft.scipy.special.erfc(weft.asarray([0.0, 1.0]))
    array([1.        , 0.15729921])
    """)  # fmt: skip
erfinv = _function("erfinv", lambda x: weft_math.erfinv(x), """The inverse of the error function.

    >>> weft.scipy.special.erfinv(weft.asarray([0.5]))
    array([0.47693628])
    """)  # fmt: skip
gammaln = _function("gammaln", lambda x: weft.where(x == -np.inf, x, weft_math.lgamma(x)), """log of the gamma function's magnitude.

    >>> weft.scipy.special.gammaln(weft.asarray([5.0]))
    array([3.17805383])
    """)  # fmt: skip
expm1 = _function("expm1", lambda x: weft.expm1(x), """exp(x) - 1.

    >>> weft.scipy.special.expm1(weft.asarray([1e-20]))
    array([1.e-20])
    """)  # fmt: skip
log1p = _function("log1p", lambda x: weft.log1p(x), """log(1 + x).

    >>> weft.scipy.special.log1p(weft.asarray([1e-20]))
    array([1.e-20])
    """)  # fmt: skip
exp2 = _function("exp2", lambda x: weft.exp2(x), """2 to the x.

    >>> weft.scipy.special.exp2(weft.asarray([3.0]))
    array([8.])
    """)  # fmt: skip
exp10 = _function("exp10", lambda x: weft_math.exp10(x), """10 to the x.

    >>> weft.scipy.special.exp10(weft.asarray([2.0]))
    array([100.])
    """)  # fmt: skip
cbrt = _function("cbrt", lambda x: weft.cbrt(x), """The cube root.

    >>> weft.scipy.special.cbrt(weft.asarray([-27.0]))
    array([-3.])
    """)  # fmt: skip


i0 = _function("i0", lambda x: bessel(x), """The modified Bessel function of order 0.

    >>> weft.scipy.special.i0(weft.asarray([1.0]))
    array([1.26606588])
    """)  # fmt: skip


def _gamma(x: ndarray) -> ndarray:
    # At the poles: infinity with the sign of a zero, NaN at negative whole numbers.
    pole = (x < 0) & (weft.floor(x) == x)
    kind = x.dtype.type
    return _where(x == 0, weft.copysign(kind(np.inf), x), pole, kind(np.nan), weft_math.gamma(x))


gamma = _function("gamma", _gamma, """The gamma function; NaN at negative whole numbers.

    >>> weft.scipy.special.gamma(weft.asarray([0.5, 5.0]))
    array([ 1.77245385, 24.        ])
    """)  # fmt: skip
expit = _function("expit", lambda x: 1 / (1 + weft.exp(-x)), """The logistic function 1 / (1 + exp(-x)).

    >>> weft.scipy.special.expit(weft.asarray([0.0, 2.0]))
    array([0.5       , 0.88079708])
    """)  # fmt: skip


def _logit(x: ndarray) -> ndarray:
    # In the middle the quotient is near 1, and its logarithm would cancel.
    s = 2 * (x - 0.5)
    middle = (x >= 0.3) & (x <= 0.65)
    return weft.where(middle, weft.log1p(s) - weft.log1p(-s), weft.log(x / (1 - x)))


logit = _function("logit", _logit, """log(x / (1 - x)).

    >>> weft.scipy.special.logit(weft.asarray([0.5, 0.9]))
    array([0.        , 2.19722458])
    """)  # fmt: skip
log_expit = _function("log_expit", lambda x: weft.minimum(x, 0) - weft.log1p(weft.exp(-weft.abs(x))), """log(expit(x)).

    >>> weft.scipy.special.log_expit(weft.asarray([0.0, -1000.0]))
    array([-6.93147181e-01, -1.00000000e+03])
    """)  # fmt: skip
xlogy = _function("xlogy", lambda x, y: weft.where((x == 0) & (y == y), x.dtype.type(0), x * weft.log(y)), """x log(y), and 0 where x is 0.

    >>> weft.scipy.special.xlogy(weft.asarray([0.0, 2.0]), weft.asarray([0.0, 1.0]))
    array([0., 0.])
    """)  # fmt: skip
xlog1py = _function("xlog1py", lambda x, y: weft.where((x == 0) & (y == y), x.dtype.type(0), x * weft.log1p(y)), """x log(1 + y).

    >>> weft.scipy.special.xlog1py(weft.asarray([0.0, 2.0]), weft.asarray([-1.0, 0.0]))
    array([0., 0.])
    """)  # fmt: skip


def _entr(x: ndarray) -> ndarray:
    kind = x.dtype.type
    return _nan_or(_where(x > 0, -x * weft.log(x), x == 0, kind(0), kind(-np.inf)), x)


entr = _function("entr", _entr, """-x log(x), the part of an element in an entropy; 0 at 0 and -inf below.

    >>> weft.scipy.special.entr(weft.asarray([0.0, 0.5, -1.0]))
    array([0.        , 0.34657359,       -inf])
    """)  # fmt: skip


def _x_log_ratio(x: ndarray, y: ndarray) -> ndarray:
    """x log(x / y) of positive numbers: near 1 the logarithm of a difference, and of two where the quotient leaves the range."""
    ratio = x / y
    near = (ratio > 0.5) & (ratio < 2)
    within = (ratio > np.finfo(x.dtype).tiny) & (ratio < x.dtype.type(np.inf))
    return _where(near, x * weft.log1p((x - y) / y), within, x * weft.log(ratio), x * (weft.log(x) - weft.log(y)))


def _rel_entr(x: ndarray, y: ndarray) -> ndarray:
    kind = x.dtype.type
    return _nan_or(_where((x > 0) & (y > 0), _x_log_ratio(x, y), (x == 0) & (y >= 0), kind(0), kind(np.inf)), x, y)


def _kl_div(x: ndarray, y: ndarray) -> ndarray:
    kind = x.dtype.type
    return _nan_or(_where((x > 0) & (y > 0), x * weft.log(x / y) - x + y, (x == 0) & (y >= 0), y, kind(np.inf)), x, y)


rel_entr = _function("rel_entr", _rel_entr, """x log(x / y), the part of an element in a relative entropy.

    >>> weft.scipy.special.rel_entr(weft.asarray([1.0, 0.0]), weft.asarray([1.0, 2.0]))
    array([0., 0.])
    """)  # fmt: skip
kl_div = _function("kl_div", _kl_div, """x log(x / y) - x + y, an element's part of the Kullback–Leibler divergence.

    >>> weft.scipy.special.kl_div(weft.asarray([1.0, 0.0]), weft.asarray([1.0, 2.0]))
    array([0., 2.])
    """, wide=True)  # fmt: skip


def _ndtr(x: ndarray) -> ndarray:
    z = x * x.dtype.type(math.sqrt(0.5))
    tail = 0.5 * weft_math.erfc(weft.abs(z))
    return _where(weft.abs(z) < math.sqrt(0.5), 0.5 + 0.5 * weft_math.erf(z), z > 0, 1 - tail, tail)


ndtr = _function("ndtr", _ndtr, """The area below the normal distribution's density up to x.

    >>> weft.scipy.special.ndtr(weft.asarray([0.0, 1.96]))
    array([0.5      , 0.9750021])
    """, wide=True)  # fmt: skip


def _cosm1(x: ndarray) -> ndarray:
    half = weft.sin(x / 2)
    return -2 * half * half


cosm1 = _function("cosm1", _cosm1, """cos(x) - 1.

    >>> weft.scipy.special.cosm1(weft.asarray([1e-10]))
    array([-5.e-21])
    """)  # fmt: skip
exprel = _function("exprel", lambda x: _where(x == 0, x.dtype.type(1), x == np.inf, x, weft.expm1(x) / x), """(exp(x) - 1) / x, and 1 at 0.

    >>> weft.scipy.special.exprel(weft.asarray([0.0, 1.0]))
    array([1.        , 1.71828183])
    """, wide=True)  # fmt: skip


def _huber(delta: ndarray, r: ndarray) -> ndarray:
    size = weft.abs(r)
    return _where(delta < 0, delta.dtype.type(np.inf), size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))


def _pseudo_huber(delta: ndarray, r: ndarray) -> ndarray:
    kind = delta.dtype.type
    v = r / delta
    value = delta * delta * weft.expm1(0.5 * weft.log1p(v * v))
    return _where(delta < 0, kind(np.inf), (delta == 0) | (r == 0), kind(0), value)


huber = _function("huber", _huber, """Huber's loss: r²/2 up to delta, and a line from there on.

    >>> weft.scipy.special.huber(1.0, weft.asarray([0.5, 3.0]))
    array([0.125, 2.5  ])
    """, wide=True)  # fmt: skip
pseudo_huber = _function("pseudo_huber", _pseudo_huber, """Huber's loss without a corner: delta² (√(1 + (r / delta)²) - 1).

    >>> weft.scipy.special.pseudo_huber(1.0, weft.asarray([0.0]))
    array([0.])
    """, wide=True)  # fmt: skip


def _boxcox_of(log: ndarray, power: ndarray) -> ndarray:
    # Where the power overflows, its quotient by a large number may not.
    size = power * log
    large = weft.sign(power) * weft.exp(size - weft.log(weft.abs(power))) - 1 / power
    return _where(weft.abs(power) < 1e-19, log, size < 709.78, weft.expm1(size) / power, large)


def _inv_boxcox(y: ndarray, power: ndarray) -> ndarray:
    size = power * y
    large = (weft.log(weft.sign(power) * (y + 1 / power)) + weft.log(weft.abs(power))) / power
    return _where(power == 0, weft.exp(y), size < 1.79e308, weft.exp(weft.log1p(size) / power), weft.exp(large))


boxcox = _function("boxcox", lambda x, lmbda: _boxcox_of(weft.log(x), lmbda), """Box and Cox's transformation: (x^lmbda - 1) / lmbda.

    >>> weft.scipy.special.boxcox(weft.asarray([3.0]), 2.0)
    array([4.])
    """, wide=True)  # fmt: skip
boxcox1p = _function("boxcox1p", lambda x, lmbda: _boxcox_of(weft.log1p(x), lmbda), """Box and Cox's transformation of 1 + x.

    >>> weft.scipy.special.boxcox1p(weft.asarray([2.0]), 2.0)
    array([4.])
    """, wide=True)  # fmt: skip
inv_boxcox = _function("inv_boxcox", _inv_boxcox, """The inverse of `boxcox`.

    >>> weft.scipy.special.inv_boxcox(weft.asarray([4.0]), 2.0)
    array([3.])
    """, wide=True)  # fmt: skip


def sinc(x: Any) -> ndarray:
    """sin(pi x) / (pi x), as `weft.sinc`.

    >>> weft.scipy.special.sinc(weft.asarray([0.0, 0.5]))
    array([1.        , 0.63661977])
    """
    return weft.sinc(x)


def factorial(n: Any, exact: bool = False) -> ndarray:
    """The factorials of whole numbers as floats; 0 for negative ones. `exact=True`, which gives Python's integers, is refused.

    >>> weft.scipy.special.factorial(weft.asarray([0, 5]))
    array([  1., 120.])
    """
    if exact:
        raise UnsupportedError("weft.scipy.special.factorial: exact=True gives integers of any size: use math.factorial")
    n = weft.asarray(n)
    if n.dtype.kind not in "iu" and not (n.dtype.kind == "f" and n.ndim == 0):
        raise ValueError(f"Unsupported data type for n: {n.dtype}")
    x = n.astype(np.float64 if n.dtype.kind in "iu" else n.dtype, copy=False)
    return weft.where(x < 0, x.dtype.type(0), weft_math.gamma(x + 1))


def _inexact(x: Any) -> ndarray:
    """An array of floats."""
    x = weft.asarray(x)
    if x.dtype.kind == "c":
        raise UnsupportedError(f"weft.scipy.special.logsumexp takes real numbers, not {x.dtype}")
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """log(Σ b exp(a)) along axes, without overflow. With `return_sign` the logarithm of the sum's magnitude, and its sign.

    >>> weft.scipy.special.logsumexp(weft.asarray([1000.0, 1000.0]))
    array(1000.69314718)
    """
    x, weights = a, None
    if b is not None:
        x, weights = asarrays(a, b)
        x, weights = weft.broadcast_arrays(_inexact(x), _inexact(weights))
        x = weft.where(weights == 0, x.dtype.type(-np.inf), x)
    x = _inexact(x)
    top = weft.max(x, axis=axis, keepdims=True)
    top = weft.where(weft.isfinite(top), top, x.dtype.type(0))
    parts = weft.exp(x - top)
    total = weft.sum(parts if weights is None else weights * parts, axis=axis, keepdims=keepdims)
    base = top if keepdims else weft.reshape(top, total.shape)
    if return_sign:
        return weft.log(weft.abs(total)) + base, weft.sign(total)
    return weft.log(total) + base


def softmax(x: Any, axis: Any = None) -> ndarray:
    """exp(x) / Σ exp(x) along axes, without overflow.

    >>> weft.scipy.special.softmax(weft.asarray([0.0, 0.0]))
    array([0.5, 0.5])
    """
    x = weft.asarray(x)
    parts = weft.exp(x - weft.max(x, axis=axis, keepdims=True))
    return parts / weft.sum(parts, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> ndarray:
    """The logarithm of `softmax`.

    >>> weft.scipy.special.log_softmax(weft.asarray([0.0, 0.0]))
    array([-0.69314718, -0.69314718])
    """
    x = weft.asarray(x)
    top = weft.max(x, axis=axis, keepdims=True)
    below = x - weft.where(weft.isfinite(top), top, x.dtype.type(0))
    return below - weft.log(weft.sum(weft.exp(below), axis=axis, keepdims=True))
