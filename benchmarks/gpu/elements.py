"""Whole arrays on a GPU: arithmetic, sums, sorts, what masks and indices choose, in functions that have one name in
NumPy, CuPy and PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def _sorted(found: Any) -> Any:
    """PyTorch gives the indices, too."""
    return found[0] if isinstance(found, tuple) else found


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "elements_chain": lambda xp, a: xp.sqrt(a[0] * a[0] + 1) * 2 - xp.sin(a[0]),
    "elements_total": lambda xp, a: xp.sum(a[0]).reshape(1),
    "elements_sum_of_columns": lambda xp, a: xp.sum(a[0], 0),
    "elements_sum_of_rows": lambda xp, a: xp.sum(a[0], 1),
    "elements_greatest": lambda xp, a: xp.argmax(a[0]).reshape(1),
    "elements_running_sum": lambda xp, a: xp.cumsum(a[0], 0),
    "elements_sort": lambda xp, a: _sorted(xp.sort(a[0])),
    "elements_order": lambda xp, a: xp.argsort(a[0]),
    "elements_unique": lambda xp, a: xp.unique(a[0]),
    "elements_counts": lambda xp, a: xp.bincount(a[0], minlength=1000),
    "elements_mask": lambda xp, a: a[0][a[0] > 0],
    "elements_gather": lambda xp, a: a[0][a[1]],
    "elements_searches": lambda xp, a: xp.searchsorted(a[0], a[1]),
}


def all_parts(small: bool, of: Callable[..., Any]) -> Iterator[Any]:
    """The parts; `of` makes one, given title, method, tolerance and the kinds and shapes of arrays."""
    n = 1 << 10 if small else 10**7
    many = f"{n} elements"
    side = (8, 16) if small else (2500, 4000)
    matrix = f"{side[0]}x{side[1]}"
    yield of(f"sqrt(x*x + 1)*2 - sin(x), {many}", "elements_chain", 1e-6, ("any", n))
    yield of(f"sum, {many}", "elements_total", 1e-5, ("some", n))
    yield of(f"sum of columns, {matrix}", "elements_sum_of_columns", 1e-5, ("some", *side))
    yield of(f"sum of rows, {matrix}", "elements_sum_of_rows", 1e-5, ("some", *side))
    yield of(f"argmax, {many}", "elements_greatest", 0.0, ("distinct", n), dtype="int32")
    yield of(f"cumsum, {many}", "elements_running_sum", 1e-4, ("some", n))
    yield of(f"sort, {many}", "elements_sort", 0.0, ("any", n))
    yield of(f"sort, {many}", "elements_sort", 0.0, ("distinct", n), dtype="int32")
    yield of(f"argsort, {many}", "elements_order", 0.0, ("distinct", n), dtype="int32")
    yield of(f"unique, 1000 of {many}", "elements_unique", 0.0, ("few", n), dtype="int32")
    yield of(f"bincount, 1000 of {many}", "elements_counts", 0.0, ("few", n), dtype="int32")
    yield of(f"x[x > 0], {many}", "elements_mask", 0.0, ("any", n))
    yield of(f"x[i], {many}", "elements_gather", 0.0, ("distinct", n), ("distinct", n), dtype="int32")
    yield of(f"searchsorted, 1000 and {many}", "elements_searches", 0.0, ("ordered", 1000), ("any", n))
