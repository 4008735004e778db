"""`compile`: the graph that a function records of arrays, captured once and recorded again without running Python."""

from __future__ import annotations

import functools
import linecache
import operator
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._pickling import _find
from weft._weft import _capture, _capture_key, _capture_ranks, _Graph, _Recent, _tape_is_here, ndarray
from weft.errors import CaptureError

# Graphs that a compiled function keeps: those used last.
_MOST_GRAPHS = 256

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def compile(function: Callable[..., Any] | None = None, *, donate: int | tuple[int, ...] = ()) -> Any:
    """The function, captured: what it records of arrays is kept, and recorded again of other arrays without running it.

    It is captured once for the dtypes and shapes of its arrays, where they lie in their memory, and all that else is among the
    arguments: numbers, strings, dtypes, in tuples, lists and dicts as deep as you like. A function that looks at no size is captured
    for two shapes, and then holds for all of as many axes. A number that changes from call to call is better passed as an array
    without axes. The function runs with stand-ins, so it cannot look at elements: `if x.sum() > 0`,
    `float(x)` or `x[x > 0]` raise CaptureError with the line. It should do nothing but compute with arrays: what it prints it prints
    once. Global names mean what they meant when it was captured; arrays among them have the elements of the moment.

    `donate` numbers arguments whose arrays are given up in a call, as parameters are that the function gives back changed: their memory
    is used for results, and whoever looks at them afterwards gets a ValueError.

    >>> @weft.compile
    ... def scaled(x, by):
    ...     return (x - x.mean()) * by
    >>> scaled(weft.arange(3.0), 2)
    array([-2.,  0.,  2.])
    >>> scaled(weft.ones(3), 2)
    array([0., 0., 0.])
    """
    numbers = _numbers(donate)
    if function is None:
        return functools.partial(compile, donate=numbers)
    if isinstance(function, Compiled):
        return function if function.donate == numbers else Compiled(function._function, numbers)
    if not callable(function):
        raise TypeError(f"compile takes a function, not {type(function).__name__}")
    return Compiled(function, numbers)


def _numbers(donate: Any) -> tuple[int, ...]:
    """The numbers of arguments, each once."""
    if isinstance(donate, (tuple, list)):
        numbers = tuple(operator.index(each) for each in donate)
    else:
        numbers = (operator.index(donate),)
    if any(each < 0 for each in numbers) or len(set(numbers)) != len(numbers):
        raise ValueError(f"donate takes the numbers of different arguments, the first of which is 0, not {donate!r}")
    return numbers


class Compiled:
    """What `compile` makes of a function."""

    def __init__(self, function: Callable[..., Any], donate: tuple[int, ...] = ()) -> None:
        # First: a gradient of a compiled function has its attributes, and those here are others.
        functools.update_wrapper(self, function)
        self._function = function
        self.donate = donate
        self._graphs: dict[Any, tuple[_Graph, Any]] = {}
        # By ranks: the graph that was captured first, and one that holds for all sizes.
        self._first: dict[Any, tuple[_Graph, Any]] = {}
        self._general: dict[Any, tuple[_Graph, Any]] = {}
        self._recent = _Recent(list(donate))
        self._captures = 0

    @property
    def captures(self) -> int:
        """How often the function was captured."""
        return self._captures

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method, of which `self` is no argument that could be captured."""
        if instance is None:
            return self
        raise CaptureError(f"{self._name()} is a method; compile a function of arrays, and call it in the method")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if _tape_is_here():
            # What is followed is taken down as it is made, not as it was made once.
            return self._function(*args, **keywords)
        if not keywords and (found := self._recent.call(args)) is not NotImplemented:
            return found
        arrays: list[ndarray] = []
        donated: list[bool] = []
        spec = (self._arguments(args, arrays, donated), _flattened(keywords, arrays, self._name))
        donated += [False] * (len(arrays) - len(donated))
        key = (spec, _capture_key(arrays))
        known = self._graphs.pop(key, None)
        if known is None:
            ranks = (spec, _capture_ranks(arrays))
            general = self._general.get(ranks)
            if general is not None and not any(donated) and (made := general[0].replay_of_other_sizes(arrays)) is not None:
                return _built(general[1], made)
            known = self._captured(spec, arrays)
            self._compare(ranks, known)
            while len(self._graphs) >= _MOST_GRAPHS:
                self._graphs.pop(next(iter(self._graphs)), None)
        self._graphs[key] = known
        graph, results = known
        made = graph.replay(arrays, donated)
        if made is None:
            # It writes to an array that it knows by a global name, too: Python itself knows best what that means.
            return self._function(*args, **keywords)
        if not keywords:
            self._recent.add(args, graph, results)
        return _built(results, made)

    def _arguments(self, args: tuple[Any, ...], arrays: list[ndarray], donated: list[bool]) -> Any:
        """Positional arguments as a part of a key, and which of their arrays are given up."""
        if self.donate and max(self.donate) >= len(args):
            raise TypeError(f"{self._name()} gives up argument {max(self.donate)}, and was called with {len(args)} positional arguments")
        parts = []
        for at, arg in enumerate(args):
            parts.append(_flattened(arg, arrays, self._name))
            donated += [at in self.donate] * (len(arrays) - len(donated))
        return (tuple, *parts)

    def __repr__(self) -> str:
        return f"<weft.compile of {self._name()}>"

    def __copy__(self) -> Compiled:
        return self

    def __deepcopy__(self, memo: Any) -> Compiled:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        """By name, as functions are, where a module's name leads back to it; else by the function, which is captured anew."""
        name = getattr(self, "__qualname__", "")
        if name and _find(getattr(self, "__module__", ""), name) is self:
            return name
        return _pickled, (self._function, self.donate)

    def _compare(self, ranks: Any, known: tuple[_Graph, Any]) -> None:
        """A function that looked at no size, and records the same for two sizes, records it for all."""
        before = self._first.get(ranks)
        if ranks[1] is None or ranks in self._general:
            return
        if before is not None and before[1] == known[1] and known[0].is_general(before[0]):
            self._general[ranks] = known
        elif len(self._first) < _MOST_GRAPHS:
            self._first[ranks] = known

    def _name(self) -> str:
        return getattr(self._function, "__name__", type(self._function).__name__)

    def _captured(self, spec: Any, arrays: list[ndarray]) -> tuple[_Graph, Any]:
        def call(stand_ins: list[ndarray]) -> tuple[list[ndarray], Any]:
            args, keywords = (_built(part, stand_ins) for part in spec)
            before = _snapshot((args, keywords))
            given = self._function(*args, **keywords)
            if _snapshot((args, keywords)) != before:
                what = "changes a list or dict that it was given, which a captured function cannot: return it instead"
                raise CaptureError(f"{self._name()} {what}")
            results: list[ndarray] = []
            return results, _flattened(given, results, self._name, result=True)

        self._captures += 1
        return _capture(call, arrays)


def _pickled(function: Callable[..., Any], donate: tuple[int, ...]) -> Compiled:
    return Compiled(function, donate)


def _flattened(given: Any, arrays: list[ndarray], name: Callable[[], str], *, result: bool = False) -> Any:
    """What can be a key: an array's place in the list, to which it is appended, or another object with all that tells it from others."""
    kind = type(given)
    if kind is ndarray:
        arrays.append(given)
        return ("array", len(arrays) - 1)
    if kind is tuple or kind is list:
        return (kind, *[_flattened(each, arrays, name, result=result) for each in given])
    if kind is dict:
        keys = tuple(_flattened(each, [], name, result=result) for each in given)
        return (kind, keys, *[_flattened(each, arrays, name, result=result) for each in given.values()])
    if isinstance(given, tuple) and hasattr(given, "_fields"):
        return ("named", kind, *[_flattened(each, arrays, name, result=result) for each in given])
    told = _told(given)
    if told is not None:
        return ("constant", kind, told, _Same(given))
    if isinstance(given, np.ndarray) and not result:
        raise TypeError(f"{name()} was given a NumPy array, whose elements a captured function would keep: pass weft.asarray(x)")
    where = f"{name()} returns" if result else f"{name()} was given"
    known = "captured functions take and return arrays, numbers, strings, dtypes, and tuples, lists and dicts of them"
    raise TypeError(f"{where} an object of type {kind.__name__}; {known}")


def _told(given: Any) -> Any:
    """What tells a constant from all others of its type; none where it is no constant."""
    if given is None or isinstance(given, (bool, int, str, bytes, np.dtype, type)) or given is Ellipsis:
        return (given,)
    if isinstance(given, np.generic):
        return (given.dtype.str, given.tobytes())
    if isinstance(given, float):
        return struct.pack("d", given)
    if isinstance(given, complex):
        return struct.pack("dd", given.real, given.imag)
    if isinstance(given, slice):
        parts = [_told(part) for part in (given.start, given.stop, given.step)]
        return None if None in parts else tuple((type(part), told) for part, told in zip((given.start, given.stop, given.step), parts))
    return None


class _Same:
    """An object in a key that says nothing of it: what stands beside it does."""

    __slots__ = ("object",)

    def __init__(self, object: Any) -> None:
        self.object = object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same)

    def __hash__(self) -> int:
        return 0


def _built(spec: Any, arrays: list[ndarray]) -> Any:
    """The objects of a key, new lists and dicts among them."""
    kind = spec[0]
    if kind == "array":
        return arrays[spec[1]]
    if kind == "constant":
        return spec[3].object
    if kind is dict:
        return {_built(key, []): _built(each, arrays) for key, each in zip(spec[1], spec[2:])}
    if kind == "named":
        return spec[1](*[_built(each, arrays) for each in spec[2:]])
    return kind([_built(each, arrays) for each in spec[1:]])


def _snapshot(given: Any) -> Any:
    """Which objects lists and dicts hold, and where."""
    if isinstance(given, (list, tuple)):
        return [_snapshot(each) for each in given]
    if isinstance(given, dict):
        return [(key, _snapshot(each)) for key, each in given.items()]
    return id(given)


def _users_line() -> str:
    """Where the innermost line is that is not Weft's own."""
    frame = sys._getframe()
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_HERE):
        frame = frame.f_back
    if frame is None:
        return "a captured function"
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line).strip()
    return f"{file}:{line}" + (f" (`{text}`)" if text else "")
