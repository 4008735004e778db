"""`frompyfunc`: a Python function as one of arrays."""

from __future__ import annotations

import linecache
import operator
from typing import Any

import numpy as np

from weft._decorators import njit, vectorize
from weft._weft import _reshape, ndarray

from ._common import array_of, refuse

_MOST = 64


class PyFunction:
    """What `frompyfunc` gives: a function that is applied to each element of arrays, which are broadcast against each other."""

    def __init__(self, func: Any, nin: int, nout: int, identity: Any) -> None:
        self.nin, self.nout, self.nargs, self.identity = nin, nout, nin + nout, identity
        self.__name__ = getattr(func, "__name__", "?")
        self.__doc__ = getattr(func, "__doc__", None)
        names = ", ".join(f"x{i}" for i in range(nin))
        self._parts = [_part(func, names, "" if nout == 1 else f"[{i}]") for i in range(nout)]

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__} (vectorized)'>"

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The results for each element: one array, or a tuple of them. Keywords are those of `weft.vectorize`'s functions."""
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__} (vectorized)() takes {self.nin} positional arguments but {len(args)} were given")
        if keywords and self.nout > 1:
            raise refuse("frompyfunc", "functions of several results take no keywords")
        if not any(isinstance(each, ndarray) for each in args):
            args = tuple(array_of(each) for each in args)
        found = tuple(part(*args, **keywords) for part in self._parts)
        return found if self.nout > 1 else found[0]

    def outer(self, a: Any, b: Any) -> Any:
        """The function of each pair of elements of two arrays."""
        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        a, b = array_of(a), array_of(b)
        return self(_reshape(a, (*a.shape, *(1,) * b.ndim)), b)

    def __getattr__(self, name: str) -> Any:
        if name in ("reduce", "accumulate", "reduceat", "at"):
            raise refuse("frompyfunc", f"{name} is not available of Python's functions: write the loop in a function for weft.njit")
        raise AttributeError(f"'frompyfunc' object has no attribute {name!r}")


def _part(func: Any, names: str, place: str) -> Any:
    """One result of a function, as a function of arrays."""
    source = f"def part({names}):\n    return func({names}){place}\n"
    file = f"<weft.frompyfunc: {names}{place} of {id(func)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope: dict[str, Any] = {"np": np, "func": func if hasattr(func, "py_func") else njit(func)}
    exec(compile(source, file, "exec"), scope)
    return vectorize(scope["part"])


def frompyfunc(func: Any, /, nin: int, nout: int, *, identity: Any = None) -> PyFunction:
    """A function of `nin` numbers that returns `nout` of them (a tuple if they are several), as one of arrays.

    It is compiled, and recorded as ufuncs are: results have the dtypes of what it returns, where NumPy's are of objects. A function that
    cannot be compiled is refused when it is called.

    >>> weft.frompyfunc(lambda x, y: x * y + 1, 2, 1)(weft.asarray([1, 2]), [3, 4])
    array([4, 9])
    """
    if not callable(func):
        raise TypeError("function must be callable")
    nin, nout = operator.index(nin), operator.index(nout)
    if nin < 1 or nout < 1:
        raise ValueError("a function of arrays takes one number at least, and gives one")
    if nin + nout > _MOST:
        raise ValueError(
            f"Cannot construct a ufunc with more than {_MOST} operands (requested number were: inputs = {nin} and outputs = {nout})"
        )
    return PyFunction(func, nin, nout, identity)
