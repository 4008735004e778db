"""Linear algebra: NumPy's `numpy.linalg` and the Array API standard's extension, for weft arrays.

What only adds and multiplies (norms of vectors, traces, products of vectors) is recorded and fused; products of matrices and
decompositions are computed at once. On devices that are not the CPU products, solutions, inverses, determinants and Cholesky's
decomposition are kernels of Weft's own; for the others arrays are copied to the host and back.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_BY_MODULE = {
    "decompositions": "cholesky eig eigh eigvals eigvalsh qr svd svdvals",
    "norms": "cond matrix_norm matrix_rank norm vector_norm",
    "powers": "matrix_power multi_dot",
    "products": "cross diagonal matmul matrix_transpose outer tensordot trace vecdot",
    "systems": "det inv lstsq pinv slogdet solve tensorinv tensorsolve",
    "_routines": "LinAlgError",
}

_MODULES = {name: module for module, names in _BY_MODULE.items() for name in names.split()}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """Functions are found when they are first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'weft.linalg' has no attribute {name!r}")
    found = getattr(import_module(f"weft.linalg.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """All of the functions."""
    return sorted(__all__)
