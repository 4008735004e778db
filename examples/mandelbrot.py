"""The Mandelbrot set by whole-array steps, and as a function of one point.

NumPy's way is to do z = z² + c to the whole picture, again and again. Where NumPy goes over the picture for every operation, Weft makes one
loop of those that lead to the next z, as `weft.explain` shows; `weft.eval` says where a step ends. Still each step reads and writes the
whole picture, and points that left long ago take part until the last one. `weft.vectorize` takes a function of one point, whose loop ends
when the point leaves; neighbouring points are the lanes of a vector, also where they leave at different times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import arguments, check, save, table, timed

import weft
from weft.demo import colour

STEPS = 50
"""As many as `weft.demo.colour` has colours for."""


def plane(xp: Any, side: int) -> Any:
    """The points of the picture, complex64, of shape (side, side)."""
    x, y = xp.linspace(-2, 1, side, dtype=xp.float32), xp.linspace(-1.5, 1.5, side, dtype=xp.float32)
    return x + xp.complex64(1j) * y[:, None]


def step(xp: Any, z: Any, c: Any, count: Any) -> tuple[Any, Any]:
    """The next z, of those points that are within the circle of radius 2; and in how many steps each was."""
    within = z.real * z.real + z.imag * z.imag < 4
    return xp.where(within, z * z + c, z), count + within


def by_steps(xp: Any, c: Any) -> Any:
    """In how many steps each point leaves the circle; `STEPS` for those that do not."""
    z, count = c, xp.zeros(c.shape, xp.uint16)
    for _ in range(STEPS):
        z, count = step(xp, z, c, count)
        if xp is weft:
            weft.eval(z, count)
    return count


@weft.vectorize
def escape(c):
    """The same of one point."""
    z = c
    for i in range(STEPS):
        if z.real * z.real + z.imag * z.imag >= 4:
            return np.uint16(i)
        z = z * z + c
    return np.uint16(STEPS)


def main(argv: Sequence[str] | None = None) -> int:
    """Count in both ways, compare, draw; 1 if they do not agree."""
    asked = arguments(__doc__, "mandelbrot.png", argv, side=(400, "pixels a side"))
    with weft.device(asked.device) as device:
        ways = {
            "Weft, whole arrays": timed(lambda: by_steps(weft, plane(weft, asked.side))),
            "Weft, vectorize": timed(lambda: escape(plane(weft, asked.side))),
            "NumPy": timed(lambda: by_steps(np, plane(np, asked.side))),
        }
        table(f"Mandelbrot set, {asked.side} x {asked.side} points, {STEPS} steps, complex64", device, ways)

        c = plane(weft, asked.side).wait()
        print(f"  z after two steps:\n{weft.explain(step(weft, step(weft, c, c, c)[0], c, c)[0])}\n")
        steps, points, numpys = (weft.asnumpy(way.result) for way in ways.values())
        right = [
            check("share of points that vectorize counts otherwise than whole arrays", float((steps != points).mean()), 0.01),
            check("share of points that NumPy counts otherwise", float((steps != numpys).mean()), 0.01),
            check(
                "area of the points that stay, off from the set's", abs(float((steps == STEPS).mean()) * 9 - 1.5066), 0.1 + 10 / asked.side
            ),
        ]
        save(asked.out, colour(steps))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())
