"""Random numbers for arrays: NumPy's `numpy.random` over counters, so that they are the same on every device and fuse into what uses them.

`default_rng(seed)` makes a `Generator` over `Philox4x32`. NumPy's older functions (`seed rand randn randint ...`) are methods of one
`RandomState` that the module holds. See docs/random.md.
"""

from __future__ import annotations

from typing import Any

from ._bit_generators import XORWOW, BitGenerator, Philox4x32, SeedSequence
from ._generator import Generator, default_rng
from ._legacy import RandomState

_state = RandomState()

# Methods of the module's own generator.
_NAMES = """
    beta binomial bytes chisquare choice dirichlet exponential f gamma geometric get_state gumbel hypergeometric laplace logistic lognormal
    logseries multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power
    rand randint randn random random_integers random_sample rayleigh seed set_state shuffle standard_cauchy standard_exponential
    standard_gamma standard_normal standard_t triangular uniform vonmises wald weibull zipf
"""
_FUNCTIONS = _NAMES.split()

_ALIASES = {"ranf": "random_sample", "sample": "random_sample"}

__all__ = ["BitGenerator", "Generator", "Philox4x32", "RandomState", "SeedSequence", "XORWOW", "default_rng", *_FUNCTIONS, *_ALIASES]


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS or name in _ALIASES:
        return getattr(_state, _ALIASES.get(name, name))
    raise AttributeError(f"module 'weft.random' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
