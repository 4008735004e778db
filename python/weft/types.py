"""Type objects for explicit signatures: Numba's names and notation.

``float64`` is a scalar, ``float64[:]`` an array of one axis, ``float64[:, ::1]`` a C-contiguous and ``float64[::1, :]``
a Fortran-contiguous one of two; ``float64(float64, int32)`` is a signature. A scalar type called with a value converts it,
as in Numba. Everything can be written as a string too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

import numpy as np

Spec = tuple[Any, ...]


class Type:
    """What an argument or a result is. Types are equal if they describe the same values."""

    def __init__(self, spec: Spec, name: str) -> None:
        """Made by this module only: `spec` is what the extension module reads."""
        self._spec_ = spec
        self.name = name

    def __eq__(self, other: object) -> bool:
        """Types of one spec are one type."""
        return isinstance(other, Type) and self._spec_ == other._spec_

    def __hash__(self) -> int:
        """By spec."""
        return hash(self._spec_)

    def __repr__(self) -> str:
        """As it is written in a signature."""
        return self.name

    def __call__(self, *args: Any) -> Any:
        """A signature with this result, for arguments that are types."""
        return Signature(self, args)


class Scalar(Type):
    """A number of one NumPy dtype."""

    def __init__(self, short: str, name: str, dtype: str) -> None:
        """`short` is the IR's name, `dtype` NumPy's."""
        super().__init__(("s", short), name)
        self._weft_scalar_ = short
        self._dtype = dtype

    @property
    def dtype(self) -> np.dtype:
        """NumPy's dtype. That of bfloat16 is of the package `ml_dtypes`."""
        return _bfloat16_dtype() if self._dtype == "bfloat16" else np.dtype(self._dtype)

    @property
    def itemsize(self) -> int:
        """Bytes an element takes."""
        return 2 if self._dtype == "bfloat16" else self.dtype.itemsize

    def __getitem__(self, axes: Any) -> Array:
        """An array type: `float64[:, ::1]`."""
        return _array(self, axes if isinstance(axes, tuple) else (axes,))

    def __call__(self, *args: Any) -> Any:
        """A signature, or with a single value that is no type the value converted."""
        if len(args) == 1 and not isinstance(args[0], Type):
            return self.dtype.type(args[0])
        return Signature(self, args)


class Array(Type):
    """An array of one dtype, rank and layout (`C`, `F`, or `A` for any)."""

    def __init__(self, elem: Scalar, ndim: int, layout: str, writable: bool = True) -> None:
        """See the class."""
        axes = [":"] * ndim
        if layout in "CF" and ndim:
            axes[-1 if layout == "C" else 0] = "::1"
        super().__init__(("a", elem._weft_scalar_, ndim, layout, writable), f"{elem.name}[{', '.join(axes)}]")
        self.dtype = elem
        self.ndim = ndim
        self.layout = layout


class Tuple(Type):
    """A tuple of types."""

    def __init__(self, items: Iterable[Type]) -> None:
        """One type per item."""
        self.types = tuple(items)
        super().__init__(("t", tuple(t._spec_ for t in self.types)), f"Tuple({', '.join(map(repr, self.types))})")


class NamedTuple(Tuple):
    """A named tuple of types: the class says the names."""

    def __init__(self, items: Iterable[Type], cls: type) -> None:
        """One type per field of `cls`."""
        super().__init__(items)
        self.instance_class = cls
        self.fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
        if len(self.fields) != len(self.types):
            raise TypeError(f"{cls.__name__} has {len(self.fields)} fields and was given {len(self.types)} types")
        self._spec_ += (cls,)
        self.name = f"{cls.__name__}({', '.join(map(repr, self.types))})"


class EnumMember(Type):
    """A member of an enumeration that is no number: code is compiled for each."""

    def __init__(self, member: Enum) -> None:
        """The one member."""
        super().__init__(("o", member), str(member))
        self.member = member


class Constant(Type):
    """A function or a dtype as an argument: code is compiled for each."""

    def __init__(self, value: Any) -> None:
        """The one object."""
        super().__init__(("o", value), getattr(value, "__name__", str(value)))
        self.value = value


class Default(Type):
    """The default of a parameter that a call leaves out, where code is compiled for it."""

    def __init__(self, value: Any) -> None:
        """The value."""
        super().__init__(("d", value), f"omitted(default={value!r})")
        self.value = value


def _bfloat16_dtype() -> np.dtype:
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            "bfloat16 outside compiled code needs the package ml_dtypes: pip install ml_dtypes, or convert to float32"
        ) from None
    return np.dtype(ml_dtypes.bfloat16)


def UniTuple(item: Type, count: int) -> Tuple:
    """A tuple of `count` items of one type."""
    return Tuple([item] * count)


def NamedUniTuple(item: Type, count: int, cls: type) -> NamedTuple:
    """A named tuple whose `count` fields have one type."""
    return NamedTuple([item] * count, cls)


class Signature:
    """Argument types and the result's, which may be None."""

    def __init__(self, result: Type | None, args: Sequence[Any]) -> None:
        """`float64(float64, float64)` makes one."""
        self.return_type = result
        self.args = tuple(as_type(a) for a in args)
        self._spec_ = (result._spec_ if result is not None else None, tuple(a._spec_ for a in self.args))

    def __eq__(self, other: object) -> bool:
        """Signatures of the same types are equal."""
        return isinstance(other, Signature) and self._spec_ == other._spec_

    def __hash__(self) -> int:
        """By types."""
        return hash(self._spec_)

    def __repr__(self) -> str:
        """As it is written."""
        return f"({', '.join(map(repr, self.args))}) -> {self.return_type}"


def _array(elem: Scalar, axes: tuple[Any, ...]) -> Array:
    for axis in axes:
        if not isinstance(axis, slice) or axis.start is not None or axis.stop is not None or axis.step not in (None, 1):
            raise TypeError(f"an array type is written {elem}[:], {elem}[:, ::1] or {elem}[::1, :]")
    ones = [i for i, axis in enumerate(axes) if axis.step == 1]
    if not ones:
        return Array(elem, len(axes), "A")
    if ones == [len(axes) - 1]:
        return Array(elem, len(axes), "C")
    if ones == [0]:
        return Array(elem, len(axes), "F")
    raise TypeError("only the first or the last axis of an array type can be contiguous (::1)")


none = void = Type(("n",), "none")
boolean = bool_ = b1 = Scalar("bool", "bool", "bool")
int8 = i1 = Scalar("i8", "int8", "int8")
int16 = i2 = Scalar("i16", "int16", "int16")
int32 = i4 = Scalar("i32", "int32", "int32")
int64 = i8 = Scalar("i64", "int64", "int64")
uint8 = u1 = Scalar("u8", "uint8", "uint8")
uint16 = u2 = Scalar("u16", "uint16", "uint16")
uint32 = u4 = Scalar("u32", "uint32", "uint32")
uint64 = u8 = Scalar("u64", "uint64", "uint64")
float16 = f2 = Scalar("f16", "float16", "float16")
bfloat16 = Scalar("bf16", "bfloat16", "bfloat16")
float32 = f4 = Scalar("f32", "float32", "float32")
float64 = f8 = Scalar("f64", "float64", "float64")
complex64 = c8 = Scalar("c64", "complex64", "complex64")
complex128 = c16 = Scalar("c128", "complex128", "complex128")
byte, char = uint8, int8
short, ushort, intc, uintc = int16, uint16, int32, uint32
int_ = long_ = longlong = intp = int64
uint = ulong = ulonglong = uintp = uint64
float_, double = float32, float64

SCALARS: tuple[Scalar, ...] = (
    boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, complex64,
    complex128,
)  # fmt: skip
_by_short = {s._weft_scalar_: s for s in SCALARS}
_by_dtype = {s.dtype: s for s in SCALARS if s is not bfloat16}
_names = {name: value for name, value in list(globals().items()) if isinstance(value, Type) and not name.startswith("_")} | {
    "int": int64,
    "float": float64,
    "complex": complex128,
    "bool": boolean,
}


def as_type(value: Any) -> Type:
    """The type a user means: a type, a NumPy dtype or scalar class, a Python number class, or a string."""
    if isinstance(value, Type):
        return value
    if isinstance(value, str):
        return _Parser(value).single()
    if value is None:
        return none
    python = {bool: boolean, int: int64, float: float64, complex: complex128}.get(value)
    if python is not None:
        return python
    if isinstance(value, tuple):
        return Tuple(map(as_type, value))
    try:
        dtype = np.dtype(value)
        return bfloat16 if dtype.name == "bfloat16" else _by_dtype[dtype]
    except (TypeError, KeyError):
        raise TypeError(f"{value!r} is not a type that Weft knows") from None


def element(dtype: Any) -> Scalar:
    """The type of an array's elements: a type, or what NumPy takes for a dtype, `"bfloat16"` too."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        return bfloat16
    found = as_type(dtype) if isinstance(dtype, Type) else as_type(np.dtype(dtype))
    if not isinstance(found, Scalar):
        raise TypeError(f"{dtype!r} is not the type of an array's elements")
    return found


def as_signature(value: Any) -> Signature:
    """The signature a user means: a `Signature`, a string, or a tuple of argument types."""
    if isinstance(value, Signature):
        return value
    if isinstance(value, str):
        return _Parser(value).signature()
    if isinstance(value, (tuple, list)):
        return Signature(None, value)
    raise TypeError(f"{value!r} is not a signature; write 'float64(float64)', float64(float64) or (float64,)")


def is_signature(value: Any) -> bool:
    """Whether a decorator's first argument is a signature or a list of them."""
    if isinstance(value, (Signature, str)):
        return True
    if isinstance(value, (tuple, list)):
        return all(isinstance(v, (Signature, Type, str, tuple)) for v in value)
    return False


def signatures_of(value: Any) -> tuple[Signature, ...]:
    """The signatures in a decorator's first argument: one, or a list of them."""
    if isinstance(value, list):
        return tuple(as_signature(v) for v in value)
    return (as_signature(value),)


def from_spec(spec: Spec) -> Type:
    """The type object of what the extension module says."""
    tag = spec[0]
    if tag == "s":
        return _by_short[spec[1]]
    if tag == "a":
        return Array(_by_short[spec[1]], spec[2], spec[3], spec[4])
    if tag == "t":
        items = [from_spec(item) for item in spec[1]]
        return NamedTuple(items, spec[2]) if len(spec) > 2 else Tuple(items)
    if tag == "o":
        return EnumMember(spec[1]) if isinstance(spec[1], Enum) else Constant(spec[1])
    if tag == "d":
        return Default(spec[1])
    return none


class _Parser:
    """Signatures as text: `float64(float64[:, ::1], int32)`."""

    _token = re.compile(r"\s*([A-Za-z_]\w*|::\s*1|[:,()\[\]])")

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        at = 0
        while text[at:].strip():
            match = self._token.match(text, at)
            if match is None:
                raise self.wrong()
            self.tokens.append(match[1].replace(" ", ""))
            at = match.end()

    def wrong(self) -> TypeError:
        return TypeError(f"{self.text!r} is not a signature; write for example 'float64(float64[:, ::1], int32)'")

    def take(self, expected: str | None = None) -> str:
        if not self.tokens or (expected is not None and self.tokens[0] != expected):
            raise self.wrong()
        return self.tokens.pop(0)

    def next_is(self, token: str) -> bool:
        return bool(self.tokens) and self.tokens[0] == token

    def single(self) -> Type:
        found = self.type()
        if self.tokens:
            raise self.wrong()
        return found

    def signature(self) -> Signature:
        result = None if self.next_is("(") else self.type()
        args = self.row("(", ")")
        if self.tokens:
            raise self.wrong()
        return Signature(result, args)

    def type(self) -> Type:
        name = self.take()
        if name == "Tuple":
            return Tuple(self.row("(", ")"))
        if name not in _names:
            raise TypeError(f"{name!r} in {self.text!r} is not a type that Weft knows")
        found = _names[name]
        if self.next_is("[") and isinstance(found, Scalar):
            self.take("[")
            axes = []
            while not self.next_is("]"):
                axes.append(slice(None, None, 1) if self.take().startswith("::") else slice(None))
                if not self.next_is("]"):
                    self.take(",")
            self.take("]")
            return _array(found, tuple(axes))
        return found

    def row(self, opening: str, closing: str) -> list[Type]:
        self.take(opening)
        items = []
        while not self.next_is(closing):
            items.append(self.type())
            if not self.next_is(closing):
                self.take(",")
        self.take(closing)
        return items
