"""Random Python programs, run undecorated and by Weft on each device: what they give has to be the same.

`python tests/fuzz/run.py --help` runs any number of them; `test_fuzz.py` runs some in `make test`.
"""
