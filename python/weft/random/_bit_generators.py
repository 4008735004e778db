"""Where random bits come from: Philox 4x32-10, which counts, and XORWOW, which goes from word to word."""

from __future__ import annotations

import functools
import math
import operator
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.random.bit_generator import ISeedSequence

from weft._weft import _adopt, _capture_call, _capture_number, _cast, _full, _iota, _reshape, _to_numpy, ndarray
from weft.arrays._common import stretched, u

from ._draws import Draw, draw, known

_WORD = 2**64 - 1
# Rows of this length are counted along their axes, so that what is drawn fuses into what uses it; shorter ones as one row.
_LONG = 256
# So many numbers of captures back some may be under way.
_CAPTURES = 64

Shape = tuple[int, ...]


_DRAWN = threading.local()


def drawn() -> int:
    """How often this thread drew from generators: for those who would call a function again that must give the same."""
    return getattr(_DRAWN, "count", 0)


def _noted(method: Any) -> Any:
    @functools.wraps(method)
    def noted(*args: Any, **keywords: Any) -> Any:
        _DRAWN.count = drawn() + 1
        return method(*args, **keywords)

    return noted


class BitGenerator:
    """What both generators are: a state, its lock, and the numbers that distributions draw.

    `seed` is an integer, a sequence of them, a `SeedSequence`, or None for bits of the operating system's.
    """

    def __init_subclass__(cls) -> None:
        """Every way to draw is noted."""
        for name in ("draw", "draw_for", "run", "_raw"):
            setattr(cls, name, _noted(getattr(cls, name)))

    def __init__(self, seed: Any = None) -> None:
        self._lock = threading.Lock()
        # What was drawn last by each capture, by its number; of those under way.
        self._last: dict[int, ndarray] = {}
        self._seed_seq = seed if isinstance(seed, ISeedSequence) else SeedSequence(seed)

    @property
    def seed_seq(self) -> Any:
        """What the state was made of."""
        return self._seed_seq

    @property
    def lock(self) -> Any:
        """The lock that is held while the state goes on."""
        return self._lock

    def spawn(self, n_children: int) -> list[Any]:
        """Generators with streams of their own, from children of the seed sequence.

        >>> [type(child).__name__ for child in weft.random.Philox4x32(7).spawn(2)]
        ['Philox4x32', 'Philox4x32']
        """
        if not hasattr(self._seed_seq, "spawn"):
            raise TypeError("The underlying SeedSequence does not implement spawning.")
        return [type(self)(child) for child in self._seed_seq.spawn(n_children)]

    def __getstate__(self) -> Any:
        return {"state": self.state, "seed_seq": self._seed_seq}

    def __setstate__(self, given: Any) -> None:
        BitGenerator.__init__(self, given["seed_seq"])
        self._begin()
        self.state = given["state"]

    def _begin(self) -> None:
        raise NotImplementedError

    state: Any

    def _checked_state(self, value: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError("state must be a dict")
        name = type(self).__name__
        if value.get("bit_generator") != name:
            raise ValueError(f"state must be for a {name} RNG")
        return value["state"]

    def draw(self, what: Draw, shape: Shape, numbers: tuple[Any, ...] = (), dtype: Any = None) -> ndarray:
        """An array of a shape, in a dtype if not the function's own: its numbers, with the same parameters for all."""
        raise NotImplementedError

    def draw_for(self, what: Draw, shape: Shape, arrays: Sequence[ndarray], dtype: Any = None, device: Any = None) -> ndarray:
        """The same with parameters of arrays that broadcast to the shape, on the device of the first one if none is named."""
        raise NotImplementedError

    def run(self, function: Any, count: int, *values: Any) -> Any:
        """What a compiled function of a source and of values gives, to which so many elements of the stream belong."""
        raise NotImplementedError

    def captured(self, number: int, again: Any, operands: Sequence[ndarray], like: list[ndarray]) -> list[ndarray]:
        """What is drawn anew whenever the graph that is being captured runs: `again` is given the operands then.

        Graphs run in an order of their own, but what is drawn is drawn in that of the function: each waits for the one before.
        """
        before = [self._last[number]] if number in self._last else []
        found = _capture_call(lambda given: again(given[len(before) :]), [*before, *operands], like)
        with self._lock:
            self._last = {each: last for each, last in self._last.items() if each > number - _CAPTURES} | {number: found[0]}
        return found

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """Bits as the generator makes them: of Philox the first 64 of each element's 128, of XORWOW words of 32.

        >>> weft.random.Philox4x32(key=0).random_raw(1)
        array([7361108121267848589], dtype=uint64)
        """
        made = self._raw(() if size is None else _shape(size))
        return made if output else None

    def _raw(self, shape: Shape) -> ndarray:
        raise NotImplementedError


def _shape(size: Any) -> Shape:
    if isinstance(size, (int, np.integer)):
        size = (size,)
    found = tuple(operator.index(n) for n in size)
    if any(n < 0 for n in found):
        raise ValueError("negative dimensions are not allowed")
    return found


class Philox4x32(BitGenerator):
    """Philox 4x32-10 of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3", SC 2011), counted per element.

    Element i of the stream is made of the block whose 128-bit counter is i in its lower half, under a key of 64 bits: it does not depend
    on the device, on threads, or on how many elements are drawn together. What needs more than 128 bits counts in the third word.

    seed: spread into the key by `SeedSequence`.
    counter: the place in the stream to begin at; what stands above its lower 64 bits is the upper half of all counters.
    key: the key itself, instead of a seed.
    """

    def __init__(self, seed: Any = None, *, counter: int = 0, key: int | None = None) -> None:
        if seed is not None and key is not None:
            raise ValueError("seed and key cannot be both used")
        super().__init__(seed)
        counter = operator.index(counter)
        if not 0 <= counter < 2**128:
            raise ValueError("counter must be positive and less than 2**128.")
        self._position, self._high = counter & _WORD, counter >> 64
        if key is None:
            key = int(self._seed_seq.generate_state(1, np.uint64)[0])
        self._key = operator.index(key)
        if not 0 <= self._key <= _WORD:
            raise ValueError("key must be positive and less than 2**64.")

    def _begin(self) -> None:
        self._position = self._high = self._key = 0

    @property
    def state(self) -> Any:
        """A dict: `bit_generator`, and in `state` the counter of the next element and the key, which can be set."""
        with self._lock:
            counter = self._position | self._high << 64
            return {"bit_generator": "Philox4x32", "state": {"counter": counter, "key": self._key}}

    @state.setter
    def state(self, value: Any) -> None:
        given = self._checked_state(value)
        counter, key = operator.index(given["counter"]), operator.index(given["key"])
        if not (0 <= counter < 2**128 and 0 <= key <= _WORD):
            raise ValueError("a counter has 128 bits and a key 64")
        with self._lock:
            self._position, self._high, self._key = counter & _WORD, counter >> 64, key

    def advance(self, delta: int) -> Philox4x32:
        """Goes on as if so many elements had been drawn; backwards for negative numbers.

        >>> a, b = weft.random.Philox4x32(7), weft.random.Philox4x32(7)
        >>> _ = a.random_raw(5)
        >>> a.state == b.advance(5).state
        True
        """
        with self._lock:
            self._position = (self._position + operator.index(delta)) & _WORD
        return self

    def jumped(self, jumps: int = 1) -> Philox4x32:
        """A generator whose stream meets this one's nowhere: its counters are so many times 2^96 on."""
        jumps = operator.index(jumps)
        with self._lock:
            counter = self._position | ((self._high + (jumps << 32)) & _WORD) << 64
            made = Philox4x32(counter=counter, key=self._key)
        made._seed_seq = self._seed_seq
        return made

    def _take(self, count: int) -> tuple[int, int, int]:
        """The place of so many elements, which belong to the caller from now on; the upper half of their counters; the key."""
        with self._lock:
            position = self._position
            self._position = (position + count) & _WORD
            return position, self._high, self._key

    def draw(self, what: Draw, shape: Shape, numbers: tuple[Any, ...] = (), dtype: Any = None) -> ndarray:
        """See `BitGenerator`."""
        captured = _capture_number()
        if captured is not None or (len(shape) > 1 and shape[-1] >= _LONG):
            device = current()
            arrays = [_full((), number, kind, counting(device)) for number, kind in zip(numbers, what.dtypes)]
            return self._counted(what, shape, arrays, device, captured, dtype)
        count = shape[0] if len(shape) == 1 else math.prod(shape)
        with self._lock:
            position = self._position
            self._position = (position + count) & _WORD
            high, key = self._high, self._key
        return what.ufunc._draw(shape, position, high, key, what.kinds, numbers, dtype)

    def draw_for(self, what: Draw, shape: Shape, arrays: Sequence[ndarray], dtype: Any = None, device: Any = None) -> ndarray:
        """See `BitGenerator`."""
        return self._counted(what, shape, arrays, device or arrays[0].device, _capture_number(), dtype)

    def _counted(self, what: Draw, shape: Shape, arrays: Sequence[ndarray], device: Any, captured: int | None, dtype: Any) -> ndarray:
        home = counting(device)
        if home != device:
            found = self._counted(what, shape, [array.to_device(home) for array in arrays], home, captured, dtype)
            return found.to_device(device)
        if captured is None:
            position, high, key = self._take(math.prod(shape))
            counters = _counters(shape, position, device)
            source = [np.uint64(high), np.uint64(key)]
        else:
            first, *source = self._place_in(captured, math.prod(shape), device)
            counters = u("add", _counters(shape, 0, device), first)
        found = what.ufunc(counters, *source, *(stretched(array, shape) if array.ndim else array for array in arrays))
        return found if dtype is None else _cast(found, dtype)

    def _place_in(self, captured: int, count: int, device: Any) -> list[ndarray]:
        """What `_take` gives, as arrays that are taken anew whenever the graph that is being captured runs."""

        def again(_: list[ndarray]) -> list[ndarray]:
            return [_full((), number, np.uint64, device) for number in self._take(count)]

        return self.captured(captured, again, [], [_full((), 0, np.uint64, device) for _ in range(3)])

    def run(self, function: Any, count: int, *values: Any) -> Any:
        """See `BitGenerator`."""
        position, high, key = self._take(count)
        return function((np.uint64(position), np.uint64(high), np.uint64(key)), *values)

    def _raw(self, shape: Shape) -> ndarray:
        return self.draw(draw("bits"), shape)


def current() -> Any:
    """The device that arrays are made on."""
    return _full((), 0, np.uint8).device


def counting(device: Any) -> Any:
    """Where its numbers are counted: on the CPU, where it lacks the types for that. They are the same everywhere."""
    return device if device.float64 and device.int64 else _cpu()


def _cpu() -> Any:
    from weft import device

    return device("cpu")


def _counters(shape: Shape, position: int, device: Any) -> ndarray:
    """Numbers from a position on in C's order: along each axis for itself, or as one row where rows are short."""
    if len(shape) != 1 and (len(shape) == 0 or shape[-1] < _LONG):
        return _reshape(_iota(math.prod(shape), position, 1, np.uint64, device), shape)
    found, step = None, 1
    for axis in reversed(range(len(shape))):
        along = _iota(shape[axis], position if axis == len(shape) - 1 else 0, step, np.uint64, device)
        along = _reshape(along, (shape[axis],) + (1,) * (len(shape) - 1 - axis))
        found = along if found is None else u("add", along, found)
        step *= shape[axis]
    return found


class XORWOW(BitGenerator):
    """XORWOW of Marsaglia ("Xorshift RNGs", J. Stat. Softw. 8, 2003), cuRAND's default: five words of xorshift, and a counter added.

    An integer of up to 64 bits seeds it as `curand_init(seed, 0, 0)` does: with s0 = low ^ 0xaad26b49, s1 = high ^ 0xf7dcefdd,
    t0 = 1099087573 s0, t1 = 2591861531 s1, the words are 123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0, and
    the counter 6615241 + t1 + t0, all modulo 2^32. Other seeds become such an integer by `SeedSequence`.

    Each number depends on all before it, so they are made at once, one after the other, on the host. Where Philox takes 128 bits it takes
    four words, the first word being the lowest.

    >>> weft.random.XORWOW(0).random_raw(2).dtype
    dtype('uint32')
    """

    def __init__(self, seed: Any = None) -> None:
        number = seed if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) else None
        super().__init__(seed)
        if number is None or not 0 <= number <= _WORD:
            number = self._seed_seq.generate_state(1, np.uint64)[0]
        self._state = _initial(int(number))

    def _begin(self) -> None:
        self._state = np.zeros(6, np.uint32)

    @property
    def state(self) -> Any:
        """A dict: `bit_generator`, and in `state` the five words and the counter, which can be set."""
        with self._lock:
            words = self._state.tolist()
        return {"bit_generator": "XORWOW", "state": {"words": words[:5], "counter": words[5]}}

    @state.setter
    def state(self, value: Any) -> None:
        given = self._checked_state(value)
        words = [operator.index(word) for word in (*given["words"], given["counter"])]
        if len(words) != 6 or not all(0 <= word < 2**32 for word in words):
            raise ValueError("a state has five words and a counter, of 32 bits each")
        if not any(words[:5]):
            raise ValueError("of the five words one must not be 0")
        with self._lock:
            self._state = np.array(words, np.uint32)

    def draw(self, what: Draw, shape: Shape, numbers: tuple[Any, ...] = (), dtype: Any = None) -> ndarray:
        """See `BitGenerator`."""
        arrays = [_full((), number, kind, _cpu()) for number, kind in zip(numbers, what.dtypes)]
        return self._at_once(what, shape, arrays, current(), dtype)

    def draw_for(self, what: Draw, shape: Shape, arrays: Sequence[ndarray], dtype: Any = None, device: Any = None) -> ndarray:
        """See `BitGenerator`."""
        return self._at_once(what, shape, arrays, device or arrays[0].device, dtype)

    def _filled(self, what: Draw, shape: Shape, arrays: Sequence[ndarray], dtype: Any) -> ndarray:
        found = np.empty(math.prod(shape), what.dtype)
        hosts = [np.ascontiguousarray(np.broadcast_to(_to_numpy(array), shape)).reshape(-1) for array in arrays]
        with self._lock:
            what.fill(self._state, found, *hosts)
        return _adopt(found.reshape(shape).astype(what.dtype if dtype is None else dtype, copy=False))

    def _at_once(self, what: Draw, shape: Shape, arrays: Sequence[ndarray], device: Any, dtype: Any) -> ndarray:
        captured = _capture_number()
        if captured is None:
            return self._filled(what, shape, arrays, dtype).to_device(device)
        like = _full(shape, 0, what.dtype if dtype is None else dtype, device)
        return self.captured(captured, lambda given: [self._filled(what, shape, given, dtype).to_device(device)], arrays, [like])[0]

    def run(self, function: Any, count: int, *values: Any) -> Any:
        """See `BitGenerator`."""
        with self._lock:
            return function((self._state,), *values)

    def _raw(self, shape: Shape) -> ndarray:
        found = np.empty(math.prod(shape), np.uint32)
        with self._lock:
            _fill_words(self._state, found)
        return _adopt(found.reshape(shape))


def _initial(seed: int) -> np.ndarray:
    s0, s1 = (seed & 0xFFFFFFFF) ^ 0xAAD26B49, (seed >> 32) ^ 0xF7DCEFDD
    t0, t1 = 1099087573 * s0, 2591861531 * s1
    words = [123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0, 6615241 + t1 + t0]
    return np.array([word & 0xFFFFFFFF for word in words], np.uint32)


_text = known("fill_words")


def _fill_words(state: Any, found: Any) -> None:
    from weft import njit

    njit(_filling)(state, found)


def _filling(state, found):
    _text(state, found)
