"""Python imports this when it starts: in every process of `run.py`, those that tests start too, `numba` is Weft."""

import os
from pathlib import Path

if "WEFT_PEERS_TESTS" in os.environ:
    import stand_in

    stand_in.install(Path(os.environ["WEFT_PEERS_TESTS"]))
