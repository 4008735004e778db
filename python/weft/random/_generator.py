"""`Generator`: NumPy's, over Weft's bit generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bit_generators import BitGenerator, Philox4x32
from ._continuous import Continuous
from ._counts import Counts
from ._orders import Orders


class Generator(Continuous, Counts, Orders):
    """Random numbers of a bit generator: NumPy's `Generator`, whose arrays are lazy and whose bits are those of `bit_generator`.

    Over `Philox4x32` each element is a function of its place in the stream: `rng.random(6)` is `rng.random(2)` and `rng.random(4)` behind
    each other, on every device. Drawing moves the place on at once, by as many elements as the result has; numbers are made when somebody
    looks, and not stored on the way to what uses them. Any thread may draw; no two draws get the same places.

    >>> rng = weft.random.Generator(weft.random.Philox4x32(7))
    >>> x, y = rng.random(100_000), rng.random(100_000)
    >>> 3.1 < float((x * x + y * y < 1).mean() * 4) < 3.2
    True
    """

    def __init__(self, bit_generator: BitGenerator) -> None:
        if not isinstance(bit_generator, BitGenerator):
            raise TypeError(f"Generator takes a bit generator of weft.random, not {type(bit_generator).__name__}")
        self._bit_generator = bit_generator

    @property
    def bit_generator(self) -> BitGenerator:
        """Where the bits come from."""
        return self._bit_generator

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators with streams of their own.

        >>> len(weft.random.default_rng(7).spawn(3))
        3
        """
        return [type(self)(child) for child in self._bit_generator.spawn(n_children)]

    def __repr__(self) -> str:
        return f"{self} at 0x{id(self):X}"

    def __str__(self) -> str:
        return f"{type(self).__name__}({type(self._bit_generator).__name__})"

    def __reduce__(self) -> Any:
        return type(self), (self._bit_generator,)


def default_rng(seed: Any = None) -> Generator:
    """A generator over `Philox4x32`. A generator or a bit generator that is given is what it is over.

    seed: an integer, a sequence of them, a `SeedSequence`, or None for bits of the operating system's.

    >>> weft.random.default_rng(7)  # doctest: +ELLIPSIS
    Generator(Philox4x32) at 0x...
    """
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, BitGenerator):
        return Generator(seed)
    if isinstance(seed, (np.random.Generator, np.random.BitGenerator, np.random.RandomState)):
        raise TypeError(f"default_rng takes a seed, or a generator of weft.random, not NumPy's {type(seed).__name__}")
    return Generator(Philox4x32(seed))
