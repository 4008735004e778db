"""Activations: functions of each element, as in torch.nn.functional and jax.nn, and softmax and its like, of lines along an axis.

They are array expressions: they fuse with what is around them and differentiate as such. Each is written so that neither it nor its
derivative overflows on the side that `where` does not choose: an infinite number times zero is NaN. Floats of 16 bits are computed in
single precision and rounded once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import weft
from weft import math as weft_math
from weft._weft import ndarray
from weft.arrays._common import axis_of

from ._common import floats, of_floats, where_axes

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "tanh",
]


def relu(x: Any) -> ndarray:
    """The elements above 0, and 0 for the others; also of integers. The derivative at 0 is 0.

    >>> weft.nn.relu(weft.asarray([-1.0, 0.0, 2.0]))
    array([0., 0., 2.])
    """
    x = weft.asarray(x)
    return weft.where(x <= 0, 0, x)


@of_floats
def relu6(x: Any) -> ndarray:
    """The elements, not less than 0 and not more than 6.

    >>> weft.nn.relu6(weft.asarray([-1.0, 2.0, 9.0]))
    array([0., 2., 6.])
    """
    return _between(x, 0, 6)


@of_floats
def hard_tanh(x: Any, min_val: float = -1.0, max_val: float = 1.0) -> ndarray:
    """The elements, not less than `min_val` and not more than `max_val`, where the derivative is 0. ValueError if these are not in order.

    >>> weft.nn.hard_tanh(weft.asarray([-2.0, 0.5, 3.0]))
    array([-1. ,  0.5,  1. ])
    """
    if not min_val < max_val:
        raise ValueError(f"min_val is less than max_val: {min_val} is not less than {max_val}")
    return _between(x, min_val, max_val)


def _between(x: ndarray, low: float, high: float) -> ndarray:
    return weft.where(x <= low, low, weft.where(x >= high, high, x))


@of_floats
def leaky_relu(x: Any, negative_slope: float = 0.01) -> ndarray:
    """The elements above 0, and `negative_slope` times the others.

    >>> weft.nn.leaky_relu(weft.asarray([-1.0, 2.0]))
    array([-0.01,  2.  ])
    """
    return weft.where(x > 0, x, x * negative_slope)


@of_floats
def elu(x: Any, alpha: float = 1.0) -> ndarray:
    """The elements above 0, and alpha·(eˣ - 1) of the others (Clevert and others, 2016).

    >>> weft.nn.elu(weft.asarray([0.0, 2.0]))
    array([0., 2.])
    """
    return weft.where(x > 0, x, alpha * weft.expm1(_not_above_zero(x)))


@of_floats
def celu(x: Any, alpha: float = 1.0) -> ndarray:
    """The elements above 0, and alpha·(e^(x/alpha) - 1) of the others (Barron, 2017). ValueError for an alpha of 0.

    >>> weft.nn.celu(weft.asarray([0.0, 2.0]), 2.0)
    array([0., 2.])
    """
    if alpha == 0:
        raise ValueError("alpha of celu is not 0")
    return weft.where(x > 0, x, alpha * weft.expm1(_not_above_zero(x) / alpha))


@of_floats
def selu(x: Any) -> ndarray:
    """`elu` with the numbers that keep mean 0 and variance 1 from layer to layer (Klambauer and others, 2017).

    >>> weft.nn.selu(weft.asarray([0.0, 1.0]))
    array([0.        , 1.05070099])
    """
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return weft.where(x > 0, scale * x, (scale * alpha) * weft.expm1(_not_above_zero(x)))


def _not_above_zero(x: ndarray) -> ndarray:
    """Elements that an exponential may be taken of, where those above 0 are not used; the derivative at 0 is that from below."""
    return weft.where(x > 0, 0, x)


@of_floats
def sigmoid(x: Any) -> ndarray:
    """1/(1 + e⁻ˣ), with all digits where that is near 0.

    >>> weft.nn.sigmoid(weft.asarray([-1000.0, 0.0]))
    array([0. , 0.5])
    """
    falling = weft.exp(weft.where(x >= 0, -x, x))
    return weft.where(x >= 0, 1, falling) / (1 + falling)


@of_floats
def log_sigmoid(x: Any) -> ndarray:
    """The logarithm of the sigmoid, -log(1 + e⁻ˣ).

    >>> weft.nn.log_sigmoid(weft.asarray([-1000.0, 0.0]))
    array([-1.00000000e+03, -6.93147181e-01])
    """
    return -_softplus(-x)


@of_floats
def softplus(x: Any, beta: float = 1.0) -> ndarray:
    """log(1 + e^(beta·x))/beta, of any x: no threshold is needed. ValueError for a beta of 0.

    >>> weft.nn.softplus(weft.asarray([0.0, 1000.0]))
    array([6.93147181e-01, 1.00000000e+03])
    """
    if beta == 0:
        raise ValueError("beta of softplus is not 0")
    return _softplus(x) if beta == 1 else _softplus(beta * x) / beta


def _softplus(x: ndarray) -> ndarray:
    return weft.where(x > 0, x, 0) + weft.log1p(weft.exp(weft.where(x > 0, -x, x)))


@of_floats
def softsign(x: Any) -> ndarray:
    """x/(1 + |x|).

    >>> weft.nn.softsign(weft.asarray([-1.0, 3.0]))
    array([-0.5 ,  0.75])
    """
    return x / (1 + weft.abs(x))


@of_floats
def tanh(x: Any) -> ndarray:
    """The hyperbolic tangent.

    >>> weft.nn.tanh(weft.asarray([0.0]))
    array([0.])
    """
    return weft.tanh(x)


@of_floats
def gelu(x: Any, approximate: str = "none") -> ndarray:
    """x times the probability of a normal number below it (Hendrycks and Gimpel, 2016), with all digits where that is near 0; with
    `approximate="tanh"` by a hyperbolic tangent instead.

    >>> weft.nn.gelu(weft.asarray([0.0, 1.0]))
    array([0.        , 0.84134475])
    """
    if approximate == "tanh":
        # (1 + tanh(z))/2 is the sigmoid of 2·z, which loses no digits where it is near 0.
        return x * sigmoid((2 * math.sqrt(2 / math.pi)) * (x + 0.044715 * (x * x * x)))
    if approximate != "none":
        raise ValueError(f"approximate is 'none' or 'tanh', not {approximate!r}")
    return 0.5 * x * weft_math.erfc(x * -math.sqrt(0.5))


@of_floats
def silu(x: Any) -> ndarray:
    """x times its sigmoid, also called swish (Elfwing and others, 2017).

    >>> weft.nn.silu(weft.asarray([0.0, 1.0]))
    array([0.        , 0.73105858])
    """
    return x * sigmoid(x)


@of_floats
def mish(x: Any) -> ndarray:
    """x·tanh(softplus(x)) (Misra, 2019).

    >>> weft.nn.mish(weft.asarray([0.0, 1.0]))
    array([0.        , 0.86509839])
    """
    # tanh(log(1 + e)) is (e² + 2e)/(e² + 2e + 2), of e = eˣ; for x above 0 both are divided by e².
    above = x > 0
    e = weft.exp(weft.where(above, -x, x))
    top = weft.where(above, 1 + 2 * e, e * (e + 2))
    return x * (top / (top + weft.where(above, 2 * e * e, 2)))


@of_floats
def hard_sigmoid(x: Any) -> ndarray:
    """Lines for the sigmoid: 0 up to -3, 1 from 3 on, and x/6 + 1/2 between.

    >>> weft.nn.hard_sigmoid(weft.asarray([-4.0, 0.0, 4.0]))
    array([0. , 0.5, 1. ])
    """
    return _between(x + 3, 0, 6) / 6


@of_floats
def hard_swish(x: Any) -> ndarray:
    """x times its `hard_sigmoid` (Howard and others, 2019).

    >>> weft.nn.hard_swish(weft.asarray([-4.0, 1.5, 4.0]))
    array([-0.   ,  1.125,  4.   ])
    """
    return x * _between(x + 3, 0, 6) / 6


def glu(x: Any, axis: int = -1) -> ndarray:
    """The first half along an axis times the sigmoid of the second (Dauphin and others, 2016). ValueError where it has no halves.

    >>> weft.nn.glu(weft.asarray([2.0, 0.0]))
    array([1.])
    """
    x = floats("glu", x)
    axis = axis_of(axis, x.ndim)
    n = x.shape[axis]
    if n % 2:
        raise ValueError(f"glu halves an axis, and axis {axis} has {n} elements")
    front = (slice(None),) * axis
    return x[(*front, slice(n // 2))] * sigmoid(x[(*front, slice(n // 2, None))])


@of_floats
def softmax(x: Any, axis: Any = -1) -> ndarray:
    """eˣ over the sum of it along an axis or several (None: all). NaN where all are -inf.

    >>> weft.nn.softmax(weft.asarray([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    axis = where_axes(axis, x.ndim)
    e = weft.exp(x - _largest(x, axis))
    return e / weft.sum(e, axis=axis, keepdims=True)


def softmin(x: Any, axis: Any = -1) -> ndarray:
    """The softmax of -x.

    >>> weft.nn.softmin(weft.asarray([1.0, 1.0]))
    array([0.5, 0.5])
    """
    return softmax(-floats("softmin", x), axis)


@of_floats
def log_softmax(x: Any, axis: Any = -1) -> ndarray:
    """The logarithm of the softmax.

    >>> weft.nn.log_softmax(weft.asarray([0.0, 0.0]))
    array([-0.69314718, -0.69314718])
    """
    axis = where_axes(axis, x.ndim)
    shifted = x - _largest(x, axis)
    return shifted - weft.log(weft.sum(weft.exp(shifted), axis=axis, keepdims=True))


@of_floats
def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> ndarray:
    """The logarithm of the sum of eˣ along an axis or several (None: all); -inf where all are -inf, and of no elements.

    >>> weft.nn.logsumexp(weft.asarray([1000.0, 1000.0]))
    array(1000.69314718)
    """
    axis = where_axes(axis, x.ndim)
    largest = _largest(x, axis, -np.inf)
    # Infinities stay what they are: their difference would be NaN.
    largest = weft.where(weft.isfinite(largest), largest, 0)
    found = weft.log(weft.sum(weft.exp(x - largest), axis=axis, keepdims=True)) + largest
    return found if keepdims else _without(found, axis)


def _largest(x: ndarray, axis: Any, initial: float | None = None) -> ndarray:
    """The largest elements: what is taken from all of them changes no result, and no derivative. Of no elements there need be none."""
    found = weft.max(x, axis=axis, keepdims=True, **({"initial": -np.inf} if x.size == 0 or initial is not None else {}))
    return weft.stop_gradient(found)


def _without(found: ndarray, axis: Any) -> ndarray:
    if axis is None:
        return found.reshape(())
    return weft.squeeze(found, axis) if axis != () else found
