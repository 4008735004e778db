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

    def __call__(self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None) -> Any:
        if not any(isinstance(a, np.ndarray) for a in args) and out is None:
            result = self.function(*args)
            return np.asarray(result).astype(dtype)[()] if dtype is not None else np.asarray(result)[()]
        arrays = [a if isinstance(a, np.ndarray) else np.asarray(a) for a in args]
        shape = np.broadcast_shapes(*(a.shape for a in arrays), *([out.shape] if out is not None else []))
        each = [np.broadcast_to(a, shape) for a in arrays]
        points = list(np.ndindex(shape))
        results = [self.function(*(e[p] if isinstance(a, np.ndarray) else a for a, e in zip(args, each))) for p in points]
        made = np.asarray(results[0]).dtype if results else None
        whole = np.empty(shape, made)
        for p, result in zip(points, results):
            whole[p] = result
        if dtype is not None:
            whole = whole.astype(dtype, casting="same_kind")
        if out is None:
            return whole
        np.copyto(out, whole, where=where, casting="same_kind")
        return out
