"""What programs import where they run undecorated: decorators that leave functions as they are, kernels run thread by thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

prange = range


def njit(function: Callable[..., Any] | None = None, **_: Any) -> Any:
    """The function itself."""
    return function if function is not None else lambda f: f


class _Kernel:
    """A kernel: the emulator of the kernel tests runs it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.py_func(*args, **named)

    def __getitem__(self, config: tuple[Any, Any]) -> Callable[..., None]:
        from support import emulator

        return lambda *args: emulator.launch(self, config[0], config[1], args)


class cuda:
    """`cuda.jit`; other names mean something inside kernels only."""

    @staticmethod
    def jit(function: Callable[..., Any] | None = None, **_: Any) -> Any:
        """A kernel or a device function."""
        return _Kernel(function) if function is not None else _Kernel


class vectorize:
    """The function called for each point of the broadcast operands."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None, casting: Any = "same_kind") -> Any:
        if dtype is not None:
            args = tuple(np.asarray(a).astype(dtype, casting=casting) if isinstance(a, np.ndarray) else dtype(a) for a in args)
        arrays = [np.asarray(a) for a in args]
        shape = np.broadcast_shapes(*(a.shape for a in arrays), *([out.shape] if out is not None else []))
        each = [np.broadcast_to(a, shape) if isinstance(arg, np.ndarray) else None for a, arg in zip(arrays, args)]
        points = list(np.ndindex(shape))
        results = [self.function(*(a if e is None else e[p] for a, e in zip(args, each))) for p in points]
        whole = np.empty(shape, dtype or np.asarray(results[0]).dtype)
        for p, result in zip(points, results):
            whole[p] = result
        if out is None:
            return whole if whole.ndim else whole[()]
        np.copyto(out, whole, where=where, casting="same_kind")
        return out
