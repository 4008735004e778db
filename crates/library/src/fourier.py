"""Fourier transforms: NumPy's `numpy.fft`, by the routine that arrays use, too.

Single and half precision are computed in single precision, all else in double precision.
"""

import numpy as np

from weft.language import Static, axis_of, float_type, refuse, routine, unrolled

from .axes import _into
from .shapes import roll

_NO_MEMORY = 4
_ABSENT = 5
_NO_POINTS = "Invalid number of FFT data points specified: a transform has at least one."


def fft(a, n=None, axis: Static = -1, norm: Static = None, out=None):
    """The transform along an axis, of its first n elements or of as many zeros more: complex, n elements.

    >>> np.abs(np.fft.fft(np.array([1.0, 0.0, -1.0, 0.0])))
    array([0., 2., 0., 2.])
    """
    return _into(_along(a, n, axis, norm, "fft", True), out)


def ifft(a, n=None, axis: Static = -1, norm: Static = None, out=None):
    """The inverse of `fft`: complex, n elements.

    >>> np.fft.ifft(np.array([4.0, 0.0, 0.0, 0.0])).real
    array([1., 1., 1., 1.])
    """
    return _into(_along(a, n, axis, norm, "fft", False), out)


def rfft(a, n=None, axis: Static = -1, norm: Static = None, out=None):
    """The first half of the transform of real numbers, n//2 + 1 elements: the others are conjugates of those.

    >>> np.abs(np.fft.rfft(np.array([1.0, 0.0, -1.0, 0.0])))
    array([0., 2., 0.])
    """
    return _into(_along(a, n, axis, norm, "fft_of_reals", True), out)


def irfft(a, n=None, axis: Static = -1, norm: Static = None, out=None):
    """The inverse of `rfft`: n real numbers, 2·(m - 1) of m elements if n is not said.

    >>> np.fft.irfft(np.array([4.0, 0.0, 0.0]))
    array([1., 1., 1., 1.])
    """
    return _into(_along(a, n, axis, norm, "fft_to_reals", False), out)


def hfft(a, n=None, axis: Static = -1, norm: Static = None, out=None):
    """The transform, n real numbers, of what is conjugated when reversed, and of which the first half is given.

    >>> np.fft.hfft(np.array([1.0, 0.0, 0.0]))
    array([1., 1., 1., 1.])
    """
    return _into(_along(a, n, axis, norm, "fft_to_reals", True), out)


def ihfft(a, n=None, axis: Static = -1, norm: Static = None, out=None):
    """The inverse of `hfft`: n//2 + 1 elements.

    >>> np.fft.ihfft(np.array([1.0, 1.0, 1.0, 1.0])).real
    array([1., 0., 0.])
    """
    return _into(_along(a, n, axis, norm, "fft_of_reals", False), out)


def fftn(a, s=None, axes: Static = None, norm: Static = None, out=None):
    """The transform along all axes, or along those named; `s` has the length of each, -1 for its own.

    >>> np.fft.fftn(np.array([[1.0, 2.0], [3.0, 5.0]])).real
    array([[11., -3.],
           [-5.,  1.]])
    """
    return _into(_along_many(a, s, axes, norm, "fft", True), out)


def ifftn(a, s=None, axes: Static = None, norm: Static = None, out=None):
    """The inverse of `fftn`.

    >>> np.fft.ifftn(np.array([[11.0, -3.0], [-5.0, 1.0]])).real
    array([[1., 2.],
           [3., 5.]])
    """
    return _into(_along_many(a, s, axes, norm, "fft", False), out)


def fft2(a, s=None, axes: Static = (-2, -1), norm: Static = None, out=None):
    """`fftn` along the last two axes.

    >>> np.fft.fft2(np.ones((2, 2))).real
    array([[4., 0.],
           [0., 0.]])
    """
    return fftn(a, s, axes, norm, out)


def ifft2(a, s=None, axes: Static = (-2, -1), norm: Static = None, out=None):
    """The inverse of `fft2`. NumPy's does not look at `out`.

    >>> np.fft.ifft2(np.array([[4.0, 0.0], [0.0, 0.0]])).real
    array([[1., 1.],
           [1., 1.]])
    """
    return ifftn(a, s, axes, norm, out)


def rfftn(a, s=None, axes: Static = None, norm: Static = None, out=None):
    """`rfft` along the last axis, or the last one named, and `fft` along the others.

    >>> np.fft.rfftn(np.ones((2, 4))).real
    array([[8., 0., 0.],
           [0., 0., 0.]])
    """
    return _into(_along_many(a, s, axes, norm, "fft_of_reals", True), out)


def irfftn(a, s=None, axes: Static = None, norm: Static = None, out=None):
    """The inverse of `rfftn`; `s` has the real numbers of the last axis.

    >>> np.fft.irfftn(np.array([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    array([[1., 1., 1., 1.],
           [1., 1., 1., 1.]])
    """
    return _into(_along_many(a, s, axes, norm, "fft_to_reals", False), out)


def rfft2(a, s=None, axes: Static = (-2, -1), norm: Static = None, out=None):
    """`rfftn` along the last two axes.

    >>> np.fft.rfft2(np.array([[1.0, 2.0], [3.0, 5.0]])).real
    array([[11., -3.],
           [-5.,  1.]])
    """
    return rfftn(a, s, axes, norm, out)


def irfft2(a, s=None, axes: Static = (-2, -1), norm: Static = None, out=None):
    """The inverse of `rfft2`.

    >>> np.fft.irfft2(np.array([[11.0, -3.0], [-5.0, 1.0]]))
    array([[1., 2.],
           [3., 5.]])
    """
    return irfftn(a, s, axes, norm, out)


def _numbers(a, kind: Static):
    """An array in the precision it is transformed in."""
    if kind == "fft_of_reals" and a.dtype.kind == "c":
        refuse("the transform of real numbers takes no complex ones")
    precise = float_type(a.dtype)
    if a.dtype == np.float32 or a.dtype == np.float64 or a.dtype == np.complex64 or a.dtype == np.complex128:
        return a
    if precise == np.float64:
        return a.astype(np.float64)
    return a.astype(np.float32)


def _points(a, n, axis: Static, kind: Static):
    """How many points there are along an axis: what is asked for, or what the array has."""
    if n is None:
        points = 2 * (a.shape[axis] - 1) if kind == "fft_to_reals" else a.shape[axis]
    elif isinstance(n, (int, np.integer)):
        points = n
    else:
        refuse("the number of points of a transform is an integer")
    if points < 1:
        raise ValueError(_NO_POINTS)
    return points


def _factor(points, norm: Static, forward: Static):
    """What sums of so many points are multiplied by."""
    if norm is None or norm == "backward":
        return 1.0 if forward else 1.0 / points
    if norm == "ortho":
        return 1.0 / np.sqrt(np.float64(points))
    if norm == "forward":
        return 1.0 / points if forward else 1.0
    refuse(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')


def _along(a, n, axis: Static, norm: Static, kind: Static, forward: Static):
    a = np.asarray(a)
    at = axis_of(axis, a.ndim)
    numbers = _numbers(a, kind)
    points = _points(numbers, n, at, kind)
    made = _transformed(numbers, (at,), (points,), _factor(points, norm, forward), kind, forward)
    if kind == "fft_to_reals" and float_type(a.dtype) != numbers.dtype and a.dtype.kind != "c":
        # Of halves.
        return made.astype(a.dtype)
    return made


def _along_many(a, s, axes: Static, norm: Static, kind: Static, forward: Static):
    """Without axes named all of them are meant, or the last ones that there are lengths for."""
    a = np.asarray(a)
    named = ()
    if axes is None:
        count = a.ndim if s is None else len(s)
        for i in unrolled(range(count)):
            named = named + (axis_of(i - count, a.ndim),)
        return _along_named(a, s, named, norm, kind, forward)
    if not isinstance(axes, (tuple, list)):
        refuse("the axes of a transform are a tuple")
    for axis in unrolled(axes):
        named = named + (axis_of(axis, a.ndim),)
    return _along_named(a, s, named, norm, kind, forward)


def _along_named(a, s, axes: Static, norm: Static, kind: Static, forward: Static):
    if s is not None and len(s) != len(axes):
        refuse("Shape and axes have different lengths.")
    if len(axes) == 0:
        if kind != "fft":
            refuse("a transform of real numbers has an axis")
        return a
    last = len(axes) - 1
    if last == 0:
        return _along(a, _asked(a, s, axes, 0, kind), axes[0], norm, kind, forward)
    different = ()
    for axis in unrolled(axes):
        if axis not in different:
            different = different + (axis,)
    if len(different) == len(axes):
        numbers = _numbers(a, kind)
        points = ()
        every = 1
        for i in unrolled(range(len(axes))):
            n = _points(numbers, _asked(a, s, axes, i, kind), axes[i], "fft" if i < last else kind)
            points = points + (n,)
            every = every * n
        return _transformed(numbers, axes, points, _factor(every, norm, forward), kind, forward)
    return _one_by_one(a, s, axes, norm, kind, forward)


def _one_by_one(a, s, axes: Static, norm: Static, kind: Static, forward: Static):
    """Axes that are named twice are transformed twice."""
    last = len(axes) - 1
    if kind == "fft_to_reals":
        found = a
        for i in unrolled(range(last)):
            found = _along(found, _asked(a, s, axes, i, kind), axes[i], norm, "fft", forward)
        return _along(found, _asked(a, s, axes, last, kind), axes[last], norm, kind, forward)
    found = _along(a, _asked(a, s, axes, last, kind), axes[last], norm, kind, forward)
    for i in unrolled(range(last)):
        found = _along(found, _asked(a, s, axes, last - 1 - i, kind), axes[last - 1 - i], norm, "fft", forward)
    return found


def _asked(a, s, axes: Static, i: Static, kind: Static):
    """The number of points that is asked for along one of the axes."""
    to_reals = kind == "fft_to_reals" and i == len(axes) - 1
    if s is None or s[i] is None:
        return 2 * (a.shape[axes[i]] - 1) if to_reals else a.shape[axes[i]]
    if not isinstance(s[i], (int, np.integer)):
        refuse("the number of points of a transform is an integer")
    return a.shape[axes[i]] if s[i] == -1 else s[i]


def _transformed(a, axes: Static, points, factor, kind: Static, forward: Static):
    """The transform along different axes, of as many points each, of which the last one has the real numbers."""
    shape = ()
    for axis in unrolled(range(a.ndim)):
        n = a.shape[axis]
        for i in unrolled(range(len(axes))):
            if axes[i] == axis:
                n = points[i] // 2 + 1 if kind == "fft_of_reals" and i == len(axes) - 1 else points[i]
        shape = shape + (n,)
    complexes = np.result_type(a.dtype, np.complex64)
    out = np.empty(shape, a.real.dtype if kind == "fft_to_reals" else complexes)
    asked = np.empty(3 + len(axes), np.float64)
    asked[0] = factor
    asked[1] = forward
    asked[2] = points[-1]
    for i in unrolled(range(len(axes))):
        asked[3 + i] = axes[i]
    outcome = routine(kind, a, asked, out)
    if outcome == _NO_MEMORY:
        raise MemoryError("there is no memory for the transform")
    if outcome == _ABSENT:
        raise ValueError("there are no transforms here: with debug=True functions run without them")
    return out


def fftfreq(n, d=1.0, device: Static = None):
    """The frequencies of the elements of a transform of n points that are d apart: first those from zero on, then those below zero.

    >>> np.fft.fftfreq(5, 0.1)
    array([ 0.,  2.,  4., -4., -2.])
    """
    unit = _unit(n, d, device)
    if n < 0:
        raise ValueError("negative dimensions are not allowed")
    places = np.arange(n)
    return np.where(places < (n - 1) // 2 + 1, places, places - n) * unit


def rfftfreq(n, d=1.0, device: Static = None):
    """The frequencies of the elements of the transform of n real points that are d apart: those from zero on, n//2 + 1 of them.

    >>> np.fft.rfftfreq(5, 0.1)
    array([0., 2., 4.])
    """
    unit = _unit(n, d, device)
    return np.arange(n // 2 + 1) * unit


def _unit(n, d, device: Static):
    if not isinstance(n, (int, np.integer)):
        refuse("n should be an integer")
    if device is not None and device != "cpu":
        refuse(f'Device not understood. Only "cpu" is allowed, but received: {device}')
    if n * d == 0:
        raise ZeroDivisionError("division by zero")
    return 1.0 / (n * d)


def fftshift(x, axes: Static = None):
    """A copy with the element of frequency zero in the middle: of all axes, or of those named.

    >>> np.fft.fftshift(np.fft.fftfreq(5, 0.1))
    array([-4., -2.,  0.,  2.,  4.])
    """
    return _shifted(np.asarray(x), axes, 1)


def ifftshift(x, axes: Static = None):
    """What undoes `fftshift`.

    >>> np.fft.ifftshift(np.array([-1, 0, 1]))
    array([ 0,  1, -1])
    """
    return _shifted(np.asarray(x), axes, -1)


def _shifted(x, axes: Static, sign: Static):
    if axes is not None and not isinstance(axes, (tuple, list)):
        return _shifted(x, (axes,), sign)
    if axes is None and x.ndim == 0:
        refuse("an array without axes cannot be shifted")
    named = ()
    shifts = ()
    if axes is None:
        for axis in unrolled(range(x.ndim)):
            named = named + (axis,)
            shifts = shifts + (sign * (x.shape[axis] // 2),)
    else:
        for axis in unrolled(axes):
            named = named + (axis_of(axis, x.ndim),)
            shifts = shifts + (sign * (x.shape[axis] // 2),)
    return roll(x, shifts, named) if len(named) > 0 else x.copy()
