"""Peers that want to be set up once per process, for the CPU and with float64."""

import functools
from typing import Any


@functools.cache
def taichi() -> Any:
    """Taichi on the CPU."""
    import taichi as ti

    ti.init(arch=ti.cpu, default_fp=ti.f64, offline_cache=False, log_level=ti.ERROR)
    return ti


@functools.cache
def warp() -> Any:
    """Warp on the CPU."""
    import warp as wp

    wp.config.quiet = True
    wp.init()
    return wp


@functools.cache
def jax() -> Any:
    """JAX on the CPU, with 64-bit types."""
    import jax as jax_

    jax_.config.update("jax_platforms", "cpu")
    jax_.config.update("jax_enable_x64", True)
    return jax_
