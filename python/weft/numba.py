"""Numba's face: ``import weft.numba as numba`` runs code written for Numba."""

from weft import cuda, errors, types
from weft import jit as jit
from weft import njit as njit
from weft import prange as prange
from weft import vectorize as vectorize
from weft._weft import __version__, get_num_threads, set_num_threads
from weft.types import (
    b1,
    bool_,
    boolean,
    byte,
    c8,
    c16,
    char,
    complex64,
    complex128,
    double,
    f4,
    f8,
    float32,
    float64,
    float_,
    i1,
    i2,
    i4,
    i8,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    intp,
    long_,
    longlong,
    none,
    short,
    u1,
    u2,
    u4,
    u8,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulonglong,
    ushort,
    void,
)

__all__ = [
    "__version__", "b1", "bool_", "boolean", "byte", "c8", "c16", "char", "complex64", "complex128", "cuda", "double", "errors",
    "f4", "f8", "float32", "float64", "float_", "get_num_threads", "i1", "i2", "i4", "i8", "int8", "int16", "int32", "int64",
    "int_", "intc", "intp", "jit", "long_", "longlong", "njit", "none", "prange", "set_num_threads", "short", "types", "typeof",
    "u1", "u2", "u4", "u8", "uint", "uint8", "uint16", "uint32", "uint64", "uintc", "uintp", "ulonglong", "ushort", "vectorize",
    "void",
]  # fmt: skip


def typeof(value: object) -> types.Type:
    """The type that an argument would be compiled for."""
    from weft import _weft

    return types.from_spec(_weft.typeof(value))
