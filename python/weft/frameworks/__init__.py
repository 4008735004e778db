"""Weft's functions as operations of PyTorch, JAX and TensorFlow: `torch_op`, `jax_op`, `tf_op`, and `like`, which says what they give.

A framework is imported when one of its operations is made, never by `import weft`. Tested with PyTorch 2.9, JAX 0.10 and TensorFlow 2.21.
"""

from __future__ import annotations

from typing import Any

__all__ = ["jax_op", "like", "tf_op", "torch_op"]

_PLACES = {"jax_op": "jax", "like": "operation", "tf_op": "tensorflow", "torch_op": "torch"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'weft.frameworks' has no attribute {name!r}")
    import importlib

    found = getattr(importlib.import_module(f"weft.frameworks.{_PLACES[name]}"), name)
    globals()[name] = found
    return found
