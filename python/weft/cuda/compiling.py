"""Kernels and functions as PTX for programs of others, by Numba's names: `compile_ptx` and `compile`. No device is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from weft import _weft, types
from weft.errors import UnsupportedError

__all__ = ["bounds", "compile", "compile_all", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device"]

# The oldest that NVIDIA's newest assembler takes; PTX runs on every later GPU.
_OLDEST = (7, 5)


def compile_ptx(
    pyfunc: Any,
    sig: Any,
    debug: bool | None = None,
    lineinfo: bool = False,
    device: bool = False,
    fastmath: bool = False,
    cc: Sequence[int] | None = None,
    opt: bool | None = None,
    abi: str | None = None,
    abi_info: Mapping[str, str] | None = None,
    forceinline: bool = False,
    launch_bounds: int | Sequence[int] | None = None,
    *,
    fma: bool = True,
    _numba: bool = False,
) -> tuple[str, types.Type]:
    """PTX of a kernel, or with ``device=True`` of a function that kernels call, for one signature; and the type of its result.

    `sig` is a tuple of argument types, or a signature, to whose result type the result is then converted. `cc` is the compute
    capability as ``(major, minor)``, by default (7, 5); the PTX runs on all later GPUs, too.

    The parameters of a kernel are those of the signature in order: a scalar is itself (a bool one byte, a complex number its two
    parts, a tuple its items), an array its data pointer, then its shape and, unless the type says that it is contiguous, its strides in
    bytes, all of 64 bits. The entry is named ``weft_`` and the function's name. A function (``abi="c"``) takes the same and gives its
    result as C does, several numbers as a structure; it has the Python function's name. ``abi_info={"abi_name": ...}`` names either.
    ``abi="numba"`` is accepted for kernels, and means the same.
    With `lineinfo`, or `debug`, it says which line of the source each instruction comes from (``.loc``), as profilers show it. `opt` is
    accepted for Numba's sake.
    """
    if abi not in (None, "numba", "c"):
        raise UnsupportedError(f"Unsupported ABI: {abi}")
    if abi == "c" and not device:
        raise UnsupportedError("The C ABI is not supported for kernels")
    if abi == "numba" and device:
        raise UnsupportedError("Numba's own calling convention does not exist in Weft: functions are called as C does (abi='c')")
    if forceinline:
        raise ValueError("forceinline is for LTO-IR, which Weft does not make")
    function = getattr(pyfunc, "py_func", pyfunc)
    if not hasattr(function, "__code__"):
        raise TypeError(f"expected a Python function, got {type(function).__name__}")
    text, result = _weft.compile_ptx(
        function,
        types.as_signature(sig)._spec_,
        device=device,
        numba=_numba,
        cc=_capability(_OLDEST if cc is None else cc),
        fastmath=fastmath,
        contract=fma or fastmath,
        lines=bool(lineinfo or debug),
        bounds=bounds(launch_bounds, None),
        name=_name(abi_info, function.__name__ if device else None),
    )
    return text, types.from_spec(result)


def compile_ptx_for_current_device(pyfunc: Any, sig: Any, **options: Any) -> tuple[str, types.Type]:
    """`compile_ptx` for what the current device takes, with the same options but for `cc`."""
    return compile_ptx(pyfunc, sig, cc=_current(), **options)


def compile(
    pyfunc: Any,
    sig: Any,
    debug: bool | None = None,
    lineinfo: bool = False,
    device: bool = True,
    fastmath: bool = False,
    cc: Sequence[int] | None = None,
    opt: bool | None = None,
    abi: str | None = None,
    abi_info: Mapping[str, str] | None = None,
    output: str = "ptx",
    forceinline: bool = False,
    launch_bounds: int | Sequence[int] | None = None,
    *,
    fma: bool = True,
    _numba: bool = False,
) -> tuple[str, types.Type]:
    """`compile_ptx` with other defaults: a function as C calls it, not a kernel."""
    if output != "ptx":
        raise UnsupportedError(f"Unsupported output type: {output}; Weft makes 'ptx'")
    return compile_ptx(
        pyfunc, sig, debug, lineinfo, device, fastmath, cc, opt, abi, abi_info, forceinline, launch_bounds, fma=fma, _numba=_numba
    )  # fmt: skip


def compile_all(pyfunc: Any, sig: Any, **options: Any) -> tuple[list[str], types.Type]:
    """`compile`, with the same options, as a list of all that has to be linked: it is always one PTX."""
    text, result = compile(pyfunc, sig, **options)
    return [text], result


def compile_for_current_device(pyfunc: Any, sig: Any, **options: Any) -> tuple[str, types.Type]:
    """`compile` for what the current device takes, with the same options but for `cc`."""
    return compile(pyfunc, sig, cc=_current(), **options)


def _current() -> tuple[int, int]:
    device = _weft.current_device()
    target = _weft.ptx_target(device)
    if target is None:
        raise UnsupportedError(f"the current device, {device.name}, takes no PTX; compile_ptx with cc=(major, minor) needs no device")
    return target


def _capability(cc: Sequence[int]) -> tuple[int, int]:
    if len(cc) != 2 or not all(isinstance(n, int) and n >= 0 for n in cc):
        raise ValueError(f"a compute capability is written (major, minor), got {cc!r}; code is never for one architecture alone")
    return (cc[0], cc[1])


def _name(abi_info: Mapping[str, str] | None, function: str | None) -> str | None:
    given = dict(abi_info or {})
    name = given.pop("abi_name", None)
    if given:
        raise ValueError(f"abi_info has abi_name, not {next(iter(given))}")
    if name is None:
        return None if function is None else re.sub(r"[^A-Za-z0-9_]", "_", function)
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return name
    raise ValueError(f"{name!r} is no name in PTX; give one with abi_info={{'abi_name': ...}}")


def bounds(launch_bounds: int | Sequence[int] | None, max_registers: int | None) -> tuple[int, int, int]:
    """Threads of a block, blocks of a multiprocessor, registers of a thread; 0 for what is not given."""
    given = [] if launch_bounds is None else list(launch_bounds) if isinstance(launch_bounds, Sequence) else [launch_bounds]
    if len(given) > 3 or (launch_bounds is not None and not given):
        raise ValueError(f"Got {len(given)} launch bounds: {launch_bounds!r}; one to three can be given")
    if any(not isinstance(n, int) or n < 1 for n in given) or not isinstance(max_registers or 0, int) or (max_registers or 0) < 0:
        raise ValueError(f"launch bounds and registers are positive ints, got {launch_bounds!r} and {max_registers!r}")
    threads, blocks = [*given, 0, 0][:2] if len(given) < 2 else given[:2]
    return (threads, blocks, max_registers or 0)
