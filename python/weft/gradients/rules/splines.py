"""Cotangents of splines' coefficients: solutions of systems of equations, which are the same with rows and columns exchanged, or nearly."""

from __future__ import annotations

from typing import Any

from weft._weft import _full, _reshape, _ufunc, ndarray
from weft.gradients.primitives import Call
from weft.scipy.ndimage.interpolation import coefficients

__all__: list[str] = []


@coefficients.defvjp
def _(g: ndarray, result: ndarray, rows: ndarray, edge: int) -> tuple[ndarray, None]:
    if edge != 0:
        return coefficients(g, edge), None
    # Mirrors have a neighbour of each end count twice: with half of the ends' equations the system is symmetric.
    ends = _full((rows.shape[1],), 1, rows.dtype, rows.device)
    ends[0] = 2
    ends[-1] = 2
    return _ufunc("divide", (coefficients(_ufunc("multiply", (g, ends), None), edge), ends), None), None


@coefficients.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[Any]:
    """There are more rows."""
    rows: Any = operands[0]
    found = coefficients(_reshape(rows, (count * rows.shape[1], rows.shape[2])), call.args[1])
    return [_reshape(found, rows.shape)]
