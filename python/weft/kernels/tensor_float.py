"""Whether products of float32 may be rounded to TensorFloat-32: what `WEFT_TF32` says, for Weft's own kernels and for cuBLAS."""

from __future__ import annotations

import os

__all__ = ["is_allowed"]


def is_allowed() -> bool:
    """Whether `WEFT_TF32` is 1; not where it is 0, empty or not set. ValueError if it is anything else."""
    setting = os.environ.get("WEFT_TF32", "")
    if setting not in ("", "0", "1"):
        raise ValueError(f"WEFT_TF32 is 1, which allows TensorFloat-32, or 0, which does not: not {setting!r}")
    return setting == "1"
