"""`cupy.random` is `weft.random`, under this name, too."""

import sys

import weft

if not hasattr(weft, "random"):
    raise ModuleNotFoundError("this Weft has no weft.random")
sys.modules[__name__] = weft.random
