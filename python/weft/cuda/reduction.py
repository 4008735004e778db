"""Reductions by a function of two values, by Numba's names: ``total = cuda.reduce(lambda a, b: a + b)``, then ``total(array)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft import _weft, types
from weft.cuda.arrays import DeviceNDArray, device_array, to_device

__all__ = ["Reduce", "reduce"]

_THREADS = 256
_MOST_BLOCKS = 512


class Reduce:
    """Makes one value of an array by a function of two, which must not mind in which order."""

    # Whether a plain function's numbers follow Numba's rules.
    _numba = False

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        """`functor` is a Python function, or one of ``cuda.jit(device=True)``."""
        self._functor = functor
        self._kernels: dict[str, Any] = {}

    def __call__(self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0) -> Any:
        """The value, starting from `init`, of the first `size` elements of an array of rank 1, on the host or a device.

        With `res`, a device array, the value becomes its first element and nothing is returned; else it is waited for.
        """
        if arr.ndim != 1:
            raise TypeError(f"only arrays of rank 1 are reduced, not of rank {arr.ndim}")
        size = arr.size if size is None else size
        if not 0 <= size <= arr.size:
            raise ValueError(f"cannot reduce {size} elements of an array of {arr.size}")
        source = arr if isinstance(arr, DeviceNDArray) else to_device(np.asarray(arr), stream=stream)
        with source.device:
            out = device_array(1, source.dtype_name, stream=stream) if res is None else res
            self._launch(source[:size], out, np.asarray(init, source.dtype)[()], stream)
            return None if res is not None else out.copy_to_host(stream=stream)[0]

    def _launch(self, source: DeviceNDArray, out: Any, init: Any, stream: Any) -> None:
        if source.size == 0:
            out[:1].copy_to_device(np.full(1, init, source.dtype), stream)
            return
        kernel = self._kernels.get(source.dtype_name)
        if kernel is None:
            kernel = self._kernels[source.dtype_name] = _make(self._functor, types.element(source.dtype_name), self._numba)
        blocks = min(-(-source.size // _THREADS), _MOST_BLOCKS)
        partials = device_array(blocks, source.dtype_name, stream=stream)
        kernel[blocks, _THREADS, stream](source, partials, init, False)
        kernel[1, _THREADS, stream](partials, out, init, True)


reduce = Reduce


def _make(functor: Any, elem: types.Scalar, numba: bool) -> Any:
    """The kernel for one type of elements: each block leaves one value, the last launch the one that counts."""
    from weft import cuda

    combine = functor if isinstance(functor, _weft.Dispatcher) else cuda.jit(device=True, _numba=numba)(functor)
    threads = _THREADS

    @cuda.jit
    def reduce_blocks(source: Any, out: Any, init: Any, last: Any) -> None:
        held = cuda.shared.array(threads, elem)
        i = cuda.grid(1)
        t = cuda.threadIdx.x
        here = min(threads, source.size - cuda.blockIdx.x * threads)
        if i < source.size:
            value = source[i]
            for j in range(i + cuda.gridsize(1), source.size, cuda.gridsize(1)):
                value = combine(value, source[j])
            held[t] = value
        cuda.syncthreads()
        step = threads // 2
        while step > 0:
            if t < step and t + step < here:
                held[t] = combine(held[t], held[t + step])
            cuda.syncthreads()
            step //= 2
        if t == 0:
            out[cuda.blockIdx.x] = combine(init, held[0]) if last else held[0]

    return reduce_blocks
