"""JAX's own tests of its transforms, with Weft behind its names."""
