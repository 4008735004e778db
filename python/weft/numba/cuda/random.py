"""`numba.cuda.random`: that of `weft.cuda`."""

from weft.cuda.random import *  # noqa: F403
from weft.cuda.random import __all__ as __all__
