"""What stands in for CuPy in a dry run: NumPy, as far as the two are the same.

An `ElementwiseKernel` is compiled as C++ around its body, with CuPy's own names for what the body may use, and run element by element.
Whatever is not here, NumPy has not either, or not in the same sense: using it is an error.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy import (  # noqa: F401
    abs,
    argmax,
    argsort,
    array,
    asarray,
    bincount,
    copyto,
    cumsum,
    fft,
    linalg,
    matmul,
    searchsorted,
    sin,
    sort,
    sqrt,
    sum,
    unique,
    zeros,
    zeros_like,
)

asnumpy = np.array
cuda = SimpleNamespace(Device=lambda: SimpleNamespace(synchronize=lambda: None))
COMPILERS = ("clang++-22", "clang++", "g++", "c++")
C_NAMES = {"float32": "float", "float64": "double", "int32": "int", "uint16": "unsigned short"}


def get_default_memory_pool() -> Any:
    """One that has nothing to give back."""
    return SimpleNamespace(free_all_blocks=lambda: None)


class ElementwiseKernel:
    """`body` for each element of the outputs, over which the inputs are broadcast."""

    def __init__(self, inputs: str, outputs: str, body: str, name: str) -> None:
        self.inputs, self.outputs = ([tuple(one.split()) for one in text.split(",")] for text in (inputs, outputs))
        self.body, self.name, self._run = body, name, None

    def __call__(self, *arguments: Any) -> None:
        """Takes inputs, then outputs."""
        outputs = arguments[len(self.inputs) :]
        assert len(outputs) == len(self.outputs), "an output is missing"
        given = [np.broadcast_to(np.asarray(v, t), outputs[0].shape) for v, (t, _) in zip(arguments, self.inputs, strict=False)]
        held = [np.ascontiguousarray(v) for v in given]
        for out, (dtype, name) in zip(outputs, self.outputs, strict=True):
            assert out.dtype == dtype and out.flags.c_contiguous, name
        self._run = self._run or self._compile()
        self._run(ctypes.c_ssize_t(outputs[0].size), *(ctypes.c_void_p(v.ctypes.data) for v in (*held, *outputs)))

    def _compile(self) -> Any:
        compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
        if compiler is None:
            raise NotImplementedError(f"a dry run of a CuPy kernel needs one of {', '.join(COMPILERS)}")
        both = [(t, n, "const ") for t, n in self.inputs] + [(t, n, "") for t, n in self.outputs]
        parameters = ", ".join(f"{const}{C_NAMES[dtype]} *_{name}" for dtype, name, const in both)
        elements = " ".join(f"{const}{C_NAMES[dtype]} &{name} = _{name}[i];" for dtype, name, const in both)
        text = (
            f'#include <cmath>\n#include <cstddef>\nusing namespace std;\nextern "C" void {self.name}(ptrdiff_t n, {parameters})\n'
            f"{{ for (ptrdiff_t i = 0; i < n; i++) {{ {elements} {self.body}; }} }}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "kernel.cpp"), Path(folder, "kernel.so")
            source.write_text(text)
            subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], check=True, capture_output=True)
            return getattr(ctypes.CDLL(str(library)), self.name)
