"""Gradients: of arrays, of compiled functions and of kernels."""
