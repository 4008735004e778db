"""How a kernel uses an array of the host, by Numba's names: which copies a launch on a GPU can do without."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["In", "InOut", "Out"]


def In(ary: Any) -> Any:
    """An argument that the kernel reads only: not copied back. A kernel that writes to it is refused when it is compiled."""
    if not isinstance(ary, np.ndarray):
        return ary
    view = ary.view()
    view.flags.writeable = False
    return view


def Out(ary: Any) -> Any:
    """An argument that the kernel writes."""
    return ary


def InOut(ary: Any) -> Any:
    """An argument that the kernel reads and writes, as any array that is given without a hint."""
    return ary
