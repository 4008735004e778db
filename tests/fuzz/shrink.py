"""Makes a program that fails a small one: takes away and simplifies what it can while the same failure stays."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzz.programs import Program


def shrink(program: Program, fails: Callable[[Program], bool], most: int = 600) -> Program:
    """The smallest program found in so many tries for which `fails` holds."""
    tries = 0
    changed = True
    while changed and tries < most:
        changed = False
        for candidate in _smaller(program.text):
            tries += 1
            if tries > most:
                break
            smaller = replace(program, text=candidate)
            if len(candidate) < len(program.text) and fails(smaller):
                program, changed = smaller, True
                break
    return program


def _smaller(text: str) -> Iterator[str]:
    """Programs with one thing less, large things first."""
    tree = ast.parse(text)
    for edit in (_without_statement, _without_block, _operand_instead):
        count = edit(copy.deepcopy(tree), -1)
        for number in range(count):
            changed = copy.deepcopy(tree)
            edit(changed, number)
            try:
                yield ast.unparse(ast.fix_missing_locations(changed)) + "\n"
            except (ValueError, AttributeError):
                continue


def _bodies(tree: ast.AST) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                yield node, name, body


def _without_statement(tree: ast.AST, number: int) -> int:
    """Drops the statement of this number; returns how many there are."""
    at = 0
    for _, name, body in _bodies(tree):
        for place in range(len(body)):
            if at == number:
                if isinstance(body[place], ast.Return) and name == "body" and place == len(body) - 1:
                    return at
                del body[place]
                if not body and name == "body":
                    body.append(ast.Pass())
                return at
            at += 1
    return at


def _without_block(tree: ast.AST, number: int) -> int:
    """Puts what stands in a block in the block's place."""
    at = 0
    for _, _, body in _bodies(tree):
        for place, statement in enumerate(body):
            if not isinstance(statement, (ast.If, ast.For, ast.While)):
                continue
            for inner in (statement.body, statement.orelse):
                if at == number:
                    body[place : place + 1] = inner or [ast.Pass()]
                    return at
                at += 1
    return at


def _operand_instead(tree: ast.AST, number: int) -> int:
    """Puts an operand in the place of an expression."""
    at = 0
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            places = value if isinstance(value, list) else [value]
            for place, child in enumerate(places):
                if not isinstance(child, ast.expr) or isinstance(node, ast.Attribute):
                    continue
                for grandchild in ast.iter_child_nodes(child):
                    if not isinstance(grandchild, ast.expr) or isinstance(getattr(grandchild, "ctx", None), ast.Store):
                        continue
                    if at == number:
                        if isinstance(value, list):
                            value[place] = grandchild
                        else:
                            setattr(node, name, grandchild)
                        return at
                    at += 1
    return at
