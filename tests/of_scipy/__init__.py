"""Tests of `weft.scipy` against SciPy."""
