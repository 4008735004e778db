"""`ReductionKernel`: a fold whose parts are C: what is folded, how two values combine, and what becomes of the last one."""

from __future__ import annotations

import math
import re
from typing import Any

import weft
from weft._weft import ndarray
from weft.arrays._common import axes_of
from weft.cupy import _parameters
from weft.cupy._c.ctypes import COMPLEX
from weft.cupy._elementwise import Body, mentions, refuse_options, run
from weft.cupy._parameters import Parameter
from weft.errors import UnsupportedError

# Combinations that are folds of Weft's own: what stands there, without blanks, with `a` before `b`.
_FOLDS = {"a+b": "add", "a*b": "multiply", "min(a,b)": "minimum", "max(a,b)": "maximum", "a&b": "bitwise_and", "a|b": "bitwise_or",
          "a^b": "bitwise_xor", "a&&b": "logical_and", "a||b": "logical_or"}  # fmt: skip


# The name of the type of what is combined.
_COMBINED = "_type_reduce"


class ReductionKernel:
    """A reduction along axes: `map_expr` of the inputs, combined by `reduce_expr` of `a` and `b`, ended by `post_map_expr` of `a`.

    `identity` is C, too, and what there is of no elements; "" where there is none. `reduce_type` is the type of what is combined, by
    default the output's; it is called `_type_reduce`. `_in_ind.size()` is how many elements there are, `_out_ind.size()` how many results.
    Combinations have to be associative: elements that lie side by side are combined first. `reduce_dims` changes no result.

    >>> norm = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    >>> norm(cupy.asarray([[3.0, 4.0], [6.0, 8.0]]), axis=1)
    array([ 5., 10.])
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        **others: Any,
    ) -> None:
        refuse_options(name, others, ("options",))
        self.in_params, self.out_params = _parameters.parsed(in_params), _parameters.parsed(out_params)
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.name, self.preamble, self.reduce_dims = name, preamble, reduce_dims
        if self.nout != 1:
            raise UnsupportedError(f"{name}: a reduction has one output here, not {self.nout}")
        if self.out_params[0].raw:
            raise UnsupportedError(f"{name}: the output of a reduction is not raw")
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = None if identity is None or str(identity).strip() == "" else str(identity)
        self.reduce_type = reduce_type
        kind = _reduce_type(reduce_type, self.out_params[0])
        if self.out_params[0].name in ("a", "b"):
            raise ValueError(f"{name}: the output of a reduction is not called {self.out_params[0].name!r}: that is what is combined")
        types = {each.type for each in [*self.in_params, *self.out_params] if each.is_placeholder} | {_COMBINED}
        self._mapped, self._a, self._b = (Parameter(each, kind, False) for each in ("_mapped", "a", "b"))

        def value(params: list[Parameter], text: str) -> Body:
            return Body(name, [*params, self._mapped], text, preamble, types, "_mapped")

        self._map = value(list(self.in_params), map_expr)
        self._combine = value([self._a, self._b], reduce_expr)
        self._end = Body(name, [self._a, self.out_params[0]], post_map_expr, preamble, types)
        self._none = None if self.identity is None else value([], self.identity)

    def __call__(self, *args: Any, out: Any = None, axis: Any = None, keepdims: bool = False, stream: Any = None) -> ndarray:
        """The reduction of the arguments along an axis, several, or all."""
        if stream is not None:
            raise UnsupportedError(f"{self.name}: kernels of arrays run in the order in which arrays are used, and in no other stream")
        if len(args) not in (self.nin, self.nin + 1):
            raise TypeError(f"Wrong number of arguments. Expected {self.nin} or {self.nin + 1}, but given {len(args)}.")
        given = _parameters.checked(args, self.name)
        inputs = given[: self.nin]
        if len(args) > self.nin:
            if out is not None:
                raise ValueError("cannot specify 'out' as both a positional and keyword argument")
            out = given[-1]
        if out is not None and not isinstance(out, ndarray):
            raise TypeError("Output arguments must be cupy.ndarray")
        kinds = _parameters.types_of(self.in_params, self.out_params, inputs, [] if out is None else [out])
        kinds[_COMBINED] = kinds.get(self._a.type, self._a.type)
        plain = [each for parameter, each in zip(self.in_params, inputs) if isinstance(each, ndarray) and not parameter.raw]
        if not plain:
            raise ValueError("Loop size is undecided.")
        shape = tuple(weft.broadcast_shapes(*(each.shape for each in plain)))
        axes = axes_of(axis, len(shape))
        sizes = {"_in_ind": math.prod(shape), "_out_ind": math.prod(n for at, n in enumerate(shape) if at not in axes)}
        folded = self._folded(kinds, inputs, shape, axes, sizes)
        ended = run(self._end, [self._a], self.out_params, kinds, [folded], [], extra=_named(self._end, sizes))[0]
        result = weft.reshape(ended, tuple(1 if at in axes else n for at, n in enumerate(shape))) if keepdims else ended
        if out is None:
            return result
        if out.shape != result.shape:
            raise ValueError(f"Out shape is mismatched: {out.shape} for {result.shape}")
        out[...] = result
        return out

    def _folded(
        self, kinds: dict[str, str], inputs: list[Any], shape: tuple[int, ...], axes: tuple[int, ...], sizes: dict[str, int]
    ) -> ndarray:
        """What is mapped, combined along axes."""
        kind = kinds.get(self._mapped.type, self._mapped.type)
        count = math.prod(shape[at] for at in axes)
        if count == 0:
            return self._of_nothing(kinds, kind, inputs, tuple(n for at, n in enumerate(shape) if at not in axes))
        mapped = run(self._map, self.in_params, [self._mapped], kinds, inputs, [], extra=_named(self._map, sizes))[0]
        mapped = weft.broadcast_to(mapped, shape)
        fold = self._fold_of(kind)
        if fold is not None:
            return getattr(weft, fold).reduce(mapped, axis=axes, dtype=kind)
        kept = [at for at in range(len(shape)) if at not in axes]
        rows = weft.reshape(weft.permute_dims(mapped, (*kept, *axes)), (*(shape[at] for at in kept), count))
        while rows.shape[-1] > 1:
            length = rows.shape[-1]
            both = [rows[..., : length - 1 : 2], rows[..., 1::2]]
            pairs = run(self._combine, [self._a, self._b], [self._mapped], kinds, both, [], extra=_named(self._combine, sizes))[0]
            rows = weft.concatenate([pairs, rows[..., -1:]], axis=-1) if length % 2 else pairs
        return rows[..., 0]

    def _fold_of(self, kind: str) -> str | None:
        """The fold of Weft's own that combines so, if one does."""
        text = re.sub(r"\s+", "", self.reduce_expr)
        text = {"b+a": "a+b", "b*a": "a*b", "min(b,a)": "min(a,b)", "max(b,a)": "max(a,b)"}.get(text, text)
        fold = _FOLDS.get(text)
        if fold in ("minimum", "maximum"):
            return None if kind in COMPLEX else {"minimum": "fmin", "maximum": "fmax"}[fold] if "float" in kind else fold
        if fold is None or (fold.startswith("bitwise") and "int" not in kind) or (fold.startswith("logical") and kind != "bool"):
            return None
        return fold

    def _of_nothing(self, kinds: dict[str, str], kind: str, inputs: list[Any], shape: tuple[int, ...]) -> ndarray:
        if self._none is None:
            raise ValueError(f"zero-size array to reduction operation {self.name} which has no identity")
        device = next(each.device for each in inputs if isinstance(each, ndarray))
        return run(self._none, [], [self._mapped], kinds, [], [weft.zeros(shape, kind, device=device)])[0]

    def __repr__(self) -> str:
        """Its name."""
        return f"<ReductionKernel {self.name}>"


def _named(body: Body, sizes: dict[str, int]) -> dict[str, int]:
    """The sizes that a body asks for."""
    return {name: size for name, size in sizes.items() if mentions(body.nodes, name)}


def _reduce_type(given: str | None, out: Parameter) -> str:
    """The type of what is combined, as a parameter's type: by C's name, NumPy's, or a placeholder."""
    from weft.cupy._c.syntax import TYPES

    if given is None:
        return out.type
    return TYPES.get(given, given)
