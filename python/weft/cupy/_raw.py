"""`RawKernel` and `RawModule`: kernels in CUDA C++ or PTX, on CUDA devices. NVRTC compiles the C++, the driver loads what comes of it.

A kernel gets the addresses of arrays' first elements, as in CuPy: it sees no strides. Before, they are given memory that is nobody else's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft import cuda
from weft._weft import Device, _in_place, ndarray
from weft.arrays.interop import _lent_array
from weft.cupy import _driver, _nvrtc
from weft.errors import UnsupportedError


class RawModule:
    """Kernels of a source in CUDA C++ (`code`), or of a file of PTX or a cubin (`path`).

    Compiled for the current device, or that of a launch's arrays, when a kernel is first launched. `name_expressions` are C++ names, such
    as of instances of templates, that `get_function` is to know. `translate_cucomplex`, `jitify` and the back end nvcc are refused.
    Raises UnsupportedError where there is no CUDA device or no NVRTC.
    """

    def __init__(
        self,
        *,
        code: str | None = None,
        path: Any = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None,
        jitify: bool = False,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if path is not None and name_expressions:
            raise ValueError("name expressions are only supported with nvrtc/hiprtc as backend and for raw code")
        if backend != "nvrtc":
            raise UnsupportedError(f"RawModule: the back end {backend!r} is not taken: sources are compiled by NVRTC")
        if translate_cucomplex or jitify:
            raise UnsupportedError("RawModule: translate_cucomplex and jitify are not taken")
        self.code = code
        self.file_path = path
        self.options = tuple(options)
        self.enable_cooperative_groups = enable_cooperative_groups
        self.name_expressions = tuple(name_expressions or ())
        self._loaded: dict[str, tuple[Any, dict[str, str]]] = {}

    def get_function(self, name: str) -> RawKernel:
        """A kernel of a name, or of one of the name expressions."""
        return RawKernel._of(self, name)

    def get_global(self, name: str) -> Any:
        """Refused: memory without an array is not given out."""
        raise UnsupportedError(f"{name}: global variables of modules are not taken: pass an array")

    def compile(self, log_stream: Any = None) -> None:
        """Compiles the source for the current device."""
        device = _cuda_device(())
        with _driver.on(device):
            self._on(device, "module")

    def _on(self, device: Device, name: str) -> tuple[Any, dict[str, str]]:
        """The module on a device that is the current one, and what names became."""
        if device.name not in self._loaded:
            if self.code is None:
                image, lowered = Path(self.file_path).read_bytes(), {}
            else:
                image, lowered = _nvrtc.ptx(self.code, name, device.compute_capability, self.options, self.name_expressions)
            self._loaded[device.name] = _driver.module(image), lowered
        return self._loaded[device.name]


class RawKernel:
    """A kernel of a source in CUDA C++, launched as `kernel(grid, block, args)`.

    Arguments are weft arrays on a CUDA device, of which the kernel gets the address of the first element, NumPy's numbers as they are, and
    Python's as 64-bit numbers. What a kernel writes to a read-only array is lost. Where there is no CUDA device, or no NVRTC, a launch is
    an UnsupportedError.
    """

    def __init__(
        self,
        code: str,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        self._module = RawModule(
            code=code,
            options=options,
            backend=backend,
            translate_cucomplex=translate_cucomplex,
            enable_cooperative_groups=enable_cooperative_groups,
            jitify=jitify,
        )
        self.name, self.code, self.options, self.backend = name, code, tuple(options), backend
        self.max_dynamic_shared_size_bytes: int | None = None

    @classmethod
    def _of(cls, module: RawModule, name: str) -> RawKernel:
        made = cls.__new__(cls)
        made._module, made.name, made.code, made.options, made.backend = module, name, module.code, module.options, "nvrtc"
        made.max_dynamic_shared_size_bytes = None
        return made

    def compile(self, log_stream: Any = None) -> None:
        """Compiles the source for the current device."""
        self._module.compile(log_stream)

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0, stream: Any = None) -> None:
        """Launches the kernel; the arrays among its arguments have what it wrote."""
        from weft.cupy.cuda.streams import chosen_stream

        arrays = [each for each in args if isinstance(each, ndarray)]
        device = _cuda_device(arrays)
        _check(arrays, device)
        queue = chosen_stream() if stream is None else stream
        grid, block = _three(grid), _three(block)
        # What is read-only may be shared with others: the kernel has a copy of it.
        copies = [(each, _lent_array(each).copy()) for each in arrays if not each._writeable]
        written = [each for each in arrays if each._writeable]
        with device:
            with _driver.on(device):
                module, lowered = self._module._on(device, self.name)
                kernel = _driver.function(module, lowered.get(self.name, self.name))
                if self.max_dynamic_shared_size_bytes is not None:
                    _driver.allow_shared(kernel, self.max_dynamic_shared_size_bytes)

            def launch(addresses: list[int]) -> None:
                places = [(each, copy.__cuda_array_interface__["data"][0] or 0) for each, copy in copies]
                places += zip(written, addresses)
                values = [_bytes_of(each, places) for each in args]
                if queue is not None:
                    # Arrays are computed in the default stream, for which others need not wait.
                    device.synchronize()
                handle = cuda.default_stream().handle if queue is None else queue.ptr
                with _driver.on(device):
                    _driver.launch(kernel, grid, block, shared_mem, handle, values, self._module.enable_cooperative_groups)
                if queue is not None:
                    queue.synchronize()

            _in_place(written, launch)

    def __repr__(self) -> str:
        """Its name."""
        return f"<RawKernel {self.name}>"


def _cuda_device(arrays: Sequence[ndarray]) -> Device:
    """The CUDA device of arrays, or the current one."""
    device = arrays[0].device if arrays else weft.current_device()
    if device.kind == "cuda":
        return device
    there = [each.name for each in weft.devices() if each.kind == "cuda"]
    more = (
        f"move its arrays to {there[0]}, or work in `with weft.device({there[0]!r})`" if there else "this machine has none that Weft found"
    )
    raise UnsupportedError(
        f"kernels in CUDA C++ and PTX run on CUDA devices only, and this one is to run on {device.name}: {more}. "
        "ElementwiseKernel, ReductionKernel and weft.cuda.jit run on every device"
    )


def _check(arrays: Sequence[ndarray], device: Device) -> None:
    for array in arrays:
        if array.device != device:
            raise ValueError(f"the arrays of a kernel are on one device, not on {device.name} and {array.device.name}")
        if array.dtype.kind == "V":
            raise UnsupportedError("arrays of bfloat16 are not taken: view them as uint16")


def _bytes_of(value: Any, places: list[tuple[ndarray, int]]) -> bytes:
    """The bytes of an argument, as a kernel's parameter has them: of an array, the address of its first element."""
    if isinstance(value, ndarray):
        address = next(address for array, address in places if array is value)
        return (address if value.size else 0).to_bytes(8, "little")
    if isinstance(value, np.generic):
        return value.tobytes()
    kinds = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}
    if type(value) in kinds:
        return kinds[type(value)](value).tobytes()
    raise TypeError(f"Unsupported type {type(value)}")


def _three(sizes: Any) -> list[int]:
    given = [int(n) for n in sizes] if isinstance(sizes, (tuple, list)) else [int(sizes)]
    if not 1 <= len(given) <= 3:
        raise ValueError(f"a grid or a block has one to three axes, not {len(given)}")
    return [*given, 1, 1][:3]
