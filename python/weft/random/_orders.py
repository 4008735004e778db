"""Random orders and choices of what there is, and normal numbers that depend on each other."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import MutableSequence
from typing import Any

import numpy as np

from weft import njit
from weft._weft import _assign, _full, _iota, _to_numpy, ndarray
from weft.arrays._common import array_of, axis_of, checked_out, u
from weft.arrays._compiled import on_hosts
from weft.arrays.gathering import take, take_along_axis
from weft.arrays.searching import searchsorted
from weft.arrays.shapes import moveaxis
from weft.arrays.sorting import argsort

from ._bit_generators import Shape, counting, current
from ._drawing import Drawing
from ._draws import draw, known
from ._parameters import shape_of_size

_permutation = known("permutation")
_shuffled_rows = known("shuffled_rows")
_chosen = known("chosen")


@njit
def _order(picks):
    return _permutation(picks)


@njit
def _orders(picks):
    return _shuffled_rows(picks)


@njit
def _some(picks, population):
    return _chosen(picks, population)


class Orders(Drawing):
    """Methods that put in order and choose. Orders are made at once, on the host, by numbers that are drawn as others are."""

    def permutation(self, x: Any, axis: int = 0) -> ndarray:
        """The numbers below `x` in a random order, or an array's parts along an axis.

        >>> weft.sort(weft.random.default_rng(7).permutation(5))
        array([0, 1, 2, 3, 4])
        """
        if isinstance(x, (int, np.integer)):
            return self._ordering(max(0, int(x))).to_device(current())
        x = array_of(x)
        axis = axis_of(axis, x.ndim)
        return take(x, self._ordering(x.shape[axis]), axis)

    def _ordering(self, n: int) -> ndarray:
        return on_hosts(_order, self._picks((n,), _iota(n, 0, 1, np.uint64, counting(current()))))

    def _picks(self, shape: Shape, lasts: ndarray) -> ndarray:
        """For each step of an exchange a number from 0 to the last one that it may be exchanged with."""
        first = _full((), 0, np.uint64, lasts.device)
        return self._bit_generator.draw_for(draw("below"), shape, [first, lasts], np.int64)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Puts the parts of an array along an axis, or of a list, in a random order, in place.

        >>> x = weft.arange(5)
        >>> weft.random.default_rng(7).shuffle(x)
        >>> int(x.sum())
        10
        """
        if isinstance(x, ndarray):
            checked_out(x)
            if x.ndim == 0:
                raise TypeError("len() of unsized object")
            axis = axis_of(axis, x.ndim)
            _assign(x, take(x, self._ordering(x.shape[axis]), axis))
        elif isinstance(x, np.ndarray):
            if x.ndim == 0:
                raise TypeError("len() of unsized object")
            axis = axis_of(axis, x.ndim)
            x[...] = np.take(x, _to_numpy(self._ordering(x.shape[axis])), axis)
        else:
            if axis != 0:
                raise NotImplementedError("Axis argument is only supported on ndarray objects")
            if not isinstance(x, MutableSequence):
                raise TypeError(f"shuffle takes an array or a mutable sequence, not {type(x).__name__}")
            x[:] = [x[i] for i in self._ordering(len(x)).tolist()]

    def permuted(self, x: Any, axis: int | None = None, out: ndarray | None = None) -> ndarray:
        """A copy with the elements along an axis in random orders, each row in one of its own; all elements, if no axis is given.

        >>> weft.sort(weft.random.default_rng(7).permuted([[1, 2, 3], [4, 5, 6]], axis=1), axis=1)
        array([[1, 2, 3],
               [4, 5, 6]])
        """
        x = array_of(x)
        if x.ndim == 0 and axis is None:
            raise TypeError("len() of unsized object")
        if axis is None:
            found = take(x.reshape(-1), self._ordering(x.size)).reshape(x.shape)
        else:
            axis = axis_of(axis, x.ndim)
            rows = moveaxis(x, axis, -1)
            n = x.shape[axis]
            picks = self._picks((math.prod(rows.shape[:-1]), n), _iota(n, 0, 1, np.uint64, counting(current())))
            order = on_hosts(_orders, picks)
            found = moveaxis(take_along_axis(rows, order.reshape(rows.shape), -1), -1, axis)
        if out is None:
            return found
        checked_out(out)
        if out.shape != x.shape:
            raise ValueError("out must have the same shape as x")
        if not np.can_cast(x.dtype, out.dtype, "safe"):
            raise TypeError(f"Cannot cast array data from {x.dtype!r} to {out.dtype!r} according to the rule 'safe'")
        _assign(out, found)
        return out

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True) -> ndarray:
        """Parts of an array along an axis, or numbers below `a`, each as likely, or as `p` says; none twice with `replace=False`.

        Without replacement and with `p`, each is taken as likely as `p` says among those that are left (Efraimidis and Spirakis, 2006).
        What is chosen comes in random order, whatever `shuffle` says.

        >>> x = weft.random.default_rng(7).choice(100, 50, replace=False)
        >>> len(weft.unique(x))
        50
        """
        shape = shape_of_size(size)
        count = math.prod(shape)
        a, population = _population(a, axis, count)
        chances = None if p is None else _chances(p, population)
        if replace:
            if chances is None:
                # With nothing to choose from nothing is asked for.
                last = max(population, 1) - 1
                places = self._bit_generator.draw(draw("below"), shape, (0, last), np.int64)
            else:
                sums = np.cumsum(chances)
                places = searchsorted(array_of(sums / sums[-1]), self._bit_generator.draw(draw("random64"), shape), side="right")
        else:
            places = self._without_replacement(population, count, chances).reshape(shape)
        return places.to_device(current()) if a is None else take(a, places, axis)

    def _without_replacement(self, population: int, count: int, chances: np.ndarray | None) -> ndarray:
        if count > population:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        if chances is None:
            lasts = u("subtract", np.uint64(max(population, 1) - 1), _iota(count, 0, 1, np.uint64, counting(current())))
            return on_hosts(_some, self._picks((count,), lasts), population)
        if np.count_nonzero(chances > 0) < count:
            raise ValueError("Fewer non-zero entries in p than size")
        # Exponentially distributed times at such rates: whoever comes first.
        with np.errstate(divide="ignore"):
            units = array_of(1.0 / chances)
        times = u("multiply", self._bit_generator.draw(draw("exponential64"), (population,)), units)
        return argsort(times)[:count]

    def bytes(self, length: int) -> bytes:
        """Random bytes.

        >>> len(weft.random.default_rng(7).bytes(10))
        10
        """
        length = int(length)
        words = self._bit_generator.draw(draw("bits"), (max(0, -(-length // 8)),))
        return _to_numpy(words).astype("<u8").tobytes()[: max(0, length)]

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8, *, method: str = "svd"
    ) -> ndarray:
        """Normal numbers along a last axis with these means and covariances, which are factored on the host.

        What is no covariance is found by `check_valid`: a warning, a ValueError ('raise'), or nothing ('ignore').

        >>> weft.random.default_rng(7).multivariate_normal([0.0, 1.0], [[2.0, 1.0], [1.0, 2.0]], 5).shape
        (5, 2)
        """
        if method not in {"eigh", "svd", "cholesky"}:
            raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
        mean, cov = (np.asarray(_to_numpy(x) if isinstance(x, ndarray) else x) for x in (mean, cov))
        if np.iscomplexobj(mean) or np.iscomplexobj(cov):
            raise TypeError("mean and cov must not be complex")
        if mean.ndim != 1:
            raise ValueError("mean must be 1 dimensional")
        if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
            raise ValueError("cov must be 2 dimensional and square")
        if len(mean) != len(cov):
            raise ValueError("mean and cov must have same length")
        if check_valid not in ("warn", "raise", "ignore"):
            raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
        factor = _factor(cov.astype(np.float64), check_valid, tol, method)
        shape = (*shape_of_size(size), len(mean))
        x = self._bit_generator.draw(draw("normal64"), shape)
        # Rows times a matrix as sums of their own: the same in whatever company they are drawn.
        products = u("multiply", x[..., None, :], array_of(np.ascontiguousarray(factor)))
        return u("add", products.sum(axis=-1), array_of(mean.astype(np.float64)))


def _population(a: Any, axis: int, count: int) -> tuple[ndarray | None, int]:
    """The array that is chosen from, none of numbers; how many parts it has."""
    if isinstance(a, (int, np.integer)) or (np.ndim(a) == 0 and not isinstance(a, ndarray)):
        try:
            n = operator.index(a.item() if isinstance(a, np.ndarray) else a)
        except TypeError:
            raise ValueError(f"a must be a sequence or an integer, not {type(a)}") from None
        if n <= 0 and count != 0:
            raise ValueError("a must be a positive integer unless no samples are taken")
        return None, n
    a = array_of(a)
    if a.ndim == 0:
        return _population(int(a), axis, count)
    n = a.shape[axis]
    if n == 0 and count != 0:
        raise ValueError("a cannot be empty unless no samples are taken")
    return a, n


def _chances(p: Any, population: int) -> np.ndarray:
    kind = p.dtype if isinstance(p, (ndarray, np.ndarray)) else np.dtype(np.float64)
    p = np.asarray(_to_numpy(p) if isinstance(p, ndarray) else p, np.float64)
    near = np.sqrt(np.finfo(kind if kind.kind == "f" else np.float64).eps)
    if p.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if p.size != population:
        raise ValueError("a and p must have same size")
    if np.isnan(p.sum()):
        raise ValueError("Probabilities contain NaN")
    if np.any(p < 0):
        raise ValueError("Probabilities are not non-negative")
    if abs(p.sum() - 1.0) > max(near, np.sqrt(np.finfo(np.float64).eps)):
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")
    return p


def _factor(cov: np.ndarray, check_valid: str, tol: float, method: str) -> np.ndarray:
    """A matrix whose product with its transpose is the covariances."""
    if method == "cholesky":
        return np.linalg.cholesky(cov)
    if method == "svd":
        vectors, sizes, others = np.linalg.svd(cov)
        valid = np.allclose(np.dot(others.T * sizes, others), cov, rtol=tol, atol=tol)
    else:
        sizes, vectors = np.linalg.eigh(cov)
        valid = not np.any(sizes < -tol)
    if not valid:
        if check_valid == "raise":
            raise ValueError("covariance is not symmetric positive-semidefinite.")
        if check_valid == "warn":
            warnings.warn("covariance is not symmetric positive-semidefinite.", RuntimeWarning, stacklevel=3)
    return vectors * np.sqrt(np.abs(sizes))
