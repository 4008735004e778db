"""Weft beside PyTorch, JAX and TensorFlow: their own samples, and operators in them."""
