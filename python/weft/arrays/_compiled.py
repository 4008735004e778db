"""Functions that are no combination of maps, views and folds: NumPy's functions as compiled code has them, called at once.

One small function is made for each text and kept. What a text must know when it is compiled (axes, flags, dtypes) stands in it as a
literal; what it computes with is passed.
"""

from __future__ import annotations

import functools
import linecache
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from weft._weft import Memory, _adopt, _capture_call, _from_numpy, _full, _select, _tape_lacks_elements, _to_numpy, ndarray
from weft.errors import CaptureError

# Texts whose results have shapes that the operands' shapes decide.
_KEEPS_SHAPE = re.compile(
    r"np\.(argpartition|argsort|convolve|corrcoef|correlate|cov|cumprod|cumsum|digitize|dot|histogram|interp|isin|median|partition"
    r"|percentile|quantile|searchsorted|sort|take|take_along_axis|vander)\("
    r"|    found = np\.empty\(\(a\.shape"
)
# Functions that have work for several threads: the others are compiled without these, which is sooner done.
_THREADED = re.compile(r"np\.(argsort|digitize|interp|median|partition|percentile|quantile|searchsorted|sort|unique)\(")


@functools.cache
def function_of(text: str, parameters: str) -> Callable[..., Any]:
    """The compiled function of the parameters that gives an expression in NumPy's vocabulary, or has the lines of a text."""
    from weft._decorators import njit

    body = text if "\n" in text else f"    return {text}\n"
    source = f"def of_arrays({parameters}):\n{body}"
    file = f"<weft.arrays: {text} of {parameters}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), scope)
    return njit(parallel=bool(_THREADED.match(text)))(scope["of_arrays"])


def call(text: str, **arguments: Any) -> Any:
    """The value of an expression in the names of the arguments: arrays for arrays, a tuple of them for a tuple.

    What it gives is on the device of the first array. Raised are the errors of the compiled code.
    """
    names = [name for name, value in arguments.items() if value is not None]
    values = [arguments[name] for name in names]
    return on_hosts(function_of(text, ", ".join(names)), *values, keeps_shape=bool(_KEEPS_SHAPE.match(text)))


def on_hosts(function: Callable[..., Any], *values: Any, keeps_shape: bool = True, like: Callable[..., Any] | None = None) -> Any:
    """What a function of NumPy arrays gives for the elements of arrays, called at once with their memory, which it must not write.

    Other values are passed as they are. What it gives (an array or a tuple of them) is on the device of the first array. In a captured
    graph it is called again whenever the graph runs, if the shapes of what it gives depend on nothing but shapes; `like` gives arrays of
    those shapes and dtypes, where the function itself cannot be called with zeros.
    """
    return at_once(_called, function, list(values), keeps_shape, like)


def at_once(
    way: Callable[[Callable[..., Any], list[Any]], Any],
    function: Callable[..., Any],
    values: list[Any],
    keeps_shape: bool,
    like: Callable[..., Any] | None,
) -> Any:
    """What a way of calling a function gives for values: at once or, in a captured graph, whenever the graph runs, or when `vmap` does."""
    try:
        return way(function, values)
    except CaptureError:
        if not keeps_shape:
            raise
        if _tape_lacks_elements([value for value in values if isinstance(value, ndarray)]):
            from weft.gradients.primitives import later

            # Where `vmap` is captured there are none by then, either.
            again = functools.partial(at_once, way, function, keeps_shape=keeps_shape, like=like)
            return later(again, values, None if like is None else functools.partial(way, like))
        return recorded(functools.partial(way, function), values, None if like is None else functools.partial(way, like))


def unless(refused: ndarray, error: Exception, value: ndarray) -> ndarray:
    """A value; the error is raised if a flag without axes is true: at once or, where there are no elements yet, when there are."""

    def looked_at(flag: ndarray) -> ndarray:
        if bool(flag):
            raise error
        return flag

    try:
        looked_at(refused)
        return value
    except CaptureError:
        # The value waits for who looks at the flag, which is false where nothing was raised.
        return _select(at_once(_given_all, looked_at, [refused], True, None), value.dtype.type(0), value)


def _given_all(function: Callable[..., Any], values: list[Any]) -> Any:
    return function(*values)


def _called(function: Callable[..., Any], values: list[Any]) -> Any:
    device, hosts, read = None, [], []
    for value in values:
        if isinstance(value, ndarray):
            device = value.device if device is None else device
            value = _on_host(value)
        if isinstance(value, np.ndarray):
            read.append(value)
        hosts.append(value)
    return _wrapped(function(*hosts), device, read)


def recorded(call: Callable[[list[Any]], Any], values: list[Any], shaped: Callable[[list[Any]], Any] | None = None) -> Any:
    """A call that is captured: it is done when the graph is recorded again. Zeros say what it gives: only shapes may decide."""
    places = [at for at, value in enumerate(values) if isinstance(value, ndarray)]
    zeros = [_full(value.shape, 0, value.dtype, value.device) if isinstance(value, ndarray) else value for value in values]
    like = (shaped or call)(zeros)
    arrays = [values[at] for at in places]
    # Nothing is kept of the arrays that it is captured with, and what others may change is as it is now.
    rest = [None if isinstance(value, ndarray) else deepcopy(value) for value in values]

    def again(arrays: list[ndarray]) -> list[ndarray]:
        given = list(rest)
        for at, array in zip(places, arrays):
            given[at] = array
        found = call(given)
        return list(found) if isinstance(found, tuple) else [found]

    found = _capture_call(again, arrays, list(like) if isinstance(like, tuple) else [like])
    return tuple(found) if isinstance(like, tuple) else found[0]


def _on_host(value: ndarray) -> np.ndarray:
    host = _to_numpy(value)
    # Code is compiled for each layout: one that is none of C's or Fortran's is copied rather.
    return host if host.flags.c_contiguous or host.flags.f_contiguous else np.ascontiguousarray(host)


def _wrapped(result: Any, device: Any, read: list[np.ndarray]) -> Any:
    if isinstance(result, tuple):
        found = []
        for each in result:
            found.append(_wrapped(each, device, read))
            if isinstance(each, np.ndarray):
                # Nor is one of the results a view of another: who writes one of them would write both.
                read = [*read, each]
        return tuple(found)
    array = np.asarray(result)
    if (device is not None and device.kind != "cpu") or not array.flags.writeable:
        return _from_numpy(array, device)
    # A result that is a view of what was read is nobody's own memory.
    return _adopt(array if _is_own(array, read) else array.copy())


def _is_own(array: np.ndarray, read: list[np.ndarray]) -> bool:
    """Whether an array's memory is none of what was read.

    What compiled code allocated is held by an object of its own, made for that call, and a view of an argument by the argument: that tells
    most without a look at where the memory is, which costs more than all else here.
    """
    base = array.base
    if type(base) is Memory:
        for each in read:
            if each.base is base:
                break
        else:
            return True
    return not any(np.may_share_memory(array, each) for each in read)


def literal(value: Any) -> str:
    """A constant as text: numbers, strings, None, dtypes and tuples of them."""
    if isinstance(value, tuple):
        return "(" + "".join(literal(each) + ", " for each in value) + ")"
    if isinstance(value, np.dtype):
        return "np.bool_" if value.kind == "b" else f"np.{value.name}"
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    raise TypeError(f"no literal of a {type(value).__name__}")
