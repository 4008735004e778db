"""NVIDIA's compilers as libraries: NVRTC takes CUDA C, libNVVM takes LLVM IR, both give PTX."""

from __future__ import annotations

import ctypes
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build" / "nvidia" / "cu13"
# What the virtual environment has: headers and libNVVM.
TOOLKIT = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13"


INCLUDES = [f"--include-path={folder}" for folder in (TOOLKIT / "include", BUILD / "include" / "cccl")]


class Refused(Exception):
    """A compiler does not take a source; the message is its log."""


@cache
def _nvrtc() -> ctypes.CDLL:
    return ctypes.CDLL(str(BUILD / "lib" / "libnvrtc.so.13"))


@cache
def _nvvm() -> ctypes.CDLL:
    return ctypes.CDLL(str(TOOLKIT / "lib" / "libnvvm.so.4"))


def _text(size: Callable[..., int], get: Callable[..., int], program: ctypes.c_void_p) -> str:
    count = ctypes.c_size_t()
    size(program, ctypes.byref(count))
    buffer = ctypes.create_string_buffer(max(count.value, 1))
    get(program, buffer)
    return buffer.value.decode()


def _strings(options: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(options))(*[option.encode() for option in options])


def cuda_c(source: str, arch: int, options: Sequence[str] = ()) -> str:
    """PTX of CUDA C by NVRTC."""
    library, program = _nvrtc(), ctypes.c_void_p()
    created = library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"foreign.cu", 0, None, None)
    assert created == 0, f"nvrtcCreateProgram: {created}"
    try:
        every = [f"--gpu-architecture=compute_{arch}", *INCLUDES, "--std=c++17", *options]
        if library.nvrtcCompileProgram(program, len(every), _strings(every)) != 0:
            raise Refused(_text(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program))
        return _text(library.nvrtcGetPTXSize, library.nvrtcGetPTX, program)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def llvm_ir(source: str, arch: int, options: Sequence[str] = ()) -> str:
    """PTX of LLVM IR by libNVVM, with NVIDIA's library of device functions at hand."""
    library, program = _nvvm(), ctypes.c_void_p()
    assert library.nvvmCreateProgram(ctypes.byref(program)) == 0
    try:
        text, functions = source.encode(), (TOOLKIT / "nvvm" / "libdevice" / "libdevice.10.bc").read_bytes()
        library.nvvmAddModuleToProgram(program, text, ctypes.c_size_t(len(text)), b"foreign.ll")
        library.nvvmLazyAddModuleToProgram(program, functions, ctypes.c_size_t(len(functions)), b"libdevice")
        every = [f"-arch=compute_{arch}", *options]
        if library.nvvmCompileProgram(program, len(every), _strings(every)) != 0:
            raise Refused(_text(library.nvvmGetProgramLogSize, library.nvvmGetProgramLog, program))
        return _text(library.nvvmGetCompiledResultSize, library.nvvmGetCompiledResult, program)
    finally:
        library.nvvmDestroyProgram(ctypes.byref(program))
