"""Minimax polynomials in multiple precision: Remez' exchange with a weight, then coefficients rounded one after the other.

`fit(f, terms, lo, hi)` finds P(s) = c0 + c1 s + ... on [lo, hi] that minimises the largest |(P(s) - f(s)) * weight(s)|.
Rounding all coefficients of the optimum at once loses several bits; here each is rounded in turn, lowest first, and the
rest is fitted anew, so that later coefficients make good what rounding the earlier ones cost.
"""

from collections.abc import Callable

from mpmath import mp, mpf

mp.prec = 240

Real = Callable[[mpf], mpf]


def remez(f: Real, powers: list[int], lo: mpf, hi: mpf, weight: Real, rounds: int = 12) -> list[mpf]:
    """Coefficients of the minimax polynomial with the given powers."""
    count = len(powers) + 1
    middle, half = (mpf(lo) + hi) / 2, (mpf(hi) - lo) / 2
    # Chebyshev nodes, shifted a little: a weight may vanish in the middle.
    points = [middle - half * mp.cos(mp.pi * (2 * i + mpf("1.02")) / (2 * count)) for i in range(count)]
    coefficients: list[mpf] = []
    for _ in range(rounds):
        rows = [[x**p for p in powers] + [(-1) ** i / weight(x)] for i, x in enumerate(points)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([f(x) for x in points]))
        coefficients = [solution[i] for i in range(count - 1)]

        def error(x: mpf, c: list[mpf] = coefficients) -> mpf:
            return (sum(a * x**p for a, p in zip(c, powers, strict=True)) - f(x)) * weight(x)

        found = _extrema(error, mpf(lo), mpf(hi), count)
        if len(found) < count:
            break
        points = found
        sizes = [abs(error(x)) for x in points]
        if max(sizes) < min(sizes) * mpf("1.001"):
            break
    return coefficients


def _extrema(error: Real, lo: mpf, hi: mpf, count: int) -> list[mpf]:
    """The largest extrema of alternating sign: one per sign change on a Chebyshev grid, refined by parabolas."""
    size = 24 * count
    grid = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * i / size) for i in range(size + 1)]
    values = [error(x) for x in grid]
    return [bend(grid, values, i) for i in peaks(values, count)]


def peaks(values: list[mpf], count: int) -> list[int]:
    """Where values of one sign, between two changes of it, are largest; of more than `count` such places those at the ends are left out."""
    best = [0]
    for i in range(1, len(values)):
        same = (values[i] > 0) == (values[best[-1]] > 0)
        if not same:
            best.append(i)
        elif abs(values[i]) > abs(values[best[-1]]):
            best[-1] = i
    while len(best) > count:
        best.pop(0 if abs(values[best[0]]) < abs(values[best[-1]]) else -1)
    return best


def bend(grid: list[mpf], values: list[mpf], i: int) -> mpf:
    """Where the parabola through a value and its neighbours bends."""
    if not 0 < i < len(grid) - 1:
        return grid[i]
    a, b, c = grid[i - 1 : i + 2]
    u, v, w = values[i - 1 : i + 2]
    bottom = (b - a) * (v - w) - (b - c) * (v - u)
    return b - ((b - a) ** 2 * (v - w) - (b - c) ** 2 * (v - u)) / (2 * bottom) if bottom else b


def rounded(x: mpf, bits: int) -> mpf:
    """The float of that many bits next to x."""
    if x == 0:
        return mpf(0)
    mantissa, exponent = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits)


def fit(
    f: Real, terms: int, lo: float | mpf, hi: float | mpf, weight: Real = lambda s: mpf(1), bits: int = 53, exact: int | None = None
) -> tuple[list[mpf], mpf]:
    """`terms` coefficients rounded to `bits` bits, lowest first, and log2 of the weighted error they reach.

    Only the first `exact` coefficients are rounded with a new fit of the rest (all, if not given)."""
    lo, hi = mpf(lo), mpf(hi)
    done: list[mpf] = []
    while len(done) < terms:
        known = list(done)

        def rest(s: mpf, known: list[mpf] = known) -> mpf:
            return f(s) - sum(c * s**p for p, c in enumerate(known))

        left = remez(rest, list(range(len(done), terms)), lo, hi, weight)
        take = 1 if exact is None or len(done) < exact else len(left)
        done += [rounded(c, bits) for c in left[:take]]
    grid = [lo + (hi - lo) * i / 1500 for i in range(1501)]
    worst = max(abs((sum(c * s**p for p, c in enumerate(done)) - f(s)) * weight(s)) for s in grid)
    return done, mp.log(worst, 2)
