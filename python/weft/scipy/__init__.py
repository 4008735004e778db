"""SciPy's most used functions of arrays, by its names: `special`, `ndimage`, `signal`, `sparse`. See docs/scipy.md."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["ndimage", "signal", "sparse", "special"]


def __getattr__(name: str) -> Any:
    """The packages, when they are first used."""
    if name in __all__:
        return import_module(f"weft.scipy.{name}")
    raise AttributeError(f"module 'weft.scipy' has no attribute {name!r}")
