"""`cupyx.jit`: kernels in Python by CuPy's names, compiled by `weft.cuda.jit` for every device.

Numbers in them have NumPy's types, as in `weft.cuda`: what `mode="cuda"` makes of them in CuPy (C's promotions) is not made here.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from weft import cuda
from weft.cuda import (
    blockDim,
    blockIdx,
    grid,
    gridDim,
    gridsize,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads,
    syncwarp,
    threadIdx,
    warpsize,
)
from weft.errors import UnsupportedError

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_dec",
    "atomic_exch",
    "atomic_inc",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_sub",
    "atomic_xor",
    "blockDim",
    "blockIdx",
    "grid",
    "gridDim",
    "gridsize",
    "laneid",
    "range",
    "rawkernel",
    "shared_memory",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "syncthreads",
    "syncwarp",
    "threadIdx",
    "warpsize",
]

range = builtins.range
atomic_add, atomic_sub, atomic_exch = cuda.atomic.add, cuda.atomic.sub, cuda.atomic.exch  # type: ignore[attr-defined]
atomic_min, atomic_max, atomic_inc = cuda.atomic.min, cuda.atomic.max, cuda.atomic.inc  # type: ignore[attr-defined]
atomic_dec, atomic_cas, atomic_and = cuda.atomic.dec, cuda.atomic.cas, cuda.atomic.and_  # type: ignore[attr-defined]
atomic_or, atomic_xor = cuda.atomic.or_, cuda.atomic.xor  # type: ignore[attr-defined]


def laneid():
    """The number of the thread in its warp, in a kernel."""
    return cuda.laneid


def shared_memory(dtype, size):
    """An array of so many elements that the threads of a block share, in a kernel."""
    return cuda.shared.array(size, dtype)


class RawKernel:
    """What `rawkernel` makes of a function: launched as `kernel[grid, block](*args)` or `kernel(grid, block, args)`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.kernel = cuda.jit(function)
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, grid: Any, block: Any, args: Any, shared_mem: int = 0, stream: Any = None) -> None:
        """Launches the kernel."""
        from weft.cupy.cuda.streams import chosen_stream

        queue = chosen_stream() if stream is None else stream
        self.kernel[_three(grid), _three(block), 0 if queue is None else queue.weft_stream, shared_mem](*args)

    def __getitem__(self, sizes: Any) -> Callable[..., None]:
        """The kernel for a grid and a block."""
        if not (isinstance(sizes, tuple) and len(sizes) in (2, 3)):
            raise ValueError("the sizes of a launch are [grid, block]")
        return lambda *args: self(*sizes[:2], args, **({"stream": sizes[2]} if len(sizes) == 3 else {}))


def _three(size: Any) -> Any:
    return tuple(size) if isinstance(size, (tuple, list)) else (size,)


def rawkernel(*, mode: str = "cuda", device: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that makes a kernel of a function, or with `device=True` a function that kernels call.

    >>> @cupyx.jit.rawkernel()
    ... def double(x, n):
    ...     i = cupyx.jit.grid(1)
    ...     if i < n:
    ...         x[i] *= 2
    >>> x = cupy.arange(3)
    >>> double[1, 32](x, 3)
    >>> x
    array([0, 2, 4])
    """
    if mode not in ("cuda", "numpy"):
        raise ValueError(f"mode is 'cuda' or 'numpy', not {mode!r}")
    if device:
        return cuda.jit(device=True)
    return RawKernel


def __getattr__(name: str) -> Any:
    """What CuPy has besides is refused by name."""
    if name in ("cg", "cub", "thrust"):
        raise UnsupportedError(f"cupyx.jit.{name} is not taken: weft.cuda has barriers of grids, and arrays have sorts and sums")
    raise AttributeError(f"module 'weft.cupyx.jit' has no attribute {name!r}")
