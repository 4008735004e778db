"""The heat equation backwards: what was written on a plate, from how warm it is some time later.

The program says how heat spreads, and how far the plate it would come to is from the one that is seen. `weft.value_and_grad` makes of that
which way to change the plate at the start: the way back through every step of time, which the program does not contain. NumPy, beside it,
needs that way back written by hand. Thousands of unknowns, found by projected steps with momentum (Beck and Teboulle, 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import arguments, beside, check, painted, save, table, timed
from heat import GLOW, RATE, letters, steps

import weft


def misfit(start: weft.ndarray, seen: weft.ndarray, count: int) -> weft.ndarray:
    """Half the sum of squares of how far a plate, some steps later, is from one that is seen."""
    return ((steps(start, count) - seen) ** 2).sum() / 2


def by_hand(start: np.ndarray, seen: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The same and its gradient in NumPy."""
    off = steps(start, count) - seen
    back = off.copy()
    for _ in range(count):
        inner = RATE * back[1:-1, 1:-1]
        back[1:-1, 1:-1] -= 4 * inner
        for part in (back[:-2, 1:-1], back[2:, 1:-1], back[1:-1, :-2], back[1:-1, 2:]):
            part += inner
    return (off**2).sum() / 2, back


def found(seen: weft.ndarray, count: int, turns: int) -> tuple[weft.ndarray, list[float]]:
    """The plate at the start, no colder than 0 and no hotter than 1, and the misfit after each turn."""

    @weft.compile
    def turn(plate: Any, ahead: Any, push: Any, seen: Any) -> tuple[Any, ...]:
        value, slope = weft.value_and_grad(misfit)(ahead, seen, count)
        better = weft.zeros_like(ahead)
        # The edge is kept cold: it is known.
        better[1:-1, 1:-1] = weft.clip(ahead - slope, 0, 1)[1:-1, 1:-1]
        further = (1 + weft.sqrt(1 + 4 * push * push)) / 2
        return better, better + (push - 1) / further * (better - plate), further, value

    plate = ahead = weft.zeros_like(seen)
    push, values = weft.asarray(1.0, dtype=seen.dtype), []
    for _ in range(turns):
        plate, ahead, push, value = turn(plate, ahead, push, seen)
        values.append(value)
        weft.eval(plate, ahead, push, value, wait=False)
    return plate, [float(value) for value in values]


def main(argv: Sequence[str] | None = None) -> int:
    """Let heat spread, find where it came from, compare, draw; 1 if that is wrong."""
    asked = arguments(
        __doc__, "heat_backwards.png", argv, width=(250, "points in the width", 25), steps=(40, "steps of time"), turns=(150, "turns")
    )
    height = asked.width * 9 // 25
    with weft.device(asked.device) as device:
        true = letters(height, asked.width)
        seen = steps(true, asked.steps).wait()
        both = weft.compile(lambda start, seen: weft.value_and_grad(misfit)(start, seen, asked.steps))
        start = (weft.zeros_like(seen) + 0.5).wait()
        hosts = [weft.asnumpy(each) for each in (start, seen)]
        ours = timed(lambda: both(start, seen))
        numpys = timed(lambda: by_hand(*hosts, asked.steps))
        table(f"gradient through {asked.steps} steps of {height} x {asked.width} points, float32", device, {"Weft": ours, "NumPy": numpys})

        plate, values = found(seen, asked.steps, asked.turns)
        print(f"  misfit: {values[0]:.1f} at first, {values[-1]:.2g} after {asked.turns} turns")
        blurred, sharp = (float(weft.abs(each - true).mean()) for each in (seen, plate))
        print(f"  off from what was written, on average: {blurred:.3f} as it is seen, {sharp:.3f} as it was found\n")
        size = float(np.abs(numpys.result[1]).max())
        right = [
            check("gradient off from NumPy's", float(np.abs(weft.asnumpy(ours.result[1]) - numpys.result[1]).max()) / size, 1e-5),
            check("misfit over what it was", values[-1] / values[0], 1e-3),
            check("off from what was written, over what is seen", sharp / blurred, 0.6),
        ]
        shown = [painted(weft.asnumpy(each), GLOW, 0, 1) for each in (true, seen, plate)]
        save(asked.out, beside(*shown))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())
