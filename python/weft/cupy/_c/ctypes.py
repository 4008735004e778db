"""C's arithmetic types by NumPy's names: what operators make of them, what literals are, and how Python text casts between them.

Every value of the Python text is a strong number of exactly its C type: `np.int32(...)` and so on wherever the type is not so already.
Rules: ISO/IEC 9899, 6.3.1 (promotion, usual conversions) and 6.4.4 (literals); `long` has 64 bits, `char` has a sign; arithmetic of
float16 is that of float, and complex numbers meet others as Thrust's do.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
ALL = ("bool", *INTEGERS, *FLOATS, *COMPLEX)


def is_integer(kind: str) -> bool:
    """Bools are integers, as in C."""
    return kind in INTEGERS or kind == "bool"


def bits(kind: str) -> int:
    """How wide an integer or float is."""
    return 8 if kind == "bool" else int(kind.lstrip("uintfloacmpex"))


def promoted(kind: str) -> str:
    """What an operand becomes before arithmetic."""
    if kind == "float16":
        return "float32"
    return "int32" if is_integer(kind) and bits(kind) < 32 else kind


def common(a: str, b: str) -> str:
    """The type in which two operands are computed with."""
    a, b = promoted(a), promoted(b)
    if a in COMPLEX or b in COMPLEX:
        wide = any(each in ("complex128", "float64") for each in (a, b))
        return "complex128" if wide else "complex64"
    if a in FLOATS or b in FLOATS:
        return max((each for each in (a, b) if each in FLOATS), key=bits)
    if a == b:
        return a
    if bits(a) == bits(b):
        return a if a[0] == "u" else b
    return max(a, b, key=bits)


def cast(text: str, kind: str, wanted: str) -> str:
    """Python text of a value as another type; complex numbers become no others."""
    if kind == wanted:
        return text
    if wanted == "bool":
        return f"({text} != {zero(kind)})"
    return f"np.{wanted}({text})"


def zero(kind: str) -> str:
    """Python text of the zero of a type."""
    return "False" if kind == "bool" else f"np.{kind}(0)"


def annotation(kind: str) -> str:
    """A type as Python text names it."""
    return "np.bool_" if kind == "bool" else f"np.{kind}"


def number(text: str) -> tuple[str, str] | None:
    """The Python text and the type of a literal; None if no type holds it, or it is none."""
    low = text.lower()
    is_hex = low.startswith("0x")
    if (not is_hex and any(each in low for each in ".e")) or (is_hex and "p" in low):
        return _float(low, is_hex)
    if not is_hex and low.endswith("f"):
        return None
    return _integer(low, is_hex)


def _float(low: str, is_hex: bool) -> tuple[str, str] | None:
    single = low.endswith("f")
    digits = low.rstrip("f") if single else low.rstrip("l")
    if digits.endswith(("u", "h", "l")):
        return None
    if not single:
        value = float.fromhex(digits) if is_hex else float(digits)
        return (f"np.float64({value!r})" if math.isfinite(value) else "np.float64(np.inf)"), "float64"
    value = nearest_float32(Fraction(float.fromhex(digits)) if is_hex else Fraction(digits))
    return (f"np.float32({value!r})" if math.isfinite(value) else "np.float32(np.inf)"), "float32"


def nearest_float32(exact: Fraction) -> float:
    """The float32 next to a number, rounded once."""
    with np.errstate(over="ignore"):
        guess = np.float32(float(exact)) if exact < Fraction(2) ** 1000 else np.float32(np.inf)
        around = [guess, np.nextafter(guess, np.float32(-np.inf)), np.nextafter(guess, np.float32(np.inf))]
    if not np.isfinite(guess):
        # Half a unit beyond the largest one is where infinity begins.
        largest = np.finfo(np.float32).max
        return float(largest) if exact < Fraction(float(largest)) + Fraction(2) ** 103 else math.inf
    finite = [each for each in around if np.isfinite(each)]
    best = min(finite, key=lambda each: (abs(Fraction(float(each)) - exact), int(each.view(np.uint32)) & 1))
    if float(best) == float(np.finfo(np.float32).max) and exact >= Fraction(float(best)) + Fraction(2) ** 103:
        return math.inf
    return float(best)


def _integer(low: str, is_hex: bool) -> tuple[str, str] | None:
    digits = low.rstrip("ul")
    suffix = low[len(digits) :]
    if suffix not in ("", "u", "l", "ll", "ul", "ull", "lu", "llu"):
        return None
    octal = not is_hex and len(digits) > 1 and digits[0] == "0"
    try:
        value = int(digits, 16 if is_hex else 8 if octal else 10)
    except ValueError:
        return None
    signed, unsigned = ("int32", "int64"), ("uint32", "uint64")
    wide = "l" in suffix
    if "u" in suffix:
        choices = unsigned[wide:]
    elif is_hex or octal:
        choices = tuple(each for pair in zip(signed[wide:], unsigned[wide:]) for each in pair)
    else:
        choices = signed[wide:]
    for kind in choices:
        if value <= np.iinfo(kind).max:
            return f"np.{kind}({value})", kind
    return None
