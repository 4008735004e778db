"""What the programs of this folder share: their command line, the clock, the table, checks of results, and pictures."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft.demo import write_png

Pixels = np.ndarray
"""(height, width, 3) of uint8."""

HEAT = ((10, 7, 60), (32, 107, 203), (237, 255, 255), (255, 170, 0), (120, 20, 40))
"""Colours for what has a middle: blue below it, white there, red above."""

PATIENCE = 0.4
"""Seconds that the calls after the first may take together."""


Option = tuple[int | str, str] | tuple[int, str, int]
"""A default, a word on what it is, and of a whole number the least, if that is not 1."""


def arguments(about: str | None, picture: str, argv: Sequence[str] | None, **options: Option) -> argparse.Namespace:
    """What the command line says: `--device`, `--out`, and each of `options`."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--device", type=_device, default="cpu", help="cpu, cuda, vulkan, or another that `weft info` lists (cpu if nothing is said)"
    )
    for name, (default, what, *least) in options.items():
        kind, metavar = (_from(*least or [1]), "N") if isinstance(default, int) else (str, name.upper())
        parser.add_argument(f"--{name}", type=kind, default=default, metavar=metavar, help=f"{what} ({default} if nothing is said)")
    parser.add_argument("--out", type=_file, default=Path(picture), metavar="PICTURE", help=f"where the picture goes ({picture})")
    return parser.parse_args(argv)


def _device(text: str) -> str:
    """Reads the name of a device that there is."""
    try:
        weft.device(text)
    except (ValueError, weft.errors.WeftError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _file(text: str) -> Path:
    """Reads where a file can be written, in a folder that there is or that can be made."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text or '.'} is a folder, not a file for the picture")
    for folder in path.parents:
        if folder.exists() and not folder.is_dir():
            raise argparse.ArgumentTypeError(f"{text}: {folder} is no folder")
    return path


def _from(least: int) -> Callable[[str], int]:
    """Reads a whole number that is that large at least."""

    def number(text: str) -> int:
        found = int(text)
        if found < least:
            raise argparse.ArgumentTypeError(f"{found} is not above {least - 1}")
        return found

    return number


@dataclass(frozen=True)
class Timed:
    """What some work gave, and seconds: of its first call, in which Weft compiles, and of the fastest of the next ones."""

    result: Any
    first: float
    best: float


def timed(work: Callable[[], Any]) -> Timed:
    """Do some work again and again, at least twice. What it gives is computed: a record of what is to be done is no result."""
    times: list[float] = []
    while len(times) < 2 or sum(times[1:]) < PATIENCE:
        start = time.perf_counter()
        result = work()
        weft.eval(*(each for each in (result if isinstance(result, tuple) else (result,)) if isinstance(each, weft.ndarray)))
        times.append(time.perf_counter() - start)
    return Timed(result, times[0], min(times[1:]))


def table(title: str, device: weft.Device | str, ways: Mapping[str, Timed]) -> None:
    """Print the times of each way to do the same, in milliseconds; the last one is what the others are compared with."""
    *_, (reference, slow) = ways.items()
    width = max(map(len, ways))
    threads = f"; {weft.get_num_threads()} threads" if isinstance(device, weft.Device) and device.kind == "cpu" else ""
    print(f"{title}, on {device}{threads}\n")
    print(f"  {'':<{width}}  {'first call':>12}  {'then':>12}  {f'{reference} / this':>16}")
    for name, way in ways.items():
        print(f"  {name:<{width}}  {way.first * 1e3:>9,.2f} ms  {way.best * 1e3:>9,.2f} ms  {slow.best / way.best:>16.2f}")
    print()


def check(what: str, found: float, limit: float) -> bool:
    """Say how far a result is off, and whether that is within its limit. NaN is not."""
    holds = bool(found <= limit)
    print(f"  {'right' if holds else 'WRONG'}: {what}: {found:.3g}, at most {limit:.3g}")
    return holds


def painted(values: Any, stops: Sequence[Sequence[int]] = HEAT, low: float | None = None, high: float | None = None) -> Pixels:
    """A colour for each number: the first of `stops` for `low` (the smallest number), the last for `high` (the largest), others between.

    There are 32 of them: files of noisy pictures are small by that.
    """
    values = np.asarray(values, float)
    low, high = values.min() if low is None else low, values.max() if high is None else high
    place = (np.clip((values - low) / ((high - low) or 1.0), 0, 1) * 31).round() / 31 * (len(stops) - 1)
    channels = [np.interp(place, np.arange(len(stops)), channel) for channel in np.transpose(stops)]
    return np.stack(channels, axis=-1).round().astype(np.uint8)


def grey(values: Any) -> Pixels:
    """From black for 0 to white for 1."""
    return painted(values, ((0, 0, 0), (255, 255, 255)), 0, 1)


def beside(*pictures: Pixels) -> Pixels:
    """Pictures of one height in a row, with white between them."""
    white = np.full((pictures[0].shape[0], 6, 3), 255, np.uint8)
    return np.concatenate([part for picture in pictures for part in (white, picture)][1:], axis=1)


def save(path: Path, pixels: Any) -> None:
    """Write a picture, and say so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_png(path, np.asarray(pixels))
    print(f"\n  wrote {path}")
