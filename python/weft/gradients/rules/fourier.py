"""Cotangents of Fourier transforms: sums whose coefficients are the same with rows and columns exchanged."""

from __future__ import annotations

from typing import Any

from weft._weft import _full, _part, _reshape, _ufunc, ndarray
from weft.arrays._common import real_dtype
from weft.fft._asking import transformed
from weft.gradients.primitives import Call
from weft.gradients.rules.products import fitted

__all__: list[str] = []


@transformed.defvjp
def _(
    cotangent: ndarray, result: ndarray, a: ndarray, kind: str, forward: bool, axes: list[int], lengths: list[int], factor: float
) -> tuple[Any, ...]:
    if kind == "to real":
        # All but the first one, and the last one of an even number, stand for their conjugates, too.
        back = transformed(cotangent, "from real", forward, axes, lengths, factor)
        back = _ufunc("multiply", (back, _weights(back, axes[-1], lengths[-1])), None)
    else:
        back = transformed(cotangent, "complex", forward, axes, lengths, factor)
        back = _part(back, "real") if kind == "from real" else back
    return fitted(_in_shape(back, a.shape, axes), a), None, None, None, None, None


def _weights(back: ndarray, axis: int, n: int) -> ndarray:
    count = back.shape[axis]
    row = _full((count,), 2, real_dtype(back.dtype), back.device)
    row[0] = 1
    if n % 2 == 0:
        row[-1] = 1
    return _reshape(row, tuple(count if at == axis else 1 for at in range(back.ndim)))


def _in_shape(back: ndarray, shape: tuple[int, ...], axes: list[int]) -> ndarray:
    """Without what was added behind the elements, and with zeros for those that were left out."""
    kept = tuple(slice(0, min(n, m)) for n, m in zip(back.shape, shape))
    if back.shape == shape:
        return back
    made = _full(shape, 0, back.dtype, back.device)
    made[kept] = back[kept]
    return made


@transformed.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    """The new axis is one more that is not transformed."""
    _, kind, forward, axes, lengths, factor = call.args
    return [transformed(operands[0], kind, forward, [axis + 1 for axis in axes], lengths, factor)]
