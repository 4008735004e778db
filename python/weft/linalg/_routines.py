"""What the functions share: calls of compiled routines, and NumPy's checks of what they are given."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from weft._weft import _cast, _full, _linalg_here, _to_numpy, ndarray
from weft._weft import linalg as _linalg
from weft.arrays import _compiled
from weft.arrays._common import array_of, beside, u
from weft.arrays.shapes import matrix_transpose
from weft.errors import CaptureError
from weft.gradients.primitives import primitive
from weft.kernels import nvidia
from weft.kernels.launching import on_a_device

__all__ = ["LinAlgError"]


# Where the kernels of routines are: a module of `weft.kernels`, its function, and what that is given beside the arrays.
_KERNELS: dict[str, tuple[Any, ...]] = {
    "cholesky_lower": ("cholesky", "cholesky", False),
    "cholesky_upper": ("cholesky", "cholesky", True),
    "det": ("lu", "det"),
    "inv": ("lu", "inv"),
    "slogdet": ("lu", "slogdet"),
    "solve": ("lu", "solve"),
}

# What is computed in double precision and rounded to its own.
_WIDE = {"f": np.float64, "F": np.complex128}


def _like(name: str, *arrays: ndarray) -> Any:
    """Arrays like those that a routine gives."""
    found = tuple(
        _full(each.shape, 0, each.dtype, arrays[0].device) for each in _shaped(name, *(np.zeros(a.shape, a.dtype) for a in arrays))
    )
    return found[0] if len(found) == 1 else found


@primitive(rules="decompositions", like=_like)
def call(name: str, *arrays: ndarray) -> Any:
    """What a routine gives for stacks of matrices of one dtype: an array, or a tuple of several.

    It is computed in double precision, as in NumPy, and rounded to the arrays' own. On CUDA NVIDIA's library computes in the arrays' own
    dtype, where it is; on devices that are not the CPU some are kernels of Weft's own; the others are computed on the host.
    """
    if not on_a_device(*arrays):
        try:
            return _here(name, [_to_numpy(a) for a in arrays])
        except CaptureError:
            return _on_hosts(name, arrays)
    like = functools.partial(_shaped, name)
    found = nvidia.routine(name, arrays, like) if arrays[0].device.kind == "cuda" else None
    if found is not None:
        return found[0] if len(found) == 1 else found
    if name in _KERNELS:
        module, function, *further = _KERNELS[name]
        return getattr(importlib.import_module(f"weft.kernels.{module}"), function)(*arrays, *further)
    return _on_hosts(name, arrays)


def _here(name: str, arrays: Sequence[np.ndarray]) -> Any:
    """The same for arrays on the CPU, of their own memory."""
    wide = _WIDE.get(arrays[0].dtype.char)
    if wide is None:
        return _in_words(_linalg_here, name, arrays)
    found = _in_words(_linalg_here, name, [a.astype(wide) for a in arrays])
    return tuple(map(_rounded, found)) if isinstance(found, tuple) else _rounded(found)


def _rounded(a: ndarray) -> ndarray:
    return _cast(a, np.dtype(np.float32 if a.dtype.kind == "f" else np.complex64))


def _on_hosts(name: str, arrays: Sequence[ndarray]) -> Any:
    found = _compiled.on_hosts(functools.partial(called, name), *arrays, like=functools.partial(_shaped, name))
    return found[0] if len(found) == 1 else found


def called(name: str, *arrays: np.ndarray, run: bool = True) -> tuple[np.ndarray, ...]:
    """The same for NumPy arrays."""
    routine = functools.partial(_linalg, run=run)
    wide = _WIDE.get(arrays[0].dtype.char)
    if wide is None:
        return _in_words(routine, name, arrays)
    found = _in_words(routine, name, [a.astype(wide) for a in arrays])
    return tuple(x.astype(np.float32 if x.dtype.kind == "f" else np.complex64) for x in found)


def _in_words(routine: Callable[..., Any], name: str, arrays: Sequence[np.ndarray]) -> Any:
    """What a routine gives for arrays in double precision, with NumPy's words where it gives nothing."""
    try:
        return routine(name, *arrays)
    except LinAlgError as error:
        if name.startswith("svd"):
            raise LinAlgError("SVD did not converge") from error
        if name in ("eig", "eigvals") and not np.isfinite(arrays[0]).all():
            raise LinAlgError("Array must not contain infs or NaNs") from error
        raise


def _shaped(name: str, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return called(name, *arrays, run=False)


def common(*given: Any) -> list[ndarray]:
    """Arrays in one dtype of floats: float64 if one of them is no float, and complex if one of them is."""
    return _of_one_dtype([beside(a, *given) for a in given])


def _of_one_dtype(arrays: list[ndarray]) -> list[ndarray]:
    dtypes = {_float_of(a.dtype) for a in arrays}
    dtype = dtypes.pop() if len(dtypes) == 1 else np.result_type(*dtypes)
    return [a if a.dtype == dtype else _cast(a, dtype) for a in arrays]


def _float_of(dtype: np.dtype) -> np.dtype:
    if dtype.char in "fdFD":
        return dtype
    if dtype.kind not in "biu":
        raise TypeError(f"array type {dtype.name} is unsupported in linalg")
    return np.dtype(np.float64)


def matrices(*given: Any) -> list[ndarray]:
    """The same for stacks of matrices; LinAlgError for what has fewer than two axes."""
    return _of_one_dtype(_stacks(given))


def square(*given: Any) -> list[ndarray]:
    """The same for square matrices."""
    arrays = _stacks(given)
    for a in arrays:
        shape = a.shape
        if shape[-1] != shape[-2]:
            raise LinAlgError("Last 2 dimensions of the array must be square")
    return _of_one_dtype(arrays)


def _stacks(given: Sequence[Any]) -> list[ndarray]:
    arrays = [beside(a, *given) for a in given]
    for a in arrays:
        if a.ndim < 2:
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    return arrays


def inexact(a: Any) -> ndarray:
    """An array of floats or complex numbers; others become float64."""
    a = array_of(a)
    return _cast(a, np.dtype(np.float64)) if a.dtype.kind in "biu" else a


def turned(a: ndarray) -> ndarray:
    """Matrices with rows and columns exchanged, conjugated."""
    a = matrix_transpose(a)
    return u("conjugate", a) if a.dtype.kind == "c" else a


def triangle(uplo: Any) -> str:
    """The triangle that is read, as a routine's name has it."""
    found = {"L": "lower", "U": "upper"}.get(str(uplo).upper())
    if found is None:
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return found
