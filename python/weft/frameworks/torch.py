"""Weft's functions as operators of PyTorch: `torch_op`.

An operator is defined in PyTorch's library, so that its dispatcher, autograd and compiler know it. What is called for tensors on a device
is written out for the operator's parameters: no loop over arguments is left in a call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from weft._weft import view_of_dlpack

from . import torch_autograd, torch_cuda
from .operation import ABSENT, Operation, Output, check_name, warn_if_older
from .running import Launchers, check_returned, explained, result_dtype, returns_nothing

warn_if_older("PyTorch", torch.__version__, (2, 9))

_capsule = torch._C._to_dlpack
_LIBRARIES: dict[str, torch.library.Library] = {}

# What Weft computes with: dtypes of PyTorch and NumPy of the same name.
_INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
_NAMES = ["bool", *_INTEGERS, "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
_TORCHS = {name: getattr(torch, name) for name in _NAMES}
_NUMPYS = {of: name for name, of in _TORCHS.items()}


def torch_op(
    f: Any,
    name: str | None = None,
    out: Any = None,
    *,
    mutates: Any = (),
    vjp: Callable[..., Any] | None = None,
    grid: Any = None,
    launch: Any = None,
    numbers: Mapping[str, Any] | None = None,
) -> torch._ops.OpOverload:
    """An operator of PyTorch made of a function that `njit`, `vectorize` or `cuda.jit` compiles.

    `name` is its name in PyTorch, such as ``"my::op"``; without one it is the function's, in the namespace ``weft``. Its parameters are
    the function's: tensors, but for those annotated as (or named in `numbers` to be) ``float``, ``int`` or ``bool``.

    `out` says what it gives, by `like` or a function of arguments that gives a shape and a dtype: of an `njit` function what it returns,
    or, as a dict by names of parameters, what it writes to; of a kernel what it writes to, by default the last parameters. Of a
    `vectorize`d function it is known. `mutates` names tensors that are written to in place. A kernel has a thread for each point of
    `grid`, by default of its first result, or the blocks and threads of `launch`.

    The gradient is derived from the function. `vjp` is a rule in its place: a function of some of the arguments, ``out`` (what was given)
    and ``g`` (the gradient for that), which it names as its parameters. It gives a gradient for each tensor among the arguments, or None.

    TypeError and ValueError for what cannot be an operator.

    >>> @weft.vectorize
    ... def double(x):
    ...     return 2 * x
    >>> op = weft.torch_op(double, "doc::double", vjp=lambda g: 2 * g)  # doctest: +SKIP
    >>> op(torch.ones(2))  # doctest: +SKIP
    tensor([2., 2.])
    """
    operation = Operation(f, out=out, mutates=mutates, vjp=vjp, grid=grid, launch=launch, numbers=numbers)
    return define(operation, f"weft::{operation.name}" if name is None else name)


def define(operation: Operation, full: str) -> torch._ops.OpOverload:
    """An operator of that full name."""
    library, name, find = library_for(full)
    library.define(name + _schema(operation), tags=(torch.Tag.pt2_compliant_tag,))
    op = find()
    written = _written_out(operation)
    library.impl(name, written["on_cpu"], "CPU")
    library.impl(name, torch_cuda.implementation(operation, written["allocate"]), "CUDA")
    torch.library.register_fake(full, written["fake"], lib=library)
    torch_autograd.register(operation, op, library)
    if operation.sort == "vectorized":
        torch.library.register_vmap(full, _batched(op), lib=library)
    return op


def _batched(op: torch._ops.OpOverload) -> Callable[..., Any]:
    """What `torch.vmap` calls for a vectorized function: it broadcasts over the batch as over everything else."""

    def batched(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[torch.Tensor, int]:
        ranks = [a.ndim - (at is not None) if isinstance(a, torch.Tensor) else 0 for a, at in zip(args, in_dims, strict=True)]
        moved = []
        for a, at, rank in zip(args, in_dims, ranks, strict=True):
            if isinstance(a, torch.Tensor) and at is not None:
                # The batch comes first, before as many axes as any operand has.
                a = a.movedim(at, 0)[(slice(None), *(None,) * (max(ranks) - rank))]
            moved.append(a)
        return op(*moved), 0

    return batched


def library_for(full: str) -> tuple[torch.library.Library, str, Callable[[], torch._ops.OpOverload]]:
    """A library to define one operator in, the operator's name there, and what finds it afterwards."""
    space, name = check_name(full)
    if full in _LIBRARIES:
        # As when a cell of a notebook runs again.
        _LIBRARIES.pop(full)._destroy()
    library = _LIBRARIES[full] = torch.library.Library(space, "FRAGMENT")
    return library, name, lambda: getattr(getattr(torch.ops, space), name).default


def _schema(operation: Operation) -> str:
    """Parameters and results as PyTorch writes them."""
    parts = []
    for at, p in enumerate(operation.parameters):
        kind = f"Tensor({chr(97 + at % 26)}{at // 26 or ''}!)" if p.name in operation.mutates else "Tensor" if p.is_array else p.kind
        parts.append(f"{kind} {p.name}" + ("" if p.default is ABSENT else f"={p.default!r}"))
    count = 1 if operation.sort == "vectorized" else len(operation.outputs)
    gives = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
    return f"({', '.join(parts)}) -> {gives}"


# What is called


def _written_out(operation: Operation) -> dict[str, Any]:
    """`on_cpu`, `fake` and `allocate` of an operation: functions of its arguments, written out for them."""
    at = {p.name: f"a{i}" for i, p in enumerate(operation.parameters)}
    header = ", ".join(at[p.name] + ("" if p.default is ABSENT else f"={p.default!r}") for p in operation.parameters)
    names = ", ".join(at.values())
    tensors = ", ".join(at[p.name] for p in operation.arrays)
    scope: dict[str, Any] = {"capsule": _capsule, "view": view_of_dlpack, "f": operation.f, "operation": operation}
    views = [f"v{i} = view(capsule(a{i}), a{i}, {p.name in operation.mutates})" for i, p in enumerate(operation.parameters) if p.is_array]
    given = [f"v{i}" if p.is_array else f"a{i}" for i, p in enumerate(operation.parameters)]
    if operation.sort == "vectorized":
        scope["made"] = _Elementwise(operation).result
        scope["f"] = operation.f._on_tensors
        allocate = f"    return made({tensors})"
        operands = [f"capsule(a{i})" if p.is_array else f"a{i}" for i, p in enumerate(operation.parameters)]
        body = [f"o = made({tensors})", f"f({', '.join([*operands, 'capsule(o)'])})", "return o"]
    else:
        scope["made"] = _allocator(operation)
        allocate = f"    return made({names})"
        body = _body_of_function(operation, names, views, given, scope)
    if operation.mutates:
        scope["touched"] = touched
        written_to = ", ".join(f"a{i}" for i, p in enumerate(operation.parameters) if p.name in operation.mutates)
        body[-1:] = [body[-1].replace("return ", "given = ", 1), f"touched({written_to})", "return given"]
        scope["check"] = _overlap_check(operation)
        body.insert(0, f"check({names})")
    scope["explained"] = explained
    lines = [
        f"def allocate({header}):",
        allocate,
        f"def fake({header}):",
        allocate,
        f"def on_cpu({header}):",
        "    try:",
        *("        " + line for line in body),
        "    except Exception as error:",
        "        raise explained(operation, error)",
    ]
    exec(compile("\n".join(lines), f"<{operation.name} as an operator of PyTorch>", "exec"), scope)
    return scope


def touched(*tensors: torch.Tensor) -> None:
    """Has autograd know that tensors were written to: what it saved of them is refused from here on."""
    for tensor in tensors:
        if not tensor.is_inference():
            torch.autograd.graph.increment_version(tensor)


def _body_of_function(operation: Operation, names: str, views: list[str], given: list[str], scope: dict[str, Any]) -> list[str]:
    """The statements that run a function or a kernel on the CPU."""
    count = len(operation.outputs)
    outs = [f"o{i}" for i in range(count)]
    result = "return " + ("None" if count == 0 else outs[0] if count == 1 else f"({', '.join(outs)})")
    if operation.returns:
        scope["taken"] = _taker(operation)
        arrays = ", ".join(view for view in given if view.startswith("v"))
        return [*views, f"return taken(f({', '.join(given)}), ({arrays},), ({names},))"]
    made = [f"{outs[0] if count == 1 else ', '.join(outs)} = made({names})"] if count else []
    written = [f"w{i} = view(capsule(o{i}), o{i}, True)" for i in range(count)]
    args = ", ".join(f"w{i}" if where == "out" else given[i] for where, i in operation.order)
    if operation.sort == "function":
        scope["nothing"] = returns_nothing
        return [*made, *views, *written, f"r = f({args})", "if r is not None: nothing(operation)", result]
    scope["launcher"] = Launchers(operation).find
    first = outs[0] if count else next(f"a{i}" for i, p in enumerate(operation.parameters) if p.name in operation.mutates)
    return [*made, *views, *written, f"launcher({first}, ({names},))({args})", result]


class _Elementwise:
    """The result of a vectorized function: what shape, dtype and order of elements it has for which tensors."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.dtypes = _Dtypes(operation)

    def result(self, first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        """A tensor for it, laid as the first tensor of its shape is, else in C's order."""
        shape = first.shape
        for other in others:
            if other.shape != shape:
                return self._broadcast(first, *others)
        key = (first.dtype, *(other.dtype for other in others)) if others else first.dtype
        return torch.empty_like(first, dtype=self.dtypes[key])

    def _broadcast(self, *tensors: torch.Tensor) -> torch.Tensor:
        shape = torch.broadcast_shapes(*(tensor.shape for tensor in tensors))
        dtype = self.dtypes[tuple(tensor.dtype for tensor in tensors)]
        for tensor in tensors:
            if tensor.shape == shape:
                return torch.empty_like(tensor, dtype=dtype)
        return torch.empty(shape, dtype=dtype, device=tensors[0].device)


class _Dtypes(dict):
    """The dtype of a vectorized function's result by those of its tensors: found as NumPy would, on no elements, and kept."""

    def __init__(self, operation: Operation) -> None:
        super().__init__()
        self.operation = operation

    def __missing__(self, key: Any) -> torch.dtype:
        dtypes = key if isinstance(key, tuple) else (key,)
        found = self[key] = torch_dtype(result_dtype(self.operation, tuple(map(numpy_dtype, dtypes))))
        return found


@functools.cache
def numpy_dtype(dtype: torch.dtype) -> Any:
    """NumPy's dtype for PyTorch's; TypeError if Weft does not compute with it."""
    if dtype not in _NUMPYS:
        raise TypeError(f"Weft does not compute with tensors of {dtype}: it takes {', '.join(_NAMES)}")
    if dtype is torch.bfloat16:
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(_NUMPYS[dtype])


def torch_dtype(given: Any) -> torch.dtype:
    """PyTorch's dtype for one of PyTorch's or NumPy's; TypeError if Weft does not compute with it."""
    if isinstance(given, torch.dtype):
        numpy_dtype(given)
        return given
    name = given if isinstance(given, str) and given in _TORCHS else np.dtype(given).name
    if name not in _TORCHS:
        raise TypeError(f"Weft does not compute with {given}: it takes {', '.join(_NAMES)}")
    return _TORCHS[name]


def _allocator(operation: Operation) -> Callable[..., Any]:
    """A function of the arguments that gives tensors for the results."""
    names = [p.name for p in operation.parameters]
    first = names.index(operation.arrays[0].name)

    def one(output: Output) -> Callable[..., torch.Tensor]:
        fill = output.fill
        if output.is_plain:
            template = names.index(output.template)
            dense = torch.contiguous_format
            if fill is None:
                return lambda args: torch.empty_like(args[template], memory_format=dense)
            return lambda args: torch.full_like(args[template], fill, memory_format=dense)

        def described(args: tuple[Any, ...]) -> torch.Tensor:
            values = dict(zip(names, args, strict=True))
            shape, dtype = output.described(values)
            dtype = values[output.template].dtype if dtype is None else torch_dtype(dtype)
            if fill is None:
                return torch.empty(shape, dtype=dtype, device=args[first].device)
            return torch.full(shape, fill, dtype=dtype, device=args[first].device)

        return described

    makers = [one(output) for output in operation.outputs]
    if not makers:
        return lambda *args: None
    if len(makers) == 1:
        single = makers[0]
        return lambda *args: single(args)
    return lambda *args: tuple(make(args) for make in makers)


def _taker(operation: Operation) -> Callable[..., Any]:
    """A function that makes tensors of what an `njit` function returned, after a check that it is what `out` says."""
    names = [p.name for p in operation.parameters]
    count = len(operation.outputs)

    def expected(output: Output, args: tuple[Any, ...]) -> tuple[Any, torch.dtype]:
        if output.is_plain:
            template = args[names.index(output.template)]
            return template.shape, template.dtype
        values = dict(zip(names, args, strict=True))
        shape, dtype = output.described(values)
        return shape, values[output.template].dtype if dtype is None else torch_dtype(dtype)

    def one(output: Output, given: Any, views: tuple[Any, ...], args: tuple[Any, ...]) -> torch.Tensor:
        shape, dtype = expected(output, args)
        array = given if type(given) is np.ndarray else np.asarray(given)
        check_returned(operation, array, shape, numpy_dtype(dtype))
        if array is not given or any(array is view or array.base is view for view in views) or not _is_own(array):
            # A number, a view of an argument, a constant: an operator gives memory of its own.
            array = array.copy(order="C")
        if dtype is torch.bfloat16:
            return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
        return torch.from_numpy(array)

    def taken(result: Any, views: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
        if count == 1:
            return one(operation.outputs[0], result, views, args)
        if not isinstance(result, tuple) or len(result) != count:
            raise TypeError(f"{operation.name} returns {type(result).__name__}, and out= says a tuple of {count}")
        return tuple(one(output, item, views, args) for output, item in zip(operation.outputs, result, strict=True))

    return taken


def _is_own(array: np.ndarray) -> bool:
    """Whether it lies in C's order, and may be written to."""
    flags = array.flags
    return flags.c_contiguous and flags.writeable


def _overlap_check(operation: Operation) -> Callable[..., None]:
    """A function of the arguments that raises where a tensor that is written to shares memory with another one, or with itself."""
    written = [i for i, p in enumerate(operation.parameters) if p.name in operation.mutates]
    tensors = [i for i, p in enumerate(operation.parameters) if p.is_array]

    def check(*args: Any) -> None:
        for i in written:
            if _is_folded(args[i]):
                raise RuntimeError(
                    f"{operation.name} writes to {operation.parameters[i].name}, of which several elements are one place in memory: "
                    "pass its contiguous()"
                )
            for j in tensors:
                if j != i and _overlap(args[i], args[j]):
                    raise RuntimeError(
                        f"{operation.name} writes to {operation.parameters[i].name}, which shares memory with "
                        f"{operation.parameters[j].name}: pass a clone()"
                    )

    return check


def _overlap(a: torch.Tensor, b: torch.Tensor) -> bool:
    one, two = _span(a), _span(b)
    return one[0] < two[1] and two[0] < one[1]


def _is_folded(tensor: torch.Tensor) -> bool:
    """Whether several of its elements may be one place in memory: an axis takes smaller steps than the ones inside of it reach."""
    reach = 0
    for stride, n in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if n > 1:
            if stride <= reach:
                return tensor.numel() > 0
            reach += stride * (n - 1)
    return False


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """The addresses that its elements lie between."""
    start = tensor.data_ptr()
    if not tensor.numel():
        return start, start
    reach = sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return start, start + (reach + 1) * tensor.element_size()
