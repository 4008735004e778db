"""`explain`: by which kernels an array is computed. `syncs`: when elements are needed though nobody asked for them by name."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

from weft import _weft
from weft._weft import _traced, ndarray


@dataclass
class Kernel:
    """One kernel that ran: bytes are of memory, each counted once; seconds are of the clock on the wall.

    `runs` in a row of the same kernel, as over the parts of an array, are one: `extents` are those of the first, the rest are sums.
    """

    what: str
    text: str
    extents: tuple[int, ...]
    read: int
    written: int
    seconds: float
    tier: str
    inner: list[Kernel] = field(default_factory=list)
    runs: int = 1

    @property
    def operations(self) -> int:
        """Operations of a point."""
        return self.text.count(" = ")

    def title(self) -> str:
        """One line of it."""
        shape = " × ".join(map(str, self.extents)) or "one point"
        speed = f", {(self.read + self.written) / self.seconds / 1e9:.1f} GB/s" if self.seconds > 0 else ""
        moved = f"reads {_bytes(self.read)}, writes {_bytes(self.written)}"
        runs = f"{self.runs} times " if self.runs > 1 else ""
        operations = f"{self.operations} operation{'s' * (self.operations != 1)}"
        return f"{runs}{self.what} over {shape}: {operations}, {moved}, {_time(self.seconds)} by {self.tier}{speed}"


@dataclass
class Explanation:
    """What `explain` found: prints as a tree; `kernels` has the numbers; `svg()` draws it."""

    title: str
    kernels: list[Kernel]

    @property
    def moved(self) -> int:
        """Bytes that all kernels read and write."""
        return sum(kernel.read + kernel.written for kernel in _all(self.kernels))

    def __str__(self) -> str:
        lines = [self.title]
        if not self.kernels:
            lines.append("└─ nothing to do: its elements are in memory")
        for i, kernel in enumerate(self.kernels):
            _draw(kernel, lines, "", i == len(self.kernels) - 1)
        return "\n".join(lines)

    __repr__ = __str__

    def svg(self, path: str | None = None) -> str:
        """A picture of the kernels: a box each, as wide as its time, with what it computes; written to a file if one is named."""
        picture = _svg(self)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(picture)
        return picture

    def _repr_svg_(self) -> str:
        return self.svg()


def explain(x: ndarray) -> Explanation:
    """Computes an array and says by which kernels: what was fused, which bytes were moved, by which tier.

    Raises TypeError if `x` is no array of Weft's.

    >>> x = weft.arange(4.0)
    >>> print(weft.explain(x * 2 + 1).kernels[0].text)
    def fused(c0, c1):
        t0 = np.multiply(i0, c0)
        t1 = np.add(t0, c1)
        return t1
    <BLANKLINE>
    """
    if not isinstance(x, ndarray):
        raise TypeError(f"explain takes an array of Weft's, not {type(x).__name__}")
    kernels = _kernels(_traced(x))
    return Explanation(f"{x.dtype} {x.shape}, {_bytes(x.nbytes)}", kernels)


class Syncs:
    """What `syncs` counts."""

    def __init__(self) -> None:
        """See the class."""
        self._start = _weft._sync_count()
        self._end: int | None = None

    @property
    def count(self) -> int:
        """Syncs in the block, so far."""
        return (_weft._sync_count() if self._end is None else self._end) - self._start

    def _stop(self) -> None:
        self._end = _weft._sync_count()


@contextmanager
def syncs(mode: str = "count") -> Iterator[Syncs]:
    """A block in which hidden syncs are counted, or are errors.

    A hidden sync computes arrays because their elements are needed, where nobody asked for it by name: `bool(x)`, `float(x)`,
    `np.asarray(x)`, `nonzero`, boolean masks as indices, sorts and other functions that run at once. `weft.eval`, `x.wait()` and
    `weft.asnumpy` are none. `mode` is ``"count"`` or ``"error"``: then each raises `weft.errors.SyncError`.

    >>> with weft.syncs() as found:
    ...     value = float(weft.ones(3).sum())
    >>> found.count
    1
    """
    before = _weft._syncs(mode)
    found = Syncs()
    try:
        yield found
    finally:
        found._stop()
        _weft._syncs(before)


def _kernels(rows: list[dict[str, Any]]) -> list[Kernel]:
    found: list[Kernel] = []
    for row in rows:
        kernel = Kernel(**{**row, "extents": tuple(row["extents"]), "inner": _kernels(row["inner"])})
        if found and _are_same(found[-1], kernel):
            _add(found[-1], kernel)
        else:
            found.append(kernel)
    return found


def _are_same(a: Kernel, b: Kernel) -> bool:
    same = (a.what, a.text, a.tier, len(a.inner)) == (b.what, b.text, b.tier, len(b.inner))
    return same and all(map(_are_same, a.inner, b.inner))


def _add(to: Kernel, kernel: Kernel) -> None:
    to.runs += kernel.runs
    to.read += kernel.read
    to.written += kernel.written
    to.seconds += kernel.seconds
    for own, other in zip(to.inner, kernel.inner, strict=True):
        _add(own, other)


def _all(kernels: list[Kernel]) -> Iterator[Kernel]:
    for kernel in kernels:
        yield kernel
        yield from _all(kernel.inner)


def _bytes(n: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if n < 1000 or unit == "GB":
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    raise AssertionError


def _time(seconds: float) -> str:
    if seconds <= 0:
        return "0 s"
    place = min(3, max(0, -math.floor(math.log10(seconds) / 3)))
    return f"{seconds * 1000**place:.3g} {('s', 'ms', 'µs', 'ns')[place]}"


def _draw(kernel: Kernel, lines: list[str], indent: str, last: bool) -> None:
    lines.append(f"{indent}{'└─ ' if last else '├─ '}{kernel.title()}")
    indent += "   " if last else "│  "
    bar = "│  " if kernel.inner else "   "
    lines.extend(f"{indent}{bar}{line}" for line in kernel.text.rstrip().splitlines())
    for i, each in enumerate(kernel.inner):
        _draw(each, lines, indent, i == len(kernel.inner) - 1)


def _svg(explanation: Explanation) -> str:
    width, line = 960, 16
    whole = sum(kernel.seconds for kernel in explanation.kernels) or 1.0
    parts: list[str] = []
    y = 40

    def box(kernel: Kernel, depth: int) -> None:
        nonlocal y
        text = kernel.text.rstrip().splitlines()
        height = line * (len(text) + 1) + 14
        left, share = 16 + 24 * depth, kernel.seconds / whole
        parts.append(f'<rect x="{left}" y="{y}" width="{width - left - 16}" height="{height}" rx="6" fill="#f4f6fb" stroke="#9aa7c7"/>')
        bar = max(2, (width - left - 16) * min(1.0, share))
        parts.append(f'<rect x="{left}" y="{y + height - 5}" width="{bar:.0f}" height="5" rx="2" fill="#4a6fd8"/>')
        for i, row in enumerate([kernel.title(), *text]):
            weight = ' font-weight="bold"' if i == 0 else ""
            parts.append(f'<text x="{left + 10}" y="{y + line * (i + 1)}"{weight} xml:space="preserve">{escape(row)}</text>')
        y += height + 10
        for each in kernel.inner:
            box(each, depth + 1)

    for kernel in explanation.kernels:
        box(kernel, 0)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + 10}" font-family="monospace" font-size="12">'
    title = f'<text x="16" y="24" font-size="15">{escape(explanation.title)}</text>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', title, *parts, "</svg>"])
