"""The heat equation: hot letters on a cold plate, whose edge is kept cold, one small step of time after the other.

A step is a single line of slices. Written in place it is the array's next version; a hundred of them are recorded once by `weft.compile`
and done again without Python. One shape of heat has a known future: a half wave along each axis keeps its shape, and fades by the same
factor in each step. The program holds that against what it computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import arguments, beside, check, painted, save, table, timed

import weft

GLOW = ((8, 8, 30), (90, 10, 90), (200, 40, 60), (250, 150, 40), (255, 250, 200))
RATE = 0.2
"""Of conduction times the step of time over the square of the distance of points: above 0.25 such steps blow up."""

LETTERS = """
W...W.EEEE.FFFF.TTTTT
W...W.E....F......T..
W.W.W.EEE..FFF....T..
W.W.W.E....F......T..
.W.W..EEEE.F......T.."""


def letters(height: int, width: int) -> weft.ndarray:
    """1 where a letter is, 0 elsewhere, float32."""
    small = weft.asarray([[float(sign != ".") for sign in line] for line in LETTERS.split()], dtype="float32")
    plate = weft.pad(small, ((2, 2), (2, 2)))
    rows, columns = (weft.arange(new) * old // new for new, old in zip((height, width), plate.shape))
    return plate[rows[:, None], columns]


def steps(u: Any, count: int) -> Any:
    """The temperatures some steps later; those of the edge stay."""
    u = u.copy()
    for _ in range(count):
        u[1:-1, 1:-1] += RATE * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    return u


def wave(height: int, width: int) -> tuple[weft.ndarray, float]:
    """A half wave along each axis, and the factor by which it fades in a step."""
    phases = [weft.pi * weft.arange(side) / (side - 1) for side in (height, width)]
    fades = 1 - 4 * RATE * sum(np.sin(np.pi / (side - 1) / 2) ** 2 for side in (height, width))
    return (weft.sin(phases[0])[:, None] * weft.sin(phases[1])).astype(weft.float32), float(fades)


def main(argv: Sequence[str] | None = None) -> int:
    """Let heat spread, compare, draw; 1 if it is not where it should be."""
    asked = arguments(__doc__, "heat.png", argv, width=(500, "points in the width", 3), steps=(100, "steps of time between two pictures"))
    height = max(asked.width * 9 // 25, 3)
    with weft.device(asked.device) as device:
        later = weft.compile(lambda u: steps(u, asked.steps))
        plate = letters(height, asked.width).wait()
        host = weft.asnumpy(plate)
        ours = timed(lambda: later(plate))
        numpys = timed(lambda: steps(host, asked.steps))
        table(f"{asked.steps} steps of {height} x {asked.width} points, float32", device, {"Weft": ours, "NumPy": numpys})

        pictures = [plate, ours.result]
        pictures.append(later(later(ours.result)))
        print("  heat on the plate: " + ", ".join(f"{float(each.sum()):.0f}" for each in pictures) + "\n")
        start, fades = wave(height, asked.width)
        right = [
            check("a wave off from its known future", float(weft.abs(later(start) - start * fades**asked.steps).max()), 2e-5),
            check("hottest point", float(pictures[-1].max()), 1),
            check("minus the coldest point", -float(pictures[-1].min()), 0),
            check("off from NumPy", float(np.abs(weft.asnumpy(ours.result) - numpys.result).max()), 1e-5),
        ]
        step = max(1, asked.width // 250)
        shown = [painted(np.sqrt(weft.asnumpy(each))[::step, ::step], GLOW, 0, 1) for each in pictures]
        save(asked.out, beside(*shown))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())
