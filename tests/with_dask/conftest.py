"""The tests of this folder are left out where Dask is not installed."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("distributed") else ["test_chunks.py", "test_cluster.py"]
