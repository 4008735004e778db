"""Random numbers in kernels, by Numba's names: each thread has a generator of its own, xoroshiro128+ of Blackman and Vigna.

The states of `n` generators are a device array of shape ``(n, 2)``. They follow each other at 2⁶⁴ steps, so that no two threads ever see
the same numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft import jit as _jit
from weft.cuda import jit, to_device
from weft.cuda.arrays import DeviceNDArray

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "xoroshiro128p_dtype",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

# Of each of the two words of a state.
xoroshiro128p_dtype = np.dtype(np.uint64)

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# The polynomial by which a state is 2⁶⁴ steps further.
_JUMP = np.array([0xBEAC0467EBA5FACB, 0xD86B048B86AA9922], np.uint64)
_ONE = np.uint64(1)
_TWO_PI = 2 * math.pi


@jit(device=True)
def xoroshiro128p_next(states: Any, index: Any) -> Any:
    """64 random bits of generator `index`, which goes on by a step."""
    a = states[index, 0]
    b = states[index, 1]
    found = a + b
    b ^= a
    states[index, 0] = ((a << 55) | (a >> 9)) ^ b ^ (b << 14)
    states[index, 1] = (b << 36) | (b >> 28)
    return found


@jit(device=True)
def xoroshiro128p_uniform_float32(states: Any, index: Any) -> Any:
    """A number from 0 to below 1."""
    return np.float32(xoroshiro128p_next(states, index) >> 40) * np.float32(2.0**-24)


@jit(device=True)
def xoroshiro128p_uniform_float64(states: Any, index: Any) -> Any:
    """A number from 0 to below 1."""
    return np.float64(xoroshiro128p_next(states, index) >> 11) * np.float64(2.0**-53)


@jit(device=True)
def xoroshiro128p_normal_float32(states: Any, index: Any) -> Any:
    """A normally distributed number, mean 0 and deviation 1 (Box and Muller); takes two steps."""
    u = np.float32(1) - xoroshiro128p_uniform_float32(states, index)
    v = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(np.float32(-2) * math.log(u)) * math.cos(np.float32(_TWO_PI) * v)


@jit(device=True)
def xoroshiro128p_normal_float64(states: Any, index: Any) -> Any:
    """A normally distributed number, mean 0 and deviation 1 (Box and Muller); takes two steps."""
    u = np.float64(1) - xoroshiro128p_uniform_float64(states, index)
    v = xoroshiro128p_uniform_float64(states, index)
    return math.sqrt(np.float64(-2) * math.log(u)) * math.cos(np.float64(_TWO_PI) * v)


@_jit
def _jump(states: Any, index: Any) -> None:
    a = states[index, 0] ^ states[index, 0]
    b = a
    for word in range(2):
        for bit in range(64):
            if (_JUMP[word] >> bit) & _ONE == _ONE:
                a ^= states[index, 0]
                b ^= states[index, 1]
            xoroshiro128p_next(states, index)
    states[index, 0] = a
    states[index, 1] = b


@_jit
def _fill(states: Any, seed: Any, start: Any) -> None:
    z = seed + _STEP
    z = (z ^ (z >> 30)) * _FIRST
    z = (z ^ (z >> 27)) * _SECOND
    z ^= z >> 31
    states[0, 0] = z
    states[0, 1] = z
    for _ in range(start):
        _jump(states, 0)
    for i in range(1, states.shape[0]):
        states[i, 0] = states[i - 1, 0]
        states[i, 1] = states[i - 1, 1]
        _jump(states, i)


def init_xoroshiro128p_states(states: DeviceNDArray, seed: int, subsequence_start: int = 0, stream: Any = 0) -> None:
    """Sets generators anew: the first by `seed` and `subsequence_start` times 2⁶⁴ steps on, the others behind it."""
    host = np.zeros(states.shape, xoroshiro128p_dtype)
    if len(host):
        _fill(host, np.uint64(seed % 2**64), int(subsequence_start))
    states.copy_to_device(host, stream)


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream: Any = 0) -> DeviceNDArray:
    """The states of `n` generators, see `init_xoroshiro128p_states`."""
    states = to_device(np.zeros((n, 2), xoroshiro128p_dtype), stream=stream)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states
