"""What the array API standard asks a namespace about itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import _weft
from weft.errors import UnsupportedError

from ._common import DTYPES, as_device
from .dtypes import isdtype

__array_api_version__ = "2025.12"


class Info:
    """What can be asked of the namespace: capabilities, devices and dtypes."""

    def capabilities(self) -> dict[str, Any]:
        """Masks select elements, shapes may depend on values, and an array has up to 64 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> _weft.Device:
        """The device that arrays are made on if none is named."""
        return _weft._array_device()

    def devices(self) -> tuple[_weft.Device, ...]:
        """The devices that are present and that arrays can be on."""
        return tuple(device for device in _weft.devices() if _has_arrays(device))

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """The dtypes that arrays have if none is named."""
        as_device(device)
        return {
            "real floating": np.dtype(np.float64),
            "complex floating": np.dtype(np.complex128),
            "integral": np.dtype(np.int64),
            "indexing": np.dtype(np.int64),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """The standard's dtypes that a device has, all or those of a kind: a name, or a tuple of names."""
        place = as_device(device) or _weft._array_device()
        found = {name: np.dtype(name) for name in DTYPES if name != "float16" and _has(place, name)}
        return found if kind is None else {name: dtype for name, dtype in found.items() if isdtype(dtype, kind)}


def _has(device: _weft.Device, name: str) -> bool:
    if name in ("float64", "complex128"):
        return device.float64
    return device.int64 if name in ("int64", "uint64") else True


def _has_arrays(device: _weft.Device) -> bool:
    try:
        _weft._full((), 0, np.dtype(bool), device)
    except UnsupportedError:
        return False
    return True


def __array_namespace_info__() -> Info:
    """The object that answers the standard's questions.

    >>> weft.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int64')
    """
    return Info()
