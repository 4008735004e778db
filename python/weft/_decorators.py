"""The decorators `jit`, `njit` and `vectorize`, and what functions decorated with them can do."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from weft import _weft, types
from weft._differentiable import Differentiable, Ruled
from weft._pickling import Picklable
from weft.errors import UnsupportedError


def checked(debug: bool = False, boundscheck: bool | None = None) -> bool:
    """Whether a function runs in checked mode: it asks for it, or `WEFT_CHECK=1` is set."""
    return bool(debug or boundscheck) or os.environ.get("WEFT_CHECK", "") not in ("", "0")


class Inspectable(Picklable):
    """What every compiled object offers: a look inside, and a way to other processes."""

    def _known(self) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def _inspect(self, what: str) -> Any:
        raise NotImplementedError

    @property
    def signatures(self) -> list[tuple[types.Type, ...]]:
        """The argument types it has been compiled for."""
        return [tuple(map(types.from_spec, row)) for row in self._known()]

    def inspect_ir(self, signature: Any = None) -> Any:
        """The IR before any pass: a dict by argument types, or for one signature the text."""
        return self._text("ir", signature)

    def inspect_llvm(self, signature: Any = None) -> Any:
        """The LLVM IR, likewise."""
        return self._text("llvm", signature)

    def inspect_asm(self, signature: Any = None) -> Any:
        """The machine code as assembly, likewise."""
        return self._text("asm", signature)

    def _text(self, what: str, signature: Any) -> Any:
        texts = {tuple(map(types.from_spec, row)): text for row, text in self._inspect(what).items()}
        if signature is None:
            return texts
        wanted = types.as_signature(signature).args
        if wanted not in texts:
            raise KeyError(f"not compiled for {wanted}; see .signatures")
        return texts[wanted]


class Function(_weft.Dispatcher, Inspectable, Differentiable):
    """A Python function compiled by `jit`. Called like the function; compiled at the first call with new argument types."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method of a class, it is bound like any function."""
        if instance is None:
            return self
        from types import MethodType

        return MethodType(self, instance)


class Pullback(_weft.Ufunc):
    """What a vectorized function's operands and its result's cotangent give: the gradient by one of the operands."""

    def __new__(cls, dispatcher: Any, follows_device: bool, by: tuple[int, ...]) -> Pullback:
        """The derivative by an operand, or of that by another one, and so on."""
        made = super().__new__(cls, dispatcher, follows_device, list(by))
        made.__dict__["_by_"] = by
        return made

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Called like the function; UnsupportedError where a loop leaves no way back."""
        try:
            return super().__call__(*args, **keywords)
        except UnsupportedError as error:
            words, arrow, place = str(error).partition("\n")
            if len(self.__dict__["_by_"]) == 1 or not words.startswith("the way back needs the element of"):
                raise
            # It speaks of the derivative's own code, in which a loop's values are kept in an array that is written and read.
            order = "second" if len(self.__dict__["_by_"]) == 2 else "higher"
            raise UnsupportedError(
                f"{self.__name__} has no {order} derivative here, since a loop in it overwrites values that its derivatives need: "
                f"give it a rule with defvjp, or compute with whole arrays{arrow}{place}"
            ) from None

    def pullback(self, by: int) -> Pullback:
        """The same of this function, which has one operand more than the one that it is a derivative of."""
        made = self.__dict__.setdefault("_pullbacks_", {})
        if by not in made:
            made[by] = Pullback(self._weft_dispatcher_, False, (*self.__dict__["_by_"], by))
        return made[by]


class Vectorized(_weft.Ufunc, Inspectable, Ruled):
    """A scalar function compiled by `vectorize`. Called with arrays and scalars, it broadcasts like a NumPy ufunc."""

    @property
    def py_func(self) -> Callable[..., Any]:
        """The undecorated function."""
        return self._weft_dispatcher_.py_func

    def pullback(self, by: int) -> Pullback:
        """The function of the operands and of the result's cotangent that gives the gradient by operand number `by`, broadcast like this
        one.

        >>> import numpy as np
        >>> import weft
        >>> @weft.vectorize
        ... def product(a, x):
        ...     return a * x * x
        >>> product.pullback(1)(3.0, np.array([1.0, 2.0]), 1.0)
        array([ 6., 12.])
        """
        made = self.__dict__.setdefault("_pullbacks_", {})
        if by not in made:
            from weft.gradients.compiled import callees, refuse_rules

            refuse_rules(self, callees(self))
            made[by] = Pullback(self._weft_dispatcher_, False, (by,))
        return made[by]

    def _text(self, what: str, signature: Any) -> Any:
        return "\n".join(self._inspect(what))


def dispatcher(
    cls: type,
    function: Callable[..., Any],
    signatures: tuple[types.Signature, ...] = (),
    *,
    role: str,
    numba: bool = False,
    parallel: bool = False,
    fastmath: bool = False,
    contract: bool = False,
    python_errors: bool = False,
    check: bool = False,
    cache: bool = False,
    lines: bool = False,
    bounds: tuple[int, int, int] = (0, 0, 0),
) -> Any:
    """A compiled object of class `cls` around a Python function, or around that of another compiled object."""
    function = getattr(function, "py_func", function)
    if not hasattr(function, "__code__"):
        raise TypeError(f"expected a Python function, got {type(function).__name__}")
    options = {
        "role": role,
        "numba": numba,
        "parallel": parallel,
        "fastmath": fastmath,
        "contract": contract,
        "python_errors": python_errors,
        "checked": check,
        "cache": cache,
        "lines": lines,
        "bounds": bounds,
    }
    return _dispatcher(cls, function, signatures, options)


def _dispatcher(cls: type, function: Callable[..., Any], signatures: tuple[types.Signature, ...], options: dict[str, Any]) -> Any:
    made = cls(function, tuple(s._spec_ for s in signatures), **options)
    _introduce(made, function)
    made._remake_ = (_dispatcher, (cls, function, signatures, options))
    return made


def _ufunc(scalar: Any, cuda: bool) -> Vectorized:
    made = Vectorized(scalar, cuda)
    _introduce(made, scalar.py_func)
    made._remake_ = (_ufunc, (scalar, cuda))
    return made


def _introduce(made: Any, function: Callable[..., Any]) -> None:
    """Lets help() and documentation tools see the function that was decorated."""
    made.__module__ = function.__module__
    made.__qualname__ = function.__qualname__
    made.__doc__ = function.__doc__


def in_numbas_dialect(decorator: Callable[..., Any]) -> Callable[..., Any]:
    """The same decorator for functions whose numbers follow Numba's rules."""

    @functools.wraps(decorator)
    def numbas(*args: Any, **options: Any) -> Any:
        return decorator(*args, _numba=True, **options)

    return numbas


def decorate(first: Any, make: Callable[[Any, tuple[types.Signature, ...]], Any]) -> Any:
    """Tells `@jit`, `@jit(options)`, `@jit(signature)` and `jit(function)` apart."""
    if first is None:
        return lambda function: make(function, ())
    if types.is_signature(first):
        signatures = types.signatures_of(first)
        return lambda function: make(function, signatures)
    return make(first, ())


def jit(
    signature_or_function: Any = None,
    *,
    nopython: bool = True,
    fastmath: bool = False,
    parallel: bool = False,
    cache: bool = False,
    error_model: str = "python",
    boundscheck: bool | None = None,
    inline: str = "never",
    nogil: bool = True,
    debug: bool = False,
    forceobj: bool = False,
    looplift: bool = True,
    _numba: bool = False,
) -> Any:
    """Compile a Python function to machine code.

    The function is compiled for the types of its arguments when it is called; a signature (``"float64(float64[:])"``, or
    made of `weft.types`) compiles it at once, for those types only.

    parallel: `prange` loops and array expressions use every core, not only every SIMD lane.
    fastmath: allow reassociation and fused products; no NaN or infinity is expected.
    error_model: ``"python"`` raises ZeroDivisionError where Python numbers are divided by zero; ``"numpy"`` gives inf, NaN or 0,
        as arrays and NumPy's numbers always do.
    cache: keep the machine code on disk for the next process.
    debug, boundscheck: run checked, see the guide; much slower.
    The GIL is always released, and functions are inlined where it pays: `nogil`, `inline`, `nopython` and `looplift` are
    accepted for Numba's sake.
    """
    if forceobj or not nopython:
        raise UnsupportedError("object mode does not exist in Weft: every function is compiled to machine code")
    if error_model not in ("python", "numpy"):
        raise ValueError(f"error_model is 'python' or 'numpy', not {error_model!r}")

    def make(function: Any, signatures: tuple[types.Signature, ...]) -> Any:
        return dispatcher(
            Function,
            function,
            signatures,
            role="host",
            numba=_numba,
            parallel=parallel,
            fastmath=fastmath,
            contract=fastmath,
            python_errors=error_model == "python",
            check=checked(debug, boundscheck),
            cache=cache,
        )

    return decorate(signature_or_function, make)


njit = jit


def vectorize(
    signatures_or_function: Any = None,
    *,
    target: str = "cpu",
    fastmath: bool = False,
    cache: bool = False,
    nopython: bool = True,
    identity: Any = None,
    debug: bool = False,
    _numba: bool = False,
) -> Any:
    """Make a ufunc of a function of scalars.

    The result is called with arrays and scalars, broadcasts them, and takes ``out=``, ``where=`` and ``dtype=``. With a list of
    signatures, the first that the operands can be cast to safely is used; without, one is compiled per operand types.
    `target` is ``"cpu"``, ``"parallel"`` or ``"cuda"``: on the CPU all of them use every core when the arrays are large enough.
    """
    if target not in ("cpu", "parallel", "cuda"):
        raise ValueError(f"target is 'cpu', 'parallel' or 'cuda', not {target!r}")

    def make(function: Any, signatures: tuple[types.Signature, ...]) -> Vectorized:
        scalar = dispatcher(
            Function,
            function,
            signatures,
            role="ufunc",
            numba=_numba,
            parallel=True,
            fastmath=fastmath,
            contract=fastmath,
            check=checked(debug),
            cache=cache,
        )
        return _ufunc(scalar, target == "cuda")

    return decorate(signatures_or_function, make)
