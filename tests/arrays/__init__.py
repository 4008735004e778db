"""Tests of Weft's arrays against NumPy."""
