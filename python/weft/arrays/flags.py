"""`x.flags`: how an array's elements lie in memory, and whether they can be written, under NumPy's names."""

from __future__ import annotations

from typing import Any

from weft._weft import ndarray

from ._common import in_c_order, refuse

_SHORT = {
    "C": "c_contiguous",
    "CONTIGUOUS": "c_contiguous",
    "F": "f_contiguous",
    "FORTRAN": "f_contiguous",
    "O": "owndata",
    "W": "writeable",
    "A": "aligned",
    "X": "writebackifcopy",
    "B": "behaved",
    "CA": "carray",
    "FA": "farray",
}
"""NumPy's other names of flags, for `x.flags["C"]`."""
_LONG = (
    "C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY", "FNC", "FORC", "BEHAVED", "CARRAY", "FARRAY",
)  # fmt: skip
_NUMBERS = {"c_contiguous": 1, "f_contiguous": 2, "owndata": 4, "aligned": 0x100, "writeable": 0x400}
"""Bits of `x.flags.num`."""


class Flags:
    """What is so of an array: attributes, or NumPy's names in brackets.

    >>> weft.zeros((2, 3)).T.flags["F_CONTIGUOUS"]
    True
    """

    __slots__ = ("_array",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: ndarray) -> None:
        """The flags of an array, as they are whenever they are asked for."""
        object.__setattr__(self, "_array", array)

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements follow each other, the last axis first."""
        return in_c_order(self._array)

    @property
    def f_contiguous(self) -> bool:
        """Whether the elements follow each other, the first axis first."""
        return in_c_order(self._array.T)

    @property
    def owndata(self) -> bool:
        """Whether the array was made with its memory: it is no view of another one."""
        return self._array._own

    @property
    def writeable(self) -> bool:
        """Whether the elements can be assigned to."""
        return self._array._writeable

    @property
    def aligned(self) -> bool:
        """Whether every element is at a multiple of what its parts take."""
        x = self._array
        unit = x.itemsize // 2 if x.dtype.kind == "c" else x.itemsize
        return x.size == 0 or all(at % unit == 0 for at in (x._place[1], *(s for n, s in zip(x.shape, x.strides) if n != 1)))

    @property
    def writebackifcopy(self) -> bool:
        """Never: an array is not a copy of another one that is to be written back."""
        return False

    @property
    def contiguous(self) -> bool:
        """`c_contiguous`."""
        return self.c_contiguous

    @property
    def fortran(self) -> bool:
        """`f_contiguous`."""
        return self.f_contiguous

    @property
    def fnc(self) -> bool:
        """In Fortran's order, and not in C's."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        """In Fortran's order or in C's."""
        return self.f_contiguous or self.c_contiguous

    @property
    def behaved(self) -> bool:
        """Aligned, and can be written."""
        return self.aligned and self.writeable

    @property
    def carray(self) -> bool:
        """Behaved, and in C's order."""
        return self.behaved and self.c_contiguous

    @property
    def farray(self) -> bool:
        """What NumPy makes of it: not in C's order, and in Fortran's or aligned or to be written."""
        return not self.c_contiguous and (self.f_contiguous or self.aligned or self.writeable)

    @property
    def num(self) -> int:
        """All flags as bits."""
        return sum(bit for name, bit in _NUMBERS.items() if getattr(self, name))

    def __getitem__(self, name: Any) -> bool:
        """A flag by one of NumPy's names for it."""
        return getattr(self, _named(name))

    def __setitem__(self, name: Any, value: Any) -> None:
        """As the attribute: only what stays as it is."""
        setattr(self, _named(name, ("WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY", "W", "A", "X")), value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Takes what is so already; nothing here changes an array."""
        if name not in ("writeable", "aligned", "writebackifcopy"):
            cause = "is not writable" if hasattr(type(self), name) else "does not exist"
            raise AttributeError(f"attribute {name!r} of the flags of an array {cause}")
        if bool(value) == getattr(self, name):
            return
        if value:
            raise ValueError(f"cannot set {name.upper()} flag to True of this array")
        raise refuse("ndarray.flags", f"{name} follows from what an array is a view of: weft.broadcast_to(x, x.shape) is read-only")

    def __eq__(self, other: Any) -> bool:
        """Whether another array's flags are the same."""
        return self.num == other.num if isinstance(other, Flags) else NotImplemented

    def __repr__(self) -> str:
        """As NumPy shows it."""
        return "".join(f"  {name} : {self[name]}\n" for name in _LONG[:6])

    __str__ = __repr__


def _named(name: Any, among: tuple[str, ...] = (*_SHORT, *_LONG)) -> str:
    """The attribute of a name in brackets."""
    given = name.decode("latin-1") if isinstance(name, bytes) else name
    if not isinstance(given, str) or given not in among:
        raise KeyError("Unknown flag")
    return _SHORT.get(given, given.lower())
