"""Random programs of arrays, differentiated.

`programs.py` writes a program of a number, with `choices.py` and `statements.py`; `oracle.py` is NumPy in double precision with what
programs call besides, and its differences; `outcome.py` compares Weft's derivatives with these, each program in one of the ways of
`ways.py`; `run.py` runs any number of programs in processes, `worker.py` is one of them.
"""
