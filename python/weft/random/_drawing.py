"""What all distributions are drawn with: parameters checked, shapes joined, results put into `out`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._weft import _adopt, _assign, _capture_number, _full, ndarray
from weft.arrays._common import in_c_order

from ._bit_generators import BitGenerator, Shape
from ._draws import draw
from ._parameters import QUICK, check_numbers, checked_arrays, is_number, number, shape_of_size, shape_with

_PLAIN = {int, float}

_FLOATS = {np.float64: "64", np.float32: "32"}


class Drawing:
    """Numbers of a bit generator."""

    _bit_generator: BitGenerator

    def _of(self, name: str, size: Any, *values: Any) -> ndarray:
        """The numbers of a distribution."""
        what = draw(name)
        # Most are plain numbers that need no more than a look.
        bounds = QUICK.get(name)
        if bounds is not None and all(type(x) in _PLAIN and low < x < high for x, (low, high) in zip(values, bounds)):
            return self._bit_generator.draw(what, shape_of_size(size), values)
        if all(map(is_number, values)):
            numbers = tuple(number(x, dtype) for x, dtype in zip(values, what.dtypes))
            check_numbers(name, numbers)
            return self._bit_generator.draw(what, shape_of_size(size), numbers)
        arrays = checked_arrays(name, values, what.dtypes, _device_of(values))
        shape = shape_with(size, [array.shape for array in arrays])
        return self._bit_generator.draw_for(what, shape, arrays)

    def _floats(self, name: str, function: str, size: Any, dtype: Any, out: Any, *values: Any) -> ndarray:
        """The same in float64 or float32, put into `out` where that is given."""
        width = _FLOATS.get(dtype) or _FLOATS.get(np.dtype(dtype).type)
        if width is None:
            raise TypeError(f"Unsupported dtype {np.dtype(dtype)!r} for {function}")
        if out is None:
            return self._of(name + width, size, *values) if values else self._bit_generator.draw(draw(name + width), shape_of_size(size))
        _check_out(out, np.dtype(f"f{int(width) // 8}"), size)
        _assign(out, self._of(name + width, out.shape, *values) if values else self._bit_generator.draw(draw(name + width), out.shape))
        return out

    def _at_once(self, function: Callable[..., Any], count: int, like: tuple[Shape, Any], *values: Any) -> ndarray:
        """What a compiled function of a source makes of the bits of so many elements: an array of a shape and dtype, made now.

        In a captured graph it is made whenever the graph runs.
        """
        generator = self._bit_generator
        device = _full((), 0, np.uint8).device

        def made() -> ndarray:
            found = _adopt(np.ascontiguousarray(generator.run(function, count, *values)))
            return found if device.kind == "cpu" else found.to_device(device)

        captured = _capture_number()
        if captured is None:
            return made()
        return generator.captured(captured, lambda _: [made()], [], [_full(like[0], 0, like[1], device)])[0]


def _device_of(values: Sequence[Any]) -> Any:
    return next((x.device for x in values if isinstance(x, ndarray)), None)


def _check_out(out: Any, dtype: np.dtype, size: Any) -> None:
    if not isinstance(out, ndarray):
        raise TypeError(f"Supplied output is a weft.ndarray, not {type(out).__name__}")
    if out.dtype != dtype:
        raise TypeError(f"Supplied output array has the wrong type. Expected {dtype}, got {out.dtype}")
    if not (in_c_order(out) or in_c_order(out.T)) or not out._writeable:
        raise ValueError("Supplied output array must be contiguous, writable, aligned, and in machine byte-order.")
    if size is not None and shape_of_size(size) != out.shape:
        raise ValueError("size must match out.shape when used together")
