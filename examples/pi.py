"""Monte-Carlo π: points at random in a square, and the share of them that lies within a quarter of a circle.

The random numbers are made in the kernel that counts the points, so that nothing of the points' size is ever in memory: `weft.explain`
shows a fold that reads nothing and writes a single number, and on a CPU within it the part of the points that is in the cache at a time.
The same seed gives the same points on every device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import arguments, check, save, table, timed

import weft

SEED = 7
INSIDE, OUTSIDE = (32, 107, 203), (255, 170, 0)


def estimate(rng: Any, n: int) -> Any:
    """π by n points, with random numbers of NumPy or of Weft: the lines are the same."""
    x, y = rng.random(n), rng.random(n)
    return 4 * (x * x + y * y < 1).mean()


def deviation(n: int) -> float:
    """The standard deviation of an estimate by n points: each is inside with the probability π/4."""
    return 4 * float(np.sqrt(np.pi / 4 * (1 - np.pi / 4) / n))


def drawn(n: int, side: int = 240) -> weft.ndarray:
    """A picture of n points."""
    rng = weft.random.default_rng(SEED)
    x, y = rng.random(n), rng.random(n)
    inside = x * x + y * y < 1
    pixels = weft.full((side, side, 3), 255, dtype=weft.uint8)
    rows, columns = side - 1 - (y * side).astype(weft.int64), (x * side).astype(weft.int64)
    pixels[rows, columns] = weft.where(inside[:, None], weft.asarray(INSIDE), weft.asarray(OUTSIDE)).astype(weft.uint8)
    return pixels


def main(argv: Sequence[str] | None = None) -> int:
    """Estimate, compare, draw; 1 if an estimate is too far off."""
    asked = arguments(__doc__, "pi.png", argv, points=(10_000_000, "how many points"))
    with weft.device(asked.device) as device:
        ours = timed(lambda: estimate(weft.random.default_rng(SEED), asked.points))
        numpys = timed(lambda: estimate(np.random.default_rng(SEED), asked.points))
        table(f"π by {asked.points:,} points", device, {"Weft": ours, "NumPy": numpys})

        print(f"  {'points':>14}  {'estimate':>9}  {'off by':>9}  {'expected':>9}")
        for n in sorted({min(10**power, asked.points) for power in range(3, 9)}):
            found = float(estimate(weft.random.default_rng(SEED), n))
            print(f"  {n:>14,}  {found:>9.6f}  {abs(found - np.pi):>9.6f}  {deviation(n):>9.6f}")

        explained = weft.explain(estimate(weft.random.default_rng(SEED), asked.points))
        print(f"\n{explained}\n")
        right = [
            check("Weft off from π, in standard deviations", abs(float(ours.result) - np.pi) / deviation(asked.points), 4),
            check("NumPy off from π, in standard deviations", abs(float(numpys.result) - np.pi) / deviation(asked.points), 4),
            check("bytes that kernels read and write in all", sum(each.read + each.written for each in explained.kernels), 100),
        ]
        save(asked.out, drawn(min(asked.points, 20_000)))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())
