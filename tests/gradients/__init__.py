"""Gradients, against differences of numbers and against those of JAX and PyTorch."""
