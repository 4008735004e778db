"""What the functions share: calls of compiled routines, and NumPy's checks of what they are given."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from weft._weft import _cast, ndarray
from weft._weft import linalg as _linalg
from weft.arrays import _compiled
from weft.arrays._common import array_of, beside, u
from weft.arrays.shapes import matrix_transpose
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


def call(name: str, *arrays: ndarray) -> Any:
    """What a routine gives for stacks of matrices of one dtype: an array, or a tuple of several.

    It is computed in double precision, as in NumPy, and rounded to the arrays' own. On CUDA NVIDIA's library computes in the arrays' own
    dtype, where it is; on devices that are not the CPU some are kernels of Weft's own; the others are computed on the host.
    """
    like = functools.partial(_shaped, name)
    found = nvidia.routine(name, arrays, like) if arrays[0].device.kind == "cuda" else None
    if found is None and on_a_device(*arrays) and name in _KERNELS:
        module, function, *further = _KERNELS[name]
        return getattr(importlib.import_module(f"weft.kernels.{module}"), function)(*arrays, *further)
    if found is None:
        found = _compiled.on_hosts(functools.partial(called, name), *arrays, like=like)
    return found[0] if len(found) == 1 else found


def called(name: str, *arrays: np.ndarray, run: bool = True) -> tuple[np.ndarray, ...]:
    """The same for NumPy arrays, with NumPy's words."""
    try:
        return _in_double(name, arrays, run)
    except LinAlgError as error:
        if name.startswith("svd"):
            raise LinAlgError("SVD did not converge") from error
        if name in ("eig", "eigvals") and not np.isfinite(arrays[0]).all():
            raise LinAlgError("Array must not contain infs or NaNs") from error
        raise


def _in_double(name: str, arrays: tuple[np.ndarray, ...], run: bool) -> tuple[np.ndarray, ...]:
    if arrays[0].dtype.char not in "fF":
        return _linalg(name, *arrays, run=run)
    wide = np.float64 if arrays[0].dtype.char == "f" else np.complex128
    found = _linalg(name, *(a.astype(wide) for a in arrays), run=run)
    return tuple(x.astype(np.float32 if x.dtype.kind == "f" else np.complex64) for x in found)


def _shaped(name: str, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return called(name, *arrays, run=False)


def common(*given: Any) -> list[ndarray]:
    """Arrays in one dtype of floats: float64 if one of them is no float, and complex if one of them is."""
    arrays = [beside(a, *given) for a in given]
    dtypes = []
    for a in arrays:
        if a.dtype.kind in "biu":
            dtypes.append(np.dtype(np.float64))
        elif a.dtype.char in "fdFD":
            dtypes.append(a.dtype)
        else:
            raise TypeError(f"array type {a.dtype.name} is unsupported in linalg")
    dtype = np.result_type(*dtypes)
    return [a if a.dtype == dtype else _cast(a, dtype) for a in arrays]


def matrices(*given: Any) -> list[ndarray]:
    """The same for stacks of matrices; LinAlgError for what has fewer than two axes."""
    return common(*_stacks(given))


def square(*given: Any) -> list[ndarray]:
    """The same for square matrices."""
    arrays = _stacks(given)
    for a in arrays:
        if a.shape[-1] != a.shape[-2]:
            raise LinAlgError("Last 2 dimensions of the array must be square")
    return common(*arrays)


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
