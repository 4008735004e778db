"""Functions of numbers that NumPy has no name for.

In compiled functions they are part of the code around them; called from plain Python they are ufuncs. What Python's `math` and `cmath` and
NumPy have goes by the names it has there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._decorators import Vectorized, vectorize
from weft._weft import _followed

__all__ = [
    "brev",
    "clz",
    "comb",
    "cospi",
    "ctz",
    "erf",
    "erfc",
    "erfinv",
    "exp10",
    "factorial",
    "fma",
    "gamma",
    "ilogb",
    "isqrt",
    "lgamma",
    "logb",
    "perm",
    "popcount",
    "remainder",
    "rsqrt",
    "sincos",
    "sinpi",
    "tanpi",
]


class _Known(Vectorized):
    """A ufunc that has a rule for its gradient: what it is made of is not looked into."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if keywords or not _followed(args):
            return Vectorized.__call__(self, *args, **keywords)
        from weft.gradients.rules.special import followed

        return followed(self, args)


def _known(function: Callable[..., Any]) -> Vectorized:
    """A ufunc of a function that the compiler knows by this name: the body is a call of what it stands for."""
    made = vectorize(function)
    made.__class__ = _Known
    made._weft_path_ = f"weft.math.{function.__name__}"
    return made


@_known
def sinpi(x):
    """sin(pi x)."""
    return sinpi(x)


@_known
def cospi(x):
    """cos(pi x)."""
    return cospi(x)


@_known
def tanpi(x):
    """tan(pi x)."""
    return tanpi(x)


@_known
def exp10(x):
    """10 to the x."""
    return exp10(x)


@_known
def rsqrt(x):
    """1 / sqrt(x)."""
    return rsqrt(x)


@_known
def erf(x):
    """Error function."""
    return erf(x)


@_known
def erfc(x):
    """Complementary error function, 1 - erf(x)."""
    return erfc(x)


@_known
def erfinv(x):
    """Inverse of the error function."""
    return erfinv(x)


@_known
def gamma(x):
    """Gamma function."""
    return gamma(x)


@_known
def lgamma(x):
    """Logarithm of the gamma function's magnitude."""
    return lgamma(x)


@_known
def logb(x):
    """Exponent of x = m 2^n with 1 <= |m| < 2, as a float: -inf for zero, inf for infinities."""
    return logb(x)


@_known
def ilogb(x):
    """Exponent of x = m 2^n with 1 <= |m| < 2, as an int32: the least for zero and NaN, the largest for infinities."""
    return ilogb(x)


@_known
def remainder(x, y):
    """IEEE 754's remainder: x - n y with n the whole number next to x / y, the even one of two."""
    return remainder(x, y)


@_known
def fma(a, b, c):
    """a b + c with one rounding."""
    return fma(a, b, c)


@_known
def popcount(n):
    """Bits of an integer that are set."""
    return popcount(n)


@_known
def clz(n):
    """Leading zero bits of an integer."""
    return clz(n)


@_known
def ctz(n):
    """Trailing zero bits of an integer."""
    return ctz(n)


@_known
def brev(n):
    """The bits of an integer in reverse order."""
    return brev(n)


@_known
def isqrt(n):
    """Whole part of an integer's square root."""
    return isqrt(n)


@_known
def factorial(n):
    """Product of the whole numbers from 1 to n. It wraps where the integer type is too narrow."""
    return factorial(n)


@_known
def comb(n, k):
    """Ways to choose k of n things."""
    return comb(n, k)


@_known
def perm(n, k):
    """Ways to choose and order k of n things."""
    return perm(n, k)


@vectorize
def _sin(x):
    return _both(x)[0]


@vectorize
def _cos(x):
    return _both(x)[1]


def sincos(x: Any) -> tuple[Any, Any]:
    """Sine and cosine of one argument."""
    if _followed(x):
        from weft.arrays.ufuncs import UFUNCS

        return UFUNCS["sin"](x), UFUNCS["cos"](x)
    return _sin(x), _cos(x)


sincos._weft_path_ = "weft.math.sincos"  # type: ignore[attr-defined]
_both = sincos
