"""Minimax quotients of two polynomials in multiple precision: Remez' exchange for P / Q.

`fit_quotient(f, degrees, lo, hi, middle)` finds P and Q that minimise the largest |(P(x) / Q(x) - f(x)) * weight(x)| on [lo, hi]. The equations of a round,
P(x) - f(x) Q(x) = +-E Q(x) / weight(x), are linear but for E Q, for which Q is taken from the solution before.
Points are spread evenly in (x - middle) / (x + middle): such functions change most at small x.
"""

from collections.abc import Callable

from minimax import Real, bend, mp, mpf, peaks, rounded


def evaluated(coefficients: list[mpf], x: mpf) -> mpf:
    """The polynomial at x, coefficients lowest first."""
    value = mpf(0)
    for c in reversed(coefficients):
        value = value * x + c
    return value


def spread(lo: mpf, hi: mpf, middle: mpf) -> Callable[[mpf], mpf]:
    """[-1, 1] to [lo, hi], evenly in (x - middle) / (x + middle)."""
    first, last = ((x - middle) / (x + middle) for x in (lo, hi))

    def at(u: mpf) -> mpf:
        t = (first + last) / 2 + u * (last - first) / 2
        return middle * (1 + t) / (1 - t)

    return at


def solved(f: Real, degrees: tuple[int, int], points: list[mpf], weight: Real, former: list[mpf]) -> tuple[list[mpf], list[mpf]]:
    """P and Q, whose first coefficient is 1, with errors of alternating sign and one size at the points, if Q is near `former`."""
    top, bottom = degrees
    rows = [
        [x**k for k in range(top + 1)] + [-f(x) * x**k for k in range(1, bottom + 1)] + [(-1) ** i * evaluated(former, x) / weight(x)]
        for i, x in enumerate(points)
    ]
    solution = mp.lu_solve(mp.matrix(rows), mp.matrix([f(x) for x in points]))
    return [solution[k] for k in range(top + 1)], [mpf(1)] + [solution[top + 1 + k] for k in range(bottom)]


def remez_quotient(f: Real, degrees: tuple[int, int], at: Real, weight: Real, rounds: int = 15) -> tuple[list[mpf], list[mpf]]:
    """Coefficients of P and Q, lowest first."""
    count = sum(degrees) + 2
    points = [at(-mp.cos(mp.pi * (i + mpf("0.5")) / count)) for i in range(count)]
    grid = [at(-mp.cos(mp.pi * i / (16 * count))) for i in range(16 * count + 1)]
    p: list[mpf] = []
    q = [mpf(1)]
    for _ in range(rounds):
        for _ in range(8):
            p, q = solved(f, degrees, points, weight, q)

        def error(x: mpf, p: list[mpf] = p, q: list[mpf] = q) -> mpf:
            return (evaluated(p, x) / evaluated(q, x) - f(x)) * weight(x)

        values = [error(x) for x in grid]
        found = [bend(grid, values, i) for i in peaks(values, count)]
        if len(found) < count:
            break
        points = found
        sizes = [abs(error(x)) for x in points]
        if max(sizes) < min(sizes) * mpf("1.01"):
            break
    return p, q


def fit_quotient(
    f: Real, degrees: tuple[int, int], lo: float | mpf, hi: float | mpf, middle: float, weight: Real, scale: float, bits: int
) -> tuple[list[mpf], list[mpf], mpf]:
    """P and Q, both `scale` times what makes Q(0) 1 and rounded to `bits` bits, and log2 of the weighted error they reach.

    With a scale for which values are just below powers of two, roundings cost less."""
    at = spread(mpf(lo), mpf(hi), mpf(middle))
    p, q = ([rounded(c * mpf(scale), bits) for c in part] for part in remez_quotient(f, degrees, at, weight))
    grid = [at(mpf(i) / 750 - 1) for i in range(1501)]
    worst = max(abs((evaluated(p, x) / evaluated(q, x) - f(x)) * weight(x)) for x in grid)
    return p, q, mp.log(worst, 2)
