"""Distributions of floats, by NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _capture_call, _cast, _to_numpy, ndarray
from weft.arrays._common import u
from weft.errors import CaptureError

from ._drawing import Drawing, _device_of
from ._draws import draw
from ._parameters import _array, _like, is_number, shape_of_size, shape_with

_RANDOM64 = draw("random64")


class Continuous(Drawing):
    """Methods that draw floats. Parameters broadcast against each other to the result's shape, or to `size`, where that is given.

    Parameters that no distribution has are ValueErrors, in NumPy's words; shapes that do not fit are, too.
    """

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> ndarray:
        """Numbers from 0 to below 1: 2^53 of them in float64, 2^24 in float32. Another dtype is a TypeError.

        >>> weft.random.default_rng(7).random(3).shape
        (3,)
        """
        if out is None and dtype is np.float64:
            return self._bit_generator.draw(_RANDOM64, shape_of_size(size))
        return self._floats("random", "random", size, dtype, out)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> ndarray:
        """Mean 0 and deviation 1, in float64 or float32: by Box and Muller, without rejection, up to 9.4 deviations.

        >>> weft.random.default_rng(7).standard_normal((2, 3)).shape
        (2, 3)
        """
        return self._floats("normal", "standard_normal", size, dtype, out)

    def standard_exponential(self, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None) -> ndarray:
        """Mean 1, in float64 or float32. Both of NumPy's methods, 'zig' and 'inv', mean the inverse function here.

        >>> bool((weft.random.default_rng(7).standard_exponential(100) >= 0).all())
        True
        """
        if method not in ("zig", "inv"):
            raise ValueError(f"method is 'zig' or 'inv', not {method!r}")
        return self._floats("exponential", "standard_exponential", size, dtype, out)

    def standard_gamma(self, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> ndarray:
        """Gamma distribution of scale 1, in float64 or float32, by Marsaglia and Tsang (2000).

        >>> weft.random.default_rng(7).standard_gamma([1.0, 2.0]).shape
        (2,)
        """
        return self._floats("gamma", "standard_gamma", size, dtype, out, shape)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> ndarray:
        """From `low` to below `high`; a range that is no number is an OverflowError.

        >>> x = weft.random.default_rng(7).uniform(-1, 1, 1000)
        >>> bool((x >= -1).all() and (x < 1).all())
        True
        """
        what = draw("uniform")
        if is_number(low) and is_number(high):
            low = float(low)
            span = float(high) - low
            _check_span(np.float64(span))
            return self._bit_generator.draw(what, shape_of_size(size), (low, span))
        device = _device_of((low, high))
        low, high = (_array(x, np.dtype(np.float64), device) for x in (low, high))
        shape = shape_with(size, [low.shape, high.shape])
        return self._bit_generator.draw_for(what, shape, [low, _checked_span(u("subtract", high, low))])

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Mean `loc` and deviation `scale`.

        >>> weft.random.default_rng(7).normal([0.0, 10.0], 0.1, size=(5, 2)).shape
        (5, 2)
        """
        return self._of("normal", size, loc, scale)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers whose logarithms are normally distributed.

        >>> bool((weft.random.default_rng(7).lognormal(size=100) > 0).all())
        True
        """
        return self._of("lognormal", size, mean, sigma)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Mean `scale`.

        >>> weft.random.default_rng(7).exponential(2.0, 4).shape
        (4,)
        """
        return self._of("exponential", size, scale)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Mean `shape * scale`, by Marsaglia and Tsang (2000).

        >>> weft.random.default_rng(7).gamma(2.0, 3.0, (2, 2)).shape
        (2, 2)
        """
        return self._of("gamma", size, shape, scale)

    def beta(self, a: Any, b: Any, size: Any = None) -> ndarray:
        """The share of one of two gamma distributed numbers.

        >>> x = weft.random.default_rng(7).beta(0.5, 2.0, 100)
        >>> bool((x >= 0).all() and (x <= 1).all())
        True
        """
        return self._of("beta", size, a, b)

    def chisquare(self, df: Any, size: Any = None) -> ndarray:
        """The sum of the squares of `df` normal numbers, which need not be whole.

        >>> weft.random.default_rng(7).chisquare(3, 2).shape
        (2,)
        """
        return self._of("chisquare", size, df)

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> ndarray:
        """The same of normal numbers whose means' squares add up to `nonc`.

        >>> weft.random.default_rng(7).noncentral_chisquare(3, 1.5, 2).shape
        (2,)
        """
        return self._of("noncentral_chisquare", size, df, nonc)

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> ndarray:
        """The quotient of two chi-square distributed numbers, each over its degrees of freedom.

        >>> weft.random.default_rng(7).f(3, 10, 2).shape
        (2,)
        """
        return self._of("f", size, dfnum, dfden)

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> ndarray:
        """The same with a noncentral numerator.

        >>> weft.random.default_rng(7).noncentral_f(3, 10, 1.5, 2).shape
        (2,)
        """
        return self._of("noncentral_f", size, dfnum, dfden, nonc)

    def standard_t(self, df: Any, size: Any = None) -> ndarray:
        """Student's t of `df` degrees of freedom.

        >>> weft.random.default_rng(7).standard_t(5, 2).shape
        (2,)
        """
        return self._of("student_t", size, df)

    def standard_cauchy(self, size: Any = None) -> ndarray:
        """The tangent of an angle.

        >>> weft.random.default_rng(7).standard_cauchy(2).shape
        (2,)
        """
        return self._of("cauchy", size)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Exponential to both sides of `loc`.

        >>> weft.random.default_rng(7).laplace(size=2).shape
        (2,)
        """
        return self._of("laplace", size, loc, scale)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> ndarray:
        """Numbers whose distribution function is the logistic one.

        >>> weft.random.default_rng(7).logistic(size=2).shape
        (2,)
        """
        return self._of("logistic", size, loc, scale)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> ndarray:
        """The distribution that largest values tend to.

        >>> weft.random.default_rng(7).gumbel(size=2).shape
        (2,)
        """
        return self._of("gumbel", size, loc, scale)

    def pareto(self, a: Any, size: Any = None) -> ndarray:
        """Pareto's distribution less 1 (Lomax's).

        >>> weft.random.default_rng(7).pareto(3.0, 2).shape
        (2,)
        """
        return self._of("pareto", size, a)

    def power(self, a: Any, size: Any = None) -> ndarray:
        """Between 0 and 1, with a density like x to the `a - 1`.

        >>> weft.random.default_rng(7).power(3.0, 2).shape
        (2,)
        """
        return self._of("power", size, a)

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> ndarray:
        """How far a point with two normal coordinates is from 0.

        >>> weft.random.default_rng(7).rayleigh(size=2).shape
        (2,)
        """
        return self._of("rayleigh", size, scale)

    def wald(self, mean: Any, scale: Any, size: Any = None) -> ndarray:
        """Inverse Gaussian distribution, by Michael, Schucany and Haas (1976).

        >>> weft.random.default_rng(7).wald(1.0, 2.0, 2).shape
        (2,)
        """
        return self._of("wald", size, mean, scale)

    def weibull(self, a: Any, size: Any = None) -> ndarray:
        """A power of an exponentially distributed number.

        >>> weft.random.default_rng(7).weibull(1.5, 2).shape
        (2,)
        """
        return self._of("weibull", size, a)

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> ndarray:
        """A density that rises from `left` to `mode` and falls to `right`.

        >>> weft.random.default_rng(7).triangular(0, 1, 4, 2).shape
        (2,)
        """
        return self._of("triangular", size, left, mode, right)

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> ndarray:
        """Angles from -pi to pi around `mu`, by Best and Fisher (1979).

        >>> weft.random.default_rng(7).vonmises(0.0, 4.0, 2).shape
        (2,)
        """
        return self._of("vonmises", size, mu, kappa)

    def dirichlet(self, alpha: Any, size: Any = None) -> ndarray:
        """Shares that add up to 1, along a last axis: gamma distributed numbers over their sum. Negative `alpha` are a ValueError.

        >>> weft.random.default_rng(7).dirichlet([1.0, 2.0, 3.0], 5).shape
        (5, 3)
        """
        alpha = np.asarray(_to_numpy(alpha) if isinstance(alpha, ndarray) else alpha, np.float64)
        if alpha.ndim != 1:
            raise ValueError("alpha has one axis")
        if np.any(alpha < 0):
            raise ValueError("alpha < 0")
        shape = (*shape_of_size(size), len(alpha))
        if not np.any(alpha != 0):
            # There is nothing to share out, or nobody to.
            return self.random(shape) * 0.0
        x = self._bit_generator.draw_for(draw("log_gamma"), shape, [_array(alpha, alpha.dtype, None)])
        x = u("exp", u("subtract", x, x.max(axis=-1, keepdims=True)))
        return u("true_divide", x, x.sum(axis=-1, keepdims=True))


def _check_span(span: Any) -> None:
    if not np.all(np.isfinite(span)):
        raise OverflowError("Range exceeds valid bounds" if np.ndim(span) else "high - low range exceeds valid bounds")
    if np.any(np.signbit(span)):
        raise ValueError("high - low < 0")


def _checked_span(span: ndarray) -> ndarray:
    """The same, looked at now or, in a captured graph, whenever it runs."""
    try:
        _check_span(_to_numpy(span))
    except CaptureError:

        def again(given: list[ndarray]) -> list[ndarray]:
            _check_span(_to_numpy(given[0]))
            return [_cast(given[0], given[0].dtype)]

        return _capture_call(again, [span], [_like(span)])[0]
    return span
