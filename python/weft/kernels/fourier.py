"""Fourier transforms of arrays on devices: how lines are cut into passes, what tables these need, and their launches.

Lengths without primes above 7 are passes of Stockham's (`butterflies`), each through all of the array: one for lines that fit the shared
memory of a block. Other lengths are convolutions, by transforms of a power of two: L. Bluestein, A linear filtering approach to the
computation of the discrete Fourier transform, 1970.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._weft import _cast, _fft, _from_numpy, _full, _reshape, _unset, ndarray
from weft.kernels import butterflies as b
from weft.kernels.launching import SHARED_BYTES, launched

# The longest lines side by side of which several are in a block, so that neighbours in memory are read together.
_SIDE_BY_SIDE = 128
_MOST_BLOCKS = 32768
# Arrays of so many elements have places that 32 bits count, with room for blocks that are not full.
_NARROW = 1 << 30
_COMPLEX = {"float32": np.dtype(np.complex64), "float64": np.dtype(np.complex128)}
_REAL = {"complex64": np.dtype(np.float32), "complex128": np.dtype(np.float64)}


def transformed(a: ndarray, kind: str, forward: bool, axes: list[int], lengths: list[int], factor: float) -> ndarray:
    """The transform along different axes, of as many points each, times a factor: `kind` is "complex", "from real" or "to real".

    The last axis has the real numbers. Single and half precision are computed in single precision, all else in double precision.
    """
    return launched(_all_axes, a, kind, forward, tuple(axes), tuple(lengths), factor, like=_like_all_axes)


def _all_axes(a: ndarray, kind: str, forward: bool, axes: tuple[int, ...], lengths: tuple[int, ...], factor: float) -> ndarray:
    a = _as_numbers(a)
    steps = [("complex", axis, n) for axis, n in zip(axes, lengths)]
    steps[-1] = (kind, axes[-1], lengths[-1])
    if kind != "to real":
        steps.reverse()
    for at, (step, axis, n) in enumerate(steps):
        a = _one_axis(a, step, forward, axis, n, factor if at == len(steps) - 1 else 1.0)
    return a


def _like_all_axes(a: ndarray, kind: str, forward: bool, axes: tuple[int, ...], lengths: tuple[int, ...], factor: float) -> ndarray:
    """An array like the result."""
    a, shape = _as_numbers(a), list(a.shape)
    for axis, n in zip(axes, lengths):
        shape[axis] = n
    if kind == "from real":
        shape[axes[-1]] = lengths[-1] // 2 + 1
    return _full(tuple(shape), 0, _dtype_of(kind, a.dtype), a.device)


def _as_numbers(a: ndarray) -> ndarray:
    """The elements in the precision of the transform."""
    if a.dtype.name in _REAL or a.dtype.name in _COMPLEX:
        return a
    return _cast(a, np.dtype(np.float64 if a.dtype.kind in "biu" else np.float32))


def _dtype_of(kind: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of what is made of numbers of another."""
    return _REAL.get(dtype.name, dtype) if kind == "to real" else _COMPLEX.get(dtype.name, dtype)


def _one_axis(a: ndarray, kind: str, forward: bool, axis: int, n: int, factor: float) -> ndarray:
    shape, dtype = list(a.shape), _dtype_of(kind, a.dtype)
    before, held, after = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    shape[axis] = n // 2 + 1 if kind == "from real" else n
    if math.prod(shape) == 0 or a.size == 0:
        return _full(tuple(shape), 0, dtype, a.device)
    flags = b.FROM_HALF if kind == "to real" else 0
    flags |= 0 if forward else b.CONJUGATE_FIRST | b.CONJUGATE_LAST
    ends = n if a.dtype.kind == "f" and kind != "to real" else 0
    work = _Lines(before, after, held, n, shape[axis], ends, dtype, a.device)
    transform = work.by_passes if is_smooth(n) else work.by_convolution
    return _reshape(transform(_reshape(a, (a.size,)), flags, factor), tuple(shape))


@dataclasses.dataclass(frozen=True)
class _Reading:
    """What a first pass reads: lines of so many elements in memory, of those that are points of the transform, times numbers."""

    held: int
    points: int
    times: ndarray | None = None


class _Writing:
    """What a last pass writes: so many elements of a dtype, real at the ends of lines of so many points, times a factor and numbers."""

    def __init__(self, kept: int, dtype: Any, ends: int = 0, factor: float = 1.0, times: ndarray | None = None) -> None:
        self.kept, self.dtype, self.ends, self.times = kept, dtype, ends, times
        self.factor = _REAL.get(dtype.name, dtype).type(factor)


class _Lines:
    """All lines along an axis: so many before it, elements `after` apart, `held` in memory, and what their transform is to be."""

    def __init__(self, before: int, after: int, held: int, points: int, kept: int, ends: int, made: Any, device: Any) -> None:
        self.before, self.after, self.held, self.points = before, after, held, points
        # The result has so many elements of a dtype, real at both ends if `ends` is their number.
        self.kept, self.ends, self.made = kept, ends, made
        self.numbers, self.device = _COMPLEX.get(made.name, made), device

    def by_passes(self, source: ndarray, flags: int, factor: float) -> ndarray:
        return self._passes(source, self.points, _Reading(self.held, self.points), self._end(factor), flags)

    def by_convolution(self, source: ndarray, flags: int, factor: float) -> ndarray:
        """With c[k] = exp(-πi·k²/n) the transform is c times the convolution of the numbers times c with the conjugates of c."""
        n, wide = self.points, 1 << (2 * self.points - 2).bit_length()
        chirp, filtering = _chirps(n, wide, self.numbers, self.device)
        now = flags & (b.CONJUGATE_FIRST | b.FROM_HALF) | b.TIMES_FIRST | b.TIMES_LAST
        spectrum = self._passes(source, wide, _Reading(self.held, n, chirp), _Writing(wide, self.numbers, times=filtering), now)
        now = flags & b.CONJUGATE_LAST | b.CONJUGATE_FIRST | b.CONJUGATE_MADE | b.TIMES_LAST
        return self._passes(spectrum, wide, _Reading(wide, wide), self._end(factor, chirp), now)

    def _end(self, factor: float, times: ndarray | None = None) -> _Writing:
        return _Writing(self.kept, self.made, self.ends, factor, times)

    def _passes(self, a: ndarray, n: int, read: _Reading, write: _Writing, flags: int) -> ndarray:
        """A transform of n points, smooth: all its passes. What belongs to the first pass and to the last one is done in these."""
        at_first = b.CONJUGATE_FIRST | b.TIMES_FIRST | b.FROM_HALF
        sizes, done = sizes_of(n, _room(self.numbers), self.after > 1), 1
        for at, size in enumerate(sizes):
            is_last = at == len(sizes) - 1
            now = (flags & at_first if at == 0 else 0) | (flags & ~at_first if is_last else 0)
            writing = write if is_last else _Writing(n, self.numbers)
            a = self._pass(a, n, size, done, read if at == 0 else _Reading(n, n), writing, now)
            done *= size
        return a

    def _pass(self, a: ndarray, n: int, size: int, done: int, read: _Reading, write: _Writing, flags: int) -> ndarray:
        """The radix-`size` pass of a transform of n points of which there are transforms of `done` points."""
        room, count = _room(self.numbers), self.before * (n // size) * self.after
        roots, shift = _roots(size, done, self.numbers, self.device)
        out = _unset((self.before * write.kept * self.after,), write.dtype, self.device)
        if self.after == 1:
            flags |= (b.ROWS if size == n else 0) | (b.ROWS_LAST if done == 1 else 0)
        threads = room // 8
        if flags & b.ROWS:
            group = min(room // size, count)
            # An even pitch would have the elements of a line in the same banks.
            group -= group > 8 and group % 2 == 0
        else:
            # Then threads stay in a line: their number is a power of two, too.
            group = min(1 << (room // size).bit_length() - 1, threads, 1 << (count - 1).bit_length())
        blocks = min(-(-count // group), _MOST_BLOCKS)
        first, last = _no_factors(self.numbers, self.device)
        first, last = first if read.times is None else read.times, last if write.times is None else write.times
        numbers = (
            count, self.after, n, size, done, group, group, _code(size), shift,
            read.points, min(read.held, read.points), read.held, write.kept, write.ends, flags,
        )  # fmt: skip
        # Some devices have no 64-bit integers, and all compute with 32 bits faster.
        number = np.int32 if max(a.size, out.size, n) < _NARROW else int
        _kernel(write.dtype.kind == "f", room)[blocks, threads](a, roots, first, last, out, *map(number, numbers), write.factor)
        return out


@functools.cache
def _kernel(to_real: bool, room: int) -> Any:
    return b.lines(b.real if to_real else b.whole, room)


def _room(numbers: np.dtype[Any]) -> int:
    return SHARED_BYTES // 2 // numbers.itemsize


def is_smooth(n: int) -> bool:
    """Whether a number has no prime factor above 7."""
    for prime in (2, 3, 5, 7):
        while n % prime == 0:
            n //= prime
    return n == 1


@functools.lru_cache(1024)
def sizes_of(n: int, room: int, side_by_side: bool) -> tuple[int, ...]:
    """The radices of the passes through memory of a transform of n points: as few, and as much the same, as lines fit a block."""
    if n <= (_SIDE_BY_SIDE if side_by_side else room):
        return (n,)
    sizes = []
    while n > 1:
        passes = next(k for k in range(1, 64) if _SIDE_BY_SIDE**k >= n)
        root = math.ceil(n ** (1 / passes))
        size = next(d for d in (*range(root, _SIDE_BY_SIDE + 1), *range(_SIDE_BY_SIDE, 0, -1)) if n % d == 0)
        sizes.append(size)
        n //= size
    return tuple(sizes)


@functools.lru_cache(1024)
def _code(size: int) -> int:
    """The radices of the passes in shared memory, four bits each."""
    radices = []
    for prime in (7, 5, 3):
        while size % prime == 0:
            radices.append(prime)
            size //= prime
    twos = size.bit_length() - 1
    fours = {0: 0, 1: 2 if twos > 1 else 0, 2: 1}[twos % 3]
    radices += [8] * ((twos - 2 * fours) // 3) + [4] * fours + [2] * (twos == 1)
    return sum(radix << 4 * at for at, radix in enumerate(radices))


class _Kept:
    """Tables on devices: the latest ones, as long as they have no more than so many elements together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.renew()

    def renew(self) -> None:
        """No tables. A lock that another thread had when the process was forked would never be opened."""
        self._lock, self._tables = threading.Lock(), dict[Any, tuple[ndarray, ...]]()

    def get(self, key: Any, make: Callable[[], tuple[ndarray, ...]]) -> tuple[ndarray, ...]:
        with self._lock:
            if key in self._tables:
                self._tables[key] = self._tables.pop(key)
                return self._tables[key]
        # Two threads may make the same ones: that takes less time than waiting for what others make.
        made = make()
        with self._lock:
            self._tables[key] = made
            while len(self._tables) > 1 and sum(each.size for one in self._tables.values() for each in one) > self._most:
                del self._tables[next(iter(self._tables))]
        return made


_tables = _Kept(1 << 22)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_tables.renew)


def _roots(size: int, done: int, numbers: np.dtype[Any], device: Any) -> tuple[ndarray, int]:
    """What a pass turns numbers by: the roots of one of its radix, and those of radix·`done` as products of fine and coarse ones.

    The fine ones are 2**shift neighbours from one on: all of them where there are few.
    """
    points = size * done
    shift = 0 if done == 1 else max(12, points.bit_length() // 2)

    def make() -> tuple[ndarray, ...]:
        if done == 1:
            found = _of_one(np.arange(size), size)
        else:
            fine = np.arange(min(1 << shift, points))
            coarse = np.arange(0, points, 1 << shift)
            found = np.concatenate([_of_one(np.arange(size), size), np.resize(_of_one(fine, points), 1 << shift), _of_one(coarse, points)])
        return (_from_numpy(found.astype(numbers), device),)

    return _tables.get((size, done, numbers.name, device.name), make)[0], shift


def _no_factors(numbers: np.dtype[Any], device: Any) -> tuple[ndarray, ...]:
    """Two arrays in place of those that elements are multiplied by: code may be compiled anew where arguments are the same array."""
    return _tables.get(("none", numbers.name, device.name), lambda: tuple(_from_numpy(np.ones(1, numbers), device) for _ in range(2)))


def _of_one(k: np.ndarray, n: int) -> np.ndarray:
    """exp(-2πi·k/n) for k below n."""
    turn = -2 * np.pi * (k / n)
    return np.cos(turn) + 1j * np.sin(turn)


def _chirps(n: int, wide: int, numbers: np.dtype[Any], device: Any) -> tuple[ndarray, ...]:
    """exp(-πi·k²/n) for k below n, and the transform of their conjugates, as a filter of `wide` points, divided by these."""

    def make() -> tuple[ndarray, ...]:
        k = np.arange(n, dtype=np.uint64)
        chirp = _of_one((k * k % np.uint64(2 * n)).astype(np.int64), 2 * n)
        filtering = np.zeros(wide, np.complex128)
        filtering[:n] = chirp.conj()
        filtering[wide - n + 1 :] = filtering[1:n][::-1]
        spectrum = _fft(filtering, "complex", True, [0], [wide], 1 / wide)
        return tuple(_from_numpy(each.astype(numbers), device) for each in (chirp, spectrum))

    return _tables.get((n, "chirp", numbers.name, device.name), make)
