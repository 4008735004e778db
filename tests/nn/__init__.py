"""Tests of `weft.nn`: against formulas in NumPy, PyTorch where it is installed, and ONNX's own cases."""
