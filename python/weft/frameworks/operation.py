"""What an operation of a framework is made of: a function of Weft's, its parameters, its results, and the rule of its gradient.

Nothing here knows a framework: each of them asks an `Operation` for what it has to be told.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import math
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from weft import _weft

ABSENT: Any = inspect.Parameter.empty
"""The default of a parameter that has none."""

_NUMBERS: dict[Any, str] = {float: "float", int: "int", bool: "bool", "float": "float", "int": "int", "bool": "bool"}


class Parameter(NamedTuple):
    """A parameter of an operation: an array, or a number of a kind (`float`, `int`, `bool`)."""

    name: str
    kind: str
    default: Any

    @property
    def is_array(self) -> bool:
        """Whether arrays are given for it."""
        return self.kind == "array"


class like:
    """What an operation gives: an array with the shape and dtype of a parameter, but for what is said otherwise.

    `shape` is a tuple, or a function of some of the operation's arguments, which it names as its own parameters; `dtype` is a dtype. An
    array that the operation writes to is unset before it does, or all `fill`.

    >>> weft.like("x")
    like('x')
    >>> weft.like("x", shape=lambda x, y: (x.shape[0], y.shape[1]), fill=0)
    like('x', shape=<function>, fill=0)
    """

    def __init__(self, name: str, *, shape: Any = None, dtype: Any = None, fill: Any = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"like() takes the name of a parameter, not {type(name).__name__}")
        self.name, self.shape, self.dtype, self.fill = name, shape, dtype, fill

    def __repr__(self) -> str:
        shape = "<function>" if callable(self.shape) else self.shape
        said = [("shape", shape), ("dtype", self.dtype), ("fill", self.fill)]
        return f"like({self.name!r}{''.join(f', {key}={value}' for key, value in said if value is not None)})"


class Chosen:
    """A user's function of some of the arguments, which its parameters name."""

    def __init__(self, function: Callable[..., Any], known: list[str], what: str) -> None:
        self.function = function
        self.names = [p.name for p in inspect.signature(function).parameters.values() if p.default is ABSENT]
        for name in self.names:
            if name not in known:
                raise ValueError(f"{what} names its arguments, and {name!r} is none of {', '.join(known)}")

    def __call__(self, values: Mapping[str, Any]) -> Any:
        return self.function(*(values[name] for name in self.names))


class Output:
    """A result: which parameter of the function it is written to, if any, and what shape, dtype and first elements it has."""

    def __init__(self, given: Any, written: str | None, known: list[Parameter]) -> None:
        self.written = written
        self.fill = None
        self.dtype = None
        self.template: str | None = None
        self._pair: Chosen | None = None
        self._shape: Any = None
        names = [p.name for p in known]
        if isinstance(given, like):
            if given.name not in [p.name for p in known if p.is_array]:
                raise ValueError(f"out: {given.name!r} is no array among the parameters {', '.join(names)}")
            self.template, self.dtype, self.fill = given.name, given.dtype, given.fill
            self._shape = Chosen(given.shape, names, "a shape") if callable(given.shape) else given.shape
        elif callable(given):
            self._pair = Chosen(given, names, "out")
        else:
            raise TypeError(
                f"out is like('x'), or a function of the arguments that gives a shape and a dtype, or several of these, not {given!r}"
            )

    @functools.cached_property
    def is_plain(self) -> bool:
        """Whether it has the shape and the dtype of its template."""
        return self.template is not None and self._shape is None and self.dtype is None

    def described(self, values: Mapping[str, Any]) -> tuple[tuple[Any, ...], Any]:
        """Shape and dtype for these arguments; the dtype is None if it is the template's."""
        if self._pair is not None:
            pair = self._pair(values)
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(f"a function for out gives a shape and a dtype, not {pair!r}")
            return _shape(pair[0]), pair[1]
        shape = self._shape(values) if callable(self._shape) else self._shape
        return _shape(values[self.template].shape if shape is None else shape), self.dtype

    def dtype_of(self, values: Mapping[str, Any]) -> Any:
        """The dtype alone, which a template tells where shapes are not known."""
        if self.template is None:
            return self.described(values)[1]
        return values[self.template].dtype if self.dtype is None else self.dtype


def _shape(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, (tuple, list)) or hasattr(given, "__iter__") else (given,)


class Operation:
    """A function of Weft's with all that a framework has to know to make an operation of it."""

    is_derived = False
    """Whether it gives another operation's gradient."""

    def __init__(
        self,
        f: Any,
        *,
        out: Any = None,
        mutates: Any = (),
        vjp: Any = None,
        grid: Any = None,
        launch: Any = None,
        numbers: Mapping[str, Any] | None = None,
    ) -> None:
        self.f = f
        self.sort = _sort(f)
        self.name: str = f.__name__
        every = self._parameters(numbers or {})
        self.outputs, self.returns = self._outputs(out, every)
        written = [output.written for output in self.outputs]
        self.parameters = [p for p in every if p.name not in written]
        # Where each of the function's parameters comes from: an argument, or a result.
        self.order = [("out", written.index(p.name)) if p.name in written else ("in", self.parameters.index(p)) for p in every]
        self.mutates = self._mutated((mutates,) if isinstance(mutates, str) else tuple(mutates))
        self.arrays = [p for p in self.parameters if p.is_array]
        if not self.arrays:
            raise ValueError(f"{self.name} has no array among its parameters: an operation is one of arrays")
        self._check_defaults()
        self.grid, self.launch = self._grid(grid, launch)
        self.rule = self._rule(vjp)

    def _parameters(self, numbers: Mapping[str, Any]) -> list[Parameter]:
        known = []
        for p in inspect.signature(self.f.py_func).parameters.values():
            if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                raise ValueError(f"{self.name}: {p.name} takes any number of arguments or goes by keyword, which no operation has")
            kind = numbers.get(p.name, p.annotation)
            if p.name in numbers and kind not in _NUMBERS:
                raise ValueError(f"numbers: {p.name} is float, int or bool, not {kind!r}")
            if kind is complex or kind == "complex":
                raise ValueError(f"{self.name}: frameworks have no complex numbers as parameters: give {p.name} as an array")
            known.append(Parameter(p.name, _kind(kind), p.default))
        for name in numbers:
            if name not in [p.name for p in known]:
                raise ValueError(f"numbers: {self.name} has no parameter {name!r}")
        return known

    def _outputs(self, out: Any, every: list[Parameter]) -> tuple[list[Output], bool]:
        """The results, and whether the function returns them."""
        if self.sort == "vectorized":
            if out is not None:
                raise ValueError(f"{self.name} is vectorized, so that shape and dtype of its result are known: leave out= out")
            return [], True
        if isinstance(out, Mapping):
            named = dict(out)
        elif out is None:
            return [], False
        else:
            several = list(out) if isinstance(out, (tuple, list)) else [out]
            if self.sort == "function":
                return [Output(each, None, every) for each in several], True
            if len(several) > len(every):
                raise ValueError(f"{self.name} has {len(every)} parameters, too few for {len(several)} results")
            named = dict(zip([p.name for p in every[len(every) - len(several) :]], several, strict=True))
        for name in named:
            if name not in [p.name for p in every]:
                raise ValueError(f"out: {self.name} has no parameter {name!r}")
        inputs = [p for p in every if p.name not in named]
        return [Output(each, name, inputs) for name, each in named.items()], False

    def _mutated(self, names: tuple[str, ...]) -> frozenset[str]:
        for name in names:
            if name not in [p.name for p in self.parameters if p.is_array]:
                raise ValueError(f"mutates: {name!r} is no array among the parameters of {self.name} that are given to it")
        if names and self.sort == "vectorized":
            raise ValueError(f"{self.name} is vectorized and writes to nothing but its result: leave mutates= out")
        if self.sort != "vectorized" and not self.outputs and not names:
            raise ValueError(f"{self.name}: say what it gives, out=like('x'), or to which of its arguments it writes, mutates=('x',)")
        return frozenset(names)

    def _check_defaults(self) -> None:
        for p in self.parameters:
            if p.is_array and p.default is not ABSENT:
                raise ValueError(
                    f"{self.name}: {p.name} is an array, which has no default; annotate it as float, int or bool if it is a number"
                )
            if p.default is not ABSENT and not (isinstance(p.default, (bool, int, float)) and math.isfinite(p.default)):
                raise ValueError(f"{self.name}: the default of {p.name} is {p.default!r}, and has to be a finite number")

    def _grid(self, grid: Any, launch: Any) -> tuple[Any, Any]:
        if self.sort != "kernel":
            if grid is not None or launch is not None:
                raise ValueError(f"{self.name} is no kernel: only kernels have a grid")
            return None, None
        if grid is not None and launch is not None:
            raise ValueError("grid= says for how many points there are threads, launch= says blocks and threads: give one of them")
        names = [p.name for p in self.parameters]
        made = [Chosen(each, names, what) if callable(each) else each for each, what in ((grid, "grid"), (launch, "launch"))]
        return made[0], made[1]

    def _rule(self, vjp: Any) -> Chosen | None:
        if vjp is None:
            return None
        if not callable(vjp):
            raise TypeError(f"vjp is a function, not {type(vjp).__name__}")
        if self.mutates:
            raise ValueError(f"{self.name} writes to its arguments, so that it has no gradient: leave vjp= out, or give results of its own")
        names = [p.name for p in self.parameters]
        for taken in ("g", "out"):
            if taken in names:
                raise ValueError(f"vjp: {taken!r} means what comes back and what was given, and {self.name} has a parameter of that name")
        return Chosen(vjp, [*names, "out", "g"], "vjp")

    def everywhere(self) -> Any:
        """Of a vectorized function the one that runs where its operands are."""
        remake, (scalar, cuda) = self.f._remake_
        return self.f if cuda else remake(scalar, True)

    def bound(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
        """The arguments of a call in the order of the parameters, with defaults; a TypeError where they do not fit."""
        names = [p.name for p in self.parameters]
        if len(args) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} arguments, and {len(args)} are given")
        values = dict(zip(names, args, strict=False))
        for name, value in named.items():
            if name not in names or name in values:
                raise TypeError(f"{self.name} has no other parameter {name!r}")
            values[name] = value
        found = [values.get(p.name, p.default) for p in self.parameters]
        for p, value in zip(self.parameters, found, strict=True):
            if value is ABSENT:
                raise TypeError(f"{self.name} needs its argument {p.name!r}")
            if p.is_array and isinstance(value, (bool, int, float, complex)):
                raise TypeError(
                    f"{self.name}: {p.name} is an array, and {value!r} has no dtype: make an array of it, or annotate {p.name} as a number"
                )
        return found

    def points(self, values: Mapping[str, Any], shape: tuple[int, ...]) -> Any:
        """For how many points a kernel is launched; `shape` is that of its first result."""
        if self.grid is not None:
            return self.grid(values) if callable(self.grid) else self.grid
        if len(shape) != 1:
            raise ValueError(
                f"{self.name}: say for which points there are threads, grid=lambda {self.arrays[0].name}: {self.arrays[0].name}.shape for "
                f"one per element, since its first result has {len(shape)} axes"
            )
        return shape[0]


def _kind(annotation: Any) -> str:
    try:
        return _NUMBERS.get(annotation, "array")
    except TypeError:  # it has no hash
        return "array"


def _sort(f: Any) -> str:
    """What sort of function of Weft's it is."""
    if isinstance(f, _weft.Ufunc):
        return "vectorized"
    if isinstance(f, _weft.Dispatcher):
        from weft.cuda import DeviceFunction, Kernel

        if isinstance(f, DeviceFunction):
            raise TypeError(f"{f.__name__} is a function for kernels, which an operation is not made of: launch it from a kernel")
        return "kernel" if isinstance(f, Kernel) else "function"
    raise TypeError(f"an operation is made of a function that njit, vectorize or cuda.jit compiles, not of {type(f).__name__}")


def warn_if_older(framework: str, version: str, tested: tuple[int, int]) -> None:
    """Warns of a framework that is older than the one these operations are tested with."""
    found = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if found < tested:
        warnings.warn(
            f"operations of {framework} are tested with {tested[0]}.{tested[1]}, this is {version}: what they need may be missing",
            stacklevel=3,
        )


def check_name(name: str) -> tuple[str, str]:
    """Namespace and name of an operation, which stand in its full name."""
    space, colons, rest = name.partition("::")
    for part in (space, rest):
        if not colons or not part.isidentifier() or keyword.iskeyword(part):
            raise ValueError(f"an operation is named as 'my::op', not {name!r}")
    return space, rest


def gradients(operation: Operation, given: Any) -> list[Any]:
    """What a rule gave, as a list with an item for each array parameter; None where there is none."""
    names = [p.name for p in operation.arrays]
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise ValueError(f"the gradient of {operation.name} names {name!r}, which is none of {', '.join(names)}")
        return [given.get(name) for name in names]
    found = list(given) if isinstance(given, (tuple, list)) else [given]
    if len(found) != len(names):
        raise ValueError(f"the gradient of {operation.name} has {len(found)} items; it takes one for each of {', '.join(names)}")
    return found
