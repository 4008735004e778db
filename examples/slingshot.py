"""A probe thrown past three planets, so that it comes to a place that it cannot be thrown to straight.

`flight` is a loop that moves the probe step by step, compiled by `njit`. `weft.jacrev` goes back through the loop: how the place where the
probe ends follows from the speed that it is thrown with. A few of Newton's steps find the speed. NumPy, beside it, has the undecorated
function, and takes central differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import arguments, check, save, table, timed

import weft

PLANETS = np.array([[-0.45, 0.3, 0.9], [0.25, -0.35, 1.3], [0.75, 0.45, 0.7]])
"""Of each planet where it is, and its mass."""
HOME, TARGET = np.array([-1.2, -0.6]), np.array([1.25, 0.05])
TIME = 1.6


@weft.njit
def flight(speed: Any, planets: Any, steps: int) -> Any:
    """Where the probe is at the end."""
    x, y, u, v = HOME[0], HOME[1], speed[0], speed[1]
    dt = TIME / steps
    for _ in range(steps):
        x, y = x + dt / 2 * u, y + dt / 2 * v
        for k in range(planets.shape[0]):
            dx, dy = planets[k, 0] - x, planets[k, 1] - y
            pull = dt * planets[k, 2] / (dx * dx + dy * dy + 0.01) ** 1.5
            u, v = u + pull * dx, v + pull * dy
        x, y = x + dt / 2 * u, y + dt / 2 * v
    return np.array([x, y])


def by_differences(speed: np.ndarray, steps: int, by: float = 1e-6) -> np.ndarray:
    """How the end follows from the speed, by the undecorated function."""
    ends = [flight.py_func(speed + sign * by * row, PLANETS, steps) for row in np.eye(2) for sign in (1, -1)]
    return np.stack([(ends[0] - ends[1]) / (2 * by), (ends[2] - ends[3]) / (2 * by)], axis=1)


def found(planets: weft.ndarray, steps: int, turns: int) -> list[np.ndarray]:
    """The speeds of each turn, the last of which leads to the target; steps that would lead further away are halved."""
    speed, target = weft.asarray((TARGET - HOME) / TIME), weft.asarray(TARGET)
    speeds = [weft.asnumpy(speed)]
    for _ in range(turns):
        off = flight(speed, planets, steps) - target
        change = weft.linalg.solve(weft.jacrev(flight)(speed, planets, steps), off)
        size = float(weft.linalg.norm(off))
        while float(weft.linalg.norm(flight(speed - change, planets, steps) - target)) > size and size > 1e-12:
            change = change / 2
        speed = speed - change
        speeds.append(weft.asnumpy(speed))
    return speeds


def drawn(speeds: Sequence[np.ndarray], side: int) -> np.ndarray:
    """The paths, the last one bright, with the planets, and a ring where the probe was to come."""
    width = side * 3 // 2
    places = np.stack(np.meshgrid(np.linspace(-1.5, 1.5, width), np.linspace(1, -1, side)), axis=-1)
    pixels = np.full((side, width, 3), (14, 16, 34), np.uint8)
    for x, y, mass in PLANETS:
        distance = np.hypot(places[..., 0] - x, places[..., 1] - y)
        pixels[distance < 0.075 * mass ** (1 / 3)] = (200, 150, 90)
    ring = np.hypot(places[..., 0] - TARGET[0], places[..., 1] - TARGET[1])
    pixels[(ring > 0.05) & (ring < 0.065)] = (120, 230, 140)
    for number, speed in enumerate(speeds):
        x, y = path(speed).T
        row, column = ((1 - y) / 2 * (side - 1)).astype(int), ((x + 1.5) / 3 * (width - 1)).astype(int)
        seen = (row >= 0) & (row < side) & (column >= 0) & (column < width)
        pixels[row[seen], column[seen]] = (255, 255, 255) if number == len(speeds) - 1 else (70, 90, 150)
    return pixels


def path(speed: np.ndarray, steps: int = 2000) -> np.ndarray:
    """Where the probe is all the time, (steps, 2)."""
    x, v, dt, places = HOME.copy(), speed.copy(), TIME / steps, []
    for _ in range(steps):
        x += dt / 2 * v
        away = PLANETS[:, :2] - x
        v += dt * (PLANETS[:, 2:] * away / ((away**2).sum(axis=1, keepdims=True) + 0.01) ** 1.5).sum(axis=0)
        x += dt / 2 * v
        places.append(x.copy())
    return np.array(places)


def main(argv: Sequence[str] | None = None) -> int:
    """Find the speed, compare, draw; 1 if the probe misses."""
    asked = arguments(
        __doc__, "slingshot.png", argv, steps=(2000, "steps of time", 50), turns=(12, "turns"), side=(240, "height of the picture", 60)
    )
    with weft.device(asked.device) as device:
        planets = weft.asarray(PLANETS, device="cpu")
        with weft.device("cpu"):
            speeds = found(planets, asked.steps, asked.turns)
            end = weft.asarray(speeds[-1])
            ours = timed(lambda: weft.jacrev(flight)(end, planets, asked.steps))
            numpys = timed(lambda: by_differences(speeds[-1], asked.steps))
            table(f"how the end of {asked.steps} steps follows from the speed", device, {"Weft": ours, "NumPy": numpys})
            ends = [weft.asnumpy(flight(weft.asarray(speed), planets, asked.steps)) for speed in speeds]
        misses = [float(np.hypot(*(end - TARGET))) for end in ends]
        print("  missed by: " + ", ".join(f"{miss:.2g}" for miss in misses) + "\n")
        size = float(np.abs(numpys.result).max())
        right = [
            check("missed by", misses[-1], 1e-6),
            check("off from differences", float(np.abs(weft.asnumpy(ours.result) - numpys.result).max()) / size, 1e-5),
        ]
        save(asked.out, drawn(speeds, asked.side))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())
