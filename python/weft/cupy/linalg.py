"""`cupy.linalg` is `weft.linalg`, under this name, too."""

import sys

import weft

if not hasattr(weft, "linalg"):
    raise ModuleNotFoundError("this Weft has no weft.linalg")
sys.modules[__name__] = weft.linalg
