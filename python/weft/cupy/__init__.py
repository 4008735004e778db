"""CuPy's face: ``import weft.cupy as cp`` runs code written for CuPy, on every device.

Functions of arrays are those of `weft`, by NumPy's names, and arrays are weft arrays: lazy, and on the CPU where nothing else is said.
Beside them stand what CuPy adds to NumPy: kernels, memory pools, devices and streams. See docs/cupy.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Names of CuPy's own, and the module of this package that each stands in.
_BY_MODULE = {
    "_elementwise": "ElementwiseKernel",
    "_reduction": "ReductionKernel",
    "_raw": "RawKernel RawModule",
    "_functions": "array asarray asnumpy fuse get_array_module is_available load save savez savez_compressed vectorize",
    "_memory": "get_default_memory_pool get_default_pinned_memory_pool",
}
__version__ = "13.6.0"
"""The CuPy whose names these are: programs ask for it to know what they may use. Weft's own version is `weft.__version__`."""

NAMES = {name: module for module, names in _BY_MODULE.items() for name in names.split()}
_SUBMODULES = ("cuda", "testing")


def __getattr__(name: str) -> Any:
    """CuPy's own names, and otherwise those of `weft`, its submodules `linalg`, `fft` and `random` among them."""
    if name in NAMES:
        found = getattr(import_module(f"weft.cupy.{NAMES[name]}"), name)
    elif name in _SUBMODULES:
        found = import_module(f"weft.cupy.{name}")
    elif name.startswith("_"):
        raise AttributeError(f"module 'weft.cupy' has no attribute {name!r}")
    else:
        found = _of_weft(name)
    globals()[name] = found
    return found


def _of_weft(name: str) -> Any:
    import weft
    from weft.arrays import NAMES as ARRAYS

    if name in ("ndarray", "linalg", "fft", "random") or name in ARRAYS:
        return getattr(weft, name)
    raise AttributeError(f"module 'weft.cupy' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All names."""
    from weft.arrays import NAMES as ARRAYS

    return sorted({*globals(), *NAMES, *_SUBMODULES, *ARRAYS, "ndarray"})
