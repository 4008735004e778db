"""NVRTC, NVIDIA's compiler of CUDA C at run time, by ctypes: found where CUDA or its wheels put it, or said to be missing."""

from __future__ import annotations

import ctypes
import functools
import site
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from weft.errors import UnsupportedError

_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", "nvrtc64_130_0.dll", "nvrtc64_120_0.dll")
# Where NVIDIA's wheels put the library, and headers.
_FOLDERS = ("nvidia/cu13", "nvidia/cuda_nvrtc")


class CompileException(Exception):
    """NVRTC refuses a source: the message is its log."""

    def __init__(self, message: str, source: str, name: str, options: Sequence[str]) -> None:
        super().__init__(message)
        self.source, self.name, self.options = source, name, tuple(options)

    def get_message(self) -> str:
        """NVRTC's log."""
        return str(self)


def _wheels() -> Iterator[Path]:
    places = [sysconfig.get_path("purelib"), site.getusersitepackages(), *site.getsitepackages()]
    for place in dict.fromkeys(places):
        yield from (Path(place) / folder for folder in _FOLDERS)


@functools.cache
def library() -> ctypes.CDLL:
    """The library; UnsupportedError where there is none."""
    found = [path for folder in _wheels() for path in sorted((folder / "lib").glob("libnvrtc.so.*"))]
    for name in (*map(str, found), *_NAMES):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise UnsupportedError(
        "CUDA C++ is compiled by NVRTC, and no libnvrtc was found: install nvidia-cuda-nvrtc or the CUDA toolkit, or write the kernel in "
        "Python with weft.cuda.jit, which needs neither"
    )


def ptx(
    source: str, name: str, capability: tuple[int, int], options: Sequence[str], expressions: Sequence[str]
) -> tuple[bytes, dict[str, str]]:
    """The PTX of a source for a compute capability, and what C++ made of the names of expressions."""
    nvrtc, program = library(), ctypes.c_void_p()
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), f"{name}.cu".encode(), 0, None, None), "nvrtcCreateProgram")
    try:
        for expression in expressions:
            _check(nvrtc.nvrtcAddNameExpression(program, expression.encode()), "nvrtcAddNameExpression")
        every = [f"--gpu-architecture=compute_{capability[0]}{capability[1]}", *_includes(), *options]
        strings = (ctypes.c_char_p * len(every))(*(option.encode() for option in every))
        if nvrtc.nvrtcCompileProgram(program, len(every), strings) != 0:
            raise CompileException(_text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).decode(), source, name, every)
        lowered = {}
        for expression in expressions:
            made = ctypes.c_char_p()
            _check(nvrtc.nvrtcGetLoweredName(program, expression.encode(), ctypes.byref(made)), "nvrtcGetLoweredName")
            lowered[expression] = (made.value or b"").decode()
        return _text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program), lowered
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _includes() -> list[str]:
    return [f"--include-path={folder / 'include'}" for folder in _wheels() if (folder / "include").is_dir()]


def _check(code: int, call: str) -> None:
    if code != 0:
        raise RuntimeError(f"{call} failed with code {code}")


def _text(size: Callable[..., int], get: Callable[..., int], program: ctypes.c_void_p) -> bytes:
    count = ctypes.c_size_t()
    _check(size(program, ctypes.byref(count)), "NVRTC")
    buffer = ctypes.create_string_buffer(max(count.value, 1))
    _check(get(program, buffer), "NVRTC")
    return buffer.value
