"""What is said of C that is not taken: the kernel, the place, and the line with a mark below it."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from weft.errors import UnsupportedError


class Place(NamedTuple):
    """A line and a column of a text, both counted from 1."""

    line: int
    column: int


class Text:
    """A piece of C, and what it is called in messages."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines = text.split("\n")

    def refuse(self, place: Place, why: str) -> NoReturn:
        """Raises the error of a place."""
        line = self.lines[place.line - 1] if place.line <= len(self.lines) else ""
        mark = " " * (place.column - 1) + "^"
        raise UnsupportedError(f"{self.name}, line {place.line}, column {place.column}: {why}\n    {line}\n    {mark}")
