"""Arrays in files: NumPy's formats, written and read by NumPy on the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from weft._weft import _to_numpy, ndarray
from weft.gradients.primitives import unseen

from ._common import array_of, as_device, as_dtype, refuse


def on_host(given: Any) -> Any:
    """What was given with NumPy's arrays for weft arrays, also inside of lists, tuples and dicts. It becomes text or a file."""
    if isinstance(given, ndarray):
        return unseen(_to_numpy, given)
    if isinstance(given, (list, tuple)):
        return type(given)(on_host(each) for each in given)
    if isinstance(given, dict):
        return {name: on_host(each) for name, each in given.items()}
    return given


def _writable(function: str, x: Any) -> np.ndarray:
    """An array for a file."""
    x = array_of(x)
    if x.dtype.kind == "V":
        raise refuse(function, "the format has no name for bfloat16: write x.view(weft.uint16), or x.astype(weft.float32)")
    return _to_numpy(x)


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Writes an array in NumPy's format `.npy`, to a file or to one of a name, which ends so.

    bfloat16, which the format has no name for, is refused. `allow_pickle` has nothing to allow.

    >>> import io
    >>> file = io.BytesIO()
    >>> weft.save(file, weft.arange(3))
    >>> _ = file.seek(0)
    >>> weft.load(file)
    array([0, 1, 2])
    """
    np.save(file, _writable("save", arr), allow_pickle=False)


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Writes several arrays into a file `.npz`: under the names of the keywords, and as `arr_0`, `arr_1`, …

    >>> import io
    >>> file = io.BytesIO()
    >>> weft.savez(file, weft.arange(3), y=weft.ones(2))
    >>> _ = file.seek(0)
    >>> weft.load(file)["y"]
    array([1., 1.])
    """
    _save_several("savez", file, args, kwds)


def savez_compressed(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """`savez`, compressed.

    >>> import io
    >>> file = io.BytesIO()
    >>> weft.savez_compressed(file, x=weft.zeros(1000))
    >>> len(file.getvalue()) < 1000
    True
    """
    _save_several("savez_compressed", file, args, kwds)


def _save_several(function: str, file: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    arrays = [_writable(function, each) for each in args]
    getattr(np, function)(file, *arrays, allow_pickle=False, **{name: _writable(function, each) for name, each in named.items()})


def savetxt(fname: Any, X: Any, *args: Any, **keywords: Any) -> None:
    """Writes a row or a table of numbers as text. The arguments behind are NumPy's: `fmt delimiter newline header footer comments`.

    >>> import io
    >>> file = io.StringIO()
    >>> weft.savetxt(file, weft.asarray([[1, 2], [3, 4]]), fmt="%d", delimiter=",")
    >>> file.getvalue()
    '1,2\\n3,4\\n'
    """
    np.savetxt(fname, on_host(X), *args, **keywords)


class Archive(Mapping):
    """The arrays of a file `.npz` by their names. Each is read when it is asked for; `close`, or a `with` block, closes the file."""

    def __init__(self, file: Any, device: Any) -> None:
        self._file, self._device = file, device

    @property
    def files(self) -> list[str]:
        """The names."""
        return self._file.files

    def __getitem__(self, name: str) -> ndarray:
        return array_of(self._file[name], device=self._device)

    def __iter__(self) -> Iterator[str]:
        return iter(self._file)

    def __len__(self) -> int:
        return len(self._file)

    def __repr__(self) -> str:
        return repr(self._file)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()


def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    *,
    max_header_size: int = 10000,
    device: Any = None,
) -> Any:
    """What `save` or `savez` has written: an array, or a mapping of names to arrays; on the current device, or on another one.

    Files are read, not mapped. Pickles are read with `allow_pickle=True` only; what they hold has to be an array of numbers.

    >>> import io
    >>> file = io.BytesIO()
    >>> weft.save(file, [1.5, 2.5])
    >>> _ = file.seek(0)
    >>> weft.load(file)
    array([1.5, 2.5])
    """
    if mmap_mode is not None:
        raise refuse("load", "files are not mapped into memory: weft.asarray(np.load(file, mmap_mode)) copies what is mapped")
    found = np.load(file, allow_pickle=allow_pickle, fix_imports=fix_imports, encoding=encoding, max_header_size=max_header_size)
    place = as_device(device)
    return Archive(found, place) if isinstance(found, np.lib.npyio.NpzFile) else array_of(found, device=place)


def loadtxt(fname: Any, dtype: Any = float, *args: Any, device: Any = None, **keywords: Any) -> ndarray:
    """The numbers of a text, line by line. The arguments behind are NumPy's: `comments delimiter converters skiprows usecols unpack ndmin
    encoding max_rows quotechar`.

    >>> import io
    >>> weft.loadtxt(io.StringIO("1 2\\n3 4"))
    array([[1., 2.],
           [3., 4.]])
    """
    return _read("loadtxt", device, fname, as_dtype(dtype), *args, **keywords)


def genfromtxt(fname: Any, dtype: Any = float, *args: Any, device: Any = None, **keywords: Any) -> ndarray:
    """The numbers of a text with gaps in it. The arguments behind are NumPy's; columns with names, which are records, are refused.

    >>> import io
    >>> weft.genfromtxt(io.StringIO("1,,3"), delimiter=",", filling_values=0)
    array([1., 0., 3.])
    """
    return _read("genfromtxt", device, fname, None if dtype is None else as_dtype(dtype), *args, **keywords)


def fromfile(file: Any, dtype: Any = float, *args: Any, device: Any = None, **keywords: Any) -> ndarray:
    """The numbers of a file of bytes, or of a text of numbers with `sep` between them. The arguments behind are NumPy's: `count sep
    offset`.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "numbers")
    ...     weft.arange(3).tofile(path)
    ...     print(weft.fromfile(path, weft.int64))
    [0 1 2]
    """
    return _read("fromfile", device, file, as_dtype(dtype), *args, **keywords)


def fromstring(string: Any, dtype: Any = float, *args: Any, device: Any = None, **keywords: Any) -> ndarray:
    """The numbers of a text, with `sep` between them. The arguments behind are NumPy's: `count sep`.

    >>> weft.fromstring("1, 2", dtype=weft.int64, sep=",")
    array([1, 2])
    """
    return _read("fromstring", device, string, as_dtype(dtype), *args, **keywords)


def _read(function: str, device: Any, *args: Any, like: Any = None, **keywords: Any) -> ndarray:
    """What a function of NumPy reads, on a device."""
    if like is not None:
        raise refuse(function, "like is not available")
    return array_of(getattr(np, function)(*args, **keywords), device=as_device(device))
