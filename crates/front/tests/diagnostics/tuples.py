"""Named tuples gone wrong. `Point` has the fields x and y, of which y has a default; `Pair` has a and b, `Empty` none."""


def no_such_field(n: int):
    p = Point(n, n)
    return p.z


def no_fields(n: int):
    return Empty().x


def field_missing():
    return Point(y=1)


def too_many_values(n: int):
    return Point(n, n, n)


def twice(n: int):
    return Point(n, x=n)


def unknown_field(n: int):
    return Point(n, z=n)


def replaces_unknown_field(n: int):
    return Point(n)._replace(z=1)


def replaces_by_position(n: int):
    return Point(n)._replace(1)


def two_classes(n: int):
    p = Point(n, n)
    if n > 0:
        p = Pair(n, n)
    return p[0]


def returns_two_classes(n: int):
    if n > 0:
        return Point(n, n)
    return Pair(n, n)


def assigns_field(n: int):
    p = Point(n, n)
    p.x = 1
    return p


def field_of_class(n: int):
    return Point.x


def returns_class(n: int):
    return Point


def plus_number(n: int):
    return Point(n, 2.5) + n
