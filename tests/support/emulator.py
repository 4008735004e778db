"""Runs undecorated kernels in plain Python: the oracle of the kernel tests.

A kernel is ordinary Python whose free name ``cuda`` means the thread it runs as. The emulator calls it once per thread with such a
``cuda``; threads of a kernel with barriers are operating-system threads that run one at a time and pass the turn at each barrier.
"""

from __future__ import annotations

import builtins
import itertools
import threading
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def call(function: Any, args: Sequence[Any]) -> Any:
    """Call the Python function behind a compiled host function."""
    with np.errstate(all="ignore"):
        return _plain(function, _Cuda(None))(*args)


def launch(kernel: Any, blocks: Any, threads: Any, args: Sequence[Any]) -> None:
    """Run the Python function behind ``kernel`` for every thread of the grid, block after block."""
    grid, block = _dim3(blocks), _dim3(threads)
    with_barriers = "syncthreads" in kernel.py_func.__code__.co_names or _calls_barrier(kernel)
    for z, y, x in itertools.product(*map(range, reversed(grid))):
        _Block((x, y, z), block, grid).run(kernel, args, with_barriers)


def _calls_barrier(kernel: Any) -> bool:
    functions = (kernel.py_func.__globals__.get(name) for name in kernel.py_func.__code__.co_names)
    return any("syncthreads" in f.py_func.__code__.co_names for f in functions if hasattr(f, "py_func"))


def _dim3(value: Any) -> tuple[int, int, int]:
    items = tuple(value) if isinstance(value, tuple) else (value,)
    return items + (1,) * (3 - len(items))


class _Block:
    """The threads of one block, their shared arrays and their barrier."""

    def __init__(self, index: tuple[int, ...], dim: tuple[int, ...], grid: tuple[int, ...]) -> None:
        self.index, self.dim, self.grid = index, dim, grid
        self.shared: dict[int, np.ndarray] = {}

    def run(self, kernel: Any, args: Sequence[Any], with_barriers: bool) -> None:
        indices = [(x, y, z) for z, y, x in itertools.product(*map(range, reversed(self.dim)))]
        if with_barriers:
            self._run_turns(kernel, args, indices)
            return
        with np.errstate(all="ignore"):
            for index in indices:
                _plain(kernel, _Cuda(_Thread(self, index, lambda: None)))(*args)

    def _run_turns(self, kernel: Any, args: Sequence[Any], indices: list[tuple[int, ...]]) -> None:
        turn = _Turns(len(indices))

        def body(number: int, index: tuple[int, ...]) -> None:
            turn.start(number)
            try:
                with np.errstate(all="ignore"):
                    _plain(kernel, _Cuda(_Thread(self, index, lambda: turn.barrier(number))))(*args)
            except BaseException as error:
                turn.errors.append(error)
            turn.finish(number)

        workers = [threading.Thread(target=body, args=item) for item in enumerate(indices)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if turn.errors:
            raise turn.errors[0]


class _Turns:
    """Lets threads run one at a time, in order; a barrier gives the turn to the next thread that is not done."""

    def __init__(self, count: int) -> None:
        self.condition = threading.Condition()
        self.live = list(range(count))
        self.current = 0
        self.errors: list[BaseException] = []

    def start(self, number: int) -> None:
        with self.condition:
            self.condition.wait_for(lambda: self.current == number)

    def barrier(self, number: int) -> None:
        with self.condition:
            self._pass_on(number)
            self.condition.wait_for(lambda: self.current == number)

    def finish(self, number: int) -> None:
        with self.condition:
            self._pass_on(number)
            self.live.remove(number)

    def _pass_on(self, number: int) -> None:
        position = self.live.index(number)
        self.current = self.live[(position + 1) % len(self.live)]
        self.condition.notify_all()


class _Thread:
    """One thread: who it is and how it waits."""

    def __init__(self, block: _Block, index: tuple[int, ...], barrier: Callable[[], None]) -> None:
        self.block, self.index, self.barrier = block, index, barrier
        self.shared_calls = itertools.count()


class _Axes:
    def __init__(self, values: Sequence[int]) -> None:
        self.x, self.y, self.z = values


class _Cuda:
    """What the name ``cuda`` means inside a kernel."""

    warpsize = 32

    def __init__(self, thread: _Thread | None) -> None:
        if thread is None:
            return
        block = thread.block
        self._thread = thread
        self.threadIdx, self.blockIdx = _Axes(thread.index), _Axes(block.index)
        self.blockDim, self.gridDim = _Axes(block.dim), _Axes(block.grid)
        x, y, z = thread.index
        self.laneid = (x + block.dim[0] * (y + block.dim[1] * z)) % 32
        self.shared = types.SimpleNamespace(array=self._shared_array)
        self.local = types.SimpleNamespace(array=lambda shape, dtype: np.empty(shape, _dtype(dtype)))
        self.const = types.SimpleNamespace(array_like=lambda array: array)
        self.atomic = _Atomic

    def grid(self, rank: int) -> Any:
        block = self._thread.block
        ids = [i + b * d for i, b, d in zip(self._thread.index, block.index, block.dim)][:rank]
        return ids[0] if rank == 1 else tuple(ids)

    def gridsize(self, rank: int) -> Any:
        block = self._thread.block
        sizes = [d * g for d, g in zip(block.dim, block.grid)][:rank]
        return sizes[0] if rank == 1 else tuple(sizes)

    def syncthreads(self) -> None:
        self._thread.barrier()

    def _shared_array(self, shape: Any, dtype: Any) -> np.ndarray:
        number = next(self._thread.shared_calls)
        return self._thread.block.shared.setdefault(number, np.empty(shape, _dtype(dtype)))


def _dtype(dtype: Any) -> np.dtype:
    return np.dtype(getattr(dtype, "name", dtype))


class _Atomic:
    """Numba's atomics, for threads that run one at a time."""

    @staticmethod
    def _update(change: Callable[[Any, Any], Any]) -> Any:
        def atomic(array: Any, index: Any, value: Any) -> Any:
            old = array[index]
            array[index] = change(old, array.dtype.type(value))
            return old

        return staticmethod(atomic)

    @staticmethod
    def cas(array: Any, index: Any, old: Any, value: Any) -> Any:
        current = array[index]
        if current == old:
            array[index] = value
        return current

    @staticmethod
    def compare_and_swap(array: Any, old: Any, value: Any) -> Any:
        return _Atomic.cas(array, 0, old, value)


for _name, _change in {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "max": max,
    "min": min,
    "exch": lambda a, b: b,
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}.items():
    setattr(_Atomic, _name, _Atomic._update(_change))


def _plain(function: Any, cuda: _Cuda) -> Callable[..., Any]:
    """The Python function behind a compiled one, with ``cuda`` and every compiled function it names replaced likewise."""
    source = function.py_func
    names = dict(source.__globals__)
    for name in source.__code__.co_names:
        if name == "cuda":
            names[name] = cuda
        elif name == "prange":
            names[name] = range
        elif hasattr(names.get(name), "py_func"):
            names[name] = _plain(names[name], cuda)
    names["__builtins__"] = builtins
    plain = types.FunctionType(source.__code__, names, source.__name__, source.__defaults__, _cells(source, cuda))
    plain.__kwdefaults__ = source.__kwdefaults__
    return plain


def _cells(source: types.FunctionType, cuda: _Cuda) -> tuple[types.CellType, ...] | None:
    if source.__closure__ is None:
        return None
    contents = (cell.cell_contents for cell in source.__closure__)
    return tuple(types.CellType(_plain(c, cuda) if hasattr(c, "py_func") else c) for c in contents)
