"""Distributions of whole numbers, by NumPy's names."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from weft import njit
from weft._weft import _full, _to_numpy, ndarray
from weft.arrays._common import array_of

from ._bit_generators import counting, current
from ._drawing import Drawing, _device_of
from ._draws import draw, known
from ._parameters import is_number, shape_of_size, shape_with

_INTEGERS = {np.dtype(letter) for letter in "?bBhHiIlL"}
_WORD = 2**64
_MOST = 2**63 - 1

_multinomial = known("multinomial")
_multivariate_hypergeometric = known("multivariate_hypergeometric")


@njit
def _multinomial_rows(source, counts, chances):
    return _multinomial(source, counts, chances)


@njit
def _colour_rows(source, colors, count, rows):
    return _multivariate_hypergeometric(source, colors, count, rows)


class Counts(Drawing):
    """Methods that draw whole numbers: int64, but for `integers`. Parameters are as those of `Continuous`."""

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False) -> ndarray:
        """From `low` to below `high`, or to it with `endpoint`; from 0 to below `low`, if that is all there is.

        Each is exactly as likely as the others (Lemire, 2019): 64 bits times the count of numbers, and the few bits of which some numbers
        would have more are drawn anew. Bounds beyond the dtype are ValueErrors.

        >>> x = weft.random.default_rng(7).integers(1, 7, 1000)
        >>> int(x.min()), int(x.max())
        (1, 6)
        """
        return self._integers(low, high, size, dtype, endpoint, "integers")

    def _integers(self, low: Any, high: Any, size: Any, dtype: Any, endpoint: bool, function: str) -> ndarray:
        dtype, least, most = _RANGES.get(dtype) or _integer_dtype(dtype, function)
        if high is None:
            low, high = 0, low
        if is_number(low) and is_number(high):
            first, last = int(low), int(high) - (not endpoint)
            if size is not None and math.prod(shape_of_size(size)) == 0:
                # Nobody asks for the bounds.
                return _full(shape_of_size(size), 0, dtype)
            if not least <= first <= last <= most:
                _check_bounds(first, last, dtype, endpoint)
            return self._bit_generator.draw(draw("below"), shape_of_size(size), (first % _WORD, last - first), dtype)
        firsts, spans = _spans(low, high, dtype, endpoint)
        shape = shape_with(size, [firsts.shape, spans.shape])
        device = _device_of((low, high)) or current()
        bounds = [array_of(x, device=counting(device)) for x in (firsts, spans)]
        return self._bit_generator.draw_for(draw("below"), shape, bounds, dtype, device)

    def binomial(self, n: Any, p: Any, size: Any = None) -> ndarray:
        """Successes among `n` tries, by search or by Hörmann's BTRS (1993).

        >>> weft.random.default_rng(7).binomial(10, 0.5, 3).dtype
        dtype('int64')
        """
        return self._of("binomial", size, n, p)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> ndarray:
        """Events of which there are `lam` in the mean, by search or by Hörmann's PTRS (1993).

        >>> weft.random.default_rng(7).poisson([1.0, 100.0]).shape
        (2,)
        """
        return self._of("poisson", size, lam)

    def geometric(self, p: Any, size: Any = None) -> ndarray:
        """Tries up to the first success.

        >>> int(weft.random.default_rng(7).geometric(0.2, 100).min()) >= 1
        True
        """
        return self._of("geometric", size, p)

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> ndarray:
        """Failures up to `n` successes; `n` need not be whole.

        >>> weft.random.default_rng(7).negative_binomial(3, 0.5, 2).shape
        (2,)
        """
        return self._of("negative_binomial", size, n, p)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> ndarray:
        """Good ones among `nsample` that are taken of `ngood` and `nbad`, by search or after Devroye (1986).

        >>> int(weft.random.default_rng(7).hypergeometric(5, 3, 8))
        5
        """
        return self._of("hypergeometric", size, ngood, nbad, nsample)

    def zipf(self, a: Any, size: Any = None) -> ndarray:
        """Numbers k from 1 on, each as likely as k to the `-a`, after Devroye (1986); of those that an int64 holds.

        >>> int(weft.random.default_rng(7).zipf(2.0, 100).min())
        1
        """
        return self._of("zipf", size, a)

    def logseries(self, p: Any, size: Any = None) -> ndarray:
        """Numbers k from 1 on, each as likely as p to the k over k, after Kemp (1981).

        >>> int(weft.random.default_rng(7).logseries(0.5, 100).min())
        1
        """
        return self._of("logseries", size, p)

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> ndarray:
        """How many of `n` fall to each of some outcomes, along a last axis. At once: each count depends on those before it.

        >>> weft.random.default_rng(7).multinomial(10, [0.5, 0.3, 0.2], size=4).sum(axis=1)
        array([10, 10, 10, 10])
        """
        counts, chances = _host(n), np.asarray(_host(pvals), np.float64)
        if chances.ndim == 0 or chances.shape[-1] == 0:
            raise ValueError("pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0.")
        counts = np.asarray(counts).astype(np.int64, casting="unsafe")
        if np.any(counts < 0):
            raise ValueError("n < 0")
        if not np.all((chances >= 0) & (chances <= 1)):
            raise ValueError("pvals < 0, pvals > 1 or pvals contains NaNs")
        if np.any(chances[..., :-1].sum(axis=-1) > 1.0 + 1e-12):
            raise ValueError(_too_much(pvals))
        shape = shape_with(size, [counts.shape, chances.shape[:-1]])
        outcomes = chances.shape[-1]
        rows = np.ascontiguousarray(np.broadcast_to(chances, (*shape, outcomes))).reshape(-1, outcomes)
        counts = np.ascontiguousarray(np.broadcast_to(counts, shape)).reshape(-1)
        full = (len(rows), outcomes)
        found = self._at_once(_multinomial_rows, len(rows) * outcomes, (full, np.int64), counts, rows)
        return found.reshape((*shape, outcomes))

    def multivariate_hypergeometric(self, colors: Any, nsample: Any, size: Any = None, method: str = "marginals") -> ndarray:
        """How many of each colour are among `nsample` that are taken, along a last axis. At once: each depends on those before it.

        Both of NumPy's methods, 'marginals' and 'count', are the first one here.

        >>> weft.random.default_rng(7).multivariate_hypergeometric([3, 5, 2], 10)
        array([3, 5, 2])
        """
        if method not in ("count", "marginals"):
            raise ValueError('method must be "count" or "marginals".')
        try:
            nsample = operator.index(nsample)
        except TypeError:
            raise ValueError("nsample must be an integer") from None
        if nsample > _MOST:
            raise ValueError(f"nsample must not exceed {_MOST}")
        colors = np.asarray(_host(colors))
        if colors.shape == (0,):
            colors = colors.astype(np.int64)
        if colors.ndim != 1 or colors.dtype.kind not in "iu" or np.any(colors < 0) or np.any(colors > _MOST):
            raise ValueError(f"colors must be a one-dimensional sequence of nonnegative integers not exceeding {_MOST}.")
        if nsample < 0:
            raise ValueError("nsample must be nonnegative.")
        total = sum(colors.tolist())
        if method == "marginals" and total >= 10**9:
            raise ValueError('When method is "marginals", sum(colors) must be less than 1000000000.')
        if total > _MOST:
            raise ValueError(f"sum(colors) must not exceed the maximum value of a 64 bit signed integer ({_MOST})")
        if method == "count" and total > _MOST // 8:
            raise ValueError(f"When method is 'count', sum(colors) must not exceed {_MOST // 8}")
        if nsample > total:
            raise ValueError("nsample > sum(colors)")
        shape = shape_of_size(size)
        rows = math.prod(shape)
        full = (rows, len(colors))
        found = self._at_once(_colour_rows, rows * len(colors), (full, np.int64), colors.astype(np.int64), nsample, rows)
        return found.reshape((*shape, len(colors)))


def _too_much(pvals: Any) -> str:
    """NumPy's words for chances that are more than 1 together."""
    within = "...," if np.ndim(pvals) > 1 else ""
    given = getattr(pvals, "dtype", None)
    if given is not None and given.kind == "f" and given != np.float64 and float(np.asarray(_host(pvals)).sum()) < 1.0001:
        return (
            f"sum(pvals[{within}:-1].astype(np.float64)) > 1.0. The pvals array is cast to 64-bit floating point prior to checking the "
            "sum. Precision changes when casting may cause problems even if the sum of the original pvals is valid."
        )
    return f"sum(pvals[{within}:-1]) > 1.0"


def _host(x: Any) -> Any:
    return _to_numpy(x) if isinstance(x, ndarray) else x


def _integer_dtype(dtype: Any, function: str) -> tuple[np.dtype, int, int]:
    given = np.dtype(dtype)
    if not given.isnative:
        raise ValueError(
            "Providing a dtype with a non-native byteorder is not supported. If you require platform-independent byteorder, call "
            "byteswap when required."
        )
    if given not in _INTEGERS:
        raise TypeError(f"Unsupported dtype {given!r} for {function}")
    return given, *_ends(given)


def _ends(dtype: np.dtype) -> tuple[int, int]:
    return (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


# By the types that most name a dtype by.
_RANGES: dict[Any, tuple[np.dtype, int, int]] = {dtype.type: (dtype, *_ends(dtype)) for dtype in _INTEGERS}


def _check_bounds(low: Any, last: Any, dtype: np.dtype, endpoint: bool) -> None:
    least, most = _ends(dtype)
    if np.any(low < least):
        raise ValueError(f"low is out of bounds for {dtype}")
    if np.any(last > most):
        raise ValueError(f"high is out of bounds for {dtype}")
    if np.any(low > last):
        if np.any(low):
            raise ValueError("low > high" if endpoint else "low >= high")
        raise ValueError("high < 0" if endpoint else "high <= 0")


def _spans(low: Any, high: Any, dtype: np.dtype, endpoint: bool) -> tuple[np.ndarray, np.ndarray]:
    """The first numbers modulo 2^64, and how much further the last ones are."""
    lows, highs = (np.asarray(_host(x)) for x in (low, high))
    if all(x.dtype.kind in "biu" and x.dtype != np.uint64 for x in (lows, highs)) and (endpoint or np.all(highs > -_MOST)):
        lows, lasts = lows.astype(np.int64), highs.astype(np.int64) - (not endpoint)
        _check_bounds(lows, lasts, dtype, endpoint)
        return lows.astype(np.uint64), lasts.astype(np.uint64) - lows.astype(np.uint64)
    # Python's integers: none overflows on the way.
    lows, highs = (np.array([int(each) for each in x.reshape(-1).tolist()], object).reshape(x.shape) for x in (lows, highs))
    lasts = np.asarray(highs - (not endpoint), object)
    _check_bounds(lows, lasts, dtype, endpoint)
    return np.asarray(lows % _WORD, object).astype(np.uint64), np.asarray(lasts - lows, object).astype(np.uint64)
