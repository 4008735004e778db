"""Calls of NumPy's functions as compiled code has them, against NumPy itself: values, dtypes, shapes, and that both refuse the same."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from support import texts

from weft import errors, njit

FLOATS = (np.float32, np.float64)
INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
COMPLEX = (np.complex64, np.complex128)
REAL = (*FLOATS, *INTEGERS, np.bool_)
ALL = (*REAL, *COMPLEX)
# One of each kind, where every dtype would take the time of a compilation and tell nothing new.
KINDS = (np.float64, np.float32, np.int64, np.uint8, np.bool_, np.complex128)
# Relative error that a different order of summation may make.
ROUNDING = {np.dtype(np.float32): 1e-5, np.dtype(np.complex64): 1e-5, np.dtype(np.float16): 1e-2}


@functools.cache
def compiled(text: str, parameters: str, options: tuple = ()) -> tuple[Callable, Callable]:
    """The plain function of the parameters that gives an expression, or runs statements that end in a `return`; and compiled."""
    body = text if text.startswith("return ") or "\n" in text else f"return {text}"
    lines = "\n".join("    " + line for line in body.split("\n"))
    plain = texts.function_of(f"def f({parameters}):\n{lines}\n", {"np": np})
    return plain, njit(**dict(options))(plain)


def check(text: str, exact: bool = True, **arguments: object) -> None:
    """`text`, an expression in the names of the arguments such as `np.cumsum(a, axis=1)`, has NumPy's value in compiled code.

    Where NumPy raises, compiled code must refuse or raise. `exact=False` allows the rounding of sums in another order.
    """
    plain, fast = compiled(text, ", ".join(arguments))
    own, others = (tuple(copied(value) for value in arguments.values()) for _ in range(2))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = plain(*own)
        except Exception as error:
            wanted = error
        try:
            given = fast(*others)
        except errors.InternalError:
            raise
        except Exception as error:
            given = error
    shown = f"{text} of {', '.join(f'{name}={value!r}' for name, value in arguments.items())}"
    if isinstance(wanted, Exception):
        assert isinstance(given, Exception), f"{shown}: NumPy raises {wanted!r}, compiled code gives {given!r}"
        return
    if isinstance(given, Exception):
        raise AssertionError(f"{shown}: {given}") from given
    differ = difference(wanted, given, exact)
    assert differ is None, f"{shown}: {differ}\nNumPy: {wanted!r}\nWeft: {given!r}"
    for before, after, name in zip(own, others, arguments, strict=True):
        assert difference(before, after, exact) is None, f"{shown}: leaves {name} as {after!r}, NumPy as {before!r}"


def check_parallel(text: str, **arguments: object) -> None:
    """Compiled with `parallel=True` it has the bits that it has without."""
    parameters = ", ".join(arguments)
    _, one = compiled(text, parameters)
    _, many = compiled(text, parameters, (("parallel", True),))
    wanted, given = one(*arguments.values()), many(*arguments.values())
    assert difference(wanted, given, True) is None, f"{text}: {given!r} with parallel=True, {wanted!r} without"
    check(text, exact=False, **arguments)


def copied(value: object) -> object:
    """The same array with the same strides, so that what a function writes is seen."""
    if not isinstance(value, np.ndarray) or value.base is None:
        return value.copy(order="K") if isinstance(value, np.ndarray) else value
    root = value.base
    while isinstance(root.base, np.ndarray):
        root = root.base
    memory = root.copy(order="K")
    start = value.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    view = np.ndarray(value.shape, value.dtype, memory.data if memory.flags.c_contiguous else memory.T.data, start, value.strides)
    return view


def difference(wanted: object, given: object, exact: bool) -> str | None:
    """What two results differ in."""
    if isinstance(wanted, tuple | list):
        if not isinstance(given, tuple) or len(given) != len(wanted):
            return "not as many items"
        return next(filter(None, (difference(w, g, exact) for w, g in zip(wanted, given, strict=True))), None)
    if wanted is None or given is None:
        return None if wanted is given else "None"
    a, b = np.asarray(wanted), np.asarray(given)
    if a.shape != b.shape:
        return f"shape {b.shape} for {a.shape}"
    if a.dtype != b.dtype:
        return f"dtype {b.dtype} for {a.dtype}"
    tests_nan = a.dtype.kind in "fc"
    if exact or a.dtype.kind not in "fc":
        return None if np.array_equal(a, b, equal_nan=tests_nan) else "values"
    tolerance = ROUNDING.get(a.dtype, 1e-12)
    finite = np.abs(a[np.isfinite(a)])
    scale = finite.max() if finite.size else 1.0
    return None if np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True) else "values"


def array(shape: tuple[int, ...], dtype: object, seed: int = 0, nan: bool = False) -> np.ndarray:
    """Random numbers of a dtype, few of them different, so that ties and zeros are met; NaN and infinities among them if asked."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    values = rng.integers(-6, 7, shape)
    if dtype.kind in "ub":
        values = np.abs(values)
    made = np.asarray(values).astype(dtype)
    if dtype.kind == "b":
        return np.asarray(values > 2)
    if dtype.kind in "fc":
        made = (made + np.asarray(rng.integers(0, 4, shape)).astype(dtype) / 4).astype(dtype)
    if dtype.kind == "c":
        made = (made + 1j * rng.integers(-3, 4, shape)).astype(dtype)
    if nan and dtype.kind in "fc" and made.size:
        flat = made.reshape(-1)
        flat[rng.integers(0, flat.size, max(1, flat.size // 5))] = np.nan
        flat[rng.integers(0, flat.size, max(1, flat.size // 9))] = np.inf
    return made


def layouts(a: np.ndarray) -> Iterator[np.ndarray]:
    """The same elements in C's order, in Fortran's, in reverse and with gaps between them."""
    yield a
    if a.ndim > 1:
        yield np.asfortranarray(a)
    if a.ndim:
        room = np.zeros(tuple(2 * n + 1 for n in a.shape), a.dtype)
        gaps = room[tuple(slice(0, 2 * n, 2) for n in a.shape)]
        gaps[...] = a
        yield gaps
        backwards = np.empty_like(a)[::-1]
        backwards[...] = a
        yield backwards


def axes(rank: int) -> Iterator[int | None]:
    """None, and every axis counted from both ends."""
    yield None
    yield from range(-rank, rank)


def cases(*choices: object) -> Iterator[tuple]:
    """Every combination."""
    return itertools.product(*choices)
