"""Where the peers run: on the GPU, or in a dry run on whatever of theirs runs on a processor. Imported before any of them."""

from __future__ import annotations

import os

DRY = os.environ.get("WEFT_GPU_CHECK") == "dry"
# The variable that names the file in which errors are written down whole.
ERRORS = "WEFT_GPU_CHECK_ERRORS"
# PyTorch's name of the place.
TORCH = "cpu" if DRY else "cuda"

# JAX would take three quarters of the GPU's memory for itself, and Numba warn of each launch of one block.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")


def stand_ins() -> dict[str, str]:
    """The environment of a dry run: Weft on its driver's double, each peer on what it has for machines without a GPU."""
    return {
        "WEFT_GPU_CHECK": "dry",
        "WEFT_CUDA_DRIVER": "double",
        "WEFT_NVIDIA_LIBRARIES": "double",
        "NUMBA_ENABLE_CUDASIM": "1",
        "TRITON_INTERPRET": "1",
        "JAX_PLATFORMS": "cpu",
        "CUDA_VISIBLE_DEVICES": "",
    }
