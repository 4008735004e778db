"""NVIDIA's own libraries of linear algebra and transforms, for arrays on CUDA devices where they are installed.

Nothing here is public, and importing it loads nothing. Each function gives what the library computed, or None where there is no library
or none of its routines fits: then the caller goes its own way. An error of a library is raised, never passed over.

`finding` finds and loads the libraries, `calling` calls them with arrays' memory; `cublas`, `cusolver` and `cufft` are one library each.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from weft._weft import ndarray

__all__ = ["product", "routine", "transform", "used"]


@functools.cache
def _of(name: str) -> Any:
    """The module of a library, which is kept: to import what is there takes a part of a small product's time."""
    return importlib.import_module(f".{name}", __name__)


def product(a: ndarray, b: ndarray) -> ndarray | None:
    """The products of matrices in the last two axes of arrays of one dtype, the axes in front broadcast."""
    return _of("cublas").product(a, b)


def routine(name: str, arrays: Sequence[ndarray], like: Callable[..., Any]) -> tuple[ndarray, ...] | None:
    """What a routine of linear algebra gives, by the name that the compiled ones have.

    `like` gives NumPy arrays of the shapes and dtypes of its results for such of its operands.
    """
    return _of("cusolver").routine(name, arrays, like)


def transform(a: ndarray, kind: str, forward: bool, axes: Sequence[int], lengths: Sequence[int], factor: float) -> ndarray | None:
    """A Fourier transform along axes, of so many elements along each, times a factor: `kind` is "complex", "from real" or "to real"."""
    return _of("cufft").transform(a, kind, forward, axes, lengths, factor)


def used() -> list[str]:
    """The names of the files of the libraries that there are. Loads them."""
    from . import finding

    found = [finding.library(name) for name in ("cublas", "cusolver", "cufft")]
    return [Path(library._name).name for library in found if library is not None]
