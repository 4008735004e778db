"""The C of CuPy's kernels: read (`syntax`), typed (`ctypes`), and written as Python that Weft compiles (`translate`)."""
