"""A pytest plugin: `weft.cupy` behind the name `cupy`, for Dask's own tests of CuPy's arrays and nothing else in their process."""

import sys
import warnings

import weft.cupy
import weft.cupyx


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: Dask's mark of tests that need CuPy")
    warnings.simplefilter("ignore")


sys.modules["cupy"] = weft.cupy
sys.modules["cupyx"] = weft.cupyx
