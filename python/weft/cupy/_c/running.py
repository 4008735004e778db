"""What C's operators and functions mean where Python has none like them. These functions are compiled with the kernels that call them."""

import numpy as np


def quotient(a, b):
    """C's quotient of two integers of one type: towards zero. By zero it is some number."""
    return (a - np.fmod(a, b)) // b


def round_away(x):
    """C's `round`: the next whole number, and of two the one further from zero."""
    whole = np.trunc(x)
    return whole + np.copysign(1.0, x) if np.abs(x - whole) >= 0.5 else whole


def norm(z):
    """Thrust's `norm`: the square of the magnitude."""
    return z.real * z.real + z.imag * z.imag
