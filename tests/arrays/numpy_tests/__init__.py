"""NumPy's own tests with Weft behind the name `numpy`: `run.py`."""
