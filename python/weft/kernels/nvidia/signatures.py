"""The calls of NVIDIA's libraries that Weft makes, with the types of their arguments: those of CUDA 12 and 13.

Addresses on devices are 64-bit numbers here; what is a pointer lies in the host's memory.
"""

from __future__ import annotations

import ctypes

_int, _long, _address, _pointer, _size = ctypes.c_int, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t

_Types = list[type]

# An operand of a product: its address, format and leading dimension.
_OPERAND: _Types = [_address, _int, _long]
_SHAPE: _Types = [_pointer, _int, _int, _long, _long, _long, _pointer]
_ROOM: _Types = [_address, _size, _pointer, _size, _address]
_SIZES: _Types = [_pointer, _pointer]

_CUBLAS: dict[str, _Types] = {
    "cublasCreate_v2": [_pointer],
    "cublasSetStream_v2": [_pointer, _pointer],
    "cublasSetMathMode": [_pointer, _int],
    "cublasGemmEx_64": [*_SHAPE, *_OPERAND, *_OPERAND, _pointer, *_OPERAND, _int, _int],
    "cublasGemmStridedBatchedEx_64": [*_SHAPE, *_OPERAND, _long, *_OPERAND, _long, _pointer, *_OPERAND, _long, _long, _int, _int],
    "cublasGemmBatchedEx_64": [*_SHAPE, *_OPERAND, *_OPERAND, _pointer, *_OPERAND, _long, _int, _int],
    **{f"cublas{letter}getrfBatched": [_pointer, _int, _address, _int, _address, _address, _int] for letter in "SDCZ"},
    **{
        f"cublas{letter}getrsBatched": [_pointer, _int, _int, _int, _address, _int, _address, _address, _int, _pointer, _int]
        for letter in "SDCZ"
    },
}

# What calls of the 64-bit interface begin with, and how they name a matrix: its format, address and leading dimension.
_SOLVER: _Types = [_pointer, _pointer]
_MATRIX: _Types = [_int, _address, _long]
_VECTOR: _Types = [_int, _address]
_GESVD: _Types = [*_SOLVER, ctypes.c_byte, ctypes.c_byte, _long, _long, *_MATRIX, *_VECTOR, *_MATRIX, *_MATRIX, _int]
_SYEVD: _Types = [*_SOLVER, _int, _int, _long, *_MATRIX, *_VECTOR, _int]
_GEQRF: _Types = [*_SOLVER, _long, _long, *_MATRIX, *_VECTOR, _int]
_POTRF: _Types = [*_SOLVER, _int, _long, *_MATRIX, _int]
_ORGQR: _Types = [_pointer, _int, _int, _int, _address, _int, _address]
_EVJ: _Types = [_pointer, _int, _int, _int, _address, _int, _address]
_SVDJ: _Types = [_pointer, _int, _int, _int, _address, _int, _address, _address, _int, _address, _int]
# That for eigenvalues of stacks, by the letter of a dtype.
HERMITIAN = {"S": "SsyevjBatched", "D": "DsyevjBatched", "C": "CheevjBatched", "Z": "ZheevjBatched"}
# The routine for the columns of Q.
ORTHOGONAL = {"S": "Sorgqr", "D": "Dorgqr", "C": "Cungqr", "Z": "Zungqr"}

_CUSOLVER: dict[str, _Types] = {
    "cusolverDnCreate": [_pointer],
    "cusolverDnSetStream": [_pointer, _pointer],
    "cusolverDnCreateParams": [_pointer],
    "cusolverDnXpotrf_bufferSize": [*_POTRF, *_SIZES],
    "cusolverDnXpotrf": [*_POTRF, *_ROOM],
    "cusolverDnXgetrf_bufferSize": [*_SOLVER, _long, _long, *_MATRIX, _int, *_SIZES],
    "cusolverDnXgetrf": [*_SOLVER, _long, _long, *_MATRIX, _address, _int, *_ROOM],
    "cusolverDnXgetrs": [*_SOLVER, _int, _long, _long, *_MATRIX, _address, *_MATRIX, _address],
    "cusolverDnXgeqrf_bufferSize": [*_GEQRF, *_SIZES],
    "cusolverDnXgeqrf": [*_GEQRF, *_ROOM],
    "cusolverDnXsyevd_bufferSize": [*_SYEVD, *_SIZES],
    "cusolverDnXsyevd": [*_SYEVD, *_ROOM],
    "cusolverDnXgesvd_bufferSize": [*_GESVD, *_SIZES],
    "cusolverDnXgesvd": [*_GESVD, *_ROOM],
    **{f"cusolverDn{each}_bufferSize": [*_ORGQR, _pointer] for each in ORTHOGONAL.values()},
    **{f"cusolverDn{each}": [*_ORGQR, _address, _int, _address] for each in ORTHOGONAL.values()},
    "cusolverDnCreateSyevjInfo": [_pointer],
    "cusolverDnCreateGesvdjInfo": [_pointer],
    **{f"cusolverDn{each}_bufferSize": [*_EVJ, _pointer, _pointer, _int] for each in HERMITIAN.values()},
    **{f"cusolverDn{each}": [*_EVJ, _address, _int, _address, _pointer, _int] for each in HERMITIAN.values()},
    **{f"cusolverDn{letter}gesvdjBatched_bufferSize": [*_SVDJ, _pointer, _pointer, _int] for letter in "SDCZ"},
    **{f"cusolverDn{letter}gesvdjBatched": [*_SVDJ, _address, _int, _address, _pointer, _int] for letter in "SDCZ"},
    **{f"cusolverDn{letter}potrfBatched": [_pointer, _int, _int, _address, _int, _address, _int] for letter in "SDCZ"},
}

_LONGS = ctypes.POINTER(ctypes.c_longlong)

_CUFFT: dict[str, _Types] = {
    "cufftCreate": [_pointer],
    "cufftDestroy": [_int],
    "cufftSetStream": [_int, _pointer],
    "cufftSetAutoAllocation": [_int, _int],
    "cufftSetWorkArea": [_int, _address],
    "cufftMakePlanMany64": [_int, _int, _LONGS, _LONGS, _long, _long, _LONGS, _long, _long, _int, _long, _pointer],
    **{f"cufftExec{kind}": [_int, _address, _address, _int] for kind in ("C2C", "Z2Z")},
    **{f"cufftExec{kind}": [_int, _address, _address] for kind in ("R2C", "D2Z", "C2R", "Z2D")},
}

_LIBRARIES = {"cublas": _CUBLAS, "cusolver": _CUSOLVER, "cufft": _CUFFT}


def typed(name: str, library: ctypes.CDLL) -> ctypes.CDLL | None:
    """The library with its calls' types, or None if it lacks one of them."""
    for call, types in _LIBRARIES[name].items():
        function = getattr(library, call, None)
        if function is None:
            return None
        function.argtypes, function.restype = types, _int
    return library
