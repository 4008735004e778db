"""What random numbers of compiled functions are measured by: calls with parameters of every size, and digests of what Numba gives for them.

    python tests/library/numba_draws.py            # with Numba: compares what it draws with the table
    python tests/library/numba_draws.py --write    # and writes it

The first line of the table is a digest of the C library's logarithms and the like, by which the numbers are made.
"""

from __future__ import annotations

import hashlib
import itertools
import linecache
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TABLE = Path(__file__).with_name("numba_draws.txt")
COUNT, TIMES = 1500, 25
LIBRARY = "the C library"
# Whole numbers a < b and k from 1 to 64; floats x, y, z of either sign, p and q above 0, u between 0 and 1.
TEXT = """
    random.random() random.randrange(a,b) random.randint(a,b) random.getrandbits(k) random.uniform(x,y) random.triangular(x,y)
    random.triangular(x,y,z) random.gauss(x,p) random.normalvariate(x,p) random.lognormvariate(z,q) random.expovariate(p)
    random.gammavariate(p,q) random.betavariate(p,q) random.paretovariate(p) random.weibullvariate(p,q) random.vonmisesvariate(x,p)
    np.random.random() np.random.randint(a,b) np.random.normal(x,p) np.random.uniform(x,y) np.random.exponential(p) np.random.gamma(p,q)
    np.random.beta(p,q) np.random.chisquare(p) np.random.noncentral_chisquare(p,q) np.random.f(p,q) np.random.standard_t(p)
    np.random.poisson(p*20) np.random.binomial(k*30,u) np.random.negative_binomial(p,u) np.random.geometric(u) np.random.logseries(u)
    np.random.hypergeometric(k+5,k,k) np.random.zipf(1.05+p) np.random.vonmises(x,p) np.random.wald(p,q) np.random.triangular(x,x+p,x+p+q)
    np.random.rayleigh(p) np.random.weibull(p) np.random.power(p) np.random.laplace(x,p) np.random.logistic(x,p) np.random.gumbel(x,p)
    np.random.lognormal(z,q) np.random.standard_cauchy() np.random.standard_exponential()
"""
CALLS = TEXT.split()


def function_of(call: str) -> Callable[..., Any]:
    """Many results of a call behind a seed, and how far both generators are then."""
    text = f"""def f(seed, a, b, k, x, y, z, p, q, u):
    random.seed(seed)
    np.random.seed(seed)
    found = np.empty({COUNT})
    for i in range({COUNT}):
        found[i] = {call}
    return found, random.random(), np.random.random()
"""
    linecache.cache[f"<{call}>"] = (len(text), None, text.splitlines(True), f"<{call}>")
    names: dict[str, Any] = {"np": np, "random": random}
    exec(compile(text, f"<{call}>", "exec"), names)
    return names["f"]


def digest(call: str, njit: Callable[..., Any]) -> str:
    """A digest of what a compiler makes of a call, with many parameters."""
    function, rng, made = njit(function_of(call)), np.random.RandomState(5), hashlib.sha256()
    for _ in range(TIMES):
        a = int(rng.randint(-(2**40), 2**20))
        b = a + int(rng.randint(1, 2 ** int(rng.randint(1, 62))))
        either, above = (5 * rng.normal(size=3)).tolist(), (0.05 + 2 * rng.exponential(size=2)).tolist()
        found, one, other = function(
            int(rng.randint(0, 2**32)), a, b, int(rng.randint(1, 65)), *either, *above, float(rng.uniform(0.01, 0.99))
        )
        made.update(np.append(found, [one, other]).tobytes())
    return made.hexdigest()[:16]


def of_library() -> str:
    """A digest of the C library's functions."""
    xs = np.random.RandomState(1).uniform(0, 1, 20_000).tolist()
    found = [(math.log(x), math.exp(-20 * x), math.pow(x, y), math.cos(3 * x), math.acos(x)) for x, y in itertools.pairwise(xs)]
    return hashlib.sha256(np.array(found).tobytes()).hexdigest()[:16]


def table() -> dict[str, str]:
    """Digests by calls."""
    return dict(reversed(line.split(" ", 1)) for line in TABLE.read_text().splitlines())


def main() -> int:
    """Compare with Numba, or write what it gives."""
    from numba import njit

    found = {LIBRARY: of_library()} | {call: digest(call, njit) for call in CALLS}
    if "--write" in sys.argv:
        TABLE.write_text("".join(f"{value} {name}\n" for name, value in found.items()))
        return 0
    different = [name for name in found if found[name] != table().get(name)]
    print("\n".join(different) or "Numba draws what the table says")
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
