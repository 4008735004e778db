"""Finds `weft.numba.cuda` before finders that take it for Numba's.

numba-cuda puts a finder before Python's own that looks after every module with "numba.cuda" in its name, and calls itself without end where
that is not part of Numba.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_OURS = "weft.numba.cuda"


class _Finder(MetaPathFinder):
    """Modules of `weft.numba.cuda`, where Python would look for them."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, path, target) if name == _OURS or name.startswith(f"{_OURS}.") else None


sys.meta_path.insert(0, _Finder())
