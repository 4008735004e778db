"""cuSOLVER: factorizations of stacks of matrices, systems, determinants, eigenvalues and singular values, in the arrays' own precision.

Its matrices are in column-major order. A Hermitian matrix in C's order is its own conjugate there, whose other triangle is read; a matrix
with fewer rows than columns is decomposed as its transpose; any other one is transposed when the copy is made that the library writes
over. Whether all went well is asked once for all matrices of a stack, when everything is under way: that is the only wait of a call.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import weft
from weft._weft import Device, _broadcast, _cast, _eval, _from_numpy, _reshape, _to_numpy, ndarray
from weft.arrays._common import broadcast_shape, real_dtype, select, u
from weft.arrays._compiled import on_hosts
from weft.arrays.shapes import matrix_transpose
from weft.errors import LibraryError
from weft.kernels.launching import launched
from weft.linalg._routines import LinAlgError

from . import calling, cublas, finding
from .calling import LETTERS, Operand, dense, format_of, new, stacked, written, zeros
from .signatures import HERMITIAN, ORTHOGONAL

_STATUSES = {
    1: "CUSOLVER_STATUS_NOT_INITIALIZED",
    2: "CUSOLVER_STATUS_ALLOC_FAILED",
    3: "CUSOLVER_STATUS_INVALID_VALUE",
    4: "CUSOLVER_STATUS_ARCH_MISMATCH",
    5: "CUSOLVER_STATUS_MAPPING_ERROR",
    6: "CUSOLVER_STATUS_EXECUTION_FAILED",
    7: "CUSOLVER_STATUS_INTERNAL_ERROR",
    8: "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
    9: "CUSOLVER_STATUS_NOT_SUPPORTED",
    10: "CUSOLVER_STATUS_ZERO_PIVOT",
    11: "CUSOLVER_STATUS_INVALID_LICENSE",
    31: "CUSOLVER_STATUS_INVALID_WORKSPACE",
}
_check = calling.checker("cuSOLVER", _STATUSES)

_LOWER, _UPPER = 0, 1
_PLAIN = 0
# Larger matrices keep the device busy one by one; of smaller ones a whole stack is given at once.
_SMALL = 512
# The largest matrices that Jacobi's methods take in stacks.
_TINY = 32
# So many bytes of the host's are kept from a call to the next.
_MOST_KEPT = 64 << 20
# Sizes of calls that have no 64-bit form.
_MOST = 2**31 - 1


@functools.cache
def _handles(device: Device) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
    """What calls on a device, which is the current one, begin with: its handle, and parameters that say nothing unusual."""
    library = finding.library("cusolver")
    handle = calling.made(library.cusolverDnCreate, _check, "cusolverDnCreate", device)
    _check(library.cusolverDnSetStream(handle, calling.stream(device)), "cusolverDnSetStream")
    return handle, calling.made(library.cusolverDnCreateParams, _check, "cusolverDnCreateParams", device)


def routine(name: str, arrays: Sequence[ndarray], like: Callable[..., Any]) -> tuple[ndarray, ...] | None:
    """What a routine gives, or None where there is no library, it has no such routine, or there is nothing to compute."""
    function = _ROUTINES.get(name)
    if function is None or arrays[0].dtype.char not in LETTERS or any(a.size == 0 or a.device != arrays[0].device for a in arrays):
        return None
    if finding.library("cusolver") is None or finding.library("cublas") is None:
        return None
    if any(n > _MOST for a in arrays for n in (*a.shape[-2:], math.prod(a.shape[:-2]))):
        return None
    return launched(function, *arrays, like=functools.partial(on_hosts, like))


def _call(device: Device, name: str, *args: Any) -> None:
    """A call of the library, with a device's handle."""
    _check(getattr(finding.library("cusolver"), name)(_handles(device)[0], *args), name)


def _call_generic(device: Device, name: str, *args: Any) -> None:
    """A call of the 64-bit interface."""
    _check(getattr(finding.library("cusolver"), name)(*_handles(device), *args), name)


_host_rooms: dict[Device, ctypes.Array[Any]] = {}


def _host_room(device: Device, size: int) -> ctypes.Array[Any]:
    """Memory of the host for a call on a device, kept up to some size: new one is zeroed page by page. The caller has the device's lock."""
    kept = _host_rooms.get(device)
    if kept is None or len(kept) < size:
        kept = ctypes.create_string_buffer(size)
        if size <= _MOST_KEPT:
            _host_rooms[device] = kept
    return kept


class _Room:
    """The workspaces of a call of the 64-bit interface, one for all matrices of a stack."""

    def __init__(self, device: Device, name: str, *args: Any) -> None:
        on_device, on_host = ctypes.c_size_t(), ctypes.c_size_t()
        _call_generic(device, f"{name}_bufferSize", *args, ctypes.byref(on_device), ctypes.byref(on_host))
        self.sizes = max(on_device.value, 1), max(on_host.value, 1)
        self.operand = Operand(new((self.sizes[0],), np.uint8, device))
        self.host = _host_room(device, self.sizes[1])

    def arguments(self) -> tuple[Any, ...]:
        return self.operand.address, self.sizes[0], self.host, self.sizes[1]


def _by_rows(columns: ndarray) -> ndarray:
    """A stack of matrices in C's order, of one in column-major order."""
    return dense(matrix_transpose(columns))


def _flags(count: int, device: Device) -> ndarray:
    """Where the library says of each matrix of a stack whether all went well; where it says nothing all did."""
    return zeros((count,), np.int32, device)


def _refuse_where(info: ndarray, words: str, *made: ndarray) -> None:
    """LinAlgError if the library says of a matrix of a stack that it could not do it. This waits for the device, which is given before what
    else is made of the results.

    What is below zero is no matter of the matrix: that is the number of an argument that the library does not take.
    """
    _eval([info, *made], False)
    found = _to_numpy(info)
    if (found < 0).any():
        raise LibraryError(f"argument {-int(found.min())} of a routine of cuSOLVER or cuBLAS is not valid")
    if found.any():
        raise LinAlgError(words)


def _valid(made: ndarray, info: ndarray) -> ndarray:
    """What the library made for each matrix of a stack; NaN where it did not take an argument, which nobody waits for."""
    wrong = _reshape(u("less", info, np.int32(0)), (info.size, *(1,) * (made.ndim - 1)))
    return select(wrong, made.dtype.type(np.nan), made)


def _without_others(a: ndarray) -> ndarray:
    """A copy as one stack with zeros in place of what is not finite, which iterations might not end with."""
    return stacked(dense(select(weft.isfinite(a), a, a.dtype.type(0))))


def _refused_unless_finite(a: ndarray, info: ndarray) -> ndarray:
    """What the library says of each matrix, or that none could be done if there is something in them that is not finite."""
    return select(weft.isfinite(a).all(), info, np.int32(1))


def _addresses(start: int, count: int, bytes: int, device: Device) -> Operand:
    """The addresses of a stack's matrices, on the device."""
    numbers = np.uint64(start) + np.arange(count, dtype=np.uint64) * np.uint64(bytes)
    return Operand(_from_numpy(numbers, device))


def _cholesky(a: ndarray, *, lower: bool) -> tuple[ndarray]:
    device, n, dtype = a.device, a.shape[-1], a.dtype
    # Of what the library sees it takes the lower triangle, in half the time of the upper one. That is the upper one in C's order: for the
    # lower one matrices are transposed on the way there and back.
    factor = stacked(dense(matrix_transpose(a) if lower else a))
    count, bytes = factor.shape[0], n * n * dtype.itemsize
    info, matrix = _flags(count, device), format_of(dtype)

    def call(at: int, flags: int) -> None:
        if count > 1 and n <= _SMALL:
            listed = _addresses(at, count, bytes, device)
            _call(device, f"cusolverDn{LETTERS[dtype.char]}potrfBatched", _LOWER, n, listed.address, n, flags, count)
            return
        room = _Room(device, "cusolverDnXpotrf", _LOWER, n, matrix, at, n, matrix)
        for i in range(count):
            place = (matrix, at + i * bytes, n, matrix)
            _call_generic(device, "cusolverDnXpotrf", _LOWER, n, *place, *room.arguments(), flags + 4 * i)

    written(device, [factor, info], call)
    # A NaN is no pivot that is too small, which is what the library looks for.
    diagonal, flags = weft.real(weft.diagonal(factor, axis1=-2, axis2=-1)), info[:, None]
    unsound = select(u("greater", diagonal, diagonal.dtype.type(0)), np.int32(0), np.int32(1))
    kept = _reshape(dense(weft.tril(matrix_transpose(factor))) if lower else weft.triu(factor), a.shape)
    _refuse_where(select(u("equal", flags, np.int32(0)), unsound, flags).max(axis=-1), "Matrix is not positive definite", kept)
    return (kept,)


class _Lu:
    """LU factors of a stack of matrices, and what solves with them."""

    def __init__(self, a: ndarray) -> None:
        self.device, self.n, self.dtype = a.device, a.shape[-1], a.dtype
        # By columns.
        self.factors = stacked(dense(matrix_transpose(a)))
        self.count = self.factors.shape[0]
        self.together = self.count > 1 and self.n <= _SMALL
        self.pivots = new((self.count, self.n), np.int32 if self.together else np.int64, self.device)
        # What is said of the factors, and of the solutions where the library says something of each.
        self.said = zeros((1 if self.together else 2, self.count), np.int32, self.device)
        written(self.device, [self.factors, self.pivots, self.said], self._factor)

    def _bytes(self, columns: int) -> int:
        return self.n * columns * self.dtype.itemsize

    def _factor(self, at: int, pivots: int, info: int) -> None:
        n, device, matrix = self.n, self.device, format_of(self.dtype)
        if self.together:
            listed = _addresses(at, self.count, self._bytes(n), device)
            name = f"cublas{LETTERS[self.dtype.char]}getrfBatched"
            args = (n, listed.address, n, pivots, info, self.count)
            cublas.check(getattr(finding.library("cublas"), name)(cublas.handle(device), *args), name)
            return
        room = _Room(device, "cusolverDnXgetrf", n, n, matrix, at, n, matrix)
        for i in range(self.count):
            place = (matrix, at + i * self._bytes(n), n, pivots + 8 * n * i, matrix)
            _call_generic(device, "cusolverDnXgetrf", n, n, *place, *room.arguments(), info + 4 * i)

    def solve(self, b: ndarray) -> ndarray:
        """The solutions for a stack of right-hand sides, as many as there are matrices; LinAlgError for singular matrices."""
        sides = stacked(dense(matrix_transpose(b)))
        factors, pivots = Operand(self.factors), Operand(self.pivots)
        columns, n, device, matrix = b.shape[-1], self.n, self.device, format_of(self.dtype)

        def call(at: int, info: int) -> None:
            if self.together:
                lists = [
                    _addresses(start, self.count, self._bytes(width), device) for start, width in ((factors.address, n), (at, columns))
                ]
                wrong = ctypes.c_int()
                name = f"cublas{LETTERS[self.dtype.char]}getrsBatched"
                args = (_PLAIN, n, columns, lists[0].address, n, pivots.address, lists[1].address, n, ctypes.byref(wrong), self.count)
                cublas.check(getattr(finding.library("cublas"), name)(cublas.handle(device), *args), name)
                if wrong.value < 0:
                    raise LibraryError(f"{name}: argument {-wrong.value} is not valid")
                return
            for i in range(self.count):
                place = (matrix, factors.address + i * self._bytes(n), n, pivots.address + 8 * n * i)
                side = (matrix, at + i * self._bytes(columns), n, info + 4 * (self.count + i))
                _call_generic(device, "cusolverDnXgetrs", _PLAIN, n, columns, *place, *side)

        written(device, [sides, self.said], call)
        made = _by_rows(sides)
        _refuse_where(self.said, "Singular matrix", made)
        return made


def _solve(a: ndarray, b: ndarray) -> tuple[ndarray]:
    front = broadcast_shape(a.shape[:-2], b.shape[:-2])
    a, b = (_broadcast(x, (*front, *x.shape[-2:])) for x in (a, b))
    return (_reshape(_Lu(a).solve(b), b.shape),)


def _inv(a: ndarray) -> tuple[ndarray]:
    identity = weft.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    return _solve(a, _broadcast(identity, a.shape))


def _slogdet(a: ndarray) -> tuple[ndarray, ndarray]:
    """As NumPy has it: the signs of the pivots and of their order, and the sum of the logarithms of their sizes."""
    found = _Lu(a)
    one = a.dtype.type(1)
    pivots = weft.diagonal(found.factors, axis1=-2, axis2=-1)
    sizes = u("absolute", pivots)
    if a.dtype.kind == "c":
        signs = u("divide", pivots, _cast(sizes, a.dtype))
    else:
        signs = select(u("less", pivots, a.dtype.type(0)), -one, one)
    in_place = _cast(weft.arange(1, found.n + 1, device=a.device), found.pivots.dtype)
    order = select(u("equal", found.pivots, in_place), one, -one)
    sign = u("multiply", signs.prod(axis=-1), order.prod(axis=-1))
    logarithm = u("log", sizes).sum(axis=-1)
    info = found.said[0]
    singular = u("greater", info, np.int32(0))
    sign = select(singular, a.dtype.type(0), sign)
    logarithm = select(singular, -logarithm.dtype.type(np.inf), logarithm)
    sign, logarithm = _valid(sign, info), _valid(logarithm, info)
    return _reshape(sign, a.shape[:-2]), _reshape(logarithm, a.shape[:-2])


def _det(a: ndarray) -> tuple[ndarray]:
    sign, logarithm = _slogdet(a)
    return (u("multiply", sign, _cast(u("exp", logarithm), a.dtype)),)


def _reflections(a: ndarray) -> tuple[ndarray, ndarray]:
    """What LAPACK's geqrf gives, by columns: a stack (count, n, m), and the scales (count, k)."""
    device, dtype, (m, n) = a.device, a.dtype, a.shape[-2:]
    found = stacked(dense(matrix_transpose(a)))
    count, k, matrix = found.shape[0], min(m, n), format_of(dtype)
    scales, info = new((count, k), dtype, device), _flags(count, device)

    def call(at: int, to: int, flags: int) -> None:
        room = _Room(device, "cusolverDnXgeqrf", m, n, matrix, at, m, matrix, to, matrix)
        for i in range(count):
            place = (matrix, at + i * m * n * dtype.itemsize, m, matrix, to + i * k * dtype.itemsize, matrix)
            _call_generic(device, "cusolverDnXgeqrf", m, n, *place, *room.arguments(), flags + 4 * i)

    written(device, [found, scales, info], call)
    return _valid(found, info), _valid(scales, info)


def _columns(found: ndarray, scales: ndarray, width: int) -> ndarray:
    """The first columns of Q as rows (count, width, m), from what `_reflections` gives."""
    device, dtype, (count, n, m) = found.device, found.dtype, found.shape
    k = min(m, n)
    if width > n:
        room = zeros((count, width - n, m), dtype, device)
        rows = dense(weft.concatenate([found, room], axis=1))
    else:
        rows = dense(found[:, :width])
    given = Operand(scales)
    info = _flags(count, device)
    name = f"cusolverDn{ORTHOGONAL[LETTERS[dtype.char]]}"

    def call(at: int, flags: int) -> None:
        size = ctypes.c_int()
        _call(device, f"{name}_bufferSize", m, width, k, at, m, given.address, ctypes.byref(size))
        work = Operand(new((max(size.value, 1),), dtype, device))
        for i in range(count):
            place = (at + i * width * m * dtype.itemsize, m, given.address + i * k * dtype.itemsize)
            _call(device, name, m, width, k, *place, work.address, size.value, flags + 4 * i)

    written(device, [rows, info], call)
    return _valid(rows, info)


def _triangle(found: ndarray, rows: int) -> ndarray:
    return weft.triu(matrix_transpose(found)[:, :rows])


def _qr_triangle(a: ndarray) -> tuple[ndarray]:
    found, _ = _reflections(a)
    r = _triangle(found, min(a.shape[-2:]))
    return (_reshape(r, (*a.shape[:-2], *r.shape[-2:])),)


def _qr_raw(a: ndarray) -> tuple[ndarray, ndarray]:
    found, scales = _reflections(a)
    return _reshape(found, (*a.shape[:-2], *found.shape[-2:])), _reshape(scales, (*a.shape[:-2], scales.shape[-1]))


def _qr(a: ndarray, *, complete: bool) -> tuple[ndarray, ndarray]:
    found, scales = _reflections(a)
    width = a.shape[-2] if complete else min(a.shape[-2:])
    # The columns of Q are made from a copy of the reflections, which the triangle lies beside.
    q, r = _by_rows(_columns(found, scales, width)), _triangle(found, width)
    return tuple(_reshape(x, (*a.shape[:-2], *x.shape[-2:])) for x in (q, r))


@functools.cache
def _jacobi(device: Device, name: str) -> ctypes.c_void_p:
    """What says how precise Jacobi's methods are to be: as they are if nothing is said."""
    return calling.made(getattr(finding.library("cusolver"), name), _check, name, device)


def _at_once(device: Device, name: str, params: str, dtype: np.dtype, args: tuple[Any, ...], flags: int, count: int) -> None:
    """A call of one of Jacobi's methods, for a whole stack of small matrices."""
    size, how = ctypes.c_int(), _jacobi(device, params)
    _call(device, f"{name}_bufferSize", *args, ctypes.byref(size), how, count)
    work = Operand(new((max(size.value, 1),), dtype, device))
    _call(device, name, *args, work.address, size.value, flags, how, count)


def _eigh(a: ndarray, *, lower: bool, vectors: bool) -> tuple[ndarray, ...]:
    device, dtype, n = a.device, a.dtype, a.shape[-1]
    found = _without_others(a)
    count, matrix, real = found.shape[0], format_of(dtype), real_dtype(dtype)
    values, info = new((count, n), real, device), _flags(count, device)
    job, triangle = int(vectors), _UPPER if lower else _LOWER

    def call(at: int, to: int, flags: int) -> None:
        if count > 1 and n <= _TINY:
            name = f"cusolverDn{HERMITIAN[LETTERS[dtype.char]]}"
            _at_once(device, name, "cusolverDnCreateSyevjInfo", dtype, (job, triangle, n, at, n, to), flags, count)
            return
        room = _Room(device, "cusolverDnXsyevd", job, triangle, n, matrix, at, n, format_of(real), to, matrix)
        for i in range(count):
            place = (matrix, at + i * n * n * dtype.itemsize, n, format_of(real), to + i * n * real.itemsize, matrix)
            _call_generic(device, "cusolverDnXsyevd", job, triangle, n, *place, *room.arguments(), flags + 4 * i)

    written(device, [found, values, info], call)
    # Of the other triangle nothing is read.
    info = _refused_unless_finite(weft.tril(a) if lower else weft.triu(a), info)
    made = [_reshape(values, a.shape[:-1])]
    if vectors:
        columns = _reshape(_by_rows(found), a.shape)
        # What was decomposed is the conjugate.
        made.append(u("conjugate", columns) if dtype.kind == "c" else columns)
    _refuse_where(info, "Eigenvalues did not converge", *made)
    return tuple(made)


def _svd(a: ndarray, *, job: str) -> tuple[ndarray, ...]:
    shape = a.shape
    # Of what is wider than tall the transpose is decomposed, as which it lies.
    wide = shape[-2] < shape[-1]
    found = _without_others(a if wide else matrix_transpose(a))
    count, n, m = found.shape
    values, info = new((count, n), real_dtype(a.dtype), a.device), _flags(count, a.device)
    if count > 1 and m <= _TINY:
        left, right = _small_svd(found, values, info, job)
    else:
        left, right = _large_svd(found, values, info, job)
    made = [_reshape(values, (*shape[:-2], n))]
    if job != "N":
        # Both by columns: read in C's order they are the transposes, which is what the transpose's decomposition needs, exchanged.
        first, second = (right, left) if wide else (_by_rows(left), _by_rows(right))
        first, second = (_reshape(x, (*shape[:-2], *x.shape[-2:])) for x in (first, second))
        made = [first, *made, second]
    _refuse_where(_refused_unless_finite(a, info), "SVD did not converge", *made)
    return tuple(made)


def _small_svd(found: ndarray, values: ndarray, info: ndarray, job: str) -> tuple[ndarray, ndarray]:
    """Left vectors, and the adjoint of the right ones, by columns, of a stack of small matrices by columns."""
    device, dtype, (count, n, m) = found.device, found.dtype, found.shape
    left, right = new((count, m, m), dtype, device), new((count, n, n), dtype, device)
    name = f"cusolverDn{LETTERS[dtype.char]}gesvdjBatched"

    def call(at: int, to: int, u_at: int, v_at: int, flags: int) -> None:
        args = (int(job != "N"), m, n, at, m, to, u_at, m, v_at, n)
        _at_once(device, name, "cusolverDnCreateGesvdjInfo", dtype, args, flags, count)

    written(device, [found, values, left, right, info], call)
    # Here the right vectors are columns themselves.
    adjoint = _by_rows(right)
    adjoint = u("conjugate", adjoint) if dtype.kind == "c" else adjoint
    return left if job == "A" else dense(left[:, :n]), adjoint


def _large_svd(found: ndarray, values: ndarray, info: ndarray, job: str) -> tuple[ndarray, ndarray]:
    """The same of a stack of any matrices, one after the other."""
    device, dtype, real, (count, n, m) = found.device, found.dtype, values.dtype, found.shape
    matrix, size = format_of(dtype), dtype.itemsize
    width = 0 if job == "N" else m if job == "A" else n
    left, right = new((count, max(width, 1), m), dtype, device), new((count, n if width else 1, n), dtype, device)
    jobs = (ord(job), ord(job), m, n)

    def places(at: int, to: int, u_at: int, v_at: int) -> tuple[Any, ...]:
        return (matrix, at, m, format_of(real), to, matrix, u_at, m, matrix, v_at, n, matrix)

    def call(at: int, to: int, u_at: int, v_at: int, flags: int) -> None:
        room = _Room(device, "cusolverDnXgesvd", *jobs, *places(at, to, u_at, v_at))
        for i in range(count):
            sides = (u_at + i * width * m * size, v_at + i * n * n * size) if width else (u_at, v_at)
            one = places(at + i * m * n * size, to + i * n * real.itemsize, *sides)
            _call_generic(device, "cusolverDnXgesvd", *jobs, *one, *room.arguments(), flags + 4 * i)

    written(device, [found, values, left, right, info], call)
    return left, right


_ROUTINES: dict[str, Callable[..., tuple[ndarray, ...]]] = {
    "cholesky_lower": functools.partial(_cholesky, lower=True),
    "cholesky_upper": functools.partial(_cholesky, lower=False),
    "solve": _solve,
    "inv": _inv,
    "det": _det,
    "slogdet": _slogdet,
    "qr_triangle": _qr_triangle,
    "qr_raw": _qr_raw,
    "qr_reduced": functools.partial(_qr, complete=False),
    "qr_complete": functools.partial(_qr, complete=True),
    "eigh_lower": functools.partial(_eigh, lower=True, vectors=True),
    "eigh_upper": functools.partial(_eigh, lower=False, vectors=True),
    "eigvalsh_lower": functools.partial(_eigh, lower=True, vectors=False),
    "eigvalsh_upper": functools.partial(_eigh, lower=False, vectors=False),
    "svd_values": functools.partial(_svd, job="N"),
    "svd_reduced": functools.partial(_svd, job="S"),
    "svd_full": functools.partial(_svd, job="A"),
}
