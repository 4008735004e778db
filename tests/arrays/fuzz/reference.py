"""NumPy with a bound of the error beside each element: the namespace that random programs run on as their reference.

Results are always arrays, of no dimension where NumPy gives a scalar.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from arrays.fuzz import bounds
from arrays.fuzz.bounded import Array, Given, exact, fresh, gather, ordered, unwrap
from arrays.fuzz.bounds import Undetermined
from arrays.fuzz.rules import rule


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

    def unique_values(self, array: Array) -> Array:
        """The elements in order, as Weft has them: NumPy has them in any."""
        return self.call("unique", array, equal_nan=False)

    def call(self, name: str, *args: Any, **kw: Any) -> Any:
        """A function of NumPy's by name."""
        if kw.get("out") is not None:
            return self.into(name, args, kw)
        plain = [unwrap(each, exactly=False) for each in args]
        function = REPLACED.get(name) or getattr(np, name)
        result = function(*plain, **{key: unwrap(value) for key, value in kw.items()})
        for own, given in zip(plain, args):
            # An array that NumPy gives back as it is.
            if result is own and isinstance(given, Array):
                return given
        return gather(result, rule(name)(result, args, kw))

    def into(self, name: str, args: Given, kw: dict) -> Any:
        """The same with `out`, and perhaps with `where`."""
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


def _sorting(name: str) -> Callable:
    """NumPy's functions that sort, which lose elements of long arrays of float16 on processors with AVX-512 (2.4.6)."""

    def function(array: Any, *args: Any, **kw: Any) -> Any:
        half = getattr(array, "dtype", None) == np.float16
        result = getattr(np, name)(array.astype(np.float32) if half else array, *args, **kw)
        if not half:
            return result
        return result.astype(np.float16) if isinstance(result, (np.ndarray, np.generic)) else (result[0].astype(np.float16), *result[1:])

    return function


def _where(condition: Any, *choices: Any) -> Any:
    """NumPy 2.5's, which raises for Python's integers that the other's dtype does not hold; before, they were cut."""
    dtype = np.result_type(*choices) if choices else np.dtype(bool)
    for each in choices:
        if type(each) is int and dtype.kind in "iu" and -(2**63) <= each < 2**64:
            dtype.type(each)
    return np.where(condition, *choices)


REPLACED: dict[str, Callable] = {name: _sorting(name) for name in ("sort", "unique", "median")} | {"where": _where}


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
        if array.ndim == 0:
            # What is refused: the functions below take it.
            getattr(np, self.name).accumulate(array.v, axis=axis)
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
        if not array.v.flags.writeable:
            raise Undetermined("NumPy writes even so")
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


def _power(self: Array, other: Any) -> Any:
    """NumPy's operator is not its function: some exponents have functions of their own."""
    given = unwrap(other, exactly=False)
    result = operator.pow(self.v, given)
    return gather(result, rule("power")(result, (self, other), {}))


def _power_in_place(self: Array, other: Any) -> Any:
    given = unwrap(other, exactly=False)
    bound = rule("power")(result, (self, other), {}) if (result := _tried(self.v, given)) is not None else None
    operator.ipow(self.v, given)
    if self.t is not None and bound is not None:
        bound = np.broadcast_to(bound if self.t.dtype.kind == "c" else np.real(bound), self.shape)
        self.t[...] = bounds.rounded(bound, self.v) if np.any(bound) else bound
    return self


def _tried(left: np.ndarray, right: Any) -> Any:
    try:
        return operator.pow(left, right)
    except Exception:
        return None


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
Array.__pow__ = _power  # type: ignore[attr-defined]
Array.__ipow__ = _power_in_place  # type: ignore[attr-defined]
Array.__divmod__ = _operator("divmod", False)  # type: ignore[attr-defined]
Array.__rdivmod__ = _operator("divmod", True)  # type: ignore[attr-defined]
for _short, _name in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
    setattr(Array, f"__{_short}__", _function(_name))


def _ufunc_protocol(_self: Array, ufunc: np.ufunc, method: str, *args: Any, **kw: Any) -> Any:
    """NumPy's own ufuncs on our arrays."""
    return getattr(Ufunc(ufunc.__name__), method)(*args, **kw)


def _function_protocol(_self: Array, function: Callable, _types: Any, args: Given, kw: dict) -> Any:
    """NumPy's own functions on our arrays."""
    return xp.call(function.__name__, *args, **kw)


Array.__array_ufunc__ = _ufunc_protocol  # type: ignore[attr-defined]
Array.__array_function__ = _function_protocol  # type: ignore[attr-defined]
for _name in [
    "sum", "mean", "var", "std", "prod", "max", "min", "argmax", "argmin", "any", "all", "cumsum", "cumprod", "clip", "round",
    "ravel", "squeeze", "swapaxes", "repeat", "take", "argsort", "nonzero", "conj", "diagonal", "searchsorted",
]:  # fmt: skip
    setattr(Array, _name, _function(_name))
