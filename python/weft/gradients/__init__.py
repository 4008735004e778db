"""Gradients: transforms of functions of arrays, tapes, rules of one's own. `weft` has the names; see docs/gradients.md."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_BY_MODULE = {
    "batching": "vmap",
    "checking": "gradcheck",
    "jacobians": "hessian jacfwd jacrev",
    "primitives": "custom_jvp custom_vjp",
    "tapes": "tape",
    "transforms": "checkpoint grad jvp linearize stop_gradient value_and_grad vjp",
}

NAMES: dict[str, str] = {name: module for module, names in _BY_MODULE.items() for name in names.split()}


def find(name: str) -> Any:
    """What a name is that `weft` has from here."""
    return getattr(import_module(f"weft.gradients.{NAMES[name]}"), name)


def __getattr__(name: str) -> Any:
    if name in NAMES:
        return find(name)
    raise AttributeError(f"module 'weft.gradients' has no attribute {name!r}")
