"""The random programs judge rightly: planted defects of rules are found, and small programs that show them."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft
from gradients.fuzz import outcome, programs, worker
from gradients.fuzz.oracle import along
from weft.gradients import sweep
from weft.gradients.rules import elementwise, folds, views

COUNT = 400
"""In so many programs every defect shows."""


def row(name: str, *rules: Any) -> Any:
    """Another rule of a ufunc."""
    return lambda patch: patch.setitem(elementwise.ROWS, name, rules)


def keeps_what_was_overwritten(patch: pytest.MonkeyPatch) -> None:
    """What was there before an update gets the cotangent of what was written, too."""
    plain = views.back_of_update

    def back(tape: Any, at: int, cotangent: Any, args: Any, operands: Any, cotangents: Any) -> None:
        plain(tape, at, cotangent, args, [None, operands[1]], cotangents)
        if operands[0] is not None:
            cotangents.add(operands[0], cotangent)

    patch.setattr(views, "back_of_update", back)


def forgets_what_was_written(patch: pytest.MonkeyPatch) -> None:
    """What was written gets nothing."""
    plain = views.back_of_update
    patch.setattr(views, "back_of_update", lambda tape, at, c, args, operands, to: plain(tape, at, c, args, [operands[0], None], to))


def takes_the_last(patch: pytest.MonkeyPatch) -> None:
    """Of several cotangents of a value the last counts."""

    def add(self: Any, place: int, more: Any, *, own: bool = False) -> None:
        self._of[place] = more

    patch.setattr(sweep.Cotangents, "add", add)


def shares_nothing(patch: pytest.MonkeyPatch) -> None:
    """The mean of a fold is its sum."""
    patch.setitem(folds._RULES, "maximum", folds._RULES["add"])


DEFECTS = {
    "cosine's sign": row("cos", lambda g, y, x: g * weft.sin(x)),
    "a product's second factor": row("multiply", lambda g, y, a, b: g * b, lambda g, y, a, b: g * b),
    "a difference's sign": row("subtract", lambda g, y, a, b: g, lambda g, y, a, b: g),
    "tanh of its argument": row("tanh", lambda g, y, x: g * (1 - x * x)),
    "conjugates of conjugates": row("conjugate", lambda g, y, x: g),
    "choices": row("select", None, lambda g, y, c, a, b: g, lambda g, y, c, a, b: g),
    "maxima of folds": shares_nothing,
    "updates keep what was overwritten": keeps_what_was_overwritten,
    "updates forget what was written": forgets_what_was_written,
    "the last of several": takes_the_last,
}


@contextlib.contextmanager
def planted(defect: Any) -> Iterator[None]:
    """Weft with a defect."""
    with pytest.MonkeyPatch.context() as patch:
        defect(patch)
        yield


@pytest.mark.parametrize("defect", DEFECTS)
def test_defects_are_found(defect):
    for seed in range(COUNT):
        program = programs.generate(seed)
        with planted(DEFECTS[defect]):
            found = outcome.run(program, weft)
            if found.what != "differs":
                continue
            smaller = worker.shrunk(program, outcome.way_of(program))
        assert len(smaller.lines) <= 5, smaller.lines
        assert outcome.run(smaller, weft, outcome.way_of(program)).what in ("same", "outside")
        return
    raise AssertionError("it was not found")


def test_the_same_number_is_the_same_program():
    assert programs.generate(7) == programs.generate(7)


def test_programs_do_something():
    lines = [line for seed in range(300) for line in programs.generate(seed).lines]
    assert len(lines) > 1500
    texts = (
        "[::-1]",
        " += ",
        ".reshape(",
        "xp.sum(",
        "out=",
        "xp.where(",
        "t.grad(",
        "t.vmap(",
        "if bool(",
        "for i in",
        ".imag",
        "t.windows(",
    )
    for text in texts:
        assert any(text in line for line in lines), text


def test_scripts_run_by_themselves(capsys):
    program = programs.generate(3)
    exec(worker.script(program, "grad"), {})
    assert "Outcome(what=" in capsys.readouterr().out


@pytest.mark.parametrize(
    "function, slope, is_smooth",
    [
        (lambda by: np.sin(1 + by), np.cos(1), True),
        (lambda by: np.abs(by), 0, False),
        (lambda by: np.abs(by - 1e-4), -1, False),
        (lambda by: np.maximum(by, 2 * by), 1.5, False),
        (lambda by: np.floor(0.5 + by), 0, True),
        (lambda by: np.floor(by), 0, False),
        (lambda by: 3.0 + 0 * by, 0, True),
        (lambda by: (1 + by) ** 5, 5, True),
    ],
)
def test_differences(function, slope, is_smooth):
    found = along(lambda by: np.asarray(function(by)), 2e-3)
    assert bool(found.known) == is_smooth
    if is_smooth:
        np.testing.assert_allclose(found.value, slope, 1e-9, 1e-9)
