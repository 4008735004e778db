"""Windows that move over the last axes of arrays: where they lie, how many there are, borders, and what is added back to their places."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import weft
from weft._weft import ndarray

from ._common import Shape, numbers

__all__ = ["Windows", "added_back", "bordered", "tap", "taps", "without_border"]


class Windows(NamedTuple):
    """How windows move: a number for each axis that they move along, the last ones of an array."""

    size: Shape
    stride: Shape
    dilation: Shape
    before: Shape
    """The border in front of each axis."""
    behind: Shape
    """The border at each end."""

    def counts(self, extents: Shape, name: str) -> Shape:
        """How many windows there are along each axis. ValueError where there is none."""
        found = []
        for n, size, stride, dilation, low, high in zip(extents, *self):
            room = n + low + high - dilation * (size - 1) - 1
            if room < 0:
                raise ValueError(f"{name}: a window of {dilation * (size - 1) + 1} is longer than {n} with its border of {low} and {high}")
            found.append(room // stride + 1)
        return tuple(found)


def taps(windows: Windows) -> Iterator[Shape]:
    """The places within a window, in C's order."""
    return itertools.product(*map(range, windows.size))


def tap(x: ndarray, windows: Windows, place: Shape, counts: Shape) -> ndarray:
    """What all windows have at one place: a view of an array that has its border."""
    return x[_cut(x, windows, place, counts)]


def _cut(x: ndarray, windows: Windows, place: Shape, counts: Shape) -> tuple[Any, ...]:
    cut = (
        slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
        for at, count, stride, dilation in zip(place, counts, windows.stride, windows.dilation)
    )
    return (Ellipsis, *cut)


def bordered(x: ndarray, windows: Windows, value: Any) -> ndarray:
    """An array with its border along the last axes; itself where there is none."""
    if not any(windows.before) and not any(windows.behind):
        return x
    rank = len(windows.size)
    inner = x.shape[x.ndim - rank :]
    made = weft.full(
        (*x.shape[: x.ndim - rank], *(low + n + high for low, n, high in zip(windows.before, inner, windows.behind))),
        value,
        dtype=x.dtype,
        device=x.device,
    )
    made[(Ellipsis, *(slice(low, low + n) for low, n in zip(windows.before, inner)))] = x
    return made


def without_border(x: ndarray, windows: Windows, extents: Shape) -> ndarray:
    """What lies inside the border."""
    return x[(Ellipsis, *(slice(low, low + n) for low, n in zip(windows.before, extents)))]


def added_back(parts: Iterator[tuple[Shape, ndarray]], windows: Windows, front: Shape, extents: Shape, like: ndarray) -> ndarray:
    """The sums of what the windows have for each element: the adjoint of taking them. `parts` are places and what is there in all windows;
    what is in the border is dropped."""
    inner = tuple(low + n + high for low, n, high in zip(windows.before, extents, windows.behind))
    made = weft.zeros((*front, *inner), dtype=like.dtype, device=like.device)
    # Where windows do not meet every element is written once.
    apart = all(stride >= dilation * (size - 1) + 1 or size == 1 for size, stride, dilation in zip(*windows[:3]))
    for place, part in parts:
        cut = _cut(made, windows, place, part.shape[part.ndim - len(inner) :])
        if apart:
            made[cut] = part
        else:
            made[cut] += part
    return without_border(made, windows, extents)


def pooling(name: str, x: ndarray, rank: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Windows:
    """The windows of a pool, as PyTorch has them: borders of half a window at most; with `ceil_mode` a last window that reaches over the
    end, unless it would start there."""
    if x.ndim not in (rank + 1, rank + 2):
        raise ValueError(f"{name} takes (batch, channels, {'...' if rank == 1 else 'height, width'}) or one example of it, not {x.shape}")
    size = numbers(kernel_size, rank, "kernel_size", 1)
    step = size if stride is None else numbers(stride, rank, "stride", 1)
    low, spread = numbers(padding, rank, "padding"), numbers(dilation, rank, "dilation", 1)
    if any(2 * each > n for each, n in zip(low, size)):
        raise ValueError(f"pad should be at most half of effective kernel size, but got pad={padding}, kernel_size={kernel_size}")
    high = low
    if ceil_mode:
        high = tuple(_end(name, *each) for each in zip(x.shape[-rank:], size, step, spread, low))
    return Windows(size, step, spread, low, high)


def _end(name: str, n: int, size: int, stride: int, dilation: int, low: int) -> int:
    """The border at the end with which as many windows fit as start inside."""
    reach = dilation * (size - 1) + 1
    count = -(-(n + 2 * low - reach) // stride) + 1
    if count < 1:
        raise ValueError(f"{name}: a window of {reach} is longer than {n} with its border of {low} and {low}, by a stride or more")
    if (count - 1) * stride >= n + low:
        count -= 1
    return max((count - 1) * stride + reach - n - low, low)
