"""Dtypes and what they are like. They are NumPy's own; bfloat16 is that of the package `ml_dtypes`."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _cast, ndarray

from ._common import array_of, as_device, as_dtype, bfloat16, kind_of, result_dtype

# Kinds of dtypes by the names that the array API standard has for them.
_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


isscalar = np.isscalar


def _dtype_of(x: Any) -> np.dtype:
    if isinstance(x, (bool, int, float, complex)):
        return np.dtype(type(x))
    return x.dtype if isinstance(x, (ndarray, np.ndarray, np.generic)) else as_dtype(x)


class finfo:
    """The limits of a dtype of floats, of the parts of complex numbers, or of the dtype of an array. ValueError for other dtypes.

    Attributes are NumPy's; those that are floats are Python's, which have no dtype to promote to.

    >>> weft.finfo(weft.float32).bits
    32
    """

    bits: int
    eps: float
    epsneg: float
    max: float
    min: float
    resolution: float
    smallest_normal: float
    smallest_subnormal: float
    tiny: float
    precision: int
    iexp: int
    machep: int
    maxexp: int
    minexp: int
    negep: int
    nexp: int
    nmant: int
    dtype: np.dtype

    def __init__(self, type: Any, /) -> None:
        """See the class."""
        given = _dtype_of(type)
        if kind_of(given) not in "fc":
            raise ValueError(f"data type {given.type!r} not inexact")
        if given.name == "bfloat16":
            import ml_dtypes

            limits: Any = ml_dtypes.finfo(given)
        else:
            limits = np.finfo(given)
        for name in ("eps", "epsneg", "max", "min", "resolution", "smallest_normal", "smallest_subnormal", "tiny"):
            setattr(self, name, float(getattr(limits, name)))
        for name in ("iexp", "machep", "maxexp", "minexp", "negep", "nexp", "nmant"):
            setattr(self, name, int(getattr(limits, name)))
        self.bits, self.precision, self.dtype = int(limits.bits), int(limits.precision), np.dtype(limits.dtype)

    def __repr__(self) -> str:
        """As NumPy shows it."""
        return f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, dtype={self.dtype})"


def iinfo(type: Any, /) -> np.iinfo:
    """The limits of a dtype of integers, or of the dtype of an array. ValueError for other dtypes.

    >>> weft.iinfo(weft.int8).max
    127
    """
    return np.iinfo(_dtype_of(type))


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether one dtype, or that of an array, can be converted to another one by a rule.

    >>> weft.can_cast(weft.int32, weft.float32)
    False
    """
    if from_ is None or to is None:
        raise TypeError("did not understand one of the types; 'None' not accepted")
    if isinstance(from_, (bool, int, float, complex)):
        raise TypeError("can_cast() does not support Python ints, floats, and complex because the result used to depend on the value.")
    return np.can_cast(_dtype_of(from_), as_dtype(to), casting)


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The dtype that arrays, dtypes and Python numbers meet in. ValueError for none.

    >>> weft.result_type(weft.int8, 1.0)
    dtype('float64')
    """
    if not arrays_and_dtypes:
        raise ValueError("at least one array or dtype is required")
    return result_dtype(*arrays_and_dtypes)


def promote_types(type1: Any, type2: Any) -> np.dtype:
    """The smallest dtype that two dtypes can be converted to safely.

    >>> weft.promote_types(weft.int8, weft.uint8)
    dtype('int16')
    """
    return result_dtype(as_dtype(type1), as_dtype(type2))


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind: another dtype, one of the standard's names, or any of a tuple of them.

    >>> weft.isdtype(weft.float32, ("real floating", "integral"))
    True
    """
    given = as_dtype(dtype)
    for each in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(each, str):
            if each not in _KINDS:
                raise ValueError(f"kind argument is a string, but {each!r} is not a known kind name.")
            if kind_of(given) in _KINDS[each]:
                return True
        elif given == as_dtype(each):
            return True
    return False


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is below another one in NumPy's hierarchy of types.

    >>> weft.issubdtype(weft.int8, np.integer)
    True
    """
    return np.issubdtype(arg1, arg2)


def astype(x: ndarray, dtype: Any, /, *, copy: bool = True, device: Any = None) -> ndarray:
    """The elements converted to a dtype, as C converts numbers: a new array, unless `copy=False` and the dtype is the same.

    >>> weft.astype(weft.asarray([1.7, -1.7]), weft.int8)
    array([ 1, -1], dtype=int8)
    """
    if not isinstance(x, ndarray):
        raise TypeError(f"Input should be a weft.ndarray. It is of type {type(x)}.")
    wanted = as_dtype(dtype)
    place = as_device(device)
    if place is not None and place.name != x.device.name:
        from .creation import asarray

        return asarray(x, wanted, device=place)
    return _cast(x, wanted) if copy or wanted != x.dtype else x


def min_scalar_type(a: Any, /) -> np.dtype:
    """The dtype of an array; of a number the smallest that holds it.

    >>> weft.min_scalar_type(10)
    dtype('uint8')
    """
    return array_of(a).dtype if isinstance(a, ndarray) and a.ndim else np.min_scalar_type(a)


def __getattr__(name: str) -> Any:
    """bfloat16 is there when its package is."""
    if name == "bfloat16":
        return bfloat16().type
    return getattr(np, name)
