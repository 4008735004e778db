"""NumPy's older names: `RandomState`, and the functions of `numpy.random` over one that the module holds."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from weft._weft import ndarray

from ._bit_generators import BitGenerator, Philox4x32
from ._continuous import Continuous
from ._counts import Counts
from ._draws import draw
from ._orders import Orders
from ._parameters import shape_of_size


class RandomState(Continuous, Counts, Orders):
    """NumPy's older methods over `Philox4x32`: the same names and arguments, and not the numbers of NumPy's MT19937.

    seed: an integer below 2^32, a sequence of them, None for bits of the operating system's, or a bit generator of `weft.random`.

    >>> weft.random.RandomState(7).rand(2, 3).shape
    (2, 3)
    """

    def __init__(self, seed: Any = None) -> None:
        self._bit_generator = seed if isinstance(seed, BitGenerator) else Philox4x32(_checked(seed))

    def seed(self, seed: Any = None) -> None:
        """Begins anew, as a new one of that seed. A seed that is negative or has more than 32 bits is a ValueError.

        >>> state = weft.random.RandomState(7)
        >>> first = state.rand(3)
        >>> state.seed(7)
        >>> bool((state.rand(3) == first).all())
        True
        """
        anew = type(self._bit_generator)(_checked(seed))
        self._bit_generator.state = anew.state
        self._bit_generator._seed_seq = anew.seed_seq

    def get_state(self, legacy: bool = False) -> Any:
        """The bit generator's state, a dict. `legacy=True`, MT19937's tuple, is a ValueError.

        >>> weft.random.RandomState(7).get_state()["bit_generator"]
        'Philox4x32'
        """
        if legacy:
            raise ValueError("legacy=True is for MT19937, and this is over " + type(self._bit_generator).__name__)
        return self._bit_generator.state

    def set_state(self, state: Any) -> None:
        """Goes on from a state that `get_state` gave."""
        if not isinstance(state, dict):
            raise TypeError("state must be a dict.")
        self._bit_generator.state = state

    def rand(self, *args: int) -> ndarray:
        """Numbers from 0 to below 1, of the axes that are given.

        >>> weft.random.rand(2, 3).shape
        (2, 3)
        """
        return self.random(args)

    def randn(self, *args: int) -> ndarray:
        """Normal numbers of the axes that are given.

        >>> weft.random.randn(2, 3).shape
        (2, 3)
        """
        return self.standard_normal(args)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> ndarray:
        """Whole numbers from `low` to below `high`, or from 0 to below `low`.

        >>> int(weft.random.randint(1, 7, 100).max()) <= 6
        True
        """
        return self._integers(low, high, size, dtype, False, "randint")

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> ndarray:
        """From `low` to `high`, or from 1 to `low`; deprecated, as in NumPy."""
        if high is None:
            warnings.warn(f"This function is deprecated. Please call randint(1, {low} + 1) instead", DeprecationWarning, stacklevel=2)
            low, high = 1, low
        else:
            words = f"This function is deprecated. Please call randint({low}, {high} + 1) instead"
            warnings.warn(words, DeprecationWarning, stacklevel=2)
        return self._integers(low, high, size, int, True, "randint")

    def tomaxint(self, size: Any = None) -> ndarray:
        """Whole numbers of an int64 that are not negative."""
        return self._integers(0, np.iinfo(np.int64).max, size, np.int64, True, "randint")

    def random_sample(self, size: Any = None) -> ndarray:
        """Numbers from 0 to below 1.

        >>> weft.random.random_sample(3).shape
        (3,)
        """
        return self._bit_generator.draw(draw("random64"), shape_of_size(size))

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> ndarray:
        """As `Generator.hypergeometric`, for samples of at least one."""
        if np.any(np.asarray(nsample) < 1):
            raise ValueError("nsample < 1 or nsample is NaN" if np.ndim(nsample) == 0 else "nsample < 1 or nsample contains NaNs")
        return super().hypergeometric(ngood, nbad, nsample, size)

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> ndarray:
        """As `Generator.multinomial`, for one number of trials and one row of chances."""
        if np.ndim(pvals) > 1:
            raise ValueError("pvals must have one dimension; weft.random.default_rng().multinomial takes stacks")
        if np.ndim(n):
            raise TypeError("an integer is required")
        return super().multinomial(int(n), pvals, size)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> ndarray:
        """As `Generator.choice`, along the only axis of an array."""
        if np.ndim(a) > 1:
            raise ValueError("a must be 1-dimensional")
        return super().choice(a, size, replace, p)

    def __reduce__(self) -> Any:
        return type(self), (self._bit_generator,)

    def __str__(self) -> str:
        return f"RandomState({type(self._bit_generator).__name__})"

    def __repr__(self) -> str:
        return f"{self} at 0x{id(self):X}"


def _checked(seed: Any) -> Any:
    """A seed as NumPy's RandomState takes it."""
    if seed is None:
        return None
    if isinstance(seed, ndarray):
        seed = seed.tolist()
    given = np.asarray(seed)
    if given.size == 0:
        raise ValueError("Seed must be non-empty")
    if given.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast scalar from {given.dtype!r} to dtype('int64') according to the rule 'safe'")
    if given.ndim > 1:
        raise ValueError("Seed array must be 1-d")
    if np.any(given < 0) or np.any(given > 2**32 - 1):
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    return operator.index(given[()]) if given.ndim == 0 else given.reshape(-1).tolist()
