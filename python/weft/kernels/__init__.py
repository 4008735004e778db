"""Weft's own kernels for arrays on devices other than the CPU, in its own kernel language: products and factorizations of matrices,
scans, sorts, transforms.

Nothing here is public. The functions of the namespace call these where their arrays are on such a device; on the CPU they are compiled code
of the library, or of Rust. A file has the kernels of one subject and the functions of arrays that launch them.
"""
