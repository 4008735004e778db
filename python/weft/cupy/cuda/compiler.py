"""`cupy.cuda.compiler`: what NVRTC's refusals are."""

from weft.cupy._nvrtc import CompileException

__all__ = ["CompileException"]
