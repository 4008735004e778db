"""`ElementwiseKernel`: a piece of C for each element of arrays, compiled for every device.

A body with one output that knows nothing of its place becomes a function of numbers, which fuses with the operations around it as what
`weft.vectorize` makes does. One with raw arguments, `i`, `n`, several outputs or local arrays becomes a kernel, launched at once.
"""

from __future__ import annotations

import functools
import keyword
import linecache
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import weft
from weft import cuda
from weft import math as weft_math
from weft._decorators import vectorize
from weft._weft import ndarray
from weft.cupy import _parameters
from weft.cupy._c import running
from weft.cupy._c.ctypes import annotation
from weft.cupy._c.errors import Text
from weft.cupy._c.syntax import Function, Macros, Node, Parser
from weft.cupy._c.translate import ALL_ELEMENTS, Extent, Variable, Writer, device_functions
from weft.cupy._parameters import Parameter
from weft.errors import UnsupportedError


@dataclass
class Program:
    """What a body became for certain types: a ufunc, or a kernel over a row of elements."""

    call: Any
    is_kernel: bool
    source: str
    # What it asks of shapes, in the order of its parameters, and how many axes raw arguments have to have.
    extents: tuple[Extent, ...] = ()
    ranks: tuple[tuple[str, int], ...] = ()


class ElementwiseKernel:
    """A function of arrays whose body is C: for each element, with numbers of C's types and C's meaning.

    `in_params` and `out_params` are lists such as ``"T x, raw float32 y"``: the dtypes of the arguments say what a single letter stands
    for. In the body `i` is the element's number and `n` how many there are; a raw argument has its elements as one row, `x[i]`. Outputs
    are made, or given behind the inputs. `_ind.get()[0]` is the element's index along an axis, with `reduce_dims=False`, which changes
    nothing else; raw arguments have `x.size()`, `x.shape()[0]`, and elements by a local array of indices. What C has and this does not
    is an UnsupportedError with its line and column, when the kernel is made or first called with new dtypes. `options`, `loop_prep` and
    `after_loop` are refused.

    >>> squared_difference = cupy.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
    >>> squared_difference(cupy.arange(4.0), 1)
    array([1., 0., 1., 4.])
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        **others: Any,
    ) -> None:
        refuse_options(name, others, ("loop_prep", "after_loop", "options", "doc"))
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f'Invalid kernel name: "{name}"')
        self.in_params, self.out_params = _parameters.parsed(in_params), _parameters.parsed(out_params)
        self.params = self.in_params + self.out_params
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.operation, self.preamble, self.name = operation, preamble, name
        self.reduce_dims, self.no_return, self.return_tuple = reduce_dims, no_return, return_tuple
        self.__doc__ = others.get("doc") or type(self).__doc__
        self._body = Body(name, self.params, operation, preamble, has_axes=not reduce_dims)
        if len({each.name for each in self.params}) != self.nargs:
            raise ValueError("parameters have to have different names")

    def __call__(self, *args: Any, size: int | None = None, stream: Any = None, block_size: int = 128) -> Any:
        """Computes the outputs: an array, or a tuple of several. Numbers become the types of their parameters."""
        if stream is not None:
            raise UnsupportedError(f"{self.name}: kernels of arrays run in the order in which arrays are used, and in no other stream")
        if block_size <= 0:
            raise ValueError(f"block_size must be greater than zero, not {block_size}")
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or {self.nargs} (with outputs), "
                            f"but given {len(args)}.")  # fmt: skip
        given = _parameters.checked(args, self.name)
        inputs, outs = given[: self.nin], given[self.nin :]
        if not all(isinstance(each, ndarray) for each in outs):
            raise TypeError("Output arguments must be cupy.ndarray")
        kinds = _parameters.types_of(self.in_params, self.out_params, inputs, outs)
        made = run(self._body, self.in_params, self.out_params, kinds, inputs, outs, size)
        if self.no_return:
            return None
        return made[0] if self.nout == 1 and not self.return_tuple else tuple(made)

    def __repr__(self) -> str:
        """Its name."""
        return f"<ElementwiseKernel {self.name}>"


def refuse_options(name: str, others: dict[str, Any], known: Sequence[str]) -> None:
    """Options of CuPy's that change the text that is compiled are refused, unless they are empty; others are none."""
    for option, value in others.items():
        if option not in known:
            raise TypeError(f"Wrong arguments {others}")
        if value and option != "doc":
            raise UnsupportedError(f"{name}: {option}={value!r} is not taken: bodies are compiled by Weft, not by NVRTC")


class Body:
    """A piece of C over the elements of arguments, and the programs that it became, by types."""

    def __init__(
        self,
        name: str,
        params: Sequence[Parameter],
        operation: str,
        preamble: str,
        types: set[str] | None = None,
        value_of: str = "",
        has_axes: bool = False,
    ) -> None:
        """`types` are placeholders besides those of the parameters. With `value_of` the text is an expression, assigned to that output.
        With `has_axes` it may ask for an element's index along an axis."""
        self.name, self.params, self.has_axes = name, tuple(params), has_axes
        types = {each.type for each in params if each.is_placeholder} | (types or set())
        macros: Macros = {}
        self.preamble = Text(f"preamble of kernel {name!r}", preamble)
        self.functions: list[Function] = Parser(self.preamble, types, macros).functions()
        self.text = Text(f"kernel {name!r}", operation)
        parser = Parser(self.text, types, macros)
        if value_of:
            value = parser.only_expression()
            self.nodes = [Node("assign", value.place, ("", [Node("name", value.place, (value_of,))], value))]
        else:
            self.nodes = parser.body()
        self.program = functools.cache(self._program)

    def _program(
        self, kinds: tuple[tuple[str, str], ...], outputs: tuple[str, ...], numbers: tuple[str, ...], extra: tuple[str, ...]
    ) -> Program:
        """What the body is for types. `numbers` are inputs that are no arrays, `extra` int64 that the body asks for as `name.size()`."""
        try:
            return _Written(self, dict(kinds), outputs, numbers, extra).program()
        except RecursionError:
            raise UnsupportedError(f"kernel {self.name!r}: an expression is too long: divide it into several") from None


# Names that the text of a program uses itself.
_TAKEN = {"np", "math", "wm", "cr", "cuda", "i", "count"}


class _Written:
    """A body written as Python for certain types."""

    def __init__(
        self, body: Body, kinds: dict[str, str], outputs: tuple[str, ...], numbers: tuple[str, ...], extra: tuple[str, ...]
    ) -> None:
        self.name = body.name + "_" if body.name in _TAKEN else body.name
        self.body, self.kinds, self.outputs, self.numbers, self.extra = body, kinds, outputs, numbers, extra
        self.lines, self.routines = device_functions(body.preamble, kinds, body.functions)
        self.names = {each.name: self._variable(each) for each in body.params}
        self.places = {"i": Variable("i", "int64", constant=True), "n": Variable("count", "int64", constant=True)}

    def _variable(self, parameter: Parameter) -> Variable:
        is_output = parameter.name in self.outputs
        prefix = "r" if parameter.raw else "x"
        name = f"{prefix}_{parameter.name}"
        made = Variable(name, self.kinds.get(parameter.type, parameter.type), not is_output, parameter.raw, parameter.raw)
        made.shape = f"np.int64({name}.size)"
        return made

    def program(self) -> Program:
        """The compiled program: a ufunc where that will do."""
        plain = [each for each in self.body.params if not each.raw]
        stores = [f"o_{each.name}[i] = {self.names[each.name].text}" for each in plain if each.name in self.outputs]
        results = [self.names[each].text for each in self.outputs]
        single = len(results) == 1 and len(plain) == len(self.body.params)
        if single:
            writer, lines = self._lines([f"return {results[0]}"])
            if not (any(each.used for each in self.places.values()) or writer.uses_local_arrays or writer.uses_atomics):
                return self._ufunc(lines, results[0])
        writer, lines = self._lines([*stores, "return"])
        return self._kernel(plain, lines, stores, writer)

    def _lines(self, leave: list[str]) -> tuple[Writer, list[str]]:
        members = {f"{name}.size": (f"e{name}", "int64") for name in self.extra}
        members["_ind.size"] = ("count", "int64")
        names = {**self.places, **self.names}
        writer = Writer(
            self.body.text, self.kinds, names, routines=self.routines, leave=leave, members=members, has_axes=self.body.has_axes
        )
        nodes = self.body.nodes
        if any(mentions(node, "_ind") for node in nodes):
            self.places["n"].used = True
        return writer, writer.block(nodes)

    def _ufunc(self, lines: list[str], result: str) -> Program:
        entry = [f"    {each.text} = {annotation(each.kind)}(a_{name})" for name, each in self.names.items()]
        entry += [f"    e{name} = np.int64(n_{name})" for name in self.extra]
        parameters = ", ".join([*(f"a_{name}" for name in self.names), *(f"n_{name}" for name in self.extra)])
        heading = f"def {self.name}({parameters}):"
        return self._compiled([heading, *entry, *(f"    {line}" for line in lines), f"    return {result}"], False)

    def _kernel(self, plain: list[Parameter], lines: list[str], stores: list[str], writer: Writer) -> Program:
        entry = ["    i = np.int64(cuda.grid(1))", "    count = np.int64(n_count)"]
        entry += [f"    e{name} = np.int64(n_{name})" for name in self.extra]
        entry += [f"    {name} = np.int64(n_{name})" for name in writer.extents.values()]
        inside = []
        for each in plain:
            variable = self.names[each.name]
            source = f"o_{each.name}" if each.name in self.outputs else f"a_{each.name}"
            source += "" if each.name in self.numbers else "[i]"
            inside.append(f"{variable.text} = {annotation(variable.kind)}({source})")
        parameters = ["n_count", *(f"n_{name}" for name in [*self.extra, *writer.extents.values()])]
        for each in self.body.params:
            prefix = "r" if each.raw else "o" if each.name in self.outputs else "a"
            parameters.append(f"{prefix}_{each.name}")
        heading = f"def {self.name}({', '.join(parameters)}):"
        body = [f"        {line}" for line in [*inside, *lines, *stores]] or ["        pass"]
        made = self._compiled([heading, *entry, "    if i < count:", *body], True)
        made.extents, made.ranks = tuple(writer.extents), tuple(writer.ranks.items())
        return made

    def _compiled(self, lines: list[str], is_kernel: bool) -> Program:
        source = "\n".join([*self.lines, *lines]) + "\n"
        file = f"<kernel {self.body.name} of {sorted(self.kinds.items())}, {zlib.crc32(source.encode())}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        scope: dict[str, Any] = {"np": np, "math": math, "wm": weft_math, "cr": running, "cuda": cuda}
        exec(compile(source, file, "exec"), scope)
        function = scope[self.name]
        # Products are not contracted, so that a body has the same bits as a ufunc and as a kernel.
        return Program(cuda.jit(fma=False)(function) if is_kernel else vectorize(function), is_kernel, source)


def mentions(node: Any, name: str) -> bool:
    """Whether a name stands anywhere in a tree."""
    if isinstance(node, Node):
        return (node.kind == "name" and node.parts[0] == name) or any(mentions(each, name) for each in node.parts)
    return isinstance(node, (list, tuple)) and any(mentions(each, name) for each in node)


def run(
    body: Body,
    in_params: Sequence[Parameter],
    out_params: Sequence[Parameter],
    kinds: dict[str, str],
    inputs: Sequence[Any],
    outs: Sequence[ndarray],
    size: int | None = None,
    extra: dict[str, int] | None = None,
) -> list[ndarray]:
    """The outputs of a body for arguments: those given, or new ones."""
    extra = extra or {}
    numbers = tuple(parameter.name for parameter, each in zip(in_params, inputs) if not isinstance(each, ndarray))
    program = body.program(tuple(sorted(kinds.items())), tuple(each.name for each in out_params), numbers, tuple(extra))
    shape = _shape([*in_params, *out_params], [*inputs, *outs], size)
    values = [each if isinstance(each, ndarray) else _scalar(parameter, each, kinds) for parameter, each in zip(in_params, inputs)]
    for parameter, out in zip(out_params, outs):
        if not parameter.raw and out.shape != shape:
            raise ValueError(f"Out shape is mismatched: {out.shape} for {shape}")
    if program.is_kernel:
        return _launched(program, in_params, out_params, kinds, values, outs, shape, size, extra)
    kind = _kind(out_params[0], kinds)
    # What a new output has before the body is undefined in CuPy.
    start = outs[0] if outs else np.dtype(kind).type(0)
    found = program.call(*values, start, *extra.values())
    found = found if isinstance(found, ndarray) else weft.asarray(found, kind)
    if not outs:
        return [found if found.shape == shape else weft.copy(weft.broadcast_to(found, shape))]
    outs[0][...] = found
    return list(outs)


def _kind(parameter: Parameter, kinds: dict[str, str]) -> str:
    return kinds.get(parameter.type, parameter.type)


def _scalar(parameter: Parameter, value: Any, kinds: dict[str, str]) -> Any:
    if parameter.raw:
        raise TypeError(f"{parameter.name}: a raw argument is an array")
    return _parameters.as_scalar(value, _kind(parameter, kinds))


def _shape(params: Sequence[Parameter], args: Sequence[Any], size: int | None) -> tuple[int, ...]:
    """What the body is computed for: the shape that the arrays broadcast to, or so many elements where all are raw."""
    arrays = [each for parameter, each in zip(params, args) if isinstance(each, ndarray) and not parameter.raw]
    if size is not None:
        if arrays:
            raise ValueError("Specified 'size' can be used only if all of the ndarray are 'raw'.")
        if size < 0:
            raise ValueError("negative dimensions are not allowed")
        return (int(size),)
    if not arrays:
        raise ValueError("Loop size is undecided.")
    shapes = {each.shape for each in arrays}
    return shapes.pop() if len(shapes) == 1 else tuple(weft.broadcast_shapes(*shapes))


def _is_crossed(x: ndarray, out: ndarray) -> bool:
    """Whether elements of an array may be those of an output at other places."""
    same = x._place == out._place and x.shape == out.shape and x.strides == out.strides
    return not same and weft.may_share_memory(x, out)


def _asked(program: Program, arrays: dict[str, Any], shape: tuple[int, ...]) -> list[int]:
    """What a kernel asks of the shapes of its raw arguments, and of what it is computed for."""
    for name, axes in program.ranks:
        if arrays[name].ndim != axes:
            raise ValueError(f"{name} has {arrays[name].ndim} axes, and is indexed by {axes} numbers")
    found = []
    for what, name, axis in program.extents:
        of = shape if name == ALL_ELEMENTS else arrays[name].shape
        if axis >= len(of):
            raise ValueError(f"{name} has {len(of)} axes, and is asked for number {axis}")
        found.append(of[axis] if what == "length" else math.prod(of[axis + 1 :]))
    return found


def _launched(
    program: Program,
    in_params: Sequence[Parameter],
    out_params: Sequence[Parameter],
    kinds: dict[str, str],
    values: Sequence[Any],
    outs: Sequence[ndarray],
    shape: tuple[int, ...],
    size: int | None,
    extra: dict[str, int],
) -> list[ndarray]:
    """The outputs of a kernel: elements as rows, and what is not in order in memory by way of a copy."""
    device = next((each.device for each in [*values, *outs] if isinstance(each, ndarray)), weft.current_device())
    count = math.prod(shape)
    made: list[ndarray] = []
    back: list[tuple[ndarray, ndarray]] = []
    args: list[Any] = []
    for parameter, value in zip(in_params, values):
        if not isinstance(value, ndarray):
            args.append(value)
        elif parameter.raw:
            args.append(weft.ravel(value))
        else:
            # An element that another thread writes must have been read before; the own one is.
            crossed = any(_is_crossed(value, out) for out in outs)
            args.append(weft.ravel(weft.broadcast_to(weft.copy(value) if crossed else value, shape)))
    for at, parameter in enumerate(out_params):
        if outs:
            out = outs[at]
        elif parameter.raw and size is None:
            raise ValueError("Output array size is Undecided")
        else:
            out = weft.zeros(shape, _kind(parameter, kinds), device=device)
        row = weft.ravel(out) if out.flags.c_contiguous else weft.ravel(weft.copy(out))
        if not out.flags.c_contiguous:
            back.append((out, row))
        args.append(row)
        made.append(out)
    arrays = {parameter.name: value for parameter, value in zip([*in_params, *out_params], [*values, *made])}
    asked = _asked(program, arrays, shape)
    if count:
        with device:
            program.call.forall(count)(count, *extra.values(), *asked, *args)
    for out, row in back:
        out[...] = weft.reshape(row, out.shape)
    return made
