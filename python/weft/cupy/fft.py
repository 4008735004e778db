"""`cupy.fft` is `weft.fft`, under this name, too."""

import sys

import weft

if not hasattr(weft, "fft"):
    raise ModuleNotFoundError("this Weft has no weft.fft")
sys.modules[__name__] = weft.fft
