"""The faces a program can run under: undecorated, Weft, Weft in Numba's dialect, Numba itself."""

from __future__ import annotations

HEADERS = {
    "plain": "from fuzz.plain import cuda, njit, prange, vectorize\n",
    "weft": "from weft import cuda, njit, prange, vectorize\n",
    "weft.numba": "from weft.numba import cuda, njit, prange, vectorize\n",
    "numba": "from numba import njit, prange, vectorize\n",
}


def text_for(program_text: str, face: str) -> str:
    """The program with what it imports under a face.

    Numba runs `prange` in order: in parallel it makes the index unsigned, loses exceptions, and leaves variables of the loop as they were.
    """
    if face == "numba":
        program_text = program_text.replace("@njit(parallel=True)", "@njit")
    return "import collections\nimport math\nimport numpy as np\n" + HEADERS[face] + program_text
