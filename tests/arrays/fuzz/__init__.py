"""Random programs of statements on arrays, run on `weft` and on NumPy, statement by statement.

`python tests/arrays/fuzz/run.py --help` runs any number of them. `reference.py` is NumPy with a bound of the error beside each element:
nought where NumPy's own operation is correctly rounded.
"""
