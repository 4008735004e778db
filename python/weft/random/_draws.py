"""The functions that make a random number of bits: texts of Weft's library, as ufuncs of counters and as loops over a generator's state.

Each has two forms. `Draw.ufunc` takes (position, high, key) of Philox and parameters: it is recorded, and fuses into what uses it.
`Draw.fill` writes a whole array from a state, one number after the other.
"""

from __future__ import annotations

import functools
import linecache
from typing import Any

import numpy as np

from weft._decorators import Vectorized, njit, vectorize

# What each is made of: NumPy's letters of its parameters' types, and of its own.
_DRAWS = """
    bits :L            below LL:L
    random64 :d        random32 :f        normal64 :d        normal32 :f       exponential64 :d    exponential32 :f
    uniform dd:d       normal dd:d        exponential d:d    cauchy :d         laplace dd:d        logistic dd:d
    lognormal dd:d     gumbel dd:d        pareto d:d         power d:d         rayleigh d:d        wald dd:d
    weibull d:d        triangular ddd:d   vonmises dd:d
    gamma64 d:d        gamma32 f:f        gamma dd:d         log_gamma d:d     chisquare d:d       beta dd:d
    f dd:d             student_t d:d      noncentral_chisquare dd:d            noncentral_f ddd:d
    poisson d:l        binomial ld:l      geometric d:l      negative_binomial dd:l                zipf d:l
    logseries d:l      hypergeometric lll:l
"""


class _Known:
    """A function that the compiler knows by a path."""

    def __init__(self, name: str) -> None:
        self._weft_path_ = f"weft.random.{name}"


def known(name: str) -> Any:
    """What stands for a text in compiled functions."""
    return _Known(name)


class Draw:
    """A function of a source of bits and of parameters, which gives a number."""

    def __init__(self, name: str, kinds: str, gives: str) -> None:
        self.name, self.kinds, self.dtype = name, kinds, np.dtype(gives)
        self.dtypes = tuple(np.dtype(kind) for kind in kinds)
        self._parameters = [f"p{i}" for i in range(len(kinds))]

    @functools.cached_property
    def ufunc(self) -> Vectorized:
        """As a ufunc of positions, the upper half of the counter, the key and parameters."""
        names = ", ".join(["position", "high", "key", *self._parameters])
        call = ", ".join(["(position, high, key)", *self._parameters])
        return vectorize(_defined(self.name, f"def {self.name}({names}):\n    return text({call})\n"))

    @functools.cached_property
    def fill(self) -> Any:
        """As a loop that fills an array from a state; parameters are arrays of as many elements."""
        names = ", ".join(["state", "found", *self._parameters])
        call = ", ".join(["(state,)", *(f"{name}[i]" for name in self._parameters)])
        text = f"def fill_{self.name}({names}):\n    for i in range(len(found)):\n        found[i] = text({call})\n"
        return njit(_defined(self.name, text))

    def __reduce__(self) -> Any:
        return draw, (self.name,)


def _defined(name: str, text: str) -> Any:
    file = f"<weft.random: {text.split('(')[0][4:]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {"text": known(name), "__name__": __name__}
    exec(compile(text, file, "exec"), scope)
    return scope[text.split("(")[0][4:]]


def _rows() -> dict[str, Draw]:
    words = _DRAWS.split()
    made = {}
    for name, kinds in zip(words[::2], words[1::2]):
        given, gives = kinds.split(":")
        made[name] = Draw(name, given, gives)
    return made


_MADE = _rows()


def draw(name: str) -> Draw:
    """The one of a name."""
    return _MADE[name]
