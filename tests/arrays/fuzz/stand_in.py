"""NumPy in the shape of Weft's arrays (results are arrays, never scalars), sound or with one defect: what the random programs have to find.

This is what `test_generator.py` judges the judge with. It has nothing to do with `reference.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np


class Module:
    """`xp`: NumPy's functions on `Thing`s. A defect is a subclass."""

    def __init__(self) -> None:
        self.cache: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        return found if isinstance(found, type) or not callable(found) else Function(self, name, found)

    def eval(self, *things: Thing) -> None:
        """Does pending work."""
        for thing in things:
            thing.v

    def astype(self, thing: Thing, dtype: Any) -> Thing:
        """Another dtype."""
        return self.wrap(thing.v.astype(dtype))

    def wrap(self, value: Any) -> Any:
        """Things for arrays and scalars."""
        if isinstance(value, (tuple, list)):
            return type(value)(map(self.wrap, value))
        return Thing(self, np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value

    def apply(self, name: str, function: Callable, args: Any, kw: dict) -> Any:
        """Calls NumPy."""
        result = function(*plain(args), **{key: plain(value) for key, value in kw.items()})
        # In order, as Weft has them: NumPy has them in any.
        result = np.sort(result) if name == "unique_values" else result
        return kw["out"] if kw.get("out") is not None else self.wrap(result)

    def get(self, thing: Thing, key: Any) -> Any:
        """x[key]."""
        return self.wrap(thing.v[plain(key)])

    def put(self, thing: Thing, key: Any, value: Any) -> None:
        """x[key] = value, which NumPy itself gets wrong for some rows that overlap."""
        given = plain(value)
        thing.v[plain(key)] = given.copy() if isinstance(given, np.ndarray) else given

    def in_place(self, name: str, thing: Thing, other: Any) -> Thing:
        """x += other and the like."""
        getattr(np, name)(thing.v, plain(other), out=thing.v)
        return thing


class Function:
    """A function or ufunc of a module."""

    def __init__(self, module: Module, name: str, function: Any) -> None:
        self.module, self.name, self.function = module, name, function
        self.__name__ = name

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return self.module.apply(self.name, self.function, args, kw)

    def __getattr__(self, method: str) -> Any:
        return Function(self.module, f"{self.name}.{method}", getattr(self.function, method))


class Thing:
    """An array: NumPy's, or one that is made when it is first asked for."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, module: Module, made: Any) -> None:
        self.module = module
        self.made = made

    @property
    def v(self) -> np.ndarray:
        """NumPy's array."""
        if not isinstance(self.made, np.ndarray):
            self.made = np.asarray(self.made())
        return self.made

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.v, name)
        if callable(found):
            return lambda *args, **kw: self.module.apply(
                name, lambda thing, *rest, **words: getattr(thing, name)(*rest, **words), (self, *args), kw
            )
        return self.module.wrap(found)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.v, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kw: Any) -> Any:
        return self.module.apply(ufunc.__name__, getattr(ufunc, method), args, kw)

    def __array_function__(self, function: Callable, _types: Any, args: Any, kw: dict) -> Any:
        return self.module.apply(function.__name__, function, args, kw)

    def __getitem__(self, key: Any) -> Any:
        return self.module.get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.module.put(self, key, value)

    def __len__(self) -> int:
        return len(self.v)

    def __bool__(self) -> bool:
        return bool(self.v)

    def __int__(self) -> int:
        return int(self.v)

    def __float__(self) -> float:
        return float(self.v)

    def __pow__(self, other: Any) -> Any:
        return self.module.apply("power", operator.pow, (self, other), {})

    def __rpow__(self, other: Any) -> Any:
        return self.module.power(other, self)

    def __ipow__(self, other: Any) -> Any:
        operator.ipow(self.v, plain(other))
        return self

    def __divmod__(self, other: Any) -> Any:
        return self.module.divmod(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return self.module.divmod(other, self)


def plain(value: Any) -> Any:
    """NumPy's arrays for things."""
    if isinstance(value, Thing):
        return value.v
    return type(value)(map(plain, value)) if isinstance(value, (tuple, list)) else value


UFUNCS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide", "mod": "remainder",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip


def _operators(short: str, name: str) -> None:
    setattr(Thing, f"__{short}__", lambda self, other: getattr(self.module, name)(self, other))
    setattr(Thing, f"__r{short}__", lambda self, other: getattr(self.module, name)(other, self))
    setattr(Thing, f"__i{short}__", lambda self, other: self.module.in_place(name, self, other))


for _short, _name in UFUNCS.items():
    _operators(_short, _name)
for _short in ("neg", "pos", "abs", "invert"):
    setattr(Thing, f"__{_short}__", lambda self, _short=_short: self.module.apply("", getattr(operator, _short), (self,), {}))


class Rounded(Module):
    """No defect: what NumPy does not round correctly is rounded from more digits."""

    NAMES = {
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
        "arcsinh", "arccosh", "arctanh", "cbrt", "hypot", "arctan2", "power", "logaddexp", "sum", "mean", "var", "std", "prod", "cumsum",
        "cumprod",
    }  # fmt: skip

    def apply(self, name: str, function: Callable, args: Any, kw: dict) -> Any:
        result = super().apply(name, function, args, kw)
        if name not in self.NAMES or not isinstance(result, Thing) or result.v.dtype.kind not in "fc" or kw.get("out") is not None:
            return result
        given = [_widened(np.asarray(each), result.v.dtype, "dtype" in kw) if _is_number(each) else each for each in plain(args)]
        words = {key: plain(value) for key, value in kw.items() if key != "dtype"}
        exact = np.asarray(getattr(np, name)(*given, **words)).astype(result.v.dtype)
        return self.wrap(np.where(np.isfinite(result.v), exact, result.v))


def _widened(value: np.ndarray, loop: np.dtype, fixed: bool) -> np.ndarray:
    """In more digits, after what the loop itself is given."""
    if value.dtype.kind in "biu" or (value.dtype.kind == "c" and loop.kind == "f" and fixed):
        value = value.astype(loop)
    return value.astype(np.clongdouble if value.dtype.kind == "c" else np.longdouble)


def _is_number(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic, int, float, complex))


class CopyForView(Module):
    """x[::-1] is a copy."""

    def get(self, thing: Thing, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        back = any(isinstance(each, slice) and (each.step or 1) < 0 for each in keys)
        return self.wrap(thing.v[plain(key)].copy()) if back else super().get(thing, key)


class LateReader(Module):
    """What waits reads its operands as they are when the work is done, not as they were."""

    def apply(self, name: str, function: Callable, args: Any, kw: dict) -> Any:
        if name in ("add", "multiply") and not kw:
            # Errors are told at the call all the same.
            function(*plain(args))
            return Thing(self, lambda: function(*plain(args)))
        return super().apply(name, function, args, kw)


class Promotion(Module):
    """NumPy's float64 scalars are weak, as Python's numbers are."""

    def apply(self, name: str, function: Callable, args: Any, kw: dict) -> Any:
        if isinstance(function, np.ufunc):
            args = tuple(each.item() if isinstance(each, np.float64) else each for each in args)
        return super().apply(name, function, args, kw)


class StaleSum(Module):
    """A sum is kept, and not forgotten when what it was made of is written to."""

    def apply(self, name: str, function: Callable, args: Any, kw: dict) -> Any:
        if name != "sum" or "where" in kw or not args or not isinstance(args[0], Thing):
            return super().apply(name, function, args, kw)
        key = (id(args[0].v), str(kw), args[0].v.shape)
        held, kept = self.cache.get(key, (None, None))
        if held is not args[0].v:
            held, kept = self.cache[key] = (args[0].v, function(*plain(args), **kw))
        return self.wrap(np.array(kept))


class LostTail(Module):
    """A long sum leaves out its last element."""

    def apply(self, name: str, function: Callable, args: Any, kw: dict) -> Any:
        if name == "sum" and not kw and isinstance(args[0], Thing) and args[0].v.size > 4:
            return self.wrap(np.sum(args[0].v.ravel()[:-1]))
        return super().apply(name, function, args, kw)


class Overlap(Module):
    """x[1:] += x[:-1] reads what it has just written."""

    def in_place(self, name: str, thing: Thing, other: Any) -> Thing:
        if isinstance(other, Thing) and thing.v.ndim == 1 and other.v.shape == thing.v.shape and np.may_share_memory(thing.v, other.v):
            for place in range(len(thing.v)):
                getattr(np, name)(thing.v[place : place + 1], other.v[place : place + 1], out=thing.v[place : place + 1])
            return thing
        return super().in_place(name, thing, other)


class UnsafeCast(Module):
    """x += y casts whatever it takes."""

    def in_place(self, name: str, thing: Thing, other: Any) -> Thing:
        thing.v[...] = getattr(np, name)(thing.v, plain(other))
        return thing


class WrongError(Module):
    """An index out of range is a ValueError."""

    def get(self, thing: Thing, key: Any) -> Any:
        try:
            return super().get(thing, key)
        except IndexError as error:
            raise ValueError(str(error)) from None


class NanLost(Module):
    """The larger of a number and NaN is the number."""

    def apply(self, name: str, function: Callable, args: Any, kw: dict) -> Any:
        return super().apply(name, np.fmax if name == "maximum" else function, args, kw)


class Rounding(Module):
    """Quotients of float32 are one unit in the last place off."""

    def apply(self, name: str, function: Callable, args: Any, kw: dict) -> Any:
        result = super().apply(name, function, args, kw)
        if name == "true_divide" and isinstance(result, Thing) and result.v.dtype == np.float32:
            return self.wrap(np.nextafter(result.v, np.float32(np.inf)))
        return result


DEFECTS = (CopyForView, LateReader, Promotion, StaleSum, LostTail, Overlap, UnsafeCast, WrongError, NanLost, Rounding)
