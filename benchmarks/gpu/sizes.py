"""Numbers that kernels and those who launch them agree on."""

from __future__ import annotations

# The side of a block of the matrix product.
TILE = 16
# What a histogram counts: the values of a byte. A block has as many threads.
BINS = 256
# What of the plane the pictures show: x from, x to, y from, y to.
VIEW = (-2.0, 1.0, -1.0, 1.0)


def plane(height: int, width: int) -> tuple[float, float, float, float]:
    """Of a picture of that size: x at its left edge and from column to column, y at its top and from row to row."""
    x0, x1, y0, y1 = VIEW
    return x0, (x1 - x0) / width, y0, (y1 - y0) / height
