"""``weft demo``: one kernel renders the Mandelbrot set on every device, beside pure Python and, if asked, the peers.

`demo_mesh` then computes a mesh as arrays and as a kernel.
"""

from __future__ import annotations

import statistics
import struct
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft import cuda, demo_mesh

LIMIT = 50
VIEW = (-2.0, 1.0, -1.5, 1.5)
PYTHON_SIZE = 200
PATIENCE = 10.0
"""Seconds a picture may take: what would need longer is not rendered but scaled from the last size that was."""

Image = Any
Render = Callable[[Image], None]


@cuda.jit(device=True)
def escape(x, y, limit):
    """The iteration at which ``z = z * z + c`` leaves the circle of radius 2, or ``limit``."""
    c = complex(x, y)
    z = 0j
    for i in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4.0:
            return i
    return limit


@cuda.jit
def mandelbrot(x0, x1, y0, y1, image, limit):
    """One thread per pixel of ``image``, which covers ``x0..x1`` by ``y0..y1``."""
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        x = x0 + col * (x1 - x0) / image.shape[1]
        y = y0 + row * (y1 - y0) / image.shape[0]
        image[row, col] = escape(x, y, limit)


@dataclass(frozen=True)
class Row:
    """One line of the table. ``seconds`` is for the whole picture; ``scaled_from`` is the side of the one they are computed from."""

    size: int
    who: str
    seconds: float
    scaled_from: int | None = None


def run(sizes: Sequence[int], *, peers: bool = False, out: str | Path = ".", mesh: int = 2000) -> int:
    """Render at each size on each device, then compute a mesh of the side `mesh`; print the tables, write the pictures to ``out``."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    progress = _Progress(sys.stderr)

    python_seconds = _time_pure_python(progress)
    rows: list[Row] = []
    picture = None
    for name, render, first in _contestants(peers, progress):
        rows.append(Row(0, f"{name}, first call", first))
        last: Row | None = None
        for size in sorted(sizes):
            if last and last.seconds * (size / last.size) ** 2 > PATIENCE:
                rows.append(_scaled(last, size))
                continue
            progress.say(f"{name}: {size} x {size}")
            image = np.empty((size, size), np.uint16)
            last = Row(size, name, _median_seconds(render, image))
            rows.append(last)
            if picture is None or (name == "cpu" and picture.shape[0] < size <= 2500):
                picture = image
    rows += [_scaled(Row(PYTHON_SIZE, "pure Python", python_seconds), size) for size in sizes]
    progress.done()

    _print_table(rows, sizes)
    if picture is not None:
        write_png(folder / "mandelbrot.png", colour(picture))
        print(f"\nwrote {folder / 'mandelbrot.png'}")
    if _plot(rows, folder / "mandelbrot-times.png"):
        print(f"wrote {folder / 'mandelbrot-times.png'}")
    if mesh:
        demo_mesh.run(mesh, folder, progress.say)
        progress.done()
    return 0


def _scaled(row: Row, size: int) -> Row:
    """What a picture of another size would take: the work is the same for every pixel, on average."""
    return Row(size, row.who, row.seconds * (size / row.size) ** 2, scaled_from=row.size)


def _contestants(peers: bool, progress: _Progress) -> list[tuple[str, Render, float]]:
    """Name, function and seconds of the first call of everything that renders the picture."""
    found: list[tuple[str, Render, float]] = []
    for device in weft.devices():
        name = f"{device.name} (software)" if device.software else device.name
        progress.say(f"{name}: compiling")
        render = _on(device)
        try:
            with warnings.catch_warnings():
                # The table says it.
                warnings.simplefilter("ignore", weft.PrecisionWarning)
                first = _seconds(render, np.empty((16, 16), np.uint16))
        except weft.WeftError as error:
            progress.say(f"{name} is left out: {str(error).splitlines()[0]}", keep=True)
            continue
        found.append((name if device.float64 else f"{name} float32", render, first))
    if peers:
        for name, make in (("numba", _numba_render), ("tensorflow", _tensorflow_render)):
            progress.say(f"{name}: importing and compiling")
            try:
                render = make()
            except ImportError:
                progress.say(f"{name} is not installed, left out", keep=True)
                continue
            found.append((name, render, _seconds(render, np.empty((16, 16), np.uint16))))
    return found


def _on(device: weft.Device) -> Render:
    def render(image: Image) -> None:
        with device:
            mandelbrot.forall(image.shape)(*VIEW, image, LIMIT)

    return render


def _numba_render() -> Render:
    import numba

    inner = numba.njit(escape.py_func)

    @numba.njit(parallel=True)
    def rows(x0, x1, y0, y1, image, limit):
        for row in numba.prange(image.shape[0]):
            y = y0 + row * (y1 - y0) / image.shape[0]
            for col in range(image.shape[1]):
                image[row, col] = inner(x0 + col * (x1 - x0) / image.shape[1], y, limit)

    return lambda image: rows(*VIEW, image, LIMIT)


def _tensorflow_render() -> Render:
    import tensorflow as tf

    @tf.function
    def escaped(c: Any) -> Any:
        z = tf.zeros_like(c)
        count = tf.fill(tf.shape(c), LIMIT)
        live = tf.ones(tf.shape(c), tf.bool)
        for i in tf.range(LIMIT):
            z = tf.where(live, z * z + c, z)
            leaves = live & (tf.math.real(z) ** 2 + tf.math.imag(z) ** 2 >= 4.0)
            count = tf.where(leaves, i, count)
            live = live & ~leaves
        return count

    def render(image: Image) -> None:
        height, width = image.shape
        x0, x1, y0, y1 = VIEW
        x = x0 + np.arange(width) * (x1 - x0) / width
        # In bands, so that the intermediate arrays fit in memory.
        for top in range(0, height, 500):
            y = y0 + np.arange(top, min(top + 500, height)) * (y1 - y0) / height
            image[top : top + 500] = escaped(tf.constant(x[None, :] + 1j * y[:, None])).numpy()

    return render


def _time_pure_python(progress: _Progress, size: int = PYTHON_SIZE) -> float:
    """Seconds of the undecorated function for a picture of a size it can finish."""
    progress.say(f"pure Python: {size} x {size}")
    plain = escape.py_func
    x0, x1, y0, y1 = VIEW
    start = time.perf_counter()
    for row in range(size):
        for col in range(size):
            plain(x0 + col * (x1 - x0) / size, y0 + row * (y1 - y0) / size, LIMIT)
    return time.perf_counter() - start


def _seconds(render: Render, image: Image) -> float:
    start = time.perf_counter()
    render(image)
    return time.perf_counter() - start


def _median_seconds(render: Render, image: Image) -> float:
    """Of up to five runs after one to touch the memory, as time allows; of that one alone if it takes long."""
    warm = _seconds(render, image)
    repeats = min(5, int(2.0 / max(warm, 1e-6)))
    if repeats == 0:
        return warm
    return statistics.median(_seconds(render, image) for _ in range(repeats))


def _print_table(rows: Sequence[Row], sizes: Sequence[int]) -> None:
    for row in rows:
        if row.size == 0:
            print(f"{row.who}: {row.seconds * 1e3:.1f} ms")
    print(f"\nMandelbrot set, {LIMIT} iterations, in float64 unless float32 is said; times faster than pure Python\n")
    width = max(14, *(len(row.who) for row in rows if row.size))
    print(f"{'size':>13}  {'device':<{width}} {'time':>12} {'times faster':>13}")
    for size in sizes:
        plain = next(row.seconds for row in rows if row.size == size and row.who == "pure Python")
        for row in sorted((row for row in rows if row.size == size), key=lambda row: row.seconds):
            shown = f"{row.seconds * 1e3:,.1f} ms" if row.seconds < 10 else f"{row.seconds:,.0f} s"
            note = f"  scaled from {row.scaled_from} x {row.scaled_from}" if row.scaled_from else ""
            print(f"{size:>6}x{size:<6}  {row.who:<{width}} {shown:>12} {plain / row.seconds:>13,.0f}{note}")


def colour(counts: Image) -> Image:
    """Colours for iteration counts: an array of shape ``counts.shape + (3,)`` and dtype uint8; black inside the set."""
    stops = np.array([[10, 7, 60], [32, 107, 203], [237, 255, 255], [255, 170, 0], [120, 20, 40]], float)
    where = np.sqrt(np.arange(LIMIT) / (LIMIT - 1)) * (len(stops) - 1)
    palette = np.zeros((LIMIT + 1, 3), np.uint8)
    for channel in range(3):
        palette[:LIMIT, channel] = np.interp(where, np.arange(len(stops)), stops[:, channel])
    return palette[counts]


def write_png(path: Path, pixels: Image) -> None:
    """Write ``pixels`` (height, width, 3; uint8) as a PNG file (W3C PNG specification, colour type 2)."""
    height, width, _ = pixels.shape
    lines = np.zeros((height, 1 + 3 * width), np.uint8)
    lines[:, 1:] = pixels.reshape(height, 3 * width)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


def _plot(rows: Sequence[Row], path: Path) -> bool:
    try:
        import matplotlib
    except ImportError:
        print("\nmatplotlib is not installed: no plot of the times (pip install matplotlib)")
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    names = dict.fromkeys(row.who for row in rows if row.size)
    for name in names:
        points = sorted((row.size, row.seconds) for row in rows if row.who == name and row.size)
        style = "--" if any(row.scaled_from for row in rows if row.who == name) else "-"
        axes.loglog(*zip(*points), style, marker="o", label=name + (" (scaled)" if style == "--" else ""))
    axes.set_xlabel("pixels a side")
    axes.set_ylabel("seconds")
    axes.set_title(f"Mandelbrot set, {LIMIT} iterations, in float64 unless float32 is said")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    return True


class _Progress:
    """One line that says what is running, redrawn in place on a terminal."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.live = stream.isatty()

    def say(self, text: str, keep: bool = False) -> None:
        if self.live:
            self.stream.write(f"\r\x1b[K{text}" + ("\n" if keep else ""))
        else:
            self.stream.write(f"{text}\n")
        self.stream.flush()

    def done(self) -> None:
        if self.live:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
