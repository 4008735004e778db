"""A module of a user's own, for tests of names that lead through modules."""

CONSTANT = 11


def twice(x):
    return 2 * x
