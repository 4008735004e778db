"""Sparse matrices by SciPy's names: rows of elements and their columns (CSR), columns and their rows (CSC), and triples (COO)."""

from __future__ import annotations

from weft.scipy.sparse.making import eye, hstack, identity, vstack
from weft.scipy.sparse.matrices import (
    coo_matrix,
    csc_matrix,
    csr_matrix,
    issparse,
    isspmatrix,
    isspmatrix_coo,
    isspmatrix_csc,
    isspmatrix_csr,
    spmatrix,
)

__all__ = [
    "coo_matrix",
    "csc_matrix",
    "csr_matrix",
    "eye",
    "hstack",
    "identity",
    "issparse",
    "isspmatrix",
    "isspmatrix_coo",
    "isspmatrix_csc",
    "isspmatrix_csr",
    "spmatrix",
    "vstack",
]
