"""The classes of sparse matrices, and what is done with them. Their elements are weft arrays; what is done is done at once."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.arrays._compiled import on_hosts
from weft.arrays.creation import asarrays
from weft.errors import UnsupportedError
from weft.kernels.launching import launched
from weft.scipy.sparse import loops
from weft.scipy.sparse.checking import Triples, as_asked, checked, checked_rows, index_dtype, shape_of


class spmatrix:
    """What the formats share. `*` and `@` are products of matrices, as of SciPy's `spmatrix`; a number scales."""

    ndim = 2
    format = ""
    # `weft.cupy.get_array_module` knows a sparse matrix by it, and NumPy's and Weft's arrays leave operators to it.
    _weft_array_ = True
    __array_ufunc__ = None
    __array_priority__ = 2000.0
    # Whether it is known that no place has several elements; indices do not change but by a method's new ones.
    _once = False

    def __init__(self, shape: tuple[int, int], data: ndarray) -> None:
        if data.dtype.name in ("float16", "bfloat16"):
            raise UnsupportedError(f"sparse matrices have no elements of {data.dtype.name}")
        self._shape = shape
        self._data = data

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self._shape

    @property
    def data(self) -> ndarray:
        """The elements that are stored, which others of the same number and dtype may replace."""
        return self._data

    @data.setter
    def data(self, data: ndarray) -> None:
        if not isinstance(data, ndarray) or data.shape != self._data.shape or data.dtype != self._data.dtype:
            raise ValueError(f"data is a weft array of shape {self._data.shape} and dtype {self._data.dtype}, as many elements as before")
        self._data = data

    def __eq__(self, other: object) -> Any:
        """Refused: the elements of sparse matrices are not compared."""
        raise UnsupportedError("sparse matrices are not compared: compare those that todense() gives, or `data` and `indices`")

    __ne__ = __eq__
    __hash__ = object.__hash__

    # What each format has.

    def tocsr(self, copy: bool = False) -> csr_matrix:
        """The matrix by rows."""
        raise NotImplementedError

    def tocoo(self, copy: bool = False) -> coo_matrix:
        """The matrix as triples."""
        raise NotImplementedError

    def transpose(self, axes: Any = None, copy: bool = False) -> spmatrix:
        """The matrix with rows for columns."""
        raise NotImplementedError

    def _with(self, data: ndarray) -> spmatrix:
        """The matrix with other elements at the same places."""
        raise NotImplementedError

    def _as_known(self, made: Any) -> Any:
        """A matrix whose elements are at the same places, or at those turned, of which as much is known."""
        made._once = self._once
        return made

    def _merged(self) -> spmatrix:
        """The matrix with one element for each place, as what is not linear has to take them."""
        raise NotImplementedError

    # What follows.

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self.data.dtype

    @property
    def device(self) -> Any:
        """Where the elements are."""
        return self.data.device

    @property
    def nnz(self) -> int:
        """How many elements are stored, zeros among them."""
        return self.data.size

    @property
    def T(self) -> spmatrix:
        """The matrix with rows for columns."""
        return self.transpose()

    def tocsc(self, copy: bool = False) -> csc_matrix:
        """The matrix by columns."""
        return csc_matrix._of(self.transpose().tocsr(), self.shape)

    def asformat(self, format: str | None, copy: bool = False) -> spmatrix:
        """The matrix in a format: "csr", "csc" or "coo"."""
        if format is None or format == self.format:
            return self.copy() if copy else self
        if format not in ("csr", "csc", "coo"):
            raise UnsupportedError(f"the formats of sparse matrices are csr, csc and coo, not {format}")
        return getattr(self, f"to{format}")()

    def toarray(self, order: Any = None, out: Any = None) -> ndarray:
        """An array with all elements."""
        if order not in (None, "C") or out is not None:
            raise UnsupportedError("toarray: `order` and `out` are not taken")
        return self._spread(self.dtype)

    def _spread(self, kind: np.dtype) -> ndarray:
        """An array with all elements, those of one place added up in a dtype."""
        row, column, data = self._triples()
        made = weft.zeros(self.shape, kind, device=self.device)
        if data.size:
            weft.add.at(made, (row, column), data.astype(kind, copy=False))
        return made

    todense = toarray

    def get(self, stream: Any = None) -> Any:
        """SciPy's matrix of the same format, on the host."""
        import scipy.sparse

        if stream is not None:
            stream.synchronize()
        row, column, data = (weft.asnumpy(each, copy=True) for each in self._triples())
        return scipy.sparse.coo_matrix((data, (row, column)), shape=self.shape).asformat(self.format)

    def _triples(self) -> Triples:
        found = self.tocoo()
        return found.row, found.col, found.data

    def copy(self) -> spmatrix:
        """A matrix with memory of its own."""
        return self._with(weft.copy(self.data))

    def astype(self, dtype: Any, copy: bool = True) -> spmatrix:
        """The elements as another dtype, in which those of one place are added up, as SciPy does."""
        if np.dtype(dtype) == self.dtype:
            return self.copy() if copy else self
        return self._with(self.data.astype(dtype))._merged()

    def conj(self, copy: bool = True) -> spmatrix:
        """The elements' conjugates."""
        if self.dtype.kind == "c":
            return self._with(weft.conj(self.data))
        return self.copy() if copy else self

    conjugate = conj

    def getH(self) -> spmatrix:
        """The conjugates with rows for columns."""
        return self.conj().transpose()

    H = property(getH)

    def diagonal(self, k: int = 0) -> ndarray:
        """The elements of a diagonal."""
        rows, columns = self.shape
        if k <= -rows or k >= columns:
            return weft.zeros(0, self.dtype)
        row, column, data = self._triples()
        made = weft.zeros(min(rows + min(k, 0), columns - max(k, 0)), self.dtype, device=self.device)
        weft.add.at(made, weft.minimum(row, column)[column - row == k], data[column - row == k])
        return made

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
        """The sum of all elements, or of those of each column (0) or row (1), as a matrix of one row or column."""
        if out is not None:
            raise UnsupportedError("sum of a sparse matrix: `out` is not taken")
        # What elements of one place add up to is of their dtype for the sum of all, and of that of sums for others: so it is in SciPy.
        kind = weft.sum(self.data[:0]).dtype
        if axis is None:
            alike = self.dtype == kind == np.dtype(dtype or kind)
            return weft.sum(self.data if alike else self._merged().data, dtype=dtype)
        along = operator.index(axis)
        if not -2 <= along < 2:
            raise ValueError("axis out of range")
        row, column, data = self._triples()
        made = weft.zeros(self.shape[1 - along % 2], kind, device=self.device)
        weft.add.at(made, column if along % 2 == 0 else row, data.astype(kind, copy=False))
        made = made.astype(kind if dtype is None else dtype, copy=False)
        return made[None] if along % 2 == 0 else made[:, None]

    def multiply(self, other: Any) -> spmatrix:
        """The products with a number, or element by element with an array of the matrix' shape."""
        if _is_number(other):
            return self._with(self.data * other)
        if isinstance(other, spmatrix):
            raise UnsupportedError("multiply: products element by element with another sparse matrix are not taken: use toarray()")
        row, column, data = (self.tocsr() if self.format == "coo" else self)._triples()
        spread = weft.broadcast_to(asarrays(other, data)[0], self.shape)
        return coo_matrix._of(self.shape, row, column, data * spread[row, column])

    def _by_rows(self) -> csr_matrix:
        """The matrix by rows, for products: elements of one place may be several."""
        return self.tocsr()

    def dot(self, other: Any) -> Any:
        """The product with a matrix, a vector, or a number."""
        return self * other

    def __matmul__(self, other: Any) -> Any:
        """The product with a matrix or a vector."""
        if _is_number(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return (self.tocsr() if isinstance(other, spmatrix) else self._by_rows())._times(other)

    def __rmatmul__(self, other: Any) -> Any:
        """The product of a matrix or a vector and this."""
        if _is_number(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return weft.transpose(self.transpose()._by_rows()._times(weft.transpose(weft.asarray(other))))

    def __mul__(self, other: Any) -> Any:
        """The product with a matrix or a vector, or with a number each element's."""
        return self._with(self.data * other) if _is_number(other) else self @ other

    def __rmul__(self, other: Any) -> Any:
        """The product from the left."""
        return self._with(self.data * other) if _is_number(other) else other @ self

    def __truediv__(self, other: Any) -> spmatrix:
        """The quotients by a number: float64 of all that float64 holds, as in SciPy."""
        if not _is_number(other):
            raise UnsupportedError("a sparse matrix is divided by numbers only")
        read = self.astype(float, copy=False) if np.can_cast(self.dtype, float) else self
        return read._with(read.data / other)

    def __neg__(self) -> spmatrix:
        """The negatives."""
        return self._with(-self.data)

    def __abs__(self) -> spmatrix:
        """The magnitudes of what the elements of each place add up to."""
        merged = self._merged()
        return merged._with(weft.abs(merged.data))

    def __add__(self, other: Any) -> Any:
        """The sum with a sparse matrix, or with an array, which is one then."""
        if _is_number(other) and other == 0:
            return self.copy()
        if isinstance(other, ndarray):
            return self._spread(np.result_type(self.dtype, other.dtype)) + other
        if not isinstance(other, spmatrix):
            return NotImplemented
        if other.shape != self.shape:
            raise ValueError("inconsistent shapes")
        # Triples are added up in their own dtype first, as in SciPy.
        both = [(each.tocsr() if each.format == "coo" else each)._triples() for each in (self, other)]
        parts = [weft.concatenate(pair) for pair in zip(*both)]
        triples = coo_matrix._of(self.shape, *parts)
        found = triples.tocsc() if self.format == "csc" else triples.tocsr()
        found.eliminate_zeros()
        return found

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """The difference from a sparse matrix, or from an array."""
        if isinstance(other, ndarray):
            return self.toarray() - other
        if isinstance(other, spmatrix):
            # Of the result's dtype first: the negatives of unsigned numbers are others in a larger one.
            taken = other.tocsr() if other.format == "coo" else other
            return self + (-taken.astype(np.result_type(self.dtype, other.dtype), copy=False))
        return self.copy() if _is_number(other) and other == 0 else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        """The difference from this."""
        return other - self.toarray() if isinstance(other, ndarray) else (-self) + other

    def __len__(self) -> int:
        """Refused, as SciPy refuses it."""
        raise TypeError("sparse matrix length is ambiguous; use getnnz() or shape[0]")

    def getnnz(self) -> int:
        """How many elements are stored."""
        return self.nnz

    def __getitem__(self, key: Any) -> Any:
        """A part by slices and integers: a sparse matrix, or an element. Other indices are refused."""
        keys = _two_keys(key)
        (row, column, data), shape = self._triples(), []
        for axis, each in enumerate(keys):
            n = self.shape[axis]
            if isinstance(each, slice):
                start, stop, step = each.indices(n)
                # Those that are longer than the axis are all the same, and are numbers of the indices' dtype so.
                step = max(min(step, max(n, 1)), -max(n, 1))
            else:
                start = operator.index(each) + (n if operator.index(each) < 0 else 0)
                if not 0 <= start < n:
                    raise IndexError(f"index ({operator.index(each)}) out of range")
                stop, step = start + 1, 1
            place = (row, column)[axis]
            count = len(range(start, stop, step))
            at = (place - start) // step
            kept = ((place - start) % step == 0) & (at >= 0) & (at < count)
            row, column, data = (part[kept] for part in ((at, column, data) if axis == 0 else (row, at, data)))
            shape.append(count)
        if not any(isinstance(each, slice) for each in keys):
            return weft.sum(data, dtype=self.dtype)
        return self._of_part((shape[0], shape[1]), row, column, data)

    def _of_part(self, shape: tuple[int, int], *triples: ndarray) -> spmatrix:
        """A matrix of this format of a part's triples, of which none are added up."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Format, shape and dtype."""
        return (
            f"<{self.shape[0]}x{self.shape[1]} sparse matrix of dtype {self.dtype} with {self.nnz} stored elements in {self.format} format>"
        )


class _Rows(spmatrix):
    """What CSR and CSC share: `indptr` says where each row (column) begins, `indices` the columns (rows) of its elements."""

    def __init__(self, arg: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> None:
        if isinstance(arg, tuple) and len(arg) == 3:
            found = checked_rows(*arg, shape, self._flipped)
        else:
            found = self._lines_of(arg, shape, dtype)
        shape, data, indices, indptr = found
        self._set(shape, as_asked(data, dtype, copy), indices, indptr)

    def _lines_of(self, arg: Any, shape: Any, dtype: Any) -> tuple[Any, ...]:
        """What a matrix has that is made of an array, of triples, or of a matrix: of rows and columns each element stays one."""
        if getattr(arg, "format", None) in ("csr", "csc") and not isinstance(arg, spmatrix):
            arg = (csr_matrix if arg.format == "csr" else csc_matrix)((arg.data, arg.indices, arg.indptr), arg.shape)
        if isinstance(arg, _Rows):
            made = arg.asformat(self.format)
            _check_same(shape, made.shape)
        else:
            of, (row, column, data) = _read(arg, shape, ValueError)
            if isinstance(arg, tuple) and dtype is not None:
                # Before they are added up, as in SciPy.
                data = data.astype(dtype, copy=False)
            made = coo_matrix._of(of, row, column, data).asformat(self.format)
        self._once = made._once
        return made.shape, made.data, made._indices, made._indptr

    def __setstate__(self, state: dict[str, Any]) -> None:
        """What a pickle holds is checked as what a constructor takes."""
        self.__dict__.update(state | {"_once": False})
        self._set(*checked_rows(self._data, self._indices, self._indptr, self._shape, self._flipped))

    _flipped = False

    def _set(self, shape: tuple[int, int], data: ndarray, indices: ndarray, indptr: ndarray) -> None:
        super().__init__(shape, data)
        kind = index_dtype(max(*shape, data.size))
        self._indices, self._indptr = indices.astype(kind, copy=False), indptr.astype(kind, copy=False)

    @property
    def indices(self) -> ndarray:
        """The columns of CSR's elements, the rows of CSC's; read-only, since they are relied on."""
        return weft.broadcast_to(self._indices, self._indices.shape)

    @property
    def indptr(self) -> ndarray:
        """Where each row (column) begins, and how many elements there are at the end; read-only."""
        return weft.broadcast_to(self._indptr, self._indptr.shape)

    def _of_part(self, shape: tuple[int, int], *triples: ndarray) -> spmatrix:
        made = coo_matrix._of(shape, *triples)
        return made.transpose()._by_rows().transpose() if self._flipped else made._by_rows()

    def _with(self, data: ndarray) -> Any:
        made = type(self).__new__(type(self))
        made._set(self.shape, data, self._indices, self._indptr)
        return self._as_known(made)

    def _put(self, found: Any) -> None:
        """Takes other rows of the same shape: where they begin, columns, elements."""
        indptr, indices, data = found
        self._set(self.shape, data, indices, indptr)

    def _merged(self) -> Any:
        if self._once:
            return self
        made = self._with(self.data)
        made.sum_duplicates()
        return made

    def sum_duplicates(self) -> None:
        """Puts each row in order, and adds up elements of one place."""
        self.sort_indices()
        self._put(on_hosts(loops.merged, self._indptr, self._indices, self.data, keeps_shape=False))
        self._once = True

    def sort_indices(self) -> None:
        """Puts the elements of each row in order of their columns."""
        lines, across = self.shape[:: -1 if self._flipped else 1]
        rows = on_hosts(loops.rows_of, self._indptr, self._indices)
        if across > 1024 + 16 * self.nnz:
            # Counting would need room for each column, of which nearly all are empty.
            order = weft.lexsort((self._indices, rows))
            self._put((self._indptr, self._indices[order], self.data[order]))
            return
        # In order of columns, and then of rows as they came: both at once.
        indptr, rows, data = on_hosts(loops.by_rows, self._indices, rows, self.data, across)
        columns = on_hosts(loops.rows_of, indptr, rows)
        self._put(on_hosts(loops.by_rows, rows, columns, data, lines))

    def eliminate_zeros(self) -> None:
        """Drops elements that are zero."""
        self._put(on_hosts(loops.without_zeros, self._indptr, self._indices, self.data, keeps_shape=False))

    def _lines(self) -> Triples:
        return on_hosts(loops.rows_of, self._indptr, self._indices), self._indices, self.data


class csr_matrix(_Rows):
    """A sparse matrix by rows: of an array, of another sparse matrix (SciPy's, too), of a shape, of `(data, (row, col))`, or of
    `(data, indices, indptr)`.

    Elements of one place are added up, but for those given by `indptr`. ValueError for indices outside of the shape.

    >>> a = weft.scipy.sparse.csr_matrix(weft.asarray([[1.0, 0.0], [2.0, 3.0]]))
    >>> a @ weft.asarray([10.0, 1.0])
    array([10., 23.])
    """

    format = "csr"

    def tocsr(self, copy: bool = False) -> csr_matrix:
        """Itself."""
        return self.copy() if copy else self

    def tocoo(self, copy: bool = False) -> coo_matrix:
        """The matrix as triples."""
        return self._as_known(coo_matrix._of(self.shape, *self._lines()))

    def transpose(self, axes: Any = None, copy: bool = False) -> csc_matrix:
        """The matrix with rows for columns, by columns then: nothing is moved."""
        _no_axes(axes)
        return csc_matrix._of(self, self.shape[::-1])

    def _times(self, other: Any) -> Any:
        if isinstance(other, spmatrix):
            return self._times_sparse(other.tocsr())
        x = weft.asarray(other, device=self.device) if not isinstance(other, ndarray) else other
        if x.ndim not in (1, 2):
            raise ValueError("could not interpret dimensions")
        if x.shape[0] != self.shape[1]:
            raise ValueError(f"dimension mismatch: {self.shape} and {x.shape}")
        kind = _product_dtype(self.dtype, x.dtype)
        if self.device.kind != "cpu":
            return self._times_there(x, kind)
        loop = loops.times_vector if x.ndim == 1 else loops.times_matrix
        return on_hosts(loop, self._indptr, self._indices, self.data, x, _one(kind))

    def _times_there(self, x: ndarray, kind: np.dtype) -> ndarray:
        """The product on the device of the matrix."""
        columns = x[:, None] if x.ndim == 1 else x
        product = functools.partial(loops.product_on_device, self.shape[0], kind)
        found = launched(product, self._indptr, self._indices, self.data, columns)
        return found[:, 0] if x.ndim == 1 else found

    def _times_sparse(self, other: csr_matrix) -> csr_matrix:
        if self.shape[1] != other.shape[0]:
            raise ValueError(f"dimension mismatch: {self.shape} and {other.shape}")
        mine, theirs = (self._indptr, self._indices), (other._indptr, other._indices)
        like = np.zeros(1, np.result_type(self.dtype, other.dtype))
        width = other.shape[1]
        starts = on_hosts(loops.product_sizes, *mine, *theirs, width)
        found, values = on_hosts(loops.product, *mine, self.data, *theirs, other.data, starts, width, like, keeps_shape=False)
        made = csr_matrix.__new__(csr_matrix)
        made._set((self.shape[0], width), values, found, starts)
        made.eliminate_zeros()
        return made


class csc_matrix(_Rows):
    """A sparse matrix by columns, made as `csr_matrix`.

    >>> a = weft.scipy.sparse.csc_matrix(weft.asarray([[1.0, 0.0], [2.0, 3.0]]))
    >>> a.indptr, a.indices
    (array([0, 2, 3], dtype=int32), array([0, 1, 1], dtype=int32))
    """

    format = "csc"
    _flipped = True

    @classmethod
    def _of(cls, turned: csr_matrix, shape: tuple[int, int]) -> csc_matrix:
        """The matrix whose columns are the rows of another."""
        made = cls.__new__(cls)
        made._set(shape, turned.data, turned._indices, turned._indptr)
        return turned._as_known(made)

    def __matmul__(self, other: Any) -> Any:
        """The product with a matrix or a vector; that with a sparse matrix is by columns."""
        if not isinstance(other, spmatrix):
            return super().__matmul__(other)
        if self.shape[1] != other.shape[0]:
            raise ValueError(f"dimension mismatch: {self.shape} and {other.shape}")
        return other.tocsc().transpose()._times_sparse(self.transpose()).transpose()

    def tocsc(self, copy: bool = False) -> csc_matrix:
        """Itself."""
        return self.copy() if copy else self

    def tocoo(self, copy: bool = False) -> coo_matrix:
        """The matrix as triples."""
        column, row, data = self._lines()
        return self._as_known(coo_matrix._of(self.shape, row, column, data))

    def tocsr(self, copy: bool = False) -> csr_matrix:
        """The matrix by rows."""
        column, row, data = self._lines()
        made = csr_matrix.__new__(csr_matrix)
        indptr, indices, values = on_hosts(loops.by_rows, row, column, data, self.shape[0])
        made._set(self.shape, values, indices, indptr)
        return self._as_known(made)

    def transpose(self, axes: Any = None, copy: bool = False) -> csr_matrix:
        """The matrix with rows for columns, by rows then: nothing is moved."""
        _no_axes(axes)
        made = csr_matrix.__new__(csr_matrix)
        made._set(self.shape[::-1], self.data, self._indices, self._indptr)
        return self._as_known(made)


class coo_matrix(spmatrix):
    """A sparse matrix of triples: of an array, of another sparse matrix (SciPy's, too), of a shape, or of `(data, (row, col))`.

    >>> a = weft.scipy.sparse.coo_matrix((weft.asarray([1.0, 2.0, 4.0]), ([0, 1, 1], [1, 0, 0])), shape=(2, 2))
    >>> a.toarray()
    array([[0., 1.],
           [6., 0.]])
    """

    format = "coo"

    def __init__(self, arg: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> None:
        found, parts = _read(arg, shape, TypeError)
        row, column, data = parts
        self._set(found, row, column, as_asked(data, dtype, copy))
        self._once = getattr(arg, "_once", False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """What a pickle holds is checked as what the constructor takes."""
        self.__dict__.update(state | {"_once": False})
        found, parts = checked(self._data, self._row, self._col, shape_of(self._shape))
        self._set(found, *parts)

    @classmethod
    def _of(cls, shape: tuple[int, int], row: ndarray, column: ndarray, data: ndarray) -> coo_matrix:
        made = cls.__new__(cls)
        made._set(shape, row, column, data)
        return made

    def _set(self, shape: tuple[int, int], row: ndarray, column: ndarray, data: ndarray) -> None:
        super().__init__(tuple(map(int, shape)), data)  # type: ignore[arg-type]
        kind = index_dtype(max(shape, default=0))
        self._row, self._col = row.astype(kind, copy=False), column.astype(kind, copy=False)

    @property
    def row(self) -> ndarray:
        """The rows of the elements; read-only, since they are relied on."""
        return weft.broadcast_to(self._row, self._row.shape)

    @property
    def col(self) -> ndarray:
        """The columns of the elements; read-only."""
        return weft.broadcast_to(self._col, self._col.shape)

    def _with(self, data: ndarray) -> coo_matrix:
        return self._as_known(coo_matrix._of(self.shape, self._row, self._col, data))

    def _of_part(self, shape: tuple[int, int], *triples: ndarray) -> coo_matrix:
        return coo_matrix._of(shape, *triples)

    def _merged(self) -> coo_matrix:
        if self._once:
            return self
        # Sorted and not counted, so that no room is needed for rows without elements.
        order = weft.lexsort((self._col, self._row))
        triples = (each[order] for each in self._triples())
        made = coo_matrix._of(self.shape, *on_hosts(loops.merged_triples, *triples, keeps_shape=False))
        made._once = True
        return made

    def sum_duplicates(self) -> None:
        """Adds up elements of one place, and puts them in order of their rows and then columns."""
        self._set(self.shape, *self._merged()._triples())
        self._once = True

    def eliminate_zeros(self) -> None:
        """Drops elements that are zero."""
        kept = self.data != 0
        self._set(self.shape, *(each[kept] for each in self._triples()))

    def _triples(self) -> Triples:
        return self._row, self._col, self.data

    def tocoo(self, copy: bool = False) -> coo_matrix:
        """Itself."""
        return self.copy() if copy else self  # type: ignore[return-value]

    def tocsr(self, copy: bool = False) -> csr_matrix:
        """The matrix by rows, with elements of one place added up."""
        made = self._by_rows()
        made.sum_duplicates()
        return made

    def _by_rows(self) -> csr_matrix:
        made = csr_matrix.__new__(csr_matrix)
        indptr, indices, data = on_hosts(loops.by_rows, self._row, self._col, self.data, self.shape[0])
        made._set(self.shape, data, indices, indptr)
        return made

    def transpose(self, axes: Any = None, copy: bool = False) -> coo_matrix:
        """The matrix with rows for columns."""
        _no_axes(axes)
        return self._as_known(coo_matrix._of(self.shape[::-1], self._col, self._row, self.data))


def _read(arg: Any, shape: Any, refused: type[Exception]) -> tuple[tuple[int, int], Triples]:
    """The shape and the triples of what a constructor is given; `refused` is what it raises for what is no matrix."""
    shape = None if shape is None else shape_of(shape)
    if isinstance(arg, spmatrix):
        found, parts = arg.shape, arg._triples()
    elif hasattr(arg, "tocoo"):
        theirs = arg.tocoo()
        found, parts = checked(theirs.data, theirs.row, theirs.col, shape_of(theirs.shape))
    elif isinstance(arg, tuple) and len(arg) == 2 and all(isinstance(each, (int, np.integer)) for each in arg):
        empty = weft.zeros(0, "int32")
        found, parts = shape_of(arg), (empty, empty, weft.zeros(0, float))
    elif isinstance(arg, tuple) and len(arg) == 2:
        data, (row, column) = arg
        found, parts = checked(data, row, column, shape)
    elif isinstance(arg, tuple):
        raise refused(f"no sparse matrix is made of a tuple of {len(arg)}")
    else:
        full = weft.asarray(arg)
        full = full.reshape(1, full.size) if full.ndim < 2 else full
        if full.ndim != 2:
            raise refused(f"expected dimension <= 2 array or matrix, not one of {full.ndim}")
        row, column = weft.nonzero(full)
        found, parts = full.shape, (row, column, full[row, column])
    _check_same(shape, found)
    return found, parts


def _check_same(asked: Any, found: tuple[int, int]) -> None:
    if asked is not None and shape_of(asked) != found:
        raise ValueError(f"inconsistent shapes: {asked} != {found}")


@functools.cache
def _product_dtype(a: np.dtype, b: np.dtype) -> np.dtype:
    return np.result_type(a, b)


@functools.cache
def _one(kind: np.dtype) -> np.ndarray:
    """What tells loops a dtype; it is read only."""
    return np.zeros(1, kind)


def _no_axes(axes: Any) -> None:
    if axes is not None and tuple(axes) != (1, 0):
        raise ValueError("Sparse matrices do not support an 'axes' parameter because swapping dimensions is the only logical permutation.")


def _two_keys(key: Any) -> tuple[Any, Any]:
    """The keys of rows and columns."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(each is Ellipsis for each in keys):
        at = next(at for at, each in enumerate(keys) if each is Ellipsis)
        keys[at : at + 1] = [slice(None)] * (3 - len(keys))
    if len(keys) > 2:
        raise IndexError("invalid number of indices")
    for each in keys:
        if not isinstance(each, (slice, int, np.integer)) or isinstance(each, bool):
            raise UnsupportedError("parts of sparse matrices are taken by slices and integers: use toarray()[...] for others")
    return keys[0], keys[1] if len(keys) > 1 else slice(None)


def _is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex, np.generic)) or (isinstance(x, (ndarray, np.ndarray)) and x.ndim == 0)


def issparse(x: Any) -> bool:
    """Whether something is a sparse matrix of these.

    >>> weft.scipy.sparse.issparse(weft.ones(2))
    False
    """
    return isinstance(x, spmatrix)


def isspmatrix(x: Any) -> bool:
    """Whether something is a sparse matrix of these.

    >>> weft.scipy.sparse.isspmatrix(weft.scipy.sparse.eye(2))
    True
    """
    return isinstance(x, spmatrix)


def isspmatrix_csr(x: Any) -> bool:
    """Whether something is a sparse matrix by rows.

    >>> weft.scipy.sparse.isspmatrix_csr(weft.scipy.sparse.eye(2))
    True
    """
    return isinstance(x, csr_matrix)


def isspmatrix_csc(x: Any) -> bool:
    """Whether something is a sparse matrix by columns.

    >>> weft.scipy.sparse.isspmatrix_csc(weft.scipy.sparse.eye(2).T)
    True
    """
    return isinstance(x, csc_matrix)


def isspmatrix_coo(x: Any) -> bool:
    """Whether something is a sparse matrix of triples.

    >>> weft.scipy.sparse.isspmatrix_coo(weft.scipy.sparse.eye(2))
    False
    """
    return isinstance(x, coo_matrix)
