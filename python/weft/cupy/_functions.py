"""Functions of arrays that CuPy has and NumPy does not, or with other parameters: `asnumpy`, `get_array_module`, `fuse` and others."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.errors import UnsupportedError


def array(
    obj: Any, dtype: Any = None, copy: bool = True, order: str = "K", subok: bool = False, ndmin: int = 0, *, blocking: bool = False
) -> ndarray:
    """A weft array of an array, a number or nested lists. It is there when the call returns, `blocking` or not.

    >>> cupy.array([1, 2], ndmin=2)
    array([[1, 2]])
    """
    if subok:
        raise UnsupportedError("cupy.array: subok=True is not taken: weft arrays have no subclasses")
    return weft.array(obj, dtype, copy=copy, order=order, ndmin=ndmin)


def asarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> ndarray:
    """A weft array: the argument itself if it is one of that dtype. It is there when the call returns, `blocking` or not.

    >>> cupy.asarray([1.5, 2.5])
    array([1.5, 2.5])
    """
    return weft.asarray(a, dtype, order)


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> np.ndarray:
    """A NumPy array of the elements that can be written, or `out` with the elements in it; the call waits for them.

    >>> cupy.asnumpy(cupy.arange(3))
    array([0, 1, 2])
    """
    if not isinstance(a, ndarray):
        found = np.asarray(a, order=order)
        if out is None:
            return found
        out[...] = found
        return out
    found = a.get(stream, order, out)
    return found if out is not None or found.flags.writeable else found.copy(order)


def get_array_module(*args: Any) -> Any:
    """`weft.cupy` if one of the arguments is a weft array or a sparse matrix of them, else `numpy`.

    >>> cupy.get_array_module(cupy.ones(2)).__name__
    'weft.cupy'
    """
    import weft.cupy

    theirs = any(isinstance(each, ndarray) or getattr(each, "_weft_array_", False) for each in args)
    return weft.cupy if theirs else np


def is_available() -> bool:
    """Whether arrays can be computed: always, since the CPU is a device.

    >>> cupy.is_available()
    True
    """
    return True


def fuse(*args: Any, **options: Any) -> Any:
    """`@cupy.fuse` and `@cupy.fuse(kernel_name=...)`: the function as it is, since operations of weft arrays are fused anyway.

    >>> @cupy.fuse()
    ... def squared_difference(x, y):
    ...     return (x - y) * (x - y)
    >>> squared_difference(cupy.arange(3), 1)
    array([1, 0, 1])
    """
    if set(options) - {"kernel_name"}:
        raise TypeError(f"fuse() got an unexpected keyword argument {sorted(set(options) - {'kernel_name'})[0]!r}")
    if len(args) == 1 and callable(args[0]):
        return _named(args[0], options.get("kernel_name"))
    if len(args) > 1:
        raise TypeError(f"fuse() takes at most 1 positional argument ({len(args)} given)")
    name = args[0] if args else options.get("kernel_name")
    return lambda function: _named(function, name)


def _named(function: Callable[..., Any], name: str | None) -> Callable[..., Any]:
    @functools.wraps(function)
    def fused(*args: Any, **keywords: Any) -> Any:
        return function(*args, **keywords)

    if name is not None:
        fused.__name__ = name
    return fused


def vectorize(
    pyfunc: Callable[..., Any], otypes: Any = None, doc: str | None = None, excluded: Any = None, cache: bool = False, signature: Any = None
) -> Callable[..., Any]:
    """A function of arrays of a function of numbers, compiled. `otypes` are the dtypes of what it gives; one output is taken.

    `excluded` and `signature` are refused, as CuPy refuses them. Numbers have NumPy's types.

    >>> step = cupy.vectorize(lambda x: 1 if x > 0 else 0)
    >>> step(cupy.asarray([-1.0, 2.0]))
    array([0, 1])
    """
    if excluded is not None or signature is not None:
        raise UnsupportedError("cupy.vectorize: `excluded` and `signature` are not taken")
    kinds = None if otypes is None else [np.dtype(each) for each in otypes]
    if kinds is not None and len(kinds) != 1:
        raise UnsupportedError(f"cupy.vectorize: one output is taken, not {len(kinds)}")
    made = weft.vectorize(pyfunc)
    wanted = None if kinds is None else kinds[0]

    @functools.wraps(pyfunc)
    def vectorized(*args: Any) -> ndarray:
        found = made(*args)
        found = found if isinstance(found, ndarray) else weft.asarray(found)
        return found if wanted is None else found.astype(wanted, copy=False)

    vectorized.__doc__ = pyfunc.__doc__ if doc is None else doc
    return vectorized


def save(file: Any, arr: Any, allow_pickle: bool | None = None) -> None:
    """Writes an array to a `.npy` file, as `numpy.save` does.

    >>> import io
    >>> cupy.save(io.BytesIO(), cupy.arange(3))
    """
    np.save(file, asnumpy(arr), allow_pickle=bool(allow_pickle))


def savez(file: Any, *args: Any, **keywords: Any) -> None:
    """Writes arrays to a `.npz` file, as `numpy.savez` does.

    >>> import io
    >>> cupy.savez(io.BytesIO(), x=cupy.arange(3))
    """
    np.savez(file, *map(asnumpy, args), **{name: asnumpy(each) for name, each in keywords.items()})


def savez_compressed(file: Any, *args: Any, **keywords: Any) -> None:
    """Writes arrays to a compressed `.npz` file, as `numpy.savez_compressed` does.

    >>> import io
    >>> cupy.savez_compressed(io.BytesIO(), x=cupy.arange(3))
    """
    np.savez_compressed(file, *map(asnumpy, args), **{name: asnumpy(each) for name, each in keywords.items()})


def load(file: Any, mmap_mode: Any = None, allow_pickle: bool | None = None) -> Any:
    """The array of a `.npy` file, or what a `.npz` file holds, by name.

    >>> import io
    >>> file = io.BytesIO()
    >>> cupy.save(file, cupy.arange(3)); _ = file.seek(0)
    >>> cupy.load(file)
    array([0, 1, 2])
    """
    found = np.load(file, mmap_mode=mmap_mode, allow_pickle=bool(allow_pickle))
    return weft.asarray(found) if isinstance(found, np.ndarray) else NpzFile(found)


class NpzFile:
    """What a `.npz` file holds; `close` it, or use it in a `with`."""

    def __init__(self, file: Any) -> None:
        self.npz_file = file
        self.files = file.files

    def __getitem__(self, name: str) -> ndarray:
        """One of the arrays, read now."""
        return weft.asarray(self.npz_file[name])

    def __enter__(self) -> NpzFile:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file."""
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self.npz_file.close()
