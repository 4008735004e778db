"""The tests of this folder are left out where SciPy is not installed."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("scipy") else ["test_*.py"]
