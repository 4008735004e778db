"""Tests of the names and the C of CuPy."""
