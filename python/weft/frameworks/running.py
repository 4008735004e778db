"""How the function of an operation runs on arrays: NumPy's, or device arrays in memory of a CUDA device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weft import _weft, errors

from .operation import Operation

_MOST_GRIDS = 256
"""So many grids of a kernel are kept."""


def explained(operation: Operation, error: Exception) -> Exception:
    """An error of a call, with what to do about it where that is not plain from the function alone."""
    if isinstance(error, errors.TypingError) and "is read-only and cannot be written" in str(error):
        return type(error)(f"{error}\n{operation.name} writes to an argument of its operation: name it, mutates=('x',), or in out=")
    return error


def returns_nothing(operation: Operation) -> None:
    """Raises for a function that returns something and has results that it writes to."""
    raise RuntimeError(f"{operation.name} returns something, and out= names parameters that it writes to: let it do one or the other")


class Streams:
    """Streams of others as Weft's, which are made once."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], Any] = {}

    def of(self, index: int, handle: int) -> Any:
        """The stream of a handle of CUDA's driver on a device; None, the default stream, for 0."""
        if handle == 0:
            return None
        found = self.known.get((index, handle))
        if found is None:
            with _weft.device(f"cuda:{index}"):
                found = self.known[index, handle] = _weft.Stream(handle=handle)
        return found


class Launchers:
    """A kernel with its grids, of which those that were used lately are kept."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.names = [p.name for p in operation.parameters]
        self.known: dict[Any, _weft.Launcher] = {}
        self.checked: set[Any] = set()

    def key(self, first: Any, args: Any) -> Any:
        """What it is launched over for these arguments: the points, or blocks and threads. `first` is its first result."""
        operation = self.operation
        if operation.grid is None and operation.launch is None:
            return tuple(first.shape)
        return _asked(operation, dict(zip(self.names, args, strict=True)), first)

    def find(self, first: Any, args: Any) -> _weft.Launcher:
        """The kernel with its grid on the CPU."""
        key = self.key(first, args)
        found = self.known.get(key)
        if found is None:
            with _weft.device("cpu"):
                found = self.made(key, self.cpu_stream)
            if len(self.known) > _MOST_GRIDS:
                self.known.clear()
            self.known[key] = found
        return found

    @functools.cached_property
    def cpu_stream(self) -> Any:
        """The stream of the CPU, which says that a launch is meant for it."""
        with _weft.device("cpu"):
            return _weft.Stream(default=True)

    def made(self, key: Any, stream: Any) -> _weft.Launcher:
        """The kernel with its grid, on a stream of the current device."""
        operation = self.operation
        if operation.launch is not None:
            if not 2 <= len(key) <= 3:
                raise ValueError(f"launch= says (blocks, threads), or (blocks, threads, bytes of shared memory), not {key}")
            return operation.f[(*key[:2], stream, *key[2:])]
        if operation.grid is None and len(key) != 1:
            operation.points({}, key)
        return operation.f.forall(key, stream=stream)

    def shared(self, first: Any, args: Any) -> int:
        """The bytes of dynamic shared memory that a launch has."""
        key = self.key(first, args) if self.operation.launch is not None else ()
        return key[2] if len(key) == 3 else 0

    def launch(self, first: Any, args: Any, passed: list[Any], index: int, stream: Any) -> None:
        """Launches it on a CUDA device with the arrays there, in the order of a stream."""
        with _weft.device(f"cuda:{index}"):
            self._check_writes(passed)
            self.made(self.key(first, args), stream or 0)(*passed)

    def _check_writes(self, passed: list[Any]) -> None:
        """Refuses a kernel that writes to an argument unasked. On the CPU its array is read-only, which those of devices cannot be."""
        row = tuple(_weft.typeof(value) for value in passed)
        if row in self.checked:
            return
        operation = self.operation
        for (where, i), writes in zip(operation.order, operation.f._writes(row), strict=True):
            if writes and where == "in" and operation.parameters[i].name not in operation.mutates:
                name = operation.parameters[i].name
                raise RuntimeError(
                    f"{operation.name} writes to {name}, an argument of its operation: name it, mutates=({name!r},), or in out="
                )
        self.checked.add(row)


def _asked(operation: Operation, values: Mapping[str, Any], first: Any) -> Any:
    if operation.launch is not None:
        return tuple(operation.launch(values) if callable(operation.launch) else operation.launch)
    points = operation.points(values, tuple(first.shape))
    return tuple(points) if hasattr(points, "__iter__") else (points,)


def number_of(kind: str, array: Any) -> Any:
    """A parameter that is a number, from the array with one element that a framework gives."""
    return {"float": float, "int": int, "bool": bool}[kind](array.item())


def runner(operation: Operation) -> Callable[[Any, Any, Any], None]:
    """A function that fills the results: of arrays and numbers, the results' arrays, and on CUDA a device's number and a stream there."""
    if operation.sort == "vectorized":
        everywhere = functools.cache(operation.everywhere)

        def elementwise(values: Any, outs: Any, place: Any) -> None:
            if place is None:
                operation.f(*values, outs[0], casting="same_kind")
            else:
                everywhere()._run_on(place[1], *values, outs[0])

        return elementwise
    if operation.sort == "function":
        return functools.partial(_function, operation)
    launchers = Launchers(operation)

    def kernel(values: Any, outs: Any, place: Any) -> None:
        fill(operation, outs, place)
        passed = [outs[i] if where == "out" else values[i] for where, i in operation.order]
        if place is None:
            launchers.find(outs[0], values)(*passed)
        else:
            launchers.launch(outs[0], values, passed, *place)

    return kernel


def _function(operation: Operation, values: Any, outs: Any, place: Any) -> None:
    if place is not None:
        raise RuntimeError(
            f"{operation.name} is an njit function, which runs on the CPU: make the operation of a cuda.jit kernel or a vectorized function"
        )
    if not operation.returns:
        fill(operation, outs, None)
        passed = [outs[i] if where == "out" else values[i] for where, i in operation.order]
        if operation.f(*passed) is not None:
            returns_nothing(operation)
        return
    result = operation.f(*values)
    items = (result,) if len(outs) == 1 else result
    if not isinstance(items, tuple) or len(items) != len(outs):
        raise TypeError(f"{operation.name} returns {type(result).__name__}, and out= says a tuple of {len(outs)}")
    for item, out in zip(items, outs, strict=True):
        check_returned(operation, item, out.shape, out.dtype)
        out[...] = item


def check_returned(operation: Operation, item: Any, shape: tuple[int, ...], dtype: Any) -> None:
    """Raises if what a function returned is not what `out` says."""
    array = item if type(item) is np.ndarray else np.asarray(item)
    if array.dtype != dtype:
        raise TypeError(f"{operation.name} returns {array.dtype}, and out= says {dtype}")
    if array.shape != shape:
        raise ValueError(f"{operation.name} returns an array of shape {array.shape}, and out= says {tuple(shape)}")


def fill(operation: Operation, outs: Any, place: Any) -> None:
    """Gives results the first elements that `out` says."""
    for output, out in zip(operation.outputs, outs, strict=True):
        if output.fill is None:
            continue
        if place is None:
            out.fill(output.fill)
        else:
            _filler()._run_on(place[1], np.dtype(out.dtype_name).type(output.fill), out)


@functools.cache
def _filler() -> Any:
    from weft import vectorize

    return vectorize(_same, target="cuda")


def _same(x: Any) -> Any:
    return x


@functools.cache
def result_dtype(operation: Operation, dtypes: tuple[Any, ...]) -> Any:
    """NumPy's dtype of a vectorized function's result, for arrays of these dtypes: found on no elements."""
    given = iter(dtypes)
    args = [np.empty(0, next(given)) if p.is_array else {"float": 1.0, "int": 1, "bool": True}[p.kind] for p in operation.parameters]
    return operation.f(*args).dtype
