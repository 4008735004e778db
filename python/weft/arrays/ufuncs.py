"""NumPy's ufuncs as objects: `weft.add`, its keywords `out where dtype casting order`, and its methods `reduce accumulate reduceat outer
at`. All are made from the table in `_ufunc_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from weft._weft import _assign, _cast, _full, _reshape, _select, _ufunc, ndarray
from weft.arrays import _reducing
from weft.arrays._common import MISSING, SCALARS, array_of, as_dtype, bfloat16, broadcast_shape, checked_out, mask_of, operands, refuse
from weft.arrays._ufunc_rows import FOLDS, IDENTITIES, REORDERABLE, ROWS, SPELLINGS

_LETTERS = set("?bBhHiIlLefdFD")
# What the native functions take as it is, beside an array.
_PLAIN = {ndarray, bool, int, float, complex, *SCALARS}
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


class ufunc:
    """A function of numbers that is applied to each element of arrays, which are broadcast against each other.

    out: an array, or a tuple of one for each result, that the results are put into and that is given back.
    where: where this is false, `out` keeps its elements; without `out` they are 0.
    dtype: the type that is computed in.
    casting: what operands may be converted to that type and results to that of `out`: 'no', 'equiv', 'safe', 'same_kind', 'unsafe'.
    """

    signature = None

    def __init__(self, name: str, nin: int, nout: int, doc: str = "") -> None:
        self.__name__ = self.__qualname__ = name
        self.nin, self.nout, self.nargs = nin, nout, nin + nout
        self.identity = IDENTITIES.get(name)
        self.reorderable = name in REORDERABLE
        self.is_fold = name in FOLDS
        self.__doc__ = doc

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> Any:
        return _named, (self.__name__,)

    @property
    def _numpys(self) -> np.ufunc:
        """NumPy's ufunc of the name: it answers what is asked about types."""
        return getattr(np, self.__name__)

    @property
    def types(self) -> list[str]:
        """The types that it is computed in, as NumPy writes them; besides, bfloat16 wherever there is float16."""
        return [row for row in self._numpys.types if _LETTERS.issuperset(row.replace("->", ""))]

    @property
    def ntypes(self) -> int:
        """How many types it is computed in."""
        return len(self.types)

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        order: str = "K",
    ) -> Any:
        if len(args) == self.nin and out is None and where is True and dtype is None and casting == "same_kind" and order == "K":
            plain = type(args[0]) is ndarray and (self.nin == 1 or type(args[1]) in _PLAIN)
            return _ufunc(self.__name__, args if plain else operands(*args), None)
        args, outs = self._arguments(args, out)
        _check_casting(casting)
        _check_order(order)
        given = operands(*args)
        try:
            made = self._computed(given, None if dtype is None else as_dtype(dtype), casting)
        except ValueError:
            # Types are looked at before shapes: that error comes first.
            self.loop((*map(_type_of, given), *(None if each is None else each.dtype for each in outs)), None, casting)
            raise
        results = made if isinstance(made, tuple) else (made,)
        mask = None if where is True else mask_of(where, *given)
        # Nothing is assigned if something is refused.
        for place, (result, wanted) in enumerate(zip(results, outs)):
            self._check_casts(result, wanted, casting, place)
        _check_broadcasts([results[0].shape, () if mask is None else mask.shape], [each.shape for each in outs if each is not None])
        put = tuple(_given(result, wanted, mask, order) for result, wanted in zip(results, outs))
        return put if self.nout > 1 else put[0]

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> ndarray:
        """Takes the elements along axes together by the operation: `add.reduce` is a sum.

        >>> weft.add.reduce([[1, 2], [3, 4]])
        array([4, 6])
        >>> weft.subtract.reduce([10, 1, 2])
        array(7)
        """
        self._check_reduces("reduce")
        return _reducing.reduced(self, array_of(array), axis, dtype, _single(out), keepdims, initial, where)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> ndarray:
        """What each element and those before it along an axis give together.

        >>> weft.maximum.accumulate([1, 3, 2])
        array([1, 3, 3])
        """
        self._check_reduces("accumulate")
        return _reducing.accumulated(self, array_of(array), axis, dtype, _single(out))

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> ndarray:
        """Reduces from each index to the next one, the last one to the end; where the next is no larger, that element alone.

        >>> weft.add.reduceat([1, 2, 3, 4], [0, 2])
        array([3, 7])
        """
        self._check_reduces("reduceat")
        return _reducing.reduced_at(self, array_of(array), indices, axis, dtype, _single(out))

    def outer(self, *args: Any, **keywords: Any) -> Any:
        """The operation on each pair of elements of two arrays.

        >>> weft.multiply.outer([1, 2], [3, 4])
        array([[3, 4],
               [6, 8]])
        """
        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        if len(args) != 2:
            raise TypeError("exactly two arguments expected")
        # Python's numbers become arrays first, with a dtype that holds them.
        first, second = operands(*(np.asarray(x) if isinstance(x, (bool, int, float, complex)) else x for x in args))
        return self(_reshape(first, (*first.shape, *(1,) * second.ndim)), second, **keywords)

    def at(self, array: ndarray, indices: Any, values: Any = MISSING, /) -> None:
        """The operation in place on the selected elements, once for each time that one is named.

        >>> x = weft.zeros(3)
        >>> weft.add.at(x, [0, 0, 2], 1)
        >>> x
        array([2., 0., 1.])
        """
        _reducing.applied_at(self, array, indices, values)

    def _arguments(self, args: tuple[Any, ...], out: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        if not self.nin <= len(args) <= self.nargs:
            least = f"from {self.nin} to {self.nargs}"
            raise TypeError(f"{self.__name__}() takes {least} positional arguments but {len(args)} were given")
        if len(args) > self.nin:
            if out is not None:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            out = (*args[self.nin :], *(None,) * (self.nargs - len(args)))
        if out is None:
            return args, (None,) * self.nout
        if not isinstance(out, tuple):
            if self.nout > 1:
                raise TypeError("'out' must be a tuple of arrays")
            out = (out,)
        if len(out) != self.nout:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        for each in out:
            checked_out(each)
        return args[: self.nin], out

    def _computed(self, given: tuple[Any, ...], dtype: np.dtype | None, casting: str) -> Any:
        if dtype is None and casting == "same_kind":
            return _ufunc(self.__name__, given, None)
        types = tuple(_type_of(x) for x in given) + (None,) * self.nout
        signature = None if dtype is None else (None,) * self.nin + (dtype,) * self.nout
        loop = self.loop(types, signature, casting)
        if self.__name__ in _COMPARISONS:
            # By their values, however large they are.
            return _ufunc(self.__name__, given, None)
        return _ufunc(self.__name__, tuple(_as_type(x, to) for x, to in zip(given, loop)), None)

    def loop(
        self, types: tuple[Any, ...], signature: Any = None, casting: str = "same_kind", reduction: bool = False
    ) -> tuple[np.dtype, ...]:
        """The types that NumPy computes operands of these types in; its errors where there are none."""
        return _resolved(self.__name__, types, signature, casting, reduction)

    def _check_casts(self, result: ndarray, out: ndarray | None, casting: str, place: int) -> None:
        if out is not None and not np.can_cast(result.dtype, out.dtype, casting):
            which = f"output {place}" if self.nout > 1 else "output"
            raise TypeError(
                f"Cannot cast ufunc '{self.__name__}' {which} from {result.dtype!r} to {out.dtype!r} with casting rule '{casting}'"
            )

    def _check_reduces(self, method: str) -> None:
        if self.nin != 2:
            raise ValueError(f"{method} only supported for binary functions")
        if self.nout != 1:
            raise ValueError(f"{method} only supported for functions returning a single value")


@lru_cache(4096)
def _resolved(name: str, types: tuple[Any, ...], signature: Any, casting: str, reduction: bool) -> tuple[np.dtype, ...]:
    if any(each is not None and getattr(each, "name", "") == "bfloat16" for each in types):
        # NumPy takes Python's numbers beside bfloat16 for float32.
        types = tuple(bfloat16() if each in (int, float) else each for each in types)
    keywords = {} if signature is None else {"signature": signature}
    found = getattr(np, name).resolve_dtypes(types, casting=casting, reduction=reduction, **keywords)
    # NumPy has two types of 64 bits that are equal and not the same.
    return tuple(np.dtype(each.name) if each.kind in "iu" else each for each in found)


def _named(name: str) -> ufunc:
    return UFUNCS[name]


def _single(out: Any) -> Any:
    """`out` of a method, which may be in a tuple."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry")
        out = out[0]
    checked_out(out)
    return out


def _check_casting(casting: Any) -> None:
    if casting not in _CASTINGS:
        raise ValueError(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got {casting!r})")


def _check_order(order: Any) -> None:
    if order not in ("K", None, "C", "F", "A"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if order in ("F", "A"):
        raise refuse("ufunc", f"order={order!r} is not available: results are in the order of their operands ('K') or C's ('C')")


def _given(result: ndarray, out: ndarray | None, mask: ndarray | None, order: Any) -> ndarray:
    """A result, or `out` with the result in it, where the mask is true."""
    if out is None:
        if mask is not None:
            result = _select(mask, result, _full((), 0, result.dtype, result.device))
        return _in_order(result, order)
    new = result if result.dtype == out.dtype else _cast(result, out.dtype)
    _assign(out, new if mask is None else _select(mask, new, out))
    return out


def _in_order(result: ndarray, order: Any) -> ndarray:
    """A result in C's order if that is asked for."""
    if order != "C" or _is_in_c_order(result.shape, result.strides, result.itemsize):
        return result
    fresh = _full(result.shape, 0, result.dtype, result.device)
    _assign(fresh, result)
    return fresh


def _is_in_c_order(shape: Sequence[int], strides: Sequence[int], step: int) -> bool:
    for n, stride in zip(reversed(shape), reversed(strides)):
        if n != 1 and stride != step:
            return False
        step *= n
    return True


def _check_broadcasts(shapes: list[tuple[int, ...]], outs: list[tuple[int, ...]]) -> None:
    """Operands are broadcast to the shape of what they are put into, and that to nothing."""
    try:
        whole = broadcast_shape(*shapes, *outs)
    except ValueError:
        each = " ".join(str(shape) for shape in (*shapes, *outs))
        raise ValueError(f"operands could not be broadcast together with shapes {each} ") from None
    for out in outs:
        if out != whole:
            raise ValueError(f"non-broadcastable output operand with shape {out} doesn't match the broadcast shape {whole}")


def _type_of(x: Any) -> Any:
    """What NumPy's type resolution takes for an operand."""
    if isinstance(x, ndarray):
        return x.dtype
    return np.dtype(bool) if isinstance(x, bool) else type(x)


def _as_type(x: Any, dtype: np.dtype) -> Any:
    if isinstance(x, ndarray):
        return x if x.dtype == dtype else _cast(x, dtype)
    if type(x) is int and dtype.kind in "iu":
        return array_of(np.asarray(x, dtype))
    return array_of(np.asarray(x).astype(dtype))


def _made(row: tuple[str, int, int, str, str, str]) -> ufunc:
    name, nin, nout, text, arguments, result = row
    names = ("x", "/") if nin == 1 else ("x1", "x2", "/")
    head = f"{name}({', '.join(names)}, *, out=None, where=True, dtype=None, casting='same_kind', order='K')"
    return ufunc(name, nin, nout, f"{head}\n\n{text}\n\n>>> weft.{name}({arguments})\n{result}\n")


UFUNCS: dict[str, ufunc] = {row[0]: _made(row) for row in ROWS}
UFUNCS.update({spelling: UFUNCS[name] for spelling, name in SPELLINGS.items()})
globals().update(UFUNCS)

__all__ = ["ufunc", *sorted(UFUNCS)]
