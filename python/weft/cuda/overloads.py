"""What a kernel takes of the device in the form it has for one row of argument types, by Numba's names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft import _weft, types


class Overload:
    """A kernel for one row of argument types, as it is on the current device. ``kernel.overloads[args]`` gives it."""

    def __init__(self, kernel: _weft.Dispatcher, row: tuple[Any, ...]) -> None:
        """`row` has what the extension module calls the types."""
        self._kernel = kernel
        self._row = row

    @property
    def argument_types(self) -> tuple[types.Type, ...]:
        """The types of the arguments."""
        return tuple(map(types.from_spec, self._row))

    @property
    def signature(self) -> types.Signature:
        """The types of the arguments and the result, which is none."""
        return types.Signature(types.none, self.argument_types)

    @property
    def regs_per_thread(self) -> int:
        """Registers of 32 bits that a thread uses; 0 on a device that does not share them out."""
        return self._takes("registers")

    @property
    def shared_mem_per_block(self) -> int:
        """Bytes of shared memory that a block has without asking at the launch."""
        return self._takes("shared_bytes")

    @property
    def const_mem_size(self) -> int:
        """Bytes of constants."""
        return self._takes("constant_bytes")

    @property
    def local_mem_per_thread(self) -> int:
        """Bytes of memory of a thread's own."""
        return self._takes("local_bytes")

    @property
    def max_threads_per_block(self) -> int:
        """The most threads that a block of a launch may have."""
        return self._takes("threads")

    def max_cooperative_grid_blocks(self, blockdim: int | Sequence[int], dynsmemsize: int = 0) -> int:
        """The most blocks, of `blockdim` threads and with `dynsmemsize` bytes of dynamic shared memory, of a grid that waits for itself."""
        threads = math.prod(blockdim) if isinstance(blockdim, Sequence) else blockdim
        return self._kernel._resident_blocks(self._row, threads, dynsmemsize)

    def inspect_llvm(self) -> str:
        """The LLVM IR."""
        return self._text("llvm")

    def inspect_asm(self) -> str:
        """The machine code as assembly; PTX on CUDA."""
        return self._text("asm")

    def _takes(self, what: str) -> int:
        return self._kernel._resources(self._row)[what]

    def _text(self, what: str) -> str:
        self._kernel._compile(self._row)
        return self._kernel._inspect(what)[self._row]

    def __repr__(self) -> str:
        return f"<{self._kernel.__name__}{self.argument_types}>"


class Measured(_weft.Dispatcher):
    """What a kernel can say of its overloads.

    Each `get_` gives the number for one signature, or without one a dict of them by argument types; a kernel that was given a single
    signature gives its number.
    """

    @property
    def overloads(self) -> dict[tuple[types.Type, ...], Overload]:
        """What it has been compiled for, by argument types."""
        return {tuple(map(types.from_spec, row)): Overload(self, row) for row in self._known()}

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """Registers of 32 bits that a thread uses."""
        return self._of_each("regs_per_thread", signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """Bytes of shared memory that a block has without asking at the launch."""
        return self._of_each("shared_mem_per_block", signature)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        """Bytes of constants."""
        return self._of_each("const_mem_size", signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """Bytes of memory of a thread's own."""
        return self._of_each("local_mem_per_thread", signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """The most threads that a block of a launch may have."""
        return self._of_each("max_threads_per_block", signature)

    def _of_each(self, name: str, signature: Any) -> Any:
        overloads = self.overloads
        if signature is not None:
            return getattr(overloads[types.as_signature(signature).args], name)
        if self._declared() == 1:
            return getattr(next(iter(overloads.values())), name)
        return {args: getattr(one, name) for args, one in overloads.items()}
