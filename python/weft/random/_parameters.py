"""Parameters of distributions: what each must be, in NumPy's words, and the shape that they and `size` make."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._weft import _capture_call, _cast, _to_numpy, ndarray
from weft.arrays._common import array_of
from weft.errors import CaptureError

Shape = tuple[int, ...]

# NumPy's largest mean of a Poisson distribution.
_MOST_MEAN = np.iinfo(np.int64).max - np.sqrt(np.float64(np.iinfo(np.int64).max)) * 10
_MOST_COLOURS = 1000000000


def _any(flags: Any) -> bool:
    return bool(flags) if isinstance(flags, (bool, np.bool_)) else bool(np.any(flags))


def _all(flags: Any) -> bool:
    # Of one number NumPy takes its time.
    return bool(flags) if isinstance(flags, (bool, np.bool_)) else bool(np.all(flags))


def _not_negative(x: Any, name: str, _none: str) -> None:
    if _any(~np.isnan(x) & np.signbit(x)):
        raise ValueError(f"{name} < 0")


def _not_negative_whole(x: Any, name: str, _none: str) -> None:
    if _any(x < 0):
        raise ValueError(f"{name} < 0")


def _positive(x: Any, name: str, _none: str) -> None:
    if _any(x <= 0):
        raise ValueError(f"{name} <= 0")


def _positive_number(x: Any, name: str, none: str) -> None:
    if _any(np.isnan(x)):
        raise ValueError(f"{name} must not be NaN")
    _positive(x, name, none)


def _chance(x: Any, name: str, none: str) -> None:
    if not _all((x >= 0) & (x <= 1)):
        raise ValueError(f"{name} < 0, {name} > 1 or {name} {none}")


def _chance_above_0(x: Any, name: str, _none: str) -> None:
    if not _all((x > 0) & (x <= 1)):
        raise ValueError(f"{name} <= 0, {name} > 1 or {name} contains NaNs")


def _chance_below_1(x: Any, name: str, none: str) -> None:
    if not _all((x >= 0) & (x < 1)):
        raise ValueError(f"{name} < 0, {name} >= 1 or {name} {none}")


def _above_1(x: Any, name: str, none: str) -> None:
    if not _all(x > 1):
        raise ValueError(f"{name} <= 1 or {name} {none}")


def _mean(x: Any, name: str, none: str) -> None:
    # Of arrays NumPy looks at the largest first.
    if np.ndim(x) and not _all(x <= _MOST_MEAN):
        raise ValueError(f"{name} value too large")
    if not _all(x >= 0):
        raise ValueError(f"{name} < 0 or {name} {none}")
    if not _all(x <= _MOST_MEAN):
        raise ValueError(f"{name} value too large")


Check = Callable[[Any, str, str], None]

# The parameters of each distribution, in order.
PARAMETERS: dict[str, tuple[tuple[str, Check | None], ...]] = {
    "uniform": (("low", None), ("high", None)),
    "normal": (("loc", None), ("scale", _not_negative)),
    "exponential": (("scale", _not_negative),),
    "cauchy": (),
    "laplace": (("loc", None), ("scale", _not_negative)),
    "logistic": (("loc", None), ("scale", _not_negative)),
    "lognormal": (("mean", None), ("sigma", _not_negative)),
    "gumbel": (("loc", None), ("scale", _not_negative)),
    "pareto": (("a", _positive),),
    "power": (("a", _positive),),
    "rayleigh": (("scale", _not_negative),),
    "wald": (("mean", _positive), ("scale", _positive)),
    "weibull": (("a", _not_negative),),
    "triangular": (("left", None), ("mode", None), ("right", None)),
    "vonmises": (("mu", None), ("kappa", _not_negative)),
    "gamma64": (("shape", _not_negative),),
    "gamma32": (("shape", _not_negative),),
    "gamma": (("shape", _not_negative), ("scale", _not_negative)),
    "log_gamma": (("alpha", _positive),),
    "chisquare": (("df", _positive),),
    "beta": (("a", _positive), ("b", _positive)),
    "f": (("dfnum", _positive), ("dfden", _positive)),
    "student_t": (("df", _positive),),
    "noncentral_chisquare": (("df", _positive), ("nonc", _not_negative)),
    "noncentral_f": (("dfnum", _positive), ("dfden", _positive), ("nonc", _not_negative)),
    "poisson": (("lam", _mean),),
    "binomial": (("n", _not_negative_whole), ("p", _chance)),
    "geometric": (("p", _chance_above_0),),
    "negative_binomial": (("n", _positive_number), ("p", _chance_above_0)),
    "zipf": (("a", _above_1),),
    "logseries": (("p", _chance_below_1),),
    "hypergeometric": (("ngood", _not_negative_whole), ("nbad", _not_negative_whole), ("nsample", _not_negative_whole)),
}


def _ordered(left: Any, mode: Any, right: Any) -> None:
    if _any(left > mode):
        raise ValueError("left > mode")
    if _any(mode > right):
        raise ValueError("mode > right")
    if _any(left == right):
        raise ValueError("left == right")


def _mean_fits(n: Any, p: Any) -> None:
    # Ten deviations of the gamma distributed mean above it.
    most = (1 - p) / p * (n + 10 * np.sqrt(n))
    if _any(most > _MOST_MEAN):
        raise ValueError("n too large or p too small, see Generator.negative_binomial Notes")


def _colours(good: Any, bad: Any, count: Any) -> None:
    if _any((good >= _MOST_COLOURS) | (bad >= _MOST_COLOURS)):
        raise ValueError("both ngood and nbad must be less than 1000000000")
    if _any(good + bad < count):
        raise ValueError("ngood + nbad < nsample")


# What parameters must be to each other: looked at before them, and after.
_BEFORE: dict[str, Callable[..., None]] = {"triangular": _ordered, "hypergeometric": _colours}
_TOGETHER: dict[str, Callable[..., None]] = {"negative_binomial": _mean_fits}


# Between which numbers no parameter is refused.
_SURE: dict[Check | None, tuple[float, float]] = {
    None: (-np.inf, np.inf),
    _not_negative: (0.0, np.inf),
    _positive: (0.0, np.inf),
    _chance_above_0: (0.0, 1.0),
    _chance_below_1: (0.0, 1.0),
    _above_1: (1.0, np.inf),
    _mean: (0.0, 1e18),
}

# Distributions whose parameters are floats that are looked at one by one, and these bounds.
QUICK: dict[str, tuple[tuple[float, float], ...]] = {
    name: tuple(_SURE[check] for _, check in parameters)
    for name, parameters in PARAMETERS.items()
    if name not in ("binomial", *_BEFORE, *_TOGETHER)
}


def is_number(x: Any) -> bool:
    """Whether a parameter is one number for all elements."""
    return isinstance(x, (bool, int, float, np.generic)) or (isinstance(x, np.ndarray) and x.ndim == 0)


def number(x: Any, dtype: np.dtype) -> Any:
    """A parameter that is one number, as Python's number of the type that it is computed with."""
    if dtype.kind == "f":
        return float(x)
    return operator.index(x) if isinstance(x, (int, np.integer)) else int(x)


def check_numbers(name: str, values: Sequence[Any]) -> None:
    """Refuses parameters that are numbers as NumPy does."""
    _check(name, [np.float64(x) if isinstance(x, float) else x for x in values], ["is NaN"] * len(values))


def _check(name: str, values: Sequence[Any], none: Sequence[str]) -> None:
    if name in _BEFORE:
        _BEFORE[name](*values)
    for (label, check), value, words in zip(PARAMETERS[name], values, none):
        if check is not None:
            check(value, label, words)
    if name in _TOGETHER:
        _TOGETHER[name](*values)


def checked_arrays(name: str, values: Sequence[Any], dtypes: Sequence[np.dtype], device: Any) -> list[ndarray]:
    """Parameters as arrays of the types that they are computed with, none of which is refused.

    Elements are looked at. While a function is captured there are none: then it is looked when the graph runs.
    """
    none = ["contains NaNs" if np.ndim(_plain(x)) else "is NaN" for x in values]
    for x, dtype in zip(values, dtypes):
        given = getattr(_plain(x), "dtype", dtype)
        if dtype.kind in "iu" and not np.can_cast(given, dtype, "safe"):
            raise TypeError(f"Cannot cast array data from {given!r} to {dtype!r} according to the rule 'safe'")
    arrays = [_array(x, dtype, device) for x, dtype in zip(values, dtypes)]

    def check(given: Sequence[ndarray]) -> None:
        _check(name, [_to_numpy(x) for x in given], none)

    try:
        check(arrays)
    except CaptureError:

        def again(given: list[ndarray]) -> list[ndarray]:
            check(given)
            return [_cast(x, x.dtype) for x in given]

        return _capture_call(again, arrays, [_like(x) for x in arrays])
    return arrays


def _like(x: ndarray) -> ndarray:
    from weft._weft import _full

    return _full(x.shape, 0, x.dtype, x.device)


def _plain(x: Any) -> Any:
    return x if isinstance(x, (ndarray, np.ndarray)) else np.asarray(x)


def _array(x: Any, dtype: np.dtype, device: Any) -> ndarray:
    if isinstance(x, ndarray):
        if x.dtype.kind == "c":
            raise TypeError(f"Cannot cast array data from {x.dtype!r} to {dtype!r} according to the rule 'safe'")
        return x if x.dtype == dtype else _cast(x, dtype)
    given = np.asarray(x)
    if given.ndim == 0 and given.dtype.kind == "O":
        # What is no number is told so.
        given = np.asarray(math.fabs(x) * math.copysign(1, x))
    if given.dtype.kind not in "biuf":
        given = np.asarray(x, dtype)
    return array_of(given.astype(dtype, copy=False), device=device)


def shape_of_size(size: Any) -> Shape:
    """The shape that `size` names."""
    if type(size) is int:
        shape: Shape = (size,)
    elif size is None:
        return ()
    elif isinstance(size, (tuple, list, np.ndarray, ndarray)):
        shape = tuple(operator.index(n) for n in size)
    else:
        try:
            shape = (operator.index(size),)
        except TypeError:
            if isinstance(size, str):
                raise TypeError(f"{type(size).__name__!r} object cannot be interpreted as an integer") from None
            raise TypeError(f"expected a sequence of integers or a single integer, got '{size}'") from None
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    return shape


def shape_with(size: Any, shapes: Sequence[Shape]) -> Shape:
    """The shape of a result of parameters of these shapes, which must be `size` where that is given."""
    dummies = [np.broadcast_to(0, shape) for shape in shapes]
    if size is None:
        return np.broadcast(*dummies).shape
    wanted = shape_of_size(size)
    found = np.broadcast(np.broadcast_to(0, wanted), *dummies).shape
    if found != wanted:
        given = np.broadcast(*dummies).shape
        raise ValueError(f"Output size {wanted} is not compatible with broadcast dimensions of inputs {given}.")
    return found
