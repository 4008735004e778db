"""Arrays with NumPy's meaning: what the namespace `weft` has of them. `weft` imports it when one of its names is first used."""

from weft._weft import ndarray
from weft.arrays import methods

methods.install(ndarray)
