"""`cupyx.scipy`: the packages of `weft.scipy`, which are imported by these names, too."""

from __future__ import annotations

import sys
from typing import Any

from weft.scipy import ndimage, signal, sparse, special

__all__ = ["get_array_module", "ndimage", "signal", "sparse", "special"]

for _package in (ndimage, signal, sparse, special):
    sys.modules[f"{__name__}.{_package.__name__.rpartition('.')[2]}"] = _package


def get_array_module(*args: Any) -> Any:
    """`weft.cupyx.scipy` if one of the arguments is a weft array or a sparse matrix of them, else `scipy`."""
    import weft.cupy

    if weft.cupy.get_array_module(*args) is weft.cupy:
        return sys.modules[__name__]
    import scipy

    return scipy
