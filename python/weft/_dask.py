"""Dask with weft arrays as chunks: what its entry points load, `dask.array.backends` and `dask.sizeof`.

Dask finds a function of chunks by their type. `register` tells it those that NumPy's own, which find their way to Weft, do not do. It is
called when Dask first meets a weft array: when one is named (tokenized), measured, read from a pickle, or made by this back end.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from weft._weft import _eval, ndarray


def register_sizeof(sizeof: Any) -> None:
    """The entry point `dask.sizeof`. Measuring computes: what a task gives is measured where the task ran, and leaves it computed."""

    @sizeof.register_lazy("weft")
    def register_weft() -> None:
        @sizeof.register(ndarray)
        def sizeof_array(x: ndarray) -> int:
            _eval([x])
            return x.nbytes

        register_if_used()


def token(x: ndarray) -> tuple[Any, ...]:
    """What stands for an array in names of tasks: the same for the same elements, shape, dtype and device."""
    from dask.base import normalize_token

    from weft._weft import _to_numpy

    register_if_used()
    host = _to_numpy(x)
    # Names of dtypes tell bfloat16 from other types of two bytes.
    return "weft.ndarray", x.device.name, x.dtype.name, normalize_token(host.view("uint16") if x.dtype.kind == "V" else host)


def register_if_used() -> None:
    """Registers Weft's functions of chunks if `dask.array` is there."""
    if "dask.array.backends" in sys.modules:
        register()


@functools.cache
def register() -> None:
    """Registers Weft's functions of chunks with `dask.array`."""
    import numpy as np
    from dask.array import backends, dispatch

    import weft

    def numel(x: ndarray, **keywords: Any) -> Any:
        """How many elements there are along axes; without axes an array like the others."""
        return weft.asarray(backends._numel(x, coerce_np_ndarray=False, **keywords))

    def divide(a: Any, b: Any, dtype: Any = None) -> Any:
        """A quotient as another dtype, which Dask asks for."""
        found = weft.divide(a, b)
        return found if dtype is None else found.astype(dtype, copy=False)

    dispatch.concatenate_lookup.register(ndarray, weft.concatenate)
    dispatch.tensordot_lookup.register(ndarray, weft.tensordot)
    dispatch.take_lookup.register(ndarray, weft.take)
    dispatch.divide_lookup.register(ndarray, divide)
    dispatch.empty_lookup.register(ndarray, weft.empty)
    dispatch.numel_lookup.register(ndarray, numel)
    dispatch.nannumel_lookup.register(ndarray, backends._nannumel)
    dispatch.percentile_lookup.register(ndarray, backends.percentile)
    dispatch.einsum_lookup.register(ndarray, _einsum)
    dispatch.to_numpy_dispatch.register(ndarray, functools.partial(weft.asnumpy, copy=True))
    for lookup in (dispatch.concatenate_lookup, dispatch.tensordot_lookup):
        lookup.register_lazy("weft")(_register_sparse)
    to_weft().register((np.ndarray, ndarray), weft.asarray)


def _register_sparse() -> None:
    """Called when Dask first meets something of Weft's that is no array: chunks that are sparse matrices."""
    from dask.array import backends, dispatch

    from weft.scipy import sparse

    def concatenate(parts: Any, axis: int = 0) -> Any:
        """Sparse chunks below or beside each other."""
        if axis not in (0, 1):
            raise ValueError(f"Can only concatenate sparse matrices for axis in {{0, 1}}.  Got {axis}")
        return sparse.hstack(parts) if axis else sparse.vstack(parts)

    dispatch.concatenate_lookup.register(sparse.spmatrix, concatenate)
    dispatch.tensordot_lookup.register(sparse.spmatrix, backends._tensordot_scipy_sparse)


def _einsum(*operands: Any, order: str = "K", casting: str = "safe", dtype: Any = None, **keywords: Any) -> Any:
    """Sums of products by subscripts. Dask passes NumPy's defaults, which are Weft's."""
    import weft

    if order not in ("K", "C") or casting not in ("safe", "same_kind"):
        raise ValueError(f"weft.einsum has neither order={order!r} nor casting={casting!r}")
    found = weft.einsum(*operands, **keywords)
    return found if dtype is None else found.astype(dtype, copy=False)


def _backend() -> Any:
    """The class that the entry point `dask.array.backends` names, made when Dask asks for it."""
    import dask.array as da
    from dask import config
    from dask.array.backends import ArrayBackendEntrypoint

    import weft

    def made(name: str, *args: Any, meta: Any = None, **keywords: Any) -> Any:
        meta = weft.empty(()) if meta is None else meta
        with config.set({"array.backend": "numpy"}):
            return getattr(da, name)(*args, meta=meta, **keywords)

    class WeftBackendEntrypoint(ArrayBackendEntrypoint):
        """Arrays made by `dask.array` have chunks of Weft's, on the device that is current where a task runs."""

        def __init__(self) -> None:
            register()

        @classmethod
        def to_backend_dispatch(cls) -> Any:
            return to_weft()

        @classmethod
        def to_backend(cls, data: Any, **keywords: Any) -> Any:
            return data if isinstance(data._meta, ndarray) else data.map_blocks(to_weft(), **keywords)

        @property
        def RandomState(self) -> Any:
            return weft.random.RandomState

        @property
        def default_bit_generator(self) -> Any:
            return weft.random.Philox4x32

        @staticmethod
        def arange(*args: Any, like: Any = None, **keywords: Any) -> Any:
            like = weft.empty(()) if like is None else like
            with config.set({"array.backend": "numpy"}):
                return da.arange(*args, like=like, **keywords)

        ones = staticmethod(functools.partial(made, "ones"))
        zeros = staticmethod(functools.partial(made, "zeros"))
        empty = staticmethod(functools.partial(made, "empty"))
        full = staticmethod(functools.partial(made, "full"))

    return WeftBackendEntrypoint


@functools.cache
def to_weft() -> Any:
    """Dask's dispatch to what makes a chunk of Weft's."""
    from dask.utils import Dispatch

    return Dispatch("to_weft")


def __getattr__(name: str) -> Any:
    """The back end, which needs Dask, made when it is first asked for."""
    if name == "WeftBackendEntrypoint":
        globals()[name] = found = _backend()
        return found
    raise AttributeError(f"module 'weft._dask' has no attribute {name!r}")
