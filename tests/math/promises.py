"""What the math library promises: each function's oracle, its largest error in ULP, and where to look for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import mpmath
import numpy as np
from mpmath import mp, mpf

mp.prec = 200


@dataclass
class Function:
    """A function of the library. `ranges` are (low, high) of uniform samples; `exponents` the base-2 exponents of others."""

    oracle: Callable[..., mpf | None]
    arity: int = 1
    bound: float = 1.0
    ranges: list[tuple[float, float]] = field(default_factory=lambda: [(-10.0, 10.0)])
    exponents: tuple[float, float] = (-30.0, 12.0)
    hard: list[tuple[float, ...]] = field(default_factory=list)
    # What else the error is measured against: where terms cancel, the last place of the largest of these numbers and the result counts.
    beside: Callable[..., mpf] | None = None
    # Where a bound in last places holds; everywhere, if not given.
    where: Callable[[np.ndarray], np.ndarray] | None = None


def _hypot(x: mpf, y: mpf) -> mpf:
    return mp.inf if mp.isinf(x) or mp.isinf(y) else mp.sqrt(x * x + y * y)


def _power_of(base: float) -> Callable[[mpf], mpf]:
    return lambda x: mp.inf if x > 100000 else mpf(0) if x < -100000 else mp.power(base, x)


def _logarithm(base: float | None) -> Callable[[mpf], mpf]:
    def log(x: mpf) -> mpf:
        if x == 0:
            return -mp.inf
        if mp.isnan(x) or x < 0:
            return mp.nan
        return mp.log(x) if base is None else mp.log(x) / mp.log(base)

    return log


def _log1p(x: mpf) -> mpf:
    return -mp.inf if x == -1 else mp.nan if mp.isnan(x) or x < -1 else mp.log1p(x)


def _inside(f: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    return lambda x: f(x) if abs(x) <= 1 else mp.nan


def _acosh(x: mpf) -> mpf:
    return mp.acosh(x) if x >= 1 else mp.nan


def _atanh(x: mpf) -> mpf:
    return mp.sign(x) * mp.inf if abs(x) == 1 else mp.atanh(x) if abs(x) < 1 else mp.nan


def _cbrt(x: mpf) -> mpf:
    return x if mp.isinf(x) or mp.isnan(x) else mp.sign(x) * mp.cbrt(abs(x))


def _pow(x: mpf, y: mpf) -> mpf | None:
    """Ordinary values only: C99's long list of others is tested apart."""
    if not (mp.isfinite(x) and mp.isfinite(y)) or x == 0:
        return None
    if x < 0 and not mp.isint(y):
        return mp.nan
    size = y * mp.log(abs(x))
    if size > 1000:
        return mp.inf if x > 0 or y % 2 == 0 else -mp.inf
    return mpf(0) if size < -1000 else mp.power(x, y)


def _erfc(x):
    # The library for multiple precision overflows far out, where the function is below every float.
    return mp.erfc(mp.mpf(1000)) if x > 1000 else mp.erfc(x)


def _gamma(x: mpf) -> mpf | None:
    if x == 0:
        return None
    if x == -mp.inf or (x < 0 and mp.isint(x)):
        return mp.nan
    return mp.inf if x > 200 else mpf(0) if x < -250 else mp.gamma(x)


def _lgamma(x: mpf) -> mpf | None:
    """Positive arguments; negative ones have an absolute bound, which is tested apart."""
    if mp.isnan(x) or mp.isinf(x):
        return abs(x)
    return None if x <= 0 else mp.loggamma(x).real


def _remainder(x: mpf, y: mpf) -> mpf | None:
    if not mp.isfinite(x) or mp.isnan(y) or y == 0:
        return mp.nan
    if mp.isinf(y) or x == 0:
        return x
    with mp.workprec(2300):
        return x - y * mp.nint(x / y)


def _circular(f: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    return lambda x: mp.nan if mp.isinf(x) else f(x)


def _atan2(y: mpf, x: mpf) -> mpf | None:
    """mpmath's, with C99's infinities. Nothing where the sign of a zero decides."""
    if y == 0 and (x == 0 or x < 0):
        return None
    if mp.isnan(x) or mp.isnan(y):
        return mp.nan
    if mp.isinf(x) and mp.isinf(y):
        return mp.sign(y) * (mp.pi / 4 if x > 0 else 3 * mp.pi / 4)
    if mp.isinf(x):
        return mpf(0) if x > 0 else mp.pi * (-1 if y < 0 else 1)
    return mp.sign(y) * mp.pi / 2 if mp.isinf(y) else mp.atan2(y, x)


def _tanpi(x: mpf) -> mpf | None:
    """Nothing halfway between whole numbers, where the sign of an infinity is a convention."""
    if not mp.isfinite(x):
        return mp.nan
    return None if mp.isint(x - 0.5) else mp.sinpi(x) / mp.cospi(x)


def _sinc(x: mpf) -> mpf:
    return mp.nan if not mp.isfinite(x) else mpf(1) if x == 0 else mp.sinpi(x) / (mp.pi * x)


def _rsqrt(x: mpf) -> mpf | None:
    if x == 0:
        return None
    return mp.nan if mp.isnan(x) or x < 0 else mpf(0) if mp.isinf(x) else 1 / mp.sqrt(x)


def _erfinv(x: mpf) -> mpf:
    return mp.sign(x) * mp.inf if abs(x) == 1 else mp.erfinv(x) if abs(x) < 1 else mp.nan


def _i0(x: mpf) -> mpf:
    return x if mp.isnan(x) else mp.inf if abs(x) > 800 else mp.besseli(0, x)


def _logaddexp(base: int | None) -> Callable[[mpf, mpf], mpf]:
    one = mp.log(base) if base else mpf(1)

    def logaddexp(x: mpf, y: mpf) -> mpf:
        if mp.isnan(x) or mp.isnan(y):
            return mp.nan
        high, low = max(x, y), min(x, y)
        if mp.isinf(high) or mp.isinf(low):
            return high
        # Far apart the smaller one is lost in every float.
        return high if low - high < -5000 else high + mp.log1p(mp.exp((low - high) * one)) / one

    return logaddexp


def _larger(x: mpf, y: mpf) -> mpf:
    return max(x, y)


# Near multiples of pi/2: the closest doubles there are (J.-M. Muller, "Elementary Functions", 11.3), and the end of the fast path.
NEAR_QUADRANTS = [
    6381956970095103.0 * 2.0**797,
    5.319372648326541e255,
    1.5707963267948966,
    3.141592653589793,
    6.283185307179586,
    1646999.9999999998,
    1647000.0,
]

FUNCTIONS: dict[str, Function] = {
    "sin": Function(_circular(mp.sin), exponents=(-30, 60), hard=[(x,) for x in NEAR_QUADRANTS]),
    "cos": Function(_circular(mp.cos), exponents=(-30, 60), hard=[(x,) for x in NEAR_QUADRANTS]),
    "tan": Function(_circular(mp.tan), exponents=(-30, 60), hard=[(x,) for x in NEAR_QUADRANTS]),
    "atan": Function(mp.atan, ranges=[(-5, 5)], exponents=(-30, 60)),
    "atan2": Function(_atan2, arity=2, ranges=[(-1, 1)], exponents=(-40, 40), hard=[(0.6796919939151693, 0.6743011957187113)]),
    "hypot": Function(_hypot, arity=2, ranges=[(-1, 1)], exponents=(-20, 20)),
    "exp": Function(mp.exp, ranges=[(-30, 30), (-745.2, -708), (700, 710), (-104, -87), (87, 89)], exponents=(-30, 9)),
    "exp2": Function(_power_of(2), ranges=[(-30, 30), (-1075, -1021), (-150, -125)], exponents=(-30, 10)),
    "exp10": Function(_power_of(10), ranges=[(-30, 30), (-324, -307), (-46, -37)], exponents=(-30, 8)),
    "expm1": Function(mp.expm1, ranges=[(-3, 3), (-40, 710), (0.3, 0.4)], exponents=(-70, 9)),
    "log": Function(_logarithm(None), ranges=[(0.5, 2), (0, 20)], exponents=(-300, 300)),
    "log2": Function(_logarithm(2), ranges=[(0.5, 2), (0, 20)], exponents=(-300, 300)),
    "log10": Function(_logarithm(10), ranges=[(0.5, 2), (0, 20)], exponents=(-300, 300)),
    "log1p": Function(_log1p, ranges=[(-1, 1), (-0.4, 0.6), (0, 20)], exponents=(-70, 300)),
    "pow": Function(_pow, arity=2, ranges=[(-10, 10)], exponents=(-3, 6), hard=[(1.833432120394942, -1169.1582122962297)]),
    "asin": Function(_inside(mp.asin), ranges=[(-1, 1), (0.49, 0.55)], exponents=(-70, 0)),
    "acos": Function(_inside(mp.acos), ranges=[(-1, 1), (0.99, 1)], exponents=(-70, 0)),
    "sinh": Function(mp.sinh, ranges=[(-1, 1), (-10, 10), (700, 711), (85, 90)], exponents=(-70, 9)),
    "cosh": Function(mp.cosh, ranges=[(-1, 1), (-10, 10), (700, 711), (85, 90)], exponents=(-70, 9)),
    "tanh": Function(mp.tanh, ranges=[(-1, 1), (-10, 10)], exponents=(-70, 9)),
    "asinh": Function(mp.asinh, ranges=[(-1, 1), (-10, 10)], exponents=(-70, 300)),
    "acosh": Function(_acosh, ranges=[(1, 1.1), (1, 10)], exponents=(0, 300)),
    "atanh": Function(_atanh, ranges=[(-1, 1), (0.9, 1)], exponents=(-70, 0)),
    "erf": Function(mp.erf, bound=2, ranges=[(-3, 3), (0.8, 1)], exponents=(-70, 4)),
    "erfc": Function(_erfc, bound=2, ranges=[(-3, 3), (0, 27.5), (3, 11)], exponents=(-70, 4.8)),
    "gamma": Function(_gamma, bound=4, ranges=[(-5, 10), (-40, 172), (0, 36)], exponents=(-70, 7.3)),
    "lgamma": Function(_lgamma, bound=4, ranges=[(0, 10), (0.8, 2.2), (0, 200)], exponents=(-70, 300), where=lambda x: x > 0),
    "remainder": Function(_remainder, arity=2, bound=0, ranges=[(-10, 10)], exponents=(-30, 30)),
    "sinpi": Function(_circular(mp.sinpi), exponents=(-70, 60), hard=[(v,) for v in (4503599627370495.5, 8388607.5, 0.25, 0.75, 1e300)]),
    "cospi": Function(_circular(mp.cospi), exponents=(-70, 60), hard=[(v,) for v in (4503599627370495.5, 8388607.5, 0.25, 0.75, 1e300)]),
    "tanpi": Function(_tanpi, exponents=(-70, 60), hard=[(v,) for v in (4503599627370495.5, 8388607.5, 0.25, 0.75, 1e300)]),
    "sinc": Function(_sinc, bound=2, exponents=(-70, 60)),
    "rsqrt": Function(_rsqrt, bound=2, exponents=(-300, 300)),
    "erfinv": Function(_erfinv, bound=4, ranges=[(-1, 1), (0.99, 1), (0.4, 0.6)], exponents=(-70, 0)),
    "i0": Function(_i0, bound=2, ranges=[(-10, 10), (-92, 92), (6, 12), (-714, 714)], exponents=(-30, 9)),
    "logaddexp": Function(_logaddexp(None), arity=2, bound=2, exponents=(-30, 9), beside=_larger),
    "logaddexp2": Function(_logaddexp(2), arity=2, bound=2, exponents=(-30, 9), beside=_larger),
    "cbrt": Function(_cbrt, ranges=[(-10, 10)], exponents=(-300, 300), hard=[(6.415170407205226e-291,), (1.5664107818784958e-294,)]),
}


def samples(f: Function, dtype: type, count: int, seed: int = 1) -> list[np.ndarray]:
    """About `count` argument tuples: uniform, log-uniform of both signs, any bits, special values, hard cases."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    special = np.array(
        [0, 0.5, 1, 1.5, 2, 3, 10, info.tiny, info.smallest_subnormal, 5 * info.smallest_subnormal, info.max, info.max / 2, np.inf], dtype
    )
    special = np.concatenate([special, np.nextafter(special, dtype(0)), -special, [np.nan]]).astype(dtype)
    columns = []
    for axis in range(f.arity):
        uniform = [rng.uniform(low, high, count // (2 * len(f.ranges))) for low, high in f.ranges]
        low, high = (e if abs(e) < 100 or dtype is np.float64 else np.sign(e) * 100 for e in f.exponents)
        scaled = np.exp2(rng.uniform(low, high, count // 4)) * rng.choice([-1, 1], count // 4)
        raw = rng.integers(0, 256, (count // 4) * np.dtype(dtype).itemsize, np.uint8).view(dtype)
        edge = (
            np.repeat(special, len(special)) if axis == 0 and f.arity == 2 else np.tile(special, len(special)) if f.arity == 2 else special
        )
        with np.errstate(over="ignore"):
            parts = [np.asarray(p).astype(dtype) for p in (*uniform, scaled, raw, edge, [h[axis] for h in f.hard])]
        columns.append(np.concatenate(parts))
    return columns


def errors(f: Function, got: np.ndarray, args: list[np.ndarray]) -> np.ndarray:
    """The error of each result in units of the last place of the exact one."""
    found = []
    for g, *row in zip(got, *args):
        exact = [mpf(float(a)) for a in row]
        found.append(ulps(g, f.oracle(*exact), got.dtype, f.beside(*exact) if f.beside else mpf(0)))
    return np.array(found)


def ulps(got: np.floating, exact: mpf | None, dtype: np.dtype, beside: mpf | int = 0) -> float:
    """|got - exact| in the last place of the larger of the exact value and `beside`. Where that rounds to infinity, infinity is right."""
    if exact is None:
        return 0.0
    info = np.finfo(dtype)
    if mpmath.isnan(exact) or np.isnan(got):
        return 0.0 if mpmath.isnan(exact) and np.isnan(got) else np.inf
    digits = info.nmant + 1
    limit = mpf(float(info.max)) + mp.ldexp(1, int(info.maxexp) - digits - 1)
    if abs(exact) >= limit or np.isinf(got):
        return 0.0 if np.isinf(got) and abs(exact) >= limit and (got > 0) == (exact > 0) else np.inf
    size = max(abs(exact), abs(beside)) if mp.isfinite(beside) else abs(exact)
    _, exponent = mp.frexp(size) if size != 0 else (mpf(0), int(info.minexp))
    unit = mp.ldexp(1, max(int(exponent), int(info.minexp) + 1) - digits)
    return float(abs(mpf(float(got)) - exact) / unit)
