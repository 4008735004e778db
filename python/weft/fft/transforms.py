"""Discrete Fourier transforms: sums of the elements of a line, each times a power of a root of one.

Of n points x the transform's element k is the sum of x[j]·exp(-2πijk/n) over j; the inverse has a positive exponent and is divided by n.
`norm="ortho"` divides both by the root of n, "forward" the transform by n and not its inverse.

All functions take anything that is an array of numbers, and a weft array for `out`, which is given back with the result in it. They raise
ValueError for a length below one, a `norm` that there is not and an `out` of another shape, TypeError for an `out` whose dtype cannot take
the result, IndexError and AxisError for an axis that the array does not have. Results are float32 or complex64 of 16 and 32-bit floats and
of complex64, and else float64 or complex128; `irfft` and `hfft` of float16 are float16. J. W. Cooley and J. W. Tukey, An Algorithm for the
Machine Calculation of Complex Fourier Series, 1965.
"""

from __future__ import annotations

from typing import Any

from weft._weft import ndarray
from weft.fft._asking import along, along_many


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The transform along an axis, of its first n elements or of as many zeros more: complex, n elements.

    >>> weft.abs(weft.fft.fft(weft.asarray([1, 0, -1, 0])))
    array([0., 2., 0., 2.])
    """
    return along(a, n, axis, norm, out, "complex", True)


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The inverse of `fft`: complex, n elements.

    >>> weft.fft.ifft(weft.asarray([10, -2 + 2j, -2, -2 - 2j])).real
    array([1., 2., 3., 4.])
    """
    return along(a, n, axis, norm, out, "complex", False)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The first half of the transform of real numbers, n//2 + 1 elements: the others are conjugates of those. TypeError of complex ones.

    >>> weft.abs(weft.fft.rfft(weft.asarray([1, 0, -1, 0])))
    array([0., 2., 0.])
    """
    return along(a, n, axis, norm, out, "from real", True)


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The inverse of `rfft`: n real numbers, 2·(m - 1) of m elements if n is not said. Imaginary parts that cannot be are left out.

    >>> weft.fft.irfft(weft.asarray([10, -2 + 2j, -2]))
    array([1., 2., 3., 4.])
    """
    return along(a, n, axis, norm, out, "to real", False)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The transform, n real numbers, of what is conjugated when reversed, and of which the first half is given.

    >>> weft.fft.hfft(weft.asarray([1, 2, 2]))
    array([ 7., -1., -1., -1.])
    """
    return along(a, n, axis, norm, out, "to real", True)


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The inverse of `hfft`: n//2 + 1 elements. TypeError of complex numbers.

    >>> weft.fft.ihfft(weft.asarray([7, -1, -1, -1])).real
    array([1., 2., 2.])
    """
    return along(a, n, axis, norm, out, "from real", False)


def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The transform along all axes, or along those named; `s` has the length of each, -1 for its own.

    An axis that is named twice is transformed twice. Without any axes it is the array itself.

    >>> weft.fft.fftn(weft.asarray([[1, 2], [3, 5]])).real
    array([[11., -3.],
           [-5.,  1.]])
    """
    return along_many(a, s, axes, norm, out, "complex", True)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The inverse of `fftn`.

    >>> weft.fft.ifftn(weft.asarray([[11, -3], [-5, 1]])).real
    array([[1., 2.],
           [3., 5.]])
    """
    return along_many(a, s, axes, norm, out, "complex", False)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """`fftn` along the last two axes.

    >>> weft.abs(weft.fft.fft2(weft.ones((2, 2))))
    array([[4., 0.],
           [0., 0.]])
    """
    return along_many(a, s, axes, norm, out, "complex", True)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The inverse of `fft2`.

    >>> weft.fft.ifft2(weft.asarray([[4, 0], [0, 0]])).real
    array([[1., 1.],
           [1., 1.]])
    """
    return along_many(a, s, axes, norm, out, "complex", False)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """`rfft` along the last axis, or the last one named, and `fft` along the others. TypeError of complex numbers.

    >>> weft.abs(weft.fft.rfftn(weft.ones((2, 4))))
    array([[8., 0., 0.],
           [0., 0., 0.]])
    """
    return along_many(a, s, axes, norm, out, "from real", True)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The inverse of `rfftn`; `s` has the real numbers of the last axis.

    >>> weft.fft.irfftn(weft.asarray([[8, 0, 0], [0, 0, 0]]))
    array([[1., 1., 1., 1.],
           [1., 1., 1., 1.]])
    """
    return along_many(a, s, axes, norm, out, "to real", False)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """`rfftn` along the last two axes.

    >>> weft.fft.rfft2(weft.asarray([[1, 2], [3, 5]])).real
    array([[11., -3.],
           [-5.,  1.]])
    """
    return along_many(a, s, axes, norm, out, "from real", True)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The inverse of `rfft2`.

    >>> weft.fft.irfft2(weft.asarray([[11, -3], [-5, 1]]))
    array([[1., 2.],
           [3., 5.]])
    """
    return along_many(a, s, axes, norm, out, "to real", False)
