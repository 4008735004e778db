"""Runs the text of a module of tests, less what cannot run: one table of dtypes that Weft lacks is no reason to lose every other test."""

from __future__ import annotations

import ast
import copy
import inspect
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import pytest
from _pytest.assertion.rewrite import rewrite_asserts

MOST = 100
"""Statements that are left out of one module at most."""


def execute(module: ModuleType, path: Path, builtins: dict[str, Any], config: Any) -> dict[str, str]:
    """Runs a module. Gives the tests that had to be left out, and why."""
    source = path.read_bytes()
    tree = ast.parse(source, filename=str(path))
    lost: dict[str, str] = {}
    kept = dict(vars(module))
    for _ in range(MOST):
        try:
            _run(module, kept, tree, path, builtins)
            break
        except Exception as error:
            names = _without(tree, _line(error.__traceback__, path))
            if names is None:
                raise
            lost.update(dict.fromkeys(names, f"{type(error).__name__}: {error}"))
    # Once more, with assertions that tell what they compared.
    whole = copy.deepcopy(tree)
    rewrite_asserts(whole, source, str(path), config)
    _run(module, kept, whole, path, builtins)
    lost.update(_spelled_out(module))
    return lost


def _spelled_out(module: ModuleType) -> dict[str, str]:
    """Makes lists of the generators that tests have their parameters from: one that fails would take its whole class along."""
    lost: dict[str, str] = {}
    classes = [
        (f"{name}::", value) for name, value in vars(module).items() if isinstance(value, type) and value.__module__ == module.__name__
    ]
    for prefix, owner in [("", module), *classes]:
        for name, value in list(vars(owner).items()):
            marks = getattr(value, "pytestmark", []) if inspect.isfunction(value) else []
            try:
                value_marks = [_listed(mark) for mark in marks]
            except Exception as error:
                delattr(owner, name)
                lost[f"{prefix}{name}"] = f"{type(error).__name__}: {error}"
                continue
            if marks:
                value.pytestmark = value_marks
    return lost


def _listed(mark: Any) -> Any:
    if mark.name != "parametrize" or len(mark.args) < 2 or isinstance(mark.args[1], (list, tuple)):
        return mark
    return pytest.mark.parametrize(mark.args[0], list(mark.args[1]), *mark.args[2:], **mark.kwargs).mark


def _run(module: ModuleType, kept: dict[str, Any], tree: ast.Module, path: Path, builtins: dict[str, Any]) -> None:
    names = vars(module)
    names.clear()
    names.update(kept, __builtins__=builtins)
    exec(compile(copy.deepcopy(tree), str(path), "exec", dont_inherit=True), names)


def _line(trace: TracebackType | None, path: Path) -> int:
    """Where a module or the body of a class stood when it failed."""
    line = 0
    while trace is not None:
        # Functions have variables of their own; modules and classes do not.
        if trace.tb_frame.f_code.co_filename == str(path) and not trace.tb_frame.f_code.co_flags & inspect.CO_NEWLOCALS:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _without(tree: ast.Module, line: int) -> list[str] | None:
    """Takes out the innermost statement of the module, or of a class, at this line; names of tests that go with it."""
    body: list[ast.stmt] = tree.body
    prefix = ""
    while True:
        place = next((n for n, statement in enumerate(body) if _first(statement) <= line <= (statement.end_lineno or 0)), None)
        if place is None:
            return None
        statement = body[place]
        if (
            isinstance(statement, ast.ClassDef)
            and statement.body[0].lineno <= line
            and len(statement.body) > 1
            and _inside(statement, line)
        ):
            body, prefix = statement.body, f"{prefix}{statement.name}::"
            continue
        del body[place]
        return [f"{prefix}{name}" for name in _tests(statement)]


def _first(statement: ast.stmt) -> int:
    """The first line of a statement, decorators among it."""
    return min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))])


def _inside(statement: ast.ClassDef, line: int) -> bool:
    return any(_first(each) <= line <= (each.end_lineno or 0) for each in statement.body)


def _tests(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.ClassDef):
        return [f"{statement.name}::{name}" for each in statement.body for name in _tests(each)]
    return [statement.name] if isinstance(statement, ast.FunctionDef) and statement.name.startswith("test") else []
