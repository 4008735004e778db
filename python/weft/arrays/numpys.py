"""What is NumPy's own and means the same here: types of its hierarchy, modules of dtypes and errors, how arrays are printed, slices.

`weft.floating` and its like are what `weft.issubdtype` asks about; `weft.printoptions` holds for weft arrays, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Names that NumPy has no longer, and JAX has.
float_, complex_ = np.float64, np.complex128
ComplexWarning = np.exceptions.ComplexWarning


def __getattr__(name: str) -> Any:
    """NumPy's object of the name."""
    return getattr(np, name)
