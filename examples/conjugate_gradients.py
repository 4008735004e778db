"""Conjugate gradients with a sparse matrix: the electric potential of charges in a box whose walls are at zero.

The matrix says that each point is the mean of its four neighbours but for the charge there. It is made of arrays of rows, columns and
values as SciPy's is, and `matrix @ p` is the only thing that the method wants of it.

All numbers stay arrays without axes: a step that looked at one of them (`float(x)`, `if x < y`) would wait for it. The loop does so once
every 20 steps. `weft.eval` in each step keeps the record short: nobody needs x before the end, so that without it x would be a sum of as
many terms as there are steps, and all of them would be kept for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from common import arguments, check, painted, save, table, timed

import weft
from weft.scipy import sparse

LOOK = 20
TINY = 1e-300
"""Steps behind the one that left nothing over divide nothing by nothing but for this."""
CHARGES = ((0.3, 0.3, 1.0), (0.7, 0.35, -1.0), (0.5, 0.75, 1.0), (0.2, 0.8, -0.5), (0.85, 0.8, -0.5))


def laplacian(xp: Any, module: Any, side: int) -> Any:
    """Of the points of a square: 4 on the diagonal, -1 for each neighbour."""
    here = xp.arange(side * side).reshape(side, side)
    pairs = ((here, here, 4.0), (here[1:], here[:-1], -1.0), (here[:-1], here[1:], -1.0))
    pairs += ((here[:, 1:], here[:, :-1], -1.0), (here[:, :-1], here[:, 1:], -1.0))
    rows, columns = (xp.concatenate([pair[i].reshape(-1) for pair in pairs]) for i in (0, 1))
    values = xp.concatenate([xp.full(pair[0].size, pair[2]) for pair in pairs])
    return module.csr_matrix((values, (rows, columns)), shape=(side * side, side * side))


def charges(side: int) -> weft.ndarray:
    """The charge at each point, as small clouds."""
    at = (weft.arange(side) + 1.0) / (side + 1)
    clouds = (charge * weft.exp(-((at - x) ** 2 + (at[:, None] - y) ** 2) / 0.001) for x, y, charge in CHARGES)
    return sum(clouds).reshape(-1)


def step(matrix: Any, x: Any, r: Any, p: Any, square: Any) -> tuple[Any, Any, Any, Any]:
    """A step along p; what is left over, the next direction, and the square of what is left."""
    ap = matrix @ p
    along = square / ((p * ap).sum() + TINY)
    x, r = x + along * p, r - along * ap
    new = (r * r).sum()
    return x, r, r + new / (square + TINY) * p, new


def solve(matrix: Any, b: Any, within: float = 1e-10) -> tuple[Any, int]:
    """x with matrix @ x = b, so well that what is left is `within` of b; and how many steps that took."""
    x, r, p, square = b * 0, b, b, (b * b).sum()
    enough, done = within**2 * float(square), 0
    while float(square) > enough and done < 10 * b.size:
        for _ in range(LOOK):
            x, r, p, square = step(matrix, x, r, p, square)
            if isinstance(x, weft.ndarray):
                weft.eval(x, r, p, square)
        done += LOOK
    return x, done


def main(argv: Sequence[str] | None = None) -> int:
    """Solve, compare, draw; 1 if it is no solution."""
    asked = arguments(__doc__, "conjugate_gradients.png", argv, side=(160, "points a side"))
    with weft.device(asked.device) as device:
        b = charges(asked.side).wait()
        matrix = laplacian(weft, sparse, asked.side)
        ways = {"Weft": timed(lambda: solve(matrix, b))}
        try:
            theirs = laplacian(np, importlib.import_module("scipy.sparse"), asked.side)
        except ImportError:
            print("SciPy is not installed: nothing to compare with\n")
        else:
            host = weft.asnumpy(b)
            ways["SciPy"] = timed(lambda: solve(theirs, host))
        x, steps = ways["Weft"].result
        title = f"conjugate gradients: {b.size:,} unknowns, {matrix.nnz:,} elements, {steps} steps, float64"
        table(title, device, ways)

        left = float(weft.linalg.norm(matrix @ x - b) / weft.linalg.norm(b))
        right = [check("what is left of the right-hand side", left, 2e-10)]
        if "SciPy" in ways:
            right.append(check("off from SciPy", float(np.abs(weft.asnumpy(x) - ways["SciPy"].result[0]).max()), 1e-7))
        # The colours go by the arc tangent, so that what is far from the charges shows; every eighth part is a line.
        shown = weft.asnumpy(weft.arctan(4 * x / weft.abs(x).max()).reshape(asked.side, asked.side))
        pixels = painted(shown, low=-np.arctan(4), high=np.arctan(4))
        bands = np.floor(shown * 6)
        pixels[1:, 1:][(bands[1:, 1:] != bands[:-1, 1:]) | (bands[1:, 1:] != bands[1:, :-1])] //= 2
        save(asked.out, pixels.repeat(2, 0).repeat(2, 1))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())
