"""`cupy.testing`: assertions that take weft arrays and NumPy's, and decorators that compare a function of `xp` in both libraries."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.cupy._functions import asnumpy

_INTEGERS = ("b", "h", "i", "q", "B", "H", "I", "Q")
_FLOATS = ("e", "f", "d")


def assert_allclose(
    actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0, equal_nan: bool = True, err_msg: str = "", verbose: bool = True
) -> None:
    """Raises an AssertionError where elements differ by more than a tolerance; see `numpy.testing.assert_allclose`."""
    np.testing.assert_allclose(asnumpy(actual), asnumpy(desired), rtol, atol, equal_nan, err_msg, verbose)


def assert_array_equal(x: Any, y: Any, err_msg: str = "", verbose: bool = True, strides_check: bool = False, **options: Any) -> None:
    """Raises an AssertionError where elements differ; `strides_check` compares strides, too."""
    np.testing.assert_array_equal(asnumpy(x), asnumpy(y), err_msg, verbose, **options)
    if strides_check and x.strides != y.strides:
        raise AssertionError(f"strides differ: {x.strides} and {y.strides}. {err_msg}")


def assert_array_almost_equal(x: Any, y: Any, decimal: int = 6, err_msg: str = "", verbose: bool = True) -> None:
    """Raises an AssertionError where elements differ in so many decimals."""
    np.testing.assert_array_almost_equal(asnumpy(x), asnumpy(y), decimal, err_msg, verbose)


def assert_array_almost_equal_nulp(x: Any, y: Any, nulp: float = 1) -> None:
    """Raises an AssertionError where elements differ by more than so many units in the last place."""
    np.testing.assert_array_almost_equal_nulp(asnumpy(x), asnumpy(y), nulp)


def assert_array_max_ulp(a: Any, b: Any, maxulp: float = 1, dtype: Any = None) -> Any:
    """Raises an AssertionError where elements differ by more than so many floats; gives how many they differ by."""
    return np.testing.assert_array_max_ulp(asnumpy(a), asnumpy(b), maxulp, dtype)


def assert_array_less(x: Any, y: Any, err_msg: str = "", verbose: bool = True) -> None:
    """Raises an AssertionError where elements of the first are not below those of the second."""
    np.testing.assert_array_less(asnumpy(x), asnumpy(y), err_msg, verbose)


def assert_array_list_equal(xlist: Sequence[Any], ylist: Sequence[Any], err_msg: str = "", verbose: bool = True) -> None:
    """`assert_array_equal` of the items of two lists."""
    if len(xlist) != len(ylist):
        raise AssertionError(f"lists of {len(xlist)} and {len(ylist)} arrays. {err_msg}")
    for x, y in zip(xlist, ylist):
        assert_array_equal(x, y, err_msg, verbose)


def _compared(name: str, compare: Callable[[Any, Any], None], type_check: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that calls a function with `xp` of both libraries, and compares what it gives."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def both(*args: Any, **keywords: Any) -> None:
            import weft.cupy

            ours = function(*args, **keywords, **{name: weft.cupy})
            theirs = function(*args, **keywords, **{name: np})
            if ours is None or theirs is None:
                raise AssertionError("the function gives nothing to compare")
            pairs = zip(ours, theirs) if isinstance(ours, (list, tuple)) else [(ours, theirs)]
            if isinstance(ours, (list, tuple)) and len(ours) != len(theirs):
                raise AssertionError(f"{len(ours)} results and {len(theirs)}")
            for x, y in pairs:
                if type_check and getattr(x, "dtype", None) != np.asarray(y).dtype:
                    raise AssertionError(f"dtype {getattr(x, 'dtype', None)} for {np.asarray(y).dtype}")
                compare(x, y)

        del both.__wrapped__  # pytest would ask for a fixture `xp` by the signature of the function itself.
        return both

    return decorate


def numpy_cupy_allclose(
    rtol: float = 1e-7, atol: float = 0, err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: bool = True
) -> Any:
    """A decorator of a function of `xp`: what it gives for `weft.cupy` has to be close to what it gives for `numpy`."""
    return _compared(name, lambda x, y: assert_allclose(x, y, rtol, atol, err_msg=err_msg, verbose=verbose), type_check)


def numpy_cupy_array_equal(err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: bool = True) -> Any:
    """A decorator of a function of `xp`: what it gives for both libraries has to be equal."""
    return _compared(name, lambda x, y: assert_array_equal(x, y, err_msg, verbose), type_check)


def numpy_cupy_array_almost_equal(
    decimal: int = 6, err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: bool = True
) -> Any:
    """A decorator of a function of `xp`: what it gives for both libraries has to be equal in so many decimals."""
    return _compared(name, lambda x, y: assert_array_almost_equal(x, y, decimal, err_msg, verbose), type_check)


def numpy_cupy_equal(name: str = "xp") -> Any:
    """A decorator of a function of `xp`: what it gives for both libraries has to be `==`."""

    def same(x: Any, y: Any) -> None:
        if not (x == y):
            raise AssertionError(f"{x!r} for {y!r}")

    return _compared(name, same, False)


def for_dtypes(dtypes: Sequence[Any], name: str = "dtype") -> Any:
    """A decorator of a function of a dtype: it is called with each."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def each(*args: Any, **keywords: Any) -> None:
            for dtype in dtypes:
                try:
                    function(*args, **keywords, **{name: np.dtype(dtype).type})
                except Exception as error:
                    error.args = (f"{name} is {np.dtype(dtype)}: {error}", *error.args[1:])
                    raise

        del each.__wrapped__
        return each

    return decorate


def for_all_dtypes(name: str = "dtype", no_float16: bool = False, no_bool: bool = False, no_complex: bool = False) -> Any:
    """`for_dtypes` of all that there are."""
    floats = _FLOATS[1:] if no_float16 else _FLOATS
    return for_dtypes((*floats, *_INTEGERS, *(() if no_bool else "?"), *(() if no_complex else "FD")), name)


def for_float_dtypes(name: str = "dtype", no_float16: bool = False) -> Any:
    """`for_dtypes` of floats."""
    return for_dtypes(_FLOATS[1:] if no_float16 else _FLOATS, name)


def for_int_dtypes(name: str = "dtype", no_bool: bool = False) -> Any:
    """`for_dtypes` of integers, bool among them."""
    return for_dtypes((*_INTEGERS, *(() if no_bool else "?")), name)


def for_complex_dtypes(name: str = "dtype") -> Any:
    """`for_dtypes` of complex numbers."""
    return for_dtypes("FD", name)


def shaped_arange(shape: Sequence[int], xp: Any = None, dtype: Any = np.float32, order: str = "C") -> Any:
    """1, 2, 3, … in a shape; of bools every second is true."""
    xp = _default(xp)
    values = np.arange(1, int(np.prod(shape)) + 1, 1)
    if np.dtype(dtype) == np.dtype(bool):
        values = values % 2 == 0
    elif np.dtype(dtype).kind == "c":
        values = values + values * 1j
    return xp.array(values.astype(dtype).reshape(shape, order=order))


def shaped_reverse_arange(shape: Sequence[int], xp: Any = None, dtype: Any = np.float32) -> Any:
    """…, 3, 2, 1 in a shape."""
    xp = _default(xp)
    values = np.arange(int(np.prod(shape)), 0, -1)
    if np.dtype(dtype) == np.dtype(bool):
        values = values % 2 == 0
    elif np.dtype(dtype).kind == "c":
        values = values + values * 1j
    return xp.array(values.astype(dtype).reshape(shape))


def shaped_random(shape: Sequence[int], xp: Any = None, dtype: Any = np.float32, scale: float = 10, seed: int = 0) -> Any:
    """Random numbers from 0 up to a scale in a shape, the same each time."""
    xp, kind = _default(xp), np.dtype(dtype)
    rng = np.random.RandomState(seed)
    if kind == np.dtype(bool):
        return xp.array(rng.randint(2, size=shape).astype(bool))
    if kind.kind == "c":
        return xp.array((rng.rand(*shape) + 1j * rng.rand(*shape)).astype(kind) * kind.type(scale))
    return xp.array((rng.rand(*shape) * scale).astype(kind))


def _default(xp: Any) -> Any:
    import weft.cupy

    return weft.cupy if xp is None else xp
