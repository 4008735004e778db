"""Where the elements of a strided array lie: strides of dense arrays, and how far an array reaches from its first element."""

from __future__ import annotations

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
