"""Named tuples as arguments, constants, results and things made in compiled code, against the undecorated function."""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest

import weft
import weft.numba as numba
from weft import cuda, njit, types, vectorize


class Point(NamedTuple):
    """Two numbers, of which one may be left out."""

    x: float
    y: float = 0.5


Ray = namedtuple("Ray", "start direction")
Data = namedtuple("Data", ["values", "scale", "ray"])


class Vector(Point):
    """A class with methods, which compiled code has no use for."""

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5


class Odd(Point):
    """A class whose instances are not made of its fields."""

    def __new__(cls, x):
        return super().__new__(cls, x, x)


ORIGIN = Point(3, -1.5)


def check(function, *args):
    """The same value, of the same classes."""
    got, want = njit(function)(*args), function(*args)
    assert repr(got) == repr(want)
    assert _classes(got) == _classes(want)
    return got


def _classes(value):
    return (type(value), *map(_classes, value)) if isinstance(value, tuple) else type(value)


def test_fields_of_arguments():
    def f(p, ray):
        x, y = p
        total = 0.0
        for item in p:
            total += item
        return p.x, p.y, p[0], p[-1], x - y, len(p), total, ray.start.x + ray.direction.y, ray.start

    check(f, Point(1.0, 2.0), Ray(Point(1, 2.5), Point(3.0, 4)))


def test_instances_are_made_by_calling_the_class():
    def f(x, y):
        p = Point(x, y)
        q = Point(y=x, x=y)
        r = Point(x)
        ray = Ray(direction=p, start=(x, y))
        return p, q, r, ray, p._replace(y=7), p == q, p == (x, y), ray.direction.x, (*p, x), p + q, p[:1], tuple(p)

    check(f, 1, 2.5)
    check(f, np.int8(3), -1.0)
    check(f, True, 4)


def test_subclasses_of_named_tuples():
    def f(v):
        return v, v.x, Vector(v.y, 2)

    check(f, Vector(1, 2.0))
    with pytest.raises(weft.WeftError, match="has no field 'norm'; its fields are 'x', 'y'"):
        njit(lambda v: v.norm())(Vector(1, 2))
    check(lambda odd: odd.x + odd.y, Odd(2))
    with pytest.raises(weft.WeftError, match="cannot be called in a compiled function"):
        njit(lambda n: Odd(n))(1)


def test_instances_are_constants():
    near = Ray(ORIGIN, (1, 2))
    table = Data(np.arange(4.0), 2, near)

    def f(n):
        return ORIGIN.x + n, ORIGIN, near.direction[1], near.start.y, table.values[n] * table.scale

    check(f, 2)


def test_instances_with_other_items_than_fields_are_plain_tuples():
    odd = tuple.__new__(Point, (1, 2.5, 4))
    assert njit(lambda p: (p[2], len(p)))(odd) == (4, 3)
    assert njit(lambda: odd[2])() == 4


def test_printing(capsys):
    njit(lambda p: print(p, Ray(1, p)))(Point(1, 2))
    assert capsys.readouterr().out == "Point(x=1, y=2) Ray(start=1, direction=Point(x=1, y=2))\n"


def test_variables_of_one_class():
    def f(n):
        p = Point(0, 1)
        for i in range(n):
            p = Point(p.y, p.x + i * 0.5) if i % 2 else p._replace(x=i)
        return p

    got = njit(f)(5)
    assert isinstance(got, Point) and got == f(5)


def test_a_named_tuple_meets_a_plain_one_as_a_plain_one():
    def f(n):
        p = Point(n, n)
        if n > 1:
            p = (n, 2)
        return p

    assert type(njit(f)(1)) is tuple and njit(f)(2) == (2, 2)


@njit
def _dot(p, q):
    return p.x * q.x + p.y * q.y


@njit
def _mirrored(p):
    return Point(p.y, p.x)


def test_through_functions():
    def f(p, q):
        return _dot(p, _mirrored(q)), _mirrored(p)

    check(f, Point(1, 2.0), Point(3, 4))


def test_classes_have_specialisations_of_their_own():
    Other = namedtuple("Other", "y x")
    f = njit(lambda p: p.y)
    assert [f(p) for p in (Point(1, 2), Other(1, 2), Point(1, 2), Vector(1, 2))] == [2, 1, 2, 2]
    assert len(f.signatures) == 3
    with pytest.raises(weft.WeftError, match="has no attribute 'y'"):
        f((1, 2))


def test_results_view_their_arguments():
    f = njit(lambda d: Data(d.values[1:], d.scale, d.values))
    values = np.arange(5.0)
    got = f(Data(values, 2, None))
    assert isinstance(got, Data) and np.shares_memory(got.values, values)
    np.testing.assert_array_equal(got.values, values[1:])


def test_types_of_named_tuples():
    want = types.NamedTuple([types.int64, types.float64], Point)
    assert numba.typeof(Point(1, 2.0)) == want and want != types.Tuple([types.int64, types.float64])
    assert numba.typeof(Point(1.0, 2.0)) == types.NamedUniTuple(types.float64, 2, Point)
    assert repr(want) == "Point(int64, float64)" and want.fields == ("x", "y")
    with pytest.raises(TypeError, match="Point has 2 fields and was given 1 types"):
        types.NamedTuple([types.int64], Point)

    f = njit(types.float64(types.NamedUniTuple(types.float32, 2, Point)))(lambda p: p.x + p.y)
    assert f(Point(1, 2.5)) == 3.5
    for wrong in (Ray(1, 2), (1, 2)):
        with pytest.raises(weft.WeftError, match=r"No matching definition: .*\n  \(Point\(float32, float32\)\)"):
            f(wrong)
    plain = njit(types.float64(types.UniTuple(types.float64, 2)))(lambda p: p[0] - p[1])
    assert plain(Point(3, 1)) == plain((3, 1)) == 2


def test_vectorized():
    @vectorize
    def f(x):
        p = Point(x, ORIGIN.x)
        return p.x * p.y + Point(x).y

    x = np.arange(8.0)
    np.testing.assert_array_equal(f(x), x * 3 + 0.5)


def test_kernels(device):
    def f(data, point, out):
        i = cuda.grid(1)
        if i < out.size:
            p = Point(data.values[i], data.scale)
            q = p._replace(x=point.y) if i % 3 == 0 else p
            out[i] = q.x * q.y + data.ray.start.x * ORIGIN.y + point.x + len(data)

    kernel = cuda.jit(f)
    values = np.linspace(-1, 1, 50).astype(np.float32)
    for scale, start, point in ((np.float32(2), Point(np.float32(3)), Point(np.float32(1), np.float32(2))), (2, Point(3, 4), Point(1, 2))):
        out = np.zeros(50, np.float32)
        kernel.forall(50)(Data(values, scale, Ray(start, None)), point, out)
        third = np.arange(50) % 3 == 0
        want = np.where(third, np.float32(2), values) * 2 + 3 * np.float32(-1.5) + 1 + 3
        np.testing.assert_allclose(out, want, rtol=1e-6)


def test_arrays_in_kernels_are_written(device):
    def f(pair):
        i = cuda.grid(1)
        if i < pair.start.size:
            pair.start[i] += pair.direction[i]

    host = Ray(np.arange(7, dtype=np.int32), np.ones(7, np.int32))
    cuda.jit(f).forall(7)(host)
    np.testing.assert_array_equal(host.start, np.arange(1, 8))
    there = Ray(cuda.to_device(host.start), cuda.to_device(host.direction))
    cuda.jit(f).forall(7)(there)
    np.testing.assert_array_equal(there.start.copy_to_host(), np.arange(2, 9))
