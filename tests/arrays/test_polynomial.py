"""Polynomials against NumPy's: the older functions of the namespace, the functions of power series, the class."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial as Numpys
from numpy.polynomial import polynomial as numpys

import weft
from weft.polynomial import Polynomial, polynomial

from .against_numpy import ALL, KINDS, array, check, difference, host

NUMERIC = tuple(dtype for dtype in ALL if dtype is not np.bool_)


def check_series(name: str, *args: Any, exact: bool = False, **keywords: Any) -> None:
    """A function of power series gives what NumPy's gives, or raises what that raises; of NumPy's arrays weft has its own."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        theirs, ours = (_outcome(getattr(module, name), *_given(module, args), **keywords) for module in (numpys, polynomial))
    if isinstance(theirs, Exception):
        assert isinstance(ours, _plain(theirs)), f"{name} of {args}, {keywords}: NumPy raises {theirs!r}, Weft {ours!r}"
        return
    assert not isinstance(ours, Exception), f"{name} of {args}, {keywords}: {ours!r}"
    differ = difference(theirs, ours, exact)
    assert differ is None, f"{name} of {args}, {keywords}: {differ}\n{theirs!r}\n{ours!r}"


def _plain(error: Exception) -> type:
    """The class of an error; for one of NumPy's own, what it is a kind of."""
    return TypeError if isinstance(error, TypeError) else type(error)


def _given(module: Any, args: tuple[Any, ...]) -> list[Any]:
    return [weft.asarray(each) if module is polynomial and isinstance(each, np.ndarray) else each for each in args]


def _outcome(function: Any, *args: Any, **keywords: Any) -> Any:
    try:
        return function(*args, **keywords)
    except Exception as error:
        return error


@pytest.mark.parametrize("dtype", NUMERIC)
def test_older_functions_of_every_dtype(dtype: type) -> None:
    p, q, x = array((4,), dtype), array((2,), dtype, 3), array((2, 3), dtype, 5)
    for text in ("polyval(p, x)", "polyadd(p, q)", "polyadd(q, p)", "polysub(p, q)", "polysub(q, p)", "polymul(p, q)", "polyder(p)"):
        check(f"xp.{text}", exact=text.startswith(("polya", "polys")), p=p, q=q, x=x)
    for text in ("polyint(p)", "polyder(p, 2)", "polyint(p, 2, k=[1, 2])", "poly(p)"):
        check(f"xp.{text}", exact=False, p=p)
    q[0] = 2
    if np.dtype(dtype).kind in "fc" and dtype is not np.float16:
        check("xp.polydiv(p, q)", exact=False, p=p, q=q)


def test_older_functions_of_odd_shapes_and_arguments() -> None:
    for p in ("[]", "[5]", "5", "[[1, 2], [3, 4]]", "[0, 0, 1]", "[1.5, 2, 3]", "p[::2]", "p[::-1]"):
        for call in ("polyval({}, 2)", "polyval({}, [1.0, 2.0])", "polyval({}, x)", "polyder({})", "polyint({})", "poly({})"):
            # NumPy's `poly` takes a number for a mistake, and a matrix for one whose eigenvalues are wanted; `polyder` of one fails.
            if not ((call.startswith("poly(") and p == "5") or (call.startswith(("poly(", "polyder(")) and p.startswith("[["))):
                check(f"xp.{call.format(p)}", exact=False, p=array((6,)), x=array((0, 3)))
        for call in ("polyadd({}, [1, 2, 3])", "polysub([1, 2, 3], {})", "polymul({}, [1, 2])", "polymul([0, 0], {})"):
            check(f"xp.{call.format(p)}", exact=False, p=array((6,)))
    for words in ("0", "1", "3", "7", "-1", "1.5"):
        check(f"xp.polyder([1, 2, 3, 4], {words})")
        check(f"xp.polyint([1.0, 2, 3, 4], {words})", exact=False)
    for words in ("2, 3", "2, [3]", "2, [1, 2]", "2, [1, 2, 3]", "3, [1, 2]", "1, 1j", "0, 5"):
        check(f"xp.polyint([1.0, 2.0], {words})", exact=False)
    for text in ("poly([1, 1j, -1j])", "poly([1j, 2])", "poly(xp.ones((2, 3)))", "poly([])", "poly(xp.zeros((0, 0)))"):
        check(f"xp.{text}", exact=False)
    check("xp.polyval(p, x)", exact=False, p=array((300,)) / 1000, x=array((4,)) / 8)
    for text in ("polydiv([1.0, 2], [1, 2, 3])", "polydiv([1, 2, 3], [2])", "polydiv([2, 4], [1.0, 2.0])", "polydiv([], [1.0])"):
        check(f"xp.{text}", exact=False)


def test_values_and_sums_only_record() -> None:
    p, x = weft.asarray([1.0, 2.0, 3.0]), weft.arange(5.0)
    with weft.syncs("error"):
        found = weft.polyval(p, x) + weft.polyval(weft.polyint(weft.polyder(weft.polyadd(p, [1.0]))), x)
        found = found + polynomial.polyval(x, polynomial.polyint(polynomial.polyder(p))) + polynomial.polyvander(x, 2)[:, 2]
    assert found.shape == (5,)


@pytest.mark.parametrize("dtype", ALL)
def test_series_of_every_dtype(dtype: type) -> None:
    c, d, x = array((4,), dtype), array((2,), dtype, 3), array((2, 3), dtype, 5)
    c[-1] = d[-1] = 1
    for name in ("polyadd", "polysub", "polymul", "polydiv"):
        check_series(name, c, d)
        check_series(name, d, c)
    for name in ("polymulx", "polytrim", "polyfromroots", "polycompanion", "polyder", "polyint"):
        check_series(name, c)
    check_series("polypow", c, 3)
    check_series("polyval", x, c)
    check_series("polyval", 2, c)
    check_series("polyvalfromroots", x, c)
    check_series("polyvander", x, 3)
    check_series("polyder", c, 2, 3)
    check_series("polyint", c, 2, [1, 2], 1, 2)


def test_series_of_odd_shapes_and_arguments() -> None:
    for c in ([], [5], 5, [0, 0], [1, 2, 0, 0], [[1, 2], [3, 4]], np.zeros(3), np.ones((2, 3)), np.arange(6.0)[::-2]):
        for name in ("polyadd", "polysub", "polymul"):
            check_series(name, c, [1, 2, 3])
            check_series(name, [1, 2, 3], c)
        for name in ("polymulx", "polytrim", "polyfromroots", "polycompanion", "polyder", "polyint"):
            check_series(name, c)
        for x in (2, 2.5, 1j, [1.0, 2.0], np.array(3.0), np.zeros((0, 2)), np.arange(4).reshape(2, 2)):
            check_series("polyval", x, c)
            check_series("polyval", x, c, tensor=False)
            check_series("polyvalfromroots", x, c)
            check_series("polyvalfromroots", x, c, tensor=False)
    for m in (0, 1, 2, 5, -1, 1.5):
        for axis in (0, 1, -1, 2):
            check_series("polyder", array((4, 3)), m, axis=axis)
            check_series("polyint", array((4, 3)), m, axis=axis)
    for words in ({"k": [1, 2, 3]}, {"k": 3}, {"lbnd": [1]}, {"scl": [1]}, {"lbnd": 2, "scl": 0.5, "k": [1], "m": 2}, {"scl": 1j}):
        check_series("polyint", np.array([1.0, 2.0, 3.0]), **words)
    check_series("polyint", np.zeros(1), k=[5])
    check_series("polyder", np.array([1, 2, 3]), scl=1j)
    for power in (0, 1, 2, -1, 1.5, 9):
        check_series("polypow", [1, 2], power, maxpower=8)
    check_series("polydiv", [1, 2, 3], [0])
    check_series("polytrim", [1, 2, 1e-9, 1e-10], tol=1e-8)
    check_series("polytrim", [1, 2], tol=-1)
    for off, scl in ((1, 2), (1.5, 0), (1j, 1)):
        check_series("polyline", off, scl)
    for deg in (0, 1, 4, -1, 1.5):
        check_series("polyvander", [1, 2], deg)
    check_series("polyvander", 3, 2)


def test_series_of_several_variables() -> None:
    x, y, z = array((2, 3)), array((2, 3), seed=1), array((2, 3), seed=2)
    c, d = array((3, 2)), array((3, 2, 4))
    check_series("polyval2d", x, y, c)
    check_series("polyval2d", x, y, d)
    check_series("polyval2d", 2, 3, c)
    check_series("polyval2d", x, y[0], c)
    check_series("polygrid2d", x[0], y[1], c)
    check_series("polygrid2d", x, y, d)
    check_series("polyval3d", x, y, z, d)
    check_series("polyval3d", x, y[:1], z, d)
    check_series("polygrid3d", x[0], y[0], z[1], d)
    check_series("polyvander2d", x, y, [1, 2])
    check_series("polyvander2d", x, y, [1])
    check_series("polyvander2d", x, y, [1, -2])
    check_series("polyvander3d", x[0], y[0], z[0], [2, 0, 1])
    check("xp.polynomial.polynomial.polyval2d(x, y, c)", exact=False, x=x, y=y, c=c)


def test_numpys_functions_are_wefts() -> None:
    a = weft.asarray([1.0, 2.0, 3.0])
    for found, wanted in (
        (np.polyval(a, 2.0), 11.0), (np.polyadd(a, [1.0]), [1, 2, 4]), (np.polysub([1.0], a), [-1, -2, -2]),
        (np.polymul(a, a), [1, 4, 10, 12, 9]), (np.polyder(a), [2, 2]), (np.polyint(weft.asarray([2.0])), [2, 0]),
        (np.poly(weft.asarray([1.0, 2.0])), [1, -3, 2]), (np.polydiv(a, [1.0])[0], [1, 2, 3]),
        (numpys.polyval2d(a, a, weft.ones((2, 2))), [4, 9, 16]), (numpys.polygrid2d(a, a[:1], weft.ones((2, 2))), [[4], [6], [8]]),
    ):  # fmt: skip
        assert isinstance(found, weft.ndarray)
        np.testing.assert_allclose(host(found), wanted)


def test_on_devices(device: weft.Device) -> None:
    if not device.float64:
        pytest.skip("polynomials are of float64 by default")
    c, x = array((4,)), array((5,), seed=1)
    for p, q in ((weft.asarray(c), weft.asarray(x)), (c.tolist(), weft.asarray(x))):
        for found, wanted in (
            (weft.polyval(p, q), np.polyval(c, x)), (weft.polymul(p, q), np.polymul(c, x)), (weft.polyadd(p, q), np.polyadd(c, x)),
            (polynomial.polyval(q, p), numpys.polyval(x, c)), (polynomial.polymul(p, q), numpys.polymul(c, x)),
            (polynomial.polyint(q), numpys.polyint(x)), (polynomial.polyvander(q, 2), numpys.polyvander(x, 2)),
            (Polynomial(p)(q), Numpys(c)(x)), ((Polynomial(q) * Polynomial(q)).coef, (Numpys(x) * Numpys(x)).coef),
        ):  # fmt: skip
            assert found.device == device
            np.testing.assert_allclose(host(found), wanted, rtol=1e-13)


def same(ours: Any, theirs: Any) -> None:
    """A polynomial is NumPy's."""
    assert isinstance(ours, Polynomial) and isinstance(ours.coef, weft.ndarray)
    for name in ("coef", "domain", "window"):
        assert difference(getattr(theirs, name), getattr(ours, name), False) is None, name
    assert ours.symbol == theirs.symbol and repr(ours) == repr(theirs) and str(ours) == str(theirs)
    assert f"{ours:ascii}" == f"{theirs:ascii}" and ours._repr_latex_() == theirs._repr_latex_()


def both(*args: Any, **keywords: Any) -> tuple[Polynomial, Numpys]:
    return Polynomial(*args, **keywords), Numpys(*args, **keywords)


def test_class_arithmetic() -> None:
    p, numpys_p = both([1, 2, 3], [0, 2], [-1, 3], "t")
    q, numpys_q = both([1.5, -2], [0, 2], [-1, 3], "t")
    for name in ("add", "sub", "mul", "floordiv", "mod"):
        act = f"__{name}__"
        same(getattr(p, act)(q), getattr(numpys_p, act)(numpys_q))
        for other in (2, 1.5, [1, 2], (1, 0), np.arange(3), weft.arange(3)):
            same(getattr(p, act)(other), getattr(numpys_p, act)(host(other)))
            reflected = f"__r{name}__"
            same(getattr(p, reflected)(other), getattr(numpys_p, reflected)(host(other)))
    for each, wanted in zip(divmod(p, q), divmod(numpys_p, numpys_q)):
        same(each, wanted)
    same(weft.arange(3) * p, np.arange(3) * numpys_p)
    same(np.arange(3) + p, np.arange(3) + numpys_p)
    same(p / 2, numpys_p / 2)
    same(-p, -numpys_p)
    same(p**3, numpys_p**3)
    assert +p is p and p == p.copy() and p != q and p != 3 and len(p) == 3
    assert [float(x) for x in p] == [1, 2, 3]
    for wrong, error in (
        (lambda: p + Polynomial([1]), TypeError), (lambda: p + Polynomial([1], [0, 2]), TypeError),
        (lambda: p + Polynomial([1], [0, 2], [-1, 3], "s"), ValueError), (lambda: p // 0, ZeroDivisionError),
        (lambda: p / q, TypeError), (lambda: 2 / p, TypeError), (lambda: p + "a", TypeError), (lambda: p**-1, ValueError),
        (lambda: p**101, ValueError), (lambda: hash(p), TypeError), (lambda: Polynomial([]), ValueError),
        (lambda: Polynomial([[1, 2]]), ValueError), (lambda: Polynomial([1], [1, 2, 3]), ValueError),
        (lambda: Polynomial([1], symbol="1"), ValueError), (lambda: Polynomial([1], symbol=1), TypeError),
    ):  # fmt: skip
        with pytest.raises(error):
            wrong()


def test_class_methods() -> None:
    p, theirs = both([1, 2, 0, 3, 1e-9], [0, 2], [-1, 3])
    for text in (
        "deriv()", "deriv(2)", "integ()", "integ(2, [1, 2], 0.5)", "integ(k=3)", "trim(1e-6)", "truncate(2)", "cutdeg(1)", "copy()",
        "convert()", "convert([-1, 1], window=[0, 1])",
    ):  # fmt: skip
        same(eval(f"p.{text}", {"p": p}), eval(f"p.{text}", {"p": theirs}))
    assert p.degree() == theirs.degree() == 4
    for x in (2, 1.5, 1j, True, np.float32(2), [1, 2], np.arange(4, dtype=np.float32), np.ones((2, 0)), np.arange(3)):
        assert difference(theirs(x), p(weft.asarray(x) if isinstance(x, np.ndarray) else x), False) is None
    same(p(p.truncate(2)), theirs(theirs.truncate(2)))
    for n in (1, 3):
        assert difference(theirs.linspace(n), p.linspace(n), False) is None
        assert difference(theirs.linspace(n, [0, 1]), p.linspace(n, weft.asarray([0, 1])), False) is None
    assert p.mapparms() == theirs.mapparms()
    for text in ("basis(3)", "basis(0, [0, 1])", "identity()", "identity([0, 3], symbol='y')", "fromroots([1, 2, 3])"):
        same(eval(f"P.{text}", {"P": Polynomial}), eval(f"P.{text}", {"P": Numpys}))
    same(Polynomial.fromroots(weft.asarray([1.0, 2.0]), None), Numpys.fromroots([1.0, 2.0], None))
    same(Polynomial.cast(p, [0, 1]), Numpys.cast(theirs, [0, 1]))
    assert p.has_samecoef(p.copy()) and not p.has_samecoef(p.deriv()) and p.has_samedomain(p) and p.has_samewindow(p)
    assert p.has_sametype(p) and not p.has_sametype(3) and not p.has_samedomain(Polynomial([1]))
    back = pickle.loads(pickle.dumps(p))
    same(back, theirs)
    assert host(Polynomial.domain).tolist() == [-1, 1]
    p.domain = [0, 4]
    theirs.domain = np.array([0.0, 4.0])
    assert difference(theirs(1.0), p(1.0), False) is None
    for wrong in (lambda: p.truncate(0), lambda: p.truncate(1.5), lambda: p.trim(-1), lambda: Polynomial.basis(-1), lambda: p.integ(-1)):
        with pytest.raises(ValueError, match=r"\w"):
            wrong()
    with pytest.raises(TypeError, match="power series only"):
        p.convert(kind=np.polynomial.Chebyshev)


def test_rows_and_domains() -> None:
    theirs, ours = np.polynomial.polyutils, weft.polynomial.polyutils
    for rows in ([[1, 2, 0], [3.0]], [[1, 0], [2j]], [3, [0, 0]], [[]], [[[1]]], [np.float32([1, 2])], [np.float32([1]), [True]]):
        for trim in (True, False):
            wanted, found = (_outcome(module.as_series, rows, trim) for module in (theirs, ours))
            if isinstance(wanted, Exception):
                assert isinstance(found, type(wanted))
            else:
                assert difference(wanted, found, True) is None
    for row in ([1, 0, 2, 0, 0], [0, 0], [], [1.5], np.arange(3)[::-1]):
        assert difference(theirs.trimseq(np.asarray(row)), ours.trimseq(row), True) is None
    for x in ([3, 1, 2], [1 + 1j, -2j], [5.0]):
        assert difference(theirs.getdomain(x), ours.getdomain(weft.asarray(x)), True) is None
    for old, new in (((-1, 1), (0, 4)), ([0.0, 2.0], np.array([1, 1j])), ((1, 3), (2, 2))):
        assert difference(theirs.mapparms(old, new), ours.mapparms(old, weft.asarray(new)), True) is None
        for x in (2, 1.5, [1.0, 2.0], np.arange(3, dtype=np.float32), np.zeros((0, 2))):
            assert difference(theirs.mapdomain(x, old, new), ours.mapdomain(x, old, new), False) is None
    with weft.syncs("error"):
        ours.mapdomain(weft.arange(3.0), (0, 1), (0, 2))


def test_the_older_class() -> None:
    checked = (
        "p", "p * q", "p * 2", "2 * p", "p + q", "p + 1", "1 + p", "p - q", "3 - p", "p - [1, 2]", "p / 2", "p / q", "[1.0, 2, 0] / q",
        "p ** 3", "p ** 0", "-p", "p.deriv()", "p.deriv(2)", "p.integ()", "p.integ(2, [1, 2])", "p(q)", "p * [1, 2]", "xp.polyadd(p, q)",
        "xp.polysub([1], p)", "xp.polymul(p, [1.0, 2])", "xp.polydiv(p, q)", "xp.polyder(p)", "xp.polyint(q, 2)", "xp.poly1d([0, 0, 1, 2])",
        "xp.poly1d([1, 2], True)", "xp.poly1d([1, 2, 3], variable='z')", "xp.poly1d(p)", "xp.poly1d(p, variable='y')", "xp.poly1d([])",
        "xp.poly1d([1j, 2])", "xp.poly1d(3)", "xp.poly1d(xp.asarray([1, 2], xp.float32))", "p ** -1", "p ** 1.5", "xp.poly1d([[1, 2]])",
        "p + 'a'",
    )  # fmt: skip
    for text in checked:
        theirs, ours = (_outcome(eval, text, {"xp": xp, "p": xp.poly1d([1.0, 2, 3]), "q": xp.poly1d([2, -1])}) for xp in (np, weft))
        if isinstance(theirs, Exception):
            assert isinstance(ours, Exception), text
            continue
        for each, wanted in zip(*(found if isinstance(found, tuple) else (found,) for found in (ours, theirs)), strict=True):
            assert isinstance(each, weft.poly1d), f"{text}: {ours!r}"
            assert difference(wanted.coeffs, each.coeffs, False) is None and str(each) == str(wanted), text
            assert each.variable == wanted.variable and each.order == wanted.order == len(each), text
    for text in ("p(2)", "p([1, 2.5])", "p[0]", "p[2]", "p[5]", "p[-1]", "xp.asarray([1.0, 2, 3]) * p", "xp.asarray([1, 2, 3]) - p",
                 "xp.polyval(p, 3)", "list(p)", "p == q", "p != q", "p == xp.poly1d([1.0, 2, 3])", "p == 3",
                 "xp.polyval([1, 2], p).c"):  # fmt: skip
        check(f"p, q = xp.poly1d([1.0, 2, 3]), xp.poly1d([2, -1])\n{text}", exact=False)
    check("p = xp.poly1d([1, 2])\np[0] = 5\np[3] = 7\np.coeffs[1] = 9\n[p.c, p.coef, p.coefficients, p.o]")
    p = weft.poly1d([1, 2])
    assert np.asarray(p).tolist() == [1, 2] and isinstance(np.arange(2) + p, weft.ndarray)
    for wrong, error in (
        (lambda: setattr(p, "coeffs", [1]), AttributeError),
        (lambda: p.__setitem__(-1, 0), ValueError),
        (lambda: hash(p), TypeError),
    ):
        with pytest.raises(error):
            wrong()
    with weft.syncs("error"):
        p(weft.arange(3.0))


def test_how_polynomials_are_printed() -> None:
    p = Polynomial([1, 2, 3])
    for style, text in (("ascii", "1.0 + 2.0 x + 3.0 x**2"), ("unicode", "1.0 + 2.0·x + 3.0·x²")):
        weft.polynomial.set_default_printstyle(style)
        assert str(p) == text


def test_constants_and_other_series() -> None:
    for name in ("polyzero", "polyone", "polyx", "polydomain"):
        for place in (polynomial, weft.polynomial):
            assert difference(getattr(numpys, name), getattr(place, name), True) is None
    assert weft.polynomial.polyval is polynomial.polyval and polynomial.Polynomial is Polynomial
    with pytest.raises(AttributeError, match=r"numpy\.polynomial\.Chebyshev"):
        weft.polynomial.Chebyshev
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        weft.polynomial.nothing
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        polynomial.nothing
    names = {name for name in dir(numpys) if name.startswith("poly") and name != "polynomial"}
    assert names == {name for name in (*polynomial.__all__, *polynomial._CONSTANTS)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int8, np.int32])
def test_zeros(dtype: type) -> None:
    for c in ([1, -6, 11, -6], [0, 0, 1, -3, 2, 0], [2], [0], [1, 0, 1]):
        p = np.array(c, dtype)
        found, wanted = host(weft.roots(weft.asarray(p))), np.roots(p)
        assert found.shape == wanted.shape
        np.testing.assert_allclose(_in_order(found), _in_order(wanted), atol=1e-3 if dtype is np.float32 else 1e-6)
        found, wanted = host(polynomial.polyroots(weft.asarray(p))), numpys.polyroots(p)
        np.testing.assert_allclose(_in_order(found), _in_order(wanted), atol=1e-3 if dtype is np.float32 else 1e-6)
    m = np.array([[2.0, 1.0], [0.0, 3.0]])
    np.testing.assert_allclose(host(weft.poly(weft.asarray(m))), np.poly(m))
    np.testing.assert_allclose(np.sort(host(Polynomial([2, -3, 1], [0, 2]).roots())), np.sort(Numpys([2, -3, 1], [0, 2]).roots()))
    check("xp.roots([[1, 2]])")


def _in_order(zeros: np.ndarray) -> np.ndarray:
    """Sorted; real parts of a pair differ in the last digits."""
    return np.sort_complex(np.round(zeros, 7))


def test_fits() -> None:
    x, y = np.linspace(0, 3, 12), array((12,)) + 0.0
    w, several = np.arange(1.0, 13), array((12, 3))
    for words in ("x, y, 2", "x, s, 2", "x, y, 3, w=w", "x, s, 1, w=w", "x, y, 2, cov=True", "x, y, 2, cov='unscaled'", "x, s, 1, cov=True",
                  "x, y, 2, full=True", "x, y, 2, rcond=1e-3", "x, y, -1", "x[:3], y, 1", "s, y, 1", "x[:0], y[:0], 1", "x, y, 2, w=s",
                  "x[:2], y[:2], 1, cov=True"):  # fmt: skip
        _near(f"xp.polyfit({words})", x=x, y=y, w=w, s=several)
        if "cov" not in words:
            _near(f"xp.polynomial.polynomial.polyfit({words})", x=x, y=y, w=w, s=several)
    for deg in ("[0, 2]", "[3, 1]", "[]", "[[1]]", "1.5"):
        _near(f"xp.polynomial.polynomial.polyfit(x, y, {deg})", x=x, y=y)
    with pytest.warns(np.exceptions.RankWarning):
        weft.polyfit([1.0, 1.0], [1.0, 2.0], 1)
    p, theirs = Polynomial.fit(weft.asarray(x), weft.asarray(y), 3), Numpys.fit(x, y, 3)
    np.testing.assert_allclose(host(p.coef), theirs.coef, atol=1e-9)
    np.testing.assert_allclose(host(p.domain), theirs.domain)
    p, status = Polynomial.fit(x, y, 1, [], full=True, w=w)
    theirs, their_status = Numpys.fit(x, y, 1, [], full=True, w=w)
    np.testing.assert_allclose(host(p.coef), theirs.coef, atol=1e-9)
    assert len(status) == len(their_status) == 4


def _near(text: str, **arguments: Any) -> None:
    """As `check`, within what another least-squares solver rounds differently."""
    results = []
    for xp in (np, weft):
        scope = {"xp": xp, **{name: xp.asarray(value) for name, value in arguments.items()}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append(_outcome(eval, text, scope))
    theirs, ours = results
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), f"{text}: {theirs!r}, {ours!r}"
        return
    for wanted, found in zip(_leaves(theirs), _leaves(ours), strict=True):
        np.testing.assert_allclose(host(found), np.asarray(wanted), rtol=1e-8, atol=1e-8, err_msg=text)


def _leaves(found: Any) -> list[Any]:
    return [leaf for each in found for leaf in _leaves(each)] if isinstance(found, (tuple, list)) else [found]


@pytest.mark.parametrize("dtype", KINDS)
def test_bessel_and_kaiser(dtype: type) -> None:
    check("xp.i0(x)", exact=False, x=array((2, 5), dtype))
    check("xp.i0(x)", exact=False, x=array((0,), dtype))
    if dtype is np.float64:
        check("xp.i0(2)", exact=False)
        check("xp.i0(x[::2].T)", exact=False, x=array((4, 3)) * 3)
        for m in ("0", "1", "2", "7", "-3", "6.5", "0.5", "xp.nan"):
            for beta in ("0", "5.0", "14"):
                check(f"xp.kaiser({m}, {beta})", exact=False)
