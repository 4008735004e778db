"""Functions of every element on its own, or of the elements of two arrays, that are no ufuncs in NumPy; and comparing arrays as a whole."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._weft import _assign, _cast, _fold, _followed, _full, _part, _select, _tape_is_here, ndarray

from ._common import (
    MISSING,
    array_of,
    beside,
    checked_out,
    given,
    in_order,
    is_inexact,
    lying,
    lying_as_copy,
    mask_of,
    number_as,
    operand,
    operands,
    out_of_order,
    place_of,
    result_dtype,
    select,
    together,
    turned_if_fortran,
    u,
    values_for,
)


def where(condition: Any, x: Any = MISSING, y: Any = MISSING, /) -> Any:
    """Elements of `x` where a condition is true, and of `y` where it is not; without them the positions of the true elements.

    The three are broadcast, and `x` and `y` promoted; a Python number takes the other's dtype. ValueError where only one is given.

    >>> weft.where(weft.asarray([True, False]), weft.asarray([1.5, 2.5]), 0)
    array([1.5, 0. ])
    """
    if x is MISSING and y is MISSING:
        from .searching import nonzero

        return nonzero(condition)
    if x is MISSING or y is MISSING:
        raise ValueError("either both or neither of x and y should be given")
    return _select(beside(condition, x, y), operand(x, condition, y), operand(y, condition, x))


def clip(
    a: Any,
    min: Any = None,
    max: Any = None,
    out: Any = None,
    *,
    a_min: Any = MISSING,
    a_max: Any = MISSING,
    casting: str = "same_kind",
    dtype: Any = None,
) -> ndarray:
    """The elements, those below `min` replaced by it and those above `max` by that. None is no bound; `a_min` and `a_max` are other names.

    Bounds that are Python integers outside the range of an integer dtype do not bound it.

    >>> weft.clip(weft.asarray([1, 5, 9]), 2, 8)
    array([2, 5, 8])
    """
    checked_out(out)
    if (a_min is not MISSING and min is not None) or (a_max is not MISSING and max is not None):
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    low, high = (min if a_min is MISSING else a_min), (max if a_max is MISSING else a_max)
    a = beside(a, low, high)
    low, high = _bounds(a, low, high)
    found = a if dtype is None else u("positive", a, dtype=dtype)
    for bound, beyond in ((low, "less"), (high, "greater")):
        if bound is not None:
            in_type = bound if dtype is None or type(bound) in (int, float, complex) else u("positive", bound, dtype=dtype)
            found = _bounded(found, in_type, beyond)
    if found is a:
        found = u("positive", a)
    return given(found, out, casting)


def _bounded(a: ndarray, bound: Any, beyond: str) -> ndarray:
    """The elements, or the bound for those that are less or greater; NaN where either is.

    Of a zero and a bound of the other sign NumPy has the zero, which `maximum` and `minimum` do not promise; of complex numbers that are
    equal, the bound.
    """
    is_number = isinstance(bound, (int, float, np.generic)) and bound == bound
    bound = operand(bound, a)
    kinds = {a.dtype.kind, bound.dtype.kind if isinstance(bound, ndarray) else _KINDS[type(bound)]}
    if kinds <= set("iub"):
        return u("maximum" if beyond == "less" else "minimum", a, bound)
    if "c" in kinds:
        within = u("greater" if beyond == "less" else "less", a, bound)
        return _select(u("logical_or", within, u("isnan", a)), a, bound)
    if _tape_is_here() and _followed(a, bound):
        # Their gradient is JAX's: what is equal to a bound and the bound have half of it each. Of zeros they have the second one.
        return u("maximum" if beyond == "less" else "minimum", bound, a)
    outside = u(beyond, a, bound)
    return _select(outside if is_number else u("logical_or", outside, u("isnan", bound)), bound, a)


_KINDS = {bool: "b", int: "i", float: "f", complex: "c"}


def _bounds(a: ndarray, low: Any, high: Any) -> tuple[Any, Any]:
    """Bounds without those that do not bound a dtype."""
    if a.dtype.kind in "iu":
        ends = np.iinfo(a.dtype)
        low = None if type(low) is int and low <= ends.min else low
        high = None if type(high) is int and high >= ends.max else high
    return low, high


def round(a: Any, decimals: int = 0, out: Any = None) -> ndarray:
    """The elements rounded to so many decimals, half to even; to tens, hundreds, … for a negative number.

    >>> weft.round(weft.asarray([0.5, 1.256]), 2)
    array([0.5 , 1.26])
    """
    a = array_of(a)
    checked_out(out)
    decimals = operator.index(decimals)
    if a.dtype.kind in "iu":
        return given(_rounded_integers(a, decimals), out)
    if decimals == 0:
        return given(u("rint", a), out)
    if a.dtype.kind == "c":
        found = lying_as_copy(a)
        for part in ("real", "imag"):
            _assign(_part(found, part), round(_part(a, part), decimals))
        return given(found, out)
    if a.dtype.kind == "b":
        name = "multiply" if decimals > 0 else "divide"
        raise TypeError(f"Cannot cast ufunc '{name}' output from dtype('float64') to dtype('bool') with casting rule 'same_kind'")
    first, last = ("multiply", "true_divide") if decimals > 0 else ("true_divide", "multiply")
    power = 10.0 ** abs(decimals)
    found = u(last, u("rint", u(first, a, power)), power)
    return given(_as_fortran_or_c(found, a), out)


def _as_fortran_or_c(found: ndarray, a: ndarray) -> ndarray:
    """A result in Fortran's order if an array lies so, else in C's."""
    order = turned_if_fortran(a)
    return out_of_order(_cast(in_order(found, order), found.dtype, True), order)


around = round


def _rounded_integers(a: ndarray, decimals: int) -> ndarray:
    if decimals >= 0:
        return _cast(a, a.dtype)
    power = 10.0**-decimals
    return _cast(u("multiply", u("rint", u("true_divide", a, power)), power), a.dtype)


def fix(x: Any, out: Any = None) -> ndarray:
    """The elements rounded towards zero.

    >>> weft.fix(weft.asarray([1.7, -1.7]))
    array([ 1., -1.])
    """
    return given(u("trunc", array_of(x)), out)


def real(val: Any) -> ndarray:
    """The real parts: a view of those of complex numbers, and any other array itself.

    >>> weft.real(weft.asarray([1 + 2j]))
    array([1.])
    """
    val = array_of(val)
    return _part(val, "real") if val.dtype.kind == "c" else val


def imag(val: Any) -> ndarray:
    """The imaginary parts: a view of those of complex numbers, and zeros for any other array.

    >>> weft.imag(weft.asarray([1 + 2j]))
    array([2.])
    """
    val = array_of(val)
    return _part(val, "imag") if val.dtype.kind == "c" else lying(val.shape, turned_if_fortran(val), 0, val.dtype, val.device)


def angle(z: Any, deg: bool = False) -> ndarray:
    """The angles of complex numbers, in radians or degrees.

    >>> weft.angle(weft.asarray([1j, -1.0]), deg=True)
    array([ 90., 180.])
    """
    z = array_of(z)
    found = u("arctan2", imag(z), real(z)) if z.dtype.kind == "c" else u("arctan2", 0, z)
    return u("multiply", found, 180 / np.pi) if deg else found


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is one of complex numbers.

    >>> weft.iscomplexobj(weft.asarray([1j]))
    True
    """
    return array_of(x).dtype.kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether the dtype is none of complex numbers.

    >>> weft.isrealobj(weft.asarray([1.0]))
    True
    """
    return not iscomplexobj(x)


def iscomplex(x: Any) -> ndarray:
    """Whether each number has an imaginary part other than zero.

    >>> weft.iscomplex(weft.asarray([1 + 1j, 1]))
    array([ True, False])
    """
    x = array_of(x)
    return u("not_equal", imag(x), 0) if x.dtype.kind == "c" else _full(x.shape, False, np.dtype(bool), x.device)


def isreal(x: Any) -> ndarray:
    """Whether each number has no imaginary part other than zero.

    >>> weft.isreal(weft.asarray([1 + 1j, 1]))
    array([False,  True])
    """
    return u("equal", imag(x), 0)


def isposinf(x: Any, out: Any = None) -> ndarray:
    """Whether each number is positive infinity.

    >>> weft.isposinf(weft.asarray([-np.inf, np.inf]))
    array([False,  True])
    """
    x = array_of(x)
    return given(u("logical_and", u("isinf", x), u("logical_not", _signbit("isposinf", x))), out)


def isneginf(x: Any, out: Any = None) -> ndarray:
    """Whether each number is negative infinity.

    >>> weft.isneginf(weft.asarray([-np.inf, np.inf]))
    array([ True, False])
    """
    x = array_of(x)
    return given(u("logical_and", u("isinf", x), _signbit("isneginf", x)), out)


def _signbit(name: str, x: ndarray) -> ndarray:
    if x.dtype.kind == "c":
        raise TypeError(f"This operation is not supported for {x.dtype} values because it would be ambiguous.")
    return u("signbit", x)


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> ndarray:
    """The elements with NaN and infinities replaced by numbers: 0 and the largest that there are, if none are given.

    `copy=False` writes them into the array itself.

    >>> weft.nan_to_num(weft.asarray([np.nan, 1.5]))
    array([0. , 1.5])
    """
    target = array_of(x)
    found = _numbers_of(target, nan, posinf, neginf)
    if copy:
        return found
    _assign(target, found)
    return target


def _numbers_of(x: ndarray, nan: Any, posinf: Any, neginf: Any) -> ndarray:
    if not is_inexact(x.dtype):
        return _cast(x, x.dtype)
    if x.dtype.kind == "c":
        found = lying_as_copy(x)
        for part in ("real", "imag"):
            _assign(_part(found, part), _numbers_of(_part(x, part), nan, posinf, neginf))
        return found
    from .dtypes import finfo

    ends = finfo(x.dtype)
    x = found = _cast(x, x.dtype)
    for name, value in (("nan", nan), ("pos", ends.max if posinf is None else posinf), ("neg", ends.min if neginf is None else neginf)):
        test = u("isnan", x) if name == "nan" else isposinf(x) if name == "pos" else isneginf(x)
        found = select(test, _in_place_of(x, value), found)
    return found


def _in_place_of(x: ndarray, value: Any) -> ndarray:
    """What stands for elements of an array: a number or an array of its kind."""
    if isinstance(value, (ndarray, np.ndarray)) and not np.can_cast(value.dtype, x.dtype, "same_kind"):
        raise TypeError(f"Cannot cast array data from {value.dtype!r} to {x.dtype!r} according to the rule 'same_kind'")
    return values_for(value, x.dtype, x.device)


def sinc(x: Any) -> ndarray:
    """sin(πx) / (πx), and 1 at 0.

    >>> weft.sinc(weft.asarray([0.0, 0.5]))
    array([1.        , 0.63661977])
    """
    x = array_of(x)
    # Near 0 the quotient is 1; 16-bit floats have no number as small as the others'.
    least = 1e-4 if x.dtype.itemsize == 2 and is_inexact(x.dtype) else 1e-20
    y = u("multiply", x, np.pi)
    if _followed(x):
        return _smooth_sinc(y)
    y = select(u("equal", y, 0), least, y)
    return u("true_divide", u("sin", y), y)


def _smooth_sinc(y: ndarray) -> ndarray:
    """sin(y) / y by its series near 0, where the quotient's derivatives are lost: the first term left out is below 1e-16."""
    near = u("less", u("absolute", y), 0.5)
    away = select(near, y.dtype.type(1), y)
    square = u("square", select(near, y, y.dtype.type(0)))
    series: Any = 1.0
    for n in range(12, 0, -2):
        series = u("subtract", 1.0, u("multiply", u("multiply", square, 1 / (n * (n + 1))), series))
    return select(near, series, u("true_divide", u("sin", away), away))


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> ndarray:
    """Whether each element of `a` is that of `b` but for `atol + rtol * abs(b)`.

    >>> weft.isclose(weft.asarray([1.0, 1.1]), 1.0)
    array([ True, False])
    """
    x, y = operands(a, b)
    if isinstance(y, ndarray) and not is_inexact(y.dtype):
        y = _cast(y, result_dtype(y, 1.0))
    elif not isinstance(y, (ndarray, complex)):
        y = float(y)
    size = u("absolute", y) if isinstance(y, ndarray) else abs(y)
    bound = _of_both("add", operator.add, atol, _of_both("multiply", operator.mul, rtol, size))
    near = u("less_equal", u("absolute", u("subtract", x, y)), bound)
    found = u("logical_or", u("logical_and", near, u("isfinite", y)), u("equal", x, y))
    return u("logical_or", found, u("logical_and", u("isnan", x), u("isnan", y))) if equal_nan else found


def _of_both(name: str, plain: Any, x: Any, y: Any) -> Any:
    """An operation on operands; Python numbers stay Python numbers, which have no dtype of their own."""
    x, y = operand(x, y), operand(y, x)
    return u(name, x, y) if isinstance(x, ndarray) or isinstance(y, ndarray) else plain(x, y)


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> ndarray:
    """Whether all elements are close, as `isclose` says: an array without axes.

    >>> weft.allclose(weft.asarray([1.0, 2.0]), weft.asarray([1.0, 2.0 + 1e-12]))
    array(True)
    """
    return _all(isclose(a, b, rtol, atol, equal_nan))


def _all(x: ndarray) -> ndarray:
    return _fold("logical_and", x, tuple(range(x.ndim)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> ndarray:
    """Whether two arrays have one shape and the same elements: an array without axes.

    >>> weft.array_equal([1, 2], [1, 2])
    array(True)
    """
    a1, a2 = together(a1, a2)
    if a1.shape != a2.shape:
        return _full((), False, np.dtype(bool), a1.device)
    same = u("equal", a1, a2)
    if equal_nan and is_inexact(a1.dtype) and is_inexact(a2.dtype):
        same = u("logical_or", same, u("logical_and", u("isnan", a1), u("isnan", a2)))
    return _all(same)


def array_equiv(a1: Any, a2: Any) -> ndarray:
    """Whether two arrays have the same elements once they are broadcast: an array without axes.

    >>> weft.array_equiv([1, 1], [[1, 1], [1, 1]])
    array(True)
    """
    a1, a2 = together(a1, a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return _full((), False, np.dtype(bool), a1.device)
    return _all(u("equal", a1, a2))


def copyto(dst: ndarray, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Writes an array into another one, where a mask is true; `casting` must allow the conversion.

    >>> a = weft.zeros(3)
    >>> weft.copyto(a, [1, 2, 3], where=[True, False, True])
    >>> a
    array([1., 0., 3.])
    """
    if not isinstance(dst, ndarray):
        raise TypeError(f"copyto() argument 1 must be a weft.ndarray, not {type(dst).__name__}")
    source = operand(src, dst)
    kind = source.dtype if isinstance(source, ndarray) else result_dtype(dst, source)
    if not np.can_cast(kind, dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {kind!r} to {dst.dtype!r} according to the rule '{casting}'")
    source = source if isinstance(source, ndarray) else number_as(source, dst.dtype)
    if where is True:
        _assign(dst, source)
    else:
        _assign(dst, _select(mask_of(where, dst), _cast(beside(source, dst), dst.dtype), dst))


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> ndarray:
    """What one of several functions gives of the elements for which its condition is true; the last one is for the rest.

    A function may be a number. The elements that a function gets are read at once.

    >>> x = weft.asarray([-1.0, 2.0])
    >>> weft.piecewise(x, [x < 0, x >= 0], [0, lambda x: x * 10])
    array([ 0., 20.])
    """
    from .gathering import extract, place

    x = array_of(x)
    if isinstance(condlist, (bool, np.bool_)) or (isinstance(condlist, (ndarray, np.ndarray)) and condlist.ndim == x.ndim):
        condlist = [condlist]
    conditions = [beside(each, x) for each in condlist]
    functions = list(funclist)
    if len(functions) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are expected")
    if len(functions) > len(conditions):
        rest = _full(x.shape, True, np.dtype(bool), x.device)
        for condition in conditions:
            rest = u("logical_and", rest, u("logical_not", condition))
        conditions.append(rest)
    made = lying_as_copy(x)
    for condition, function in zip(conditions, functions):
        value = function(extract(condition, x), *args, **kw) if callable(function) else function
        if isinstance(value, ndarray) and value.ndim:
            if value.size:
                place(made, condition, _cast(value, x.dtype))
        else:
            _assign(made, select(condition, values_for(value, x.dtype, x.device), made))
    return made


def select_of(condlist: Any, choicelist: Any, default: Any = 0) -> ndarray:
    """Elements of the first of several arrays whose condition is true, and a number where none is.

    >>> x = weft.arange(4)
    >>> weft.select([x < 1, x > 2], [x, x * 10], 7)
    array([ 0,  7,  7, 30])
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    everything = (*choicelist, default, *condlist)
    place = place_of(*everything)
    choices = [operand(choice, *everything) for choice in choicelist]
    default = operand(default, *everything)
    dtype = result_dtype(*choices, default)
    found = array_of(default, dtype, place)
    for number, (condition, choice) in reversed(list(enumerate(zip(condlist, choices)))):
        flags = array_of(condition, device=place)
        if flags.dtype.kind != "b":
            raise TypeError(f"invalid entry {number} in condlist: should be boolean ndarray")
        found = _select(flags, array_of(choice, dtype, place), found)
    return _cast(found, dtype, True)


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> ndarray:
    """Angles along an axis with whole periods added, so that neighbours differ by half a period at most (or by `discont`).

    >>> weft.unwrap(weft.asarray([0, 1, 2, -1, 0]), period=4)
    array([0, 1, 2, 3, 4])
    """
    from .cumulative import cumsum, diff

    p = array_of(p)
    steps = diff(p, axis=axis)
    dtype = result_dtype(steps, period)
    least = period / 2 if discont is None else discont
    if dtype.kind in "iu":
        high, rest = divmod(period, 2)
        both = rest == 0
    else:
        high, both = period / 2, True
    low = -high
    near = u("add", u("remainder", u("subtract", steps, low), period), low)
    if both:
        near = select(u("logical_and", u("equal", near, low), u("greater", steps, 0)), high, near)
    correction = select(u("less", u("absolute", steps), least), 0, u("subtract", near, steps))
    found = _cast(p, dtype)
    place = (slice(None),) * (axis % p.ndim) + (slice(1, None),)
    found[place] = u("add", p[place], cumsum(correction, axis=axis))
    return found
