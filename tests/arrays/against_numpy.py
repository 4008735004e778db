"""Expressions in the vocabulary `xp`, of NumPy and of Weft: values, dtypes, shapes, and classes of errors have to be the same."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import weft
from weft.errors import UnsupportedError

FLOATS = (np.float16, np.float32, np.float64)
INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
COMPLEX = (np.complex64, np.complex128)
ALL = (*FLOATS, *INTEGERS, *COMPLEX, np.bool_)
# One of each kind.
KINDS = (np.float64, np.float16, np.int32, np.uint8, np.bool_, np.complex64)
# Relative error that a different order of summation may make.
ROUNDING = {"float16": 4e-3, "float32": 5e-6, "complex64": 5e-6}


def check(text: str, exact: bool = True, **arguments: Any) -> None:
    """An expression, or statements that end in one on a line of its own, gives in Weft what it gives in NumPy.

    Arguments that are arrays are weft arrays there; what becomes of them is compared, too. Where NumPy raises, Weft raises the same
    class of error. `exact=False` allows the rounding of another order of operations.
    """
    theirs, their_arguments = _run(text, np, {name: _own(value) for name, value in arguments.items()})
    ours, our_arguments = _run(text, weft, {name: _woven(value) for name, value in arguments.items()})
    shown = f"{text} of {', '.join(f'{name}={value!r}' for name, value in arguments.items())}"
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"{shown}: NumPy raises {theirs!r}, Weft gives {ours!r}"
        assert isinstance(ours, type(theirs)) or isinstance(theirs, type(ours)), f"{shown}: NumPy raises {theirs!r}, Weft {ours!r}"
        return
    if isinstance(ours, Exception):
        raise AssertionError(f"{shown}: {ours!r}") from ours
    differ = difference(theirs, ours, exact)
    assert differ is None, f"{shown}: {differ}\nNumPy: {theirs!r}\nWeft: {ours!r}"
    for name, value in their_arguments.items():
        differ = difference(value, our_arguments[name], exact)
        assert differ is None, f"{shown}: leaves {name} as {our_arguments[name]!r}, NumPy as {value!r}"


def refused(text: str, **arguments: Any) -> None:
    """What is valid in NumPy is refused by name."""
    ours, _ = _run(text, weft, {name: _woven(value) for name, value in arguments.items()})
    assert isinstance(ours, UnsupportedError | TypeError), f"{text}: {ours!r}"


def _run(text: str, xp: Any, arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    scope = {"xp": xp, "np": np, **arguments}
    *before, last = text.split("\n")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec("\n".join(before), scope)
            result = eval(last, scope)
        except Exception as error:
            result = error
    return result, {name: scope[name] for name in arguments}


def _own(value: Any) -> Any:
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def _woven(value: Any) -> Any:
    """A weft array of a NumPy array, with its strides where there are gaps or axes in another order."""
    if not isinstance(value, np.ndarray):
        return value
    if value.flags.c_contiguous:
        return weft.asarray(value)
    order = sorted(range(value.ndim), key=lambda axis: -abs(value.strides[axis]))
    back = np.argsort(order)
    return weft.transpose(weft.asarray(np.ascontiguousarray(value.transpose(order))), tuple(int(i) for i in back))


def host(value: Any) -> Any:
    """A weft array as NumPy's."""
    from weft._weft import _to_numpy

    return _to_numpy(value) if isinstance(value, weft.ndarray) else np.asarray(value)


def difference(wanted: Any, given: Any, exact: bool) -> str | None:
    """What two results differ in."""
    if isinstance(wanted, (tuple, list)):
        if not isinstance(given, (tuple, list)) or len(given) != len(wanted):
            return "not as many items"
        return next(filter(None, (difference(w, g, exact) for w, g in zip(wanted, given))), None)
    if wanted is None or isinstance(wanted, (str, np.dtype, type)):
        return None if wanted == given else "other values"
    a, b = np.asarray(wanted), host(given)
    if a.shape != b.shape:
        return f"shape {b.shape} for {a.shape}"
    if a.dtype != b.dtype:
        return f"dtype {b.dtype} for {a.dtype}"
    if exact or a.dtype.kind not in "fc":
        return None if np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") else "other values"
    tolerance = ROUNDING.get(a.dtype.name, 1e-13)
    finite = np.abs(a[np.isfinite(a)])
    scale = float(finite.max()) if finite.size else 1.0
    return None if np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True) else "other values"


def array(shape: tuple[int, ...], dtype: Any = np.float64, seed: int = 0, nan: bool = False) -> np.ndarray:
    """Random numbers of a dtype, few of them different, so that ties and zeros are met; NaN and infinities among them if asked."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    values = rng.integers(-6, 7, shape)
    if dtype.kind == "b":
        return np.asarray(values > 1)
    if dtype.kind == "u":
        values = np.abs(values)
    made = np.asarray(values).astype(dtype)
    if dtype.kind in "fc":
        made = (made + np.asarray(rng.integers(0, 4, shape)).astype(dtype) / 4).astype(dtype)
    if dtype.kind == "c":
        made = (made + 1j * rng.integers(-3, 4, shape)).astype(dtype)
    if nan and dtype.kind in "fc" and made.size:
        flat = made.reshape(-1)
        flat[rng.integers(0, flat.size, max(1, flat.size // 5))] = np.nan
        flat[rng.integers(0, flat.size, max(1, flat.size // 9))] = np.inf
    return made


def axes(rank: int) -> Iterator[int | None]:
    """None, every axis counted from both ends, and one outside on each side."""
    yield None
    yield from range(-rank - 1, rank + 1)


def cases(*choices: Any) -> Iterator[tuple]:
    """Every combination."""
    return itertools.product(*choices)
