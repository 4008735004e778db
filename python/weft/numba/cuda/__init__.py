"""`numba.cuda`: all of `weft.cuda`, and kernels whose numbers follow Numba's rules."""

from __future__ import annotations

from typing import Any

from weft import cuda as _cuda
from weft._decorators import in_numbas_dialect
from weft.cuda import *  # noqa: F403
from weft.cuda import __all__ as __all__

jit = in_numbas_dialect(_cuda.jit)
vectorize = in_numbas_dialect(_cuda.vectorize)
compile = in_numbas_dialect(_cuda.compile)
compile_all = in_numbas_dialect(_cuda.compile_all)
compile_for_current_device = in_numbas_dialect(_cuda.compile_for_current_device)
compile_ptx = in_numbas_dialect(_cuda.compile_ptx)
compile_ptx_for_current_device = in_numbas_dialect(_cuda.compile_ptx_for_current_device)


class Reduce(_cuda.Reduce):
    """A reduction by a plain function whose numbers follow Numba's rules."""

    _numba = True


reduce = Reduce


def __getattr__(name: str) -> Any:
    return getattr(_cuda, name)
