"""NumPy with a bound beside each element: the namespace and the arrays that random programs run on as their reference.

An array is NumPy's and an array of bounds that lies in memory as it does, so that what makes a view or a copy of one makes a view or a copy of
the other. Results are always arrays, of no dimension where NumPy gives a scalar. What a statement means that depends on rounding raises
`Undetermined` before anything is changed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from arrays.fuzz import bounds
from arrays.fuzz.bounds import INEXACT, PROPAGATED, Undetermined

Given = tuple[Any, ...]

MOVES: dict[str, tuple[int, ...]] = {name: (0,) for name in (
    "reshape transpose permute_dims matrix_transpose moveaxis swapaxes expand_dims squeeze flip fliplr flipud rot90 roll broadcast_to "
    "broadcast_arrays concatenate concat stack hstack vstack dstack column_stack repeat tile split array_split hsplit vsplit unstack "
    "atleast_1d atleast_2d atleast_3d tril triu diag diagonal ravel take take_along_axis copy delete append resize pad real imag negative "
    "positive trace_of conj conjugate meshgrid array asarray ascontiguousarray zeros_like ones_like full_like empty_like diagflat"
).split()}  # fmt: skip
"""Functions that only move elements (or turn signs), and which of their arguments have the elements."""
MOVES |= {"where": (1, 2), "compress": (1,), "broadcast_arrays": (0, 1, 2), "meshgrid": (0, 1, 2), "append": (0, 1)}
MOVES |= {"atleast_1d": (0, 1), "atleast_2d": (0, 1), "insert": (0, 2)}


class Array:
    """NumPy's array `v`, and the bounds `t` of its elements if these are floats."""

    __slots__ = ("t", "v")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, v: np.ndarray, t: np.ndarray | None = None) -> None:
        self.v = v
        self.t = t
        if t is None and v.dtype.kind in "fc":
            self.t = np.zeros_like(v, dtype=np.complex128 if v.dtype.kind == "c" else np.float64)

    @property
    def is_exact(self) -> bool:
        """Whether every element is NumPy's, bit for bit."""
        return self.t is None or not self.t.any()

    shape = property(lambda self: self.v.shape)
    ndim = property(lambda self: self.v.ndim)
    size = property(lambda self: self.v.size)
    dtype = property(lambda self: self.v.dtype)
    T = property(lambda self: Array(self.v.T, None if self.t is None else self.t.T))
    mT = property(lambda self: Array(self.v.mT, None if self.t is None else self.t.mT))

    @property
    def real(self) -> Array:
        """A view of the real parts."""
        return Array(self.v.real, None if self.t is None else self.t.real)

    @property
    def imag(self) -> Array:
        """A view of the imaginary parts."""
        return Array(self.v.imag, None if self.t is None else self.t.imag if self.v.dtype.kind == "c" else None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kw: Any) -> Any:
        return (xp.call if method == "__call__" else getattr(Ufunc(ufunc.__name__), method))(*(
            [ufunc.__name__, *args] if method == "__call__" else args
        ), **kw)  # fmt: skip

    def __array_function__(self, function: Callable, types: Any, args: Given, kw: dict) -> Any:
        return xp.call(function.__name__, *args, **kw)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(exact(self), dtype=dtype)

    def __getitem__(self, key: Any) -> Array:
        key = unwrap(key)
        return Array(np.asarray(self.v[key]), None if self.t is None else np.asarray(self.t[key]))

    def __setitem__(self, key: Any, value: Any) -> None:
        key = unwrap(key)
        fits(value, self.dtype)
        given = bound_of(value)
        self.v[key] = unwrap(value, exactly=False)
        if self.t is not None:
            self.t[key] = given if self.t.dtype.kind == "c" else np.real(given)
            # What is cast to a narrower dtype is rounded.
            if np.any(given):
                self.t[key] = bounds.rounded(np.asarray(self.t[key]), np.asarray(self.v[key]))

    def __len__(self) -> int:
        return len(self.v)

    def __bool__(self) -> bool:
        return bool(exact(self))

    def __int__(self) -> int:
        return int(exact(self))

    def __float__(self) -> float:
        return float(exact(self))

    def __complex__(self) -> complex:
        return complex(exact(self))

    def __index__(self) -> int:
        return operator.index(exact(self))

    def item(self, *args: int) -> Any:
        """One element."""
        return exact(self).item(*args)

    def tolist(self) -> Any:
        """Elements as Python's."""
        return exact(self).tolist()

    def fill(self, value: Any) -> None:
        """Writes one value everywhere."""
        fits(value, self.dtype)
        self.v.fill(unwrap(value))
        if self.t is not None:
            self.t.fill(0)

    def sort(self, axis: int = -1) -> None:
        """Sorts in place."""
        ordered(self.v)
        exact(self).sort(axis=axis)

    def astype(self, dtype: Any, copy: bool = True) -> Array:
        """Another dtype."""
        fits(self, np.dtype(dtype))
        result = self.v.astype(dtype, copy=copy)
        if result is self.v:
            return self
        return fresh(result, bounds.rounded(self.t, result) if self.t is not None and result.dtype.kind in "fc" else None)

    def view(self, dtype: Any) -> Array:
        """Bits as another dtype: of integers, which have no bounds."""
        if self.t is not None or np.dtype(dtype).kind in "fc":
            raise Undetermined("the bits of floats")
        return Array(self.v.view(dtype))

    def reshape(self, *shape: Any, **kw: Any) -> Array:
        """A view where NumPy makes one."""
        return Array(self.v.reshape(*shape, **kw), None if self.t is None else self.t.reshape(*shape, **kw))

    def transpose(self, *axes: Any) -> Array:
        """Other axes."""
        return Array(self.v.transpose(*axes), None if self.t is None else self.t.transpose(*axes))

    def flatten(self) -> Array:
        """A flat copy."""
        return Array(self.v.flatten(), None if self.t is None else self.t.flatten())

    def copy(self) -> Array:
        """A copy, in C's order."""
        return Array(self.v.copy(), None if self.t is None else self.t.copy())


def exact(value: Array) -> np.ndarray:
    """NumPy's array, where there is nothing to doubt."""
    if not value.is_exact:
        raise Undetermined("elements within bounds only")
    return value.v


def unwrap(value: Any, exactly: bool = True) -> Any:
    """NumPy's arrays for ours, in tuples and lists, too."""
    if isinstance(value, Array):
        return exact(value) if exactly else value.v
    if isinstance(value, (tuple, list)):
        return type(value)(unwrap(each, exactly) for each in value)
    return value


def bound_of(value: Any) -> Any:
    """The bounds of what a function is given."""
    if isinstance(value, Array):
        return value.t if value.t is not None else np.zeros(value.shape)
    if isinstance(value, (tuple, list)):
        return type(value)(bound_of(each) for each in value)
    return np.zeros(np.shape(value))


def fits(value: Any, dtype: np.dtype) -> None:
    """Whether NumPy says what becomes of values that are cast to integers: not of those outside their range."""
    if isinstance(value, (tuple, list, int)) or dtype.kind not in "iu":
        return
    plain = unwrap(value) if isinstance(value, Array) else np.asarray(value)
    if plain.dtype.kind in "fc":
        info, parts = np.iinfo(dtype), plain.real.astype(np.float64)
        if not np.all((parts > float(info.min) - 0.5) & (parts < float(info.max))):
            raise Undetermined("a float outside the range of integers")


def ordered(values: np.ndarray) -> None:
    """NumPy does not say in which order zeros of both signs come."""
    if values.dtype.kind in "fc":
        parts = [values.real, values.imag] if values.dtype.kind == "c" else [values]
        if any(np.signbit(part[part == 0]).any() for part in parts) or (values.dtype.kind == "c" and np.isnan(values).any()):
            raise Undetermined("the order of equal elements")


def fresh(v: Any, t: Any = None) -> Array:
    """A new array whose bounds lie in memory as it does."""
    result = Array(np.asarray(v))
    if t is not None and result.t is not None:
        result.t[...] = t if result.t.dtype.kind == "c" else np.real(t)
    return result


def gather(v: Any, t: Any) -> Any:
    """Arrays for what a function of NumPy's gave: one, several, or no arrays at all."""
    if isinstance(v, (tuple, list)):
        return type(v)(gather(*pair) for pair in zip(v, t)) if not hasattr(v, "_fields") else tuple(gather(*pair) for pair in zip(v, t))
    if not isinstance(v, (np.ndarray, np.generic)):
        return v
    array = np.asarray(v)
    if array.dtype.kind not in "fc":
        return Array(array)
    return Array(array, t) if array.base is not None and isinstance(t, np.ndarray) and t.base is not None else fresh(array, t)


class Namespace:
    """`xp` of the reference."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, np.ufunc):
            return Ufunc(name)
        if not callable(found) or isinstance(found, type):
            return found
        return lambda *args, **kw: self.call(name, *args, **kw)

    def eval(self, *_arrays: Any) -> None:
        """Nothing waits here."""

    def asnumpy(self, array: Array) -> np.ndarray:
        """A copy."""
        return exact(array).copy()

    def astype(self, array: Array, dtype: Any) -> Array:
        """Another dtype."""
        return array.astype(dtype)

    def call(self, name: str, *args: Any, **kw: Any) -> Any:
        """A function of NumPy's by name."""
        from arrays.fuzz.rules import rule

        if kw.get("out") is not None:
            return self.into(name, args, kw)
        plain = [unwrap(each, exactly=False) for each in args]
        result = getattr(np, name)(*plain, **{key: unwrap(value) for key, value in kw.items()})
        return gather(result, rule(name)(result, args, kw))

    def into(self, name: str, args: Given, kw: dict) -> Any:
        """The same with `out`, and perhaps with `where`."""
        from arrays.fuzz.rules import rule

        out = kw["out"][0] if isinstance(kw["out"], tuple) else kw["out"]
        plain = [unwrap(each, exactly=False) for each in args]
        rest = {key: unwrap(value) for key, value in kw.items() if key != "out"}
        bare = {key: value for key, value in rest.items() if key not in ("where", "casting")}
        try:
            result = getattr(np, name)(*plain, **bare)
        except Exception:
            # The error that is told is that of the whole call.
            getattr(np, name)(*plain, out=out.v, **rest)
            raise
        given = rule(name)(result, args, bare)
        getattr(np, name)(*plain, out=out.v, **rest)
        if out.t is not None:
            bound = given if given is not None else np.zeros(np.shape(result))
            new = np.broadcast_to(bound if out.t.dtype.kind == "c" else np.real(bound), out.shape)
            new = bounds.rounded(new, out.v) if np.any(new) else new
            np.copyto(out.t, new, where=rest.get("where", True))
        return out


class Ufunc:
    """A ufunc and its methods."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return xp.call(self.name, *args, **kw)

    def reduce(self, array: Array, axis: Any = 0, **kw: Any) -> Any:
        """Along axes."""
        names = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any"}
        if self.name in ("add", "multiply", "maximum", "minimum"):
            return xp.call(names[self.name], array, axis=axis, **kw)
        return fresh(getattr(np, self.name).reduce(exact(array), axis=axis, **{key: unwrap(value) for key, value in kw.items()}))

    def accumulate(self, array: Array, axis: int = 0) -> Any:
        """One after the other."""
        if self.name in ("add", "multiply"):
            return xp.call("cumsum" if self.name == "add" else "cumprod", array, axis=axis)
        ordered(array.v)
        return fresh(getattr(np, self.name).accumulate(exact(array), axis=axis))

    def outer(self, left: Any, right: Any) -> Any:
        """Every pair."""
        return xp.call(self.name, left[(..., *[None] * right.ndim)], right)

    def at(self, array: Array, places: Any, values: Any) -> None:
        """One place after the other: of integers, since sums of floats depend on the order."""
        if array.t is not None:
            raise Undetermined("an order of sums")
        getattr(np, self.name).at(array.v, unwrap(places), unwrap(values))


xp = Namespace()


def _operator(name: str, reflected: bool) -> Callable:
    def method(self: Array, other: Any) -> Any:
        if not isinstance(other, (Array, np.ndarray, np.generic, int, float, complex)):
            return NotImplemented
        return xp.call(name, other, self) if reflected else xp.call(name, self, other)

    return method


def _in_place(name: str) -> Callable:
    def method(self: Array, other: Any) -> Any:
        return xp.call(name, self, other, out=self)

    return method


def _function(name: str) -> Callable:
    return lambda self, *args, **kw: xp.call(name, self, *args, **kw)


OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
for _short, _name in OPERATORS.items():
    setattr(Array, f"__{_short}__", _operator(_name, False))
    setattr(Array, f"__r{_short}__", _operator(_name, True))
    setattr(Array, f"__i{_short}__", _in_place(_name))
for _short, _name in {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    setattr(Array, f"__{_short}__", _operator(_name, False))
Array.__divmod__ = _operator("divmod", False)  # type: ignore[attr-defined]
Array.__rdivmod__ = _operator("divmod", True)  # type: ignore[attr-defined]
for _short, _name in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
    setattr(Array, f"__{_short}__", _function(_name))
for _name in (
    "sum mean var std prod max min argmax argmin any all cumsum cumprod clip round ravel squeeze swapaxes repeat take argsort nonzero conj "
    "diagonal searchsorted"
).split():
    setattr(Array, _name, _function(_name))
