"""Whether two results are the same: type, value, signs of zeros, NaN for NaN.

Elementary functions may be off by what `docs/math.md` promises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from operands import BFLOAT16

# Largest error in the last place of functions that are not exact. NumPy's own result, or the nearest of a wider type, is the measure.
ELEMENTARY = """
    sin cos tan arcsin arccos arctan arctan2 asin acos atan atan2 sinh cosh tanh arcsinh arccosh arctanh asinh acosh atanh
    exp exp2 expm1 log log2 log10 log1p cbrt hypot power pow float_power
"""
ULPS = dict.fromkeys(ELEMENTARY.split(), 1.0) | {"logaddexp": 2.0, "logaddexp2": 2.0}
# Each part of a complex number.
COMPLEX_ULPS = 5.0
# C99 leaves some signs open.
OPEN_SIGNS = {"sin", "cos", "tan", "sinh", "cosh", "tanh"}
# Functions of complex numbers that are not computed by NumPy's formula, rounding for rounding.
COMPLEX_FUNCTIONS = set(ULPS) | {"sqrt", "sign", "absolute", "abs"}


@dataclass(frozen=True)
class Measure:
    """How far a result may be off: in units of the last place of the result in a wider type, or of `beside` where that is larger.

    With `open_signs` the sign of a part beside NaN is anybody's; where `overflows` says so, anything infinite is right for what is.
    """

    ulps: object = 0.0
    wide: object = None
    beside: object = 0.0
    open_signs: bool = False
    overflows: object = False


EXACT = Measure()


def complex_power(args: tuple, want: object, wide: object = None) -> Measure:
    """Units of the whole, not of each part: some, and one for each radian of the angle by which the power is turned."""
    size = abs(np.asarray(want))
    size = size + np.finfo(size.dtype).tiny
    if len(args) != 2:
        return Measure(12.0, wide, size)
    z, w = (np.asarray(v).astype(complex) for v in args)
    with np.errstate(all="ignore"):
        angle = abs(w.real * np.angle(z)) + abs(w.imag * np.log(abs(z)))
    # What overflows has an angle that is all error.
    return Measure(8.0 + np.nan_to_num(angle), wide, size, overflows=np.isfinite(z) & np.isfinite(w))


def differences(got: object, want: object, measure: Measure = EXACT) -> str | None:
    """What differs between a result and the one wanted, in words; nothing if they agree."""
    if isinstance(want, tuple):
        if not isinstance(got, tuple) or len(got) != len(want):
            return f"{got!r} instead of {want!r}"
        found = [differences(*two) for two in zip(got, want)]
        return next((f for f in found if f), None)
    if type(got) is not type(want):
        return f"type {type(got).__name__} instead of {type(want).__name__}"
    x, y = np.asarray(got), np.asarray(want)
    if x.dtype != y.dtype:
        return f"dtype {x.dtype} instead of {y.dtype}"
    if x.shape != y.shape:
        return f"shape {x.shape} instead of {y.shape}"
    wrong = ~_same(x, y, measure)
    if not wrong.any():
        return None
    at = np.flatnonzero(wrong.ravel())
    return f"{len(at)} values, first at {at[0]}: {x.ravel()[at[0]]!r} instead of {y.ravel()[at[0]]!r}"


def _same(got: np.ndarray, want: np.ndarray, measure: Measure) -> np.ndarray:
    if got.dtype.kind == "c":
        wide = [None, None] if measure.wide is None else [np.real(measure.wide), np.imag(measure.wide)]
        parts = [Measure(measure.ulps, w, measure.beside) for w in wide]
        same = _same(got.real, want.real, parts[0]) & _same(got.imag, want.imag, parts[1])
        same |= np.asarray(measure.overflows) & np.isinf(got) & np.isinf(want)
        if measure.open_signs:
            nan = np.isnan(want.real) | np.isnan(want.imag)
            same |= nan & _same(abs(got.real), abs(want.real), EXACT) & _same(abs(got.imag), abs(want.imag), EXACT)
        return same
    if got.dtype.kind != "f" and got.dtype != BFLOAT16:
        return got == want
    with np.errstate(all="ignore"):
        nan = np.isnan(got) & np.isnan(want)
        equal = (got == want) & (np.signbit(got) == np.signbit(want))
        if not np.any(measure.ulps):
            return nan | equal
        near = _near(got, want, measure)
        if measure.wide is not None:
            near |= _near(got, np.asarray(measure.wide), measure)
        return nan | equal | near


def _near(got: np.ndarray, exact: np.ndarray, measure: Measure) -> np.ndarray:
    """Within some units in the last place of the exact value, both finite and of one sign."""
    finite = np.isfinite(got) & np.isfinite(exact)
    distance = abs(got.astype(np.longdouble) - exact.astype(np.longdouble))
    size = np.maximum(abs(exact), np.nan_to_num(abs(np.asarray(measure.beside)))).astype(got.dtype)
    # What is lost in the size of something larger has no sign.
    sign = (np.signbit(got) == np.signbit(exact)) | (size > abs(exact))
    return finite & (distance <= (measure.ulps + 0.01) * np.spacing(size)) & sign
