"""The kernels of Fourier transforms: passes that transform many short lines each, in shared memory, by transforms of 2 to 8 numbers.

Stockham's way, which needs no reversal of bits: with s elements of each line done, a pass of radix r reads the elements j + q·(n/r), turns
them by w^(q·(j mod s)), w = exp(-2πi/(r·s)), transforms these r numbers and writes them to (j div s)·s·r + j mod s + q·s. A pass through
global memory is one of these with a radix of up to some hundreds, whose transforms are themselves passes of radix 2 to 8 between two places
in shared memory. N. Govindaraju and others, High Performance Discrete Fourier Transforms on Graphics Processors, 2008.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft import cuda

# What a pass does besides: bits of its last argument but one.
CONJUGATE_FIRST = 1  # what is read,
CONJUGATE_MADE = 2  # what is made, before it is multiplied,
CONJUGATE_LAST = 4  # and what is written.
TIMES_FIRST = 8  # Elements are multiplied by those of `first` when they are read,
TIMES_LAST = 16  # by those of `last` when they are made.
FROM_HALF = 32  # Lines are given by the first half of what is conjugated when reversed.
ROWS = 64  # Threads side by side read a line, not the same element of lines side by side,
ROWS_LAST = 128  # and write one.

_SIN_60 = math.sqrt(0.75)
_COS_72, _COS_144 = math.cos(2 * math.pi / 5), math.cos(4 * math.pi / 5)
_SIN_72, _SIN_144 = math.sin(2 * math.pi / 5), math.sin(4 * math.pi / 5)
_C1, _C2, _C3 = math.cos(2 * math.pi / 7), math.cos(4 * math.pi / 7), math.cos(6 * math.pi / 7)
_S1, _S2, _S3 = math.sin(2 * math.pi / 7), math.sin(4 * math.pi / 7), math.sin(6 * math.pi / 7)
_SQRT_HALF = math.sqrt(0.5)


@cuda.jit(device=True)
def _turned(z):
    """A number times -i."""
    return complex(z.imag, -z.real)


@cuda.jit(device=True)
def _three(a, b, c):
    t, d = b + c, b - c
    m = complex(a.real - 0.5 * t.real, a.imag - 0.5 * t.imag)
    n = complex(_SIN_60 * d.imag, -_SIN_60 * d.real)
    return a + t, m + n, m - n


@cuda.jit(device=True)
def _four(a, b, c, d):
    e, f, g, h = a + c, a - c, b + d, _turned(b - d)
    return e + g, f + h, e - g, f - h


@cuda.jit(device=True)
def _five(a, b, c, d, e):
    t, u, v, w = b + e, c + d, b - e, c - d
    m = complex(a.real + _COS_72 * t.real + _COS_144 * u.real, a.imag + _COS_72 * t.imag + _COS_144 * u.imag)
    n = complex(a.real + _COS_144 * t.real + _COS_72 * u.real, a.imag + _COS_144 * t.imag + _COS_72 * u.imag)
    x = complex(_SIN_72 * v.imag + _SIN_144 * w.imag, -_SIN_72 * v.real - _SIN_144 * w.real)
    y = complex(_SIN_144 * v.imag - _SIN_72 * w.imag, _SIN_72 * w.real - _SIN_144 * v.real)
    return a + t + u, m + x, n + y, n - y, m - x


@cuda.jit(device=True)
def _even(a, t, u, v, x, y, z):
    """A number and three others times cosines."""
    return complex(a.real + x * t.real + y * u.real + z * v.real, a.imag + x * t.imag + y * u.imag + z * v.imag)


@cuda.jit(device=True)
def _odd(t, u, v, x, y, z):
    """Three numbers times sines and -i."""
    return complex(x * t.imag + y * u.imag + z * v.imag, -(x * t.real + y * u.real + z * v.real))


@cuda.jit(device=True)
def _seven(a, b, c, d, e, f, g):
    t, u, v = b + g, c + f, d + e
    x, y, z = b - g, c - f, d - e
    p, q, r = _even(a, t, u, v, _C1, _C2, _C3), _even(a, t, u, v, _C2, _C3, _C1), _even(a, t, u, v, _C3, _C1, _C2)
    k, l, m = _odd(x, y, z, _S1, _S2, _S3), _odd(x, y, z, _S2, -_S3, -_S1), _odd(x, y, z, _S3, -_S1, _S2)
    return a + t + u + v, p + k, q + l, r + m, r - m, q - l, p - k


@cuda.jit(device=True)
def _eight(a, b, c, d, e, f, g, h):
    a, c, e, g = _four(a, c, e, g)
    b, d, f, h = _four(b, d, f, h)
    d = complex((d.real + d.imag) * _SQRT_HALF, (d.imag - d.real) * _SQRT_HALF)
    f = _turned(f)
    h = complex((h.imag - h.real) * _SQRT_HALF, -(h.real + h.imag) * _SQRT_HALF)
    return a + b, c + d, e + f, g + h, a - b, c - d, e - f, g - h


@cuda.jit(device=True)
def _butterfly(work, radix, at, stride, to, step, roots, turn):
    """Transforms as many elements as the radix says, turned by multiples of an angle, from one place of shared memory to another."""
    a = work[at]
    b = work[at + stride] * roots[turn]
    if radix == 2:
        work[to] = a + b
        work[to + step] = a - b
        return
    c = work[at + 2 * stride] * roots[2 * turn]
    if radix == 3:
        a, b, c = _three(a, b, c)
        work[to] = a
        work[to + step] = b
        work[to + 2 * step] = c
        return
    d = work[at + 3 * stride] * roots[3 * turn]
    if radix == 4:
        a, b, c, d = _four(a, b, c, d)
        work[to] = a
        work[to + step] = b
        work[to + 2 * step] = c
        work[to + 3 * step] = d
        return
    e = work[at + 4 * stride] * roots[4 * turn]
    if radix == 5:
        a, b, c, d, e = _five(a, b, c, d, e)
        work[to] = a
        work[to + step] = b
        work[to + 2 * step] = c
        work[to + 3 * step] = d
        work[to + 4 * step] = e
        return
    f = work[at + 5 * stride] * roots[5 * turn]
    g = work[at + 6 * stride] * roots[6 * turn]
    if radix == 7:
        a, b, c, d, e, f, g = _seven(a, b, c, d, e, f, g)
    else:
        h = work[at + 7 * stride] * roots[7 * turn]
        a, b, c, d, e, f, g, h = _eight(a, b, c, d, e, f, g, h)
        work[to + 7 * step] = h
    work[to] = a
    work[to + step] = b
    work[to + 2 * step] = c
    work[to + 3 * step] = d
    work[to + 4 * step] = e
    work[to + 5 * step] = f
    work[to + 6 * step] = g


@cuda.jit(device=True)
def _element(source, base, stride, i, used, points, half, zero):
    """Element i of a line: zero behind those that are used, and behind all points."""
    if i >= points:
        return zero
    back = half and 2 * i > points
    at = points - i if back else i
    if at >= used:
        return zero
    value = source[base + at * stride] + zero
    if half and (i == 0 or 2 * i == points):
        return zero + value.real
    return value.conjugate() if back else value


@cuda.jit(device=True)
def _line(number, after, stride):
    """Which elements a line has: those of the number in front of the axis, of every `stride`th one from here on, so far behind it."""
    rest = number // after if after > 1 else number
    front = rest // stride if stride > 1 else rest
    return front, rest - front * stride, number - rest * after


@cuda.jit(device=True)
def whole(z):
    return z


@cuda.jit(device=True)
def real(z):
    return z.real


def lines(put: Any, room: int) -> Any:
    """The kernel of passes whose results become elements by a function, in blocks with room for some elements in shared memory."""

    @cuda.jit(cache=True)
    def transformed_lines(source, roots, first, last, out, count, after, n, size, done, group, pitch, radices, shift, points, used, held,
                          kept, ends, flags, factor):  # fmt: skip
        # Lines of `size` elements: elements j + q·(n/size), of all j, in lines of n elements, `after` elements apart. What is made of
        # real lines of `ends` elements is real at frequency zero and at the highest one. Numbers are int32s where these suffice: ranges
        # would have 64 bits.
        work = cuda.shared.array(2 * room, roots.dtype)
        zero = roots[0] * 0
        stride = n // size
        thread, threads = np.int32(cuda.threadIdx.x), np.int32(cuda.blockDim.x)
        # Threads go along lines or across them. Divisions are slow: where they stay in a line it is looked for once.
        along = size if flags & ROWS else group
        stays = flags & ROWS == 0 and threads % group == 0
        along_last = size if flags & ROWS_LAST else group
        stays_last = flags & ROWS_LAST == 0 and threads % group == 0
        block = np.int32(cuda.blockIdx.x) + 0 * count
        while block * group < count:
            e, major, minor = thread, thread // along, thread % along
            front, j, k, base = count, count, count, count
            while e < group * size:
                line, q = (major, minor) if flags & ROWS else (minor, major)
                if not stays or e == thread:
                    front, j, behind = _line(block * group + line, after, stride)
                    base = front * held * after + behind
                    k = j % done if done > 1 else 0 * j
                value = zero
                if block * group + line < count:
                    i = j + q * stride
                    value = _element(source, base, after, i, used, points, flags & FROM_HALF != 0, zero)
                    if flags & CONJUGATE_FIRST:
                        value = value.conjugate()
                    if flags & TIMES_FIRST and i < points:
                        value *= first[i]
                    if done > 1:
                        # The root is the product of a fine and a coarse one: tables of all are as long as the line.
                        turn = k * q
                        value *= roots[size + (turn & ((1 << shift) - 1))] * roots[size + (1 << shift) + (turn >> shift)]
                work[q * pitch + line] = value
                e, major, minor = e + threads, major + threads // along, minor + threads % along
                if minor >= along:
                    major, minor = major + 1, minor - along
            cuda.syncthreads()
            here, inner, left = np.int32(0), size // size, radices
            while left != 0:
                radix = left & 15
                part = size // radix
                e = thread
                while e < group * part:
                    line, j = e % group, e // group
                    k = j % inner
                    at, to = here + j * pitch + line, room - here + ((j - k) * radix + k) * pitch + line
                    _butterfly(work, radix, at, part * pitch, to, inner * pitch, roots, k * (part // inner))
                    e += threads
                cuda.syncthreads()
                here, inner, left = room - here, inner * radix, left >> 4
            e, major, minor = thread, thread // along_last, thread % along_last
            while e < group * size:
                line, q = (major, minor) if flags & ROWS_LAST else (minor, major)
                if not stays_last or e == thread:
                    front, j, behind = _line(block * group + line, after, stride)
                    base = front * kept * after + behind
                    k = j % done if done > 1 else 0 * j
                i = (j - k) * size + k + q * done
                if block * group + line < count and i < kept:
                    value = work[here + q * pitch + line]
                    if flags & CONJUGATE_MADE:
                        value = value.conjugate()
                    if flags & TIMES_LAST:
                        value *= last[i]
                    if flags & CONJUGATE_LAST:
                        value = value.conjugate()
                    if ends > 0 and (i == 0 or 2 * i == ends):
                        value = zero + value.real
                    out[base + i * after] = put(complex(value.real * factor, value.imag * factor))
                e, major, minor = e + threads, major + threads // along_last, minor + threads % along_last
                if minor >= along_last:
                    major, minor = major + 1, minor - along_last
            cuda.syncthreads()
            block += np.int32(cuda.gridDim.x)

    return transformed_lines
