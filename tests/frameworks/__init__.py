"""Weft in PyTorch, JAX and TensorFlow: `make framework-tests` runs these with the frameworks, other runs skip what needs them."""
