"""Windows: rows of weights that signals and filters are multiplied by."""

import numpy as np

from weft.language import refuse


def _places(M):
    """The places of so many weights, counted from their middle by twos."""
    if np.ndim(M) != 0 or np.result_type(M).kind == "c":
        refuse("the length of a window is a number")
    length = np.float64(M)
    return np.arange(1 - length, length, 2) if length >= 1 else np.zeros(0)


def bartlett(M):
    """A triangle whose ends are zero.

    >>> np.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    n = _places(M)
    if M == 1:
        return np.ones(1)
    part = n / (np.float64(M) - 1)
    return np.where(n <= 0, 1 + part, 1 - part)


def hanning(M):
    """A cosine lifted so far that its ends are zero.

    >>> np.hanning(3)
    array([0., 1., 0.])
    """
    n = _places(M)
    return np.ones(1) if M == 1 else 0.5 + 0.5 * np.cos(np.pi * n / (np.float64(M) - 1))


def hamming(M):
    """A cosine lifted so far that its ends are 0.08.

    >>> np.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    n = _places(M)
    return np.ones(1) if M == 1 else 0.54 + 0.46 * np.cos(np.pi * n / (np.float64(M) - 1))


def blackman(M):
    """The sum of two cosines, whose ends are nearly zero.

    >>> np.blackman(3)
    array([-1.38777878e-17,  1.00000000e+00, -1.38777878e-17])
    """
    n = _places(M)
    span = np.float64(M) - 1
    return np.ones(1) if M == 1 else 0.42 + 0.5 * np.cos(np.pi * n / span) + 0.08 * np.cos(2.0 * np.pi * n / span)


def kaiser(M, beta):
    """A window of `M` weights made of Bessel functions: `beta` 0 is a rectangle, 5 is like `hamming`, 14 a narrow one.

    >>> np.kaiser(3, 0.0)
    array([1., 1., 1.])
    """
    if np.ndim(M) != 0 or np.ndim(beta) != 0 or np.result_type(M).kind == "c" or np.result_type(beta).kind == "c":
        refuse("the length of a window and beta are numbers")
    length = np.float64(M)
    if length == 1:
        return np.ones(1)
    middle = (length - 1) / 2
    part = (np.arange(0, length) - middle) / middle
    return np.i0(np.float64(beta) * np.sqrt(1 - part * part)) / np.i0(np.float64(beta))
