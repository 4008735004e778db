"""Where the elements of a strided array lie: strides of dense arrays, how far one reaches from its first element, and how far it may."""

from __future__ import annotations

import math
from collections.abc import Sequence


def dense_strides(shape: Sequence[int], item: int, order: str = "C") -> tuple[int, ...]:
    """Strides in bytes of an array without gaps; in order "C" the last axis is the densest, in "F" the first."""
    axes = range(len(shape)) if order == "F" else reversed(range(len(shape)))
    strides = [0] * len(shape)
    for axis in axes:
        strides[axis] = item
        item *= max(shape[axis], 1)
    return tuple(strides)


def reach(shape: Sequence[int], strides: Sequence[int], item: int) -> tuple[int, int]:
    """The lowest byte of any element and the one after the highest, counted from the first element's; (0, item) for empty arrays."""
    steps = [] if 0 in shape else [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    return sum(s for s in steps if s < 0), sum(s for s in steps if s > 0) + item


def is_too_big(shape: Sequence[int], strides: Sequence[int], item: int) -> bool:
    """Whether the bytes from an array's lowest to its highest, or those of its elements without gaps, are more than an int64 counts. An
    axis of length 0 counts as one element, since sizes and strides are computed from the others."""
    low, high = reach(shape, strides, item)
    dense = item * math.prod(max(n, 1) for n in shape)
    return max(high - low, dense) >= 2**63
